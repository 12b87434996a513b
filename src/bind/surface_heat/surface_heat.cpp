// surface-heat: bone-heat with four additions. Vertices that see no bone are heated by the joints that are nearest
// through the volume; bones lie along the axes of their joints; enclosed joints move only their part; rigid parts
// follow one joint. A method of this project; no paper describes it (docs/methods/surface-heat.md).
#include "bind/surface_heat/surface_heat.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "bind/geodesic_voxel.h"
#include "bind/surface_diffusion.h"
#include "bind/surface_heat/bones.h"
#include "bind/surface_heat/enclosed_joints.h"
#include "bind/surface_heat/influence_model.h"
#include "bind/surface_heat/lying_parts.h"
#include "bind/surface_heat/rigid_parts.h"
#include "core/vectors.h"
#include "domain/trace.h"

namespace sinew {
namespace {

// Joints are equally near if their distances through the volume differ by a smaller share: the accuracy of these
// distances.
constexpr double kVolumeTie = 1e-3;
// SurfaceHeatRules::gap is at least this many voxels.
constexpr double kGapVoxels = 1;
// A part with a larger share of the surface is the body itself, which bends.
constexpr double kLargestRigidShare = 0.5;

/// The volume of the character: what lies inside, and distances through it.
struct VolumeView {
    const Domain& domain;
    const DistanceRows& distances;
    double least_gap;  ///< share of the longest side

    /// Whether the segment from a to b lies in the volume, except for a small gap. O(steps x levels).
    bool joins(const Point3& a, const Point3& b) const {
        const Point3 from = to_voxels(domain.transform, a), to = to_voxels(domain.transform, b);
        const double length = norm(to - from);
        if (!(length < 4 * domain.transform.resolution)) return false;  // a bone far outside
        const double gap = std::max(least_gap * domain.transform.unit / domain.transform.voxel, kGapVoxels);
        const int steps = 1 + static_cast<int>(2 * length);  // half voxels
        int outside = 0;
        for (int i = 0; i <= steps; ++i) {
            const double t = static_cast<double>(i) / steps;
            outside += !solid_voxel((1 - t) * from + t * to);
            if (outside > 2 * gap) return false;
        }
        return true;
    }

    /// Whether a point is in the volume. O(levels).
    bool solid(const Point3& p) const { return solid_voxel(to_voxels(domain.transform, p)); }

private:
    bool solid_voxel(const Point3& p) const {
        const bool in_grid =
            std::min({p[0], p[1], p[2]}) >= 0 && std::max({p[0], p[1], p[2]}) < domain.transform.resolution;
        return in_grid && domain.leaf_at(static_cast<int>(p[0]), static_cast<int>(p[1]), static_cast<int>(p[2])) !=
                              Domain::none;
    }
};

class SurfaceHeatPolicy final : public HeatPolicy {
public:
    /// Keeps references to all.
    SurfaceHeatPolicy(const Task& task, const WeldedSurface& mesh, const VolumeView& volume,
                      const std::vector<Bone>& links, const SurfaceHeatRules& rules)
        : task_(task),
          surface_(mesh.surface),
          tree_(mesh.tree),
          volume_(volume),
          links_(links),
          rules_(rules),
          parts_(split_parts(task.mesh, mesh.surface)),
          enclosed_(
              task.mesh, task.skeleton, task.bones, parts_, [&](const Point3& p) { return volume.solid(p); },
              task.context, rules.enclosed),
          is_body_(mesh.surface.components, 0) {
        std::vector<double> area(is_body_.size(), 0);
        for (std::size_t node = 0; node < surface_.nodes(); ++node)
            area[surface_.component[node]] += surface_.mass[node];
        const double whole = std::accumulate(area.begin(), area.end(), 0.0);
        for (std::size_t part = 0; part < area.size(); ++part)
            is_body_[part] = area[part] > kLargestRigidShare * whole;
    }

    bool excludes(std::uint32_t joint, std::uint32_t part, const Point3& point) const override {
        return rules_.use.enclosed && enclosed_.is_separate(joint, part, point);
    }

    /// Open space hides bones from garments, but not from the body: where a body has bones outside its own volume,
    /// they are meant to move it.
    bool is_clear(std::uint32_t part, const Point3& from, const Point3& to) const override {
        return !rules_.use.clear || is_body_[part] || volume_.joins(from, to);
    }

