// Compares joints chosen by name and structure with those that the weights of real characters use
// (docs/methods/idle-joints.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "sinew/io.h"
#include "sinew/skeleton.h"

namespace sinew::test_idle_joints {
namespace {

std::filesystem::path corpus() {
    const char* named = std::getenv("SINEW_CORPUS");
    return named ? named : "";
}

TEST(IdleJointsOfTheCorpus, NamesFindMostWithFewErrors) {
    if (!std::filesystem::is_directory(corpus())) GTEST_SKIP() << "skipped: SINEW_CORPUS names no folder";
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus())) {
        const std::string name = entry.path().filename().string(), kind = entry.path().extension().string();
        if ((kind == ".glb" || kind == ".gltf" || kind == ".vrm") && name.find(".decoded.") == std::string::npos)
            files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::size_t characters = 0, joints = 0, found = 0, missed = 0, wrong = 0;
    for (const auto& file : files) {
        Result<io::Scene> scene = io::load(file);
        ASSERT_TRUE(scene.ok()) << file << ": " << scene.error().message;
        if (!scene->weights) continue;
        const std::vector<double> use = joint_use(*scene->weights, scene->skeleton.joints.size());
        double total = 0;
        for (const double u : use) total += u;
        Skeleton& skeleton = scene->skeleton;
        DeformOptions options;
        options.from = DeformFrom::names;
        const Status ok = select_deforming(skeleton, use, options);
        ASSERT_TRUE(ok.ok()) << file << ": " << ok.error().message;
        ++characters;
        for (std::size_t j = 0; j < skeleton.joints.size(); ++j) {
            if (skeleton.joints[j].reason == DeformReason::no_skin) continue;
            ++joints;
            const bool idle = use[j] <= 1e-6 * total, held_idle = !skeleton.joints[j].deform;
            found += idle && held_idle;
            missed += idle && !held_idle;
            wrong += !idle && held_idle;
            if (!idle && held_idle) {
                EXPECT_LT(use[j], 0.01 * total) << file << " " << skeleton.joints[j].name;
            }
        }
    }
    RecordProperty("found", int(found));
    std::printf("%zu characters, %zu joints: idle %zu found, %zu missed, %zu wrongly held idle\n", characters,
                joints, found, missed, wrong);
    if (characters < 41) GTEST_SKIP() << "the corpus is incomplete";
    EXPECT_GE(found, 193u);
    EXPECT_LE(missed, 133u);
    EXPECT_LE(wrong, 4u);
}

}  // namespace
}  // namespace sinew::test_idle_joints
