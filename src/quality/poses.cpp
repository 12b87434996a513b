// Measures of the deformed shape in poses.
#include <string>

#include "core/vectors.h"
#include "quality/measures.h"

namespace sinew {

namespace {

constexpr std::size_t grain = 16384;

/// Signed volume of the cones from the mean of the corners over all triangles. For a closed mesh this is its
/// volume. For an open mesh it is a number that rotation and translation do not change.
double volume(const MeshView& mesh, const MeshTopology& topology, std::span<const Vec3> p, Context* context) {
    const std::size_t n = mesh.triangles.size(), chunks = (n + grain - 1) / grain;
    std::vector<Point3> corner_sums(chunks, Point3{0, 0, 0});
    parallel_chunks(context, n, grain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        for (std::size_t t = begin; t < end; ++t)
            for (const std::uint32_t v : mesh.triangles[t]) {
                corner_sums[chunk][0] += p[v].x;
                corner_sums[chunk][1] += p[v].y;
                corner_sums[chunk][2] += p[v].z;
            }
    });
    Point3 middle{0, 0, 0};
    for (const Point3& s : corner_sums)
        for (std::size_t k = 0; k < 3; ++k) middle[k] += s[k];
    for (double& c : middle) c /= 3.0 * static_cast<double>(n);
    std::vector<double> sums(chunks, 0);
    parallel_chunks(context, n, grain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        for (std::size_t t = begin; t < end; ++t) {
            const Triangle& v = mesh.triangles[t];
            const Point3 a = to_point(p[v[0]]) - middle, b = to_point(p[v[1]]) - middle,
                         c = to_point(p[v[2]]) - middle;
            const double six = dot(a, cross(b, c));
            sums[chunk] += topology.turned[t] ? -six : six;
        }
    });
    double six = 0;
    for (const double s : sums) six += s;
    return six / 6;
}

double length(const Vec3& a, const Vec3& b) {
    const double x = double{a.x} - b.x, y = double{a.y} - b.y, z = double{a.z} - b.z;
    return std::sqrt(x * x + y * y + z * z);
}

}  // namespace

std::string_view to_string(PoseKind kind) {
    return kind == PoseKind::standard ? "standard" : kind == PoseKind::random ? "random" : "given";
}

Result<PoseShape> measure_pose(const MeshView& mesh, const MeshTopology& topology, std::span<const Vec3> posed,
                               Context* context) {
    const std::size_t n = mesh.triangles.size();
    if (posed.size() != mesh.positions.size() || topology.turned.size() != n)
        return Error{ErrorCode::input, "the pose has " + std::to_string(posed.size()) + " vertices for " +
                                           std::to_string(mesh.positions.size()) +
                                           " positions, or the topology belongs to another mesh"};
    PoseShape out;
    const double diagonal = mesh.positions.empty() ? 0 : box_of(mesh.positions).diagonal();
    const double rest = volume(mesh, topology, mesh.positions, context);
    if (std::abs(rest) > 1e-9 * diagonal * diagonal * diagonal)
        out.volume_change = (volume(mesh, topology, posed, context) - rest) / std::abs(rest);

    std::vector<float> stretch(3 * n, -1.0f);
    parallel_for(context, n, grain, [&](std::size_t t) {
        const Triangle& v = mesh.triangles[t];
        for (std::size_t k = 0; k < 3; ++k) {
            const std::uint32_t a = v[k], b = v[(k + 1) % 3];
            const double at_rest = length(mesh.positions[a], mesh.positions[b]);
            if (at_rest > 1e-4 * diagonal)
                stretch[3 * t + k] = static_cast<float>(length(posed[a], posed[b]) / at_rest);
        }
    });
    const auto most = std::max_element(stretch.begin(), stretch.end());
    if (most != stretch.end() && *most >= 0) {
        const auto at = static_cast<std::size_t>(most - stretch.begin());
        out.stretch_max = *most;
        out.stretched = {mesh.triangles[at / 3][at % 3], mesh.triangles[at / 3][(at % 3 + 1) % 3]};
        std::erase_if(stretch, [](float s) { return s < 0; });
        out.stretch_p99 = percentile(stretch, 0.99);
    }
    return out;
}

PoseSummary summarise(std::span<const PoseComparison> poses, PoseKind kind) {
    PoseSummary out;
    for (const PoseComparison& p : poses) {
        if (p.kind != kind) continue;
        ++out.poses;
        out.mean += p.mean;
        out.mean_max += p.max;
        out.max = std::max(out.max, p.max);
    }
    if (out.poses) {
        out.mean /= static_cast<double>(out.poses);
        out.mean_max /= static_cast<double>(out.poses);
    }
    return out;
}

}  // namespace sinew
