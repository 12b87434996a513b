// Kernel: see weigh_batch.h.
//
// Rows are sorted by distance, and the inverse power falls with it (or by heat, and the power rises). So a limit of
// K needs K + 1 powers per row, the first of which is 1. Other laws, and rows whose entries at the limit are so
// nearly equal that rounding decides, are processed one by one, like in apply_falloff and finish.
#include "weights/weigh_batch.h"

#include <algorithm>
#include <array>

#include "core/processor.h"
#include "weights/finish_row.h"
#include "weights/law.h"
#include "weights/power.h"

namespace sinew {
namespace {

constexpr std::size_t kBatch = 64;
// Entries with a quotient of at least this are so nearly equal that the limit must treat them like
// apply_falloff.
constexpr double kTied = 1 - 1e-5;

class Weigher {
public:
    Weigher(const TableRows& table, const FalloffOptions& falloff, const FinishOptions& finish)
        : table_(table),
          falloff_(falloff),
          finish_(finish),
          law_(falloff, finish.max_influences),
          keep_(finish.max_influences == all_influences ? table.width
                                                        : static_cast<std::size_t>(finish.max_influences)),
          read_(law_.has_alpha_of_joints() ? table.width : std::min(table.width, keep_ + 2)),
          has_columns_((table.heat() || falloff.law == FalloffLaw::inverse_power) && table.width > 1),
          number_(kBatch * table.width),
          value_(table.width),
          power_(table.width),
          weight_(keep_),
          share_(table.width),
          joint_(table.width),
          strength_(table.width) {}

    /// Rows begin to end, at most kBatch. Writes them to `out`, which has capacity for them, and returns the
    /// end.
    Influence* run(std::size_t begin, std::size_t end, Influence* out, std::uint64_t* count) {
        const std::size_t n = end - begin;
        entries_.fill(0);
        left_.fill(0);
        if (has_columns_) {
            read(begin, n);
            raise_rows(begin, n);
            finish_columns();
        }
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t v = begin + i;
            if (left_[i] > 0) {
                count[i] = static_cast<std::uint64_t>(left_[i]);
                // The number is unpredictable, and the output has capacity for all that a limit leaves.
                const std::size_t most = std::min(read_, keep_),
                                  written = most <= 8 ? most : static_cast<std::size_t>(left_[i]);
                for (std::size_t k = 0; k < written; ++k)
                    out[k] = {table_.joint[v * table_.width + k], static_cast<float>(weight_[k][i])};
            } else {
                std::size_t left = entries_[i] == 0 || tied(i) ? apply_law(v) : sort_strengths(v, i);
                left = finish_row(std::span(share_).first(left), keep_, finish_);
                count[i] = write_row(std::span(share_).first(left), out);
            }
            out += count[i];
        }
        return out;
    }

    /// Of a row.
    std::size_t most_weights() const { return std::min(keep_, table_.width); }

    using Run = Influence* (Weigher::*)(std::size_t, std::size_t, Influence*, std::uint64_t*);
    /// run(), in vectors of four or eight if the processor has them.
    static Run best_run() {
#if defined(SINEW_VECTORS)
        return best_of<Run>(&Weigher::run, &Weigher::run_avx2, &Weigher::run_avx512);
#else
        return &Weigher::run;
#endif
    }

private:
#if defined(SINEW_VECTORS)
    SINEW_FOR_AVX2 Influence* run_avx2(std::size_t begin, std::size_t end, Influence* out, std::uint64_t* count) {
        return run(begin, end, out, count);
    }
    SINEW_FOR_AVX512 Influence* run_avx512(std::size_t begin, std::size_t end, Influence* out,
                                           std::uint64_t* count) {
        return run(begin, end, out, count);
    }
#endif

    // One number per row of the batch: loops over them become vectors.
    using Column = std::array<double, kBatch>;

    // Quotient of a value and an earlier one of its row: at most 1.
    double ratio(double first, double later) const {
        return table_.heat() ? heat_ratio(first, later) : first / later;
    }
    static double heat_ratio(double first, double later) { return std::max(later / first, 1e-300); }
    std::size_t wanted(std::size_t i) const { return std::min(static_cast<std::size_t>(entries_[i]), keep_ + 1); }
    // Whether rounding decides which entries the limit keeps.
    bool tied(std::size_t i) const {
        return static_cast<std::size_t>(entries_[i]) > keep_ + 1 &&
               ratio(value_[keep_][i], value_[keep_ + 1][i]) >= kTied;
    }

