// Rules of check_skin about single rows of weights, joints, and what the file stores.
#include <cmath>
#include <string>

#include "core/idle_joints.h"
#include "core/vectors.h"
#include "quality/skin_rules.h"

namespace sinew {

namespace {

/// One for each vertex with a mark.
Status count_marks(std::span<const std::uint8_t> marks, SkinFinding& out) {
    out.of_vertex.assign(marks.begin(), marks.end());
    out.value = static_cast<double>(std::count_if(marks.begin(), marks.end(), [](auto m) { return m != 0; }));
    return Done{};
}

}  // namespace

Status measure_unweighted(CheckedSkin& skin, SkinFinding& out) {
    out.of_vertex.assign(skin.vertices(), 0);
    std::vector<std::uint8_t> used(skin.vertices(), 0);
    for (const Triangle& t : skin.in.mesh.triangles)
        for (const std::uint32_t v : t) used[v] = 1;
    for (std::size_t v = 0; v < skin.vertices(); ++v)
        if (used[v] && skin.weights()[v].empty()) out.value += 1, out.of_vertex[v] = 1;
    return Done{};
}

Status measure_invalid(CheckedSkin& skin, SkinFinding& out) { return count_marks(skin.in.stored_invalid, out); }

Status measure_repeated(CheckedSkin& skin, SkinFinding& out) { return count_marks(skin.in.stored_repeated, out); }

Status measure_other_pose(CheckedSkin& skin, SkinFinding& out) { return count_marks(skin.in.other_pose, out); }

Status measure_sums(CheckedSkin& skin, SkinFinding& out) {
    out.of_vertex.assign(skin.in.stored_sums.size(), 0);
    std::size_t wrong = 0;
    for (std::size_t v = 0; v < skin.in.stored_sums.size(); ++v) {
        const double sum = skin.in.stored_sums[v];
        if (!(sum > 0)) continue;  // without weights
        const double apart = std::abs(sum - 1);
        out.value = std::max(out.value, apart);
        if (apart <= out.threshold) continue;
        out.of_vertex[v] = static_cast<float>(apart);
        ++wrong;
    }
    if (wrong) out.detail = std::to_string(wrong) + " vertices";
    return Done{};
}

Status measure_influences(CheckedSkin& skin, SkinFinding& out) {
    out.of_vertex.assign(skin.vertices(), 0);
    std::size_t over = 0;
    for (std::size_t v = 0; v < skin.vertices(); ++v) {
        const auto n = static_cast<double>(skin.weights()[v].size());
        out.value = std::max(out.value, n);
        if (n <= out.threshold) continue;
        out.of_vertex[v] = static_cast<float>(n - out.threshold);
        ++over;
    }
    if (over) out.detail = std::to_string(over) + " vertices have more than the limit";
    return Done{};
}

Status measure_joints(CheckedSkin& skin, SkinFinding& out) {
    out.value = static_cast<double>(skin.skeleton.joints.size());
    if (skin.skeleton.skins.empty()) return Done{};
    out.value = 0;
    for (const auto& joints : skin.skeleton.skins) out.value = std::max(out.value, double(joints.size()));
    return Done{};
}

Status measure_tiny(CheckedSkin& skin, SkinFinding& out) {
    out.of_vertex.assign(skin.vertices(), 0);
    std::size_t all = 0, tiny = 0;
    for (std::size_t v = 0; v < skin.vertices(); ++v)
        for (const Influence& i : skin.weights()[v]) {
            ++all;
            if (i.weight >= kTinyWeight) continue;
            ++tiny;
            out.of_vertex[v] += 1;
        }
    out.value = all ? 100.0 * static_cast<double>(tiny) / static_cast<double>(all) : 0;
    return Done{};
}

// A joint that is somewhere the strongest is meant to deform, whatever its name: 'TailEnd' of a tail.
Status measure_control_joints(CheckedSkin& skin, SkinFinding& out) {
    const std::vector<DeformReason> reasons = idle_by_name(*skin.in.skeleton);
    out.of_vertex.assign(skin.vertices(), 0);
    std::vector<std::uint8_t> meant(reasons.size(), 0);
    for (std::size_t v = 0; v < skin.vertices(); ++v)
        if (!skin.weights()[v].empty()) meant[skin.weights()[v][0].joint] = 1;
    std::vector<std::size_t> of_joint(reasons.size(), 0);
    for (std::size_t v = 0; v < skin.vertices(); ++v)
        for (const Influence& i : skin.weights()[v]) {
            const DeformReason why = reasons[i.joint];
            const bool control = why == DeformReason::control_name || why == DeformReason::end_name;
            if (i.weight < 0.01f || !control || meant[i.joint]) continue;
            if (out.of_vertex[v] == 0) out.value += 1;
            out.of_vertex[v] += i.weight;
            ++of_joint[i.joint];
        }
    std::size_t listed = 0, joints = 0;
    for (std::uint32_t j = 0; j < of_joint.size(); ++j) {
        if (!of_joint[j]) continue;
        ++joints;
        if (listed++ < 4) out.detail += (out.detail.empty() ? "'" : ", '") + printable(skin.name(j), 60) + "'";
    }
    if (joints > 4) out.detail += " and " + std::to_string(joints - 4) + " more";
    return Done{};
}

Status measure_bind_pose(CheckedSkin& skin, SkinFinding& out) {
    if (skin.in.rest.empty() || !(skin.diagonal > 0)) return Done{};
    std::uint32_t most = 0;
    for (std::uint32_t j = 0; j < skin.in.rest.size(); ++j) {
        if (!skin.skeleton.joints[j].deform) continue;  // it moves no vertex
        const Point3 p = to_point(skin.skeleton.joints[j].position);
        const Transform& t = skin.in.rest[j];
        Point3 q{};
        for (std::size_t r = 0; r < 3; ++r) q[r] = t(r, 0) * p[0] + t(r, 1) * p[1] + t(r, 2) * p[2] + t(r, 3);
        const double apart = 100 * norm(q - p) / skin.diagonal;
        if (apart > out.value) out.value = apart, most = j;
    }
    if (out.value > 0) out.detail = "joint '" + printable(skin.name(most), 60) + "'";
    return Done{};
}

Status measure_skin_faults(CheckedSkin& skin, SkinFinding& out) {
    out.value = static_cast<double>(skin.in.skin_faults.size());
    for (const std::string& fault : skin.in.skin_faults) out.detail += (out.detail.empty() ? "" : "; ") + fault;
    return Done{};
}

}  // namespace sinew
