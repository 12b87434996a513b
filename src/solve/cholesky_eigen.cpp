// Eigen orders the rows (approximate minimum degree) and factors dense matrices. The code here finds fronts, adds
// the updates of fronts to the fronts above them, and solves a batch of right hand sides with one pass over the
// factor.
#define EIGEN_MPL2_ONLY

#include <Eigen/Cholesky>
#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "core/hash.h"
#include "core/lanes.h"
#include "core/large_pages.h"
#include "core/lists.h"
#include "core/parallel.h"
#include "solve/cholesky.h"

namespace sinew {
namespace {

Error too_large(double bytes, std::size_t limit) {
    return {ErrorCode::too_large, "the factors of a sparse matrix need " +
                                      std::to_string(static_cast<std::size_t>(bytes) >> 20) +
                                      " MB, more than the limit of " + std::to_string(limit >> 20) + " MB"};
}

// The entries of the lower triangle by row or by column.
struct EntryLists {
    std::vector<std::uint64_t> first;  // n + 1
    std::vector<std::uint32_t> other;
    std::vector<double> value;

    // Keeps the given order within a list; by column with values, or by row without.
    EntryLists(std::size_t n, std::span<const MatrixEntry> entries, const std::vector<std::uint32_t>& place,
               bool by_column)
        : first(n + 1, 0), other(entries.size()), value(by_column ? entries.size() : 0) {
        const auto key = [&](const MatrixEntry& e) {
            const auto [low, high] = std::minmax(place[e.row], place[e.column]);
            return by_column ? std::pair{low, high} : std::pair{high, low};
        };
        for (const MatrixEntry& e : entries) ++first[key(e).first + 1];
        for (std::size_t i = 0; i < n; ++i) first[i + 1] += first[i];
        std::vector<std::uint64_t> next(first.begin(), first.end() - 1);
        for (const MatrixEntry& e : entries) {
            const auto [list, to] = key(e);
            const std::uint64_t at = next[list]++;
            other[at] = to;
            if (by_column) value[at] = e.value;
        }
    }
    std::span<const std::uint32_t> operator[](std::size_t i) const {
        return {other.data() + first[i], other.data() + first[i + 1]};
    }
    bool same_list(const EntryLists& as, std::size_t i) const {
        const auto own = (*this)[i], theirs = as[i];
        return std::equal(own.begin(), own.end(), theirs.begin(), theirs.end()) &&
               std::equal(value.data() + first[i], value.data() + first[i + 1], as.value.data() + as.first[i]);
    }
};

// The place of each row in the order by approximate minimum degree.
std::vector<std::uint32_t> minimum_degree(std::size_t size, std::span<const MatrixEntry> entries,
                                          Context* context) {
    Lists around(size, context, [&](const auto& to) {
        for (const MatrixEntry& e : entries) {
            to(e.row, e.column);
            if (e.row != e.column) to(e.column, e.row);
        }
    });
    std::vector<int> first(size + 1, 0);
    parallel_for(context, size, 1024, [&](std::size_t i) {
        const auto begin = around.value.begin() + around.first[i], end = around.value.begin() + around.first[i + 1];
        std::sort(begin, end);
        first[i + 1] = static_cast<int>(std::unique(begin, end) - begin);
    });
    std::partial_sum(first.begin(), first.end(), first.begin());
    // Only its pattern is read. AMDOrdering would make it from a half of it, on one thread.
    Eigen::SparseMatrix<float, Eigen::ColMajor, int> pattern(static_cast<Eigen::Index>(size),
                                                             static_cast<Eigen::Index>(size));
    pattern.resizeNonZeros(first.back());
    std::copy(first.begin(), first.end(), pattern.outerIndexPtr());
    parallel_for(context, size, 1024, [&](std::size_t i) {
        std::copy_n(around.value.begin() + around.first[i], first[i + 1] - first[i],
                    pattern.innerIndexPtr() + first[i]);
    });
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
    Eigen::internal::minimum_degree_ordering(pattern, order);
    std::vector<std::uint32_t> place(size);
    for (std::size_t k = 0; k < size; ++k)
        place[static_cast<std::size_t>(order.indices()[static_cast<Eigen::Index>(k)])] =
            static_cast<std::uint32_t>(k);
    return place;
}

// The parent of each column in the elimination tree (Liu 1986); none for roots.
std::vector<std::uint32_t> elimination_tree(const EntryLists& rows) {
    const std::size_t n = rows.first.size() - 1;
    std::vector<std::uint32_t> parent(n, no_index), above(n, no_index);
    for (std::uint32_t i = 0; i < n; ++i)
        for (std::uint32_t j : rows[i])
            while (j != no_index && j < i) {
                const std::uint32_t next = above[j];
                above[j] = i;
                if (next == no_index) parent[j] = i;
                j = next;
            }
    return parent;
}

// Places in an order with children before their parents and each subtree in one piece.
std::vector<std::uint32_t> postorder(const std::vector<std::uint32_t>& parent) {
    const std::size_t n = parent.size();
    std::vector<std::uint32_t> child(n, no_index), sibling(n, no_index), place(n), stack;
    for (std::size_t i = n; i-- > 0;)
        if (parent[i] != no_index) sibling[i] = child[parent[i]], child[parent[i]] = static_cast<std::uint32_t>(i);
    std::uint32_t next = 0;
    for (std::uint32_t root = 0; root < n; ++root) {
        if (parent[root] != no_index) continue;
        stack.push_back(root);
        while (!stack.empty()) {
            const std::uint32_t top = stack.back();
            if (child[top] != no_index) {
                stack.push_back(child[top]);
                child[top] = no_index;
                continue;
            }
            place[top] = next++;
            stack.pop_back();
            if (sibling[top] != no_index) stack.push_back(sibling[top]);
        }
    }
    return place;
}

// Number of entries of each column of L, with its diagonal.
std::vector<std::uint32_t> count_columns(const EntryLists& rows, const std::vector<std::uint32_t>& parent) {
    const std::size_t n = parent.size();
    std::vector<std::uint32_t> count(n, 1), seen(n, no_index);
    for (std::uint32_t i = 0; i < n; ++i) {
        seen[i] = i;
        for (std::uint32_t j : rows[i])
            for (; seen[j] != i; j = parent[j]) ++count[j], seen[j] = i;
    }
    return count;
}

// Columns of L that follow each other and have the same rows below them.
struct Front {
    std::uint32_t first, columns, below;  // columns from `first` on, and the number of their common rows below
    std::uint64_t row, value;             // positions of those rows in Plan::rows, and of the columns in the values
    std::uint32_t rows() const { return columns + below; }
};

// Entries of L on and below the diagonal of a front.
double entries_of(double columns, double below) { return columns * (0.5 * (columns + 1) + below); }

// Whether to merge two fronts: adding up small fronts costs more than the zeros that merging brings. The thresholds
// are those of CHOLMOD's relaxed supernodes (Chen et al. 2008).
bool worth_merging(double columns, double zeros, double entries) {
    return columns <= 4 || (columns <= 16 && zeros < 0.4 * entries) || (columns <= 48 && zeros < 0.1 * entries) ||
           zeros < 0.05 * entries;
}

struct Tree {
    std::vector<Front> fronts;
    std::vector<std::uint32_t> parent;  // of a front
};

// Columns that have the same rows below make a front; small fronts are merged with their parents.
Tree find_fronts(const std::vector<std::uint32_t>& parent, const std::vector<std::uint32_t>& count) {
    const auto n = static_cast<std::uint32_t>(parent.size());
    std::vector<Front> fronts;
    std::vector<std::uint32_t> front_of(n), up, ending(n, no_index);
    for (std::uint32_t j = 0; j < n; ++j) {
        if (j == 0 || parent[j - 1] != j || count[j - 1] != count[j] + 1) fronts.push_back({j, 0, 0, 0, 0});
        ++fronts.back().columns;
        fronts.back().below = count[j] - 1;
        front_of[j] = static_cast<std::uint32_t>(fronts.size() - 1);
    }
    for (const Front& f : fronts) {
        const std::uint32_t last = f.first + f.columns - 1;
        ending[last] = front_of[last];
        up.push_back(parent[last] == no_index ? no_index : front_of[parent[last]]);
    }
    std::vector<double> zeros(fronts.size(), 0);
    std::vector<std::uint32_t> into(fronts.size(), no_index);  // the front that it is merged into
    for (std::uint32_t p = 0; p < fronts.size(); ++p)
        while (fronts[p].first > 0) {
            const std::uint32_t s = ending[fronts[p].first - 1];
            if (up[s] != p) break;
            const Front &child = fronts[s], &own = fronts[p];
            const Front both{child.first, child.columns + own.columns, own.below, 0, 0};
            const double more = zeros[s] + zeros[p] +
                                static_cast<double>(child.columns) * static_cast<double>(own.rows() - child.below);
            if (!worth_merging(both.columns, more, entries_of(both.columns, both.below))) break;
            fronts[p] = both;
            zeros[p] = more;
            into[s] = p;
        }
    // The target of a merge has a higher number, and may be merged into another itself.
    Tree tree;
    std::vector<std::uint32_t> number(fronts.size());
    for (std::uint32_t s = 0; s < fronts.size(); ++s) {
        if (into[s] != no_index) continue;
        number[s] = static_cast<std::uint32_t>(tree.fronts.size());
        tree.fronts.push_back(fronts[s]);
    }
    for (std::uint32_t s = 0; s < fronts.size(); ++s) {
        if (into[s] != no_index) continue;
        std::uint32_t above = up[s];
        while (above != no_index && into[above] != no_index) above = into[above];
        tree.parent.push_back(above == no_index ? no_index : number[above]);
    }
    return tree;
}

// The columns of L in the order of elimination: minimum degree, changed so that the columns of a front
// are neighbours.
struct Columns {
    std::vector<std::uint32_t> place;   // of row i of A
    std::vector<std::uint32_t> parent;  // of a column, in the elimination tree
    std::vector<std::uint32_t> count;   // its entries

