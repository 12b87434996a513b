// The only file that uses assimp: its scene as plain arrays. Numbers are those of the file; foreign_document.cpp
// handles units and axes.
#include <assimp/MemoryIOWrapper.h>
#include <assimp/config.h>
#include <assimp/material.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <algorithm>
#include <assimp/IOSystem.hpp>
#include <assimp/Importer.hpp>
#include <cctype>
#include <cmath>
#include <map>

#include "core/try.h"
#include "io/foreign.h"
#include "io/formats.h"

namespace sinew::io {

namespace {

/// Serves the bytes under the name of the file, and no other file: assimp must not open files that a model refers
/// to.
class OneFile : public Assimp::IOSystem {
public:
    OneFile(std::string name, std::span<const std::byte> bytes) : name_(std::move(name)), bytes_(bytes) {}
    bool Exists(const char* name) const override { return name_ == name; }
    char getOsSeparator() const override { return '/'; }
    Assimp::IOStream* Open(const char* name, const char*) override {
        if (name_ != name) return nullptr;
        return new Assimp::MemoryIOStream(reinterpret_cast<const std::uint8_t*>(bytes_.data()), bytes_.size());
    }
    void Close(Assimp::IOStream* stream) override { delete stream; }

private:
    std::string name_;
    std::span<const std::byte> bytes_;
};

std::string text_of(const aiString& s) { return {s.data, std::min<std::size_t>(s.length, sizeof s.data - 1)}; }
Vec3 vec3(const aiVector3D& v) { return {v.x, v.y, v.z}; }

Matrix matrix(const aiMatrix4x4& a) {
    Matrix out;
    for (unsigned r = 0; r < 4; ++r)
        for (unsigned c = 0; c < 4; ++c) out(r, c) = a[r][c];
    return out;
}

class AssimpReader {
public:
    AssimpReader(const aiScene& scene, ModelFiles& files) : scene_(scene), files_(files) {}

    Result<ForeignScene> read(const std::string& name) {
        if (!scene_.mRootNode) return input_error(name, "the file has no nodes");
        read_nodes();
        for (unsigned m = 0; m < scene_.mNumMeshes; ++m) {
            Result<ForeignMesh> mesh = read_mesh(*scene_.mMeshes[m]);
            if (!mesh) return input_error(name, mesh.error().message);
            out_.meshes.push_back(std::move(*mesh));
        }
        for (unsigned m = 0; m < scene_.mNumMaterials; ++m) read_material(*scene_.mMaterials[m]);
        for (unsigned a = 0; a < scene_.mNumAnimations; ++a) read_clip(*scene_.mAnimations[a]);
        if (scene_.mNumCameras + scene_.mNumLights > 0)
            out_.warnings.push_back("cameras and lights of the file are left out");
        return std::move(out_);
    }

private:
    void read_nodes() {
        // Without recursion: a hostile file can nest to any depth.
        std::vector<std::pair<const aiNode*, std::size_t>> stack{{scene_.mRootNode, Rig::no_node}};
        while (!stack.empty()) {
            const auto [node, parent] = stack.back();
            stack.pop_back();
            ForeignNode out;
            out.name = text_of(node->mName);
            out.parent = parent;
            out.local = matrix(node->mTransformation);
            for (unsigned m = 0; m < node->mNumMeshes; ++m)
                if (node->mMeshes[m] < scene_.mNumMeshes) out.meshes.push_back(node->mMeshes[m]);
            node_of_name_.emplace(out.name, out_.nodes.size());
            for (unsigned c = node->mNumChildren; c-- > 0;)
                stack.emplace_back(node->mChildren[c], out_.nodes.size());
            out_.nodes.push_back(std::move(out));
        }
    }

