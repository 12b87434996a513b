// sinew/bind.h: the whole way from a mesh and a skeleton to skin weights, in one call.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/core.h"
#include "sinew/domain.h"
#include "sinew/skeleton.h"
#include "sinew/weights.h"

namespace sinew {

/// A published way to bind: a choice of domain, field and falloff (docs/architecture.md).
enum class Method {
    geodesic_voxel,      ///< Dionne and de Lasa 2014
    closest_distance,    ///< straight distance to every bone (Dionne and de Lasa 2014, figure 2)
    closest_hierarchy,   ///< the same, for the closest joint and those two hops over the skeleton around it
    pixel_geodesic,      ///< VIDE 2012: distance through the pixels of a flat figure
    connectivity,        ///< Milcho 2011: the closest bone, and near its ends the bones connected there
    mesh_geodesic,       ///< Tokheim 2003: along the edges of the mesh, from the ring of each joint
    voxel_heat,          ///< Rosen 2009: bones heat the volume; heat at rest, raised to a power
    bone_heat,           ///< Baran and Popović 2007: heat of the nearest visible bones, spread over the surface
    bounded_biharmonic,  ///< Jacobson et al. 2011: smoothest weights within 0..1, on the leaves of the volume
    surface_heat,        ///< bone_heat, where the volume says what is nearest to what is hidden; rigid parts whole
};

/// What a method's field is: which falloff laws suit it.
enum class FieldKind {
    distance,  ///< every law but power
    strength,  ///< heat, or weights: power
};

/// The rows of the method table, for help texts and reports.
struct MethodInfo {
    Method method;
    FieldKind field;
    std::string_view name;     ///< as on the command line
    std::string_view summary;  ///< domain, field, falloff in a few words
};
std::span<const MethodInfo> methods();
std::string_view to_string(Method method);

/// mesh_geodesic: which planes cut the rings of a joint.
enum class RingPlacement {
    joint,  ///< one through the joint, half way between its bones: a joint's region lies on both sides of it
    bone,   ///< one across the middle of each of its bones: a joint's region is that of its bones
    axes,   ///< one through the joint, across the one of its axes that is nearest to its bones, as in the source
};

/// voxel_heat: what computes the heat at rest.
enum class HeatBy {
    cpu,       ///< the linear solver
    hardware,  ///< compute shaders of OpenGL; the same weights within 1e-3
};

/// The defaults are preset(Method::surface_heat). For another method begin with its preset: what suits one falloff
/// law or distance does not suit all.
struct BindOptions {
    Method method = Method::surface_heat;
    VoxelizeOptions voxels;  ///< resolution 0: choose_resolution; not for pixel_geodesic
    /// geodesic_voxel, surface_heat: twice the resolution where a limb is thinner than two voxels, or nearer than
    /// that to another. Sparse voxels, resolution up to 512. With resolution 0 that is chosen, too.
    bool local_resolution = false;
    DomainKind domain = DomainKind::sparse;  ///< sparse_boundary: geodesic_voxel only
    /// pixel_geodesic: where a path may go: 8 ways (√2 on the diagonal), or breadth-first in 4, as its author did.
    Neighbours neighbours = Neighbours::all;
    /// pixel_geodesic: the figure, in the mesh's plane and units. Null: what the mesh's triangles touch, of
    /// voxels.resolution pixels (here up to 4096) along the longest side. Must outlive the call.
    const PixelMask* mask = nullptr;
    float penalty = 4;  ///< see GeodesicOptions
    /// How much of the length by which a vertex overshoots a bone's open ends is added to its distance, ≥ 0. No
    /// publication has it. In the wedge behind a joint parent and child would tie without it.
    float overshoot = 0;
    /// connectivity: where along its closest bone (0 head, 1 tail) a vertex follows that bone alone. [0, 1] for a
    /// bone that shares nothing. Joint::hard_range wins.
    std::array<float, 2> hard_range{0.2f, 0.8f};
    RingPlacement rings = RingPlacement::joint;
    /// mesh_geodesic: distances by the matrix of all pairs, as the source describes, in place of one run per joint.
    /// The same distances, for comparison: for meshes of at most all_pairs_limit positions.
    bool all_pairs = false;
    /// voxel_heat: how fast heat leaves through the skin, per longest side of the box; 1..1e5. Conduction over that
    /// length is 1. Strong cooling makes heat fall fast along the way from its bone.
    float cooling = 250;
    /// voxel_heat: 0 solves for heat at rest; N > 0 are N sweeps of averaging instead, the source's naive way,
    /// which ends far from rest where N is small. 0..1e6.
    int iterations = 0;
    /// voxel_heat: hardware needs an OpenGL driver, and is slower where that computes on the processor.
    HeatBy heat = HeatBy::cpu;
    /// geodesic_voxel: as Dionne and de Lasa (2014) publish it. A vertex reads the leaf that contains it and adds
    /// the way from its centre (eq. 7); distances have no lower bound; bones of leaf joints keep their length; a
    /// bone that crosses no voxel binds nothing; bridges change no distance within a part that has bones. Takes
    /// neither overshoot nor local resolution. set_option(options, "as-published", "on") also sets what the paper
    /// fixes (BindSetting::sets), and no weights are pruned.
    bool as_published = false;
    /// bone_heat, surface_heat: c in the heat c / d² that a bone at distance d gives; larger makes harder joints.
    /// (0, 1e6].
    float heat_transfer = 4;
    FalloffOptions falloff{.law = FalloffLaw::power, .map = {}};
    FinishOptions finish;
    /// Keep in the Binding what is measured at the leaves of the volume, so that it can weight other meshes
    /// (Binding::rebind). Methods without a volume ignore it. Memory: 12 bytes a leaf, and per set of joints that a
    /// skin allows 8 bytes a leaf for each joint kept (twice max_influences, at least 8), with some 70 bytes a leaf
    /// once for links; or 4 for each joint of the set where max_influences is all_influences or the field is a
    /// strength.
    bool keep_volume = false;
};
Status check(const BindOptions& options);

/// Distinct positions of the largest mesh that BindOptions::all_pairs takes; its matrix has 1 GB.
inline constexpr std::size_t all_pairs_limit = 16384;

/// The options with which a method is what its author described, and geodesic_voxel and surface_heat are what
/// serves most characters best.
BindOptions preset(Method method);

/// An option of bind by its word on the command line (without "--"): for every door that takes words.
struct BindSetting {
    enum class Kind {
        number,
        whole,   ///< a whole number, or a word that `choices` names
        choice,  ///< one of `choices`
        flag,    ///< on or off
        range,   ///< two numbers, a space between them
    };
    std::string_view name;
    Kind kind;
    std::string_view group;    ///< "Method": a change needs another bind; "Weights": Binding::weights will do
    std::string_view choices;  ///< words, a space between them
    std::string_view help;
    std::span<const Method> methods = {};   ///< the methods that read it; empty: all
    std::span<const FalloffLaw> laws = {};  ///< the falloff laws that read it; empty: all
    std::string_view sets = {};             ///< a flag: what "on" sets, too: "name value, name value"

