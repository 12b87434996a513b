// Properties of hardness that hold for every method and every falloff law.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "characters/characters.h"
#include "characters/shapes.h"
#include "sinew/bind.h"

namespace sinew::test_hardness_properties {
namespace {

Binding bound(const test::Character& c, const BindOptions& options) {
    Result<Binding> b = bind(c.mesh(), c.skeleton, options);
    EXPECT_TRUE(b) << (b ? "" : b.error().message);
    return std::move(*b);
}

double mean_strongest(const SkinWeights& w) {
    double sum = 0;
    for (std::size_t v = 0; v < w.vertex_count(); ++v) sum += w[v].empty() ? 0 : w[v][0].weight;
    return sum / static_cast<double>(w.vertex_count());
}

struct Case {
    test::Character character;
    BindOptions options;
};

Case case_of(Method method) {
    Case c{method == Method::pixel_geodesic ? test::strip() : test::u_tube(), preset(method)};
    c.options.voxels.resolution = 32;
    return c;
}

TEST(Hardness, ALargerAlphaIsHarderForEveryMethodAndLaw) {
    constexpr float alphas[] = {0, 0.05f, 0.1f, 0.2f, 0.4f, 0.7f, 1};
    for (const MethodInfo& method : methods()) {
        const Case c = case_of(method.method);
        const Binding binding = bound(c.character, c.options);
        for (int law = 0; law <= static_cast<int>(FalloffLaw::power); ++law) {
            FalloffOptions o = c.options.falloff;
            o.law = static_cast<FalloffLaw>(law);
            if ((method.field == FieldKind::strength) != (o.law == FalloffLaw::power)) continue;
            const std::string where = std::string(method.name) + ", law " + std::to_string(law);
            double first = 0, last = 0;
            for (const float alpha : alphas) {
                o.alpha = alpha;
                const Result<SkinWeights> w = binding.weights(o, c.options.finish);
                ASSERT_TRUE(w) << where;
                const double strongest = mean_strongest(*w);
                EXPECT_GE(strongest, last - 1e-6) << where << ", alpha " << alpha;
                last = strongest;
                if (alpha == 0) first = strongest;
            }
            EXPECT_GT(last, first + 0.005) << where;
        }
    }
}

TEST(Hardness, OfAJointAppliesToEveryMethod) {
    for (const MethodInfo& method : methods()) {
        Case c = case_of(method.method);
        const SkinWeights plain = *bound(c.character, c.options).weights();
        for (Joint& joint : c.character.skeleton.joints) joint.hardness = 1;
        const Binding binding = bound(c.character, c.options);
        EXPECT_TRUE(binding.report().warnings.empty()) << method.name;
        c.options.falloff.alpha = 1;
        for (Joint& joint : c.character.skeleton.joints) joint.hardness.reset();
        EXPECT_EQ(*binding.weights(), *bound(c.character, c.options).weights()) << method.name;
        EXPECT_GT(mean_strongest(*binding.weights()), mean_strongest(plain)) << method.name;
    }
}

}  // namespace
}  // namespace sinew::test_hardness_properties
