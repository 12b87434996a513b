// sinew_heat_rules FILE HINTS [refined=VERTICES] VARIANT...: compares surface-heat under other rule constants
// (src/bind/surface_heat/rules.h) with the weights of the file. A VARIANT is "" for the defaults,
// or NAME=VALUE[,NAME=VALUE...]. Prints one line "l1 agreement" for each; from the second on, also the mean L1 to
// the first VARIANT and what 99.9 % of the vertices are below: `direct=1e9 direct=0` shows how exact the coarse
// surface is. learned=0.7: with the learned correction, as the default has it. HINTS: skin or names. Used by
// scripts/research/cross-validate and rule-effects. refined=VERTICES: every triangle is split into four until the
// mesh has at least that many vertices; prints only the last two numbers.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "bind/planned_mesh.h"
#include "bind/surface_heat/surface_heat.h"
#include "quality/difference.h"
#include "refine.h"
#include "sinew/io.h"

namespace {

using namespace sinew;

const std::map<std::string, double* (*)(SurfaceHeatRules&)> kRules{
    {"nearly_all", [](SurfaceHeatRules& r) { return &r.parts.nearly_all; }},
    {"half", [](SurfaceHeatRules& r) { return &r.parts.half; }},
    {"whole_bone", [](SurfaceHeatRules& r) { return &r.parts.whole_bone; }},
    {"other_bone", [](SurfaceHeatRules& r) { return &r.parts.other_bone; }},
    {"beneath", [](SurfaceHeatRules& r) { return &r.parts.beneath; }},
    {"on_other", [](SurfaceHeatRules& r) { return &r.parts.on_other; }},
    {"clearly", [](SurfaceHeatRules& r) { return &r.parts.clearly; }},
    {"closed", [](SurfaceHeatRules& r) { return &r.enclosed.closed; }},
    {"inside", [](SurfaceHeatRules& r) { return &r.enclosed.inside; }},
    {"larger", [](SurfaceHeatRules& r) { return &r.enclosed.larger; }},
    {"beyond", [](SurfaceHeatRules& r) { return &r.enclosed.beyond; }},
    {"round", [](SurfaceHeatRules& r) { return &r.enclosed.round; }},
    {"loose_along", [](SurfaceHeatRules& r) { return &r.loose_along; }},
    {"hidden", [](SurfaceHeatRules& r) { return &r.hidden; }},
    {"gap", [](SurfaceHeatRules& r) { return &r.gap; }},
    {"seeing", [](SurfaceHeatRules& r) { return &r.heat.least_visible; }},
};

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "sinew_heat_rules: %s\n", what.c_str());
    std::exit(2);
}

struct Variant {
    SurfaceHeatRules rules;
    float learned = 0;
};

Variant read(std::string variant) {
    Variant out;
    while (!variant.empty()) {
        const std::string one = variant.substr(0, variant.find(','));
        variant.erase(0, one.size() + 1);
        const std::size_t equals = one.find('=');
        if (equals == std::string::npos) fail("\"" + one + "\" is not NAME=VALUE");
        const double value = std::atof(one.c_str() + equals + 1);
        const std::string name = one.substr(0, equals);
        if (name == "direct" || name == "coarse" || name == "most") {
            HeatRules& heat = out.rules.heat;
            (name == "direct"   ? heat.direct
             : name == "coarse" ? heat.coarse
                                : heat.most) = static_cast<std::size_t>(value);
            continue;
        }
        if (name == "learned") {
            out.learned = static_cast<float>(value);
            continue;
        }
        const auto rule = kRules.find(name);
        if (rule == kRules.end()) fail("no rule \"" + one + "\"");
        *rule->second(out.rules) = value;
    }
    return out;
}

Result<SkinWeights> weights_by(const MeshView& mesh, const Skeleton& skeleton, const Variant& variant,
                               Context* context) {
    BindOptions options = preset(Method::surface_heat);
    options.learned = variant.learned;
    BindReport report;
    StageClock clock(report, context);
    const PlannedMesh planned = plan_mesh(mesh, skeleton, clock, report);
    std::vector<Bone> bones = make_bones(skeleton);
    const Task task = make_task(mesh, skeleton, options, planned, bones, clock);
    Result<MethodRows> rows = bind_surface_heat(task, variant.rules, learned_correction(task));
    if (!rows) return rows.error();
    share_rows(planned.plan, *rows, report);
    return weigh(std::get<InfluenceTable>(rows->table), options.falloff, options.finish, context);
}

}  // namespace

int main(int count, char** words) {
    if (count < 4) fail("FILE HINTS [refined=VERTICES] VARIANT...");
    Result<io::Scene> scene = io::load(words[1]);
    if (!scene) fail(scene.error().message);
    if (!scene->weights) fail("the file has no weights to compare with");
    const std::string hints = words[2];
    const DeformFrom from = hints == "skin" ? DeformFrom::skin : DeformFrom::names;
    const std::vector<double> use = joint_use(*scene->weights, scene->skeleton.joints.size());
    if (Status ok = select_deforming(scene->skeleton, use, {from, {}, {}}); !ok) fail(ok.error().message);
    const std::string refined = "refined=";
    const bool refines = std::string(words[3]).starts_with(refined);
    MeshView mesh = scene->mesh();
    std::vector<Vec3> positions(mesh.positions.begin(), mesh.positions.end());
    std::vector<Triangle> triangles(mesh.triangles.begin(), mesh.triangles.end());
    if (refines) {
        while (positions.size() < std::stoul(words[3] + refined.size())) test::refine(positions, triangles);
        mesh.positions = positions;
        mesh.triangles = triangles;
    }
    Context context;
    context.threads = 1;
    std::optional<SkinWeights> first;
    for (int k = refines ? 4 : 3; k < count; ++k) {
        const Result<SkinWeights> made = weights_by(mesh, scene->skeleton, read(words[k]), &context);
        if (!made) fail(made.error().message);
        Comparison found;
        const std::size_t joints = scene->skeleton.joints.size();
        if (!refines) {
            if (Status ok = measure_difference(*scene->weights, *made, joints, {}, &context, found); !ok)
                fail(ok.error().message);
            std::printf("%.9g %.9g", found.l1.mean, found.strongest_agreement);
        }
        if (!first) {
            first = *made;
        } else {
            if (Status ok = measure_difference(*first, *made, joints, {}, &context, found); !ok)
                fail(ok.error().message);
            std::vector<float> each = found.vertex_l1;
            const auto at = each.begin() + static_cast<std::ptrdiff_t>(0.999 * static_cast<double>(each.size()));
            std::nth_element(each.begin(), at, each.end());
            std::printf(refines ? "%.9g %.9g" : " %.9g %.9g", found.l1.mean, static_cast<double>(*at));
        }
        std::printf("\n");
        std::fflush(stdout);
    }
}
