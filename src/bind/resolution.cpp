// Chooses the resolution from the skeleton and the mesh; Dionne and de Lasa (2014, section 9) leave it to the user.
// Voxels that are too large lose two things: limbs thinner than a voxel or two have no inside, and limbs that are
// near each other become one.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "bind/method_table.h"
#include "bind/near_mesh.h"
#include "core/numbers.h"
#include "core/try.h"
#include "core/vectors.h"
#include "domain/lattice.h"
#include "sinew/bind.h"

namespace sinew {
namespace {

constexpr std::size_t kSamples = 15000;    // largest number of triangles
constexpr double kVoxelsAcross = 2;        // least number across a limb or a gap
constexpr double kFacingReach = 1.0 / 32;  // of the longest side: gaps wider than this are never too narrow
constexpr std::size_t kLeastSamples = 5;   // of a limb or of a pair of limbs
constexpr double kQuantile = 0.1;          // of limbs and of pairs: exceptionally small ones do not count
constexpr int kCoarsest = 64, kUnmeasured = 256;
constexpr int kCoarsestLocal = 128;  // smaller grids are cheap enough without local resolution
constexpr double kMostLocal = 0.5;   // largest share of the surface with fine voxels

struct Sample {
    Point3 at, normal;
    std::uint32_t joint;
    double from_bone;  // -1: near an end of the bone or beyond it
    double radius;     // of the triangle, roughly
};

// One in this number of triangles is a sample.
std::size_t stride_of(const MeshView& mesh) {
    return std::max<std::size_t>(1, (mesh.triangles.size() + kSamples - 1) / kSamples);
}

// Centres of triangles with a positive area, evenly spaced in the list, with the joint of the nearest bone.
std::vector<Sample> take_samples(const MeshView& mesh, std::span<const Bone> bones, Context* context) {
    std::vector<SegmentRuler> rulers;
    for (const Bone& bone : bones) rulers.emplace_back(to_point(bone.head), to_point(bone.tail));
    const std::size_t stride = stride_of(mesh);
    const std::size_t count = (mesh.triangles.size() + stride - 1) / stride;
    std::vector<Sample> all(count);
    std::vector<std::uint8_t> has_area(count, 0);
    parallel_for(context, count, 512, [&](std::size_t i) {
        const Triangle& t = mesh.triangles[i * stride];
        const Point3 a = to_point(mesh.positions[t[0]]), b = to_point(mesh.positions[t[1]]),
                     c = to_point(mesh.positions[t[2]]), u = b - a, v = c - a;
        const Point3 n = cross(u, v);
        const double length = std::hypot(n[0], n[1], n[2]);
        if (!(length > 0)) return;
        has_area[i] = 1;
        Sample& s = all[i];
        for (std::size_t k = 0; k < 3; ++k) {
            s.at[k] = (a[k] + b[k] + c[k]) / 3;
            s.normal[k] = n[k] / length;
        }
        s.radius = std::sqrt(length) / 2;
        double least = INFINITY;
        for (std::size_t k = 0; k < rulers.size(); ++k) {
            const SegmentPosition where = rulers[k].at(s.at);
            if (!(where.distance < least)) continue;
            least = where.distance;
            s.joint = bones[k].joint;
            const bool beside = where.along > 0.1 * where.length && where.along < 0.9 * where.length;
            s.from_bone = beside ? where.distance : -1;
        }
    });
    // The orientation of the triangles says where outside is, unless the whole mesh is turned.
    double volume = 0;
    const Point3 origin = mesh.triangles.empty() ? Point3{} : to_point(mesh.positions[mesh.triangles[0][0]]);
    for (const Triangle& t : mesh.triangles) {
        const Point3 a = to_point(mesh.positions[t[0]]) - origin, b = to_point(mesh.positions[t[1]]) - origin,
                     c = to_point(mesh.positions[t[2]]) - origin;
        volume += dot(a, cross(b, c));
    }
    std::vector<Sample> samples;
    for (std::size_t i = 0; i < count; ++i) {
        if (!has_area[i]) continue;
        if (volume < 0)
            for (double& n : all[i].normal) n = -n;
        samples.push_back(all[i]);
    }
    return samples;
}

double quantile(std::vector<double>& values, double share) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

struct Limb {
    double size;
    std::uint32_t a, b;  // joints; equal for a limb's thickness
};
// The limb at the quantile kQuantile of sizes.
const Limb* small_limb(std::vector<Limb>& limbs) {
    std::stable_sort(limbs.begin(), limbs.end(), [](const Limb& a, const Limb& b) { return a.size < b.size; });
    if (limbs.empty()) return nullptr;
    return &limbs[static_cast<std::size_t>(kQuantile * static_cast<double>(limbs.size()))];
}

std::vector<Limb> thickness(std::span<const Sample> samples, std::size_t joints) {
    std::vector<std::vector<double>> beside(joints);
    for (const Sample& s : samples)
        if (s.from_bone >= 0) beside[s.joint].push_back(s.from_bone);
    std::vector<Limb> out;
    for (std::uint32_t j = 0; j < joints; ++j)
        if (beside[j].size() >= kLeastSamples) out.push_back({2 * quantile(beside[j], 0.5), j, j});
    return out;
}

// The opposite limb of a sample, across a gap outside the mesh.
struct Facing {
    double gap = INFINITY;
    std::uint32_t other = 0;  // joint
};
// Per sample. A joint and its parent always touch, and do not count.
std::vector<Facing> find_facing(std::span<const Sample> samples, const Skeleton& skeleton, double reach,
                                Context* context) {
    // Samples by cells half as wide as the reach, and the cells around one, nearest first.
    constexpr int kAround = 2;
    const double side = reach / kAround;
    Box3 box;
    for (const Sample& s : samples) box.add(s.at);
    std::array<int, 3> cells{};
    for (std::size_t k = 0; k < 3; ++k)
        cells[k] = samples.empty() ? 1 : static_cast<int>((box.high[k] - box.low[k]) / side) + 1;
    const auto place = [&](const Point3& p) {
        std::array<int, 3> at;
        for (std::size_t k = 0; k < 3; ++k)
            at[k] = std::min(cells[k] - 1, static_cast<int>((p[k] - box.low[k]) / side));
        return at;
    };
    const auto number = [&](const std::array<int, 3>& at) {
        return (static_cast<std::size_t>(at[0]) * cells[1] + at[1]) * cells[2] + at[2];
    };
    std::vector<std::uint32_t> first(static_cast<std::size_t>(cells[0]) * cells[1] * cells[2] + 1, 0);
    for (const Sample& s : samples) ++first[number(place(s.at)) + 1];
    for (std::size_t c = 1; c < first.size(); ++c) first[c] += first[c - 1];
    std::vector<Sample> sorted(samples.size());
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (const Sample& s : samples) sorted[next[number(place(s.at))]++] = s;
    static const std::vector<std::array<int, 3>> around = [] {
        std::vector<std::array<int, 3>> out;
        for (int x = -kAround; x <= kAround; ++x)
            for (int y = -kAround; y <= kAround; ++y)
                for (int z = -kAround; z <= kAround; ++z) out.push_back({x, y, z});
        const auto square = [](const std::array<int, 3>& c) { return c[0] * c[0] + c[1] * c[1] + c[2] * c[2]; };
        std::stable_sort(out.begin(), out.end(),
                         [&](const auto& a, const auto& b) { return square(a) < square(b); });
        return out;
    }();

    const auto are_linked = [&](std::uint32_t a, std::uint32_t b) {
        return a == b || skeleton.joints[a].parent == static_cast<int>(b) ||
               skeleton.joints[b].parent == static_cast<int>(a);
    };
    std::vector<Facing> facing(samples.size());
    parallel_for(context, samples.size(), 256, [&](std::size_t i) {
        const Sample& s = samples[i];
        Facing& best = facing[i];
        const auto compare = [&](const Sample& o) {
            const Point3 to_other = o.at - s.at;
            const double gap = dot(to_other, s.normal);
            if (!(gap > 0 && gap < best.gap)) return;
            const double length2 = dot(to_other, to_other);
            if (length2 > reach * reach || are_linked(s.joint, o.joint)) return;
            // Each is in front of the other: within a cone, or within the triangle if that is larger.
            if (dot(to_other, o.normal) >= 0 || dot(s.normal, o.normal) > -0.5) return;
            const double beside = std::max(2 * gap, s.radius + o.radius);
            if (length2 - gap * gap <= beside * beside) best = {gap, o.joint};
        };
        const std::array<int, 3> own = place(s.at);
        const double half = side / 2 * (std::abs(s.normal[0]) + std::abs(s.normal[1]) + std::abs(s.normal[2]));
        for (const std::array<int, 3>& step : around) {
            std::array<int, 3> at;
            Point3 middle;
            bool inside = true;
            for (std::size_t k = 0; k < 3; ++k) {
                at[k] = own[k] + step[k];
                inside = inside && at[k] >= 0 && at[k] < cells[k];
                middle[k] = box.low[k] + (at[k] + 0.5) * side;
            }
            if (!inside) continue;
            const std::size_t cell = number(at);
            if (first[cell] == first[cell + 1]) continue;
            // The height of the cell above the sample; rounding may place a sample outside its cell.
            const double gap = dot(middle - s.at, s.normal), most = half + 1e-9 * side;
            if (gap + most <= 0 || gap - most >= best.gap) continue;
            for (std::size_t k = first[cell]; k < first[cell + 1]; ++k) compare(sorted[k]);
        }
    });
    return facing;
}

// Pairs of limbs that face each other, with the median of their gaps: limbs of the same parent touch near it, which
// does not change the median.
std::vector<Limb> gaps(std::span<const Sample> samples, std::span<const Facing> facing, std::size_t joints) {
    std::vector<std::size_t> samples_of(joints, 0);
    for (const Sample& s : samples) ++samples_of[s.joint];
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> by_pair;
    for (std::size_t i = 0; i < samples.size(); ++i)
        if (facing[i].gap < INFINITY) {
            const auto [a, b] = std::minmax(samples[i].joint, facing[i].other);
            by_pair[{a, b}].push_back(facing[i].gap);
        }
    std::vector<Limb> out;
    for (auto& [pair, list] : by_pair) {
        const std::size_t smaller = std::min(samples_of[pair.first], samples_of[pair.second]);
        if (list.size() >= std::max(kLeastSamples, smaller / 10))
            out.push_back({quantile(list, 0.5), pair.first, pair.second});
    }
    return out;
}

// Around samples of limbs too thin for voxels, and of limbs too near each other. Between samples lie other
// triangles.
struct FineLimbs {
    std::vector<FinePlace> places;
    std::vector<Limb> limbs;  // smallest first; a pair where a and b differ
    double share = 0;         // of the surface
};
FineLimbs find_fine(std::span<const Sample> samples, std::span<const Facing> facing, std::span<const Limb> thin,
                    std::span<const Limb> near, double voxel, std::size_t stride) {
    const double least = kVoxelsAcross * voxel;
    FineLimbs fine;
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> small;  // limbs, and pairs of them
    for (const auto& list : {thin, near})
        for (const Limb& limb : list)
            if (limb.size < least) {
                small[{limb.a, limb.b}] = limb.size;
                fine.limbs.push_back(limb);
            }
    std::stable_sort(fine.limbs.begin(), fine.limbs.end(),
                     [](const Limb& a, const Limb& b) { return a.size < b.size; });
    double area = 0, fine_area = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const Sample& s = samples[i];
        area += s.radius * s.radius;
        const auto [a, b] = std::minmax(s.joint, facing[i].other);
        const bool is_near = facing[i].gap < 2 * least && small.contains({a, b});
        if (!is_near && !small.contains({s.joint, s.joint})) continue;
        fine_area += s.radius * s.radius;
        fine.places.push_back({s.at, s.radius * std::sqrt(static_cast<double>(stride)) + 2 * voxel});
    }
    fine.share = area > 0 ? fine_area / area : 0;
    return fine;
}

// Bones of deforming joints. The bone of a leaf joint gets the length of its parent's bone, only to assign
// triangles to joints.
std::vector<Bone> bones_to_measure(const Skeleton& skeleton) {
    std::vector<Bone> bones = make_bones(skeleton);
    for (Bone& bone : bones) {
        const int parent = skeleton.joints[bone.joint].parent;
        if (!(bone.head == bone.tail) || parent < 0 || skeleton.joints[bone.joint].states_bones()) continue;
        const Vec3 &from = skeleton.joints[static_cast<std::size_t>(parent)].position, &to = bone.head;
        bone.tail = {2 * to.x - from.x, 2 * to.y - from.y, 2 * to.z - from.z};
    }
    std::erase_if(bones, [&](const Bone& bone) { return !skeleton.joints[bone.joint].deform; });
    return bones;
}

class Chooser {
public:
    Chooser(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options, Context* context)
        : mesh_(mesh),
          skeleton_(skeleton),
          options_(options),
          context_(context),
          method_(row_of(options.method)),
          unit_(box_of(mesh).longest()) {
        const std::vector<Bone> bones = bones_to_measure(skeleton);
        if (!bones.empty()) samples_ = take_samples(mesh, bones, context);
        facing_ = find_facing(samples_, skeleton, kFacingReach * unit_, context);
        thin_ = thickness(samples_, skeleton.joints.size());
        near_ = gaps(samples_, facing_, skeleton.joints.size());
        choice_.resolution = options.voxels.resolution;
    }

