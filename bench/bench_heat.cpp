// Compares heat by the solver with heat by OpenGL, for each character: do the weights agree, and how long does each
// take?
//
//   bench_heat [--resolution 256] [--threads 0] [--iterations 0] [--runs 3] FILE…
//
// FILE is any file that `sinew bind` reads; an OBJ needs NAME.skeleton.json beside it. The times are of the whole
// stage "heat", the median of the runs. The time of OpenGL includes making the context, compiling shaders and both
// transfers.
// --iterations: sweeps of plain averaging instead of solving, on both sides. Exits with 1 if a weight differs by
// more than 1e-3.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "field/heat_hardware.h"
#include "model.h"
#include "sinew/bind.h"

namespace {

using namespace sinew;

int fail(const std::string& what) {
    std::fprintf(stderr, "bench_heat: %s\n", what.c_str());
    return 3;
}

double seconds_of_heat(const Binding& binding) {
    for (const StageTime& stage : binding.report().seconds)
        if (stage.stage == "heat") return stage.seconds;
    return 0;
}

struct Difference {
    double worst = 0;  // largest difference of one weight
    double mean = 0;   // mean over vertices of the summed differences
};

Difference difference_of(const SkinWeights& a, const SkinWeights& b, std::size_t joints) {
    Difference d;
    std::vector<double> row(joints);
    for (std::size_t v = 0; v < a.vertex_count(); ++v) {
        std::fill(row.begin(), row.end(), 0.0);
        for (const Influence& i : a[v]) row[i.joint] += i.weight;
        for (const Influence& i : b[v]) row[i.joint] -= i.weight;
        for (const double change : row) {
            d.worst = std::max(d.worst, std::abs(change));
            d.mean += std::abs(change);
        }
    }
    d.mean /= static_cast<double>(std::max<std::size_t>(a.vertex_count(), 1));
    return d;
}

}  // namespace

int main(int argc, char** argv) {
    BindOptions options = preset(Method::voxel_heat);
    Context context;
    int runs = 3;
    std::vector<std::filesystem::path> files;
    for (int a = 1; a < argc; ++a) {
        const std::string_view word = argv[a];
        if (word == "--resolution" && a + 1 < argc) {
            options.voxels.resolution = std::atoi(argv[++a]);
        } else if (word == "--threads" && a + 1 < argc) {
            context.threads = std::atoi(argv[++a]);
        } else if (word == "--iterations" && a + 1 < argc) {
            options.iterations = std::atoi(argv[++a]);
        } else if (word == "--runs" && a + 1 < argc) {
            runs = std::max(1, std::atoi(argv[++a]));
        } else {
            files.emplace_back(word);
        }
    }
    if (const Status ok = check(options); !ok) return fail(ok.error().message);
    if (files.empty()) {
        std::fprintf(stderr,
                     "usage: bench_heat [--resolution 256] [--threads 0] [--iterations 0] [--runs 3] FILE…\n");
        return 2;
    }
    std::string renderer;
    {
        const Result<std::unique_ptr<HeatHardware>> hardware = HeatHardware::open();
        if (!hardware) return fail(hardware.error().message);
        renderer = (*hardware)->renderer();
    }
    bool agree = true;
    std::printf("%-28s %7s %9s %10s %10s %8s %8s %9s\n", "character", "joints", "leaves", "worst", "mean L1",
                "cpu s", "hw s", "cpu / hw");
    for (const auto& file : files) {
        const Result<io::Scene> scene = bench::load_model(file);
        if (!scene) return fail(scene.error().message);
        SkinWeights weights[2];
        double seconds[2];
        std::size_t leaves = 0;
        for (const HeatBy by : {HeatBy::cpu, HeatBy::hardware}) {
            const auto k = static_cast<std::size_t>(by);
            options.heat = by;
            std::vector<double> all;
            for (int run = 0; run < runs; ++run) {
                const Result<Binding> binding = bind(scene->mesh(), scene->skeleton, options, &context);
                if (!binding) return fail(binding.error().message);
                all.push_back(seconds_of_heat(*binding));
                leaves = binding->report().leaves;
                if (run > 0) continue;
                Result<SkinWeights> made = binding->weights();
                if (!made) return fail(made.error().message);
                weights[k] = std::move(*made);
            }
            std::sort(all.begin(), all.end());
            seconds[k] = all[all.size() / 2];
        }
        const Difference d = difference_of(weights[0], weights[1], scene->skeleton.joints.size());
        agree = agree && d.worst <= 1e-3;
        std::printf("%-28s %7zu %9zu %10.1e %10.1e %8.3f %8.3f %9.2f\n", file.stem().c_str(),
                    scene->skeleton.joints.size(), leaves, d.worst, d.mean, seconds[0], seconds[1],
                    seconds[0] / seconds[1]);
    }
    std::printf("resolution %d, %s\n", options.voxels.resolution, renderer.c_str());
    return agree ? 0 : 1;
}
