// One call from mesh and skeleton to distances, and from distances to weights: the data flow of
// docs/architecture.md.

#include "sinew/bind.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

#include "bind/method.h"
#include "core/geometry.h"

namespace sinew {
namespace {

struct Row {
    MethodInfo info;
    Result<MethodRows> (*run)(const Task&);
};

// A method is a function in a file of its own, and a row here.
constexpr Row kMethods[] = {
    {{Method::surface_heat, FieldKind::strength, "surface-heat",
      "mesh surface and sparse voxels, heat from the nearest bones, hidden vertices by the volume, rigid parts "
      "whole"},
     bind_surface_heat},
    {{Method::geodesic_voxel, FieldKind::distance, "geodesic-voxel",
      "sparse voxels, graph distance with boundary penalty, inverse power (Dionne and de Lasa 2014)"},
     bind_geodesic_voxel},
    {{Method::closest_distance, FieldKind::distance, "closest-distance",
      "open space, straight distance, inverse power"},
     bind_closest_distance},
    {{Method::closest_hierarchy, FieldKind::distance, "closest-hierarchy",
      "open space, straight distance within two hops of the closest joint, inverse power"},
     bind_closest_hierarchy},
    {{Method::pixel_geodesic, FieldKind::distance, "pixel-geodesic",
      "pixels of a flat figure, breadth-first or 8-way distance, exponential"},
     bind_pixel_geodesic},
    {{Method::connectivity, FieldKind::distance, "connectivity",
      "open space, closest bone and those connected to its nearer end, inverse distance to their centres"},
     bind_connectivity},
    {{Method::mesh_geodesic, FieldKind::distance, "mesh-geodesic",
      "mesh edges, distance from the ring where the joint's plane cuts the mesh, cubic Hermite"},
     bind_mesh_geodesic},
    {{Method::voxel_heat, FieldKind::strength, "voxel-heat",
      "sparse voxels, heat of each bone at rest with cooling at the skin, power (Rosen 2009)"},
     bind_voxel_heat},
    {{Method::bone_heat, FieldKind::strength, "bone-heat",
      "mesh surface, heat from the nearest visible bones (Baran and Popović 2007)"},
     bind_bone_heat},
    {{Method::bounded_biharmonic, FieldKind::strength, "bounded-biharmonic",
      "sparse voxels, bounded biharmonic weights (Jacobson et al. 2011)"},
     bind_bounded_biharmonic},
};

const Row* row_of(Method method) {
    const Row* const end = std::end(kMethods);
    const Row* const row =
        std::find_if(std::begin(kMethods), end, [&](const Row& r) { return r.info.method == method; });
    return row == end ? nullptr : row;
}

}  // namespace

std::span<const MethodInfo> methods() {
    static const std::vector<MethodInfo> infos = [] {
        std::vector<MethodInfo> out;
        for (const Row& row : kMethods) out.push_back(row.info);
        return out;
    }();
    return infos;
}

std::string_view to_string(Method method) {
    const Row* const row = row_of(method);
    return row ? row->info.name : "";
}

BindOptions preset(Method method) {
    BindOptions options;
    options.method = method;
    const Row* const row = row_of(method);
    if (row && row->info.field == FieldKind::distance) options.falloff.law = FalloffLaw::inverse_power;
    switch (method) {
        case Method::surface_heat:
        case Method::bone_heat:
        case Method::closest_distance:
        case Method::closest_hierarchy:
            break;
        case Method::geodesic_voxel:
            options.overshoot = 0.7f;
            break;
        case Method::pixel_geodesic:
            options.neighbours = Neighbours::faces;
            options.falloff.law = FalloffLaw::exponential;
            break;
        case Method::connectivity:
            // Weight is 1 / distance to the centre of the bone.
            options.falloff.alpha = 0;
            options.falloff.lambda_min = 1;
            break;
        case Method::mesh_geodesic:
            options.falloff.law = FalloffLaw::cubic_hermite;
            break;
        case Method::voxel_heat:
            options.overshoot = 0.7f;  // of what heat does not reach
            options.falloff.power = 1.5f;
            break;
        case Method::bounded_biharmonic:
            options.overshoot = 0.7f;
            options.voxels.resolution = 64;  // twice as many take 8 to 16 times as long
            break;
    }
    return options;
}

std::string_view to_string(Coverage coverage) {
    switch (coverage) {
        case Coverage::weighted:
            return "weighted";
        case Coverage::bridged:
            return "bridged";
        case Coverage::outside:
            return "outside";
        case Coverage::euclidean:
            return "euclidean";
        case Coverage::unused:
            return "unused";
        case Coverage::none:
            return "none";
    }
    return "";
}

std::string_view to_string(Reuse reuse) {
    switch (reuse) {
        case Reuse::none:
            return "no";
        case Reuse::table:
            return "table";
        case Reuse::volume:
            return "volume";
    }
    return "";
}

std::size_t BindReport::vertices() const {
    return std::accumulate(coverage.begin(), coverage.end(), std::size_t{0});
}

double BindReport::covered() const {
    auto count = [&](Coverage how) { return coverage[static_cast<std::size_t>(how)]; };
    const std::size_t matter = vertices() - count(Coverage::unused);
    if (matter == 0) return 0;
    const std::size_t reached = count(Coverage::weighted) + count(Coverage::bridged) + count(Coverage::outside);
    return static_cast<double>(reached) / static_cast<double>(matter);
}

Status check(const BindOptions& options) {
    VoxelizeOptions voxels = options.voxels;
    if (voxels.resolution == 0) {
        if (options.method == Method::pixel_geodesic)
            return Error{ErrorCode::usage, "pixel-geodesic has no automatic resolution: give one, or a picture"};
        voxels.resolution = 256;  // what is chosen is in range
    }
    if (options.method == Method::pixel_geodesic && voxels.resolution <= most_pixels)
        while (voxels.resolution > 1024) voxels.resolution /= 2;  // one layer may be finer
    if (Status ok = check(voxels); !ok) return ok;
    if (Status ok = check(GeodesicOptions{options.penalty}); !ok) return ok;
    if (Status ok = check(options.falloff); !ok) return ok;
    if (Status ok = check(options.finish); !ok) return ok;
    if (!(options.overshoot >= 0 && options.overshoot <= 100)) {
        return Error{ErrorCode::usage, "overshoot " + std::to_string(options.overshoot) + " is not within 0..100"};
    }
    const auto [lower, upper] = options.hard_range;
    if (!(lower >= 0 && lower <= upper && upper <= 1)) {
        return Error{ErrorCode::usage, "the hard range [" + std::to_string(lower) + ", " + std::to_string(upper) +
                                           "] must lie within [0, 1], lower end first"};
    }
    if (!(options.cooling >= 1 && options.cooling <= 1e5f))
        return Error{ErrorCode::usage, "cooling " + std::to_string(options.cooling) + " is not within 1..100000"};
    if (!(options.iterations >= 0 && options.iterations <= 1000000))
        return Error{ErrorCode::usage,
                     "iterations " + std::to_string(options.iterations) + " is not within 0..1000000"};
    if (!(options.heat_transfer > 0 && options.heat_transfer <= 1e6f))
        return Error{ErrorCode::usage,
                     "heat transfer " + std::to_string(options.heat_transfer) + " must be above 0 and at most 1e6"};
    const Row* const row = row_of(options.method);
    if (!row) return Error{ErrorCode::usage, "there is no such method"};
    if (options.local_resolution) {
        if (!takes_local_resolution(options.method) || options.domain != DomainKind::sparse)
            return Error{ErrorCode::usage,
                         "local resolution is for the sparse voxels of geodesic-voxel and surface-heat"};
        if (voxels.resolution > 512)
            return Error{ErrorCode::usage,
                         "local resolution doubles the resolution in places, and 1024 is the "
                         "finest: 512 is the most that it takes"};
    }
    if (options.method != Method::mesh_geodesic && (options.all_pairs || options.rings != RingPlacement::joint))
        return Error{ErrorCode::usage,
                     "all pairs and the place of rings are options of method mesh-geodesic, not of " +
                         std::string(row->info.name)};
    if (options.method != Method::voxel_heat && options.iterations != 0)
        return Error{ErrorCode::usage,
                     "iterations are sweeps of method voxel-heat, not of " + std::string(row->info.name)};
    const bool power = options.falloff.law == FalloffLaw::power;
    if (power && row->info.field == FieldKind::distance)
        return Error{ErrorCode::usage, "falloff law power is for heat and weights, and method " +
                                           std::string(row->info.name) + " measures distances: choose another law"};
    if (!power && row->info.field == FieldKind::strength)
        return Error{ErrorCode::usage, "method " + std::string(row->info.name) +
                                           " does not measure distances: its only falloff law is power "
                                           "(geodesic-voxel measures them)"};
    return Done{};
}

PlannedMesh plan_mesh(const MeshView& mesh, const Skeleton& skeleton, StageClock& clock, BindReport& report) {
    PlannedMesh planned;
    planned.topology = clock.run("topology", [&] { return analyse_mesh(mesh, clock.context()); });
    report.defects = planned.topology.defects;
    planned.used = planned.topology.at_triangle;
    planned.plan = plan_rows(mesh, skeleton, planned.topology.weld);
    return planned;
}

Result<MethodRows> run_method(const Task& task) { return row_of(task.options.method)->run(task); }

void share_rows(const RowPlan& plan, MethodRows& rows, BindReport& report) {
    const auto copy = [&](std::size_t width, auto& joint, auto& value) {
        for (std::size_t v = 0; v < plan.source.size(); ++v) {
            const std::size_t from = plan.source[v];
            if (from == v) continue;
            std::copy_n(joint.data() + from * width, width, joint.data() + v * width);
            std::copy_n(value.data() + from * width, width, value.data() + v * width);
        }
    };
    if (auto* distances = std::get_if<DistanceTable>(&rows.table)) {
        copy(distances->width, distances->joint, distances->distance);
    } else {
        auto& influences = std::get<InfluenceTable>(rows.table);
        copy(influences.width, influences.joint, influences.strength);
    }
    for (std::size_t v = 0; v < plan.source.size(); ++v) {
        rows.coverage[v] = rows.coverage[plan.source[v]];
        ++report.coverage[static_cast<std::size_t>(rows.coverage[v])];
    }
    for (const JointSet& set : plan.sets)
        if (set.idle && !set.vertices.empty())
            report.warnings.push_back(
                std::to_string(set.vertices.size()) +
                " vertices belong to a skin none of whose joints deforms; they are bound to its " +
                "idle joints (see --include)");
}

void warn_of_snapped(const Skeleton& skeleton, Method method, BindReport& report) {
    const bool flat = method == Method::pixel_geodesic;
    for (const std::uint32_t j : report.snapped_joints)
        report.warnings.push_back("joint '" + skeleton.joints[j].name + "' lies outside the " +
                                  (flat ? "figure; its distances start from the nearest pixel"
                                        : "volume; its distances start from the nearest voxel"));
}

void Binding::take_hardness() {
    FalloffOptions& falloff = options_.falloff;
    if (map_is_hardness_) falloff.map.of_joint.clear();
    map_is_hardness_ = false;
    std::vector<float> alpha(skeleton_.joints.size(), NAN);
    std::size_t count = 0;
    for (std::size_t j = 0; j < alpha.size(); ++j)
        if (skeleton_.joints[j].hardness) alpha[j] = *skeleton_.joints[j].hardness, ++count;
    if (count == 0) return;
    if (shape_of(falloff.law) != &FalloffOptions::alpha) {
        report_.warnings.push_back("the hardness of " + std::to_string(count) +
                                   " joints is not used: it belongs to the inverse falloff laws and power");
    } else if (falloff.map.of_joint.empty()) {
        falloff.map.of_joint = std::move(alpha);
        map_is_hardness_ = true;
    } else {
        report_.warnings.push_back("the hardness of " + std::to_string(count) +
                                   " joints is not used: the options have a falloff map by joint");
    }
}

void Binding::take_rows(const RowPlan& plan, MethodRows rows) {
    share_rows(plan, rows, report_);
    if (auto* distances = std::get_if<DistanceTable>(&rows.table))
        distances_ = std::move(*distances);
    else
        influences_ = std::move(std::get<InfluenceTable>(rows.table));
    coverage_ = std::move(rows.coverage);
}

Result<Binding> bind(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& given, Context* context) {
    if (Status ok = check(given); !ok) return ok.error();
    if (Status ok = check_mesh(mesh); !ok) return ok.error();
    if (Status ok = check_skeleton(skeleton); !ok) return ok.error();
    BindOptions options = given;
    Binding binding;
    BindReport& report = binding.report_;
    StageClock clock(report, context);
    std::vector<FinePlace> fine;
    if (given.voxels.resolution == 0 || given.local_resolution) {
        Result<ResolutionChoice> choice =
            clock.run("resolution", [&] { return choose_resolution(mesh, skeleton, given, context); });
        if (!choice) return choice.error();
        options.voxels.resolution = choice->resolution;
        options.local_resolution = !choice->fine.empty();
        report.resolution_reason = std::move(choice->reason);
        fine = std::move(choice->fine);
    }
    if (Status ok = check_memory(mesh, skeleton, options, context); !ok) return ok.error();

    binding.options_ = options;
    binding.options_.mask = nullptr;  // which lives as long as this call
    // Asked for, it stays so where nothing needs it yet: a joint may move.
    if (given.voxels.resolution != 0) binding.options_.local_resolution = given.local_resolution;
    binding.skeleton_ = skeleton;
    binding.take_hardness();

    PlannedMesh planned = plan_mesh(mesh, skeleton, clock, report);
    binding.bones_ = make_bones(skeleton);
    Task task = make_task(mesh, skeleton, options, planned, binding.bones_, clock);
    task.fine = fine;
    Result<MethodRows> rows = run_method(task);
    if (!rows) return rows.error();
    binding.volume_ = std::move(rows->volume);
    binding.take_rows(planned.plan, std::move(*rows));

    binding.mesh_hash_ = hash_mesh(mesh, skeleton);
    if (binding.volume_) binding.planned_ = std::make_shared<const PlannedMesh>(std::move(planned));

    warn_of_snapped(skeleton, options.method, report);
    return binding;
}

Result<SkinWeights> Binding::weights(const FalloffOptions& falloff, const FinishOptions& finish_options,
                                     Context* context) const {
    if (Status ok = check(finish_options); !ok) return ok.error();
    const bool kept_all = options_.finish.max_influences == all_influences;
    if (!kept_all && (finish_options.max_influences == all_influences ||
                      static_cast<std::size_t>(finish_options.max_influences) > kept_joints(options_.finish))) {
        return Error{ErrorCode::usage, "only the " + std::to_string(std::max(distances_.width, influences_.width)) +
                                           " nearest joints were kept: bind again with a larger limit"};
    }
    return influences_.width == 0 ? weigh(distances_, falloff, finish_options, context)
                                  : weigh(influences_, falloff, finish_options, context);
}

}  // namespace sinew
