// Compares the estimate of memory with the actual use of a bind, measured in a separate process.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "core/large_pages.h"
#include "domain/grid_levels.h"
#include "refine.h"
#include "sinew/bind.h"
#include "sinew/voxels.h"
#include "support.h"

// Sanitizers need memory of their own. g++ defines macros for them, clang has __has_feature.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SINEW_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SINEW_SANITIZED 1
#endif
#endif

#if defined(__linux__) && !defined(SINEW_SANITIZED)
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#endif

namespace sinew::test_memory {
namespace {

using test::Character;

#if defined(__linux__) && !defined(SINEW_SANITIZED)

double status_bytes(const std::string& name) {
    std::ifstream file("/proc/self/status");
    for (std::string word; file >> word;)
        if (word == name + ":" && file >> word) return 1024 * std::stod(word);
    return -1;
}

// Peak increase of resident memory by a bind on one thread; negative if it cannot be measured. With a limit, that
// of a bind that is refused.
double peak_of(const Character& c, const BindOptions& options, std::size_t limit = 0) {
    int ends[2];
    if (pipe(ends) != 0) return -1;
    malloc_trim(0);
    const pid_t child = fork();
    if (child == 0) {
        alarm(100);
        double grown = -1;
        std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
        const double before = status_bytes("VmRSS");
        if (before > 0 && status_bytes("VmHWM") < before + (4 << 20)) {
            Context context;
            context.threads = 1;
            context.memory_limit = limit;
            const Result<Binding> bound = bind(c.mesh(), c.skeleton, options, &context);
            grown = bound.ok() == (limit == 0) ? status_bytes("VmHWM") - before : -2;
        }
        const auto written = write(ends[1], &grown, sizeof grown);
        _exit(written == sizeof grown ? 0 : 1);
    }
    close(ends[1]);
    double grown = -3;
    if (child < 0 || read(ends[0], &grown, sizeof grown) != sizeof grown) grown = -3;
    close(ends[0]);
    if (child > 0) waitpid(child, nullptr, 0);
    return grown;
}

// After other tests the heap has gaps, and a bind takes more pages than in a new process. Where other tests run in
// this process too, repeats the current one in a process of its own and returns true.
bool repeated_alone() {
    const ::testing::UnitTest& unit = *::testing::UnitTest::GetInstance();
    if (unit.test_to_run_count() == 1) return false;
    const std::string filter = std::string("--gtest_filter=Memory.") + unit.current_test_info()->name();
    const pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "sinew_unit", filter.c_str(), "--gtest_brief=1", nullptr);
        _exit(127);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << filter;
    return true;
}
#else
double peak_of(const Character&, const BindOptions&, std::size_t = 0) { return -1; }
bool repeated_alone() { return false; }
#endif

struct Case {
    Method method;
    int resolution;
    bool keep = false, all = false, local = false;
    DomainKind domain = DomainKind::sparse;
};

void expect_bounds(const Character& c, const Case& with, const PixelMask* mask = nullptr, double most = 2) {
    BindOptions options = preset(with.method);
    options.voxels.resolution = with.resolution;
    options.keep_volume = with.keep;
    options.local_resolution = with.local;
    options.domain = with.domain;
    options.mask = mask;
    if (with.all) options.finish.max_influences = all_influences;
    Context one;
    one.threads = 1;
    const auto need = static_cast<double>(estimate_memory(c.mesh(), c.skeleton, options, &one));
    const double real = peak_of(c, options);
    if (real == -1) GTEST_SKIP() << "this system does not report the peak of a process";
    const std::string what = c.name + ", " + std::string(to_string(with.method)) + ", resolution " +
                             std::to_string(with.resolution) + (with.keep ? ", volume kept" : "") +
                             (with.all ? ", all influences" : "") + (with.local ? ", local" : "") + ": estimated " +
                             std::to_string(need / 1e6) + " MB, took " + std::to_string(real / 1e6) + " MB";
    ASSERT_GT(real, 0) << what;
    EXPECT_LE(real, need) << what;
    // At most `most` times the actual use, plus a constant for small binds.
    if (!with.local) {
        EXPECT_LE(need, most * real + 3e7) << what;
    }
    if (std::getenv("SINEW_MEMORY_TABLE")) std::printf("%s  %.2f\n", what.c_str(), need / real);
}

Character character(const char* name, int refined) {
    Character c = test::make_character(name);
    for (int i = 0; i < refined; ++i) test::refine(c.positions, c.triangles);
    return c;
}

TEST(Memory, GeodesicVoxelStaysWithinTheEstimate) {
    if (repeated_alone()) return;
    const Character biped = character("biped", 0), caped = character("caped", 1);
    for (const int r : {64, 256, 512}) expect_bounds(biped, {Method::geodesic_voxel, r});
    expect_bounds(biped, {Method::geodesic_voxel, 128, true});
    expect_bounds(biped, {Method::geodesic_voxel, 128, false, true});
    expect_bounds(caped, {Method::geodesic_voxel, 64});
    for (const int r : {128, 256})
        expect_bounds(biped,
                      {.method = Method::geodesic_voxel, .resolution = r, .domain = DomainKind::sparse_boundary});
}

// The estimate assumes that all blocks are fine, so it is far above the use. Checks the lower bound only.
TEST(Memory, LocalResolutionStaysWithinTheEstimate) {
    if (repeated_alone()) return;
    expect_bounds(character("biped", 0), {.method = Method::geodesic_voxel, .resolution = 128, .local = true});
    expect_bounds(character("biped", 0), {.method = Method::geodesic_voxel, .resolution = 256, .local = true});
}

#if defined(__linux__) && !defined(SINEW_SANITIZED)
std::size_t resident() {
    std::ifstream statm("/proc/self/statm");
    std::size_t all = 0, pages = 0;
    statm >> all >> pages;
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Some kernels commit large pages that are only read.
bool reads_commit_pages() {
    constexpr std::size_t size = std::size_t{64} << 20;
    const std::size_t before = resident();
    auto* const zeros = static_cast<volatile unsigned char*>(allocate_zeros(size));
    for (std::size_t at = 0; at < size; at += 4096) EXPECT_EQ(zeros[at], 0);
    const bool committed = resident() > before + size / 2;
    free_zeros(const_cast<unsigned char*>(zeros), size);
    return committed;
}

TEST(Memory, LargeGridsCommitPagesOnFirstWrite) {
    const std::size_t before = resident(), most = before + (std::size_t{32} << 20);
    BitGrid grid(1024);  // 128 MB
    grid.set(1, 2, 3);
    grid.set(1023, 1023, 1023);
    EXPECT_LT(resident(), most);
    const bool only_writes_commit = !reads_commit_pages();
    const BitGrid copy = grid, half = halve(grid, nullptr);
    EXPECT_TRUE(!only_writes_commit || resident() < most);
    EXPECT_EQ(copy, grid);
    EXPECT_TRUE(half.get(0, 1, 1) && half.get(511, 511, 511));
    EXPECT_EQ(half.count(), 2u);
    EXPECT_EQ(copy.count(), 2u);
    EXPECT_TRUE(!only_writes_commit || resident() < most) << "after reading every voxel";
}
#endif

// A stack of large sheets within a few voxels, and a volume in which most of the box is empty.
TEST(Memory, DenseSheetsAndUniformVoxelsStayWithinTheEstimate) {
    if (repeated_alone()) return;
    Character sheets = character("biped", 0);
    const std::vector<Vec3> body = sheets.positions;
    const std::vector<Triangle> faces = sheets.triangles;
    for (int copy = 1; copy < 12; ++copy) {
        const auto first = static_cast<std::uint32_t>(sheets.positions.size());
        for (const Vec3& p : body) sheets.positions.push_back({p.x, p.y, p.z + 1e-5f * static_cast<float>(copy)});
        for (const Triangle& t : faces) sheets.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
    }
    expect_bounds(sheets, {Method::geodesic_voxel, 256}, nullptr, 3);
    for (const int r : {128, 256})
        expect_bounds(character("biped", 0),
                      {.method = Method::geodesic_voxel, .resolution = r, .domain = DomainKind::uniform}, nullptr,
                      3);
}

TEST(Memory, SurfaceHeatStaysWithinTheEstimate) {
    if (repeated_alone()) return;
    const Character biped = character("biped", 0), caped = character("caped", 1);
    for (const int r : {64, 256}) expect_bounds(biped, {Method::surface_heat, r});
    expect_bounds(biped, {Method::surface_heat, 128, true});
    expect_bounds(caped, {Method::surface_heat, 128});
}

TEST(Memory, HeatAndEnergyStayWithinTheEstimate) {
    if (repeated_alone()) return;
    const Character biped = character("biped", 0);
    expect_bounds(biped, {Method::voxel_heat, 64});
    expect_bounds(biped, {Method::voxel_heat, 128});
    expect_bounds(biped, {Method::bounded_biharmonic, 32});
}

TEST(Memory, MethodsWithoutAVolumeStayWithinTheEstimate) {
    if (repeated_alone()) return;
    const Character caped = character("caped", 1);
    for (const Method method : {Method::bone_heat, Method::mesh_geodesic, Method::closest_distance,
                                Method::closest_hierarchy, Method::connectivity})
        expect_bounds(caped, {method, 256});
    // A picture whose pixels all belong to the figure.
    Character flat = character("biped", 0);
    for (Vec3& p : flat.positions) p.z = 0;
    for (Joint& j : flat.skeleton.joints) {
        j.position.z = 0;
        if (j.tail) j.tail->z = 0;
    }
    PixelMask mask{512, 512, std::vector<std::uint8_t>(512 * 512, 1), {-1.5, -0.5}, 3.0 / 512};
    expect_bounds(flat, {Method::pixel_geodesic, 512}, &mask);
}

// The estimate voxelizes, too: where that would exceed the limit, it is refused before.
TEST(Memory, TheEstimateItselfKeepsToTheLimit) {
    if (repeated_alone()) return;
    const Character c = character("biped", 2);
    constexpr std::size_t limit = 2 << 20;
    ASSERT_GT(60 * c.triangles.size(), 4 * limit);
    BindOptions options = preset(Method::geodesic_voxel);
    options.voxels.resolution = 256;
    options.domain = DomainKind::uniform;  // its voxels are counted
    const double peak = peak_of(c, options, limit);
    if (peak == -1) GTEST_SKIP() << "this system does not report the peak of a process";
    ASSERT_GE(peak, 0);
    EXPECT_LT(peak, 4.0 * limit);
}

// Every method checks the limit first, and suggests a resolution that fits if there is one.
TEST(Memory, EveryMethodKeepsToTheLimit) {
    const Character c = character("biped", 0);
    for (const MethodInfo& info : methods()) {
        BindOptions options = preset(info.method);
        options.voxels.resolution = 256;
        Context context;
        std::size_t stages = 0;
        context.progress = [&](const char*, double) { ++stages; };
        BindOptions coarse = options;
        coarse.voxels.resolution = 64;
        const std::size_t need = estimate_memory(c.mesh(), c.skeleton, options, &context),
                          less = estimate_memory(c.mesh(), c.skeleton, coarse, &context);
        context.memory_limit = need - 1;
        Result<Binding> refused = bind(c.mesh(), c.skeleton, options, &context);
        ASSERT_FALSE(refused) << info.name;
        EXPECT_EQ(refused.error().code, ErrorCode::too_large);
        EXPECT_EQ(stages, 0u) << info.name;
        const std::string& message = refused.error().message;
        if (less < need) {
            context.memory_limit = less;
            refused = bind(c.mesh(), c.skeleton, options, &context);
            ASSERT_FALSE(refused);
            EXPECT_NE(refused.error().message.find("`resolution 64` would fit"), std::string::npos)
                << refused.error().message;
        } else {
            EXPECT_NE(message.find(info.name), std::string::npos) << message;
        }
    }
}

}  // namespace
}  // namespace sinew::test_memory
