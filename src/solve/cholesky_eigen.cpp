// The order is Eigen's (approximate minimum degree), and so is what is dense; between them lies what is ours: which
// columns make a front, how fronts add up to those above them, and solves in which one pass over the factor serves
// a batch of right hand sides.
#define EIGEN_MPL2_ONLY

#include <Eigen/Cholesky>
#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "core/parallel.h"
#include "solve/cholesky.h"

namespace sinew {
namespace {

constexpr std::uint32_t kNone = 0xffffffffu;

Error too_large(double bytes, std::size_t limit) {
    return {ErrorCode::too_large, "the factors of a sparse matrix need " +
                                      std::to_string(static_cast<std::size_t>(bytes) >> 20) +
                                      " MB, more than the limit of " + std::to_string(limit >> 20) + " MB"};
}

// Lists of entries for each of n rows or columns, of the lower triangle.
struct Lists {
    std::vector<std::uint64_t> first;  // n + 1
    std::vector<std::uint32_t> other;
    std::vector<double> value;

    // Entries in the order in which they are given; by column with their values, or by row without.
    Lists(std::size_t n, std::span<const MatrixEntry> entries, const std::vector<std::uint32_t>& place,
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
};

// Where each row comes when those with the fewest neighbours left are eliminated first.
std::vector<std::uint32_t> minimum_degree(std::size_t size, std::span<const MatrixEntry> entries) {
    using Pattern = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;
    const auto n = static_cast<Eigen::Index>(size);
    Pattern a(n, n);
    std::vector<Eigen::Triplet<double, int>> lower;
    lower.reserve(entries.size());
    for (const MatrixEntry& e : entries)
        lower.emplace_back(static_cast<int>(std::max(e.row, e.column)), static_cast<int>(std::min(e.row, e.column)),
                           1);
    a.setFromTriplets(lower.begin(), lower.end());
    lower = {};
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
    Eigen::AMDOrdering<int>()(a.selfadjointView<Eigen::Lower>(), order);
    std::vector<std::uint32_t> place(size);
    for (std::size_t k = 0; k < size; ++k)
        place[static_cast<std::size_t>(order.indices()[static_cast<Eigen::Index>(k)])] =
            static_cast<std::uint32_t>(k);
    return place;
}

// The column of which each column is eliminated next (Liu 1986); kNone for the last of a component.
std::vector<std::uint32_t> elimination_tree(const Lists& rows) {
    const std::size_t n = rows.first.size() - 1;
    std::vector<std::uint32_t> parent(n, kNone), above(n, kNone);
    for (std::uint32_t i = 0; i < n; ++i)
        for (std::uint32_t j : rows[i])
            while (j != kNone && j < i) {
                const std::uint32_t next = above[j];
                above[j] = i;
                if (next == kNone) parent[j] = i;
                j = next;
            }
    return parent;
}

// Children before their parents, those of a column one after the other.
std::vector<std::uint32_t> postorder(const std::vector<std::uint32_t>& parent) {
    const std::size_t n = parent.size();
    std::vector<std::uint32_t> child(n, kNone), sibling(n, kNone), place(n), stack;
    for (std::size_t i = n; i-- > 0;)
        if (parent[i] != kNone) sibling[i] = child[parent[i]], child[parent[i]] = static_cast<std::uint32_t>(i);
    std::uint32_t next = 0;
    for (std::uint32_t root = 0; root < n; ++root) {
        if (parent[root] != kNone) continue;
        stack.push_back(root);
        while (!stack.empty()) {
            const std::uint32_t top = stack.back();
            if (child[top] != kNone) {
                stack.push_back(child[top]);
                child[top] = kNone;
                continue;
            }
            place[top] = next++;
            stack.pop_back();
            if (sibling[top] != kNone) stack.push_back(sibling[top]);
        }
    }
    return place;
}

// Entries of each column of L, its diagonal among them.
std::vector<std::uint32_t> count_columns(const Lists& rows, const std::vector<std::uint32_t>& parent) {
    const std::size_t n = parent.size();
    std::vector<std::uint32_t> count(n, 1), seen(n, kNone);
    for (std::uint32_t i = 0; i < n; ++i) {
        seen[i] = i;
        for (std::uint32_t j : rows[i])
            for (; seen[j] != i; j = parent[j]) ++count[j], seen[j] = i;
    }
    return count;
}

using Front = Cholesky::Front;

// Of L, below the diagonal of a front and on it.
double entries_of(double columns, double below) { return columns * (0.5 * (columns + 1) + below); }

// Whether two fronts are better one: small ones cost more to add up than the zeros that they get (after CHOLMOD).
bool worth_merging(double columns, double zeros, double entries) {
    return columns <= 4 || (columns <= 16 && zeros < 0.4 * entries) || (columns <= 48 && zeros < 0.1 * entries) ||
           zeros < 0.05 * entries;
}

struct Tree {
    std::vector<Front> fronts;
    std::vector<std::uint32_t> parent;  // of a front
};

// Columns that have the same rows below, and fronts that are merged with the first of those above.
Tree find_fronts(const std::vector<std::uint32_t>& parent, const std::vector<std::uint32_t>& count) {
    const auto n = static_cast<std::uint32_t>(parent.size());
    std::vector<Front> fronts;
    std::vector<std::uint32_t> front_of(n), up, ending(n, kNone);
    for (std::uint32_t j = 0; j < n; ++j) {
        if (j == 0 || parent[j - 1] != j || count[j - 1] != count[j] + 1) fronts.push_back({j, 0, 0, 0, 0});
        ++fronts.back().columns;
        fronts.back().below = count[j] - 1;
        front_of[j] = static_cast<std::uint32_t>(fronts.size() - 1);
    }
    for (const Front& f : fronts) {
        const std::uint32_t last = f.first + f.columns - 1;
        ending[last] = front_of[last];
        up.push_back(parent[last] == kNone ? kNone : front_of[parent[last]]);
    }
    std::vector<double> zeros(fronts.size(), 0);
    std::vector<std::uint32_t> into(fronts.size(), kNone);  // which one it became part of
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
    // What a front became part of comes later and stands for itself, or became part of another.
    Tree tree;
    std::vector<std::uint32_t> number(fronts.size());
    for (std::uint32_t s = 0; s < fronts.size(); ++s) {
        if (into[s] != kNone) continue;
        number[s] = static_cast<std::uint32_t>(tree.fronts.size());
        tree.fronts.push_back(fronts[s]);
    }
    for (std::uint32_t s = 0; s < fronts.size(); ++s) {
        if (into[s] != kNone) continue;
        std::uint32_t above = up[s];
        while (above != kNone && into[above] != kNone) above = into[above];
        tree.parent.push_back(above == kNone ? kNone : number[above]);
    }
    return tree;
}

using Panel = Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>>;

}  // namespace

double estimate_cholesky_memory(double rows, double row_entries) {
    // Fill grows as n log n on planar graphs (nested dissection); 24 bytes for each entry are a guess on the safe
    // side for what is kept, zeros in fronts, and updates that wait. What is really needed is counted before the
    // numbers are computed.
    const double fill = 0.45 * row_entries * std::log2(std::max(rows, 2.0));
    return rows * (24 * fill + 40 * row_entries);
}

Result<Cholesky> Cholesky::factor(std::size_t size, std::span<const MatrixEntry> entries, Context* context) {
    constexpr double most = std::numeric_limits<int>::max();
    if (static_cast<double>(size) > most || static_cast<double>(entries.size()) > most)
        return Error{ErrorCode::too_large, "a sparse matrix has more than 2^31 rows or entries"};
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while factoring"};

    Cholesky out;
    out.place_ = minimum_degree(size, entries);
    {
        const std::vector<std::uint32_t> after =
            postorder(elimination_tree(Lists(size, entries, out.place_, false)));
        for (std::uint32_t& place : out.place_) place = after[place];
    }
    std::vector<std::uint32_t> up;
    {
        const Lists rows(size, entries, out.place_, false);
        const std::vector<std::uint32_t> parent = elimination_tree(rows);
        Tree tree = find_fronts(parent, count_columns(rows, parent));
        out.fronts_ = std::move(tree.fronts);
        up = std::move(tree.parent);
    }
    std::vector<Front>& fronts = out.fronts_;
    double filled = 0, work = 0;
    std::vector<double> below_work(fronts.size(), 0);  // of a front and those below it
    std::vector<std::vector<std::uint32_t>> children(fronts.size());
    for (std::uint32_t s = 0; s < fronts.size(); ++s) {
        Front& f = fronts[s];
        f.value = static_cast<std::uint64_t>(filled);
        const double own_entries = static_cast<double>(f.columns) * static_cast<double>(f.rows());
        filled += own_entries;
        const double own = own_entries * static_cast<double>(f.rows());
        work += own;
        below_work[s] += own;
        if (up[s] == kNone) continue;
        children[up[s]].push_back(s);
        below_work[up[s]] += below_work[s];
    }
    // Updates that wait for the fronts that they are added to, one after the other.
    double waiting = 0, most_waiting = 0;
    for (std::uint32_t s = 0; s < fronts.size(); ++s) {
        const auto square = [&](std::uint32_t k) { return std::pow(static_cast<double>(fronts[k].below), 2); };
        most_waiting = std::max(most_waiting, waiting += square(s));
        for (const std::uint32_t child : children[s]) waiting -= square(child);
    }
    out.nonzeros_ = static_cast<std::size_t>(filled);
    if (context && context->memory_limit) {
        const double bytes = 8 * (filled + 2 * most_waiting) + 24 * static_cast<double>(entries.size()) +
                             60 * static_cast<double>(size);
        if (bytes > static_cast<double>(context->memory_limit)) return too_large(bytes, context->memory_limit);
    }
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while factoring"};

    const Lists columns(size, entries, out.place_, true);
    // Rows below each front: those of its columns and of the fronts below it.
    {
        std::vector<std::uint32_t> seen(size, kNone);
        for (std::uint32_t s = 0; s < fronts.size(); ++s) {
            Front& f = fronts[s];
            f.row = out.row_.size();
            const std::uint32_t end = f.first + f.columns;
            const auto add = [&](std::uint32_t row) {
                if (row < end || seen[row] == s) return;
                seen[row] = s;
                out.row_.push_back(row);
            };
            for (std::uint32_t j = f.first; j < end; ++j)
                for (const std::uint32_t row : columns[j]) add(row);
            for (const std::uint32_t child : children[s])
                for (std::uint32_t k = 0; k < fronts[child].below; ++k) add(out.row_[fronts[child].row + k]);
            std::sort(out.row_.begin() + static_cast<std::ptrdiff_t>(f.row), out.row_.end());
        }
    }
    out.value_.reset(new double[out.nonzeros_ + 1]);  // set front by front

    std::vector<std::unique_ptr<double[]>> update(fronts.size());  // below × below, the lower triangle
    std::atomic<std::uint32_t> failed{kNone};  // the first column that is; what comes before it goes on
    // `local`: room for a number per row.
    const auto eliminate = [&](std::uint32_t s, std::uint32_t* local, Context* side_by_side) {
        const Front& f = fronts[s];
        const std::uint32_t m = f.rows(), c = f.columns, r = f.below;
        const std::uint32_t* const rows = out.row_.data() + f.row;
        double* const panel = out.value_.get() + f.value;
        std::fill_n(panel, std::size_t{m} * c, 0.0);
        std::unique_ptr<double[]> rest(r > 0 ? new double[std::size_t{r} * r]() : nullptr);
        for (std::uint32_t k = 0; k < c; ++k) local[f.first + k] = k;
        for (std::uint32_t k = 0; k < r; ++k) local[rows[k]] = c + k;
        for (std::uint32_t k = 0; k < c; ++k)
            for (std::uint64_t e = columns.first[f.first + k]; e < columns.first[f.first + k + 1]; ++e)
                panel[std::size_t{k} * m + local[columns.other[e]]] += columns.value[e];
        for (const std::uint32_t child : children[s]) {
            const std::uint32_t* const theirs = out.row_.data() + fronts[child].row;
            const std::uint32_t n = fronts[child].below;
            const double* from = update[child].get();
            for (std::uint32_t j = 0; j < n; ++j, from += n) {
                const std::uint32_t column = local[theirs[j]];
                double* const to =
                    column < c ? panel + std::size_t{column} * m : rest.get() + std::size_t{column - c} * r;
                const std::uint32_t before = column < c ? 0 : c;  // rows that the update does not have
                for (std::uint32_t i = j; i < n; ++i) to[local[theirs[i]] - before] += from[i];
            }
            update[child].reset();
        }
        Panel whole(panel, m, c, Eigen::OuterStride<>(m));
        auto top = whole.topRows(c);
        if (const Eigen::Index at = Eigen::internal::llt_inplace<double, Eigen::Lower>::blocked(top); at >= 0) {
            std::uint32_t seen = failed.load();
            const auto column = f.first + static_cast<std::uint32_t>(at);
            while (column < seen && !failed.compare_exchange_weak(seen, column)) {
            }
            return;
        }
        if (r == 0) return;
        auto bottom = whole.bottomRows(r);
        top.triangularView<Eigen::Lower>().adjoint().solveInPlace<Eigen::OnTheRight>(bottom);
        // Stripes, so that those of large fronts can be made side by side.
        constexpr std::uint32_t stripe = 128;
        Panel left(rest.get(), r, r, Eigen::OuterStride<>(r));
        const auto side = static_cast<Eigen::Index>(r);
        const auto make = [&](std::size_t k) {
            const auto begin = static_cast<Eigen::Index>(k * stripe),
                       end = std::min<Eigen::Index>(begin + stripe, side);
            left.block(begin, begin, end - begin, end - begin)
                .selfadjointView<Eigen::Lower>()
                .rankUpdate(bottom.middleRows(begin, end - begin), -1);
            if (end < side)
                left.block(end, begin, side - end, end - begin).noalias() -=
                    bottom.bottomRows(side - end) * bottom.middleRows(begin, end - begin).transpose();
        };
        const std::size_t stripes = (r + stripe - 1) / stripe;
        if (side_by_side && stripes > 1)
            parallel_for(side_by_side, stripes, 1, make);
        else
            for (std::size_t k = 0; k < stripes; ++k) make(k);
        update[s] = std::move(rest);
    };

    // Subtrees that are small beside the whole, one beside the other; then what is above them. Which they are does
    // not depend on threads, nor do the sums.
    const double share = work / 16;
    std::vector<std::uint32_t> roots;
    std::vector<bool> in_subtree(fronts.size(), false);
    for (auto s = static_cast<std::uint32_t>(fronts.size()); s-- > 0;) {
        const bool small = below_work[s] <= share;
        in_subtree[s] = small;
        if (small && (up[s] == kNone || !in_subtree[up[s]])) roots.push_back(s);
    }
    std::vector<std::uint32_t> first_of(fronts.size());  // first front of the subtree
    for (std::uint32_t s = 0; s < fronts.size(); ++s)
        first_of[s] = children[s].empty() ? s : first_of[children[s].front()];
    std::reverse(roots.begin(), roots.end());
    // Tiny ones together.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> tasks;  // fronts, of subtrees that follow each other
    double gathered = 0;
    for (const std::uint32_t root : roots) {
        if (!tasks.empty() && tasks.back().second == first_of[root] && gathered + below_work[root] <= share / 4) {
            tasks.back().second = root + 1;
            gathered += below_work[root];
        } else {
            tasks.emplace_back(first_of[root], root + 1);
            gathered = below_work[root];
        }
    }
    parallel_for(context, tasks.size(), 1, [&](std::size_t k) {
        const std::unique_ptr<std::uint32_t[]> local(new std::uint32_t[size]);
        for (std::uint32_t s = tasks[k].first; s < tasks[k].second; ++s) {
            if (cancelled(context) || failed.load() < fronts[s].first) return;
            eliminate(s, local.get(), nullptr);
        }
    });
    const std::unique_ptr<std::uint32_t[]> local(new std::uint32_t[size]);
    for (std::uint32_t s = 0; s < fronts.size(); ++s) {
        if (cancelled(context) || failed.load() < fronts[s].first) break;
        if (!in_subtree[s]) eliminate(s, local.get(), context);
    }
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while factoring"};
    std::uint32_t bad = failed.load();
    for (const Front& f : fronts)
        for (std::uint32_t k = 0; k < f.columns && bad == kNone; ++k)
            if (!std::isfinite(out.value_[f.value + std::size_t{k} * f.rows() + k])) bad = f.first + k;
    if (bad != kNone) {
        const auto row = std::find(out.place_.begin(), out.place_.end(), bad) - out.place_.begin();
        return Error{ErrorCode::internal, "a sparse matrix is not positive definite at row " + std::to_string(row)};
    }
    return out;
}

void Cholesky::solve_batch(std::span<double> columns) const {
    constexpr std::size_t w = kBatch;
    const std::size_t n = size();
    std::vector<double> x(n * w);
    for (std::size_t i = 0; i < n; ++i)
        std::copy_n(columns.data() + i * w, w, x.data() + std::size_t{place_[i]} * w);
    std::uint32_t most = 0;
    for (const Front& f : fronts_) most = std::max(most, f.below);
    std::vector<double> rest(most * w);  // of the rows below a front
    for (const Front& f : fronts_) {
        const double* l = value_.get() + f.value;
        double* const own = x.data() + std::size_t{f.first} * w;
        std::fill_n(rest.begin(), f.below * w, 0.0);
        for (std::uint32_t j = 0; j < f.columns; ++j, l += f.rows()) {
            double pivot[w];
            for (std::size_t c = 0; c < w; ++c) pivot[c] = own[j * w + c] /= l[j];
            for (std::uint32_t i = j + 1; i < f.columns; ++i)
                for (std::size_t c = 0; c < w; ++c) own[i * w + c] -= l[i] * pivot[c];
            for (std::uint32_t i = 0; i < f.below; ++i)
                for (std::size_t c = 0; c < w; ++c) rest[i * w + c] += l[f.columns + i] * pivot[c];
        }
        for (std::uint32_t i = 0; i < f.below; ++i) {
            double* const to = x.data() + std::size_t{row_[f.row + i]} * w;
            for (std::size_t c = 0; c < w; ++c) to[c] -= rest[i * w + c];
        }
    }
    for (std::size_t s = fronts_.size(); s-- > 0;) {
        const Front& f = fronts_[s];
        double* const own = x.data() + std::size_t{f.first} * w;
        for (std::uint32_t i = 0; i < f.below; ++i)
            std::copy_n(x.data() + std::size_t{row_[f.row + i]} * w, w, rest.data() + i * w);
        for (std::uint32_t j = f.columns; j-- > 0;) {
            const double* const l = value_.get() + f.value + std::size_t{j} * f.rows();
            double sum[w];
            std::copy_n(own + j * w, w, sum);
            for (std::uint32_t i = 0; i < f.below; ++i)
                for (std::size_t c = 0; c < w; ++c) sum[c] -= l[f.columns + i] * rest[i * w + c];
            for (std::uint32_t i = j + 1; i < f.columns; ++i)
                for (std::size_t c = 0; c < w; ++c) sum[c] -= l[i] * own[i * w + c];
            for (std::size_t c = 0; c < w; ++c) own[j * w + c] = sum[c] / l[j];
        }
    }
    for (std::size_t i = 0; i < n; ++i)
        std::copy_n(x.data() + std::size_t{place_[i]} * w, w, columns.data() + i * w);
}

std::vector<double> Cholesky::solve(std::span<const double> b) const {
    std::vector<double> batch(size() * kBatch, 0.0), out(size());
    for (std::size_t i = 0; i < size(); ++i) batch[i * kBatch] = b[i];
    solve_batch(batch);
    for (std::size_t i = 0; i < size(); ++i) out[i] = batch[i * kBatch];
    return out;
}

}  // namespace sinew
