// clean_skin: weight that is implausible where it lies is removed, and what is open or noisy comes from its
// surroundings. docs/clean.md
#include <algorithm>
#include <numeric>

#include "core/forest.h"
#include "core/lists.h"
#include "core/try.h"
#include "quality/joint_reach.h"
#include "quality/skin_rules.h"
#include "surface/surface.h"

namespace sinew {
namespace {

// Chosen on two folders of characters, each judged without its own source: docs/notes/clean.md.
constexpr float kTouched = 0.01f;     // a patch of a joint's weight has more
constexpr double kMostOfPart = 0.5;   // of a part's area: its own weight, wherever the joint is
constexpr double kLeastLeft = 0.2;    // of a row after far weight went: less says nothing
constexpr double kUnlike = 0.6;       // L1 to the most similar neighbour
constexpr double kUnlikeSpread = 2;   // times the neighbours' own L1 to their mean
constexpr double kFarther = 0.5;      // voxels
constexpr double kLeastNoise = 0.01;  // rounding, and what finer shapes look like
constexpr double kFullNoise = 0.03;   // and more is smoothed in full
constexpr double kSmoothing = 5;      // of a node's edges against its own row
constexpr double kBorder = 0.3;       // L1 of an edge that nearly parts its ends
constexpr double kLeastEdge = 1e-3;   // of its weight that is left
constexpr int kRounds = 2;            // of finding borders
constexpr double kLeastShare = 0.12;  // of the strongest joint: less is noise where there is noise
constexpr double kCore = 0.5;         // the same: a patch of a joint that has this nowhere is noise, too
constexpr double kLeastFill = 0.01;   // the same where there is none
constexpr double kLeastKept = 5e-3;   // of a row
constexpr int kSteps = 5, kMostSteps = 200;
constexpr float kStill = 1e-3f;  // L1 of an open node in a step

/// The weights at nodes while they are cleaned. A node is a vertex, or those that a seam joins.
class Cleaning {
public:
    Cleaning(const MeshView& mesh, const Skeleton& skeleton, const SkinWeights& weights,
             const SkinCleanOptions& options, SkinCleanReport& report, Context* context)
        : mesh_(mesh),
          skeleton_(skeleton),
          weights_(weights),
          options_(options),
          report_(report),
          context_(context),
          topology_(analyse_mesh(mesh, context)) {
        MeshTopology seams = topology_;
        seams.weld = seam_sets(mesh, topology_);
        surface_ = build_surface(mesh, seams, context);
        nodes_ = surface_.nodes();
        around_ = Lists(nodes_, context, [&](const auto& to) {
            for (const MeshSurface::Edge& e : surface_.edges) to(e.a, e.b), to(e.b, e.a);
        });
        vertices_ = Lists(nodes_, context, [&](const auto& to) {
            for (std::uint32_t v = 0; v < surface_.node_of.size(); ++v)
                if (surface_.node_of[v] != MeshSurface::none) to(surface_.node_of[v], v);
        });
        link_nodes(nodes_, surface_.edges, first_, link_, [&](const MeshSurface::Edge& e, std::uint32_t to) {
            return Link{to, static_cast<std::uint32_t>(&e - surface_.edges.data())};
        });
        pull_.assign(nodes_, 0);
        for (const MeshSurface::Edge& e : surface_.edges) pull_[e.a] += e.weight, pull_[e.b] += e.weight;
    }

