// The state of a Binding. The functions that make bindings (bind, rebind, move_joints, from_bytes) fill one, and it
// never changes afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "bind/kept_volume.h"
#include "bind/planned_mesh.h"
#include "sinew/binding.h"

namespace sinew {

/// The groups of coincident vertices of the bound mesh (MeshTopology::weld), found when they are first needed. A
/// copy starts without them: it may be of another mesh.
class KeptWeld {
public:
    KeptWeld() = default;
    KeptWeld(const KeptWeld&) {}
    KeptWeld& operator=(const KeptWeld&) = delete;
    /// Not all of them, and nothing is kept, if the context is cancelled. Valid as long as the binding.
    const std::vector<std::uint32_t>& of(const MeshView& mesh, Context* context) const;

private:
    mutable std::mutex finding_;
    mutable std::vector<std::uint32_t> weld_;
};

struct BindingState {
    BindReport report;
    BindOptions options;
    bool map_is_hardness = false;  ///< FalloffMap::hardness_of_joint is that of take_hardness, not the caller's
    Skeleton skeleton;
    DistanceTable distances;
    InfluenceTable influences;
    std::vector<Bone> bones;
    std::vector<Coverage> coverage;
    std::uint64_t mesh_hash = 0;  ///< of hash_mesh
    KeptWeld weld;
    std::shared_ptr<const KeptVolume> volume;    ///< with BindOptions::keep_volume, else null
    std::shared_ptr<const PlannedMesh> planned;  ///< with the volume, for move_joints; not in files
    std::shared_ptr<const KeptHeat> heat;        ///< the same, of a method that solves for heat

    static Binding binding_of(std::shared_ptr<const BindingState> state) { return Binding(std::move(state)); }
    static const BindingState& of(const Binding& binding) { return *binding.state_; }

    /// Sets FalloffMap::hardness_of_joint to Joint::hardness, or adds a warning if the caller has given a map.
    void take_hardness();
    /// Takes the rows of a method: share_rows, then into the tables.
    void take_rows(const RowPlan& plan, MethodRows rows);
};

/// Checks that the binding keeps enough joints for a limit of influences.
Status check_limit(const Binding& binding, const FinishOptions& finish);

/// A hash of positions, triangles and the joints that each vertex may use.
std::uint64_t hash_mesh(const MeshView& mesh, const Skeleton& skeleton);

}  // namespace sinew
