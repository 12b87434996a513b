// Bones of joints with limbs on both sides.
#include <algorithm>
#include <cmath>

#include "bind/surface_heat/bones.h"
#include "core/vectors.h"

namespace sinew {
namespace {

// Lengths of mirrored limbs differ by a smaller share.
constexpr double kLengthTolerance = 0.01;

struct Limb {
    double link;         // distance from the joint to the limb's first joint
    std::size_t joints;  // that deform
    double length;       // sum of all links
};

bool mirrored(const Limb& a, const Limb& b) {
    return a.joints == b.joints && std::abs(a.link - b.link) < kLengthTolerance * a.link &&
           std::abs(a.length - b.length) < kLengthTolerance * a.length;
}

using Children = std::vector<std::vector<std::uint32_t>>;

Point3 position(const Skeleton& skeleton, std::uint32_t joint) { return to_point(skeleton.joints[joint].position); }

Limb measure_limb(const Skeleton& skeleton, const Children& children, std::uint32_t first, double link) {
    Limb limb{link, 0, link};
    for (std::vector<std::uint32_t> below{first}; !below.empty();) {
        const std::uint32_t at = below.back();
        below.pop_back();
        limb.joints += skeleton.joints[at].deform;
        for (const std::uint32_t next : children[at]) {
            limb.length += norm(position(skeleton, next) - position(skeleton, at));
            below.push_back(next);
        }
    }
    return limb;
}

/// The limbs to which the bones of a joint lead, in the order of make_bones.
std::vector<Limb> limbs_of(const Skeleton& skeleton, const Children& children, std::uint32_t joint) {
    std::vector<Limb> limbs;
    std::vector<std::uint32_t> stack(children[joint].rbegin(), children[joint].rend());
    while (!stack.empty()) {
        const std::uint32_t c = stack.back();
        stack.pop_back();
        if (!skeleton.joints[c].deform) {
            stack.insert(stack.end(), children[c].rbegin(), children[c].rend());
            continue;
        }
        const double link = norm(position(skeleton, c) - position(skeleton, joint));
        if (link > 0) limbs.push_back(measure_limb(skeleton, children, c, link));
    }
    return limbs;
}

/// For each limb the one that mirrors it, or limbs.size().
std::vector<std::size_t> find_partners(const std::vector<Limb>& limbs) {
    const std::size_t alone = limbs.size();
    std::vector<std::size_t> partner(limbs.size(), alone);
    for (std::size_t k = 0; k < limbs.size(); ++k)
        for (std::size_t other = k + 1; other < limbs.size() && partner[k] == alone; ++other)
            if (partner[other] == alone && mirrored(limbs[k], limbs[other])) partner[k] = other, partner[other] = k;
    return partner;
}

}  // namespace

void join_mirrored_links(const Skeleton& skeleton, std::vector<Bone>& bones) {
    const std::vector<Joint>& joints = skeleton.joints;
    Children children(joints.size());
    for (std::uint32_t j = 0; j < joints.size(); ++j)
        if (joints[j].parent >= 0) children[static_cast<std::size_t>(joints[j].parent)].push_back(j);

    std::vector<Bone> joined;
    for (std::size_t first = 0, end; first < bones.size(); first = end) {
        const std::uint32_t joint = bones[first].joint;
        for (end = first; end < bones.size() && bones[end].joint == joint;) ++end;
        const std::span<const Bone> own(bones.data() + first, end - first);
        std::vector<std::size_t> partner(own.size(), own.size());
        if (own.size() > 2 && !joints[joint].states_bones()) {
            const std::vector<Limb> limbs = limbs_of(skeleton, children, joint);
            if (limbs.size() == own.size()) partner = find_partners(limbs);  // else the bones are shapes
        }
        // A joint with nothing but pairs keeps its bones.
        if (std::find(partner.begin(), partner.end(), own.size()) == partner.end())
            partner.assign(own.size(), own.size());
        for (std::size_t k = 0; k < own.size(); ++k) {
            if (partner[k] < k) continue;  // joined with an earlier bone
            Bone bone = own[k];
            if (partner[k] < own.size()) {
                const Vec3 &a = bone.tail, &b = own[partner[k]].tail;
                bone.tail = {(a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2};
            }
            joined.push_back(bone);
        }
    }
    bones = std::move(joined);
}

}  // namespace sinew