    ResolutionChoice run() {
        bool local = options_.local_resolution;
        if (options_.voxels.resolution == 0) {
            choose_from_sizes();
            local = choose_local();
            respect_memory_limit(local);
        }
        if (local) find_fine_places();
        return std::move(choice_);
    }

private:
    std::string name(std::uint32_t j) const { return "'" + printable(skeleton_.joints[j].name) + "'"; }
    FineLimbs fine_at(int resolution) const {
        return find_fine(samples_, facing_, thin_, near_, voxel_size(unit_, resolution), stride_of(mesh_));
    }

    void choose_from_sizes() {
        const Limb *limb = small_limb(thin_), *gap = small_limb(near_);
        double finest = unit_;  // size of the voxels that are needed
        if (limb) finest = std::min(finest, limb->size / kVoxelsAcross);
        if (gap) finest = std::min(finest, gap->size / kVoxelsAcross);
        int& resolution = choice_.resolution;
        resolution = limb || gap ? kCoarsest : kUnmeasured;
        while (resolution < kFinestAutomatic && voxel_size(unit_, resolution) > finest) resolution *= 2;
        std::string& why = choice_.reason;
        why = "at " + std::to_string(resolution) + " a voxel is " + short_number(voxel_size(unit_, resolution));
        if (limb) why += "; the limb of " + name(limb->a) + " is " + short_number(limb->size) + " thick";
        if (gap) why += "; " + name(gap->a) + " and " + name(gap->b) + " are " + short_number(gap->size) + " apart";
        if (!limb && !gap) why += "; no limb was found to measure";
        if (voxel_size(unit_, resolution) > finest)
            why += "; " + std::to_string(kFinestAutomatic) + " is the finest that is chosen";
        if (const int most = method_.finest_automatic; resolution > most) {
            resolution = most;
            why += "; " + std::string(method_.info.name) + " takes " + std::to_string(most) + " at most";
        }
    }

