// surface-heat: bone-heat with four additions. Vertices that see no bone are heated by the joints that are nearest
// through the volume; bones lie along the axes of their joints; enclosed joints move only their part; rigid parts
// follow one joint. A method of this project; no paper describes it (docs/methods/surface-heat.md).
#include "bind/surface_heat/surface_heat.h"

#include <algorithm>
#include <map>

#include "bind/geodesic_voxel.h"
#include "bind/heat_equation.h"
#include "bind/kept_volume.h"
#include "bind/surface_heat/bones.h"
#include "bind/surface_heat/influence_model.h"
#include "bind/surface_heat/inner_volume.h"
#include "bind/surface_heat/parts_on_others.h"
#include "bind/surface_heat/rigid_parts.h"
#include "bind/volume.h"
#include "core/try.h"
#include "core/vectors.h"

namespace sinew {
namespace {

/// Distances through the volume are those of geodesic-voxel, with its overshoot and its bones of leaf joints.
BindOptions options_in_volume(BindOptions options) {
    options.overshoot = preset(Method::geodesic_voxel).overshoot;
    options.finish = {};  // hidden vertices need their nearest joints, whatever the limit of influences
    return options;
}

Result<std::shared_ptr<const KeptVolume>> measure_volume(const Task& task) {
    SINEW_TRY_LET(SeededVolume volume, build_volume(task, task.options.domain));
    SINEW_TRY_LET(std::vector<KeptField> fields,
                  task.clock.run("distances", [&] { return measure_fields(task, volume.domain, volume.seeds); }));
    return keep_volume(std::move(volume.domain), std::move(fields));
}

struct HeatBones {
    std::vector<Bone> bones;
    std::vector<Point3> directions;  // of extend_leaf_bones
};

/// The bones that give heat. The volume uses other ones.
HeatBones choose_bones(const Skeleton& skeleton, std::vector<Bone> links, const InnerVolume& volume,
                       const SurfaceHeatRules& rules) {
    HeatBones out{std::move(links), {}};
    const auto joined = [&](const Point3& a, const Point3& b) { return volume.joins(a, b); };
    link_loose_joints(skeleton, out.bones, joined, rules.loose_along);
    out.directions = align_with_axes(skeleton, out.bones, joined);
    join_mirrored_links(skeleton, out.bones);
    return out;
}

/// What the steps after the solve read of a set, besides its rows.
struct SurfaceView {
    const Task& task;
    const WeldedSurface& mesh;
    const std::vector<SurfacePart>& parts;
    const PartRules& rules;