    Columns(std::size_t size, std::span<const MatrixEntry> entries, Context* context)
        : place(minimum_degree(size, entries, context)), parent(size), count(size) {
        const EntryLists rows(size, entries, place, false);
        const std::vector<std::uint32_t> up = elimination_tree(rows), counted = count_columns(rows, up),
                                         after = postorder(up);
        for (std::uint32_t& p : place) p = after[p];
        for (std::size_t j = 0; j < size; ++j) {
            parent[after[j]] = up[j] == no_index ? no_index : after[up[j]];
            count[after[j]] = counted[j];
        }
    }
};

// The fronts, which update goes to which of them, and what they cost.
struct FrontTree {
    std::vector<Front> fronts;
    std::vector<std::uint32_t> parent;
    std::vector<std::vector<std::uint32_t>> children;
    std::vector<double> subtree_work;  // of a front and those below it
    double work = 0;                   // of all
    double entries = 0;                // of L, with zeros in fronts
    double waiting_entries = 0;        // maximum of the entries in updates, fronts one after the other
    double update_entries = 0;         // of all updates

    explicit FrontTree(const Columns& columns) {
        Tree tree = find_fronts(columns.parent, columns.count);
        fronts = std::move(tree.fronts);
        parent = std::move(tree.parent);
        children.resize(fronts.size());
        sum_work();
        count_waiting();
    }

private:
    void sum_work() {
        subtree_work.assign(fronts.size(), 0);
        for (std::uint32_t s = 0; s < fronts.size(); ++s) {
            Front& f = fronts[s];
            f.value = static_cast<std::uint64_t>(entries);
            const double own_entries = static_cast<double>(f.columns) * static_cast<double>(f.rows());
            entries += own_entries;
            const double own = own_entries * static_cast<double>(f.rows());
            work += own;
            subtree_work[s] += own;
            if (parent[s] == no_index) continue;
            children[parent[s]].push_back(s);
            subtree_work[parent[s]] += subtree_work[s];
        }
    }