    // Collects the bases of the powers, before the quotient, NaN after the end of a row: as many entries as matter.
    // Counts them in entries_; 0 for a row that is empty or out of order.
    void read(std::size_t begin, std::size_t n) {
        const std::size_t width = table_.width;
        const std::uint32_t* joint = table_.joint.data() + begin * width;
        const float* raw = table_.value.data() + begin * width;
        const float above = table_.heat() ? 0 : -INFINITY;
        float* number = number_.data();
        for (std::size_t slot = 0; slot < n * width; ++slot)
            number[slot] = TableRows::number(joint[slot], raw[slot], above);
        for (std::size_t k = 0; k < read_; ++k) {
            Column& value = value_[k];
            for (std::size_t i = 0; i < n; ++i) value[i] = number[i * width + k];
            std::fill(value.begin() + static_cast<std::ptrdiff_t>(n), value.end(), NAN);
            if (table_.heat()) continue;
            const double unit = table_.unit, least = falloff_.tolerance;
            for (double& x : value) {
                const double d = x / unit;
                x = d < least ? least : d;
            }
        }
        for (std::size_t k = 0; k < read_; ++k) {
            const Column& value = value_[k];
            for (std::size_t i = 0; i < kBatch; ++i) entries_[i] += value[i] == value[i] ? 1.0 : 0.0;
        }
        Column fine;
        fine.fill(1);
        for (std::size_t k = 1; k < read_; ++k) {
            const Column &low = value_[table_.heat() ? k : k - 1], &high = value_[table_.heat() ? k - 1 : k],
                         &later = value_[k];
            // Written so that NaN before a number counts as out of order.
            for (std::size_t i = 0; i < kBatch; ++i)
                fine[i] = low[i] <= high[i] || later[i] != later[i] ? fine[i] : 0.0;
        }
        for (std::size_t i = 0; i < kBatch; ++i) entries_[i] *= fine[i];
    }

    void raise_rows(std::size_t begin, std::size_t n) {
        Column alpha;
        alpha.fill(falloff_.alpha);
        if (law_.has_alpha_of_joints()) {
            raise_columns(read_, alpha);
            for (std::size_t i = 0; i < n; ++i) {
                double sum = 0, mean = 0;
                for (std::size_t k = 0; k < static_cast<std::size_t>(entries_[i]); ++k) {
                    const double s = power_[k][i];
                    sum += s;
                    mean += s * law_.alpha_of_joint(table_.joint[(begin + i) * table_.width + k]);
                }
                if (entries_[i] > 0) alpha[i] = mean / sum;
            }
        }
        if (!falloff_.map.of_vertex.empty())
            for (std::size_t i = 0; i < n; ++i) alpha[i] = law_.of_vertex(begin + i).over(alpha[i]);
        raise_columns(std::min(read_, keep_ + 1), alpha);
    }

    // Fills the first columns of power_ with strengths, relative to the first. Rows without an entry, or out of
    // order, get an arbitrary number.
    void raise_columns(std::size_t count, const Column& alpha) {
        Column exponent;
        for (std::size_t i = 0; i < kBatch; ++i)
            exponent[i] = i > 0 && alpha[i] == alpha[i - 1] ? exponent[i - 1] : law_.exponent(alpha[i]);
        power_[0].fill(1);
        const Column first = value_[0];
        const bool heat = table_.heat();
        for (std::size_t k = 1; k < count; ++k) {
            Column x = value_[k];
            for (std::size_t i = 0; i < kBatch; ++i) x[i] = heat ? heat_ratio(first[i], x[i]) : first[i] / x[i];
            for (std::size_t i = 0; i < kBatch; ++i) power_[k][i] = x[i] <= 1 ? x[i] : 1;
            raise(power_[k], exponent);
        }
    }

