// sinew/options.h: the methods of bind, and their options: as a struct, and by name for command lines and files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sinew/core.h"
#include "sinew/domain.h"
#include "sinew/weights.h"

namespace sinew {

/// A binding method: a choice of domain, field and falloff (docs/architecture.md). docs/methods has a page for
/// each.
enum class Method {
    geodesic_voxel,      ///< Dionne and de Lasa 2014: distance through voxels
    closest_distance,    ///< straight distance to every bone (Dionne and de Lasa 2014, figure 2)
    closest_hierarchy,   ///< the same, limited to the closest joint and the joints within two hops of it
    pixel_geodesic,      ///< VIDE 2012: distance through the pixels of a flat figure
    connectivity,        ///< Milcho 2011: the closest bone, and near its ends the bones connected there
    mesh_geodesic,       ///< Tokheim 2003: distance along mesh edges, from the ring around each joint
    voxel_heat,          ///< Rosen 2009: bones heat the volume; steady heat, raised to a power
    bone_heat,           ///< Baran and Popović 2007: heat of the nearest visible bones, diffused over the surface
    bounded_biharmonic,  ///< Jacobson et al. 2011: smoothest weights within 0..1, on the leaves of the volume
    surface_heat,        ///< unpublished: bone_heat, with distance through the volume to hidden bones; rigid parts
};

/// The quantity that a method computes for each vertex and joint. It decides which falloff laws can be used.
enum class FieldKind {
    distance,  ///< scene units; every law except FalloffLaw::power
    strength,  ///< heat or weights, ≥ 0; FalloffLaw::power only
};

/// Description of a method, for help texts and reports.
struct MethodInfo {
    Method method;
    FieldKind field;
    std::string_view name;     ///< as on the command line
    std::string_view summary;  ///< domain, field and falloff in a few words
};
/// All methods. The data is static.
std::span<const MethodInfo> methods();
/// The method's name on the command line.
std::string_view to_string(Method method);

/// mesh_geodesic: position and direction of the planes that cut the rings of a joint.
enum class RingPlacement {
    joint,  ///< one plane through the joint, half way between its bones: its region lies on both sides of it
    bone,   ///< one plane across the middle of each bone of the joint: its region is that of its bones
    axes,   ///< one plane through the joint, across its axis that is nearest to its bones, as in the source
};

/// mesh_geodesic: the distance at which a ring starts.
enum class RingStart {
    late,  ///< points far from the joint start later: a plane sideways through a collar bone cuts to both shoulders
    zero,  ///< all of the ring at distance 0 (Tokheim 2003)
};

/// voxel_heat: the processor that computes the steady heat.
enum class HeatBy {
    cpu,       ///< a linear solver
    hardware,  ///< compute shaders of OpenGL; weights agree with those of cpu within 1e-3
};

/// Options of bind. The defaults are preset(Method::surface_heat). For another method start from its preset, since
/// values that suit one falloff law or field do not suit all. Options that a method does not read are ignored;
/// check_read reports them.
struct BindOptions {
    Method method = Method::surface_heat;
    /// Resolution 0: chosen by choose_resolution; not for pixel_geodesic.
    VoxelizeOptions voxels;
    /// geodesic_voxel, surface_heat: doubles the resolution near limbs that are thinner than two voxels, or closer
    /// than two voxels to another limb. Needs DomainKind::sparse and a resolution of at most 512. If the resolution
    /// is 0, this is chosen, too.
    bool local_resolution = false;
    DomainKind domain = DomainKind::sparse;  ///< sparse_boundary: geodesic_voxel only
    /// pixel_geodesic: steps of a path: 8 directions (√2 on the diagonal), or breadth-first in 4, as in the source.
    Neighbours neighbours = Neighbours::all;
    /// pixel_geodesic: the figure, in the plane and units of the mesh. Null: the pixels that the triangles of the
    /// mesh touch, with voxels.resolution pixels (here up to 4096) along the longest side. Must outlive the call.
    const PixelMask* mask = nullptr;
    /// pixel_geodesic: a vertex has the distances of the pixel that contains it, as in the source. Otherwise they
    /// are interpolated between the four pixels around it, and not below the straight distance.
    bool one_pixel = false;
    float penalty = 4;  ///< GeodesicOptions::penalty
    /// Fraction, ≥ 0, of the length by which a vertex lies beyond an open end of a bone, added to its distance.
    /// Without it parent and child would be equally far in the wedge behind a joint. Unpublished.
    float overshoot = 0;
    /// connectivity: the range along its closest bone (0 head, 1 tail; beyond an end below 0 or above 1) in which a
    /// vertex follows only that bone. Joint::hard_range takes precedence.
    std::array<float, 2> hard_range{0.2f, 0.8f};
    RingPlacement rings = RingPlacement::joint;
    RingStart ring_start = RingStart::late;
    /// mesh_geodesic: computes distances from a matrix of all pairs, as in the source, instead of one search per
    /// joint. For comparison: the distances are the same. For meshes of at most all_pairs_limit positions.
    bool all_pairs = false;
    /// voxel_heat: rate at which heat leaves through the skin, relative to conduction over the longest side of the
    /// box; 1..1e5, or 0 with iterations. With a larger rate heat falls faster with the distance from its bone.
    float cooling = 250;
    /// voxel_heat: 0 solves for steady heat. N > 0: N sweeps of averaging, the simple scheme of the source, which
    /// ends far from steady heat if N is small. 0..1e6.
    int iterations = 0;
    /// voxel_heat: hardware needs an OpenGL driver, and is slower if the driver computes on the processor.
    HeatBy heat = HeatBy::cpu;
    /// geodesic_voxel: follows Dionne and de Lasa (2014) exactly. A vertex reads the leaf that contains it and adds
    /// the distance from the leaf's centre (eq. 7); distances have no lower bound; bones of leaf joints keep their
    /// length; a bone that crosses no voxel binds nothing; bridges change no distance within a part that has bones.
    /// Excludes overshoot and local resolution. set_option(options, "as-published", "on") also sets the values that
    /// the paper fixes (BindSetting::sets), and turns off pruning.
    bool as_published = false;
    /// bone_heat, surface_heat: c in the heat c / d² that a bone at distance d gives; (0, 1e6]. Larger values make
    /// harder joints.
    float heat_transfer = 4;
    /// surface_heat: the strength of the correction that was learned from artists' weights; [0, 1]. Less than 1,
    /// since a character may be unlike all that were learned from.
    float learned = 0.7f;
    FalloffOptions falloff{.law = FalloffLaw::power, .map = {}};
    FinishOptions finish;
    /// Refuses a skeleton that lies beside the mesh, or is many times larger or smaller: in another place or unit.
    /// With false it is bound as it is.
    bool fit_check = true;
    /// Keeps the field at the leaves of the volume in the Binding, which Binding::rebind needs and which makes
    /// Binding::move_joints faster. Methods without a volume ignore it. Memory: 12 bytes per leaf; for each set of
    /// joints that a skin allows, 8 bytes per leaf and kept joint (twice max_influences, at least 8; with
    /// surface_heat four) and once about 70 bytes per leaf for links; or 4 bytes per leaf and joint of the set if
    /// max_influences is all_influences or the field is a strength.
    bool keep_volume = false;
};
/// Checks every option against its range, and combinations of options. The error names the option.
Status check(const BindOptions& options);

/// Limit of BindOptions::all_pairs in distinct positions of the mesh; the matrix then takes 1 GB.
inline constexpr std::size_t all_pairs_limit = 16384;

/// The recommended options of a method: as its author describes it, except that geodesic_voxel and surface_heat
/// have the values that are best for most characters.
BindOptions preset(Method method);

/// Description of an option of bind that has a name. Command lines, the C interface, the page, kept bindings and
/// reports read and write options by these names.
struct BindSetting {
    enum class Kind {
        number,
        whole,   ///< a whole number, or one of the words in `choices`
        choice,  ///< one of the words in `choices`
        flag,    ///< on or off
        range,   ///< two numbers, separated by a space
    };
    std::string_view name;  ///< as on the command line, without "--"
    Kind kind;
    std::string_view group;    ///< "Method": a change needs another bind; "Weights": Binding::weights is enough
    std::string_view choices;  ///< words, separated by spaces
    std::string_view help;
    std::span<const Method> methods = {};   ///< the methods that read it; empty: all
    std::span<const FalloffLaw> laws = {};  ///< the falloff laws that read it; empty: all
    std::string_view sets = {};             ///< of a flag: other options that "on" sets: "name value, name value"
    bool everyday = false;                  ///< most users need it: a short help has it

    bool read_by(Method method) const;
    bool read_by(FalloffLaw law) const;
};
/// All options with a name. The first is "method"; setting it sets all others to the preset of that method.
std::span<const BindSetting> bind_settings();
/// Checks that the method and the falloff law of `options` read this option. The error names those that do.
Status check_read(const BindOptions& options, std::string_view name);
/// Sets an option by name. An unknown name and a value that cannot be parsed are errors (usage). Ranges are checked
/// by check(options).
Status set_option(BindOptions& options, std::string_view name, std::string_view value);
/// The value of an option as text that set_option reads back exactly; numbers are as short as possible. Empty for
/// an unknown name.
std::string option_text(const BindOptions& options, std::string_view name);

}  // namespace sinew
