// clean_skin: weight that is implausible where it lies is removed, and what is open or noisy comes from its
// surroundings. docs/clean.md
#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include "core/forest.h"
#include "core/lists.h"
#include "core/try.h"
#include "quality/joint_reach.h"
#include "quality/skin_rules.h"
#include "surface/surface.h"

namespace sinew {
namespace {

// Chosen on two folders of characters, each judged without its own source: docs/notes/clean.md.
constexpr float kTouched = 0.01f;      // a patch of a joint's weight has more
constexpr double kMostOfPart = 0.5;    // of a part's area: its own weight, wherever the joint is
constexpr double kLeastLeft = 0.2;     // of a row after far weight went: less says nothing
constexpr double kUnlike = 0.6;        // L1 to the most similar neighbour
constexpr double kUnlikeSpread = 2;    // times the neighbours' own L1 to their mean
constexpr double kFarther = 0.5;       // voxels
constexpr double kLeastNoise = 0.003;  // rounding, and what finer shapes look like
constexpr double kFullNoise = 0.01;    // and more is smoothed in full
constexpr double kSmoothing = 3;       // of a node's edges against its own row
constexpr double kBorder = 0.3;        // L1 of an edge that nearly parts its ends
constexpr double kLeastEdge = 1e-3;    // of its weight that is left
constexpr int kRounds = 2;             // of finding borders
constexpr double kMirrored = 0.6;      // the same of a node and the one across the mirror plane
constexpr double kLeastShare = 0.6;    // times the noise: less weight is noise
constexpr double kCore = 0.3;          // of the strongest joint: a patch that has this nowhere is noise, too
constexpr double kLeastFill = 0.01;    // of the strongest joint
constexpr double kLeastKept = 0.02;    // of a row
constexpr int kSteps = 3, kMostSteps = 200;
constexpr double kStill = 1e-3;  // L1 of an open node in a step

/// Calls use(x, y) for each joint of two rows by joint; null: the row does not have it.
template <typename Use>
void each_of_both(const InfluenceList& a, const InfluenceList& b, const Use& use) {
    for (auto x = a.begin(), y = b.begin(); x != a.end() || y != b.end();) {
        const bool first = y == b.end() || (x != a.end() && x->joint <= y->joint);
        const bool second = x == a.end() || (y != b.end() && y->joint <= x->joint);
        use(first ? &*x : nullptr, second ? &*y : nullptr);
        x += first, y += second;
    }
}

double l1(const InfluenceList& a, const InfluenceList& b) {
    double sum = 0;
    each_of_both(a, b, [&](const Influence* x, const Influence* y) {
        sum += std::abs(double{x ? x->weight : 0} - (y ? y->weight : 0));
    });
    return sum;
}

/// Σ of the products by joint.
double product(const InfluenceList& a, const InfluenceList& b) {
    double sum = 0;
    each_of_both(a, b, [&](const Influence* x, const Influence* y) {
        if (x && y) sum += double{x->weight} * y->weight;
    });
    return sum;
}

/// Drops what is below `least` of the whole, and scales the rest to 1.
void normalise(InfluenceList& row, double least = 0) {
    double all = 0, kept = 0;
    for (const Influence& w : row) all += w.weight;
    std::erase_if(row, [&](const Influence& w) { return !(w.weight > least * all); });
    for (const Influence& w : row) kept += w.weight;
    for (Influence& w : row) w.weight = static_cast<float>(w.weight / kept);
}

/// A sum of rows.
class RowSum {
public:
    explicit RowSum(std::size_t joints) : sum_(joints, 0), has_(joints, false) {}
    void add(std::span<const Influence> row, double factor) {
        for (const Influence& w : row) {
            if (!has_[w.joint]) joints_.push_back(w.joint);
            has_[w.joint] = true;
            sum_[w.joint] += factor * w.weight;
        }
    }
    /// By joint. Then it is empty.
    void take(InfluenceList& out) {
        std::sort(joints_.begin(), joints_.end());
        out.clear();
        for (const std::uint32_t j : joints_) {
            out.push_back({j, static_cast<float>(sum_[j])});
            sum_[j] = 0;
            has_[j] = false;
        }
        joints_.clear();
    }

private:
    std::vector<double> sum_;
    std::vector<std::uint8_t> has_;
    std::vector<std::uint32_t> joints_;
};

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
        average_seams();
        if (options_.strength > 0) SINEW_TRY(remove_implausible());
        keep_lost_parts();
        const Noise found = options_.strength > 0 ? noise() : Noise{};
        report_.noise = found.size;
        if (found.due > 0) std::fill(changed_.begin(), changed_.end(), true);
        if (found.due > 0 || std::find(open_.begin(), open_.end(), true) != open_.end())
            SINEW_TRY(solve(found.due));
        if (cancelled(context_)) return Error{ErrorCode::cancelled, "cancelled while weights are cleaned"};
        return write();
    }

private:
    struct Link {
        std::uint32_t to, edge;
    };
    using Rows = std::vector<InfluenceList>;  // of nodes, each by joint

