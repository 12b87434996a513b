#include "deform/anatomy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/joint_axes.h"
#include "core/median.h"

namespace sinew {
namespace {

// Relative to the size of the skeleton.
constexpr double kOnPlane = 0.004;     // an inner collar bone begins close to the middle
constexpr double kMirrorMatch = 0.02;  // how far a joint may be from the mirror image of its partner
constexpr double kShortestLeg = 0.08;  // a thigh whose shin belongs to another joint
constexpr double kShortestArm = 0.15;
// Minimum share of the distance from its root to the ground: hanging hands reach half of it.
constexpr double kDownwards = 0.6;
// Maximum ratio of the last bone of a limb, which ends at a foot elsewhere, to the limb before it.
constexpr double kLastBone = 2;

class Reader {
public:
    Reader(const Skeleton& skeleton, const Vec3& up) : skeleton_(skeleton), n_(skeleton.joints.size()) {
        a_.up = unit({up.x, up.y, up.z});
    }

    Anatomy read() {
        read_tree();
        read_mirror();
        read_forward_axis();
        if (mirrored_) read_limbs();
        read_trunk();
        read_forward();
        read_hands();
        return std::move(a_);
    }

private:
    std::uint32_t parent(std::uint32_t j) const {
        return skeleton_.joints[j].parent < 0 ? no_index : static_cast<std::uint32_t>(skeleton_.joints[j].parent);
    }

    // Joints that deform, and their ancestors.
    void read_tree() {
        Skeleton copy = skeleton_;
        if (std::all_of(copy.joints.begin(), copy.joints.end(), [](const Joint& j) { return j.deform; }))
            (void)select_deforming(copy, {}, {DeformFrom::names, {}, {}});
        axis_ = common_axis(copy, make_bones(copy));
        kept_.assign(n_, false);
        for (std::uint32_t j = 0; j < n_; ++j)
            if (copy.joints[j].deform)
                for (std::uint32_t at = j; at != no_index && !kept_[at]; at = parent(at)) kept_[at] = true;
        a_.children.resize(n_);
        a_.reach.assign(n_, 0);
        Point3 low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};
        for (std::uint32_t j = 0; j < n_; ++j) {
            const Vec3& p = skeleton_.joints[j].position;
            a_.position.push_back({p.x, p.y, p.z});
            if (!kept_[j]) continue;
            for (std::size_t k = 0; k < 3; ++k) {
                low[k] = std::min(low[k], a_.position[j][k]);
                high[k] = std::max(high[k], a_.position[j][k]);
            }
            if (parent(j) == no_index)
                roots_.push_back(j);
            else
                a_.children[parent(j)].push_back(j);
        }
        a_.size = norm(high - low);
        // Parents before children, so that reach can be accumulated from the tips.
        order_ = roots_;
        for (std::size_t i = 0; i < order_.size(); ++i)
            for (const std::uint32_t c : a_.children[order_[i]]) order_.push_back(c);
        for (std::size_t i = order_.size(); i-- > 0;)
            for (const std::uint32_t c : a_.children[order_[i]])
                a_.reach[order_[i]] = std::max(a_.reach[order_[i]], a_.reach[c] + step(order_[i], c));
    }

    double step(std::uint32_t a, std::uint32_t b) const { return norm(a_.position[b] - a_.position[a]); }

    // The upright plane across which most joints have a mirror image.
    void read_mirror() {
        Point3 seed{1, 0, 0};
        if (std::abs(a_.up[0]) > 0.9) seed = {0, 0, 1};
        const Point3 first = unit(seed - dot(seed, a_.up) * a_.up);
        std::ptrdiff_t best = 0;
        for (const Point3& axis : {first, cross(first, a_.up)}) {
            std::vector<double> along;
            for (const std::uint32_t j : order_) along.push_back(dot(axis, a_.position[j]));
            for (const double middle : {0.0, median(along), dot(axis, a_.position[roots_[0]])}) {
                std::ptrdiff_t matched = 0, alone = 0;
                const std::vector<std::uint32_t> partner = find_partners(axis, middle, matched, alone);
                // Most joints off the plane must have a partner; a few pairs may be a coincidence.
                if (matched < 4 || matched < alone || matched - alone <= best) continue;
                best = matched - alone;
                a_.lateral = axis;
                middle_ = middle;
                partner_ = partner;
            }
        }
        mirrored_ = !partner_.empty();
        if (!mirrored_) {
            a_.lateral = first;
            partner_.assign(n_, no_index);
        }
    }