    bool read_by(Method method) const;
    bool read_by(FalloffLaw law) const;
};
/// All of them. "method" is the first: setting it sets all others to its preset.
std::span<const BindSetting> bind_settings();
/// Whether the method and the falloff law of the options read this one; the error says which do.
Status check_read(const BindOptions& options, std::string_view name);
/// Sets one. A name that is not known and a value that does not read are errors; ranges are held by check.
Status set_option(BindOptions& options, std::string_view name, std::string_view value);
/// What set_option would read: numbers in the shortest text that is exact. Empty for an unknown name.
std::string option_text(const BindOptions& options, std::string_view name);

/// How a vertex came to its weights.
enum class Coverage : std::uint8_t {
    weighted,   ///< by the method
    bridged,    ///< its part has no bone (bone-heat: sees none): distance or heat comes from the nearest over a gap
    outside,    ///< Binding::rebind: outside the volume, so it has what the nearest voxel has
    euclidean,  ///< of a triangle, but reached by no joint of its skin: straight distance to the bones
    unused,     ///< of no triangle: all weight on the nearest joint
    none,       ///< has no weights
};
std::string_view to_string(Coverage coverage);

/// What a binding was made from.
enum class Reuse {
    none,    ///< a mesh, by its method
    table,   ///< an earlier binding of the same mesh, whose distances are its own
    volume,  ///< the volume of an earlier binding, in which another mesh was measured
};
std::string_view to_string(Reuse reuse);

struct StageTime {
    std::string stage;
    double seconds = 0;
};

/// What happened, in numbers. The command line writes it as the report (docs/report.md).
struct BindReport {
    MeshDefects defects;
    std::size_t boundary_voxels = 0, interior_voxels = 0, exterior_voxels = 0;
    std::size_t ambiguous_voxels = 0, ambiguous_inside = 0, bone_voxels = 0;
    std::size_t leaves = 0, links = 0, components = 0, bridged_components = 0;
    std::vector<std::uint32_t> snapped_joints;  ///< joints outside the volume
    std::array<std::size_t, 6> coverage{};      ///< vertices by Coverage
    std::string resolution_reason;              ///< of choose_resolution, and what is finer; else empty
    Reuse reused = Reuse::none;
    float farthest_outside = 0;      ///< of the vertices outside, from the nearest voxel; scene units
    std::vector<StageTime> seconds;  ///< in order
    std::vector<std::string> warnings;

