// Where the bones of a joint lead that has limbs on both sides.
#include <algorithm>
#include <cmath>

#include "bind/surface_heat/bones.h"
#include "core/vectors.h"

namespace sinew {
namespace {

// Lengths of mirrored limbs differ by less.
constexpr double kSame = 0.01;

struct Limb {
    double link;         // from the joint to its first joint
    std::size_t joints;  // that deform, from there on
    double length;       // of all links, the first included
};

bool mirrored(const Limb& a, const Limb& b) {
    return a.joints == b.joints && std::abs(a.link - b.link) < kSame * a.link &&
           std::abs(a.length - b.length) < kSame * a.length;
}

}  // namespace

void join_mirrored_links(const Skeleton& skeleton, std::vector<Bone>& bones) {
    const std::vector<Joint>& joints = skeleton.joints;
    const auto place = [&](std::size_t j) { return to_point(joints[j].position); };
    std::vector<std::vector<std::uint32_t>> children(joints.size());
    for (std::uint32_t j = 0; j < joints.size(); ++j)
        if (joints[j].parent >= 0) children[static_cast<std::size_t>(joints[j].parent)].push_back(j);

    std::vector<bool> dropped(bones.size(), false);
    for (std::size_t first = 0, end; first < bones.size(); first = end) {
        const std::uint32_t joint = bones[first].joint;
        for (end = first; end < bones.size() && bones[end].joint == joint;) ++end;
        if (end - first < 3 || joints[joint].states_bones()) continue;  // a pair would be all that it has
        // The limbs behind its bones, in the order of make_bones.
        std::vector<Limb> limbs;
        std::vector<std::uint32_t> stack(children[joint].rbegin(), children[joint].rend());
        while (!stack.empty()) {
            const std::uint32_t c = stack.back();
            stack.pop_back();
            if (!joints[c].deform) {
                stack.insert(stack.end(), children[c].rbegin(), children[c].rend());
                continue;
            }
            const double link = norm(place(c) - place(joint));
            if (link == 0) continue;
            Limb limb{link, 0, link};
            for (std::vector<std::uint32_t> below{c}; !below.empty();) {
                const std::uint32_t at = below.back();
                below.pop_back();
                limb.joints += joints[at].deform;
                for (const std::uint32_t next : children[at]) {
                    limb.length += norm(place(next) - place(at));
                    below.push_back(next);
                }
            }
            limbs.push_back(limb);
        }
        if (limbs.size() != end - first) continue;  // shapes
        std::vector<std::size_t> partner(limbs.size(), limbs.size());
        for (std::size_t k = 0; k < limbs.size(); ++k)
            for (std::size_t other = k + 1; other < limbs.size() && partner[k] == limbs.size(); ++other)
                if (partner[other] == limbs.size() && mirrored(limbs[k], limbs[other]))
                    partner[k] = other, partner[other] = k;
        if (std::find(partner.begin(), partner.end(), limbs.size()) == partner.end()) continue;
        for (std::size_t k = 0; k < limbs.size(); ++k) {
            if (partner[k] == limbs.size()) continue;
            Vec3& end_of = bones[first + k].tail;
            const Vec3& other = bones[first + partner[k]].tail;
            if (partner[k] < k)
                dropped[first + k] = true;
            else
                end_of = {(end_of.x + other.x) / 2, (end_of.y + other.y) / 2, (end_of.z + other.z) / 2};
        }
    }
    std::size_t kept = 0;
    for (std::size_t b = 0; b < bones.size(); ++b)
        if (!dropped[b]) bones[kept++] = bones[b];
    bones.erase(bones.begin() + static_cast<std::ptrdiff_t>(kept), bones.end());
}

}  // namespace sinew
