// The mirror plane of a skeleton, partners across it, and the symmetry error of weights.
#include <numeric>
#include <optional>
#include <string>
#include <tuple>

#include "core/joint_names.h"
#include "core/try.h"
#include "core/vectors.h"
#include "quality/measures.h"
#include "quality/nearest_point.h"
#include "sinew/near.h"

namespace sinew {

namespace {

constexpr double joint_tolerance = 0.02;    // relative to the diagonal of the joints' box
constexpr double vertex_tolerance = 0.002;  // relative to the diagonal of the mesh's box
constexpr double least_share = 0.8;         // minimum share of the deforming joints that must have a partner
constexpr double most_work = 3e8;           // maximum number of compared sibling pairs, over all planes

struct Plane {
    Point3 point, normal;
    double height(const Point3& p) const { return dot(p - point, normal); }
    Point3 mirror(const Point3& p) const {
        const double h = 2 * height(p);
        return {p[0] - h * normal[0], p[1] - h * normal[1], p[2] - h * normal[2]};
    }
};

struct Tree {
    std::vector<Point3> at;
    std::vector<std::vector<std::uint32_t>> children;
    std::vector<std::uint32_t> roots;
    std::vector<std::size_t> below;  // joints of the subtree
    double size = 0;                 // diagonal of the joints' box
    Point3 middle{0, 0, 0};

