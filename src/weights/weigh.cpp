// Falloff and finish in one pass, for distances and heat that are kept while a slider moves.
//
// Rows come sorted by distance, and the inverse power falls with it (or by heat, and the power rises), so a limit
// of K needs K + 1 powers of a row, the first of which is 1. They are raised many rows at a time. Rows so nearly
// tied where the limit cuts that rounding decides, and other laws, take the same way as apply_falloff and finish.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/parallel.h"
#include "weights/finish_row.h"
#include "weights/law.h"
#include "weights/power.h"

namespace sinew {
namespace {

constexpr std::size_t kBatch = 64;

// A table of either kind.
struct Rows {
    std::size_t vertices, width;
    std::span<const std::uint32_t> joint;
    std::span<const float> value;  // distances, or strengths
    double unit;                   // of distances; 0: these are strengths

    explicit Rows(const DistanceTable& t)
        : vertices(t.vertices), width(t.width), joint(t.joint), value(t.distance), unit(t.unit) {}
    explicit Rows(const InfluenceTable& t)
        : vertices(t.vertices), width(t.width), joint(t.joint), value(t.strength), unit(0) {}

    bool heat() const { return unit == 0; }
    /// What the law is applied to; NaN in an empty slot.
    double at(std::size_t slot) const {
        const float x = value[slot];
        if (joint[slot] == DistanceTable::none || !(x < INFINITY) || (heat() && !(x > 0))) return NAN;
        return heat() ? static_cast<double>(x) : x / unit;
    }
};

class Weigher {
public:
    Weigher(const Rows& table, const FalloffOptions& falloff, const FinishOptions& finish)
        : table_(table),
          falloff_(falloff),
          finish_(finish),
          law_(falloff),
          keep_(finish.max_influences == all_influences ? table.width
                                                        : static_cast<std::size_t>(finish.max_influences)),
          batches_((table.heat() || falloff.law == FalloffLaw::inverse_power) && table.width > 1),
          value_(kBatch * table.width),
          power_(kBatch * table.width),
          exponent_(kBatch * table.width),
          share_(table.width),
          joint_(table.width),
          strength_(table.width) {}

    /// Rows begin to end, at most kBatch. Writes them from `out` on, where there is room, and returns where they
    /// end.
    Influence* run(std::size_t begin, std::size_t end, Influence* out, std::uint64_t* count) {
        const std::size_t n = end - begin;
        std::array<std::size_t, kBatch> whole{}, wanted{};  // entries of each row, and of those to be computed
        if (batches_) {
            for (std::size_t i = 0; i < n; ++i) {
                whole[i] = read(begin + i, value_.data() + i * table_.width);
                wanted[i] = std::min(whole[i], keep_ + 1);
            }
            raise_batch(begin, n, whole, wanted);
        }
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t v = begin + i;
            const double* value = value_.data() + i * table_.width;
            const bool tied = wanted[i] < whole[i] && ratio(value[wanted[i] - 1], value[wanted[i]]) >= 1 - 1e-5;
            std::size_t left =
                whole[i] == 0 || tied ? straight(v) : sorted(v, power_.data() + i * table_.width, wanted[i]);
            left = finish_row(std::span(share_).first(left), keep_, finish_);
            count[i] = write_row(std::span(share_).first(left), out);
            out += count[i];
        }
        return out;
    }

private:
    // Of a value to one before it in a row: at most 1.
    double ratio(double first, double later) const {
        return table_.heat() ? std::max(later / first, 1e-300) : first / later;
    }

    // What the power is taken of, before the quotient: of all entries of the row, or of as many as matter. Returns
    // how many; 0 for a row that is empty or out of order.
    std::size_t read(std::size_t v, double* value) const {
        const std::size_t most = falloff_.map.of_joint.empty() ? std::min(table_.width, keep_ + 2) : table_.width;
        const std::size_t first = v * table_.width;
        std::size_t n = most;
        while (n > 0 && std::isnan(table_.at(first + n - 1))) --n;
        const double least = table_.heat() ? 0 : falloff_.tolerance;
        bool fine = true;
        for (std::size_t k = 0; k < n; ++k) {
            const double x = table_.at(first + k);
            value[k] = x > least ? x : least;
            // Written so that NaN fails.
            fine = fine &&
                   (table_.heat() ? k == 0 || value[k] <= value[k - 1] : k == 0 || value[k] >= value[k - 1]) &&
                   !std::isnan(x);
        }
        return fine ? n : 0;
    }