    double offset(std::uint32_t j) const { return dot(a_.lateral, a_.position[j]) - middle_; }

    // For joints off the plane: which joint is nearest to the mirror image of which. Counts mutual pairs.
    std::vector<std::uint32_t> find_partners(const Point3& axis, double middle, std::ptrdiff_t& matched,
                                             std::ptrdiff_t& alone) const {
        std::vector<std::uint32_t> nearest(n_, no_index);
        std::vector<std::uint32_t> off;
        for (const std::uint32_t j : order_)
            if (std::abs(dot(axis, a_.position[j]) - middle) > kOnPlane * a_.size) off.push_back(j);
        for (const std::uint32_t j : off) {
            const double d = dot(axis, a_.position[j]) - middle;
            const Point3 image = a_.position[j] - (2 * d) * axis;
            double least = kMirrorMatch * a_.size;
            for (const std::uint32_t k : off) {
                const double gap = norm(a_.position[k] - image);
                if ((dot(axis, a_.position[k]) - middle) * d < 0 && gap < least) {
                    least = gap;
                    nearest[j] = k;
                }
            }
        }
        for (const std::uint32_t j : off) ++(nearest[j] != no_index && nearest[nearest[j]] == j ? matched : alone);
        return nearest;
    }

    bool on_plane(std::uint32_t j) const {
        return mirrored_ && (std::abs(offset(j)) <= kOnPlane * a_.size ||
                             (partner_[j] == no_index && std::abs(offset(j)) <= kMirrorMatch * a_.size));
    }

    void read_forward_axis() { a_.forward = unit(cross(a_.lateral, a_.up)); }

    std::uint32_t longest_child(std::uint32_t j) const {
        std::uint32_t best = no_index;
        for (const std::uint32_t c : a_.children[j])
            if (best == no_index || step(j, c) + a_.reach[c] > step(j, best) + a_.reach[best]) best = c;
        return best;
    }

    Chain longest_chain(std::uint32_t first) const {
        Chain chain;
        for (std::uint32_t j = first; j != no_index; j = longest_child(j)) chain.push_back(j);
        return chain;
    }

    double along_chain(const Chain& chain, std::size_t from, std::size_t to) const {
        double sum = 0;
        for (std::size_t i = from; i < to; ++i) sum += step(chain[i], chain[i + 1]);
        return sum;
    }

    double height(std::uint32_t j) const { return dot(a_.up, a_.position[j]); }

    void read_limbs() {
        std::vector<Limb> found;
        double ground = std::numeric_limits<double>::infinity();
        auto lowest = [&](const Limb& limb) {
            double low = height(limb.chain[0]);
            for (const std::uint32_t j : limb.chain) low = std::min(low, height(j));
            return limb.foot ? std::min(low, height(*limb.foot)) : low;
        };
        auto reach_of = [&](const Limb& limb) {
            const double foot = limb.foot ? step(limb.chain.back(), *limb.foot) : 0;
            return a_.reach[limb.chain[0]] + foot;
        };
        for (const std::uint32_t j : order_) {
            bool leaves_trunk = partner_[j] != no_index;
            for (std::uint32_t k = parent(j); k != no_index && leaves_trunk; k = parent(k))
                leaves_trunk = partner_[k] == no_index;
            if (!leaves_trunk || a_.reach[j] < kShortestLeg * a_.size) continue;
            Limb limb;
            limb.chain = longest_chain(j);
            limb.side = offset(limb.chain.back()) > 0 ? 1 : -1;
            limb.foot = foot_of(limb.chain);
            find_joints(limb);
            ground = std::min(ground, lowest(limb));
            found.push_back(std::move(limb));
        }
        std::vector<bool> is_foot(n_, false);
        for (const Limb& limb : found)
            if (limb.foot) is_foot[*limb.foot] = true;
        std::erase_if(found, [&](const Limb& limb) { return is_foot[limb.chain[0]]; });
        // Feet in another chain may be unknown, so the ground is where limbs end. Limbs that reach it are legs;
        // so are all limbs if there are three pairs or more.
        double longest_leg = 0, longest_arm = 0;
        const bool many = found.size() >= 6;
        for (Limb& limb : found) {
            const double top = height(limb.chain[0]), drop = top - lowest(limb), reach = reach_of(limb);
            limb.leg = drop >= kDownwards * (top - ground) && (many || drop > 0.1 * reach);
            double& longest = limb.leg ? longest_leg : longest_arm;
            longest = std::max(longest, reach);
        }
        // Ears, fins and the like are not arms, and the points of a skirt are not legs.
        for (Limb& limb : found)
            if (reach_of(limb) > (limb.leg
                                      ? 0.4 * longest_leg
                                      : std::max({0.6 * longest_arm, 0.5 * longest_leg, kShortestArm * a_.size})))
                a_.limbs.push_back(std::move(limb));
        // Both sides use the same joints, though their positions may differ slightly.
        for (Limb& limb : a_.limbs)
            for (const Limb& other : a_.limbs)
                if (other.chain[0] < limb.chain[0] && partner_[limb.chain[0]] == other.chain[0] &&
                    other.chain.size() == limb.chain.size() && other.fingers.size() == limb.fingers.size()) {
                    limb.root = other.root;
                    limb.knee = other.knee;
                }
    }

