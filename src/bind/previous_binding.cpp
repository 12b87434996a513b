#include "bind/previous_binding.h"

#include <algorithm>

#include "domain/trace.h"

namespace sinew {
namespace {

// Per joint: whether its bones differ.
std::vector<bool> moved_joints(const Skeleton& skeleton, const std::vector<Bone>& before,
                               const std::vector<Bone>& now) {
    const auto by_joint = [&](const std::vector<Bone>& bones) {
        std::vector<std::vector<const Bone*>> out(skeleton.joints.size());
        for (const Bone& bone : bones) out[bone.joint].push_back(&bone);
        return out;
    };
    const auto same = [](const Bone* a, const Bone* b) {
        return a->head == b->head && a->tail == b->tail && a->open_head == b->open_head &&
               a->open_tail == b->open_tail && a->radius == b->radius && a->box.has_value() == b->box.has_value() &&
               (!a->box || (a->box->half == b->box->half && a->box->axes == b->box->axes));
    };
    const auto old = by_joint(before), fresh = by_joint(now);
    std::vector<bool> moved(skeleton.joints.size());
    for (std::size_t j = 0; j < moved.size(); ++j)
        moved[j] = !std::equal(old[j].begin(), old[j].end(), fresh[j].begin(), fresh[j].end(), same);
    return moved;
}

}  // namespace

ChangedPlaces::ChangedPlaces(const Domain& domain, const LeafDistances& before, const LeafDistances& now,
                             const LeafMatch& match, const std::vector<bool>& moved, Context* context)
    : per_side_(domain.transform.resolution / 4) {
    const int slabs = std::max(1, domain.transform.depth() / 4);
    blocks_.resize(static_cast<std::size_t>(per_side_) * per_side_ * slabs, 0);
    // A vertex reads leaves up to a voxel from its own. Those that follow each other mostly lie in the same blocks.
    struct Box {
        std::array<int, 3> first, last;
        bool operator==(const Box&) const = default;
    };
    const auto read_from = [&](std::size_t at) {
        const Domain::Leaf& leaf = domain.leaves[at];
        const int size = 1 << leaf.level;
        const auto first = [](int low) { return std::max(0, low - 1) >> 2; };
        const auto last = [&](int low, int side) { return std::min(side - 1, (low + size) >> 2); };
        return Box{{first(leaf.x), first(leaf.y), first(leaf.z)},
                   {last(leaf.x, per_side_), last(leaf.y, per_side_), last(leaf.z, slabs)}};
    };
    const auto mark = [&](const Box& box) {
        for (int z = box.first[2]; z <= box.last[2]; ++z)
            for (int y = box.first[1]; y <= box.last[1]; ++y)
                for (int x = box.first[0]; x <= box.last[0]; ++x)
                    blocks_[(static_cast<std::size_t>(z) * per_side_ + y) * per_side_ + x] = 1;
    };
    std::vector<std::uint8_t> of_moved(moved.begin(), moved.end());
    constexpr std::size_t grain = 8192;
    std::size_t next = 0;
    for (const LeafMatch::Run& run : match.runs) {
        for (; next < run.now; ++next) mark(read_from(next));
        next = run.now + run.count;
        std::vector<std::vector<Box>> changed((run.count + grain - 1) / grain);
        parallel_chunks(context, run.count, grain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const std::span<const Label> a = before.row(run.before + i), b = now.row(run.now + i);
                Label differ = 0;
                for (std::size_t k = 0; k < a.size(); ++k) differ |= a[k] ^ b[k];
                bool touched = (differ & ~kLabelDirectionMask) != 0;
                for (std::size_t k = 0; !touched && k < b.size() && b[k] != kNoLabel; ++k)
                    touched = of_moved[joint_of(b[k])];
                if (!touched) continue;
                const Box box = read_from(run.now + i);
                if (changed[chunk].empty() || changed[chunk].back() != box) changed[chunk].push_back(box);
            }
        });
        for (const auto& list : changed)
            for (const Box& box : list) mark(box);
    }
    for (; next < domain.leaves.size(); ++next) mark(read_from(next));
}

bool ChangedPlaces::contains(const GridTransform& grid, const Vec3& vertex) const {
    if (blocks_.empty()) return true;
    const Point3 v = to_voxels(grid, vertex);
    std::size_t at = 0;
    for (int axis = 2; axis >= 0; --axis) {
        const double c = v[static_cast<std::size_t>(axis)];
        if (!(c >= 0 && c < 4.0 * per_side_)) return true;
        at = at * static_cast<std::size_t>(per_side_) + (static_cast<std::size_t>(c) >> 2);
    }
    return at >= blocks_.size() || blocks_[at] != 0;
}

PreviousBinding::PreviousBinding(const Task& task, const SeededVolume& now)
    : before_(std::get_if<MovedJoints>(&task.start)), now_(&now), context_(task.context) {
    if (!before_) return;
    moved_ = moved_joints(task.skeleton, before_->bones, task.bones);
    const RowShape shape = task.row_shape();
    const DistanceTable& table = before_->table;
    has_rows_ = table.width == shape.width && table.vertices == shape.vertices && table.unit == shape.unit;
}

DistanceRows PreviousBinding::rows(const RowShape& shape) const {
    return has_rows_ ? DistanceRows{before_->table, before_->coverage} : DistanceRows(shape);
}

const KeptField* PreviousBinding::find(const std::vector<std::uint32_t>& joints) const {
    const KeptField* const found = before_ ? before_->volume.find(joints) : nullptr;
    return found && found->joints == joints ? found : nullptr;
}

const LeafDistances* PreviousBinding::repairable_field(const std::vector<std::uint32_t>& joints) const {
    const KeptField* const found = find(joints);
    const auto* const field = found ? std::get_if<LeafDistances>(&found->field) : nullptr;
    // Labels refer to lists of links, which stay valid only if the previous graph is reused.
    return field && field->has_directions && before_->volume.domain.graph ? field : nullptr;
}

std::vector<std::uint32_t> PreviousBinding::moved(const std::vector<std::uint32_t>& joints) const {
    std::vector<std::uint32_t> out;
    for (const std::uint32_t j : joints)
        if (moved_[j]) out.push_back(j);
    return out;
}

ChangedPlaces PreviousBinding::changed_places(const KeptField& now) const {
    const LeafDistances* const before = repairable_field(now.joints);
    // Coverage depends on the components that have bones of their own.
    if (!has_rows_ || !before || find(now.joints)->seeded != now.seeded) return {};
    return {now_->domain, *before, std::get<LeafDistances>(now.field), now_->match, moved_, context_};
}

}  // namespace sinew
