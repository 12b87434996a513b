// Linear blend skinning, and the code that both ways of skinning share: checks, morphs, and the loop over the
// vertices.
#include <cmath>
#include <string>

#include "core/geometry.h"
#include "core/parallel.h"
#include "core/try.h"
#include "deform/affine.h"
#include "deform/skinning.h"

namespace sinew {

namespace {

constexpr std::size_t grain = 4096;

bool finite(const Vec3& p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

/// Normalises it; false if its length is zero.
bool normalise(Point3& d) {
    const double length = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    if (!(length > 0) || !std::isfinite(length)) return false;
    for (double& v : d) v /= length;
    return true;
}

Status check_surface(const SurfaceView& surface, const SkinWeights& weights,
                     std::span<const Transform> transforms) {
    const std::size_t n = surface.positions.size();
    const auto differ = [&](const char* what, std::size_t count) {
        return Error{ErrorCode::input, "there are " + std::to_string(count) + " " + what + " for " +
                                           std::to_string(n) + " positions"};
    };
    if (weights.vertex_count() != n) return differ("rows of weights", weights.vertex_count());
    if (!surface.normals.empty() && surface.normals.size() != n) return differ("normals", surface.normals.size());
    if (!surface.tangents.empty() && surface.tangents.size() != n)
        return differ("tangents", surface.tangents.size());
    if (!surface.dual_share.empty() && surface.dual_share.size() != n)
        return differ("shares of dual quaternions", surface.dual_share.size());
    for (std::size_t j = 0; j < transforms.size(); ++j)
        if (!finite(transforms[j]))
            return Error{ErrorCode::input, "joint " + std::to_string(j) + " has a transform that is not finite"};
    for (std::size_t v = 0; v < n; ++v) {
        const auto bad = [&](const char* what) {
            return Error{ErrorCode::input,
                         "vertex " + std::to_string(v) + " has a " + what + " that is not finite"};
        };
        if (!finite(surface.positions[v])) return bad("position");
        if (!surface.normals.empty() && !finite(surface.normals[v])) return bad("normal");
        if (!surface.tangents.empty())
            for (const float c : surface.tangents[v])
                if (!std::isfinite(c)) return bad("tangent");
        if (!surface.dual_share.empty() && !(surface.dual_share[v] >= 0 && surface.dual_share[v] <= 1))
            return Error{ErrorCode::input, "vertex " + std::to_string(v) + " has a share that is not 0 to 1"};
        for (const Influence& i : weights[v])
            if (i.joint >= transforms.size())
                return Error{ErrorCode::input, "vertex " + std::to_string(v) + " has a weight on joint " +
                                                   std::to_string(i.joint) + ", but there are only " +
                                                   std::to_string(transforms.size()) + " transforms"};
    }
    return Done{};
}

}  // namespace

std::string_view to_string(Skinning skinning) {
    return skinning == Skinning::linear_blend ? "linear blend" : "dual quaternion";
}

Transform blend_linear(std::span<const Influence> row, std::span<const Transform> transforms) {
    Transform out;
    out.m.fill(0);
    double sum = 0;
    for (const Influence& i : row) {
        const double w = i.weight;
        sum += w;
        for (std::size_t k = 0; k < 12; ++k) out.m[k] += w * transforms[i.joint].m[k];
    }
    for (double& v : out.m) v /= sum;  // the sum of float weights is only approximately 1
    return out;
}

Status add_morphs(std::span<Vec3> positions, std::span<const Morph> morphs) {
    for (const Morph& morph : morphs) {
        if (morph.first_vertex > positions.size() || morph.offsets.size() > positions.size() - morph.first_vertex)
            return Error{ErrorCode::input, "a morph of " + std::to_string(morph.offsets.size()) +
                                               " vertices from vertex " + std::to_string(morph.first_vertex) +
                                               " on reaches past the last of " + std::to_string(positions.size())};
        if (!std::isfinite(morph.weight)) return Error{ErrorCode::input, "the weight of a morph is not finite"};
        if (morph.weight == 0) continue;
        for (std::size_t i = 0; i < morph.offsets.size(); ++i) {
            Vec3& p = positions[morph.first_vertex + i];
            const Vec3& o = morph.offsets[i];
            p = {p.x + morph.weight * o.x, p.y + morph.weight * o.y, p.z + morph.weight * o.z};
            if (!finite(p))
                return Error{ErrorCode::input, "vertex " + std::to_string(morph.first_vertex + i) +
                                                   " has a position that is not finite after morphing"};
        }
    }
    return Done{};
}

Result<Surface> deform(const SurfaceView& surface, const SkinWeights& weights,
                       std::span<const Transform> transforms, Skinning skinning, Context* context) {
    SINEW_TRY(check_surface(surface, weights, transforms));
    const std::size_t n = surface.positions.size();

    std::vector<DualQuaternion> dual;
    if (skinning == Skinning::dual_quaternion) {
        std::vector<bool> used(transforms.size());
        for (std::size_t v = 0; v < n; ++v)
            if (surface.dual_share.empty() || surface.dual_share[v] > 0)
                for (const Influence& i : weights[v]) used[i.joint] = true;
        SINEW_TRY_LET(dual, to_dual_quaternions(transforms, used));
    }

    Surface out;
    out.positions.assign(surface.positions.begin(), surface.positions.end());
    out.normals.assign(surface.normals.begin(), surface.normals.end());
    out.tangents.assign(surface.tangents.begin(), surface.tangents.end());
    const Transform identity;
    // Per chunk, the first vertex beyond the range of float
    std::vector<std::size_t> lost((n + grain - 1) / grain, n);
    parallel_chunks(context, n, grain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        if (cancelled(context)) return;
        for (std::size_t v = begin; v < end; ++v) {
            const auto row = weights[v];
            if (row.empty()) continue;
            // A vertex whose joints share one transform takes exactly that one: averaging would round.
            const Transform& first = transforms[row[0].joint];
            bool one = true;
            for (std::size_t k = 1; one && k < row.size(); ++k) one = transforms[row[k].joint] == first;
            if (one && first == identity) continue;
            const double share = skinning == Skinning::linear_blend ? 0
                                 : surface.dual_share.empty()       ? 1
                                                                    : surface.dual_share[v];
            Transform blended = first;
            if (!one && share < 1) blended = blend_linear(row, transforms);
            if (!one && share > 0) {
                const Transform whole = blend_dual(row, dual);
                for (std::size_t k = 0; k < 12; ++k)
                    blended.m[k] = share == 1 ? whole.m[k] : blended.m[k] + share * (whole.m[k] - blended.m[k]);
            }
            out.positions[v] = to_vec3(move_point(blended, to_point(surface.positions[v])));
            if (!finite(out.positions[v]) && lost[chunk] == n) lost[chunk] = v;
            if (!out.normals.empty()) {
                Point3 normal = move_normal(blended, to_point(surface.normals[v]));
                if (normalise(normal)) out.normals[v] = to_vec3(normal);
            }
            if (!out.tangents.empty()) {
                const auto& t = surface.tangents[v];
                Point3 tangent = move_direction(blended, {t[0], t[1], t[2]});
                if (normalise(tangent)) {
                    const Vec3 f = to_vec3(tangent);
                    out.tangents[v] = {f.x, f.y, f.z, t[3]};
                }
            }
        }
    });
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled"};
    for (const std::size_t v : lost)
        if (v != n)
            return Error{ErrorCode::input, "vertex " + std::to_string(v) + " is moved beyond the range of float"};
    return out;
}

}  // namespace sinew