    Result<ForeignMesh> read_mesh(const aiMesh& mesh) {
        ForeignMesh out;
        out.name = text_of(mesh.mName);
        out.material = mesh.mMaterialIndex;
        const std::size_t count = mesh.mVertices ? mesh.mNumVertices : 0;
        const auto take = [&](const aiVector3D* from, std::vector<Vec3>& to) {
            if (from) std::transform(from, from + count, std::back_inserter(to), vec3);
        };
        take(mesh.mVertices, out.positions);
        take(mesh.mNormals, out.normals);
        if (mesh.mNormals && mesh.mTangents && mesh.mBitangents) {
            take(mesh.mTangents, out.tangents);
            for (std::size_t v = 0; v < count; ++v)
                // Both formats mean the bitangent that points up in the picture.
                out.tangent_signs.push_back((mesh.mNormals[v] ^ mesh.mTangents[v]) * mesh.mBitangents[v] < 0 ? -1.f
                                                                                                             : 1.f);
        }
        for (unsigned set = 0; set < AI_MAX_NUMBER_OF_TEXTURECOORDS && mesh.mTextureCoords[set]; ++set) {
            auto& uvs = out.uvs.emplace_back();
            for (std::size_t v = 0; v < count; ++v)
                uvs.push_back({mesh.mTextureCoords[set][v].x, 1 - mesh.mTextureCoords[set][v].y});
        }
        if (const aiColor4D* colors = mesh.mColors[0])
            for (std::size_t v = 0; v < count; ++v)
                out.colors.push_back({colors[v].r, colors[v].g, colors[v].b, colors[v].a});
        for (unsigned f = 0; f < mesh.mNumFaces; ++f) {
            const aiFace& face = mesh.mFaces[f];
            if (face.mNumIndices != 3) continue;  // points and lines
            for (unsigned k = 0; k < 3; ++k)
                if (face.mIndices[k] >= count)
                    return input_error("mesh '" + printable(out.name) + "'",
                                       "triangle " + std::to_string(f) + " has a corner that does not exist");
            out.triangles.push_back({face.mIndices[0], face.mIndices[1], face.mIndices[2]});
        }
        for (unsigned b = 0; b < mesh.mNumBones; ++b) {
            const aiBone& bone = *mesh.mBones[b];
            ForeignBone to;
            to.name = text_of(bone.mName);
            if (const auto found = node_of_name_.find(to.name); found != node_of_name_.end())
                to.node = found->second;
            to.offset = matrix(bone.mOffsetMatrix);
            for (unsigned w = 0; w < bone.mNumWeights; ++w) {
                const aiVertexWeight& weight = bone.mWeights[w];
                if (weight.mVertexId >= count)
                    return input_error("mesh '" + printable(out.name) + "'",
                                       "bone '" + printable(to.name) + "' has a weight for vertex " +
                                           std::to_string(weight.mVertexId) + " of " + std::to_string(count));
                to.weights.push_back({weight.mVertexId, weight.mWeight});
            }
            out.bones.push_back(std::move(to));
        }
        for (unsigned t = 0; t < mesh.mNumAnimMeshes; ++t) {
            const aiAnimMesh& shape = *mesh.mAnimMeshes[t];
            if (!shape.mVertices || shape.mNumVertices != count) continue;
            ForeignTarget to;
            to.name = text_of(shape.mName);
            to.weight = shape.mWeight;
            for (std::size_t v = 0; v < count; ++v) {
                to.positions.push_back(vec3(shape.mVertices[v] - mesh.mVertices[v]));
                if (shape.mNormals && mesh.mNormals)
                    to.normals.push_back(vec3(shape.mNormals[v] - mesh.mNormals[v]));
            }
            out.targets.push_back(std::move(to));
        }
        return out;
    }

    void read_material(const aiMaterial& material) {
        ForeignMaterial out;
        aiString name;
        if (material.Get(AI_MATKEY_NAME, name) == AI_SUCCESS) out.name = text_of(name);
        aiColor4D color(1, 1, 1, 1);
        if (material.Get(AI_MATKEY_BASE_COLOR, color) != AI_SUCCESS) material.Get(AI_MATKEY_COLOR_DIFFUSE, color);
        float opacity = 1;
        material.Get(AI_MATKEY_OPACITY, opacity);
        out.base_color = {color.r, color.g, color.b, opacity};
        aiColor3D emissive(0, 0, 0);
        material.Get(AI_MATKEY_COLOR_EMISSIVE, emissive);
        out.emissive = {emissive.r, emissive.g, emissive.b};
        float shininess = 0;
        material.Get(AI_MATKEY_METALLIC_FACTOR, out.metallic);
        // The usual equivalent of Phong's exponent.
        if (material.Get(AI_MATKEY_ROUGHNESS_FACTOR, out.roughness) != AI_SUCCESS &&
            material.Get(AI_MATKEY_SHININESS, shininess) == AI_SUCCESS && shininess >= 0)
            out.roughness = std::sqrt(2 / (2 + shininess));
        int two_sided = 0;
        material.Get(AI_MATKEY_TWOSIDED, two_sided);
        out.two_sided = two_sided != 0;
        out.base_image = image(material, {aiTextureType_BASE_COLOR, aiTextureType_DIFFUSE});
        out.normal_image = image(material, {aiTextureType_NORMALS, aiTextureType_NORMAL_CAMERA});
        out.emissive_image = image(material, {aiTextureType_EMISSION_COLOR, aiTextureType_EMISSIVE});
        out_.materials.push_back(std::move(out));
    }

    /// The first texture of these kinds that has an image.
    std::size_t image(const aiMaterial& material, std::initializer_list<aiTextureType> types) {
        for (const aiTextureType type : types) {
            aiString path;
            if (material.GetTexture(type, 0, &path) != AI_SUCCESS || path.length == 0) continue;
            const std::string uri = text_of(path);
            const auto known = image_of_uri_.find(uri);
            const std::size_t found = known != image_of_uri_.end() ? known->second : find_image(uri);
            image_of_uri_[uri] = found;
            if (found != ForeignMaterial::none) return found;
        }
        return ForeignMaterial::none;
    }