    Result<SkinWeights> run() {
        SINEW_TRY(average_seams());
        if (options_.strength > 0) SINEW_TRY(remove_implausible());
        keep_lost_parts();
        if (options_.strength > 0) report_.noise = noise();
        const double noisy = std::clamp((report_.noise - kLeastNoise) / (kFullNoise - kLeastNoise), 0.0, 1.0);
        if (noisy > 0) std::fill(changed_.begin(), changed_.end(), true);
        if (noisy > 0 || std::find(open_.begin(), open_.end(), true) != open_.end()) solve(noisy);
        if (cancelled(context_)) return Error{ErrorCode::cancelled, "cancelled while weights are cleaned"};
        return write();
    }

private:
    /// Rows of nodes: the mean of their vertices.
    Status average_seams() {
        std::vector<std::uint32_t> counts(nodes_);
        std::vector<Influence> all;
        changed_.assign(nodes_, false);
        RowPair rows;
        for (std::uint32_t i = 0; i < nodes_; ++i) {
            const std::span<const std::uint32_t> of = vertices_.of(i);
            std::vector<std::uint32_t> with;
            for (const std::uint32_t v : of)
                if (!weights_[v].empty()) with.push_back(v);
            if (with.size() < of.size() && !with.empty()) changed_[i] = true;
            for (const std::uint32_t v : with)
                if (rows.l1(weights_[v], weights_[with[0]]) > kTornL1) changed_[i] = true;
            if (changed_[i]) report_.welded += of.size();
            const InfluenceList row = mean_row(with, weights_);
            counts[i] = static_cast<std::uint32_t>(row.size());
            all.insert(all.end(), row.begin(), row.end());
        }
        SINEW_TRY_LET(rows_, SkinWeights::from_rows(counts, std::move(all)));
        open_.resize(nodes_);
        for (std::uint32_t i = 0; i < nodes_; ++i) open_[i] = rows_[i].empty();
        return Done{};
    }

    /// A node unlike all around it: it is wrong if its joints are farther away than those of its neighbours.
    struct Suspect {
        std::uint32_t node;
        std::vector<RowPair::Entry> row;  // a: its own, b: the mean of its neighbours
    };
    std::vector<Suspect> suspects() const {
        std::vector<std::uint8_t> unlike(nodes_, 0);
        parallel_chunks(context_, nodes_, 1024, [&](std::size_t, std::size_t begin, std::size_t end) {
            RowPair rows;
            for (std::size_t i = begin; i < end; ++i) {
                const std::span<const std::uint32_t> ring = around_.of(i);
                if (ring.size() < 3 || open_[i]) continue;
                double nearest = 2;
                for (const std::uint32_t n : ring) nearest = std::min(nearest, rows.l1(rows_[i], rows_[n]));
                if (!(nearest * options_.strength > kUnlike)) continue;
                const InfluenceList mean = mean_row(ring, rows_);
                double spread = 0;
                for (const std::uint32_t n : ring) spread += rows.l1(rows_[n], mean);
                spread /= static_cast<double>(ring.size());
                unlike[i] = rows.l1(rows_[i], mean) > kUnlikeSpread * spread;
            }
        });
        std::vector<Suspect> out;
        RowPair rows;
        for (std::uint32_t i = 0; i < nodes_; ++i)
            if (unlike[i]) {
                const auto row = rows.merge(rows_[i], mean_row(around_.of(i), rows_));
                out.push_back({i, {row.begin(), row.end()}});
            }
        return out;
    }

    /// The nodes at which the weight of a joint is implausible: its patches that lie far away from it as a whole.
    std::vector<std::uint32_t> far_nodes(std::uint32_t joint, const JointColumns& columns, const JointReach& reach,
                                         const std::vector<double>& area) const {
        std::vector<std::uint32_t> touched;
        std::vector<float> weight;
        std::vector<bool> far;
        std::vector<std::uint32_t> local(nodes_, no_index), out;
        bool any_far = false;
        for (std::size_t i = columns.first[joint]; i < columns.first[joint + 1]; ++i) {
            const std::uint32_t node = columns.vertex[i];
            const bool here = reach.far(surface_.vertex_of[node], options_.strength);
            if (columns.weight[i] <= kTouched) {
                if (here) out.push_back(node);  // a trace: it goes where something else goes
                continue;
            }
            local[node] = static_cast<std::uint32_t>(touched.size());
            touched.push_back(node);
            weight.push_back(columns.weight[i]);
            far.push_back(here);
            any_far = any_far || here;
        }
        if (!any_far) return {};
        Forest patches(touched.size());
        std::vector<std::uint32_t> at(mesh_.positions.size(),
                                      no_index);  // positions: parts that touch are connected
        for (std::uint32_t k = 0; k < touched.size(); ++k) {
            for (const std::uint32_t n : around_.of(touched[k]))
                if (local[n] != no_index) patches.join(k, local[n]);
            std::uint32_t& first = at[topology_.weld[surface_.vertex_of[touched[k]]]];
            if (first == no_index) first = k;
            patches.join(k, first);
        }
        const std::vector<std::uint32_t> patch = patches.roots();
        std::vector<double> mass(touched.size(), 0);
        std::vector<bool> near(touched.size(), false);
        bool any_near = false;
        for (std::size_t k = 0; k < touched.size(); ++k) {
            mass[patch[k]] += surface_.mass[touched[k]] * weight[k];
            if (!far[k]) near[patch[k]] = any_near = true;
        }
        // A joint that is far from all of its weight, such as one of a cape, keeps most of it.
        if (!any_near)
            near[static_cast<std::size_t>(std::max_element(mass.begin(), mass.end()) - mass.begin())] = true;
        for (std::size_t k = 0; k < touched.size(); ++k)
            if (!near[patch[k]] && mass[patch[k]] < kMostOfPart * area[surface_.component[touched[k]]])
                out.push_back(touched[k]);
        return out;
    }