    std::span<const Link> links(std::size_t node) const {
        return {link_.data() + first_[node], link_.data() + first_[node + 1]};
    }
    /// use(node, an empty sum), from several threads.
    template <typename Use>
    void each_node(const Use& use) const {
        parallel_chunks(context_, nodes_, 1024, [&](std::size_t, std::size_t begin, std::size_t end) {
            RowSum sum(skeleton_.joints.size());
            for (std::size_t i = begin; i < end; ++i) use(static_cast<std::uint32_t>(i), sum);
        });
    }
    void change(std::uint32_t node, std::size_t& vertices) {
        changed_[node] = true;
        vertices += vertices_.of(node).size();
    }

    /// Rows of nodes: the mean of their vertices.
    void average_seams() {
        rows_.resize(nodes_);
        std::vector<std::uint8_t> torn(nodes_, 0);
        each_node([&](std::uint32_t i, RowSum& sum) {
            const std::span<const std::uint32_t> of = vertices_.of(i);
            RowPair pair;
            std::span<const Influence> one;
            for (const std::uint32_t v : of) {
                if (weights_[v].empty()) continue;
                torn[i] |= !one.empty() && pair.l1(weights_[v], one) > kTornL1;
                if (one.empty()) one = weights_[v];
                sum.add(weights_[v], 1);
            }
            for (const std::uint32_t v : of) torn[i] |= weights_[v].empty() && !one.empty();
            sum.take(rows_[i]);
            normalise(rows_[i]);
        });
        changed_.assign(nodes_, false);
        open_.resize(nodes_);
        for (std::uint32_t i = 0; i < nodes_; ++i) {
            if (torn[i]) change(i, report_.welded);
            open_[i] = rows_[i].empty();
        }
    }

    /// A node unlike all around it: it is wrong if its joints are farther away than those of its neighbours.
    struct Suspect {
        std::uint32_t node;
        InfluenceList more;  // its own row without the mean of its neighbours
    };
    std::vector<Suspect> suspects() const {
        Rows more(nodes_);
        each_node([&](std::uint32_t i, RowSum& sum) {
            const std::span<const Link> ring = links(i);
            const auto alike = [&](const Link& l) {
                return l1(rows_[i], rows_[l.to]) * options_.strength <= kUnlike;
            };
            if (ring.size() < 3 || open_[i] || std::any_of(ring.begin(), ring.end(), alike)) return;
            const double share = 1 / static_cast<double>(ring.size());
            InfluenceList mean;
            for (const Link& l : ring) sum.add(rows_[l.to], share);
            sum.take(mean);
            double spread = 0;
            for (const Link& l : ring) spread += share * l1(rows_[l.to], mean);
            if (!(l1(rows_[i], mean) > kUnlikeSpread * spread)) return;
            sum.add(rows_[i], 1);
            sum.add(mean, -1);
            sum.take(more[i]);
        });
        std::vector<Suspect> out;
        for (std::uint32_t i = 0; i < nodes_; ++i)
            if (!more[i].empty()) out.push_back({i, std::move(more[i])});
        return out;
    }

    /// The weights of rows, numbered through; those of one joint that the surface connects are a patch.
    class Patches {
    public:
        /// `counts` is asked for a weight.
        template <typename Counts>
        Patches(const Cleaning& of, const Rows& rows, const Counts& counts)
            : rows_(rows), first_(rows.size() + 1, 0), forest_(0) {
            for (std::size_t i = 0; i < rows.size(); ++i)
                first_[i + 1] = first_[i] + static_cast<std::uint32_t>(rows[i].size());
            forest_ = Forest(first_.back());
            for (const MeshSurface::Edge& e : of.surface_.edges)
                each_of_both(rows[e.a], rows[e.b], [&](const Influence* x, const Influence* y) {
                    if (x && y && counts(x->weight) && counts(y->weight)) join(at(e.a, *x), at(e.b, *y));
                });
        }
        std::size_t size() const { return first_.back(); }
        std::uint32_t at(std::size_t node, const Influence& weight) const {
            return first_[node] + static_cast<std::uint32_t>(&weight - rows_[node].data());
        }
        void join(std::uint32_t a, std::uint32_t b) { forest_.join(a, b); }
        std::uint32_t of(std::uint32_t number) { return forest_.root(number); }

