// Binds a bar of two bones through the installed package and looks at the weights.
#include <cmath>
#include <cstdio>
#include <vector>

#include "sinew/bind.h"

int main() {
    // A closed bar along y from 0 to 2: square rings, and a fan of two triangles at each end.
    std::vector<sinew::Vec3> positions;
    std::vector<sinew::Triangle> triangles;
    const std::uint32_t rings = 21;
    for (std::uint32_t ring = 0; ring < rings; ++ring) {
        const float y = 2.0f * static_cast<float>(ring) / (rings - 1);
        for (const auto& [x, z] : {std::pair{-0.2f, -0.2f}, {-0.2f, 0.2f}, {0.2f, 0.2f}, {0.2f, -0.2f}})
            positions.push_back({x, y, z});
    }
    for (std::uint32_t ring = 0; ring + 1 < rings; ++ring)
        for (std::uint32_t side = 0; side < 4; ++side) {
            const std::uint32_t a = 4 * ring + side, b = 4 * ring + (side + 1) % 4;
            triangles.push_back({a, b, b + 4});
            triangles.push_back({a, b + 4, a + 4});
        }
    const std::uint32_t top = 4 * (rings - 1);
    triangles.insert(triangles.end(), {{0, 2, 1}, {0, 3, 2}, {top, top + 1, top + 2}, {top, top + 2, top + 3}});

    sinew::Skeleton skeleton;
    skeleton.joints.push_back({.name = "lower", .parent = -1, .position = {0, 0.1f, 0}, .tail = {}});
    skeleton.joints.push_back(
        {.name = "upper", .parent = 0, .position = {0, 1, 0}, .tail = sinew::Vec3{0, 1.9f, 0}});

    sinew::BindOptions options;
    options.voxels.resolution = 64;
    const auto binding = sinew::bind({positions, triangles, {}}, skeleton, options);
    if (!binding) return std::fprintf(stderr, "bind: %s\n", binding.error().message.c_str()), 1;
    const auto weights = binding->weights();
    if (!weights) return std::fprintf(stderr, "weights: %s\n", weights.error().message.c_str()), 1;

    for (std::size_t v = 0; v < positions.size(); ++v) {
        double sum = 0, upper = 0;
        for (const sinew::Influence& i : (*weights)[v]) {
            sum += i.weight;
            if (i.joint == 1) upper += i.weight;
        }
        const float y = positions[v].y;
        if (std::abs(sum - 1) > 1e-6 || (y < 0.7f && upper > 0.1) || (y > 1.3f && upper < 0.9))
            return std::fprintf(stderr, "vertex %zu at y = %g: sum %g, upper %g\n", v, y, sum, upper), 1;
    }
    std::printf("consumer: %zu vertices bound, covered %g\n", positions.size(), binding->report().covered());
    return binding->report().covered() == 1 ? 0 : 1;
}