    // Half the resolution is enough if few limbs need more: these get fine voxels.
    bool choose_local() {
        if (!method_.local_resolution || options_.domain != DomainKind::sparse ||
            choice_.resolution <= kCoarsestLocal)
            return false;
        const FineLimbs fine = fine_at(choice_.resolution / 2);
        const bool local = !fine.places.empty() && fine.share <= kMostLocal;
        if (local) choice_.resolution /= 2;
        return local;
    }

    void respect_memory_limit(bool local) {
        BindOptions fits = options_;
        fits.voxels.resolution = choice_.resolution;
        fits.local_resolution = local;
        while (context_ && context_->memory_limit && fits.voxels.resolution > 32 &&
               estimate_memory(mesh_, skeleton_, fits, context_) > context_->memory_limit)
            fits.voxels.resolution /= 2;
        if (fits.voxels.resolution == choice_.resolution) return;
        choice_.resolution = fits.voxels.resolution;
        choice_.reason += "; the memory limit allows " + std::to_string(choice_.resolution);
    }

    void find_fine_places() {
        FineLimbs fine = fine_at(choice_.resolution);
        choice_.fine = std::move(fine.places);
        const auto percent = static_cast<int>(std::max(1.0, std::round(100 * fine.share)));
        std::string& why = choice_.reason;
        if (!why.empty()) why += "; ";
        if (choice_.fine.empty()) {
            why += std::to_string(choice_.resolution) + " everywhere: no limb is thinner than two voxels, nor " +
                   "nearer to another";
            return;
        }
        const Limb& least = fine.limbs.front();
        why += std::to_string(2 * choice_.resolution) + " for about " + std::to_string(percent) +
               " % of the surface (" + name(least.a) +
               (least.b != least.a ? " beside " + name(least.b) : std::string());
        if (fine.limbs.size() > 1) why += " and " + std::to_string(fine.limbs.size() - 1) + " more";
        why += "), else " + std::to_string(choice_.resolution);
    }

    const MeshView& mesh_;
    const Skeleton& skeleton_;
    const BindOptions& options_;
    Context* const context_;
    const MethodTableRow& method_;
    const double unit_;  // longest side of the mesh
    std::vector<Sample> samples_;
    std::vector<Facing> facing_;
    std::vector<Limb> thin_, near_;
    ResolutionChoice choice_;
};

}  // namespace

Result<ResolutionChoice> choose_resolution(const MeshView& mesh, const Skeleton& skeleton,
                                           const BindOptions& options, Context* context) {
    SINEW_TRY(check_mesh(mesh));
    SINEW_TRY(check_skeleton(skeleton));
    if (!find_method(options.method)) return Error{ErrorCode::usage, "there is no such method"};
    if (options.voxels.resolution != 0 && !options.local_resolution) {
        ResolutionChoice stated;
        stated.resolution = options.voxels.resolution;
        return stated;
    }
    const NearMesh near(mesh, skeleton, context);
    return Chooser(near.view(), skeleton, options, context).run();
}

}  // namespace sinew
