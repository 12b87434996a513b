// Rules of check_skin about weights on the surface: seams, islands, bleed, symmetry, poses, rigid parts.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "core/numbers.h"
#include "core/try.h"
#include "core/vectors.h"
#include "quality/skin_rules.h"

namespace sinew {

namespace {

std::string percent(double value) { return number_text(value, 1, std::chars_format::fixed); }

/// Welded vertices and their neighbours over edges.
struct Rings {
    std::vector<std::uint32_t> first;  // V + 1
    std::vector<std::uint32_t> at;

    Rings(const MeshView& mesh, std::span<const std::uint32_t> weld) : first(mesh.positions.size() + 1, 0) {
        std::vector<std::array<std::uint32_t, 2>> edges;
        edges.reserve(6 * mesh.triangles.size());
        for (const Triangle& t : mesh.triangles)
            for (std::size_t k = 0; k < 3; ++k) {
                const std::uint32_t a = weld[t[k]], b = weld[t[(k + 1) % 3]];
                if (a == b) continue;
                edges.push_back({a, b});
                edges.push_back({b, a});
            }
        std::sort(edges.begin(), edges.end());
        edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
        for (const auto& e : edges) ++first[e[0] + 1];
        for (std::size_t v = 1; v < first.size(); ++v) first[v] += first[v - 1];
        for (const auto& e : edges) at.push_back(e[1]);
    }
    std::span<const std::uint32_t> of(std::uint32_t v) const {
        return {at.data() + first[v], at.data() + first[v + 1]};
    }
};

/// Per vertex the connected part of its surface; none where it is in no triangle.
std::vector<std::uint32_t> part_of_vertex(const CheckedSkin& skin) {
    std::vector<std::uint32_t> out(skin.vertices(), no_index);
    for (std::size_t t = 0; t < skin.in.mesh.triangles.size(); ++t)
        for (const std::uint32_t v : skin.in.mesh.triangles[t]) out[v] = skin.topology.part_of_triangle[t];
    return out;
}

}  // namespace

std::vector<std::array<std::uint32_t, 2>> seam_pairs(const MeshView& mesh, std::span<const std::uint32_t> weld) {
    struct Side {
        std::uint64_t edge;  // its welded ends
        std::uint32_t a, b;  // the vertices there
    };
    const auto each_side = [&](const auto& use) {
        for (const Triangle& t : mesh.triangles)
            for (std::size_t k = 0; k < 3; ++k) {
                const auto [a, b] =
                    std::minmax(t[k], t[(k + 1) % 3], [&](auto x, auto y) { return weld[x] < weld[y]; });
                if (weld[a] != weld[b]) use(a, b);
            }
    };
    // Sorted by their lower end, then among few.
    std::vector<std::uint32_t> next(weld.size() + 1, 0);
    each_side([&](std::uint32_t a, std::uint32_t) { ++next[weld[a] + 1]; });
    for (std::size_t v = 0; v < weld.size(); ++v) next[v + 1] += next[v];
    std::vector<Side> sides(next.back());
    each_side([&](std::uint32_t a, std::uint32_t b) {
        sides[next[weld[a]]++] = {std::uint64_t{weld[a]} << 32 | weld[b], a, b};
    });
    for (auto begin = sides.begin(); const std::uint32_t to : next) {
        const auto end = sides.begin() + to;
        std::sort(begin, end, [](const Side& x, const Side& y) { return x.edge < y.edge; });
        begin = end;
    }
    std::vector<std::array<std::uint32_t, 2>> out;
    for (std::size_t i = 0; i < sides.size();) {
        std::size_t end = i + 1;
        while (end < sides.size() && sides[end].edge == sides[i].edge) ++end;
        if (end - i == 2) {
            if (sides[i].a != sides[i + 1].a) out.push_back({sides[i].a, sides[i + 1].a});
            if (sides[i].b != sides[i + 1].b) out.push_back({sides[i].b, sides[i + 1].b});
        }
        i = end;
    }
    for (auto& pair : out)
        if (pair[0] > pair[1]) std::swap(pair[0], pair[1]);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

Status measure_torn(CheckedSkin& skin, SkinFinding& out) {
    out.of_vertex.assign(skin.vertices(), 0);
    RowPair rows;
    for (const auto& [a, b] : seam_pairs(skin.in.mesh, skin.topology.weld)) {
        const double l1 = rows.l1(skin.weights()[a], skin.weights()[b]);
        if (l1 <= kTornL1) continue;
        for (const std::uint32_t v : {a, b}) out.of_vertex[v] = std::max(out.of_vertex[v], static_cast<float>(l1));
    }
    out.value = static_cast<double>(
        std::count_if(out.of_vertex.begin(), out.of_vertex.end(), [](float l) { return l > 0; }));
    return Done{};
}

// A patch is a connected set of vertices of a surface with more than 0.01 of a joint's weight. It is an island if
// it reaches 0.5 somewhere and has less than a tenth of the weight of the joint's largest patch on that surface.
Status measure_islands(CheckedSkin& skin, SkinFinding& out) {
    constexpr float touched = 0.01f, strong = 0.5f;
    constexpr double small = 0.1;
    const std::vector<std::uint32_t>& weld = skin.topology.weld;
    const Rings rings(skin.in.mesh, weld);
    const std::vector<std::uint32_t> part = part_of_vertex(skin);
    const std::size_t joints = skin.skeleton.joints.size();
    std::vector<std::vector<std::pair<std::uint32_t, float>>> of_joint(joints);
    for (std::uint32_t v = 0; v < skin.vertices(); ++v)
        if (weld[v] == v && part[v] != no_index)
            for (const Influence& i : skin.weights()[v])
                if (i.weight > touched) of_joint[i.joint].emplace_back(v, i.weight);
    out.of_vertex.assign(skin.vertices(), 0);
    std::vector<float> weight(skin.vertices(), 0);  // of the joint; 0 where visited
    std::vector<std::pair<std::size_t, std::uint32_t>> joints_with;
    for (std::uint32_t j = 0; j < joints; ++j) {
        for (const auto& [v, w] : of_joint[j]) weight[v] = w;
        struct Patch {
            std::uint32_t part;
            double mass = 0;
            float most = 0;
            std::vector<std::uint32_t> vertices;
        };
        std::vector<Patch> patches;
        std::map<std::uint32_t, double> largest;  // by part
        for (const auto& [start, w] : of_joint[j]) {
            if (weight[start] == 0) continue;
            Patch patch{part[start], 0, 0, {start}};
            patch.mass = patch.most = std::exchange(weight[start], 0.0f);
            for (std::size_t k = 0; k < patch.vertices.size(); ++k)
                for (const std::uint32_t n : rings.of(patch.vertices[k])) {
                    if (weight[n] == 0) continue;
                    patch.mass += weight[n];
                    patch.most = std::max(patch.most, std::exchange(weight[n], 0.0f));
                    patch.vertices.push_back(n);
                }
            largest[patch.part] = std::max(largest[patch.part], patch.mass);
            patches.push_back(std::move(patch));
        }
        std::size_t count = 0;
        for (const Patch& patch : patches) {
            if (patch.most < strong || patch.mass >= small * largest[patch.part]) continue;
            count += patch.vertices.size();
            for (const std::uint32_t v : patch.vertices) out.of_vertex[v] = std::max(out.of_vertex[v], patch.most);
        }
        if (count) joints_with.emplace_back(count, j);
    }
    std::sort(joints_with.begin(), joints_with.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    for (std::size_t k = 0; k < joints_with.size() && k < 4; ++k)
        out.detail += (k ? ", '" : "of '") + printable(skin.name(joints_with[k].second), 60) + "'";
    out.value = static_cast<double>(
        std::count_if(out.of_vertex.begin(), out.of_vertex.end(), [](float w) { return w > 0; }));
    return Done{};
}

Status measure_bleed(CheckedSkin& skin, SkinFinding& out) {
    const SkinWeights* const one[] = {&skin.weights()};
    SINEW_TRY_LET(std::vector<Bleed> found, bleed_of(skin.in.mesh, skin.topology, skin.skeleton, one,
                                                     {skin.options.bleed_resolution}, skin.context));
    const Bleed& bleed = found[0];
    out.value = 100 * bleed.share;
    const auto most = std::max_element(bleed.far_weight.begin(), bleed.far_weight.end());
    if (most != bleed.far_weight.end() && *most > 0)
        out.detail = "most on '" +
                     printable(skin.name(static_cast<std::uint32_t>(most - bleed.far_weight.begin())), 60) + "'; " +
                     std::to_string(bleed.vertices) + " vertices";
    return Done{};
}

Status measure_asymmetry(CheckedSkin& skin, SkinFinding& out) {
    SINEW_TRY_LET(std::optional<Symmetry> symmetry, find_symmetry(skin.in.mesh, skin.skeleton, skin.context));
    // Where few vertices have a partner, the mesh is not symmetric, and its weights need not be.
    constexpr double least_share = 0.5;
    if (!symmetry || symmetry->vertex_share < least_share) return Done{};
    // As symmetry_error, but of several vertices at the mirrored place the best one counts: boxes share corners.
    const Symmetry& mirror = *symmetry;
    std::vector<std::vector<std::uint32_t>> at_place(skin.vertices());
    for (std::uint32_t v = 0; v < skin.vertices(); ++v) at_place[skin.topology.weld[v]].push_back(v);
    out.of_vertex.assign(skin.vertices(), 0);
    RowPair rows;
    std::vector<Influence> mirrored;
    double sum = 0;
    float most = 0;
    std::size_t pairs = 0;
    for (std::size_t v = 0; v < skin.vertices(); ++v) {
        if (mirror.vertex[v] == no_index) continue;
        mirrored.clear();
        double lost = 0;  // on joints without a partner
        for (const Influence& i : skin.weights()[v]) {
            if (mirror.joint[i.joint] == no_index)
                lost += i.weight;
            else
                mirrored.push_back({mirror.joint[i.joint], i.weight});
        }
        double least = 2;
        for (const std::uint32_t other : at_place[skin.topology.weld[mirror.vertex[v]]])
            least = std::min(least, lost + rows.l1(mirrored, skin.weights()[other]));
        out.of_vertex[v] = static_cast<float>(least);
        most = std::max(most, out.of_vertex[v]);
        sum += least;
        ++pairs;
    }
    out.value = pairs ? sum / static_cast<double>(pairs) : 0;
    out.detail = "largest " + percent(most) + ", over the " + percent(100 * mirror.vertex_share) +
                 " % of the vertices that have a partner";
    return Done{};
}

Result<const CheckedPoses*> CheckedSkin::in_poses() {
    if (poses) return &*poses;
    CheckedPoses out;
    for (const NamedPose& pose : standard_poses(skeleton, in.up)) {
        SINEW_TRY_LET(std::vector<Transform> transforms, skinning_matrices(skeleton, pose.joints));
        SINEW_TRY_LET(Surface posed,
                      deform({in.mesh.positions, {}, {}}, weights(), transforms, Skinning::linear_blend, context));
        SINEW_TRY_LET(PoseShape shape, measure_pose(in.mesh, topology, posed.positions, context));
        out.names.push_back(pose.name);
        out.shapes.push_back(shape);
    }
    poses = std::move(out);
    return &*poses;
}

Status measure_stretch(CheckedSkin& skin, SkinFinding& out) {
    SINEW_TRY_LET(const CheckedPoses* poses, skin.in_poses());
    out.value = 1;
    for (std::size_t k = 0; k < poses->shapes.size(); ++k) {
        const PoseShape& shape = poses->shapes[k];
        if (shape.stretch_p99 <= out.value) continue;
        out.value = shape.stretch_p99;
        out.detail = "pose '" + poses->names[k] + "', largest " + percent(shape.stretch_max);
        out.vertices = {shape.stretched[0], shape.stretched[1]};
    }
    return Done{};
}

// An open surface encloses no volume.
Status measure_volume(CheckedSkin& skin, SkinFinding& out) {
    if (skin.topology.defects.open_parts > 0) return Done{};
    SINEW_TRY_LET(const CheckedPoses* poses, skin.in_poses());
    for (std::size_t k = 0; k < poses->shapes.size(); ++k) {
        const std::optional<double>& change = poses->shapes[k].volume_change;
        if (!change || 100 * std::abs(*change) <= out.value) continue;
        out.value = 100 * std::abs(*change);
        out.detail = "pose '" + poses->names[k] + "', " + (*change < 0 ? "-" : "+") + percent(out.value) + " %";
    }
    return Done{};
}

// Buttons, buckles, eyes and teeth: closed parts of less than 5 % of the diagonal, of at least 8 vertices, without
// a joint in use in their box. Open ones (lashes, feathers, straps) are often meant to bend.
Status measure_rigid_parts(CheckedSkin& skin, SkinFinding& out) {
    constexpr double small = 0.05, bends = 0.3;
    constexpr std::size_t least_vertices = 8;
    const std::vector<std::uint32_t> part = part_of_vertex(skin);
    std::vector<std::vector<std::uint32_t>> of_part(skin.topology.defects.parts);
    for (std::uint32_t v = 0; v < skin.vertices(); ++v)
        if (part[v] != no_index) of_part[part[v]].push_back(v);
    std::vector<std::uint8_t> open(of_part.size(), 0);
    for (const DefectEdges::Edge& edge : find_defect_edges(skin.in.mesh, skin.topology.weld).boundary)
        if (part[edge[0]] != no_index) open[part[edge[0]]] = 1;
    out.of_vertex.assign(skin.vertices(), 0);
    RowPair rows;
    for (std::size_t k = 0; k < of_part.size(); ++k) {
        const std::vector<std::uint32_t>& vertices = of_part[k];
        if (vertices.size() < least_vertices || open[k]) continue;
        Box3 box;
        for (const std::uint32_t v : vertices) box.add(to_point(skin.in.mesh.positions[v]));
        if (!(box.diagonal() < small * skin.diagonal)) continue;
        double most = 0;
        for (const std::uint32_t v : vertices)
            most = std::max(most, rows.l1(skin.weights()[v], skin.weights()[vertices[0]]));
        if (most <= bends) continue;
        const bool jointed =
            std::any_of(skin.skeleton.joints.begin(), skin.skeleton.joints.end(),
                        [&](const Joint& j) { return j.deform && box.holds(to_point(j.position)); });
        if (jointed) continue;
        out.value += 1;
        for (const std::uint32_t v : vertices) out.of_vertex[v] = static_cast<float>(most);
    }
    return Done{};
}

}  // namespace sinew