    void find_joints(Limb& limb) const {
        const Chain& c = limb.chain;
        const double whole = a_.reach[c[0]];
        // A wrist is the joint where fingers branch off; without fingers, the joint where little of the limb is
        // left.
        limb.wrist = c.size() - 1;
        bool branches = false;
        for (std::size_t i = 1; i + 1 < c.size() && !branches; ++i) {
            branches = a_.children[c[i]].size() >= 2 && a_.reach[c[i]] < 0.4 * whole;
            if (branches) limb.wrist = i;
        }
        for (std::size_t i = 1; i + 1 < c.size() && !branches; ++i)
            if (a_.reach[c[i]] < 0.35 * whole) {
                limb.wrist = i;
                break;
            }
        // Choose shoulder and elbow so that upper and lower arm have similar lengths; joints before them are
        // collar bones.
        double best = std::numeric_limits<double>::infinity();
        for (std::size_t root = 0; root <= 2; ++root)
            for (std::size_t knee = root + 1; knee < limb.wrist; ++knee) {
                const double before = along_chain(c, 0, root), upper = along_chain(c, root, knee),
                             lower = along_chain(c, knee, limb.wrist);
                double unlike = std::abs(upper - lower) / (upper + lower);
                if (before > 0.7 * upper) continue;
                // A short first bone before a longer one is a collar bone, even if the remaining lengths are
                // less similar.
                if (root == 1 && before < 0.6 * upper) unlike -= 0.3;
                if (unlike < best - 0.05) {
                    best = unlike;
                    limb.root = root;
                    limb.knee = knee;
                }
            }
        // If the rest of the limb belongs to another chain, or is the last bone's tail, the last joint is the
        // knee.
        if (c.size() == 2) limb.knee = limb.wrist;
        if (c.size() == 3 && step(c[0], c[1]) < 0.4 * step(c[1], c[2])) {
            limb.root = 1;
            limb.knee = limb.wrist = 2;
        }
        for (const std::uint32_t f : a_.children[c[limb.wrist]]) limb.fingers.push_back(longest_chain(f));
    }

    // Of the joints on one side that are children of a joint above the limb, or roots: the nearest one in the
    // direction of the last bone.
    std::optional<std::uint32_t> foot_of(const Chain& chain) const {
        if (!axis_) return std::nullopt;
        const std::uint32_t tip = chain.back();
        std::vector<bool> above(n_, false);
        for (std::uint32_t j = tip; j != no_index; j = parent(j)) above[j] = true;
        std::optional<std::uint32_t> foot;
        double nearest = kLastBone * a_.reach[chain[0]];
        for (const std::uint32_t j : order_) {
            const bool elsewhere = !above[j] && (parent(j) == no_index || (above[parent(j)] && parent(j) != tip));
            if (!elsewhere || partner_[j] == no_index || step(tip, j) > nearest) continue;
            if (!leads_along(a_.position[j] - a_.position[tip], axis_of(skeleton_.joints[tip], *axis_))) continue;
            foot = j, nearest = step(tip, j);
        }
        return foot;
    }

