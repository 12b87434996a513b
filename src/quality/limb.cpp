// Weights along the chain of joints in which two bindings differ most.
#include "quality/measures.h"

namespace sinew {

namespace {

/// The polyline through a chain, with arc lengths.
struct Polyline {
    std::vector<Point3> points;
    std::vector<double> at;

    void add(const Point3& p) {
        at.push_back(points.empty() ? 0
                                    : at.back() + std::hypot(p[0] - points.back()[0], p[1] - points.back()[1],
                                                             p[2] - points.back()[2]));
        points.push_back(p);
    }
    /// Arc length of the nearest point.
    double project(const Point3& p) const {
        double best = INFINITY, where = 0;
        for (std::size_t i = 0; i + 1 < points.size(); ++i) {
            const SegmentPosition s = segment_distance(points[i], points[i + 1], p);
            if (s.distance < best) {
                best = s.distance;
                where = at[i] + std::clamp(s.along, 0.0, s.length);
            }
        }
        return where;
    }
};

/// The chain of joints without branches on which two bindings differ most, from its first joint on; empty if no
/// joint has weight. Joints without weight on themselves or below do not count as branches.
std::vector<std::uint32_t> most_different_chain(const Skeleton& skeleton, std::span<const JointComparison> joints) {
    const std::size_t n = skeleton.joints.size();
    std::vector<double> l1(n, 0);
    std::vector<bool> live(n, false);  // the joint or a descendant has weight
    for (const JointComparison& j : joints) {
        l1[j.joint] = j.l1;
        for (int up = static_cast<int>(j.joint); up >= 0 && !live[static_cast<std::size_t>(up)];
             up = skeleton.joints[static_cast<std::size_t>(up)].parent)
            live[static_cast<std::size_t>(up)] = true;
    }
    std::vector<std::vector<std::uint32_t>> children(n);
    for (std::size_t j = 0; j < n; ++j)
        if (const int parent = skeleton.joints[j].parent; live[j] && parent >= 0)
            children[static_cast<std::size_t>(parent)].push_back(static_cast<std::uint32_t>(j));
    std::vector<std::uint32_t> worst;
    double most = 0;
    for (std::size_t j = 0; j < n; ++j) {
        const int parent = skeleton.joints[j].parent;
        if (!live[j] || (parent >= 0 && children[static_cast<std::size_t>(parent)].size() == 1)) continue;
        std::vector<std::uint32_t> chain{static_cast<std::uint32_t>(j)};
        double sum = l1[j];
        while (children[chain.back()].size() == 1) {
            chain.push_back(children[chain.back()][0]);
            sum += l1[chain.back()];
        }
        // One joint is not a limb, unless there is no longer chain.
        if (chain.size() == 1 && worst.size() > 1) continue;
        if ((worst.size() == 1 && chain.size() > 1 && sum > 0) || sum > most) {
            most = sum;
            worst = std::move(chain);
        }
    }
    return worst;
}

/// The stated tail of a joint, or the middle of its children, if there is one.
std::optional<Point3> end_of(const Skeleton& skeleton, std::uint32_t joint) {
    if (const std::optional<Vec3>& tail = skeleton.joints[joint].tail) return to_point(*tail);
    Point3 middle{0, 0, 0};
    double count = 0;
    for (const Joint& child : skeleton.joints)
        if (child.parent == static_cast<int>(joint)) {
            const Point3 p = to_point(child.position);
            for (std::size_t k = 0; k < 3; ++k) middle[k] += p[k];
            ++count;
        }
    if (count == 0) return std::nullopt;
    for (double& c : middle) c /= count;
    return middle;
}

/// Extends the last segment of a line as far as the vertices lie beyond it.
template <typename Concerned>
void extend_to_vertices(Polyline& line, const MeshView& mesh, Concerned&& concerned) {
    if (line.points.size() < 2) return;
    const Point3 from = line.points[line.points.size() - 2], to = line.points.back();
    const double step = line.at.back() - line.at[line.at.size() - 2];
    if (!(step > 0)) return;
    double beyond = 0;
    for (std::size_t v = 0; v < mesh.positions.size(); ++v)
        if (concerned(v))
            beyond = std::max(beyond, segment_distance(from, to, to_point(mesh.positions[v])).along - step);
    const Point3 d{(to[0] - from[0]) / step, (to[1] - from[1]) / step, (to[2] - from[2]) / step};
    if (beyond > 0) line.add({to[0] + beyond * d[0], to[1] + beyond * d[1], to[2] + beyond * d[2]});
}

constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

/// Mean weights of the profile's joints in each bin. `bin_of`: per vertex, or kNowhere.
void fill_bins(const SkinWeights& a, const SkinWeights& b, std::size_t joint_count,
               const std::vector<std::uint32_t>& bin_of, std::size_t bins, LimbProfile& out) {
    std::vector<int> slot(joint_count, -1);
    for (std::size_t i = 0; i < out.joints.size(); ++i) slot[out.joints[i]] = static_cast<int>(i);
    out.vertices.assign(bins, 0);
    out.a.assign(out.joints.size(), std::vector<double>(bins, 0));
    out.b = out.a;
    for (std::size_t v = 0; v < bin_of.size(); ++v) {
        if (bin_of[v] == kNowhere) continue;
        ++out.vertices[bin_of[v]];
        for (const Influence& i : a[v])
            if (slot[i.joint] >= 0) out.a[static_cast<std::size_t>(slot[i.joint])][bin_of[v]] += i.weight;
        for (const Influence& i : b[v])
            if (slot[i.joint] >= 0) out.b[static_cast<std::size_t>(slot[i.joint])][bin_of[v]] += i.weight;
    }
    for (std::size_t j = 0; j < out.joints.size(); ++j)
        for (std::size_t k = 0; k < bins; ++k)
            if (out.vertices[k]) {
                out.a[j][k] /= static_cast<double>(out.vertices[k]);
                out.b[j][k] /= static_cast<double>(out.vertices[k]);
            }
}

}  // namespace

LimbProfile limb_profile(const MeshView& mesh, const Skeleton& skeleton, const SkinWeights& a, const SkinWeights& b,
                         std::span<const JointComparison> joints, int bins, Context* context) {
    LimbProfile out;
    const std::vector<std::uint32_t> chain = most_different_chain(skeleton, joints);
    if (chain.empty()) return out;
    if (const int parent = skeleton.joints[chain[0]].parent; parent >= 0)
        out.joints.push_back(static_cast<std::uint32_t>(parent));
    out.joints.insert(out.joints.end(), chain.begin(), chain.end());

    const std::size_t n = skeleton.joints.size();
    std::vector<bool> in_chain(n, false);
    for (const std::uint32_t j : chain) in_chain[j] = true;
    const auto concerned = [&](std::size_t v) {
        return (!a[v].empty() && in_chain[a[v][0].joint]) || (!b[v].empty() && in_chain[b[v][0].joint]);
    };
    Polyline line;
    for (const std::uint32_t j : out.joints) line.add(to_point(skeleton.joints[j].position));
    out.joint_at = line.at;
    if (const std::optional<Point3> end = end_of(skeleton, chain.back()))
        line.add(*end);
    else
        extend_to_vertices(line, mesh, concerned);
    out.length = line.at.back();
    if (!(out.length > 0)) return {};

    std::vector<std::uint32_t> bin_of(mesh.positions.size(), kNowhere);
    parallel_for(context, mesh.positions.size(), 4096, [&](std::size_t v) {
        if (!concerned(v)) return;
        const double s = line.project(to_point(mesh.positions[v])) / out.length * bins;
        bin_of[v] = static_cast<std::uint32_t>(std::clamp(s, 0.0, bins - 1.0));
    });
    fill_bins(a, b, n, bin_of, static_cast<std::size_t>(bins), out);
    return out;
}

}  // namespace sinew