    std::size_t vertices() const;
    /// Share that the method reached (weighted, bridged or outside) of the vertices that belong to a triangle,
    /// 0..1.
    double covered() const;
};

struct RowPlan;
struct MethodRows;
struct PlannedMesh;  ///< what is known of a mesh before its rows are filled
struct KeptVolume;   ///< what is measured at the leaves of the volume

/// A finished bind that keeps its distances: other falloffs and limits cost milliseconds. A value:
/// copies are independent, but share the volume, which never changes. It can be written to bytes and read
/// back, and with its volume (BindOptions::keep_volume) it can weight other meshes.
class Binding {
public:
    const BindReport& report() const { return report_; }
    /// As given to bind, with the resolution that was chosen, and Joint::hardness where the map had no hardness.
    const BindOptions& options() const { return options_; }
    /// As it was bound, also from bytes.
    const Skeleton& skeleton() const { return skeleton_; }
    /// Of a method that measures distances; empty (width 0) for others.
    const DistanceTable& distances() const { return distances_; }
    /// Of a method whose field is a strength already (heat, weights); empty for others.
    const InfluenceTable& influences() const { return influences_; }
    const std::vector<Bone>& bones() const { return bones_; }
    const std::vector<Coverage>& coverage() const { return coverage_; }
    bool keeps_volume() const { return volume_ != nullptr; }

    /// Weights under other falloff and limits, from the kept distances. A limit above the number of joints kept
    /// (twice finish.max_influences of the bind, at least 8) is an error; at that number the next joint, at which
    /// influence fades out, is known of mesh_geodesic only. O(V · width).
    Result<SkinWeights> weights(const FalloffOptions& falloff, const FinishOptions& finish,
                                Context* context = nullptr) const;
    /// Weights under the options given to bind.
    Result<SkinWeights> weights(Context* context = nullptr) const {
        return weights(options_.falloff, options_.finish, context);
    }

    /// Whether this is the mesh that was bound, to the bit, with the same skins (by a hash of 64 bits). O(V + T).
    bool is_of(const MeshView& mesh, const Skeleton& skeleton) const;