    std::size_t depth(std::uint32_t j) const {
        std::size_t d = 0;
        for (; parent(j) != no_index; j = parent(j)) ++d;
        return d;
    }

    std::uint32_t root_of(std::uint32_t j) const {
        while (parent(j) != no_index) j = parent(j);
        return j;
    }

    // The deepest common ancestor; none if there is no common ancestor.
    std::uint32_t shared_ancestor(std::uint32_t a, std::uint32_t b) const {
        std::vector<bool> above(n_, false);
        for (std::uint32_t j = a; j != no_index; j = parent(j)) above[j] = true;
        for (; b != no_index && !above[b];) b = parent(b);
        return b;
    }

    // The chain from below the deepest common ancestor of a and b to b.
    Chain chain_between(std::uint32_t a, std::uint32_t b) const {
        const std::uint32_t shared = shared_ancestor(a, b);
        Chain chain;
        for (std::uint32_t j = b; j != shared; j = parent(j)) chain.push_back(j);
        std::reverse(chain.begin(), chain.end());
        return chain;
    }

    void read_trunk() {
        // The joint where a pair branches off: the last common ancestor of both sides. The hips are the one
        // nearest to the root, the chest is where the arms are, else where the front legs are.
        std::uint32_t hips = no_index, chest = no_index, front = no_index;
        for (const Limb& limb : a_.limbs) {
            const std::uint32_t at = shared_ancestor(limb.chain[0], partner_[limb.chain[0]]);
            if (at == no_index) continue;
            if (limb.leg && (hips == no_index || depth(at) < depth(hips))) hips = at;
            if (limb.leg && (front == no_index || depth(at) > depth(front))) front = at;
            if (!limb.leg && (chest == no_index || depth(at) < depth(chest))) chest = at;
        }
        if (chest == no_index && front != hips) chest = front;
        if (hips == no_index && chest == no_index) {
            for (const std::uint32_t root : roots_)
                if (Chain chain = longest_chain(root); chain.size() > a_.spine.size()) a_.spine = std::move(chain);
            return;
        }
        if (chest != no_index) a_.spine = chain_between(hips != no_index ? hips : root_of(chest), chest);
        const std::uint32_t top = chest != no_index ? chest : hips;
        // Not the spine, and no joint that carries a limb.
        std::vector<bool> taken(n_, false);
        for (const std::uint32_t j : a_.spine) taken[j] = true;
        for (const Limb& limb : a_.limbs)
            for (std::uint32_t j = parent(limb.chain[0]); j != no_index && j != top; j = parent(j)) taken[j] = true;
        // Above the chest, the middle chain that reaches highest and farthest ends in the head. Below the hips,
        // the longest one is a tail.
        auto middle_chain = [&](std::uint32_t from, bool from_hips) {
            Chain best;
            double best_score = 0;
            for (const std::uint32_t c : a_.children[from]) {
                if (!on_plane(c) || taken[c]) continue;
                Chain chain;
                for (std::uint32_t j = c; j != no_index;) {
                    chain.push_back(j);
                    std::uint32_t next = no_index;
                    for (const std::uint32_t k : a_.children[j])
                        if (on_plane(k) &&
                            (next == no_index || a_.reach[k] + step(j, k) > a_.reach[next] + step(j, next)))
                            next = k;
                    j = next;
                }
                // A head is higher than a cape or a mane of the same length that hangs down.
                const Point3 extent = a_.position[chain.back()] - a_.position[from];
                const double score =
                    from_hips ? step(from, c) + a_.reach[c] : dot(a_.up, extent) + 0.5 * norm(extent);
                if (best.empty() || score > best_score) {
                    best_score = score;
                    best = std::move(chain);
                }
            }
            return best;
        };
        a_.neck = middle_chain(top, false);
        if (hips != no_index) {
            if (!a_.neck.empty()) taken[a_.neck[0]] = true;
            a_.tail = middle_chain(hips, true);
            if (a_.tail.size() < 3) a_.tail.clear();
        }
    }