    void count_waiting() {
        const auto entries_of_update = [&](std::uint32_t k) {
            return std::pow(static_cast<double>(fronts[k].below), 2);
        };
        double waiting = 0;
        for (std::uint32_t s = 0; s < fronts.size(); ++s) {
            update_entries += entries_of_update(s);
            waiting_entries = std::max(waiting_entries, waiting += entries_of_update(s));
            for (const std::uint32_t child : children[s]) waiting -= entries_of_update(child);
        }
    }
};

// The rows below each front: those of its columns and of the fronts below it. Sets Front::row.
std::vector<std::uint32_t> find_rows_below(FrontTree& tree, const EntryLists& columns, std::size_t size) {
    std::vector<std::uint32_t> out, seen(size, no_index);
    for (std::uint32_t s = 0; s < tree.fronts.size(); ++s) {
        Front& f = tree.fronts[s];
        f.row = out.size();
        const std::uint32_t end = f.first + f.columns;
        const auto add = [&](std::uint32_t row) {
            if (row < end || seen[row] == s) return;
            seen[row] = s;
            out.push_back(row);
        };
        for (std::uint32_t j = f.first; j < end; ++j)
            for (const std::uint32_t row : columns[j]) add(row);
        for (const std::uint32_t child : tree.children[s])
            for (std::uint32_t k = 0; k < tree.fronts[child].below; ++k) add(out[tree.fronts[child].row + k]);
        std::sort(out.begin() + static_cast<std::ptrdiff_t>(f.row), out.end());
    }
    return out;
}

// Fronts to eliminate in parallel: subtrees that are small compared with the whole; then, one after the other, the
// fronts above them. The division does not depend on threads, and neither do the sums.
struct Schedule {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> tasks;  // ranges of fronts: one or more whole subtrees
    std::vector<bool> in_task;

