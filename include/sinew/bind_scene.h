// sinew/bind_scene.h: the characters of a file, bound in one call.
#pragma once

#include "sinew/bind.h"
#include "sinew/io.h"

namespace sinew {

/// The skeleton of a scene, with the joints marked that deform: by the weights of its file or else by names
/// (select_deforming). O(influences).
Result<Skeleton> deforming_skeleton(const io::Scene& scene, const DeformOptions& deform = {});

/// Binds a scene as `sinew bind` does: marks the joints of scene.skeleton that deform, and binds the parts of the
/// mesh apart (Scene::part_of_vertex). Then `io::save(scene, *binding->weights(), path)` writes the character.
/// Errors, time and memory: those of the functions that it calls.
Result<Binding> bind(io::Scene& scene, const BindOptions& options = {}, const DeformOptions& deform = {},
                     Context* context = nullptr);

}  // namespace sinew
