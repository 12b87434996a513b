#include "quality/difference.h"

#include <map>
#include <string>

namespace sinew {

namespace {

/// The joint with the largest weight; rows are sorted by weight, ties by index.
std::uint32_t strongest(std::span<const Influence> row) { return row.empty() ? no_index : row[0].joint; }

/// Sums of one chunk of vertices.
struct Sums {
    std::vector<JointComparison> joints;
    std::size_t agree = 0, unweighted_a = 0, unweighted_b = 0, most_a = 0, most_b = 0;
    double trimmed_l1 = 0;
    std::size_t trimmed_a = 0, trimmed_b = 0, trimmed_both = 0;
};

constexpr float kTrimBelow = 1e-3f, kTrimShare = 0.15f;

void add(JointComparison& to, const JointComparison& from) {
    to.mass_a += from.mass_a;
    to.mass_b += from.mass_b;
    to.l1 += from.l1;
    to.strongest_a += from.strongest_a;
    to.strongest_b += from.strongest_b;
    to.strongest_both += from.strongest_both;
    to.influences_a += from.influences_a;
    to.influences_b += from.influences_b;
    to.influences_both += from.influences_both;
}

double ratio(std::size_t part, std::size_t whole) {
    return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace

Status check_fit(const MeshView& mesh, const Skeleton& skeleton, const SkinWeights& weights, const char* which) {
    if (weights.vertex_count() != mesh.positions.size())
        return Error{ErrorCode::input, std::string(which) + " have rows for " +
                                           std::to_string(weights.vertex_count()) + " vertices, but the mesh has " +
                                           std::to_string(mesh.positions.size())};
    for (std::size_t v = 0; v < weights.vertex_count(); ++v)
        for (const Influence& i : weights[v])
            if (i.joint >= skeleton.joints.size())
                return Error{ErrorCode::input, std::string(which) + " have a weight of vertex " +
                                                   std::to_string(v) + " on joint " + std::to_string(i.joint) +
                                                   ", but the skeleton has only " +
                                                   std::to_string(skeleton.joints.size()) + " joints"};
    return Done{};
}

double percentile(std::vector<float>& values, double share) {
    if (values.empty()) return 0;
    const double rank = share * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(rank);
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(low);
    std::nth_element(values.begin(), at, values.end());
    if (low + 1 == values.size()) return *at;
    const double next = *std::min_element(at + 1, values.end());
    return *at + (rank - static_cast<double>(low)) * (next - *at);
}

std::size_t count_torn(const MeshTopology& topology, const SkinWeights& weights) {
    constexpr double tolerance = 1e-3;
    RowPair rows;
    std::size_t torn = 0;
    const std::size_t n = std::min(topology.weld.size(), weights.vertex_count());
    for (std::size_t v = 0; v < n; ++v) {
        const std::uint32_t first = topology.weld[v];
        torn += first != v && first < n && rows.l1(weights[v], weights[first]) > tolerance;
    }
    return torn;
}

namespace {

/// The row without its small weights, normalised. Rows are sorted by weight.
void trim(std::span<const Influence> row, std::vector<Influence>& out) {
    out.clear();
    float sum = 0;
    for (const Influence& i : row)
        if (i.weight > kTrimBelow && i.weight >= kTrimShare * row[0].weight) out.push_back(i), sum += i.weight;
    for (Influence& i : out) i.weight /= sum;
}

void add_trimmed(std::span<const Influence> a, std::span<const Influence> b, RowPair& rows, Sums& sums) {
    for (const RowPair::Entry& e : rows.merge(a, b)) {
        sums.trimmed_l1 += std::abs(double{e.a} - e.b);
        sums.trimmed_a += e.a > 0;
        sums.trimmed_b += e.b > 0;
        sums.trimmed_both += e.a > 0 && e.b > 0;
    }
}

// Adds the rows of one vertex. Returns their L1 distance.
double add_rows(std::span<const Influence> a, std::span<const Influence> b, double threshold, RowPair& rows,
                Sums& sums) {
    double l1 = 0;
    std::size_t count_a = 0, count_b = 0;
    for (const RowPair::Entry& e : rows.merge(a, b)) {
        JointComparison& joint = sums.joints[e.joint];
        const double difference = std::abs(double{e.a} - e.b);
        const bool in_a = e.a > threshold, in_b = e.b > threshold;
        l1 += difference;
        joint.mass_a += e.a;
        joint.mass_b += e.b;
        joint.l1 += difference;
        joint.influences_a += in_a;
        joint.influences_b += in_b;
        joint.influences_both += in_a && in_b;
        count_a += in_a;
        count_b += in_b;
    }
    const std::uint32_t top_a = strongest(a), top_b = strongest(b);
    if (top_a != no_index) ++sums.joints[top_a].strongest_a;
    if (top_b != no_index) ++sums.joints[top_b].strongest_b;
    if (top_a == top_b) {
        ++sums.agree;
        if (top_a != no_index) ++sums.joints[top_a].strongest_both;
    }
    sums.unweighted_a += a.empty();
    sums.unweighted_b += b.empty();
    sums.most_a = std::max(sums.most_a, count_a);
    sums.most_b = std::max(sums.most_b, count_b);
    return l1;
}

Sums add_parts(const std::vector<Sums>& parts, std::size_t joint_count) {
    Sums all;
    all.joints.resize(joint_count);
    for (const Sums& part : parts) {
        for (std::size_t j = 0; j < joint_count; ++j) add(all.joints[j], part.joints[j]);
        all.agree += part.agree;
        all.unweighted_a += part.unweighted_a;
        all.unweighted_b += part.unweighted_b;
        all.most_a = std::max(all.most_a, part.most_a);
        all.most_b = std::max(all.most_b, part.most_b);
        all.trimmed_l1 += part.trimmed_l1;
        all.trimmed_a += part.trimmed_a;
        all.trimmed_b += part.trimmed_b;
        all.trimmed_both += part.trimmed_both;
    }
    return all;
}

void compare_joints(Sums& all, std::size_t vertices, Comparison& out) {
    double total = 0;
    std::size_t in_a = 0, in_b = 0, in_both = 0;
    for (std::size_t j = 0; j < all.joints.size(); ++j) {
        JointComparison& joint = all.joints[j];
        joint.joint = static_cast<std::uint32_t>(j);
        total += joint.l1;
        in_a += joint.influences_a;
        in_b += joint.influences_b;
        in_both += joint.influences_both;
        out.a.joints += joint.mass_a > 0;
        out.b.joints += joint.mass_b > 0;
        if (joint.mass_a > 0 || joint.mass_b > 0) out.joints.push_back(joint);
    }
    for (JointComparison& joint : out.joints) joint.l1_share = total > 0 ? joint.l1 / total : 0;
    std::sort(out.joints.begin(), out.joints.end(), [](const JointComparison& x, const JointComparison& y) {
        return x.l1 != y.l1 ? x.l1 > y.l1 : x.joint < y.joint;
    });
    out.l1.mean = vertices ? total / static_cast<double>(vertices) : 0;
    out.precision = ratio(in_both, in_b);
    out.recall = ratio(in_both, in_a);
    out.strongest_agreement = ratio(all.agree, vertices);
    out.trimmed = {vertices ? all.trimmed_l1 / static_cast<double>(vertices) : 0,
                   ratio(all.trimmed_both, all.trimmed_b), ratio(all.trimmed_both, all.trimmed_a)};
    out.a.unweighted = all.unweighted_a;
    out.b.unweighted = all.unweighted_b;
    out.a.max_influences = all.most_a;
    out.b.max_influences = all.most_b;
    out.a.mean_influences = ratio(in_a, vertices);
    out.b.mean_influences = ratio(in_b, vertices);
}

std::vector<std::uint32_t> find_worst(const std::vector<float>& vertex_l1, std::size_t most) {
    std::vector<std::uint32_t> worst;
    for (std::size_t v = 0; v < vertex_l1.size(); ++v)
        if (vertex_l1[v] > 0) worst.push_back(static_cast<std::uint32_t>(v));
    const std::size_t keep = std::min(worst.size(), most);
    std::partial_sort(worst.begin(), worst.begin() + static_cast<std::ptrdiff_t>(keep), worst.end(),
                      [&](std::uint32_t x, std::uint32_t y) {
                          return vertex_l1[x] != vertex_l1[y] ? vertex_l1[x] > vertex_l1[y] : x < y;
                      });
    worst.resize(keep);
    worst.shrink_to_fit();
    return worst;
}

}  // namespace

Status measure_difference(const SkinWeights& a, const SkinWeights& b, std::size_t joint_count,
                          const CompareOptions& options, Context* context, Comparison& out) {
    const std::size_t n = a.vertex_count(), grain = sum_grain(n, joint_count);
    out.vertex_l1.assign(n, 0);
    std::vector<Sums> parts((n + grain - 1) / grain);
    parallel_chunks(context, n, grain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        if (cancelled(context)) return;
        Sums& sums = parts[chunk];
        sums.joints.resize(joint_count);
        RowPair rows;
        std::vector<Influence> trimmed_a, trimmed_b;
        for (std::size_t v = begin; v < end; ++v) {
            out.vertex_l1[v] = static_cast<float>(add_rows(a[v], b[v], options.threshold, rows, sums));
            trim(a[v], trimmed_a);
            trim(b[v], trimmed_b);
            add_trimmed(trimmed_a, trimmed_b, rows, sums);
        }
    });
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled"};
    Sums all = add_parts(parts, joint_count);
    compare_joints(all, n, out);
    std::vector<float> values = out.vertex_l1;
    out.l1.median = percentile(values, 0.5);
    out.l1.p95 = percentile(values, 0.95);
    out.l1.max = percentile(values, 1);
    out.worst_vertices = find_worst(out.vertex_l1, static_cast<std::size_t>(options.worst_vertices));
    return Done{};
}

JointMatch match_joints(const Skeleton& reference, const Skeleton& other) {
    JointMatch match;
    match.skeleton = reference;
    const std::size_t n = reference.joints.size(), m = other.joints.size();
    match.same_list = n == m && std::equal(reference.joints.begin(), reference.joints.end(), other.joints.begin(),
                                           [](const Joint& a, const Joint& b) { return a.name == b.name; });
    match.joint_of.assign(m, no_index);
    std::vector<bool> found(n, match.same_list);
    if (match.same_list) {
        for (std::size_t j = 0; j < m; ++j) match.joint_of[j] = static_cast<std::uint32_t>(j);
    } else {
        std::map<std::string, std::vector<std::uint32_t>> named;  // in reverse order
        for (std::size_t j = n; j-- > 0;) named[reference.joints[j].name].push_back(static_cast<std::uint32_t>(j));
        for (std::size_t j = 0; j < m; ++j) {
            const auto at = named.find(other.joints[j].name);
            if (at == named.end() || at->second.empty()) continue;
            match.joint_of[j] = at->second.back();
            found[at->second.back()] = true;
            at->second.pop_back();
        }
    }
    for (std::size_t j = 0; j < m; ++j) {
        if (match.joint_of[j] != no_index) continue;
        match.joint_of[j] = static_cast<std::uint32_t>(match.skeleton.joints.size());
        match.only_other.push_back(match.joint_of[j]);
        match.skeleton.joints.push_back(other.joints[j]);
    }
    // Parents last: a parent may have been added after its child.
    for (std::size_t j = 0; j < m; ++j) {
        const std::uint32_t at = match.joint_of[j];
        if (at < n) continue;
        const int parent = other.joints[j].parent;
        match.skeleton.joints[at].parent =
            parent < 0 ? -1 : static_cast<int>(match.joint_of[static_cast<std::size_t>(parent)]);
    }
    for (std::size_t j = 0; j < n; ++j)
        if (!found[j]) match.only_reference.push_back(static_cast<std::uint32_t>(j));
    return match;
}

Result<SkinWeights> renumber(const SkinWeights& weights, std::span<const std::uint32_t> joint_of) {
    std::vector<std::uint32_t> counts;
    std::vector<Influence> all;
    for (std::size_t v = 0; v < weights.vertex_count(); ++v) {
        counts.push_back(static_cast<std::uint32_t>(weights[v].size()));
        for (const Influence& i : weights[v]) {
            if (i.joint >= joint_of.size())
                return Error{ErrorCode::input, "vertex " + std::to_string(v) + " has a weight on joint " +
                                                   std::to_string(i.joint) + ", which has no new number"};
            all.push_back({joint_of[i.joint], i.weight});
        }
    }
    return SkinWeights::from_rows(counts, std::move(all));
}

}  // namespace sinew