    private:
        const Rows& rows_;
        std::vector<std::uint32_t> first_;
        Forest forest_;
    };

    /// Nodes at one position are connected, too: parts that touch.
    void join_positions(Patches& patches) const {
        struct Weight {
            std::uint32_t position, joint, number;
        };
        std::vector<std::uint32_t> nodes(mesh_.positions.size(), 0);
        for (const std::uint32_t v : surface_.vertex_of) ++nodes[topology_.weld[v]];
        std::vector<Weight> touching;
        for (std::uint32_t i = 0; i < nodes_; ++i)
            if (const std::uint32_t p = topology_.weld[surface_.vertex_of[i]]; nodes[p] > 1)
                for (const Influence& w : rows_[i])
                    if (w.weight > kTouched) touching.push_back({p, w.joint, patches.at(i, w)});
        std::sort(touching.begin(), touching.end(), [](const Weight& a, const Weight& b) {
            return std::tie(a.position, a.joint, a.number) < std::tie(b.position, b.joint, b.number);
        });
        for (std::size_t k = 1; k < touching.size(); ++k)
            if (touching[k].position == touching[k - 1].position && touching[k].joint == touching[k - 1].joint)
                patches.join(touching[k].number, touching[k - 1].number);
    }

    Status remove_implausible() {
        const std::size_t joints = skeleton_.joints.size();
        Patches patches(*this, rows_, [](float w) { return w > kTouched; });
        join_positions(patches);
        std::vector<std::uint32_t> node(patches.size()), used;  // of weights
        for (std::uint32_t i = 0; i < nodes_; ++i)
            for (const Influence& w : rows_[i]) node[patches.at(i, w)] = i;
        const Lists of_joint(joints, context_, [&](const auto& to) {
            for (std::uint32_t i = 0; i < nodes_; ++i)
                for (const Influence& w : rows_[i]) to(w.joint, patches.at(i, w));
        });
        for (std::uint32_t j = 0; j < joints; ++j)
            if (!of_joint.of(j).empty()) used.push_back(j);
        if (used.size() < 2) return Done{};
        std::vector<Suspect> suspected = suspects();
        std::vector<std::uint8_t> far(patches.size(), 0);
        SINEW_TRY(each_joint_reach(
            mesh_, topology_, skeleton_, used, options_.resolution,
            [&](std::uint32_t joint, const JointReach& reach) {
                for (const std::uint32_t number : of_joint.of(joint))
                    far[number] = reach.far(surface_.vertex_of[node[number]], options_.strength);
                for (Suspect& s : suspected)
                    for (Influence& w : s.more)
                        if (w.joint == joint)
                            w.weight *= static_cast<float>(reach.distance(surface_.vertex_of[s.node]));
            },
            context_));
        drop_far(patches, far);
        // What more of its own row adds to the mean distance of its joints.
        for (const Suspect& s : suspected) {
            double farther = 0;
            for (const Influence& w : s.more) farther += w.weight;
            if (farther > kFarther && !pulled_[s.node]) open_[s.node] = true;
        }
        return Done{};
    }