    explicit Schedule(const FrontTree& tree) : in_task(tree.fronts.size(), false) {
        const double share = tree.work / 16;
        std::vector<std::uint32_t> roots;
        for (auto s = static_cast<std::uint32_t>(tree.fronts.size()); s-- > 0;) {
            const bool small = tree.subtree_work[s] <= share;
            in_task[s] = small;
            if (small && (tree.parent[s] == no_index || !in_task[tree.parent[s]])) roots.push_back(s);
        }
        std::reverse(roots.begin(), roots.end());
        std::vector<std::uint32_t> first_of(tree.fronts.size());  // first front of the subtree
        for (std::uint32_t s = 0; s < tree.fronts.size(); ++s)
            first_of[s] = tree.children[s].empty() ? s : first_of[tree.children[s].front()];
        double work = 0;  // of the last task, to which tiny subtrees are added
        for (const std::uint32_t root : roots) {
            if (!tasks.empty() && tasks.back().second == first_of[root] &&
                work + tree.subtree_work[root] <= share / 4) {
                tasks.back().second = root + 1;
                work += tree.subtree_work[root];
            } else {
                tasks.emplace_back(first_of[root], root + 1);
                work = tree.subtree_work[root];
            }
        }
    }
};

// The numeric factorization: each front is added up, its columns are eliminated, and the update of the rows below
// goes to its parent.
class Elimination {
public:
    /// Of each front: below × below, the lower triangle.
    using Updates = std::vector<std::shared_ptr<double[]>>;
    /// Of a matrix with entries at the same places.
    struct Earlier {
        const EntryLists& columns;
        const Updates& updates;
        const double* values;
    };

    Elimination(const FrontTree& tree, const EntryLists& columns, const std::vector<std::uint32_t>& rows,
                double* values, const Earlier* earlier, bool keep)
        : tree_(tree),
          columns_(columns),
          rows_(rows),
          values_(values),
          earlier_(earlier),
          keep_(keep),
          update_(tree.fronts.size()),
          same_(tree.fronts.size(), 0) {}

    void run(std::size_t size, Context* context) {
        const Schedule schedule(tree_);
        parallel_for(context, schedule.tasks.size(), 1, [&](std::size_t k) {
            const std::unique_ptr<std::uint32_t[]> local(new std::uint32_t[size]);
            for (std::uint32_t s = schedule.tasks[k].first; s < schedule.tasks[k].second; ++s) {
                if (stops_before(s, context)) return;
                eliminate(s, local.get(), nullptr);
            }
        });
        const std::unique_ptr<std::uint32_t[]> local(new std::uint32_t[size]);
        for (std::uint32_t s = 0; s < tree_.fronts.size(); ++s) {
            if (stops_before(s, context)) break;
            if (!schedule.in_task[s]) eliminate(s, local.get(), context);
        }
    }

    Updates take_updates() { return std::move(update_); }
    std::size_t taken() const { return static_cast<std::size_t>(std::count(same_.begin(), same_.end(), 1)); }

    // The first column whose pivot is not above 0 or not finite; none if there is none.
    std::uint32_t first_bad_column() const {
        std::uint32_t bad = failed_.load();
        for (const Front& f : tree_.fronts)
            for (std::uint32_t k = 0; k < f.columns && bad == no_index; ++k)
                if (!std::isfinite(values_[f.value + std::size_t{k} * f.rows() + k])) bad = f.first + k;
        return bad;
    }

private:
    using Panel = Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>>;

    // What comes before the first failed column goes on, so that the column is the same on any number of threads.
    bool stops_before(std::uint32_t front, Context* context) const {
        return cancelled(context) || failed_.load() < tree_.fronts[front].first;
    }