    Status remove_implausible() {
        const std::size_t joints = skeleton_.joints.size();
        const JointColumns columns(rows_, joints);
        std::vector<std::uint32_t> used;
        for (std::uint32_t j = 0; j < joints; ++j)
            if (columns.uses(j)) used.push_back(j);
        if (used.size() < 2) return Done{};
        std::vector<double> area(surface_.components, 0);
        for (std::uint32_t i = 0; i < nodes_; ++i) area[surface_.component[i]] += surface_.mass[i];
        const std::vector<Suspect> suspected = suspects();
        std::vector<std::vector<std::uint32_t>> far(joints);
        std::vector<std::vector<double>> farther(joints);  // of suspects: what a joint adds to the mean distance
        SINEW_TRY(each_joint_reach(
            mesh_, topology_, skeleton_, used, options_.resolution,
            [&](std::uint32_t joint, const JointReach& reach) {
                far[joint] = far_nodes(joint, columns, reach, area);
                for (const Suspect& s : suspected) {
                    double sum = 0;
                    for (const RowPair::Entry& e : s.row)
                        if (e.joint == joint)
                            sum = (double{e.a} - e.b) * reach.distance(surface_.vertex_of[s.node]);
                    farther[joint].push_back(sum);
                }
            },
            context_));

        std::vector<std::vector<std::uint32_t>> gone(nodes_);
        for (std::uint32_t j = 0; j < joints; ++j)
            for (const std::uint32_t node : far[j]) gone[node].push_back(j);
        std::vector<std::uint32_t> counts(nodes_);
        std::vector<Influence> all;
        for (std::uint32_t i = 0; i < nodes_; ++i) {
            const auto stays = [&](const Influence& w) {
                return std::find(gone[i].begin(), gone[i].end(), w.joint) == gone[i].end();
            };
            float left = 0;
            bool more_than_a_trace = false;
            for (const Influence& w : rows_[i]) {
                if (stays(w)) left += w.weight;
                more_than_a_trace = more_than_a_trace || (w.weight > kTouched && !stays(w));
            }
            if (!more_than_a_trace) {
                gone[i].clear();
            } else {
                changed_[i] = true;
                report_.pulled += vertices_.of(i).size();
                if (left < kLeastLeft) open_[i] = true;
            }
            for (const Influence& w : rows_[i])
                if (open_[i] || stays(w)) {
                    all.push_back(w);
                    ++counts[i];
                }
        }
        for (std::size_t k = 0; k < suspected.size(); ++k) {
            double sum = 0;
            for (const std::uint32_t j : used) sum += farther[j][k];
            if (sum > kFarther && gone[suspected[k].node].empty()) open_[suspected[k].node] = true;
        }
        SINEW_TRY_LET(rows_, SkinWeights::from_rows(counts, std::move(all)));
        return Done{};
    }

    /// Parts without any row that can be believed keep theirs.
    void keep_lost_parts() {
        std::vector<bool> known(surface_.components, false);
        for (std::uint32_t i = 0; i < nodes_; ++i)
            if (!open_[i]) known[surface_.component[i]] = true;
        for (std::uint32_t i = 0; i < nodes_; ++i) {
            if (!open_[i]) continue;
            open_[i] = known[surface_.component[i]];
            changed_[i] = open_[i];
            if (open_[i]) report_.filled += vertices_.of(i).size();
        }
    }

    std::vector<std::uint32_t> used_joints() const {
        const std::vector<double> use = joint_use(rows_, skeleton_.joints.size());
        std::vector<std::uint32_t> out;
        for (std::uint32_t j = 0; j < use.size(); ++j)
            if (use[j] > 0) out.push_back(j);
        return out;
    }