    /// Drops the weights that are far as whole patches.
    void drop_far(Patches& patches, const std::vector<std::uint8_t>& far) {
        std::vector<double> area(surface_.components, 0), mass(patches.size(), 0);
        std::vector<std::uint8_t> near(patches.size(), 0);  // patches
        struct Use {
            bool far = false, near = false;
            std::uint32_t largest = no_index;  // patch
        };
        std::vector<Use> use(skeleton_.joints.size());
        const auto each_weight = [&](const auto& does) {
            for (std::uint32_t i = 0; i < nodes_; ++i)
                for (const Influence& w : rows_[i])
                    if (const std::uint32_t number = patches.at(i, w); w.weight > kTouched)
                        does(i, w, number, patches.of(number));
        };
        each_weight([&](std::uint32_t i, const Influence& w, std::uint32_t number, std::uint32_t patch) {
            mass[patch] += surface_.mass[i] * w.weight;
            (far[number] ? use[w.joint].far : use[w.joint].near) = true;
            near[patch] |= !far[number];
        });
        each_weight([&](std::uint32_t, const Influence& w, std::uint32_t, std::uint32_t patch) {
            std::uint32_t& largest = use[w.joint].largest;
            if (largest == no_index || mass[patch] > mass[largest]) largest = patch;
        });
        // A joint that is far from all of its weight, such as one of a cape, keeps most of it.
        for (const Use& u : use)
            if (u.far && !u.near) near[u.largest] = true;
        for (std::uint32_t i = 0; i < nodes_; ++i) area[surface_.component[i]] += surface_.mass[i];

        pulled_.assign(nodes_, false);
        for (std::uint32_t i = 0; i < nodes_; ++i) {
            const auto goes = [&](const Influence& w) {
                const std::uint32_t number = patches.at(i, w);
                if (w.weight <= kTouched) return far[number] && use[w.joint].far;  // where something else goes
                const std::uint32_t patch = patches.of(number);
                return !near[patch] && mass[patch] < kMostOfPart * area[surface_.component[i]];
            };
            double left = 0;
            InfluenceList stays;
            for (const Influence& w : rows_[i]) {
                if (!goes(w))
                    stays.push_back(w), left += w.weight;
                else if (w.weight > kTouched)
                    pulled_[i] = true;
            }
            if (!pulled_[i]) continue;
            change(i, report_.pulled);
            if (left < kLeastLeft) open_[i] = true;
            if (open_[i]) continue;
            normalise(stays);
            rows_[i] = std::move(stays);
        }
    }

    /// Parts without any row that can be believed keep theirs.
    void keep_lost_parts() {
        std::vector<bool> known(surface_.components, false);
        for (std::uint32_t i = 0; i < nodes_; ++i)
            if (!open_[i]) known[surface_.component[i]] = true;
        for (std::uint32_t i = 0; i < nodes_; ++i) {
            if (!open_[i]) continue;
            open_[i] = known[surface_.component[i]];
            changed_[i] = false;
            if (open_[i]) change(i, report_.filled);
        }
    }

    /// How much of the smoothing is due, 0 to 1, and the standard deviation of what rows have that their neighbours
    /// do not share. If y is smooth, what the mean of its neighbours lacks of it changes slowly over the surface.
    /// White noise of variance s² gives neighbours of six edges each and two in common -s² (2/6 - 2/36): only noise
    /// makes them opposed. Borders hide it: it is there if one of some shares of the quietest nodes shows it, and
    /// as large as one of these or all nodes show.
    struct Noise {
        double due = 0, size = 0;
    };
    Noise noise() const {
        constexpr double expected = 2.0 / 6 - 2.0 / 36;
        constexpr std::array<double, 6> quietest = {0.3, 0.4, 0.5, 0.6, 0.7, 1};
        Rows rest(nodes_);
        std::vector<double> size(nodes_, INFINITY);
        each_node([&](std::uint32_t i, RowSum& sum) {
            const std::span<const Link> ring = links(i);
            if (ring.size() < 3 || open_[i]) return;
            if (std::any_of(ring.begin(), ring.end(), [&](const Link& l) { return open_[l.to]; })) return;
            sum.add(rows_[i], 1);
            for (const Link& l : ring) sum.add(rows_[l.to], -surface_.edges[l.edge].weight / pull_[i]);
            sum.take(rest[i]);
            size[i] = product(rest[i], rest[i]);
        });
        std::vector<double> sizes;
        for (const double s : size)
            if (s < INFINITY) sizes.push_back(s);
        if (sizes.empty()) return {};
        std::sort(sizes.begin(), sizes.end());
        std::array<double, quietest.size()> sum{}, edges{};
        for (const MeshSurface::Edge& e : surface_.edges) {
            const double larger = std::max(size[e.a], size[e.b]), opposed = -product(rest[e.a], rest[e.b]);
            for (std::size_t k = 0; k < quietest.size(); ++k)
                if (larger <= sizes[static_cast<std::size_t>(quietest[k] * double(sizes.size() - 1))])
                    sum[k] += opposed, edges[k] += expected;
        }
        double found = 0, all = 0;
        for (std::size_t k = 0; k < quietest.size(); ++k) {
            if (quietest[k] == 1) found = all;
            if (sum[k] > 0) all = std::max(all, std::sqrt(sum[k] / edges[k]));
        }
        all = std::max(all, std::sqrt(sizes[sizes.size() / 2] / (1 + 1.0 / 6)));
        const double due = std::clamp((found - kLeastNoise) / (kFullNoise - kLeastNoise), 0.0, 1.0);
        return {due, due > 0 ? all : 0};
    }