    // Whether the entries of a front and of all below it are those of the earlier matrix.
    bool is_same(std::uint32_t s) const {
        if (!earlier_) return false;
        const std::vector<std::uint32_t>& children = tree_.children[s];
        if (!std::all_of(children.begin(), children.end(), [&](std::uint32_t child) { return same_[child] != 0; }))
            return false;
        const std::uint32_t first = tree_.fronts[s].first, end = first + tree_.fronts[s].columns;
        for (std::uint32_t j = first; j < end; ++j)
            if (!columns_.same_list(earlier_->columns, j)) return false;
        return true;
    }

    // `local`: memory for one number per row of the matrix. `parallel`: null = on this thread alone.
    void eliminate(std::uint32_t s, std::uint32_t* local, Context* parallel) {
        const Front& f = tree_.fronts[s];
        const std::uint32_t m = f.rows(), c = f.columns, r = f.below;
        double* const panel = values_ + f.value;
        if (is_same(s)) {
            same_[s] = 1;
            std::copy_n(earlier_->values + f.value, std::size_t{m} * c, panel);
            update_[s] = earlier_->updates[s];
            return;
        }
        std::shared_ptr<double[]> rest(r > 0 ? new double[std::size_t{r} * r]() : nullptr);
        assemble(s, local, panel, rest.get());
        Panel whole(panel, m, c, Eigen::OuterStride<>(m));
        auto top = whole.topRows(c);
        if (const Eigen::Index at = Eigen::internal::llt_inplace<double, Eigen::Lower>::blocked(top); at >= 0) {
            note_failure(f.first + static_cast<std::uint32_t>(at));
            return;
        }
        if (r == 0) return;
        auto bottom = whole.bottomRows(r);
        top.triangularView<Eigen::Lower>().adjoint().solveInPlace<Eigen::OnTheRight>(bottom);
        subtract_products(rest.get(), bottom, r, parallel);
        update_[s] = std::move(rest);
    }

    // Adds up the matrix and the updates of the children: into the columns of the front, and into `rest` for the
    // rows below it.
    void assemble(std::uint32_t s, std::uint32_t* local, double* panel, double* rest) {
        const Front& f = tree_.fronts[s];
        const std::uint32_t m = f.rows(), c = f.columns, r = f.below;
        const std::uint32_t* const rows = rows_.data() + f.row;
        std::fill_n(panel, std::size_t{m} * c, 0.0);
        for (std::uint32_t k = 0; k < c; ++k) local[f.first + k] = k;
        for (std::uint32_t k = 0; k < r; ++k) local[rows[k]] = c + k;
        for (std::uint32_t k = 0; k < c; ++k)
            for (std::uint64_t e = columns_.first[f.first + k]; e < columns_.first[f.first + k + 1]; ++e)
                panel[std::size_t{k} * m + local[columns_.other[e]]] += columns_.value[e];
        for (const std::uint32_t child : tree_.children[s]) {
            const std::uint32_t* const theirs = rows_.data() + tree_.fronts[child].row;
            const std::uint32_t n = tree_.fronts[child].below;
            const double* from = update_[child].get();
            for (std::uint32_t j = 0; j < n; ++j, from += n) {
                const std::uint32_t column = local[theirs[j]];
                double* const to =
                    column < c ? panel + std::size_t{column} * m : rest + std::size_t{column - c} * r;
                const std::uint32_t before = column < c ? 0 : c;  // rows that the update does not have
                for (std::uint32_t i = j; i < n; ++i) to[local[theirs[i]] - before] += from[i];
            }
            if (!keep_) update_[child].reset();
        }
    }

    // The lower triangle of rest -= bottom bottomᵀ, in stripes, so that large fronts can be updated in parallel.
    template <typename Bottom>
    static void subtract_products(double* rest, const Bottom& bottom, std::uint32_t r, Context* parallel) {
        constexpr std::uint32_t stripe = 128;
        Panel left(rest, r, r, Eigen::OuterStride<>(r));
        const auto side = static_cast<Eigen::Index>(r);
        const auto update_stripe = [&](std::size_t k) {
            const auto begin = static_cast<Eigen::Index>(k * stripe),
                       end = std::min<Eigen::Index>(begin + stripe, side);
            left.block(begin, begin, end - begin, end - begin)
                .template selfadjointView<Eigen::Lower>()
                .rankUpdate(bottom.middleRows(begin, end - begin), -1);
            if (end < side)
                left.block(end, begin, side - end, end - begin).noalias() -=
                    bottom.bottomRows(side - end) * bottom.middleRows(begin, end - begin).transpose();
        };
        const std::size_t stripes = (r + stripe - 1) / stripe;
        if (parallel && stripes > 1)
            parallel_for(parallel, stripes, 1, update_stripe);
        else
            for (std::size_t k = 0; k < stripes; ++k) update_stripe(k);
    }