    void raise_batch(std::size_t begin, std::size_t n, std::span<const std::size_t> whole,
                     std::span<const std::size_t> wanted) {
        std::array<double, kBatch> alpha;
        alpha.fill(law_.base());
        const FalloffMap& map = falloff_.map;
        if (!map.of_joint.empty()) {
            raise_rows(n, whole, alpha);
            for (std::size_t i = 0; i < n; ++i) {
                double sum = 0, mean = 0;
                for (std::size_t k = 0; k < whole[i]; ++k) {
                    const double s = power_[i * table_.width + k];
                    sum += s;
                    mean += s * law_.of_joint(table_.joint[(begin + i) * table_.width + k]);
                }
                if (whole[i] > 0) alpha[i] = mean / sum;
            }
        }
        if (!map.of_vertex.empty())
            for (std::size_t i = 0; i < n; ++i)
                if (const double own = law_.of_vertex(begin + i); !std::isnan(own)) alpha[i] = own;
        raise_rows(n, wanted, alpha);
    }

    // Fills power_ with the first count[i] strengths of each row.
    void raise_rows(std::size_t n, std::span<const std::size_t> count, std::span<const double> alpha) {
        std::size_t to = 0;  // packed, without the first of each, which is 1
        for (std::size_t i = 0; i < n; ++i) {
            const double* value = value_.data() + i * table_.width;
            const double exponent = law_.exponent(alpha[i]);
            for (std::size_t k = 1; k < count[i]; ++k, ++to) {
                packed_[to] = ratio(value[0], value[k]);
                exponent_[to] = exponent;
            }
        }
        raise({packed_.data(), to}, {exponent_.data(), to});
        std::size_t from = 0;
        for (std::size_t i = 0; i < n; ++i) {
            double* power = power_.data() + i * table_.width;
            if (count[i] > 0) power[0] = 1;
            for (std::size_t k = 1; k < count[i]; ++k) power[k] = packed_[from++];
        }
    }

    // Shares of a row of falling strengths, by what they are as floats. Returns how many.
    std::size_t sorted(std::size_t v, const double* strength, std::size_t n) {
        const std::uint32_t* joint = table_.joint.data() + v * table_.width;
        std::size_t count = 0;
        for (std::size_t k = 0; k < n; ++k) {
            const auto s = static_cast<float>(strength[k]);
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

    // The same for any row, as apply_falloff does it.
    std::size_t straight(std::size_t v) {
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

    const Rows table_;
    const FalloffOptions& falloff_;
    const FinishOptions& finish_;
    const Law law_;
    const std::size_t keep_;
    const bool batches_;
    std::vector<double> value_, power_, exponent_;
    std::vector<double> packed_ = std::vector<double>(power_.size());
    std::vector<Share> share_;
    std::vector<std::uint32_t> joint_;
    std::vector<float> strength_;
    LawRow row_;
};

Result<SkinWeights> weigh_rows(const Rows& table, const FalloffOptions& falloff, const FinishOptions& finish,
                               Context* context) {
    WeightRows rows(table.vertices);
    const std::size_t keep =
        finish.max_influences == all_influences ? table.width : static_cast<std::size_t>(finish.max_influences);
    parallel_chunks(context, table.vertices, WeightRows::per_chunk,
                    [&](std::size_t c, std::size_t begin, std::size_t end) {
                        if (cancelled(context)) return;
                        Weigher weigher(table, falloff, finish);
                        std::vector<Influence>& part = rows.part[c];
                        part.resize((end - begin) * std::min(keep, table.width));
                        Influence* out = part.data();
                        for (std::size_t v = begin; v < end; v += kBatch)
                            out = weigher.run(v, std::min(end, v + kBatch), out, rows.first.data() + v + 1);
                        part.resize(static_cast<std::size_t>(out - part.data()));
                    });
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while weighing"};
    return rows.assemble(context);
}

}  // namespace

Result<SkinWeights> weigh(const DistanceTable& distances, const FalloffOptions& falloff,
                          const FinishOptions& finish, Context* context) {
    if (Status ok = check(finish); !ok) return ok.error();
    if (Status ok = check_distances(distances, falloff); !ok) return ok.error();
    return weigh_rows(Rows(distances), falloff, finish, context);
}

Result<SkinWeights> weigh(const InfluenceTable& strengths, const FalloffOptions& falloff,
                          const FinishOptions& finish, Context* context) {
    if (Status ok = check(finish); !ok) return ok.error();
    if (Status ok = check_strengths(strengths, falloff); !ok) return ok.error();
    return weigh_rows(Rows(strengths), falloff, finish, context);
}

}  // namespace sinew
