// One row per method, in the order in which help texts list them.
#include "bind/method_table.h"

#include <algorithm>
#include <iterator>

namespace sinew {
namespace {

constexpr FieldKind kDistance = FieldKind::distance, kStrength = FieldKind::strength;

// Share of the length beyond a bone's open end that is added to a distance through the volume. Chosen by comparison
// with artists' weights (docs/evaluation.md).
constexpr float kVolumeOvershoot = 0.7f;

void as_default(BindOptions&) {}

// Longer than 80 lines: a table, one row per method.
constexpr MethodTableRow kMethods[] = {
    {.info = {Method::surface_heat, kStrength, "surface-heat",
              "mesh surface and sparse voxels, heat from the nearest bones, hidden vertices by the volume, rigid "
              "parts whole"},
     .run = bind_surface_heat,
     .preset = as_default,
     .memory = surface_heat_memory,
     .space = MethodSpace::volume,
     .volume_field = kDistance,  // the volume is asked for distances
     .overshoot = true,
     .local_resolution = true,
     .most_with_first_result = 60'000},
    {.info = {Method::geodesic_voxel, kDistance, "geodesic-voxel",
              "sparse voxels, graph distance with boundary penalty, inverse power (Dionne and de Lasa 2014)"},
     .run = bind_geodesic_voxel,
     .preset = [](BindOptions& o) { o.overshoot = kVolumeOvershoot; },
     .memory = geodesic_voxel_memory,
     .space = MethodSpace::volume,
     .volume_field = kDistance,
     .overshoot = true,
     .local_resolution = true,
     .coarse_bones = true},
    {.info = {Method::closest_distance, kDistance, "closest-distance",
              "open space, straight distance, inverse power"},
     .run = bind_closest_distance,
     .preset = as_default,
     .memory = open_space_memory,
     .space = MethodSpace::open,
     .volume_field = kDistance,
     .overshoot = true},
    {.info = {Method::closest_hierarchy, kDistance, "closest-hierarchy",
              "open space, straight distance within two hops of the closest joint, inverse power"},
     .run = bind_closest_hierarchy,
     .preset = as_default,
     .memory = open_space_memory,
     .space = MethodSpace::open,
     .volume_field = kDistance,
     .overshoot = true},
    {.info = {Method::pixel_geodesic, kDistance, "pixel-geodesic",
              "pixels of a flat figure, breadth-first or 8-way distance, exponential"},
     .run = bind_pixel_geodesic,
     .preset =
         [](BindOptions& o) {
             o.neighbours = Neighbours::faces;
             o.falloff.law = FalloffLaw::exponential;
         },
     .memory = pixel_geodesic_memory,
     .space = MethodSpace::pixels,
     .volume_field = kDistance,
     .overshoot = true},
    {.info = {Method::connectivity, kDistance, "connectivity",
              "open space, closest bone and those connected to its nearer end, inverse distance to their centres"},
     .run = bind_connectivity,
     .preset =
         [](BindOptions& o) {  // weight is 1 / distance to the centre of the bone
             o.falloff.alpha = 0;
             o.falloff.lambda_min = 1;
         },
     .memory = open_space_memory,
     .space = MethodSpace::open,
     .volume_field = kDistance},
    {.info = {Method::mesh_geodesic, kDistance, "mesh-geodesic",
              "mesh edges, distance from the ring where the joint's plane cuts the mesh, cubic Hermite"},
     .run = bind_mesh_geodesic,
     .preset = [](BindOptions& o) { o.falloff.law = FalloffLaw::cubic_hermite; },
     .memory = mesh_geodesic_memory,
     .space = MethodSpace::surface,
     .volume_field = kDistance,
     .overshoot = true},
    {.info = {Method::voxel_heat, kStrength, "voxel-heat",
              "sparse voxels, heat of each bone at rest with cooling at the skin, power (Rosen 2009)"},
     .run = bind_voxel_heat,
     .preset =
         [](BindOptions& o) {
             o.overshoot = kVolumeOvershoot;  // of what heat does not reach
             o.falloff.power = 1.5f;
         },
     .memory = voxel_heat_memory,
     .space = MethodSpace::volume,
     .volume_field = kStrength,
     .overshoot = true},
    {.info = {Method::bone_heat, kStrength, "bone-heat",
              "mesh surface, heat from the nearest visible bones (Baran and Popović 2007)"},
     .run = bind_bone_heat,
     .preset = as_default,
     .memory = bone_heat_memory,
     .space = MethodSpace::surface,
     .volume_field = kStrength,
     .overshoot = true},
    {.info = {Method::bounded_biharmonic, kStrength, "bounded-biharmonic",
              "sparse voxels, bounded biharmonic weights (Jacobson et al. 2011)"},
     .run = bind_bounded_biharmonic,
     .preset =
         [](BindOptions& o) {
             o.overshoot = kVolumeOvershoot;
             o.voxels.resolution = 64;  // twice the resolution takes 8 to 16 times as long
         },
     .memory = bounded_biharmonic_memory,
     .space = MethodSpace::volume,
     .volume_field = kStrength,
     .overshoot = true,
     .finest_automatic = 128},
};

}  // namespace

const MethodTableRow* find_method(Method method) {
    const auto found = std::find_if(std::begin(kMethods), std::end(kMethods),
                                    [&](const MethodTableRow& row) { return row.info.method == method; });
    return found == std::end(kMethods) ? nullptr : found;
}

const MethodTableRow& row_of(Method method) { return *find_method(method); }

Result<MethodRows> run_method(const Task& task) { return row_of(task.options.method).run(task); }

std::span<const MethodInfo> methods() {
    static const std::vector<MethodInfo> infos = [] {
        std::vector<MethodInfo> out;
        for (const MethodTableRow& row : kMethods) out.push_back(row.info);
        return out;
    }();
    return infos;
}

std::string_view to_string(Method method) {
    const MethodTableRow* const row = find_method(method);
    return row ? row->info.name : "";
}

BindOptions preset(Method method) {
    BindOptions options;
    options.method = method;
    const MethodTableRow* const row = find_method(method);
    if (!row) return options;
    if (row->info.field == FieldKind::distance) options.falloff.law = FalloffLaw::inverse_power;
    row->preset(options);
    return options;
}

}  // namespace sinew
