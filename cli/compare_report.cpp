#include "compare_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "report/report.h"

namespace sinew::cli {
namespace {

using json = OrderedJson;

json ratio(std::size_t part, std::size_t whole) {
    return whole ? json(static_cast<double>(part) / static_cast<double>(whole)) : json(nullptr);
}

json shape(const PoseShape& s) {
    return {{"volume_change", s.volume_change ? json(*s.volume_change) : json(nullptr)},
            {"stretch_max", s.stretch_max},
            {"stretch_p99", s.stretch_p99},
            {"stretched", s.stretched}};
}

json influences(const CompareRun& run, std::span<const Influence> row) {
    json out = json::array();
    for (const Influence& i : row)
        out.push_back({{"joint", run.match->skeleton.joints[i.joint].name}, {"weight", as_given(i.weight)}});
    return out;
}

json names(const Skeleton& skeleton, const std::vector<std::uint32_t>& joints) {
    json out = json::array();
    for (const std::uint32_t j : joints) out.push_back(skeleton.joints[j].name);
    return out;
}

json joint_rows(const CompareRun& run) {
    const Comparison& c = *run.result;
    const Skeleton& skeleton = run.match->skeleton;
    json joints = json::array();
    for (const JointComparison& j : c.joints) {
        auto far_share = [&](const WeightsQuality& q, double mass) {
            return run.options.bleed && mass > 0 ? json(q.bleed.far_weight[j.joint] / mass) : json(nullptr);
        };
        joints.push_back({{"name", skeleton.joints[j.joint].name},
                          {"joint", j.joint},
                          {"mass_a", j.mass_a},
                          {"mass_b", j.mass_b},
                          {"l1", j.l1},
                          {"l1_share", j.l1_share},
                          {"strongest_a", j.strongest_a},
                          {"strongest_b", j.strongest_b},
                          {"strongest_both", j.strongest_both},
                          {"precision", ratio(j.influences_both, j.influences_b)},
                          {"recall", ratio(j.influences_both, j.influences_a)},
                          {"dirichlet_a", c.a.smoothness.energy[j.joint]},
                          {"dirichlet_b", c.b.smoothness.energy[j.joint]},
                          {"bleed_a", far_share(c.a, j.mass_a)},
                          {"bleed_b", far_share(c.b, j.mass_b)}});
    }
    return joints;
}

json worst_vertices(const CompareRun& run) {
    const Comparison& c = *run.result;
    json worst = json::array();
    for (const std::uint32_t v : c.worst_vertices) {
        const std::pair<std::string, std::uint32_t> place = place_of(*run.scene, v);
        const Vec3& p = run.scene->positions[v];
        worst.push_back({{"vertex", v},
                         {"primitive", place.first},
                         {"vertex_in_primitive", place.second},
                         {"position", {as_given(p.x), as_given(p.y), as_given(p.z)}},
                         {"l1", as_given(c.vertex_l1[v])},
                         {"a", influences(run, (*run.a)[v])},
                         {"b", influences(run, (*run.b)[v])}});
    }
    return worst;
}

json pose_rows(const Comparison& c) {
    json poses = json::array();
    for (const PoseComparison& p : c.poses)
        poses.push_back({{"name", p.name},
                         {"kind", to_string(p.kind)},
                         {"mean", p.mean},
                         {"max", p.max},
                         {"worst_vertex", p.worst_vertex},
                         {"a", shape(p.a)},
                         {"b", shape(p.b)}});
    return poses;
}

json limb_profile(const CompareRun& run) {
    const Comparison& c = *run.result;
    json limb = nullptr;
    if (!c.limb.joints.empty())
        limb = {{"joints", names(run.match->skeleton, c.limb.joints)},
                {"joint_at", c.limb.joint_at},
                {"length", c.limb.length},
                {"vertices", c.limb.vertices},
                {"a", c.limb.a},
                {"b", c.limb.b}};
    return limb;
}

}  // namespace

std::vector<std::size_t> l1_histogram(const Comparison& result, std::size_t bins) {
    std::vector<std::size_t> out(bins, 0);
    for (const float l1 : result.vertex_l1)
        ++out[std::min(bins - 1, static_cast<std::size_t>(std::max(0.0f, l1) / 2 * static_cast<float>(bins)))];
    return out;
}

json make_compare_report(const CompareRun& run) {
    const Comparison& c = *run.result;
    const Skeleton& skeleton = run.match->skeleton;
    json report = {
        {"sinew", SINEW_VERSION},
        {"reference", run.reference},
        {"other", run.other},
        {"options",
         {{"threshold", as_given(run.options.threshold)},
          {"standard_poses", run.options.standard_poses},
          {"random_poses", run.options.random_poses},
          {"random_degrees", run.options.random_degrees},
          {"seed", run.options.random_seed},
          {"poses", run.pose_files},
          {"skinning", run.options.skinning == Skinning::linear_blend ? "lbs" : "dqs"},
          {"bleed", run.options.bleed},
          {"bleed_resolution", run.options.bleed_options.resolution},
          {"threads", run.threads}}},
        {"counts",
         {{"vertices", run.scene->positions.size()},
          {"triangles", run.scene->triangles.size()},
          {"joints", skeleton.joints.size()}}},
        {"only_in_reference", names(skeleton, run.match->only_reference)},
        {"only_in_other", names(skeleton, run.match->only_other)},
    };
    report.update(comparison_json(c, run.options.bleed));
    report.update(json{
        {"histogram", l1_histogram(c, 40)},
        {"symmetry", c.symmetry ? json{{"point", c.symmetry->point},
                                       {"normal", c.symmetry->normal},
                                       {"joint_share", c.symmetry->joint_share},
                                       {"vertex_share", c.symmetry->vertex_share}}
                                : json(nullptr)},
        {"poses", pose_rows(c)},
        {"joints", joint_rows(run)},
        {"worst_vertices", worst_vertices(run)},
        {"limb", limb_profile(run)},
        {"gates", gates_json(run.gates)},
        {"seconds", {{"load", run.load_seconds}, {"compare", run.compare_seconds}, {"total", run.total_seconds}}},
        {"peak_memory_bytes", peak_memory_bytes()},
        {"notes", run.notes},
    });
    return report;
}

}  // namespace sinew::cli