    /// The standard deviation of what rows have that their neighbours do not share. If y is smooth, what the mean
    /// of its neighbours lacks of it changes slowly over the surface. White noise of variance s² gives neighbours
    /// of six edges each and two in common -s² (2/6 - 2/36): only noise makes them opposed. Borders hide it, so the
    /// largest counts that some of the quietest nodes show.
    double noise() const {
        constexpr double expected = 2.0 / 6 - 2.0 / 36;
        std::vector<InfluenceList> rest(nodes_);
        std::vector<double> size(nodes_, 0);
        std::vector<std::uint8_t> measured(nodes_, 0);
        parallel_chunks(context_, nodes_, 1024, [&](std::size_t, std::size_t begin, std::size_t end) {
            InfluenceList sum;
            for (std::size_t i = begin; i < end; ++i) {
                const std::span<const Link> links(link_.data() + first_[i], link_.data() + first_[i + 1]);
                measured[i] = links.size() > 2 && !open_[i] &&
                              std::none_of(links.begin(), links.end(), [&](const Link& l) { return open_[l.to]; });
                if (!measured[i]) continue;
                sum.assign(rows_[i].begin(), rows_[i].end());
                for (const Link& l : links)
                    for (const Influence& k : rows_[l.to])
                        sum.push_back(
                            {k.joint, static_cast<float>(-surface_.edges[l.edge].weight / pull_[i] * k.weight)});
                std::sort(sum.begin(), sum.end(), [](const Influence& a, const Influence& b) {
                    return a.joint != b.joint ? a.joint < b.joint : a.weight < b.weight;
                });
                for (const Influence& k : sum)
                    if (!rest[i].empty() && rest[i].back().joint == k.joint)
                        rest[i].back().weight += k.weight;
                    else
                        rest[i].push_back(k);
                for (const Influence& k : rest[i]) size[i] += double{k.weight} * k.weight;
            }
        });
        std::vector<double> sizes;
        for (std::uint32_t i = 0; i < nodes_; ++i)
            if (measured[i]) sizes.push_back(size[i]);
        if (sizes.empty()) return 0;
        std::sort(sizes.begin(), sizes.end());
        double most = 0;
        for (const double quietest : {0.5, 0.6, 0.7}) {
            const double limit = sizes[static_cast<std::size_t>(quietest * static_cast<double>(sizes.size() - 1))];
            double sum = 0;
            std::size_t edges = 0;
            for (const MeshSurface::Edge& e : surface_.edges)
                if (measured[e.a] && measured[e.b] && size[e.a] <= limit && size[e.b] <= limit) {
                    sum += common(rest[e.a], rest[e.b]);
                    ++edges;
                }
            if (sum < 0) most = std::max(most, -sum / static_cast<double>(edges) / expected);
        }
        return std::sqrt(most);
    }

    static bool by_joint(const Influence& a, const Influence& b) { return a.joint < b.joint; }
    static double l1(const InfluenceList& a, const InfluenceList& b) {
        double sum = 0;
        auto at = b.begin();
        for (const Influence& k : a) {
            for (; at != b.end() && at->joint < k.joint; ++at) sum += at->weight;
            const bool both = at != b.end() && at->joint == k.joint;
            sum += std::abs(double{k.weight} - (both ? at->weight : 0));
            at += both;
        }
        for (; at != b.end(); ++at) sum += at->weight;
        return sum;
    }
    /// Σ of the products of two rows by joint.
    static double common(const InfluenceList& a, const InfluenceList& b) {
        double sum = 0;
        auto at = b.begin();
        for (const Influence& k : a) {
            while (at != b.end() && at->joint < k.joint) ++at;
            if (at != b.end() && at->joint == k.joint) sum += double{k.weight} * at->weight;
        }
        return sum;
    }