    /// The joints that are nearest through the volume.
    std::optional<HeatSources> hidden_sources(const JointSet& set, std::uint32_t vertex, std::uint32_t part,
                                              bool blind) const override {
        if (!rules_.use.volume) return std::nullopt;
        const DistanceTable& table = volume_.distances.table;
        const std::size_t first = vertex * table.width;
        const Point3 place = to_point(task_.mesh.positions[vertex]);
        HeatSources found;
        found.share = blind ? 1 : rules_.hidden;
        for (std::size_t k = first; k < first + table.width && table.joint[k] != DistanceTable::none; ++k) {
            if (excludes(table.joint[k], part, place)) continue;
            if (found.count == 0) found.distance = static_cast<double>(table.distance[k]);
            if (static_cast<double>(table.distance[k]) > found.distance * (1 + kVolumeTie)) break;
            const auto at = std::lower_bound(set.joints.begin(), set.joints.end(), table.joint[k]);
            found.add(static_cast<std::uint32_t>(at - set.joints.begin()));
        }
        if (found.count == 0) return std::nullopt;
        return found;
    }

    std::size_t least_width() const override {
        return is_corrected() || rules_.observe ? InfluenceFeatures::kMost : 0;
    }

    /// Binds rigid parts to a single joint, and parts without bones to the surface beneath them.
    void adjust_rows(const JointSet& set, SetRows rows) const override {
        const auto part_of = [&](std::uint32_t vertex) { return surface_.component[surface_.node_of[vertex]]; };
        PartFacts facts{std::vector<double>(surface_.components, 0),
                        std::vector<std::uint32_t>(surface_.components, DistanceTable::none),
                        {}};
        std::vector<std::map<std::uint32_t, double>> weight(surface_.components);
        double whole = 0;
        for (std::size_t i = 0; i < rows.vertices.size(); ++i) {
            const std::uint32_t part = part_of(rows.vertices[i]);
            const double mass = surface_.mass[surface_.node_of[rows.vertices[i]]];
            double sum = 0;
            for (std::size_t k = 0; k < rows.kept[i]; ++k)
                sum += static_cast<double>(rows.entries[i * rows.width + k].first);
            for (std::size_t k = 0; k < rows.kept[i]; ++k) {
                const auto& [heat, joint] = rows.entries[i * rows.width + k];
                weight[part][joint] += mass * static_cast<double>(heat) / sum;
            }
            facts.area[part] += mass;
            whole += mass;
        }
        std::vector<Bone> bones;
        for (const Bone& bone : task_.bones)
            if (std::binary_search(set.joints.begin(), set.joints.end(), bone.joint)) bones.push_back(bone);
        const PartRules& rules = rules_.parts;
        std::vector<std::uint8_t> boneless(surface_.components, 0);
        parallel_for(task_.context, surface_.components, 1, [&](std::size_t part) {
            const double area = facts.area[part];
            if (area == 0 || area > kLargestRigidShare * whole || cancelled(task_.context)) return;
            const SurfacePart& shape = parts_[part];
            const std::vector<JointShare> within = bones_within(task_.mesh, shape, bones);
            boneless[part] = within.empty();
            std::uint32_t& joint = facts.joint[part];
            if (rules_.use.built) joint = bone_of_part(within, rules);
            if (joint != DistanceTable::none) return;
            std::vector<JointShare> shares;
            for (const auto& [of, sum] : weight[part]) shares.push_back({of, sum / area});
            if (rules_.use.rigid) joint = rigid_joint(task_.mesh, task_.skeleton, shape.triangles, shares, rules);
        });
        facts.boneless.assign(boneless.begin(), boneless.end());
        for (std::size_t i = 0; i < rows.vertices.size(); ++i)
            if (const std::uint32_t joint = facts.joint[part_of(rows.vertices[i])]; joint != DistanceTable::none) {
                rows.entries[i * rows.width] = {1.0f, joint};
                rows.kept[i] = 1;
            }
        if (rules_.use.lying)
            follow_surface_beneath(task_.mesh, surface_, tree_, task_.unit, rules, task_.context, facts, rows);
        if ((is_corrected() || rules_.observe) && set.joints.size() <= InfluenceFeatures::kMostJoints)
            learn_from_artists(set, facts, rows);
    }

    Coverage coverage(std::uint32_t vertex, bool blind) const override {
        const Coverage volume = volume_.distances.coverage[vertex];
        if (!blind || volume == Coverage::weighted) return Coverage::weighted;
        return volume == Coverage::outside ? Coverage::outside : Coverage::bridged;
    }

private:
    bool is_corrected() const { return task_.options.learned > 0; }

