// sinew_votes RESOLUTION FILE...: how well the vote of Dionne and de Lasa (2014), eq. 5 and 6, agrees with
// generalized winding numbers at every voxel that is not boundary. A line for each file: what --view-pairs either
// puts inside in addition to both, before winding numbers settle what is undecided, and the share of it that
// winding numbers confirm; the share of the voxels that two view pairs put inside which they confirm, for both and
// for either; and processor seconds of the vote with winding numbers where it is undecided, and of winding numbers
// everywhere. Then the means. A mesh is voxelized whole, without what is far from its skeleton, as for `sinew
// bind`.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "sinew/domain.h"
#include "sinew/io.h"
#include "sinew/near.h"
#include "sinew/voxels.h"

namespace {

using namespace sinew;

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "sinew_votes: %s\n", what.c_str());
    std::exit(2);
}

template <typename T>
T must(Result<T> result) {
    if (!result) fail(result.error().message);
    return std::move(*result);
}

template <typename Work>
double seconds_of(Work&& work) {
    const std::clock_t start = std::clock();
    work();
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// Voxels, and those of them that winding numbers put inside.
struct Count {
    double of = 0, confirmed = 0;
    void add(bool in, bool confirm) { of += in, confirmed += in && confirm; }
    /// In percent.
    double share() const { return of > 0 ? 100 * confirmed / of : 100; }
};

}  // namespace

int main(int count, char** words) {
    if (count < 3) fail("RESOLUTION FILE...");
    std::printf(
        "| character | `either` adds | confirmed | two of three, `both` | `either` | seconds | everywhere |\n");
    std::printf("|---|---|---|---|---|---|---|\n");
    double added_share = 0, both_share = 0, either_share = 0, vote_seconds = 0, all_seconds = 0;
    int files = 0, with_added = 0;
    for (int f = 2; f < count; ++f) {
        const std::filesystem::path path = words[f];
        const io::Scene scene = must(io::load(path));
        const std::vector<Triangle> near = near_triangles(scene.mesh(), scene.skeleton);
        const MeshView mesh{scene.positions, near, {}};
        const MeshTopology topology = analyse_mesh(mesh);
        VoxelizeOptions options;
        options.resolution = std::atoi(words[1]);
        VoxelGrid settled;
        const double voted = seconds_of([&] { settled = must(voxelize(mesh, topology, options)); });
        options.winding_numbers = false;
        const VoxelGrid both = must(voxelize(mesh, topology, options));
        options.view_pairs = ViewPairs::either;
        const VoxelGrid either = must(voxelize(mesh, topology, options));

        const GridTransform& g = both.transform;
        std::vector<Vec3> centres;
        std::vector<std::array<bool, 2>> inside;
        for (int z = 0; z < g.depth(); ++z)
            for (int y = 0; y < g.resolution; ++y)
                for (int x = 0; x < g.resolution; ++x) {
                    if (both.boundary.get(x, y, z)) continue;
                    centres.push_back({static_cast<float>(g.origin[0] + (x + 0.5) * g.voxel),
                                       static_cast<float>(g.origin[1] + (y + 0.5) * g.voxel),
                                       static_cast<float>(g.origin[2] + (z + 0.5) * g.voxel)});
                    inside.push_back({both.interior.get(x, y, z), either.interior.get(x, y, z)});
                }
        std::vector<float> winding;
        const double everywhere = seconds_of([&] { winding = winding_numbers(mesh, topology.turned, centres); });
        Count added, by_both, by_either;
        for (std::size_t i = 0; i < centres.size(); ++i) {
            const bool confirm = winding[i] > 0.5f;
            by_both.add(inside[i][0], confirm);
            by_either.add(inside[i][1], confirm);
            added.add(inside[i][1] && !inside[i][0], confirm);
        }
        std::printf("| %s | %.0f | %.0f %% | %.2f %% | %.2f %% | %.3f | %.2f |\n", path.stem().c_str(), added.of,
                    added.share(), by_both.share(), by_either.share(), voted, everywhere);
        std::fflush(stdout);
        ++files;
        if (added.of > 0) ++with_added, added_share += added.share();
        both_share += by_both.share(), either_share += by_either.share();
        vote_seconds += voted, all_seconds += everywhere;
    }
    std::printf("| mean of %d (added: of %d) | | %.0f %% | %.2f %% | %.2f %% | %.3f | %.2f |\n", files, with_added,
                with_added ? added_share / with_added : 0, both_share / files, either_share / files,
                vote_seconds / files, all_seconds / files);
    return 0;
}
