// sinew/binding.h: the result of bind. It keeps the field at the vertices, so that weights under another falloff or
// limit take milliseconds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/core.h"
#include "sinew/domain.h"
#include "sinew/options.h"
#include "sinew/skeleton.h"
#include "sinew/weights.h"

namespace sinew {

/// The origin of a vertex's row in a binding.
enum class Coverage : std::uint8_t {
    weighted,   ///< computed by the method
    bridged,    ///< its part has no bone (bone_heat: no visible bone): reached over a gap from the nearest part
    outside,    ///< Binding::rebind: outside the volume; has the values of the nearest voxel
    euclidean,  ///< of a triangle, but no joint of its skin reaches it: straight distance to the bones
    unused,     ///< of no triangle: all weight on the nearest joint
    none,       ///< has no weights
};
std::string_view to_string(Coverage coverage);

/// How much of an earlier binding a binding reuses.
enum class Reuse {
    none,    ///< nothing: the method computed the field of this mesh
    table,   ///< the rows: the mesh is the same
    volume,  ///< the volume: the rows of another mesh were read from it
};
std::string_view to_string(Reuse reuse);

struct StageTime {
    std::string stage;
    double seconds = 0;
};

/// Counts, times and warnings of a bind. docs/report.md describes them as the command line writes them.
struct BindReport {
    MeshDefects defects;
    std::size_t boundary_voxels = 0, interior_voxels = 0, exterior_voxels = 0;
    std::size_t ambiguous_voxels = 0, ambiguous_inside = 0, bone_voxels = 0;
    std::size_t leaves = 0, links = 0, components = 0, bridged_components = 0;
    std::vector<std::uint32_t> snapped_joints;  ///< joints outside the volume
    std::array<std::size_t, 6> coverage{};      ///< number of vertices by Coverage
    /// ResolutionChoice::reason, and a remark on local resolution; empty if the resolution was given.
    std::string resolution_reason;
    Reuse reused = Reuse::none;
    float farthest_outside = 0;      ///< largest distance of an outside vertex to the nearest voxel; scene units
    std::vector<StageTime> seconds;  ///< in the order in which the stages ran
    std::vector<std::string> warnings;

    /// Number of vertices of the mesh.
    std::size_t vertices() const;
    /// Fraction of weighted, bridged and outside vertices among those that belong to a triangle, 0..1.
    double covered() const;
};

struct BindingState;

/// The result of bind: an immutable value. Copies share one state, so a copy is O(1) and may be used in another
/// thread. References that a member function returns are valid as long as any copy of the binding exists.
class Binding {
public:
    /// No joints, no vertices.
    Binding();
    // There are no moves: each copy always has a state.
    Binding(const Binding&) = default;
    Binding& operator=(const Binding&) = default;
    ~Binding() = default;

    const BindReport& report() const;
    /// The options given to bind, except that the resolution is the chosen one, and that
    /// falloff.map.hardness_of_joint has the values of Joint::hardness if the caller gave none. `mask` is null.
    const BindOptions& options() const;
    /// The skeleton given to bind.
    const Skeleton& skeleton() const;
    /// Distances from each vertex to its nearest joints; width 0 if the method's field is FieldKind::strength.
    const DistanceTable& distances() const;
    /// Strengths (heat, weights) of the strongest joints of each vertex; width 0 if the field is
    /// FieldKind::distance.
    const InfluenceTable& influences() const;
    /// The bones from which the field was computed. Those of leaf joints may have been extended.
    const std::vector<Bone>& bones() const;
    /// Per vertex.
    const std::vector<Coverage>& coverage() const;
    /// Whether the field at the leaves of the volume was kept (BindOptions::keep_volume).
    bool keeps_volume() const;

    /// Weights under another falloff and another limit. At most twice finish.max_influences of the bind (at least
    /// 8) joints are kept per vertex: a limit above that number is an error (usage). At exactly that number
    /// LimitRule::fade has no next joint to fade to, except for mesh_geodesic, which keeps one more.
    /// O(V · width), parallel.
    Result<SkinWeights> weights(const FalloffOptions& falloff, const FinishOptions& finish,
                                Context* context = nullptr) const;
    /// Weights under the options given to bind.
    Result<SkinWeights> weights(Context* context = nullptr) const {
        return weights(options().falloff, options().finish, context);
    }

    /// Whether this is the mesh that was bound, to the bit, with the same skins (by a 64-bit hash). O(V + T).
    bool is_of(const MeshView& mesh, const Skeleton& skeleton) const;

    /// Binds another mesh of similar shape (another outfit, a level of detail, damage) by reading the field of this
    /// binding's volume: the mesh is not voxelized and no field is computed. The same mesh gets the same rows, to
    /// the bit, also without a volume; any other mesh needs BindOptions::keep_volume, else the error is usage.
    ///
    /// `skeleton` belongs to the new mesh. Its joints must be those of the binding: number, names, parents, and
    /// positions within 1 % of the longest side. Its skins may differ. Which joints deform, and their hardness, are
    /// taken from the binding. If a skin allows a set of joints that the binding has no field for, the field of a
    /// skin that includes the set is used.
    ///
    /// A vertex outside the volume gets the values of the nearest voxel: Coverage::outside, with a warning. If most
    /// of the mesh lies far outside, or if its size differs too much, it is in another space: an error (input). A
    /// falloff map by vertex is dropped, with a warning. Time: analyse_mesh, and O(V).
    Result<Binding> rebind(const MeshView& mesh, const Skeleton& skeleton, Context* context = nullptr) const;

    /// Binds the same mesh with moved joints. The rows, the weights and the warnings are those of bind with the
    /// same options, to the last bit. If the binding keeps its volume (BindOptions::keep_volume), the result keeps
    /// its volume, too, and topology and voxels are reused: only cells near the bones are divided again, and only
    /// distances through them are repaired. geodesic_voxel also reuses rows of vertices near which nothing changed.
    ///
    /// `skeleton` must have the joints of the binding with the same names, parents, `deform` and skins; other
    /// properties may differ. Another mesh or skeleton is an error (usage). Hardness is taken from `skeleton` if
    /// the options given to bind have no map by joint. A chosen resolution stays. Bindings with local resolution,
    /// whose fine places depend on the joints, and with as_published are computed again. Time: O(leaves + V), and
    /// the changed parts of the field.
    Result<Binding> move_joints(const MeshView& mesh, const Skeleton& skeleton, Context* context = nullptr) const;
    /// Moves one joint to `place` (bind space). Its own tail moves by the same vector, and tails of other joints
    /// that were at its position follow.
    Result<Binding> move_joint(const MeshView& mesh, std::uint32_t joint, const Vec3& place,
                               Context* context = nullptr) const;

    /// The binding as a file (docs/binding.md): little-endian, with a checksum. Equal bindings give equal bytes.
    std::vector<std::byte> to_bytes() const;
    /// Reads it back. Its weights have the same bits. Damaged or malicious bytes give an error that says what is
    /// wrong and where, or a binding whose indices are in range and whose numbers are finite.
    static Result<Binding> from_bytes(std::span<const std::byte> bytes);

private:
    friend struct BindingState;
    explicit Binding(std::shared_ptr<const BindingState> state);
    std::shared_ptr<const BindingState> state_;
};

}  // namespace sinew