    /// Minimises Σ c |x - y|² + Σ over edges of w g |x_a - x_b|², with c = 0 at open nodes. g falls where the rows
    /// of an earlier solution differ, so that borders stay (half-quadratic: Geman and Reynolds 1992).
    void solve(double noisy) {
        const double smoothing = kSmoothing * options_.strength * noisy;
        std::vector<double> edge(surface_.edges.size());
        for (std::size_t e = 0; e < edge.size(); ++e) edge[e] = surface_.edges[e].weight;
        solved_.assign(nodes_, {});
        parallel_for(context_, nodes_, 1024, [&](std::size_t i) {
            if (open_[i]) return;
            solved_[i].assign(rows_[i].begin(), rows_[i].end());
            std::sort(solved_[i].begin(), solved_[i].end(), by_joint);
        });
        relax(edge, smoothing);
        for (int round = 0; round < (noisy > 0 ? kRounds : 0); ++round) {
            parallel_for(context_, edge.size(), 1024, [&](std::size_t k) {
                const MeshSurface::Edge& e = surface_.edges[k];
                const double d = l1(solved_[e.a], solved_[e.b]) / kBorder;
                edge[k] = e.weight * std::max(std::exp(-d * d), kLeastEdge);
            });
            relax(edge, smoothing);
        }
        const double least = std::max(kLeastFill, std::min(kLeastShare * options_.strength, kCore) * noisy);
        parallel_for(context_, nodes_, 1024, [&](std::size_t i) {
            InfluenceList& row = solved_[i];
            if (noisy == 0 && !open_[i]) row.clear();
            float most = 0;
            for (const Influence& k : row) most = std::max(most, k.weight);
            for (Influence& k : row) k.weight /= most;
            std::erase_if(row, [&](const Influence& k) { return k.weight < least; });
        });
        if (noisy > 0) drop_patches(kCore * std::min(options_.strength, 1.0) * noisy);
    }

    /// Jacobi's iteration from the solution so far, at all nodes or, without smoothing, at open ones. Rows are
    /// short, which makes a step cheaper than one of any solver by joints, and it starts close: steps enough for
    /// what is rough, and until open nodes are filled.
    void relax(const std::vector<double>& edge, double smoothing) {
        std::vector<std::uint32_t> all_nodes(nodes_), open;
        std::iota(all_nodes.begin(), all_nodes.end(), 0u);
        std::copy_if(all_nodes.begin(), all_nodes.end(), std::back_inserter(open),
                     [&](std::uint32_t i) { return open_[i]; });
        std::vector<InfluenceList> next(nodes_);
        std::vector<float> moved(nodes_);
        for (int step = smoothing > 0 ? 0 : kSteps; step < kMostSteps && !cancelled(context_); ++step) {
            const std::vector<std::uint32_t>& nodes = step < kSteps ? all_nodes : open;
            parallel_chunks(context_, nodes.size(), 512, [&](std::size_t, std::size_t begin, std::size_t end) {
                std::vector<double> sum(skeleton_.joints.size(), 0);
                std::vector<std::uint32_t> touched;
                const auto add = [&](std::span<const Influence> row, double factor) {
                    for (const Influence& w : row) {
                        if (sum[w.joint] == 0) touched.push_back(w.joint);
                        sum[w.joint] += factor * w.weight;
                    }
                };
                for (std::size_t k = begin; k < end; ++k) {
                    const std::uint32_t i = nodes[k];
                    if (!open_[i]) add(rows_[i], pull_[i] / smoothing);
                    for (std::uint32_t l = first_[i]; l < first_[i + 1]; ++l)
                        add(solved_[link_[l].to], edge[link_[l].edge]);
                    double all = 0;
                    for (const std::uint32_t j : touched) all += sum[j];
                    std::sort(touched.begin(), touched.end());
                    next[k].clear();
                    for (const std::uint32_t j : touched) {
                        if (sum[j] > kLeastKept * all) next[k].push_back({j, static_cast<float>(sum[j] / all)});
                        sum[j] = 0;
                    }
                    touched.clear();
                    moved[k] = open_[i] ? static_cast<float>(l1(next[k], solved_[i])) : 0;
                }
            });
            parallel_for(context_, nodes.size(), 4096, [&](std::size_t k) { solved_[nodes[k]].swap(next[k]); });
            const auto end = moved.begin() + static_cast<std::ptrdiff_t>(nodes.size());
            if (step >= kSteps && std::none_of(moved.begin(), end, [](float m) { return m > kStill; })) break;
        }
    }