    void note_failure(std::uint32_t column) {
        std::uint32_t first = failed_.load();
        while (column < first && !failed_.compare_exchange_weak(first, column)) {
        }
    }

    const FrontTree& tree_;
    const EntryLists& columns_;
    const std::vector<std::uint32_t>& rows_;
    double* const values_;
    const Earlier* const earlier_;
    const bool keep_;
    Updates update_;
    std::vector<std::uint8_t> same_;  // of each front: taken from the earlier matrix
    std::atomic<std::uint32_t> failed_{no_index};
};

// The places of the entries beside the diagonal, in their order.
std::uint64_t hash_places(std::span<const MatrixEntry> entries) {
    std::vector<std::uint32_t> places;
    places.reserve(2 * entries.size());
    for (const MatrixEntry& e : entries)
        if (e.row != e.column) places.insert(places.end(), {e.row, e.column});
    return hash_bytes(std::as_bytes(std::span(places)));
}

}  // namespace

struct Cholesky::Plan {
    std::vector<std::uint32_t> place;     // the row of L of row i of A
    FrontTree tree;                       // in the order of elimination
    std::vector<std::uint32_t> of_place;  // the row of A of row i of L
    std::vector<std::uint32_t> front_of;  // of row i of L
    std::vector<std::uint32_t> rows;      // below each front, rising
    std::uint64_t places;                 // of hash_places

    Plan(Columns columns, std::uint64_t hash)
        : place(std::move(columns.place)),
          tree(columns),
          of_place(place.size()),
          front_of(place.size()),
          places(hash) {
        for (std::uint32_t i = 0; i < place.size(); ++i) of_place[place[i]] = i;
        for (std::uint32_t s = 0; s < tree.fronts.size(); ++s)
            std::fill_n(front_of.begin() + tree.fronts[s].first, tree.fronts[s].columns, s);
    }
    bool fits(std::size_t size, std::uint64_t hash) const { return place.size() == size && places == hash; }
};

/// What is needed to take fronts from a factorisation.
struct Cholesky::Updates {
    EntryLists columns;  // of the matrix
    Elimination::Updates of_front;
};

double estimate_cholesky_memory(double rows, double row_entries) {
    // Fill grows as n log n on planar graphs (nested dissection). 24 bytes for each entry are a cautious guess for
    // the entries, zeros in fronts, and updates that wait; factor() counts exactly before it computes numbers.
    const double fill = 0.45 * row_entries * std::log2(std::max(rows, 2.0));
    return rows * (24 * fill + 40 * row_entries);
}

Result<Cholesky> Cholesky::factor(std::size_t size, std::span<const MatrixEntry> entries, Context* context,
                                  const Again& again) {
    constexpr double most = std::numeric_limits<int>::max();
    if (static_cast<double>(size) > most || static_cast<double>(entries.size()) > most)
        return Error{ErrorCode::too_large, "a sparse matrix has more than 2^31 rows or entries"};
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while factoring"};

    const std::uint64_t places = hash_places(entries);
    const Cholesky* const earlier =
        again.earlier && again.earlier->plan_->fits(size, places) ? again.earlier : nullptr;
    std::shared_ptr<Plan> own;
    if (!earlier) own = std::make_shared<Plan>(Columns(size, entries, context), places);
    const std::shared_ptr<const Plan> plan = earlier ? earlier->plan_ : own;
    const FrontTree& tree = plan->tree;
    if (context && context->memory_limit) {
        const double updates = again.keep ? tree.update_entries : 2 * tree.waiting_entries;
        const double bytes = 8 * (tree.entries + updates) + 24 * static_cast<double>(entries.size()) +
                             60 * static_cast<double>(size);
        if (bytes > static_cast<double>(context->memory_limit)) return too_large(bytes, context->memory_limit);
    }
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while factoring"};

    EntryLists columns(size, entries, plan->place, true);
    if (own) own->rows = find_rows_below(own->tree, columns, size);
    Cholesky out;
    out.plan_ = plan;
    out.value_.reset(new double[out.nonzeros() + 1]);  // each front sets its own
    std::optional<Elimination::Earlier> fronts;
    if (earlier && earlier->updates_)
        fronts.emplace(
            Elimination::Earlier{earlier->updates_->columns, earlier->updates_->of_front, earlier->value_.get()});
    Elimination elimination(tree, columns, plan->rows, out.value_.get(), fronts ? &*fronts : nullptr, again.keep);
    elimination.run(size, context);
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while factoring"};
    if (const std::uint32_t bad = elimination.first_bad_column(); bad != no_index) {
        const std::uint32_t row = plan->of_place[bad];
        return Error{ErrorCode::internal, "a sparse matrix is not positive definite at row " + std::to_string(row)};
    }
    out.fronts_taken_ = elimination.taken();
    if (again.keep)
        out.updates_ = std::make_shared<const Updates>(Updates{std::move(columns), elimination.take_updates()});
    return out;
}

std::size_t Cholesky::size() const { return plan_->place.size(); }
std::uint32_t Cholesky::place(std::size_t row) const { return plan_->place[row]; }
std::size_t Cholesky::nonzeros() const { return static_cast<std::size_t>(plan_->tree.entries); }

namespace {

// `together` columns of a front, from column j on, and their rows of right hand sides. Several at a time read and
// write the other rows once. Each number is changed by one column after the other, however many are taken.
template <std::size_t w, std::size_t n, std::size_t together>
struct FrontColumns {
    using Values = Row<double, w, n>;