    // Toes point forward, and so does a horizontal trunk.
    void read_forward() {
        double evidence = 0;
        for (const Limb& limb : a_.limbs) {
            if (!limb.leg || limb.wrist + 1 >= limb.chain.size()) continue;
            evidence += dot(a_.forward, a_.position[limb.chain.back()] - a_.position[limb.chain[limb.wrist]]);
        }
        if (!a_.spine.empty()) {
            const std::uint32_t tip = a_.neck.empty() ? a_.spine.back() : a_.neck.back();
            const Point3 trunk = a_.position[tip] - a_.position[a_.spine[0]];
            // A person's head is slightly before or behind the hips: no evidence.
            if (std::abs(dot(a_.forward, trunk)) > 0.5 * std::abs(dot(a_.up, trunk)))
                evidence += dot(a_.forward, trunk);
        }
        // Names of left and right are more reliable, if present.
        const Vec3 up{static_cast<float>(a_.up[0]), static_cast<float>(a_.up[1]), static_cast<float>(a_.up[2])};
        if (const std::optional<Vec3> named = facing(skeleton_, up)) {
            const double agrees = dot(a_.forward, {named->x, named->y, named->z});
            if (std::abs(agrees) > 0.5) evidence = agrees;
        }
        // Without evidence: +z, as in glTF.
        if (evidence == 0) evidence = a_.forward[2] != 0 ? a_.forward[2] : 1;
        if (evidence < 0) {
            a_.forward = -1.0 * a_.forward;
            a_.lateral = -1.0 * a_.lateral;
            for (Limb& limb : a_.limbs) limb.side = -limb.side;
        }
    }

    void read_hands() {
        for (const Limb& limb : a_.limbs)
            if (!limb.leg && limb.fingers.size() >= 2) add_hand(limb.chain[limb.wrist], limb.fingers, limb.side);
        if (mirrored_ || !a_.limbs.empty()) return;
        // A separate hand: four chains or more that leave one joint to one side.
        for (const std::uint32_t j : order_) {
            std::vector<Chain> fingers;
            Point3 sum{};
            for (const std::uint32_t c : a_.children[j])
                if (Chain chain = longest_chain(c); chain.size() >= 3) {
                    sum = sum + unit(a_.position[chain.back()] - a_.position[j]);
                    fingers.push_back(std::move(chain));
                }
            if (fingers.size() >= 4 && norm(sum) > 0.6 * static_cast<double>(fingers.size())) {
                add_hand(j, fingers, 0);
                return;
            }
        }
    }

    void add_hand(std::uint32_t wrist, const std::vector<Chain>& fingers, double side) {
        Hand hand{wrist, fingers, {}};
        // The normal of the fan of fingers. Fingers at rest are bent slightly towards the palm; otherwise the
        // palm faces down and inwards.
        Point3 normal{}, bend{};
        for (std::size_t i = 0; i < fingers.size(); ++i)
            for (std::size_t k = i + 1; k < fingers.size(); ++k) {
                const Point3 n = cross(a_.position[fingers[i].back()] - a_.position[wrist],
                                       a_.position[fingers[k].back()] - a_.position[wrist]);
                normal = normal + (dot(n, normal) < 0 ? -1.0 : 1.0) * n;
            }
        normal = unit(normal);
        double bent = 0;
        for (const Chain& finger : fingers)
            for (std::size_t i = 0; i + 2 < finger.size(); ++i) {
                const Point3 a = unit(a_.position[finger[i + 1]] - a_.position[finger[i]]);
                const Point3 b = unit(a_.position[finger[i + 2]] - a_.position[finger[i + 1]]);
                bend = bend + (b - a);
                bent += 1;
            }
        const Point3 wish = -1.0 * a_.up - (0.3 * side) * a_.lateral;
        const double evidence = bent > 0 ? dot(normal, bend) / bent : 0;
        const double sign = std::abs(evidence) > 0.03 ? evidence : dot(normal, wish);
        hand.palm = (sign < 0 ? -1.0 : 1.0) * normal;
        a_.hands.push_back(std::move(hand));
    }

    const Skeleton& skeleton_;
    std::size_t n_;
    Anatomy a_;
    std::vector<bool> kept_;
    std::vector<std::uint32_t> roots_, order_;
    std::vector<std::uint32_t> partner_;
    bool mirrored_ = false;
    double middle_ = 0;
    std::optional<std::size_t> axis_;  // axis of joints that points along their bones
};

}  // namespace

Anatomy read_anatomy(const Skeleton& skeleton, const Vec3& up) { return Reader(skeleton, up).read(); }

}  // namespace sinew