    /// The learned correction of all rows, except in parts that a rule made rigid.
    void learn_from_artists(const JointSet& set, const PartFacts& facts, SetRows rows) const {
        std::vector<std::uint8_t> rigid(rows.vertices.size());
        for (std::size_t i = 0; i < rigid.size(); ++i) {
            const std::uint32_t part = surface_.component[surface_.node_of[rows.vertices[i]]];
            rigid[i] = facts.joint[part] != DistanceTable::none;
        }
        const InfluenceFeatures features(task_, surface_, set, rows, volume_.distances.table, links_);
        if (rules_.observe) rules_.observe(set, features, rows, rigid);
        if (is_corrected()) correct(set, features, rigid, rows);
    }

    void correct(const JointSet& set, const InfluenceFeatures& features, const std::vector<std::uint8_t>& rigid,
                 SetRows rows) const {
        const InfluenceModel model(features, set.joints.size());
        // Corrected rows are stored when all are known: features read the rows of heat.
        std::vector<InfluenceFeatures::Candidates> corrected(rows.vertices.size());
        parallel_for(task_.context, rows.vertices.size(), 256, [&](std::size_t i) {
            if (rigid[i] || rows.kept[i] == 0 || cancelled(task_.context)) return;
            std::array<float, InfluenceFeatures::kMost * InfluenceFeatures::kPair> pairs;
            corrected[i] = features.candidates(i);
            features.pair_features(i, corrected[i], pairs);
            model.correct(corrected[i], pairs, static_cast<double>(task_.options.learned));
        });
        for (std::size_t i = 0; i < corrected.size(); ++i) {
            if (corrected[i].count == 0) continue;
            rows.kept[i] = 0;
            for (std::size_t c = 0; c < corrected[i].count; ++c)
                if (corrected[i].weight[c] > 0)
                    rows.entries[i * rows.width + rows.kept[i]++] = {static_cast<float>(corrected[i].weight[c]),
                                                                     set.joints[corrected[i].slot[c]]};
        }
    }

    const Task& task_;
    const MeshSurface& surface_;
    const TriangleTree& tree_;
    const VolumeView& volume_;
    const std::vector<Bone>& links_;
    const SurfaceHeatRules& rules_;
    const std::vector<SurfacePart> parts_;
    const EnclosedJoints enclosed_;
    std::vector<std::uint8_t> is_body_;  // per part
};

}  // namespace

Result<MethodRows> bind_surface_heat(const Task& task) { return bind_surface_heat(task, {}); }

Result<MethodRows> bind_surface_heat(const Task& task, const SurfaceHeatRules& rules) {
    // Distances through the volume are those of geodesic-voxel, with its overshoot and its bones of leaf joints.
    BindOptions options = task.options;
    options.overshoot = preset(Method::geodesic_voxel).overshoot;
    options.finish = {};  // hidden vertices need their nearest joints, whatever the limit of influences
    Task volume_task = task.with(task.mesh, task.skeleton, options, task.bones);
    volume_task.most_kept = kNearestInVolume;
    Result<GeodesicRows> measured = measure_geodesic(volume_task);
    if (!measured) return measured.error();
    const KeptVolume& kept = measured->volume ? *measured->volume : std::get<OtherMesh>(task.start).volume;
    const VolumeView volume{kept.domain, measured->rows, rules.gap};

    // Heat uses other bones than the volume.
    const std::vector<Bone> links = make_bones(task.skeleton);
    std::vector<Bone> bones = links;
    const auto joined = [&](const Point3& a, const Point3& b) { return volume.joins(a, b); };
    if (rules.use.loose) link_loose_joints(task.skeleton, bones, joined, rules.loose_along);
    std::vector<Point3> directions;
    if (rules.use.axes) directions = align_with_axes(task.skeleton, bones, joined);
    if (rules.use.mirrored) join_mirrored_links(task.skeleton, bones);
    const Task heat_task = task.with(task.mesh, task.skeleton, task.options, bones);
    extend_leaf_bones(heat_task, directions);

    const WeldedSurface mesh(heat_task);
    const SurfaceHeatPolicy policy(heat_task, mesh, volume, links, rules);
    InfluenceRows rows(heat_task.row_shape());
    SurfaceDiffusion heat(heat_task, mesh.surface, mesh.tree, policy, rules.seeing, rows);
    if (Status filled = heat.fill_all(); !filled) return filled.error();
    MethodRows out = std::move(rows);
    if (task.options.keep_volume) out.volume = std::move(measured->volume);
    return out;
}

}  // namespace sinew