    explicit Tree(const Skeleton& skeleton) : children(skeleton.joints.size()), below(skeleton.joints.size(), 1) {
        std::vector<Vec3> places;
        for (std::size_t j = 0; j < skeleton.joints.size(); ++j) {
            const Joint& joint = skeleton.joints[j];
            at.push_back(to_point(joint.position));
            places.push_back(joint.position);
            (joint.parent < 0 ? roots : children[static_cast<std::size_t>(joint.parent)])
                .push_back(static_cast<std::uint32_t>(j));
            for (std::size_t k = 0; k < 3; ++k) middle[k] += at.back()[k];
        }
        for (double& c : middle) c /= static_cast<double>(at.size());
        size = box_of(places).diagonal();
        // Reverse top-down order.
        std::vector<std::uint32_t> order = roots;
        for (std::size_t i = 0; i < order.size(); ++i)
            order.insert(order.end(), children[order[i]].begin(), children[order[i]].end());
        for (std::size_t i = order.size(); i-- > 0;)
            if (const int parent = skeleton.joints[order[i]].parent; parent >= 0)
                below[static_cast<std::size_t>(parent)] += below[order[i]];
    }
};

bool has_side(const std::string& name) {
    for (const std::string& word : name_words(name))
        if (word == "l" || word == "r" || word == "left" || word == "right") return true;
    return false;
}

/// How badly two names fit as partners: the letters outside their common prefix and suffix. A joint whose name
/// has a side is not its own partner.
std::size_t unlikeness(const Skeleton& skeleton, std::uint32_t joint, std::uint32_t partner) {
    const std::string &a = skeleton.joints[joint].name, &b = skeleton.joints[partner].name;
    if (joint == partner) return has_side(a) ? a.size() : 0;
    const std::size_t n = std::min(a.size(), b.size());
    std::size_t front = 0, back = 0;
    while (front < n && a[front] == b[front]) ++front;
    while (back < n - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
    return std::max(a.size(), b.size()) - front - back;
}

/// Partners from the roots down: children of partners are matched by position.
struct Partners {
    std::vector<std::uint32_t> of;
    std::size_t matched = 0, pairs = 0;  // matched: joints that deform
    double off = 0;                      // sum of distances from the mirrored positions

    Partners(const Skeleton& skeleton, const Tree& tree, const Plane& plane) : of(tree.at.size(), no_index) {
        struct CandidatePair {
            double distance;
            int coarse;  // distance in quarters of the tolerance
            std::size_t size_differs;
            std::size_t unlike;
            std::uint32_t a, b;
        };
        const double tolerance = joint_tolerance * tree.size;
        std::vector<CandidatePair> offers;
        // The matching pairs of two lists, best ones first.
        auto match = [&](const std::vector<std::uint32_t>& left, const std::vector<std::uint32_t>& right,
                         std::vector<std::pair<std::uint32_t, std::uint32_t>>& next) {
            offers.clear();
            for (const std::uint32_t a : left)
                for (const std::uint32_t b : right) {
                    const double d = norm(plane.mirror(tree.at[a]) - tree.at[b]);
                    if (!(d <= tolerance)) continue;
                    const std::size_t differ = tree.below[a] > tree.below[b] ? tree.below[a] - tree.below[b]
                                                                             : tree.below[b] - tree.below[a];
                    offers.push_back(
                        {d, static_cast<int>(4 * d / tolerance), differ, unlikeness(skeleton, a, b), a, b});
                }
            // Small distances are not significant: joints at one position differ in their subtrees, then in
            // their names.
            std::sort(offers.begin(), offers.end(), [](const CandidatePair& x, const CandidatePair& y) {
                return std::tie(x.size_differs, x.coarse, x.unlike, x.distance, x.a, x.b) <
                       std::tie(y.size_differs, y.coarse, y.unlike, y.distance, y.a, y.b);
            });
            for (const CandidatePair& o : offers) {
                if (of[o.a] != no_index || of[o.b] != no_index) continue;
                // Partners are mutual. A joint on the other side of the plane must not be used as the partner
                // of one on the plane.
                if (o.a == o.b && std::abs(plane.height(tree.at[o.a])) > tolerance / 2) continue;
                of[o.a] = o.b;
                of[o.b] = o.a;
                off += o.distance;
                next.push_back({o.a, o.b});
                matched += skeleton.joints[o.a].deform;
                if (o.a != o.b) matched += skeleton.joints[o.b].deform;
                pairs += o.a != o.b;
            }
        };
        std::vector<std::pair<std::uint32_t, std::uint32_t>> open;
        match(tree.roots, tree.roots, open);
        for (std::size_t i = 0; i < open.size(); ++i) {
            const std::pair<std::uint32_t, std::uint32_t> pair = open[i];
            match(tree.children[pair.first], tree.children[pair.second], open);
        }
    }
};

/// The middle plane of all pairs.
Plane refined(const Tree& tree, const Plane& plane, const Partners& partners) {
    Point3 normal{0, 0, 0}, point{0, 0, 0};
    double n = 0;
    for (std::uint32_t j = 0; j < partners.of.size(); ++j) {
        const std::uint32_t k = partners.of[j];
        if (k == no_index || k <= j) continue;
        Point3 across = tree.at[j] - tree.at[k];
        const double sign = dot(across, plane.normal) < 0 ? -1 : 1;
        for (std::size_t c = 0; c < 3; ++c) {
            normal[c] += sign * across[c];
            point[c] += (tree.at[j][c] + tree.at[k][c]) / 2;
        }
        ++n;
    }
    const double length = std::sqrt(dot(normal, normal));
    if (!(length > 0) || n == 0) return plane;
    for (std::size_t c = 0; c < 3; ++c) {
        normal[c] /= length;
        point[c] /= n;
    }
    return {point, normal};
}

/// Planes to try: through the middle of the joints, and between siblings with subtrees of one size. None if there
/// are too many joints for that.
std::vector<Plane> candidate_planes(const Tree& tree) {
    std::vector<Plane> planes{{tree.middle, {1, 0, 0}}, {tree.middle, {0, 0, 1}}, {tree.middle, {0, 1, 0}}};
    const double tolerance = joint_tolerance * tree.size;
    // Pairs deep in the tree add little to those above them: the first hundred planes suffice, or fewer if
    // thousands of joints have one parent.
    double pairs = static_cast<double>(tree.roots.size()) * static_cast<double>(tree.roots.size());
    for (const auto& list : tree.children)
        pairs += static_cast<double>(list.size()) * static_cast<double>(list.size());
    const auto most_planes = static_cast<std::size_t>(std::min(100.0, most_work / (2 * pairs + 1)));
    if (most_planes < planes.size()) return {};
    auto try_siblings = [&](const std::vector<std::uint32_t>& siblings) {
        for (std::size_t i = 0; i < siblings.size(); ++i)
            for (std::size_t k = i + 1; k < siblings.size() && planes.size() < most_planes; ++k) {
                const std::uint32_t a = siblings[i], b = siblings[k];
                Point3 normal = tree.at[a] - tree.at[b];
                const double length = std::sqrt(dot(normal, normal));
                if (tree.below[a] != tree.below[b] || length < 2 * tolerance) continue;
                Point3 point;
                for (std::size_t c = 0; c < 3; ++c) {
                    normal[c] /= length;
                    point[c] = (tree.at[a][c] + tree.at[b][c]) / 2;
                }
                planes.push_back({point, normal});
            }
    };
    try_siblings(tree.roots);
    std::vector<std::uint32_t> by_size(tree.at.size());
    std::iota(by_size.begin(), by_size.end(), 0u);
    std::stable_sort(by_size.begin(), by_size.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return tree.below[a] > tree.below[b]; });
    for (const std::uint32_t j : by_size) try_siblings(tree.children[j]);
    return planes;
}

/// The vertex on the other side of each vertex, or no_index.
std::vector<std::uint32_t> mirrored_vertices(const MeshView& mesh, const Skeleton& skeleton, const Plane& plane,
                                             Context* context) {
    const std::size_t n = mesh.positions.size();
    std::vector<std::uint32_t> vertex(n, no_index);
    std::vector<std::pair<Point3, std::uint32_t>> points;
    for (std::size_t v = 0; v < n; ++v)
        points.push_back({to_point(mesh.positions[v]), static_cast<std::uint32_t>(v)});
    // Many vertices at one position would make a search visit them all: only the first one is searched.
    std::sort(points.begin(), points.end());
    points.erase(
        std::unique(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
        points.end());
    const NearestPoint nearest(std::move(points));
    const double near = near_diagonal(mesh, skeleton, context);
    const double limit = vertex_tolerance * (near > 0 ? near : box_of(mesh.positions).diagonal());
    parallel_for(context, n, 2048, [&](std::size_t v) {
        if (!cancelled(context)) vertex[v] = nearest.find(plane.mirror(to_point(mesh.positions[v])), limit);
    });
    return vertex;
}

}  // namespace

Result<std::optional<Symmetry>> find_symmetry(const MeshView& mesh, const Skeleton& skeleton, Context* context) {
    SINEW_TRY(check_skeleton(skeleton));
    const Tree tree(skeleton);
    std::optional<Symmetry> out;
    if (!(tree.size > 0)) return out;

    std::optional<Partners> best;
    Plane plane;
    for (const Plane& first : candidate_planes(tree)) {
        const Plane candidate = refined(tree, first, Partners(skeleton, tree, first));
        Partners partners(skeleton, tree, candidate);
        const double slack = 1e-6 * tree.size;
        if (partners.pairs == 0) continue;
        if (!best || partners.matched > best->matched ||
            (partners.matched == best->matched && partners.off < best->off - slack)) {
            best = std::move(partners);
            plane = candidate;
        }
    }
    const auto deforming = static_cast<double>(
        std::count_if(skeleton.joints.begin(), skeleton.joints.end(), [](const Joint& j) { return j.deform; }));
    if (!best || static_cast<double>(best->matched) < least_share * deforming) return out;

    Symmetry s;
    s.point = plane.point;
    s.normal = plane.normal;
    s.joint = best->of;
    s.joint_share = static_cast<double>(best->matched) / deforming;
    s.vertex = mirrored_vertices(mesh, skeleton, plane, context);
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled"};
    const auto unpaired = std::count(s.vertex.begin(), s.vertex.end(), no_index);
    const std::size_t n = s.vertex.size();
    s.vertex_share = n ? 1 - static_cast<double>(unpaired) / static_cast<double>(n) : 0;
    out = std::move(s);
    return out;
}

Result<SymmetryError> symmetry_error(const Symmetry& symmetry, const SkinWeights& weights, Context* context) {
    const std::size_t n = symmetry.vertex.size();
    if (weights.vertex_count() != n)
        return Error{ErrorCode::input, "the weights have rows for " + std::to_string(weights.vertex_count()) +
                                           " vertices, the symmetry for " + std::to_string(n)};
    std::vector<float> errors(n, -1.0f);
    std::vector<std::size_t> outside((n + 2047) / 2048, n);
    parallel_chunks(context, n, 2048, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        RowPair rows;
        std::vector<Influence> mirrored;
        for (std::size_t v = begin; v < end; ++v) {
            if (symmetry.vertex[v] == no_index) continue;
            mirrored.clear();
            double lost = 0;  // on joints without a partner: unmatched weight
            for (const Influence& i : weights[v]) {
                if (i.joint >= symmetry.joint.size()) {
                    outside[chunk] = std::min(outside[chunk], v);
                } else if (symmetry.joint[i.joint] == no_index) {
                    lost += i.weight;
                } else {
                    mirrored.push_back({symmetry.joint[i.joint], i.weight});
                }
            }
            errors[v] = static_cast<float>(lost + rows.l1(mirrored, weights[symmetry.vertex[v]]));
        }
    });
    for (const std::size_t v : outside)
        if (v != n)
            return Error{ErrorCode::input,
                         "vertex " + std::to_string(v) + " has a weight on a joint that is not in the symmetry"};
    std::erase_if(errors, [](float e) { return e < 0; });
    SymmetryError out;
    for (const float e : errors) out.mean += e;
    if (!errors.empty()) out.mean /= static_cast<double>(errors.size());
    out.p95 = percentile(errors, 0.95);
    out.max = percentile(errors, 1);
    return out;
}

}  // namespace sinew
