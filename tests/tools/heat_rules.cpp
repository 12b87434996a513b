// sinew_heat_rules FILE HINTS VARIANT...: surface-heat with other numbers in its rules (src/bind/heat_rules.h),
// against the weights that the file came with. A VARIANT is "" for the defaults, or NAME=VALUE[,NAME=VALUE...].
// Prints a line "l1 agreement" for each. HINTS: skin or names. For scripts/cross-validate.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "bind/method.h"
#include "sinew/io.h"

namespace {

using namespace sinew;

const std::map<std::string, double* (*)(HeatRules&)> kRules{
    {"nearly_all", [](HeatRules& r) { return &r.parts.nearly_all; }},
    {"half", [](HeatRules& r) { return &r.parts.half; }},
    {"whole_bone", [](HeatRules& r) { return &r.parts.whole_bone; }},
    {"other_bone", [](HeatRules& r) { return &r.parts.other_bone; }},
    {"beneath", [](HeatRules& r) { return &r.parts.beneath; }},
    {"lying", [](HeatRules& r) { return &r.parts.lying; }},
    {"clearly", [](HeatRules& r) { return &r.parts.clearly; }},
    {"closed", [](HeatRules& r) { return &r.enclosed.closed; }},
    {"inside", [](HeatRules& r) { return &r.enclosed.inside; }},
    {"larger", [](HeatRules& r) { return &r.enclosed.larger; }},
    {"beyond", [](HeatRules& r) { return &r.enclosed.beyond; }},
    {"round", [](HeatRules& r) { return &r.enclosed.round; }},
    {"loose_along", [](HeatRules& r) { return &r.loose_along; }},
    {"hidden", [](HeatRules& r) { return &r.hidden; }},
    {"gap", [](HeatRules& r) { return &r.gap; }},
    {"seeing", [](HeatRules& r) { return &r.seeing; }},
};

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "sinew_heat_rules: %s\n", what.c_str());
    std::exit(2);
}

HeatRules read(std::string variant) {
    HeatRules rules;
    while (!variant.empty()) {
        const std::string one = variant.substr(0, variant.find(','));
        variant.erase(0, one.size() + 1);
        const std::size_t equals = one.find('=');
        const auto rule = kRules.find(one.substr(0, equals));
        if (equals == std::string::npos || rule == kRules.end()) fail("no rule \"" + one + "\"");
        *rule->second(rules) = std::atof(one.c_str() + equals + 1);
    }
    return rules;
}

Result<SkinWeights> weights_by(const MeshView& mesh, const Skeleton& skeleton, const HeatRules& rules) {
    const BindOptions options = preset(Method::surface_heat);
    Context context;
    context.threads = 1;
    BindReport report;
    StageClock clock(report, &context);
    const PlannedMesh planned = plan_mesh(mesh, skeleton, clock, report);
    std::vector<Bone> bones = make_bones(skeleton);
    const Task task{mesh,
                    skeleton,
                    options,
                    planned.topology,
                    planned.plan,
                    planned.used,
                    static_cast<float>(box_of(mesh).longest()),
                    &context,
                    clock,
                    report,
                    bones,
                    nullptr,
                    nullptr,
                    rules};
    Result<MethodRows> rows = run_method(task);
    if (!rows) return rows.error();
    share_rows(planned.plan, *rows, report);
    return weigh(std::get<InfluenceTable>(rows->table), options.falloff, options.finish, &context);
}

/// As sinew compare has them: mean L1, and the share of vertices whose strongest joint is the same.
std::pair<double, double> difference(const SkinWeights& a, const SkinWeights& b) {
    double l1 = 0, agree = 0;
    const auto strongest = [](std::span<const Influence> row) {
        Influence best{0xffffffffu, 0};
        for (const Influence& i : row)
            if (i.weight > best.weight || (i.weight == best.weight && i.joint < best.joint)) best = i;
        return best.joint;
    };
    for (std::size_t v = 0; v < a.vertex_count(); ++v) {
        std::map<std::uint32_t, double> gap;
        for (const Influence& i : a[v]) gap[i.joint] += static_cast<double>(i.weight);
        for (const Influence& i : b[v]) gap[i.joint] -= static_cast<double>(i.weight);
        for (const auto& [joint, d] : gap) l1 += std::abs(d);
        agree += strongest(a[v]) == strongest(b[v]);
    }
    const auto count = static_cast<double>(a.vertex_count());
    return {l1 / count, agree / count};
}

}  // namespace

int main(int count, char** words) {
    if (count < 4) fail("FILE HINTS VARIANT...");
    Result<io::Scene> scene = io::load(words[1]);
    if (!scene) fail(scene.error().message);
    if (!scene->weights) fail("the file has no weights to compare with");
    const std::string hints = words[2];
    const DeformFrom from = hints == "skin" ? DeformFrom::skin : DeformFrom::names;
    const std::vector<double> use = joint_use(*scene->weights, scene->skeleton.joints.size());
    if (Status ok = select_deforming(scene->skeleton, use, {from, {}, {}}); !ok) fail(ok.error().message);
    for (int k = 3; k < count; ++k) {
        const Result<SkinWeights> made = weights_by(scene->mesh(), scene->skeleton, read(words[k]));
        if (!made) fail(made.error().message);
        const auto [l1, agree] = difference(*scene->weights, *made);
        std::printf("%.9g %.9g\n", l1, agree);
        std::fflush(stdout);
    }
}
