#include "bind/joint_means.h"

#include "bind/label_means.h"

namespace sinew {
namespace {

bool same_joints(std::span<const Label> a, std::span<const Label> b) {
    Label differ = 0;
    for (std::size_t k = 0; k < a.size(); ++k) differ |= a[k] ^ b[k];
    return (differ & kLabelJointMask) == 0;
}

}  // namespace

inline std::size_t JointMeans::slot(std::uint32_t joint) {
    std::uint32_t& at = slot_of_[joint];
    if (at < count_ && joint_[at] == joint) return at;
    at = static_cast<std::uint32_t>(count_);
    joint_[count_] = joint;
    share_[count_] = sum_[count_] = 0;
    return count_++;
}

JointMean* JointMeans::measure(const LeafStencil& stencil, std::uint32_t reading, const LeafDistances& field,
                               JointMean* out) {
    if (stencil.count == 0) return out;
    const std::span<const Label> first = field.row(stencil.leaf[0]);
    std::size_t width = 0;  // labels of the first leaf
    while (width < first.size() && first[width] != kNoLabel) ++width;
    std::size_t added = 0;
    count_ = 0;
    if (first.size() == MatchingRows::kLabels) {
        const MatchingRows rows(stencil, field);
        if (rows.all_added()) {
            for (std::size_t k = 0; k < width; ++k) *out++ = {rows.mean(k), joint_of(first[k]), reading};
            return out;
        }
        added = rows.added();
        for (std::size_t k = 0; k < width; ++k) {
            const std::size_t at = slot(joint_of(first[k]));
            share_[at] = rows.share();
            sum_[at] = rows.sum(at);
        }
    }
    for (std::size_t k = added; k < static_cast<std::size_t>(stencil.count); ++k) {
        const std::span<const Label> labels = field.row(stencil.leaf[k]);
        const double share = stencil.share[k];
        if (k > 0 && same_joints(labels, first)) {
            for (std::size_t at = 0; at < width; ++at) share_[at] += share;
            for (std::size_t at = 0; at < width; ++at) sum_[at] += share * distance_of(labels[at]);
            continue;
        }
        for (std::size_t i = 0; i < labels.size() && labels[i] != kNoLabel; ++i) {
            const std::size_t at = slot(joint_of(labels[i]));
            share_[at] += share;
            sum_[at] += share * distance_of(labels[i]);
        }
    }
    for (std::size_t at = 0; at < count_; ++at) *out++ = {sum_[at] / share_[at], joint_[at], reading};
    return out;
}

}  // namespace sinew
