// sinew_influence_features FILE HINTS COUNT OUT: writes the features of at most COUNT vertices and their candidates
// (src/bind/surface_heat/influence_features.h) beside the weights of the file, for
// scripts/research/train-correction. HINTS: skin or names. OUT: one record of floats for each vertex: whether a
// rule made its part rigid, the artist's weight on joints that are no candidates, and for each of kMost slots the
// weight of surface-heat (-1: no candidate), the artist's weight, and the features.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>

#include "bind/planned_mesh.h"
#include "bind/surface_heat/influence_features.h"
#include "bind/surface_heat/surface_heat.h"
#include "sinew/io.h"

namespace {

using namespace sinew;
using Features = InfluenceFeatures;

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "sinew_influence_features: %s\n", what.c_str());
    std::exit(2);
}

/// Appends the record of a vertex.
void append(std::vector<float>& out, const Features& features, std::size_t row, bool rigid,
            std::span<const Influence> shipped, const JointSet& set) {
    const Features::Candidates among = features.candidates(row);
    std::array<float, Features::kMost * Features::kPair> pairs{};
    features.pair_features(row, among, pairs);
    const std::size_t start = out.size();
    out.insert(out.end(), {rigid ? 1.0f : 0.0f, 1.0f});
    for (std::size_t c = 0; c < Features::kMost; ++c) {
        if (c >= among.count) {
            out.push_back(-1);
            out.insert(out.end(), 1 + Features::kPair + Features::kJoint + Features::kMesh, 0.0f);
            continue;
        }
        float weight = 0;
        for (const Influence& each : shipped)
            if (each.joint == set.joints[among.slot[c]]) weight = each.weight;
        out[start + 1] -= weight;
        out.insert(out.end(), {static_cast<float>(among.weight[c]), weight});
        const auto pair = pairs.begin() + static_cast<std::ptrdiff_t>(c * Features::kPair);
        out.insert(out.end(), pair, pair + Features::kPair);
        const std::span<const float> joint = features.joint_features(among.slot[c]);
        out.insert(out.end(), joint.begin(), joint.end());
        out.insert(out.end(), features.mesh_features().begin(), features.mesh_features().end());
    }
}

}  // namespace

int main(int count, char** words) {
    if (count != 5) fail("FILE HINTS COUNT OUT");
    Result<io::Scene> scene = io::load(words[1]);
    if (!scene) fail(scene.error().message);
    if (!scene->weights) fail("the file has no weights to learn from");
    const DeformFrom from = std::string(words[2]) == "skin" ? DeformFrom::skin : DeformFrom::names;
    const std::vector<double> use = joint_use(*scene->weights, scene->skeleton.joints.size());
    if (Status ok = select_deforming(scene->skeleton, use, {from, {}, {}}); !ok) fail(ok.error().message);
    const auto most = static_cast<std::size_t>(std::atol(words[3]));

    const MeshView mesh = scene->mesh();
    BindReport report;
    StageClock clock(report, nullptr);
    const PlannedMesh planned = plan_mesh(mesh, scene->skeleton, clock, report);
    std::vector<float> out;
    const auto observe = [&](const JointSet& set, const Features& features, const std::vector<std::uint8_t>& rigid,
                             const SetRows& rows) {
        constexpr std::size_t none = static_cast<std::size_t>(-1);
        std::vector<std::size_t> row_of(mesh.positions.size(), none);
        for (std::size_t i = 0; i < rows.vertices.size(); ++i) row_of[rows.vertices[i]] = i;
        std::vector<std::uint32_t> chosen;  // vertices of the file, as the measures count them
        for (std::uint32_t v = 0; v < mesh.positions.size(); ++v)
            if (row_of[planned.plan.source[v]] != none) chosen.push_back(v);
        std::mt19937 random(1);
        for (std::size_t k = 0; k + 1 < chosen.size(); ++k)  // the same on all machines, unlike std::shuffle
            std::swap(chosen[k], chosen[k + random() % (chosen.size() - k)]);
        chosen.resize(std::min(chosen.size(), most));
        for (const std::uint32_t v : chosen) {
            const std::size_t row = row_of[planned.plan.source[v]];
            append(out, features, row, rigid[row] != 0, (*scene->weights)[v], set);
        }
    };
    BindOptions options = preset(Method::surface_heat);
    options.learned = 0;
    std::vector<Bone> bones = make_bones(scene->skeleton);
    const Task task = make_task(mesh, scene->skeleton, options, planned, bones, clock);
    if (const Result<MethodRows> rows = bind_surface_heat(task, {}, observe); !rows) fail(rows.error().message);
    std::ofstream file(words[4], std::ios::binary);
    file.write(reinterpret_cast<const char*>(out.data()), static_cast<std::streamsize>(out.size() * sizeof(float)));
    if (!file.flush()) fail(std::string("cannot write ") + words[4]);
}