    /// Drops from solutions, relative to the strongest joint of a node, the patches of a joint that reach `core`
    /// nowhere.
    void drop_patches(double core) {
        const std::vector<std::uint32_t> joints = used_joints();
        parallel_chunks(context_, joints.size(), 1, [&](std::size_t k, std::size_t, std::size_t) {
            std::vector<Influence*> entry(nodes_, nullptr);
            for (std::uint32_t i = 0; i < nodes_; ++i)
                for (Influence& w : solved_[i])
                    if (w.joint == joints[k]) entry[i] = &w;
            Forest patches(nodes_);
            for (const MeshSurface::Edge& e : surface_.edges)
                if (entry[e.a] && entry[e.b]) patches.join(e.a, e.b);
            std::vector<float> most(nodes_, 0);
            for (std::uint32_t i = 0; i < nodes_; ++i)
                if (entry[i]) most[patches.root(i)] = std::max(most[patches.root(i)], entry[i]->weight);
            for (std::uint32_t i = 0; i < nodes_; ++i)
                if (entry[i] && most[patches.root(i)] < static_cast<float>(core)) entry[i]->weight = 0;
        });
        parallel_for(context_, nodes_, 1024, [&](std::size_t i) {
            std::erase_if(solved_[i], [](const Influence& w) { return w.weight == 0; });
        });
    }

    Result<SkinWeights> write() {
        const std::size_t n = weights_.vertex_count();
        std::vector<std::uint32_t> counts(n);
        std::vector<Influence> all;
        std::vector<bool> fresh(n, false);
        for (std::uint32_t v = 0; v < n; ++v) {
            const std::uint32_t node = surface_.node_of[v];
            std::span<const Influence> row = weights_[v];
            if (node != MeshSurface::none && changed_[node]) {
                fresh[v] = true;
                row = rows_[node];
                if (!solved_.empty() && !solved_[node].empty()) {
                    std::sort(solved_[node].begin(), solved_[node].end(),
                              [](const Influence& a, const Influence& b) {
                                  return a.weight != b.weight ? a.weight > b.weight : a.joint < b.joint;
                              });
                    row = solved_[node];
                }
                if (options_.max_influences != all_influences)
                    row = row.first(std::min(row.size(), static_cast<std::size_t>(options_.max_influences)));
            }
            counts[v] = static_cast<std::uint32_t>(row.size());
            all.insert(all.end(), row.begin(), row.end());
        }
        SINEW_TRY_LET(SkinWeights out, SkinWeights::from_rows(counts, std::move(all)));
        RowPair rows;
        for (std::size_t v = 0; v < n; ++v)
            if (fresh[v]) report_.change += rows.l1(weights_[v], out[v]);
        report_.change /= std::max<double>(static_cast<double>(n), 1);
        return out;
    }

    const MeshView& mesh_;
    const Skeleton& skeleton_;
    const SkinWeights& weights_;
    const SkinCleanOptions& options_;
    SkinCleanReport& report_;
    Context* const context_;
    const MeshTopology topology_;
    MeshSurface surface_;
    std::size_t nodes_ = 0;
    Lists around_, vertices_;  // of nodes: neighbours, and vertices
    struct Link {
        std::uint32_t to, edge;
    };
    std::vector<std::uint32_t> first_;  // of the links of nodes
    std::vector<Link> link_;
    std::vector<double> pull_;  // of nodes: the weight of their edges
    SkinWeights rows_;          // of nodes
    std::vector<bool> open_, changed_;
    std::vector<InfluenceList> solved_;  // of nodes, or empty
};

}  // namespace

Status check(const SkinCleanOptions& options) {
    if (!(options.strength >= 0 && options.strength <= 4))  // NaN fails
        return Error{ErrorCode::usage, "clean: the strength must be from 0 to 4"};
    if (options.resolution < 16 || options.resolution > 1024)
        return Error{ErrorCode::usage, "clean: the resolution must be from 16 to 1024"};
    return check(FinishOptions{options.max_influences, LimitRule::cut, 0});
}

Result<SkinWeights> clean_skin(const MeshView& mesh, const Skeleton& skeleton, const SkinWeights& weights,
                               const SkinCleanOptions& options, SkinCleanReport* report, Context* context) {
    SINEW_TRY(check(options));
    SINEW_TRY(check_mesh(mesh));
    SINEW_TRY(check_skeleton(skeleton));
    SINEW_TRY(check_fit(mesh, skeleton, weights, "the weights"));
    SkinCleanReport done;
    SINEW_TRY_LET(SkinWeights out, Cleaning(mesh, skeleton, weights, options, done, context).run());
    if (report) *report = done;
    return out;
}

}  // namespace sinew
