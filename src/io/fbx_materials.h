// Materials of an FBX file, and their pictures.
#pragma once

#include <initializer_list>
#include <map>
#include <string_view>

#include "io/fbx_objects.h"
#include "io/foreign.h"

namespace sinew::io {

/// Adds materials and images to a scene, each once.
class FbxMaterials {
public:
    /// Keeps the references.
    FbxMaterials(const FbxObjects& objects, ForeignScene& scene, ModelFiles& files)
        : objects_(objects), scene_(scene), files_(files) {}

    /// The number of a material in the scene. In version 6, textures are connected to the model.
    std::size_t number(std::size_t object, std::size_t model);

private:
    ForeignMaterial read(std::size_t object, std::size_t model);
    std::size_t image(std::size_t object, std::initializer_list<std::string_view> properties);
    std::size_t find_image(std::size_t texture);

    const FbxObjects& objects_;
    ForeignScene& scene_;
    ModelFiles& files_;
    std::map<std::size_t, std::size_t> of_object_, image_of_texture_;
};

}  // namespace sinew::io
