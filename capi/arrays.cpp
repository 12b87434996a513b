// A character from arrays, and weights from and to arrays.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/try.h"
#include "handles.h"
#include "sinew/bind.h"
#include "sinew/domain.h"

using namespace sinew;
using namespace sinew::capi;

namespace {

Error broken(const std::string& where, const std::string& rule) { return {ErrorCode::input, where + ": " + rule}; }

Vec3 point_of(const float* numbers) { return {numbers[0], numbers[1], numbers[2]}; }

bool finite(const Vec3& p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

/// Adds a mesh to the scene: its vertices, moved into the model's space, and its faces as triangles.
class MeshReader {
public:
    MeshReader(io::Scene& scene, const std::string& model) : scene_(scene), model_(model) {}

    Status add(const snw_mesh& mesh, std::size_t number) {
        name_ = mesh.name && *mesh.name ? mesh.name : "mesh " + std::to_string(number);
        where_ = model_ + ": mesh '" + name_ + "'";
        first_vertex_ = scene_.positions.size();
        if ((mesh.vertex_count && !mesh.positions) || (mesh.face_count && !mesh.corners))
            return broken(where_, mesh.positions ? "corners must not be null" : "positions must not be null");
        if (mesh.vertex_count + first_vertex_ > 0xffffff00u)
            return Error{ErrorCode::too_large, where_ + ": the model would have more than 2^32 vertices"};
        SINEW_TRY(add_positions(mesh));
        const std::size_t first_triangle = scene_.triangles.size();
        SINEW_TRY(add_faces(mesh));
        scene_.primitives.push_back(
            {.name = name_ + "/0",
             .mesh = name_,
             .material = "",
             .first_vertex = static_cast<std::uint32_t>(first_vertex_),
             .vertex_count = static_cast<std::uint32_t>(mesh.vertex_count),
             .first_triangle = static_cast<std::uint32_t>(first_triangle),
             .triangle_count = static_cast<std::uint32_t>(scene_.triangles.size() - first_triangle)});
        ++scene_.mesh_count;
        return Done{};
    }

private:
    Status add_positions(const snw_mesh& mesh) {
        scene_.positions.reserve(first_vertex_ + mesh.vertex_count);
        for (std::size_t v = 0; v < mesh.vertex_count; ++v) {
            Vec3 p = point_of(mesh.positions + 3 * v);
            if (const double* m = mesh.transform) {
                const auto row = [&](std::size_t r) {
                    return static_cast<float>(m[4 * r] * p.x + m[4 * r + 1] * p.y + m[4 * r + 2] * p.z +
                                              m[4 * r + 3]);
                };
                p = {row(0), row(1), row(2)};
            }
            if (!finite(p))
                return broken(where_, "vertex " + std::to_string(v) +
                                          (mesh.transform ? ": its position or the transform is not finite"
                                                          : ": its position is not finite") +
                                          " (repair the mesh)");
            scene_.positions.push_back(p);
        }
        return Done{};
    }

    Status check_corners(const snw_mesh& mesh, std::size_t face, std::size_t begin, std::size_t end) const {
        for (std::size_t i = begin; i < end; ++i)
            if (mesh.corners[i] >= mesh.vertex_count)
                return broken(where_, "face " + std::to_string(face) + " names vertex " +
                                          std::to_string(mesh.corners[i]) + ", but the mesh has " +
                                          std::to_string(mesh.vertex_count));
        return Done{};
    }

    Status add_faces(const snw_mesh& mesh) {
        const auto base = static_cast<std::uint32_t>(first_vertex_);
        if (!mesh.face_sizes) {
            scene_.triangles.reserve(scene_.triangles.size() + mesh.face_count);
            for (std::size_t f = 0; f < mesh.face_count; ++f) {
                SINEW_TRY(check_corners(mesh, f, 3 * f, 3 * f + 3));
                const std::uint32_t* c = mesh.corners + 3 * f;
                scene_.triangles.push_back({base + c[0], base + c[1], base + c[2]});
            }
            return Done{};
        }
        std::vector<std::uint32_t> first{0}, corners;
        for (std::size_t f = 0, at = 0; f < mesh.face_count; ++f) {
            const std::size_t size = mesh.face_sizes[f];
            if (size < 3)
                return broken(where_, "face " + std::to_string(f) + " has " + std::to_string(size) +
                                          " corners: a face needs at least three");
            if (at + size > std::numeric_limits<std::uint32_t>::max())
                return Error{ErrorCode::too_large, where_ + ": it has more than 2^32 corners"};
            SINEW_TRY(check_corners(mesh, f, at, at + size));
            corners.insert(corners.end(), mesh.corners + at, mesh.corners + at + size);
            first.push_back(static_cast<std::uint32_t>(at += size));
        }
        std::size_t fanned = 0;
        const std::span<const Vec3> own = std::span(scene_.positions).subspan(first_vertex_);
        for (const Triangle& t : triangulate(own, first, corners, &fanned))
            scene_.triangles.push_back({base + t[0], base + t[1], base + t[2]});
        if (fanned)
            scene_.warnings.push_back(where_ + ": " + std::to_string(fanned) +
                                      " polygons cross themselves or have no area: cut into triangles as a fan");
        return Done{};
    }

    io::Scene& scene_;
    const std::string& model_;
    std::string name_, where_;
    std::size_t first_vertex_ = 0;
};

/// Position and axes from a rest matrix. Axes become unit vectors and right-handed: of a mirrored joint the third
/// one turns round.
Status take_rest(const double* m, Joint& joint, const std::string& where) {
    joint.position = {static_cast<float>(m[3]), static_cast<float>(m[7]), static_cast<float>(m[11])};
    double axis[3][3];
    for (int k = 0; k < 3; ++k) {
        const double x = m[k], y = m[4 + k], z = m[8 + k], length = std::sqrt(x * x + y * y + z * z);
        if (!(length > 0) || !std::isfinite(length))
            return broken(where,
                          "its rest matrix has a scale that is zero or not finite (each joint needs a matrix "
                          "with three axes)");
        axis[k][0] = x / length, axis[k][1] = y / length, axis[k][2] = z / length;
    }
    const double turn = axis[0][0] * (axis[1][1] * axis[2][2] - axis[1][2] * axis[2][1]) -
                        axis[0][1] * (axis[1][0] * axis[2][2] - axis[1][2] * axis[2][0]) +
                        axis[0][2] * (axis[1][0] * axis[2][1] - axis[1][1] * axis[2][0]);
    for (int k = 0; k < 3; ++k) {
        const double sign = k == 2 && turn < 0 ? -1 : 1;
        joint.axes[static_cast<std::size_t>(k)] = {static_cast<float>(sign * axis[k][0]),
                                                   static_cast<float>(sign * axis[k][1]),
                                                   static_cast<float>(sign * axis[k][2])};
    }
    return Done{};
}

Result<Skeleton> read_joints(const snw_arrays& arrays, const std::string& model) {
    Skeleton skeleton;
    if (arrays.joint_count == 0) return skeleton;
    if (!arrays.parents) return broken(model, "parents must not be null (-1 for a root)");
    if (!arrays.rest && !arrays.heads) return broken(model, "rest or heads must say where the joints are");
    skeleton.joints.resize(arrays.joint_count);
    for (std::size_t j = 0; j < arrays.joint_count; ++j) {
        Joint& joint = skeleton.joints[j];
        const char* name = arrays.names ? arrays.names[j] : nullptr;
        joint.name = name ? name : "joint " + std::to_string(j);
        joint.parent = arrays.parents[j];
        const std::string where = model + ": joint " + std::to_string(j) + " ('" + joint.name.substr(0, 120) + "')";
        if (arrays.rest) SINEW_TRY(take_rest(arrays.rest + 12 * j, joint, where));
        if (arrays.heads) joint.position = point_of(arrays.heads + 3 * j);
        if (arrays.tails && !std::isnan(arrays.tails[3 * j])) joint.tail = point_of(arrays.tails + 3 * j);
        if (!finite(joint.position) || (joint.tail && !finite(*joint.tail)))
            return broken(where, finite(joint.position) ? "its tail is not finite" : "its position is not finite");
        const int deforms = arrays.deform ? arrays.deform[j] : 2;
        if (deforms > 2)
            return broken(where,
                          "deform is " + std::to_string(deforms) + ": 0 is never, 1 is yes, 2 is by the settings");
        if (deforms < 2) {
            joint.deform = deforms == 1;
            joint.reason = joint.deform ? DeformReason::included : DeformReason::excluded;
        }
    }
    // Also with no joint that deforms: settings may include some.
    Skeleton checked = skeleton;
    for (Joint& joint : checked.joints) joint.deform = true;
    if (Status ok = check_skeleton(checked); !ok) return Error{ok.error().code, model + ": " + ok.error().message};
    return skeleton;
}

/// Weights from compressed rows. `where` begins an error.
Result<SkinWeights> read_rows(std::size_t vertices, std::size_t joint_count, const std::uint64_t* offsets,
                              const std::uint32_t* joints, const float* shares, const std::string& where) {
    std::vector<std::uint32_t> counts(vertices);
    std::vector<Influence> influences;
    if (offsets[0] != 0) return broken(where, "the first offset of the weights must be 0");
    for (std::size_t v = 0; v < vertices; ++v) {
        if (offsets[v + 1] < offsets[v] || offsets[v + 1] - offsets[v] > 0xffffffffu)
            return broken(where, "vertex " + std::to_string(v) + ": the offsets of the weights must not fall");
        counts[v] = static_cast<std::uint32_t>(offsets[v + 1] - offsets[v]);
    }
    influences.reserve(static_cast<std::size_t>(offsets[vertices]));
    for (std::size_t v = 0; v < vertices; ++v)
        for (auto i = static_cast<std::size_t>(offsets[v]); i < offsets[v + 1]; ++i) {
            if (joints[i] >= joint_count)
                return broken(where, "vertex " + std::to_string(v) + " has weight on joint " +
                                         std::to_string(joints[i]) + ", but there are " +
                                         std::to_string(joint_count));
            influences.push_back({joints[i], shares[i]});
        }
    Result<SkinWeights> made = SkinWeights::from_rows(counts, std::move(influences));
    if (!made) return Error{made.error().code, where + ": " + made.error().message};
    return made;
}

Status fill(const snw_arrays& arrays, snw_model& model) {
    io::Scene& scene = model.scene;
    MeshReader meshes(scene, model.name);
    for (std::size_t i = 0; i < arrays.mesh_count; ++i) SINEW_TRY(meshes.add(arrays.meshes[i], i));
    if (Status ok = check_mesh(scene.mesh()); !ok)
        return Error{ok.error().code, model.name + ": " + ok.error().message};
    SINEW_TRY_LET(Skeleton skeleton, read_joints(arrays, model.name));
    scene.skeleton = std::move(skeleton);
    if (arrays.weight_offsets) {
        if (!arrays.weight_joints || !arrays.weight_shares)
            return broken(model.name,
                          "weight_joints and weight_shares must not be null where weight_offsets is given");
        SINEW_TRY_LET(scene.weights, read_rows(scene.positions.size(), arrays.joint_count, arrays.weight_offsets,
                                               arrays.weight_joints, arrays.weight_shares, model.name));
    }
    if (arrays.up) {
        model.up = point_of(arrays.up);
        if (!finite(*model.up) || *model.up == Vec3{})
            return broken(model.name, "up must be a direction: three finite numbers that are not all 0");
    }
    model.look.material_of_primitive.assign(scene.primitives.size(), -1);
    model.as_read = scene.skeleton;
    return Done{};
}

}  // namespace

extern "C" {

snw_status snw_model_from_arrays(const snw_arrays* arrays, snw_model** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!arrays || (arrays->mesh_count && !arrays->meshes)) return missing(!arrays ? "arrays" : "meshes");
    return guarded([&]() -> Status {
        auto model = std::make_unique<snw_model>();
        model->name = arrays->name && *arrays->name ? arrays->name : "arrays";
        SINEW_TRY(fill(*arrays, *model));
        *out = model.release();
        return Done{};
    });
}

snw_status snw_model_move_joints(snw_model* model, const float* heads, const float* tails) {
    if (!model || !heads) return missing(!model ? "model" : "heads");
    return guarded([&]() -> Status {
        const ModelUse use(*model, ModelUse::changes);
        SINEW_TRY(use.allowed());
        if (model->scene.document)
            return Error{ErrorCode::usage, model->name +
                                               ": the file says where its joints are; only those of a model from "
                                               "arrays can be moved"};
        Skeleton moved = model->as_read;
        for (std::size_t j = 0; j < moved.joints.size(); ++j) {
            Joint& joint = moved.joints[j];
            const Vec3 head = point_of(heads + 3 * j), from = joint.position;
            joint.position = head;
            if (tails)
                joint.tail = std::isnan(tails[3 * j]) ? std::nullopt : std::optional(point_of(tails + 3 * j));
            else if (joint.tail)
                joint.tail = Vec3{joint.tail->x + (head.x - from.x), joint.tail->y + (head.y - from.y),
                                  joint.tail->z + (head.z - from.z)};
            if (!finite(head) || (joint.tail && !finite(*joint.tail)))
                return broken(model->name, "joint '" + joint.name.substr(0, 120) + "': its " +
                                               (finite(head) ? "tail" : "position") + " is not finite");
        }
        model->scene.skeleton = model->as_read = std::move(moved);
        return Done{};
    });
}

snw_status snw_model_select(snw_model* model, const uint8_t* vertices, const uint8_t* locked_joints) {
    if (!model) return missing("model");
    return guarded([&]() -> Status {
        const ModelUse use(*model, ModelUse::changes);
        SINEW_TRY(use.allowed());
        const io::Scene& scene = model->scene;
        std::vector<bool> kept, locked;
        if (vertices) {
            kept.resize(scene.positions.size());
            for (std::size_t v = 0; v < kept.size(); ++v) kept[v] = vertices[v] == 0;
        }
        if (locked_joints) {
            locked.assign(locked_joints, locked_joints + scene.skeleton.joints.size());
            if (!scene.weights && std::find(locked.begin(), locked.end(), true) != locked.end())
                return Error{ErrorCode::usage, model->name +
                                                   ": it has no weights, so there is nothing on the locked joints "
                                                   "to keep"};
        }
        model->kept_vertices = std::move(kept);
        model->locked_joints = std::move(locked);
        return Done{};
    });
}

snw_status snw_weights_from_rows(size_t vertices, size_t joint_count, const uint64_t* offsets,
                                 const uint32_t* joints, const float* shares, snw_weights** out) {
    if (!out) return missing("out");
    *out = nullptr;
    if (!offsets || (offsets[vertices] && (!joints || !shares)))
        return missing(!offsets ? "offsets" : !joints ? "joints" : "shares");
    return guarded([&]() -> Status {
        SINEW_TRY_LET(SkinWeights made, read_rows(vertices, joint_count, offsets, joints, shares, "weights"));
        *out = new snw_weights{std::move(made)};
        return Done{};
    });
}

void snw_weights_size(const snw_weights* weights, size_t* vertices, size_t* entries) {
    std::size_t sum = 0;
    const std::size_t count = weights ? weights->weights.vertex_count() : 0;
    for (std::size_t v = 0; v < count; ++v) sum += weights->weights[v].size();
    if (vertices) *vertices = count;
    if (entries) *entries = sum;
}

snw_status snw_weights_csr(const snw_weights* weights, uint64_t* offsets, uint32_t* joints, float* shares) {
    if (!weights || !offsets || !joints || !shares)
        return missing(!weights ? "weights" : !offsets ? "offsets" : !joints ? "joints" : "shares");
    const SkinWeights& w = weights->weights;
    std::size_t next = 0;
    offsets[0] = 0;
    for (std::size_t v = 0; v < w.vertex_count(); ++v) {
        for (const Influence& i : w[v]) {
            joints[next] = i.joint;
            shares[next++] = i.weight;
        }
        offsets[v + 1] = next;
    }
    return SNW_OK;
}

snw_status snw_weights_dense(const snw_weights* weights, size_t joint_count, float* shares) {
    if (!weights || !shares) return missing(!weights ? "weights" : "shares");
    return guarded([&]() -> Status {
        const SkinWeights& w = weights->weights;
        std::fill(shares, shares + w.vertex_count() * joint_count, 0.f);
        for (std::size_t v = 0; v < w.vertex_count(); ++v)
            for (const Influence& i : w[v]) {
                if (i.joint >= joint_count)
                    return Error{ErrorCode::usage, "vertex " + std::to_string(v) + " has weight on joint " +
                                                       std::to_string(i.joint) + ", but the array has room for " +
                                                       std::to_string(joint_count)};
                shares[v * joint_count + i.joint] = i.weight;
            }
        return Done{};
    });
}

}  // extern "C"
