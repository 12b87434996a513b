// Progressive binding: a coarse result first, then the result of bind.
#include <gtest/gtest.h>

#include "characters/characters.h"
#include "sanitized.h"
#include "sinew.h"
#include "unit/support.h"

namespace sinew::test_progressive {
namespace {

using test::bound;
using test::Character;
using test::must;

BindOptions at(Method method, int resolution) {
    BindOptions options = preset(method);
    options.voxels.resolution = resolution;
    return options;
}

struct Reported {
    int resolution;
    bool final;
    friend bool operator==(const Reported&, const Reported&) = default;
};

/// The contents of a binding except the times of its stages.
std::vector<std::byte> bits(const Binding& binding) {
    std::vector<std::byte> out;
    const auto add = [&](const auto& values) {
        const auto bytes = std::as_bytes(std::span(values));
        out.insert(out.end(), bytes.begin(), bytes.end());
    };
    add(binding.distances().joint);
    add(binding.distances().distance);
    add(binding.influences().joint);
    add(binding.influences().strength);
    add(binding.coverage());
    return out;
}

TEST(Progressive, TheCoarseResultComesFirstAndTheLastEqualsBind) {
    const Character c = test::quadruped(0.05);
    for (const MethodInfo& m : methods()) {
        if (m.method == Method::pixel_geodesic || m.method == Method::bounded_biharmonic) continue;
        if (test::sanitized && m.method != Method::voxel_heat && m.method != Method::surface_heat) continue;
        const bool voxels = m.method == Method::geodesic_voxel || m.method == Method::voxel_heat ||
                            m.method == Method::surface_heat;
        const BindOptions options = at(m.method, 128);
        std::vector<Reported> reported;
        std::vector<std::byte> first, last;
        const Binding made =
            must(bind_progressive(c.mesh(), {}, c.skeleton, options, [&](const Binding& b, bool final) {
                reported.push_back({b.options().voxels.resolution, final});
                (final ? last : first) = bits(b);
                return true;
            }));
        const std::vector<Reported> wanted =
            voxels ? std::vector<Reported>{{64, false}, {128, true}} : std::vector<Reported>{{128, true}};
        EXPECT_EQ(reported, wanted) << m.name;
        const std::vector<std::byte> whole = bits(bound(c, options));
        EXPECT_TRUE(bits(made) == whole && last == whole) << m.name;
        if (voxels) {
            EXPECT_TRUE(first == bits(bound(c, at(m.method, 64)))) << m.name;
            EXPECT_FALSE(first == whole) << m.name;
        }
        EXPECT_EQ(made.report().warnings, bound(c, options).report().warnings) << m.name;
    }
}

TEST(Progressive, NoCoarseResultAtTheLowestResolution) {
    const Character c = test::robot();
    for (const int resolution : {32, 64}) {
        int calls = 0;
        must(bind_progressive(c.mesh(), {}, c.skeleton, at(Method::surface_heat, resolution),
                              [&](const Binding&, bool final) {
                                  EXPECT_TRUE(final);
                                  ++calls;
                                  return true;
                              }));
        EXPECT_EQ(calls, 1) << resolution;
    }
    // Without a listener the result is that of bind.
    EXPECT_TRUE(bits(must(bind_progressive(c.mesh(), {}, c.skeleton, at(Method::surface_heat, 128), nullptr))) ==
                bits(bound(c, at(Method::surface_heat, 128))));
}

TEST(Progressive, NoCoarseResultWhereItWouldTakeAsLong) {
    if (test::sanitized) return;  // a large mesh
    const Character c = test::biped({.cell = 0.0108});
    ASSERT_GT(c.positions.size(), 60'000u);
    for (const auto& [method, results] : {std::pair{Method::surface_heat, 1}, {Method::geodesic_voxel, 2}}) {
        int calls = 0;
        must(bind_progressive(c.mesh(), {}, c.skeleton, at(method, 128), [&](const Binding&, bool) {
            ++calls;
            return true;
        }));
        EXPECT_EQ(calls, results);
    }
}

TEST(Progressive, AChosenResolutionCountsAsChosen) {
    const Character c = test::robot();
    for (const bool local : {false, true}) {
        if (test::sanitized && !local) continue;
        BindOptions options = at(Method::surface_heat, local ? 64 : 0);
        options.local_resolution = local;
        const ResolutionChoice choice = must(choose_resolution(c.mesh(), c.skeleton, options));
        const bool finer = (choice.fine.empty() ? 1 : 2) * choice.resolution > 64;
        ASSERT_TRUE(finer);
        std::vector<bool> reported;
        const Binding made =
            must(bind_progressive(c.mesh(), {}, c.skeleton, options, [&](const Binding& b, bool final) {
                reported.push_back(final);
                if (final) return true;
                EXPECT_EQ(b.options().voxels.resolution, 64);
                EXPECT_FALSE(b.options().local_resolution);
                return true;
            }));
        EXPECT_EQ(reported, (std::vector<bool>{false, true}));
        EXPECT_TRUE(bits(made) == bits(bound(c, options)));
        EXPECT_EQ(made.report().resolution_reason, choice.reason);
    }
}

TEST(Progressive, StoppingEarlyReturnsTheCoarseResult) {
    const Character c = test::robot();
    int calls = 0;
    const Binding made =
        must(bind_progressive(c.mesh(), {}, c.skeleton, at(Method::geodesic_voxel, 256), [&](const Binding&, bool) {
            ++calls;
            return false;
        }));
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(made.options().voxels.resolution, 64);
    EXPECT_TRUE(bits(made) == bits(bound(c, at(Method::geodesic_voxel, 64))));
    // After the last result there is nothing to stop.
    EXPECT_TRUE(bind_progressive(c.mesh(), {}, c.skeleton, at(Method::geodesic_voxel, 64),
                                 [](const Binding&, bool) { return false; }));
}

TEST(Progressive, CanBeCancelledBeforeBetweenAndWithinItsSteps) {
    const Character c = test::robot();
    const BindOptions options = at(Method::surface_heat, 128);
    Context context;
    const auto run = [&] {
        int calls = 0;
        const Result<Binding> made = bind_progressive(
            c.mesh(), {}, c.skeleton, options,
            [&](const Binding&, bool) {
                ++calls;
                if (!context.progress) context.cancel = true;
                return true;
            },
            &context);
        EXPECT_TRUE(!made && made.error().code == ErrorCode::cancelled);
        return calls;
    };
    EXPECT_EQ(run(), 1) << "by the listener itself";
    // Cancelled at the start of the nth stage, within the first result and then within the second.
    std::vector<std::string> stages;
    context.cancel = false;
    context.progress = [&](const char* stage, double fraction) {
        if (fraction == 0) stages.push_back(stage);
    };
    must(bind(c.mesh(), c.skeleton, options, &context));
    for (const std::size_t nth : {std::size_t{1}, stages.size(), stages.size() + 1, 2 * stages.size()}) {
        std::size_t begun = 0;
        context.cancel = false;
        context.progress = [&](const char*, double fraction) {
            if (fraction == 0 && ++begun == nth) context.cancel = true;
        };
        EXPECT_EQ(run(), nth > stages.size() ? 1 : 0) << nth;
    }
}

TEST(Progressive, ErrorsAreThoseOfBind) {
    // If every resolution fails, the error is that of the last one. Bad input gives the same error as bind.
    Character c = test::robot();
    BindOptions options = at(Method::geodesic_voxel, 128);
    Context context;
    context.memory_limit = 1;
    const auto wanted = bind(c.mesh(), c.skeleton, options, &context);
    const auto found = bind_progressive(
        c.mesh(), {}, c.skeleton, options, [](const Binding&, bool) { return true; }, &context);
    ASSERT_FALSE(wanted);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().message, wanted.error().message);
    options.voxels.resolution = 100;
    EXPECT_FALSE(bind_progressive(c.mesh(), {}, c.skeleton, options, [](const Binding&, bool) { return true; }));
    options.voxels.resolution = 128;
    c.positions[3].x = NAN;
    EXPECT_FALSE(bind_progressive(c.mesh(), {}, c.skeleton, options, [](const Binding&, bool) { return true; }));
}

}  // namespace
}  // namespace sinew::test_progressive