    /// A binding of another mesh of similar shape (another outfit, a level of detail, damage), measured in this
    /// binding's volume: no voxels are made and no distance spreads. The mesh that was bound gets its own distances
    /// back, to the bit, also without a volume; others need one. `skeleton`: that of the mesh; its joints must be
    /// those of the binding, by number, name, parent and place (within 1 % of the longest side), its skins are its
    /// own; which joints deform and how hard they are is what the binding says.
    ///
    /// A vertex outside the volume gets what the nearest voxel has: Coverage::outside, with a warning. A mesh most
    /// of which lies far outside, or is of another size, is an error: it is in another space. Joints of a skin that
    /// the binding has not are taken from the nearest kept of a skin that lists them all. A map of the falloff by
    /// vertex belongs to the mesh that was bound and is dropped, with a warning. Time: that of reading the
    /// topology, and O(V) for the rest.
    Result<Binding> rebind(const MeshView& mesh, const Skeleton& skeleton, Context* context = nullptr) const;

    /// The binding of the same mesh with joints at other places: what bind makes of them with the same options, to
    /// the last bit of rows and weights, with its warnings; in less time where the binding keeps its volume
    /// (BindOptions::keep_volume), as the one returned does again. Topology and voxels are kept; cells are divided
    /// anew around the bones, and distances mended where they passed there. geodesic-voxel also keeps the rows of
    /// vertices around which nothing changed.
    /// `skeleton`: that of the binding by number, name, parent, deform and skins, else an error; so is another
    /// mesh. All else of its joints may have changed: hardness is taken anew where the options that were given to
    /// bind have no map by joint. A resolution that bind chose stays. It binds afresh with local resolution, whose
    /// places depend on the joints, and as published. O(leaves + V), and what changed.
    Result<Binding> move_joints(const MeshView& mesh, const Skeleton& skeleton, Context* context = nullptr) const;
    /// One joint, with its tail where it states one, and with the tails of other joints that lie where it was.
    Result<Binding> move_joint(const MeshView& mesh, std::uint32_t joint, const Vec3& place,
                               Context* context = nullptr) const;

    /// The whole binding, little-endian, with a checksum (docs/binding.md). The same binding gives the same bytes.
    std::vector<std::byte> to_bytes() const;
    /// Reads it back: its weights are the same bits. Whatever the bytes are, the answer is a binding whose every
    /// index is in range and every number finite, or an error that says what is wrong where.
    static Result<Binding> from_bytes(std::span<const std::byte> bytes);

private:
    friend Result<SkinWeights> adjusted_weights(const Binding&, const MeshView&, const Skeleton&,
                                                const FalloffOptions&, const FinishOptions&, const Adjustments&,
                                                EditReport*, Context*);
    friend Result<Binding> bind(const MeshView&, const Skeleton&, const BindOptions&, Context*);
    void take_rows(const RowPlan& plan, MethodRows rows);
    /// Joint::hardness is FalloffMap::hardness_of_joint where the caller gave none; else a warning.
    void take_hardness();
    template <typename Archive>
    Status transfer(Archive& archive);  // binding_file.cpp