    /// Minimises Σ c |x - y|² + Σ over edges of w g |x_a - x_b|², with c = 0 at open nodes. g falls where the rows
    /// of an earlier solution differ, so that borders stay (half-quadratic: Geman and Reynolds 1992). Where the row
    /// across the mirror plane is alike, y is the mean of both.
    Status solve(double noisy) {
        std::vector<double> edge(surface_.edges.size()), own;
        for (std::size_t e = 0; e < edge.size(); ++e) edge[e] = surface_.edges[e].weight;
        solved_ = rows_;
        for (std::uint32_t i = 0; i < nodes_; ++i)
            if (open_[i]) solved_[i].clear();
        if (noisy == 0) {
            relax(rows_, edge, own);
            for (std::uint32_t i = 0; i < nodes_; ++i)
                if (!open_[i]) solved_[i].clear();
        } else {
            // The root: on coarse meshes the weights of edges around a node differ by more than its rows do.
            for (double& w : edge) w = std::sqrt(w);
            own.assign(nodes_, 0);
            for (std::size_t e = 0; e < edge.size(); ++e)
                for (const std::uint32_t i : {surface_.edges[e].a, surface_.edges[e].b})
                    if (!open_[i]) own[i] += edge[e] / (kSmoothing * options_.strength * noisy);
            SINEW_TRY_LET(const auto symmetry, find_symmetry(mesh_, skeleton_, context_));
            relax(rows_, edge, own);
            for (int round = 0; round < kRounds; ++round) {
                std::vector<double> kept(edge.size());
                parallel_for(context_, edge.size(), 1024, [&](std::size_t k) {
                    const MeshSurface::Edge& e = surface_.edges[k];
                    kept[k] = edge[k] * std::max(likeness(solved_[e.a], solved_[e.b], kBorder), kLeastEdge);
                });
                relax(symmetry ? with_mirrored(*symmetry) : rows_, kept, own);
            }
        }
        // What noise adds where a joint has no weight goes; large weights stay (the garrote of Breiman 1995). Noise
        // of one joint is less than that of a row.
        double influences = 0;
        for (const InfluenceList& row : rows_) influences += static_cast<double>(row.size());
        const double of_joint = report_.noise / std::sqrt(influences / static_cast<double>(nodes_));
        const double least = std::clamp(kLeastShare * options_.strength * of_joint * noisy, kLeastFill, kCore);
        parallel_for(context_, nodes_, 1024, [&](std::size_t i) {
            InfluenceList& row = solved_[i];
            float most = 0;
            for (Influence& k : row) {
                if (noisy > 0) k.weight -= static_cast<float>(least * least / k.weight);
                most = std::max(most, k.weight);
            }
            for (Influence& k : row) k.weight /= most;
            std::erase_if(row, [&](const Influence& k) { return k.weight < least; });
        });
        if (noisy > 0) drop_patches(kCore * std::min(options_.strength, 1.0) * noisy);
        return Done{};
    }

    static double likeness(const InfluenceList& a, const InfluenceList& b, double scale) {
        const double d = l1(a, b) / scale;
        return std::exp(-d * d);
    }