    const Front& front;
    std::uint32_t j;
    const double* column[together];

    FrontColumns(const Front& of, const double* value, std::uint32_t first) : front(of), j(first) {
        for (std::uint32_t a = 0; a < together; ++a)
            column[a] = value + of.value + std::size_t{first + a} * of.rows();
    }
    // L y = b: the rows of the columns become y; what they add to the rows below the front goes into `rest`.
    void forward(double* own, double* rest) const {
        Values y[together], row;
        for (std::uint32_t a = 0; a < together; ++a) {
            y[a].load(own + (j + a) * w);
            for (std::uint32_t b = 0; b < a; ++b) y[a].subtract(column[b][j + a], y[b]);
            y[a].divide(column[a][j + a]);
            y[a].store(own + (j + a) * w);
        }
        for (std::uint32_t i = j + together; i < front.columns; ++i) {
            row.load(own + i * w);
            for (std::uint32_t a = 0; a < together; ++a) row.subtract(column[a][i], y[a]);
            row.store(own + i * w);
        }
        for (std::uint32_t i = 0; i < front.below; ++i) {
            row.load(rest + i * w);
            for (std::uint32_t a = 0; a < together; ++a) row.add(column[a][front.columns + i], y[a]);
            row.store(rest + i * w);
        }
    }
    // Lᵀ x = y: the rows of the columns become x. `rest`: x in the rows below the front.
    void back(double* own, const double* rest) const {
        Values x[together], row;
        for (std::uint32_t a = 0; a < together; ++a) x[a].load(own + (j + a) * w);
        for (std::uint32_t i = 0; i < front.below; ++i) {
            row.load(rest + i * w);
            for (std::uint32_t a = 0; a < together; ++a) x[a].subtract(column[a][front.columns + i], row);
        }
        for (std::uint32_t a = together; a-- > 0;) {
            for (std::uint32_t i = j + a + 1; i < front.columns; ++i) {
                row.load(own + i * w);
                x[a].subtract(column[a][i], row);
            }
            x[a].divide(column[a][j + a]);
            x[a].store(own + (j + a) * w);
        }
    }
};

// Solves L Lᵀ x = b in place for w columns, in vectors of n numbers. `value`: of L; x: rows in the order of
// elimination; `live`: of each front, whether a row of its columns may have a number other than 0.
template <std::size_t w, std::size_t n>
void solve_columns(const Cholesky::Plan& plan, const double* value, double* x, std::vector<std::uint8_t>& live,
                   double least) {
    constexpr std::uint32_t together = 4;
    const FrontTree& tree = plan.tree;
    std::uint32_t most = 0;
    for (const Front& f : tree.fronts) most = std::max(most, f.below);
    std::vector<double> rest(most * w);  // of the rows below a front
    const auto within = [](const double* values, std::size_t rows, double bound) {
        return std::all_of(values, values + rows * w, [&](double each) { return std::abs(each) <= bound; });
    };
    const auto below = [&](const Front& f, std::uint32_t i) { return x + std::size_t{plan.rows[f.row + i]} * w; };
    for (std::size_t s = 0; s < tree.fronts.size(); ++s) {
        if (!live[s]) continue;
        const Front& f = tree.fronts[s];
        // The rows below a front are rows of its parent.
        if (tree.parent[s] != no_index) live[tree.parent[s]] = 1;
        double* const own = x + std::size_t{f.first} * w;
        std::fill_n(rest.begin(), f.below * w, 0.0);
        std::uint32_t j = 0;
        for (; j + together <= f.columns; j += together)
            FrontColumns<w, n, together>(f, value, j).forward(own, rest.data());
        for (; j < f.columns; ++j) FrontColumns<w, n, 1>(f, value, j).forward(own, rest.data());
        for (std::uint32_t i = 0; i < f.below; ++i)
            for (std::size_t c = 0; c < w; ++c) below(f, i)[c] -= rest[i * w + c];
    }
    std::vector<std::uint8_t> quiet(tree.fronts.size());  // nothing in the front's rows is more than `least`
    for (std::size_t s = tree.fronts.size(); s-- > 0;) {
        const Front& f = tree.fronts[s];
        double* const own = x + std::size_t{f.first} * w;
        quiet[s] = !live[s] && (tree.parent[s] == no_index || quiet[tree.parent[s]]);
        if (quiet[s]) continue;
        for (std::uint32_t i = 0; i < f.below; ++i) std::copy_n(below(f, i), w, rest.data() + i * w);
        quiet[s] = within(rest.data(), f.below, least);
        if (quiet[s] && (!live[s] || within(own, f.columns, 0))) continue;
        live[s] = 1;
        std::uint32_t j = f.columns;
        for (; j >= together; j -= together)
            FrontColumns<w, n, together>(f, value, j - together).back(own, rest.data());
        while (j-- > 0) FrontColumns<w, n, 1>(f, value, j).back(own, rest.data());
        quiet[s] = quiet[s] && within(own, f.columns, least);
    }
}

template <std::size_t bytes>
void solve_with(const Cholesky::Plan& plan, const double* value, double* x, std::vector<std::uint8_t>& live,
                double least) {
    solve_columns<Cholesky::kBatch, bytes / sizeof(double)>(plan, value, x, live, least);
}
#if defined(SINEW_VECTORS)
SINEW_FOR_AVX2 void solve_avx2(const Cholesky::Plan& plan, const double* value, double* x,
                               std::vector<std::uint8_t>& live, double least) {
    solve_with<kAvx2Vector>(plan, value, x, live, least);
}
SINEW_FOR_AVX512 void solve_avx512(const Cholesky::Plan& plan, const double* value, double* x,
                                   std::vector<std::uint8_t>& live, double least) {
    solve_with<kAvx512Vector>(plan, value, x, live, least);
}
const auto solve_best = best_of(solve_with<kAnyVector>, solve_avx2, solve_avx512);
#else
const auto solve_best = solve_with<kAnyVector>;
#endif

}  // namespace

Cholesky::Batch::Batch(const Cholesky& factors)
    : factors_(&factors), x_(factors.size() * kBatch, 0), live_(factors.plan_->tree.fronts.size(), 0) {}

void Cholesky::Batch::add(std::size_t row, std::size_t column, double value) {
    const std::size_t place = factors_->place(row);
    x_[place * kBatch + column] += value;
    live_[factors_->plan_->front_of[place]] = 1;
}

void Cholesky::Batch::solve(double least) {
    solve_best(*factors_->plan_, factors_->value_.get(), x_.data(), live_, least);
}

const double* Cholesky::Batch::row_at(std::size_t place) const {
    return live_[factors_->plan_->front_of[place]] ? x_.data() + place * kBatch : nullptr;
}

void Cholesky::Batch::clear() {
    for (std::size_t s = 0; s < live_.size(); ++s) {
        if (!std::exchange(live_[s], 0)) continue;
        const Front& f = factors_->plan_->tree.fronts[s];
        std::fill_n(x_.begin() + static_cast<std::ptrdiff_t>(f.first * kBatch), f.columns * kBatch, 0.0);
    }
}

std::vector<double> Cholesky::solve(std::span<const double> b) const {
    std::vector<std::uint8_t> live(plan_->tree.fronts.size(), 1);
    std::vector<double> x(b.size()), out(b.size());
    for (std::size_t i = 0; i < b.size(); ++i) x[plan_->place[i]] = b[i];
    solve_columns<1, 1>(*plan_, value_.get(), x.data(), live, 0);
    for (std::size_t i = 0; i < b.size(); ++i) out[i] = x[plan_->place[i]];
    return out;
}

}  // namespace sinew