    BindReport report_;
    BindOptions options_;
    bool map_is_hardness_ = false;  // FalloffMap::hardness_of_joint is that of take_hardness, not the caller's
    Skeleton skeleton_;
    DistanceTable distances_;
    InfluenceTable influences_;
    std::vector<Bone> bones_;
    std::vector<Coverage> coverage_;
    std::uint64_t mesh_hash_ = 0;
    std::shared_ptr<const KeptVolume> volume_;
    std::shared_ptr<const PlannedMesh> planned_;  // with the volume; not in bytes
};

/// Binds. Joints that deform nothing must be marked before (select_deforming). Vertices at the same position
/// get the same weights where their skins allow it. An estimate of memory is checked against
/// Context::memory_limit before the work. Time and memory: see the stages, and
/// `make bench`.
Result<Binding> bind(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options = {},
                     Context* context = nullptr);

/// Called with each result of bind_progressive; `final` with the last one. False stops the bind.
using BindStep = std::function<bool(const Binding& binding, bool final)>;

/// bind, with a result to look at while waiting: where the method measures in voxels and the resolution is above
/// 64, it binds at 64 first. The last binding is that of bind, to the bit. If `on_result` returns false after a
/// coarse result, that binding is returned. Time: that of bind, and of a bind at resolution 64.
Result<Binding> bind_progressive(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options,
                                 const BindStep& on_result, Context* context = nullptr);

/// Weights of a binding as they are wanted, without measuring anything again: rigid regions, then falloff (with the
/// map of `adjustments` in place of its own where it says something), limit, locks and edits. AngleFalloff is for
/// the caller to put into the map (falloff_at, complete_edits). `mesh` and `skeleton`: those that were bound. A
/// vertex of a rigid region none of whose joints was among those kept goes to the nearest of them by straight
/// distance. Time: that of weights(), and of apply_edits.
Result<SkinWeights> adjusted_weights(const Binding& binding, const MeshView& mesh, const Skeleton& skeleton,
                                     const FalloffOptions& falloff, const FinishOptions& finish,
                                     const Adjustments& adjustments, EditReport* report = nullptr,
                                     Context* context = nullptr);

/// How a vertex came to its weights in a transfer.
enum class TransferHow : std::uint8_t {
    matched,    ///< from the nearest point of the source, which is near and faces the same way
    inpainted,  ///< filled in smoothly from the matched vertices of its part
    nearest,    ///< of a part that matches nowhere: from the nearest point of the source, however far
    unused,     ///< of no triangle: the same
};
std::string_view to_string(TransferHow how);

struct TransferOptions {
    float distance = 0.05f;  ///< how far a match may be, in diagonals of the source's box; (0, 10]
    float angle = 30;        ///< largest angle between the normals of a match, degrees, 0..180
    FinishOptions finish;
};
Status check(const TransferOptions& options);

struct Transfer {
    SkinWeights weights;                  ///< on the source's joints
    std::vector<TransferHow> how;         ///< per vertex of the target
    std::array<std::size_t, 4> counts{};  ///< vertices by TransferHow
    std::vector<std::string> warnings;
    /// Share of matched and inpainted vertices among those that belong to a triangle, 0..1.
    double covered() const;
};

/// Weights of one mesh for another that lies on it or around it in the same space: clothing, an LOD, another cut of
/// the mesh (Abdrashitov et al. 2023; docs/transfer.md). Every vertex of the target gets weights; those at one
/// position get the same. Skins of the target are not looked at. Every vertex of a triangle of the source must have
/// weights. Time O((S + V) log S), and one factorisation of the vertices that match nowhere, which is held against
/// Context::memory_limit before it is made.
Result<Transfer> transfer(const MeshView& source, const SkinWeights& weights, const MeshView& target,
                          const TransferOptions& options = {}, Context* context = nullptr);

/// Bytes that bind would need at most beside the mesh, by the formulas in docs/memory.md. The threads are those of
/// the context. O(V + T).
std::size_t estimate_memory(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options,
                            const Context* context = nullptr);

/// A resolution and why.
struct ResolutionChoice {
    int resolution = 0;           ///< as was given, or 64..512
    std::vector<FinePlace> fine;  ///< local resolution: where voxels are half as large; empty without
    std::string reason;           ///< lengths in scene units; empty where nothing was chosen
};

/// What bind does about resolution (docs/methods/resolution.md). Where BindOptions::voxels.resolution is 0 it is
/// the coarsest, from 64 to 512, at which two voxels fit across the thinnest limb and into the narrowest gap
/// between limbs, and at most what Context::memory_limit allows; of ten limbs or gaps one may be smaller; 256
/// without any. If that is 256 or more and what needs it has at most half of the surface, half of it is chosen, and
/// local resolution. With local resolution, chosen or asked for, the places whose limbs are too thin or too near
/// each other for two voxels. Limbs and gaps are read from the mesh around the bones of joints that deform. Not for
/// pixel_geodesic. O(V + T), and 15,000 triangles × bones at most.
Result<ResolutionChoice> choose_resolution(const MeshView& mesh, const Skeleton& skeleton,
                                           const BindOptions& options, Context* context = nullptr);

}  // namespace sinew