    // The result of finish_row for rows without equal strengths: nearly all. left_ is the number of remaining
    // weights, 0 for other rows; weight_ has the weights.
    void finish_columns() {
        const std::size_t most = std::min(read_, keep_);
        Column& left = left_;
        for (std::size_t i = 0; i < kBatch; ++i) left[i] = entries_[i] > 0 ? 1.0 : 0.0;
        Column next, sum, before;
        next.fill(0);
        if (read_ > keep_)
            for (std::size_t i = 0; i < kBatch; ++i)
                next[i] = entries_[i] > static_cast<double>(keep_) ? static_cast<float>(power_[keep_][i]) : 0.0;
        if (read_ > keep_ + 1)
            for (std::size_t i = 0; i < kBatch; ++i) {
                const double x = ratio(value_[keep_][i], value_[keep_ + 1][i]);
                left[i] = x >= kTied ? 0.0 : left[i];
            }
        before = next;
        if (finish_.limit_rule != LimitRule::fade) next.fill(0);
        for (std::size_t k = most; k-- > 0;)
            for (std::size_t i = 0; i < kBatch; ++i) {
                const double strength = static_cast<float>(power_[k][i]);
                const double s = entries_[i] > static_cast<double>(k) ? strength : 0.0;
                left[i] = s > before[i] || s == 0 ? left[i] : 0.0;
                before[i] = s;
                weight_[k][i] = s > next[i] ? s - next[i] : 0.0;
            }
        sum.fill(0);
        for (std::size_t k = 0; k < most; ++k)
            for (std::size_t i = 0; i < kBatch; ++i) sum[i] += weight_[k][i];
        for (std::size_t k = 0; k < most; ++k)
            for (std::size_t i = 0; i < kBatch; ++i) weight_[k][i] /= sum[i];
        Column pruned;
        pruned.fill(0);
        for (std::size_t k = 1; k < most; ++k)
            for (std::size_t i = 0; i < kBatch; ++i) {
                const bool goes = weight_[k][i] < finish_.prune && weight_[k][i] > 0;
                pruned[i] = goes ? 1.0 : pruned[i];
                weight_[k][i] = goes ? 0.0 : weight_[k][i];
            }
        // A sum of 1 changes nothing: rows that keep everything are not normalised twice.
        sum.fill(0);
        for (std::size_t k = 0; k < most; ++k)
            for (std::size_t i = 0; i < kBatch; ++i) sum[i] += weight_[k][i];
        for (std::size_t i = 0; i < kBatch; ++i) sum[i] = pruned[i] > 0 ? sum[i] : 1.0;
        before.fill(2);
        Column count;
        count.fill(0);
        for (std::size_t k = 0; k < most; ++k)
            for (std::size_t i = 0; i < kBatch; ++i) {
                const double w = static_cast<float>(weight_[k][i] / sum[i]);
                left[i] = w < before[i] || w == 0 ? left[i] : 0.0;
                count[i] += w > 0 ? 1.0 : 0.0;
                weight_[k][i] = before[i] = w;
            }
        for (std::size_t i = 0; i < kBatch; ++i) left[i] *= count[i];
    }

    // Shares of row i of the batch, by its falling strengths as floats. Returns their number.
    std::size_t sort_strengths(std::size_t v, std::size_t i) {
        const std::uint32_t* joint = table_.joint.data() + v * table_.width;
        std::size_t count = 0;
        for (std::size_t k = 0; k < wanted(i); ++k) {
            const auto s = static_cast<float>(power_[k][i]);
            if (!(s > 0)) continue;
            std::size_t at = count++;
            for (; at > 0 &&
                   (share_[at - 1].weight < s || (share_[at - 1].weight == s && share_[at - 1].joint > joint[k]));
                 --at)
                share_[at] = share_[at - 1];
            share_[at] = {joint[k], s};
        }
        return count;
    }

    // The same for any row, like apply_falloff.
    std::size_t apply_law(std::size_t v) {
        row_.clear();
        for (std::size_t slot = v * table_.width; slot < (v + 1) * table_.width; ++slot) {
            const double x = table_.at(slot);
            if (std::isnan(x)) continue;
            row_.joint.push_back(table_.joint[slot]);
            row_.value.push_back(x);
        }
        law_.apply(v, row_);
        const std::size_t n = sorted_strengths(row_, joint_.data(), strength_.data());
        for (std::size_t k = 0; k < n; ++k) share_[k] = {joint_[k], strength_[k]};
        return n;
    }

    const TableRows table_;
    const FalloffOptions& falloff_;
    const FinishOptions& finish_;
    const Law law_;
    const std::size_t keep_, read_;  // entries of a row: those that the limit keeps, and those that matter
    const bool has_columns_;
    std::vector<float> number_;                   // of the rows of a batch, one after the other
    std::vector<Column> value_, power_, weight_;  // by slot of the row
    Column entries_, left_;                       // numbers of entries
    std::vector<Share> share_;
    std::vector<std::uint32_t> joint_;
    std::vector<float> strength_;
    LawRow row_;
};

}  // namespace

std::vector<Influence> weigh_batch(const TableRows& table, const FalloffOptions& falloff,
                                   const FinishOptions& finish, std::size_t begin, std::size_t end,
                                   std::uint64_t* count) {
    static const Weigher::Run run = Weigher::best_run();
    Weigher weigher(table, falloff, finish);
    std::vector<Influence> weights((end - begin) * weigher.most_weights());
    Influence* out = weights.data();
    for (std::size_t v = begin; v < end; v += kBatch)
        out = (weigher.*run)(v, std::min(end, v + kBatch), out, count + (v - begin));
    weights.resize(static_cast<std::size_t>(out - weights.data()));
    return weights;
}

}  // namespace sinew
