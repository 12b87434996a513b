// Dirichlet energy of weights: on each triangle the gradient of a linear function is Σ w_i e_i / 2A turned by a
// right angle, where e_i is the side opposite of corner i (Pinkall and Polthier: Computing Discrete Minimal
// Surfaces and Their Conjugates, 1993).
#include "core/try.h"
#include "quality/measures.h"

namespace sinew {

namespace {

/// Minimum height of a triangle, relative to its longest side.
constexpr double least_height = 0.01;

}  // namespace

Result<Smoothness> smoothness(const MeshView& mesh, const Skeleton& skeleton, const SkinWeights& weights,
                              Context* context) {
    SINEW_TRY(check_fit(mesh, skeleton, weights, "the weights"));
    const std::size_t joints = skeleton.joints.size(), n = mesh.triangles.size();
    const std::size_t grain = sum_grain(n, joints);
    std::vector<std::vector<double>> sums((n + grain - 1) / grain);
    parallel_chunks(context, n, grain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        if (cancelled(context)) return;
        std::vector<double>& sum = sums[chunk];
        sum.assign(joints, 0);
        struct Corner {
            std::uint32_t joint;
            std::uint32_t corner;
            double weight;
        };
        std::vector<Corner> corners;
        for (std::size_t t = begin; t < end; ++t) {
            const Triangle& triangle = mesh.triangles[t];
            Point3 p[3], side[3];  // side[i] is opposite of corner i
            for (std::size_t k = 0; k < 3; ++k) p[k] = to_point(mesh.positions[triangle[k]]);
            double longest = 0;
            for (std::size_t k = 0; k < 3; ++k) {
                const Point3 &from = p[(k + 1) % 3], &to = p[(k + 2) % 3];
                side[k] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
                longest =
                    std::max(longest, side[k][0] * side[k][0] + side[k][1] * side[k][1] + side[k][2] * side[k][2]);
            }
            if (!(longest > 0)) continue;
            const Point3 cross{side[0][1] * side[1][2] - side[0][2] * side[1][1],
                               side[0][2] * side[1][0] - side[0][0] * side[1][2],
                               side[0][0] * side[1][1] - side[0][1] * side[1][0]};
            const double twice_area = std::max(std::hypot(cross[0], cross[1], cross[2]), least_height * longest);

            corners.clear();
            for (std::uint32_t k = 0; k < 3; ++k)
                for (const Influence& i : weights[triangle[k]]) corners.push_back({i.joint, k, double{i.weight}});
            std::sort(corners.begin(), corners.end(), [](const Corner& x, const Corner& y) {
                return x.joint != y.joint ? x.joint < y.joint : x.corner < y.corner;
            });
            for (std::size_t i = 0; i < corners.size();) {
                const std::uint32_t joint = corners[i].joint;
                double w[3] = {0, 0, 0};
                for (; i < corners.size() && corners[i].joint == joint; ++i)
                    w[corners[i].corner] = corners[i].weight;
                // The sides sum to zero: subtracting a constant from all corners changes nothing and reduces
                // rounding.
                const double least = std::min({w[0], w[1], w[2]});
                Point3 g{0, 0, 0};
                for (std::size_t k = 0; k < 3; ++k)
                    for (std::size_t c = 0; c < 3; ++c) g[c] += (w[k] - least) * side[k][c];
                sum[joint] += (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) / (4 * twice_area);
            }
        }
    });
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled"};
    Smoothness out;
    out.energy.assign(joints, 0);
    for (const std::vector<double>& sum : sums)
        for (std::size_t j = 0; j < joints; ++j) out.energy[j] += sum[j];
    for (const double e : out.energy) out.total += e;
    return out;
}

}  // namespace sinew