    std::uint32_t part_of(std::uint32_t vertex) const {
        return mesh.surface.component[mesh.surface.node_of[vertex]];
    }
};

/// The area of the vertices of each part.
std::vector<double> sum_areas(const SurfaceView& view, const SetRows& rows) {
    std::vector<double> area(view.mesh.surface.components, 0);
    for (std::size_t i = 0; i < rows.vertices.size(); ++i) area[view.part_of(rows.vertices[i])] += rows.area[i];
    return area;
}

/// The weight of each joint in each part that is not larger than `largest`, as an area.
std::vector<std::map<std::uint32_t, double>> sum_weights(const SurfaceView& view, const SetRows& rows,
                                                         std::span<const double> area, double largest) {
    std::vector<std::map<std::uint32_t, double>> weight(view.mesh.surface.components);
    for (std::size_t i = 0; i < rows.vertices.size(); ++i) {
        const std::uint32_t part = view.part_of(rows.vertices[i]);
        if (area[part] > largest) continue;
        double sum = 0;
        for (std::size_t k = 0; k < rows.kept[i]; ++k)
            sum += static_cast<double>(rows.entries[i * rows.width + k].first);
        for (std::size_t k = 0; k < rows.kept[i]; ++k) {
            const auto& [heat, joint] = rows.entries[i * rows.width + k];
            weight[part][joint] += rows.area[i] * static_cast<double>(heat) / sum;
        }
    }
    return weight;
}

/// Binds rigid parts to a single joint, and parts without bones to the surface beneath them.
PartFacts make_parts_rigid(const SurfaceView& view, const JointSet& set, const Heat& heat, SetRows& rows) {
    const auto& [task, mesh, parts, rules] = view;
    const std::uint32_t components = mesh.surface.components;
    PartFacts facts{sum_areas(view, rows), std::vector<std::uint32_t>(components, no_index), {}};
    double whole = 0;
    for (const double area : rows.area) whole += area;
    const double largest = kLargestRigidShare * whole;
    const auto weight = sum_weights(view, rows, facts.area, largest);
    std::vector<Bone> bones;
    for (const Bone& bone : task.bones)
        if (std::binary_search(set.joints.begin(), set.joints.end(), bone.joint)) bones.push_back(bone);
    std::vector<std::uint8_t> boneless(components, 0);
    parallel_for(task.context, components, 1, [&](std::size_t part) {
        const double area = facts.area[part];
        if (area == 0 || area > largest || cancelled(view.task.context)) return;
        const SurfacePart& shape = view.parts[part];
        const std::vector<JointShare> within = bones_within(view.task.mesh, shape, bones);
        boneless[part] = within.empty();
        std::uint32_t& joint = facts.joint[part];
        joint = bone_of_part(within, view.rules);
        if (joint != no_index) return;
        std::vector<JointShare> shares;
        for (const auto& [of, sum] : weight[part]) shares.push_back({of, sum / area});
        joint = rigid_joint(view.task.mesh, view.task.skeleton, shape.triangles, shares, view.rules);
    });
    facts.boneless.assign(boneless.begin(), boneless.end());
    for (std::size_t i = 0; i < rows.vertices.size(); ++i)
        if (const std::uint32_t joint = facts.joint[view.part_of(rows.vertices[i])]; joint != no_index) {
            rows.entries[i * rows.width] = {1.0f, joint};
            rows.kept[i] = 1;
        }
    follow_surface_beneath(task.mesh, mesh.surface, mesh.tree, task.unit, rules, task.context, heat.coarse, facts,
                           rows);
    return facts;
}

/// The learned correction of all rows, except in parts that a rule made rigid.
void correct_rows(const Task& task, const JointSet& set, const InfluenceFeatures& features,
                  const std::vector<std::uint8_t>& rigid, SetRows& rows) {
    const InfluenceModel model(features, set.joints.size());
    parallel_chunks(task.context, rows.vertices.size(), 64, [&](std::size_t, std::size_t begin, std::size_t end) {
        if (cancelled(task.context)) return;
        std::vector<std::size_t> row;
        std::vector<InfluenceFeatures::Candidates> corrected;
        std::vector<float> pairs;
        for (std::size_t i = begin; i < end; ++i) {
            if (rigid[i] || rows.kept[i] == 0) continue;
            const InfluenceFeatures::Candidates among = features.candidates(i);
            if (among.count == 0) continue;
            row.push_back(i);
            corrected.push_back(among);
            pairs.resize(pairs.size() + among.count * InfluenceFeatures::kPair);
            features.pair_features(i, among, std::span(pairs).last(among.count * InfluenceFeatures::kPair));
        }
        model.correct(corrected, pairs, static_cast<double>(task.options.learned));
        for (std::size_t n = 0; n < row.size(); ++n) {
            std::uint32_t& kept = rows.kept[row[n]] = 0;
            for (std::size_t c = 0; c < corrected[n].count; ++c)
                if (corrected[n].weight[c] > 0)
                    rows.entries[row[n] * rows.width + kept++] = {static_cast<float>(corrected[n].weight[c]),
                                                                  set.joints[corrected[n].slot[c]]};
        }
    });
}

/// How the row of a vertex was found.
Coverage coverage_of(const JointSet& set, const SurfaceView& view, const Unknowns& unknowns, const Heat& heat,
                     std::uint32_t vertex) {
    if (set.idle) return Coverage::euclidean;
    if (!heat.occluded[view.part_of(vertex)]) return Coverage::weighted;
    const Coverage inside = heat.at[unknowns.of_node[view.mesh.surface.node_of[vertex]]].inside;
    return inside == Coverage::weighted || inside == Coverage::outside ? inside : Coverage::bridged;
}

}  // namespace

RowCorrection learned_correction(const Task& task) {
    if (!(task.options.learned > 0)) return nullptr;
    return [&task](const JointSet& set, const InfluenceFeatures& features, const std::vector<std::uint8_t>& rigid,
                   SetRows& rows) { correct_rows(task, set, features, rigid, rows); };
}

Result<MethodRows> bind_surface_heat(const Task& task) {
    return bind_surface_heat(task, {}, learned_correction(task));
}

Result<MethodRows> bind_surface_heat(const Task& given, const SurfaceHeatRules& rules,
                                     const RowCorrection& correction) {
    const BindOptions in_volume = options_in_volume(given.options);
    Task volume_task = given.with(given.mesh, given.skeleton, in_volume, given.bones);
    volume_task.most_kept = kNearestInVolume;
    std::shared_ptr<const KeptVolume> built;
    const auto* const other = std::get_if<OtherMesh>(&given.start);
    if (!other) {
        SINEW_TRY_LET(built, measure_volume(volume_task));
    }
    InnerVolume volume(volume_task, other ? other->volume : *built, rules);
    const std::vector<Bone> links = make_bones(given.skeleton);
    HeatBones heat_bones = choose_bones(given.skeleton, links, volume, rules);
    const Task task = given.with(given.mesh, given.skeleton, given.options, heat_bones.bones);
    extend_leaf_bones(task, heat_bones.directions);
    const auto* const moved = std::get_if<MovedJoints>(&task.start);
    KeptHeat kept_heat = moved && moved->heat ? *moved->heat : KeptHeat{std::make_shared<WeldedSurface>(task), {}};
    const bool keeps_mesh = moved || task.options.keep_volume;
    kept_heat.sets.resize(task.plan.sets.size());
    const WeldedSurface& mesh = *kept_heat.mesh;
    const SurfaceParts parts = split_parts(task.mesh, mesh.surface, task.context);
    volume.set_parts(mesh.surface, parts.part, task.bones);
    const SurfaceView view{task, mesh, parts.part, rules.parts};
    std::optional<InfluenceRows> rows;  // after the first solve, which needs most memory
    const auto bind_set = [&](const JointSet& set) -> Status {
        const auto store_others = [&] {
            if (!rows) rows.emplace(task.row_shape());
            store_without_heat(task, mesh.surface, set, *rows);
        };
        const Unknowns unknowns =
            choose_unknowns(mesh.surface, vertices_with_heat(mesh.surface, set, task.context), task.context);
        if (unknowns.size() == 0) {
            store_others();
            return Done{};
        }
        KeptHeat::Set& kept_set = kept_heat.sets[static_cast<std::size_t>(&set - task.plan.sets.data())];
        SINEW_TRY_LET(const Heat heat, find_heat(task, mesh, set, unknowns, &volume, kept_set, rules.heat));
        if (cancelled(task.context)) return heat_cancelled();
        const bool last = &set == &task.plan.sets.back();
        if (last && !keeps_mesh) kept_heat.mesh->release_sight();
        SINEW_TRY_LET(SetRows found, solve_heat(task, mesh.surface, set, unknowns, heat,
                                                correction ? InfluenceFeatures::kMost : 0, kept_set));
        const PartFacts facts = make_parts_rigid(view, set, heat, found);
        if (correction && set.joints.size() <= InfluenceFeatures::kMostJoints) {
            std::vector<std::uint8_t> rigid;
            for (const std::uint32_t v : found.vertices) rigid.push_back(facts.joint[view.part_of(v)] != no_index);
            SINEW_TRY_LET(const DistanceRows distances, volume.distances(set, found.vertices));
            correction(set, {task, mesh.surface, set, found, distances.table, links}, rigid, found);
        }
        if (cancelled(task.context)) return heat_cancelled();
        store_others();
        store_rows(
            task, mesh.surface, unknowns, heat, found,
            [&](std::uint32_t v) { return coverage_of(set, view, unknowns, heat, v); }, *rows);
        return Done{};
    };
    SINEW_TRY(task.clock.run("heat", [&]() -> Status {
        for (const JointSet& set : task.plan.sets) {
            if (cancelled(task.context)) return heat_cancelled();
            SINEW_TRY(bind_set(set));
        }
        return Done{};
    }));
    MethodRows out = std::move(*rows);
    if (task.options.keep_volume) {
        out.volume = std::move(built);
        out.heat = std::make_shared<const KeptHeat>(std::move(kept_heat));
    }
    return out;
}

}  // namespace sinew