    std::size_t find_image(const std::string& uri) {
        std::vector<std::byte> bytes;
        const aiTexture* const texture = scene_.GetEmbeddedTexture(uri.c_str());
        if (texture && texture->mHeight == 0) {  // a whole file of mWidth bytes
            const auto* from = reinterpret_cast<const std::byte*>(texture->pcData);
            bytes.assign(from, from + texture->mWidth);
        }
        return add_image(out_, uri, std::move(bytes), files_);
    }

    void read_clip(const aiAnimation& animation) {
        ForeignClip out;
        out.name = text_of(animation.mName);
        const double ticks = animation.mTicksPerSecond > 0 ? animation.mTicksPerSecond : 25;
        for (unsigned c = 0; c < animation.mNumChannels; ++c) {
            const aiNodeAnim& keys = *animation.mChannels[c];
            const auto node = node_of_name_.find(text_of(keys.mNodeName));
            if (node == node_of_name_.end()) continue;
            const auto add = [&](const char* path, const auto* from, unsigned count, const auto& put) {
                ForeignChannel channel{node->second, path, {}, {}};
                for (unsigned k = 0; from && k < count; ++k) {
                    channel.times.push_back(static_cast<float>(from[k].mTime / ticks));
                    put(from[k].mValue, channel.values);
                }
                if (!channel.times.empty()) out.channels.push_back(std::move(channel));
            };
            const auto put3 = [](const aiVector3D& v, std::vector<float>& to) {
                to.insert(to.end(), {v.x, v.y, v.z});
            };
            const auto put4 = [](const aiQuaternion& q, std::vector<float>& to) {
                to.insert(to.end(), {q.x, q.y, q.z, q.w});
            };
            add("translation", keys.mPositionKeys, keys.mNumPositionKeys, put3);
            add("rotation", keys.mRotationKeys, keys.mNumRotationKeys, put4);
            add("scale", keys.mScalingKeys, keys.mNumScalingKeys, put3);
        }
        if (animation.mNumMorphMeshChannels + animation.mNumMeshChannels > 0)
            out_.warnings.push_back("clip '" + printable(out.name) + "': its animation of shapes is left out");
        if (!out.channels.empty()) out_.clips.push_back(std::move(out));
    }

    const aiScene& scene_;
    ModelFiles& files_;
    ForeignScene out_;
    std::map<std::string, std::size_t> node_of_name_;  // the first node of a name
    std::map<std::string, std::size_t> image_of_uri_;
};

/// For DAE files, assimp puts unit and axes into the root. A unit in the root would scale every joint, so it is
/// removed there and kept as `metres`.
void take_scale(ForeignScene& scene) {
    Matrix& root = scene.nodes[0].local;
    double scale[3];
    for (std::size_t c = 0; c < 3; ++c)
        scale[c] = std::sqrt(root(0, c) * root(0, c) + root(1, c) * root(1, c) + root(2, c) * root(2, c));
    // The scale is not a unit if the root is translated or not a similarity.
    const double apart = std::max({scale[0], scale[1], scale[2]}) - std::min({scale[0], scale[1], scale[2]});
    if (!(scale[0] > 0) || !(apart <= 1e-5 * scale[0]) || scale[0] == 1) return;
    for (std::size_t r = 0; r < 3; ++r) {
        for (std::size_t c = 0; c < 3; ++c) root(r, c) /= scale[0];
        root(r, 3) /= scale[0];  // foreign_document scales it back
    }
    scene.metres = scale[0];
}

}  // namespace

Result<ForeignScene> read_foreign(std::span<const std::byte> bytes, const std::string& name, ModelFiles& files) {
    std::string extension = std::filesystem::path(name).extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const std::string inner = "model" + extension;
    try {
        Assimp::Importer importer;
        importer.SetIOHandler(new OneFile(inner, bytes));  // owned by the importer
        const aiScene* const scene = importer.ReadFile(inner, aiProcess_Triangulate);
        if (!scene) {
            const std::string reason = importer.GetErrorString();
            // assimp catches this itself.
            if (reason.find("bad_alloc") != reason.npos || reason.find("bad_array_new_length") != reason.npos)
                throw std::bad_alloc();
            return input_error(
                name, "assimp cannot read it: " + (reason.empty() ? "no reason given" : printable(reason, 300)));
        }
        SINEW_TRY_LET(ForeignScene out, AssimpReader(*scene, files).read(name));
        if (extension == ".dae") {
            take_scale(out);
        }
        return out;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& error) {
        return input_error(name, "assimp cannot read it: " + printable(error.what(), 300));
    } catch (...) {
        return input_error(name, "assimp cannot read it: no reason given");
    }
}

}  // namespace sinew::io