    Rows with_mirrored(const Symmetry& symmetry) const {
        Rows out = rows_;
        each_node([&](std::uint32_t i, RowSum& sum) {
            const std::uint32_t vertex = symmetry.vertex[surface_.vertex_of[i]];
            const std::uint32_t other = vertex == no_index ? MeshSurface::none : surface_.node_of[vertex];
            if (other == MeshSurface::none || open_[i] || open_[other]) return;
            const auto mirrored = [&](InfluenceList row) {
                for (Influence& w : row)
                    if (symmetry.joint[w.joint] != no_index) w.joint = symmetry.joint[w.joint];
                std::sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.joint < b.joint; });
                return row;
            };
            sum.add(rows_[i], 1);
            sum.add(mirrored(rows_[other]), likeness(solved_[i], mirrored(solved_[other]), kMirrored));
            sum.take(out[i]);
            normalise(out[i]);
        });
        return out;
    }

    /// Jacobi's iteration from the solution so far, at all nodes or, without weights `own` of `rows`, at open ones.
    /// Rows are short, which makes a step cheaper than one of any solver by joints, and it starts close: steps
    /// enough for what is rough, and until open nodes are filled.
    void relax(const Rows& rows, const std::vector<double>& edge, const std::vector<double>& own) {
        std::vector<std::uint32_t> all_nodes(nodes_), open;
        std::iota(all_nodes.begin(), all_nodes.end(), 0u);
        std::copy_if(all_nodes.begin(), all_nodes.end(), std::back_inserter(open),
                     [&](std::uint32_t i) { return open_[i]; });
        Rows next(nodes_);
        std::vector<double> moved(nodes_);
        for (int step = own.empty() ? kSteps : 0; step < kMostSteps && !cancelled(context_); ++step) {
            const std::vector<std::uint32_t>& nodes = step < kSteps ? all_nodes : open;
            parallel_chunks(context_, nodes.size(), 512, [&](std::size_t, std::size_t begin, std::size_t end) {
                RowSum sum(skeleton_.joints.size());
                for (std::size_t k = begin; k < end; ++k) {
                    const std::uint32_t i = nodes[k];
                    if (!open_[i]) sum.add(rows[i], own[i]);
                    for (const Link& l : links(i)) sum.add(solved_[l.to], edge[l.edge]);
                    sum.take(next[k]);
                    normalise(next[k], kLeastKept);
                    moved[k] = open_[i] ? l1(next[k], solved_[i]) : 0;
                }
            });
            parallel_for(context_, nodes.size(), 4096, [&](std::size_t k) { solved_[nodes[k]].swap(next[k]); });
            const auto end = moved.begin() + static_cast<std::ptrdiff_t>(nodes.size());
            if (step >= kSteps && std::none_of(moved.begin(), end, [](double m) { return m > kStill; })) break;
        }
    }

    /// Drops from solutions, relative to the strongest joint of a node, the patches of a joint that reach `core`
    /// nowhere.
    void drop_patches(double core) {
        Patches patches(*this, solved_, [](float) { return true; });
        std::vector<float> most(patches.size(), 0);
        for (std::uint32_t i = 0; i < nodes_; ++i)
            for (const Influence& w : solved_[i]) {
                float& of = most[patches.of(patches.at(i, w))];
                of = std::max(of, w.weight);
            }
        for (std::uint32_t i = 0; i < nodes_; ++i)
            for (Influence& w : solved_[i])
                if (most[patches.of(patches.at(i, w))] < static_cast<float>(core)) w.weight = 0;
        for (InfluenceList& row : solved_) std::erase_if(row, [](const Influence& w) { return w.weight == 0; });
    }

    Result<SkinWeights> write() {
        const std::size_t n = weights_.vertex_count();
        std::vector<std::uint32_t> counts(n);
        std::vector<Influence> all;
        InfluenceList fresh;
        for (std::uint32_t v = 0; v < n; ++v) {
            const std::uint32_t node = surface_.node_of[v];
            std::span<const Influence> row = weights_[v];
            if (node != MeshSurface::none && changed_[node]) {
                fresh = solved_.empty() || solved_[node].empty() ? rows_[node] : solved_[node];
                std::sort(fresh.begin(), fresh.end(), [](const Influence& a, const Influence& b) {
                    return a.weight != b.weight ? a.weight > b.weight : a.joint < b.joint;
                });
                row = fresh;
                if (options_.max_influences != all_influences)
                    row = row.first(std::min(row.size(), static_cast<std::size_t>(options_.max_influences)));
            }
            counts[v] = static_cast<std::uint32_t>(row.size());
            all.insert(all.end(), row.begin(), row.end());
        }
        SINEW_TRY_LET(SkinWeights out, SkinWeights::from_rows(counts, std::move(all)));
        RowPair pair;
        for (std::size_t v = 0; v < n; ++v) report_.change += pair.l1(weights_[v], out[v]);
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
    Lists vertices_;  // of nodes
    std::vector<std::uint32_t> first_;
    std::vector<Link> link_;    // of nodes, from first_
    std::vector<double> pull_;  // of nodes: the weight of their edges
    Rows rows_, solved_;        // solved: empty, or with empty rows, where nothing was
    std::vector<std::uint8_t> open_, changed_, pulled_;
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
