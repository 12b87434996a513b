// Compares voxels from slices of the z-buffer with voxels from columns, for each character: do they agree, and how
// long does each take?
//
//   bench_voxelizers [--resolution 256] [--threads 0] FILE…
//
// FILE is any file that `sinew bind` reads; an OBJ needs NAME.skeleton.json beside it. The times are of the vote
// alone, the median of three. The time of slices includes making the context and compiling shaders. Exits with 1 if
// a voxel differs and no rule of tests/gl/compare_votes.h explains it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "gl/compare_votes.h"
#include "model.h"
#include "sinew/voxels.h"

namespace {

using namespace sinew;

template <typename Work>
double seconds_of(Work&& work) {
    double seconds[3];
    for (double& s : seconds) {
        const auto start = std::chrono::steady_clock::now();
        work();
        s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    std::sort(seconds, seconds + 3);
    return seconds[1];
}

int fail(const std::string& what) {
    std::fprintf(stderr, "bench_voxelizers: %s\n", what.c_str());
    return 3;
}

}  // namespace

int main(int argc, char** argv) {
    VoxelizeOptions options;
    Context context;
    std::vector<std::filesystem::path> files;
    for (int a = 1; a < argc; ++a) {
        const std::string_view word = argv[a];
        if (word == "--resolution" && a + 1 < argc) {
            options.resolution = std::atoi(argv[++a]);
        } else if (word == "--threads" && a + 1 < argc) {
            context.threads = std::atoi(argv[++a]);
        } else {
            files.emplace_back(word);
        }
    }
    if (const Status ok = check(options); !ok) return fail(ok.error().message);
    if (files.empty()) {
        std::fprintf(stderr, "usage: bench_voxelizers [--resolution 256] [--threads 0] FILE…\n");
        return 2;
    }
    std::size_t unexplained = 0;
    std::printf("%-28s %9s %9s %7s %7s %7s %11s %8s %8s %6s %6s\n", "character", "triangles", "inside", "differ",
                "on edge", "tied", "unexplained", "cpu s", "hw s", "draws", "reads");
    SliceReport report;
    for (const auto& file : files) {
        const Result<io::Scene> scene = bench::load_model(file);
        if (!scene) return fail(scene.error().message);
        const MeshView mesh = scene->mesh();
        const MeshTopology topology = analyse_mesh(mesh);
        const Result<VoxelGrid> grid = voxelize(mesh, topology, options, &context);
        if (!grid) return fail(grid.error().message);
        const Lattice lattice = make_lattice(grid->transform, mesh, &topology.turned, &context);
        const Result<PairVotes> columns = vote_by_columns(lattice, options.view_pairs, &context);
        const Result<PairVotes> slices = vote_by_slices(lattice, options.view_pairs, &context);
        if (!slices) return fail(slices.error().message);
        const test::Disagreement d = test::compare_votes(lattice, grid->boundary, *columns, *slices);
        unexplained += d.unexplained();
        const double cpu = seconds_of([&] { (void)vote_by_columns(lattice, options.view_pairs, &context).ok(); });
        const double hardware = seconds_of([&] {
            report = {};
            (void)vote_by_slices(lattice, options.view_pairs, &context, &report).ok();
        });
        std::printf("%-28s %9zu %9zu %7zu %7zu %7zu %11zu %8.3f %8.3f %6zu %6zu\n", file.stem().c_str(),
                    mesh.triangles.size(), d.inside, d.differ, d.on_edge, d.tied, d.unexplained(), cpu, hardware,
                    report.draws, report.read_backs);
        if (d.unexplained()) std::printf("  for example: %s\n", d.example.c_str());
    }
    std::printf("resolution %d, %d x %d pixels, %s\n", options.resolution, report.pixels, report.pixels,
                report.renderer.c_str());
    return unexplained ? 1 : 0;
}
