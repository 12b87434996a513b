#include "rig/volume_tree.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include "core/parallel.h"
#include "core/try.h"
#include "core/vectors.h"
#include "sinew/domain.h"
#include "sinew/voxels.h"

namespace sinew {
namespace {

constexpr float kFar = 1e30f;

/// Calls visit(neighbour, length) for the 26 neighbours in the box.
template <typename Visit>
void each_neighbour(const BodyVolume& volume, std::uint32_t v, Visit&& visit) {
    static constexpr float kLength[] = {0, 1, 1.41421356f, 1.7320508f};
    const auto [x, y, z] = volume.place(v);
    for (int c = std::max(0, z - 1); c <= std::min(volume.size[2] - 1, z + 1); ++c)
        for (int b = std::max(0, y - 1); b <= std::min(volume.size[1] - 1, y + 1); ++b)
            for (int a = std::max(0, x - 1); a <= std::min(volume.size[0] - 1, x + 1); ++a) {
                const int steps = (a != x) + (b != y) + (c != z);
                if (steps > 0) visit(volume.at(a, b, c), kLength[steps]);
            }
}

/// Squared distances along one line to the nearest sample, plus that sample's value (Felzenszwalb and Huttenlocher
/// 2012, Distance Transforms of Sampled Functions).
void transform_line(std::vector<float>& f, std::vector<float>& out, std::vector<int>& vertex,
                    std::vector<float>& border) {
    const int n = static_cast<int>(f.size());
    int k = 0;
    vertex[0] = 0;
    border[0] = -kFar;
    border[1] = kFar;
    for (int q = 1; q < n; ++q) {
        float s = 0;
        for (;;) {
            const int p = vertex[static_cast<std::size_t>(k)];
            s = ((f[static_cast<std::size_t>(q)] + static_cast<float>(q * q)) -
                 (f[static_cast<std::size_t>(p)] + static_cast<float>(p * p))) /
                static_cast<float>(2 * q - 2 * p);
            if (s > border[static_cast<std::size_t>(k)] || k == 0) break;
            --k;
        }
        if (s > border[static_cast<std::size_t>(k)]) ++k;
        vertex[static_cast<std::size_t>(k)] = q;
        border[static_cast<std::size_t>(k)] = k == 0 ? -kFar : s;
        border[static_cast<std::size_t>(k) + 1] = kFar;
    }
    k = 0;
    for (int q = 0; q < n; ++q) {
        while (border[static_cast<std::size_t>(k) + 1] < static_cast<float>(q)) ++k;
        const int p = vertex[static_cast<std::size_t>(k)];
        out[static_cast<std::size_t>(q)] = static_cast<float>((q - p) * (q - p)) + f[static_cast<std::size_t>(p)];
    }
}

/// Replaces 0 (outside) and 1 (inside) by the distance to the nearest outside voxel.
void measure_depth(BodyVolume& volume) {
    constexpr float kMost = 1e7f;  // more than any squared distance, and exact beside small numbers
    for (float& d : volume.depth) d = d > 0 ? kMost : 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::size_t n = static_cast<std::size_t>(volume.size[axis]);
        std::vector<float> line(n), out(n), border(n + 1);
        std::vector<int> vertex(n);
        const std::size_t step =
            axis == 0   ? 1
            : axis == 1 ? static_cast<std::size_t>(volume.size[0])
                        : static_cast<std::size_t>(volume.size[0]) * static_cast<std::size_t>(volume.size[1]);
        for (std::size_t start = 0; start < volume.depth.size(); ++start) {
            if (start / step % n != 0) continue;
            for (std::size_t k = 0; k < n; ++k) line[k] = volume.depth[start + k * step];
            transform_line(line, out, vertex, border);
            for (std::size_t k = 0; k < n; ++k) volume.depth[start + k * step] = out[k];
        }
    }
    for (float& d : volume.depth) d = std::sqrt(d);
}

/// The largest set of connected voxels with a value above 0; its share of all of them.
double find_largest_part(const BodyVolume& volume, const std::vector<char>& inside,
                         std::vector<std::uint32_t>& largest) {
    std::vector<char> seen(inside.size(), 0);
    std::vector<std::uint32_t> part;
    std::size_t all = 0;
    for (std::uint32_t start = 0; start < inside.size(); ++start) {
        if (!inside[start] || seen[start]) continue;
        part.assign(1, start);
        seen[start] = 1;
        for (std::size_t k = 0; k < part.size(); ++k)
            each_neighbour(volume, part[k], [&](std::uint32_t n, float) {
                if (inside[n] && !seen[n]) {
                    seen[n] = 1;
                    part.push_back(n);
                }
            });
        all += part.size();
        if (part.size() > largest.size()) largest = part;
    }
    return static_cast<double>(largest.size()) / static_cast<double>(std::max<std::size_t>(1, all));
}

struct Entry {
    float key;
    std::uint32_t voxel;
    bool operator<(const Entry& other) const { return key != other.key ? key > other.key : voxel > other.voxel; }
};

}  // namespace

Point3 BodyVolume::position(std::uint32_t v) const {
    const auto p = place(v);
    return {origin[0] + voxel * p[0], origin[1] + voxel * p[1], origin[2] + voxel * p[2]};
}

Result<BodyVolume> make_body_volume(const MeshView& mesh, int resolution, Context* context) {
    VoxelizeOptions options;
    options.resolution = resolution;
    SINEW_TRY_LET(VoxelGrid grid, voxelize(mesh, analyse_mesh(mesh, context), options, context));
    constexpr int kMargin = 3;  // room for closing gaps, and one voxel outside
    std::array<int, 3> low{resolution, resolution, resolution}, high{-1, -1, -1};
    std::vector<std::array<int, 3>> solid;
    std::size_t touched = 0;
    for (int z = 0; z < resolution; ++z)
        for (int y = 0; y < resolution; ++y)
            for (int x = 0; x < resolution; ++x)
                if (grid.solid(x, y, z)) {
                    touched += grid.boundary.get(x, y, z);
                    solid.push_back({x, y, z});
                    for (std::size_t k = 0; k < 3; ++k) {
                        low[k] = std::min(low[k], solid.back()[k]);
                        high[k] = std::max(high[k], solid.back()[k]);
                    }
                }
    if (solid.empty()) return Error{ErrorCode::input, "the mesh has no volume in which a skeleton could be placed"};
    BodyVolume volume;
    volume.voxel = grid.transform.voxel;
    volume.resolution = resolution;
    volume.costly = touched + grid.ambiguous;
    std::size_t count = 1;
    for (std::size_t k = 0; k < 3; ++k) {
        volume.size[k] = high[k] - low[k] + 1 + 2 * kMargin;
        volume.origin[k] = grid.transform.origin[k] + (low[k] - kMargin + 0.5) * volume.voxel;
        count *= static_cast<std::size_t>(volume.size[k]);
    }
    std::vector<char> inside(count, 0);
    for (const auto& [x, y, z] : solid)
        inside[volume.at(x - low[0] + kMargin, y - low[1] + kMargin, z - low[2] + kMargin)] = 1;
    std::vector<std::uint32_t> largest;
    volume.largest_part = find_largest_part(volume, inside, largest);
    // Gaps between parts: boots, gloves, a head on its own.
    for (int round = 0; round < 2 && volume.largest_part < 0.98; ++round) {
        std::vector<char> wider = inside;
        for (std::uint32_t v = 0; v < count; ++v)
            if (inside[v]) each_neighbour(volume, v, [&](std::uint32_t n, float) { wider[n] = 1; });
        inside = std::move(wider);
        largest.clear();
        volume.largest_part = find_largest_part(volume, inside, largest);
    }
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled"};
    volume.depth.assign(count, 0);
    for (const std::uint32_t v : largest) volume.depth[v] = 1;
    measure_depth(volume);
    return volume;
}

BodyVolume crop_volume(const VoxelGrid& grid, const Point3& centre, const Point3& direction, double radius,
                       double behind) {
    const double voxel = grid.transform.voxel;
    const int resolution = grid.boundary.resolution();
    const auto position = [&](const std::array<int, 3>& at) {
        Point3 out{};
        for (std::size_t k = 0; k < 3; ++k) out[k] = grid.transform.origin[k] + (at[k] + 0.5) * voxel;
        return out;
    };
    const auto is_inside = [&](const std::array<int, 3>& at) {
        for (const int a : at)
            if (a < 0 || a >= resolution) return false;
        const Point3 from = position(at) - centre;
        return norm(from) <= radius && dot(from, direction) >= -behind && grid.solid(at[0], at[1], at[2]);
    };
    // From the nearest voxel on, in the box of the ball.
    std::array<int, 3> low{}, size{}, start{};
    for (std::size_t k = 0; k < 3; ++k) {
        low[k] = static_cast<int>((centre[k] - radius - grid.transform.origin[k]) / voxel) - 1;
        size[k] = static_cast<int>(2 * radius / voxel) + 3;
    }
    double nearest = INFINITY;
    for (int z = 0; z < size[2]; ++z)
        for (int y = 0; y < size[1]; ++y)
            for (int x = 0; x < size[0]; ++x) {
                const std::array<int, 3> at{low[0] + x, low[1] + y, low[2] + z};
                const double apart = norm(position(at) - centre);
                if (apart < nearest && is_inside(at)) nearest = apart, start = at;
            }
    BodyVolume volume;
    if (nearest == INFINITY) return volume;
    std::vector<char> seen(
        static_cast<std::size_t>(size[0]) * static_cast<std::size_t>(size[1]) * static_cast<std::size_t>(size[2]),
        0);
    std::vector<std::array<int, 3>> part;
    const auto visit = [&](const std::array<int, 3>& at) {
        if (!is_inside(at)) return;
        const auto index =
            static_cast<std::size_t>(((at[2] - low[2]) * size[1] + at[1] - low[1]) * size[0] + at[0] - low[0]);
        if (!seen[index]) part.push_back(at);
        seen[index] = 1;
    };
    visit(start);
    std::array<int, 3> first = start, last = start;
    for (std::size_t k = 0; k < part.size(); ++k) {
        const std::array<int, 3> at = part[k];
        for (int c = -1; c <= 1; ++c)
            for (int b = -1; b <= 1; ++b)
                for (int a = -1; a <= 1; ++a) visit({at[0] + a, at[1] + b, at[2] + c});
        for (std::size_t axis = 0; axis < 3; ++axis) {
            first[axis] = std::min(first[axis], at[axis]);
            last[axis] = std::max(last[axis], at[axis]);
        }
    }
    std::size_t count = 1;
    volume.voxel = voxel;
    volume.origin = position({first[0] - 1, first[1] - 1, first[2] - 1});  // one voxel outside at each end
    for (std::size_t k = 0; k < 3; ++k) {
        volume.size[k] = last[k] - first[k] + 3;
        count *= static_cast<std::size_t>(volume.size[k]);
    }
    volume.depth.assign(count, 0);
    for (const std::array<int, 3>& at : part)
        volume.depth[volume.at(at[0] - first[0] + 1, at[1] - first[1] + 1, at[2] - first[2] + 1)] = 1;
    measure_depth(volume);
    return volume;
}

double mirror_share(const BodyVolume& volume, int axis) {
    std::size_t all = 0, both = 0;
    for (std::uint32_t v = 0; v < volume.depth.size(); ++v) {
        if (volume.depth[v] <= 0) continue;
        auto p = volume.place(v);
        const auto k = static_cast<std::size_t>(axis);
        p[k] = volume.size[k] - 1 - p[k];
        ++all;
        both += volume.depth[volume.at(p[0], p[1], p[2])] > 0;
    }
    return all ? static_cast<double>(both) / static_cast<double>(all) : 0;
}

namespace {

// Of the deepest voxels the one nearest to the middle: an animal of even thickness is not rooted at its end.
std::uint32_t root_of(const BodyVolume& volume, double inside) {
    float deepest = 0;
    Point3 sum{};
    for (std::uint32_t v = 0; v < volume.depth.size(); ++v) {
        if (volume.depth[v] <= 0) continue;
        deepest = std::max(deepest, volume.depth[v]);
        sum = sum + volume.position(v);
    }
    const Point3 middle = (1 / std::max(1.0, inside)) * sum;
    std::uint32_t root = 0;
    double nearest = INFINITY;
    for (std::uint32_t v = 0; v < volume.depth.size(); ++v)
        if (volume.depth[v] > 0.98f * deepest)
            if (const double apart = norm(volume.position(v) - middle); apart < nearest) {
                nearest = apart;
                root = v;
            }
    return root;
}

// The next voxel on the way of each to the root. Paths keep to the middle: a step costs its length over the square
// of the depth.
std::vector<std::uint32_t> ways_to(const BodyVolume& volume, std::uint32_t root) {
    std::vector<std::uint32_t> parent(volume.depth.size(), 0);
    std::vector<float> cost(volume.depth.size(), kFar);
    std::priority_queue<Entry> queue;
    cost[root] = 0;
    parent[root] = root;
    queue.push({0, root});
    while (!queue.empty()) {
        const float key = queue.top().key;
        const std::uint32_t v = queue.top().voxel;
        queue.pop();
        if (key > cost[v]) continue;
        each_neighbour(volume, v, [&](std::uint32_t n, float length) {
            if (volume.depth[n] <= 0) return;
            const float depth = 0.5f * (volume.depth[n] + volume.depth[v]), next = key + length / (depth * depth);
            if (next < cost[n]) {
                cost[n] = next;
                parent[n] = v;
                queue.push({next, n});
            }
        });
    }
    return parent;
}

}  // namespace

VolumeTree::VolumeTree(const BodyVolume& volume, double least, Context* context) {
    const auto count = static_cast<std::uint32_t>(volume.depth.size());
    const auto inside = static_cast<double>(
        std::count_if(volume.depth.begin(), volume.depth.end(), [](float depth) { return depth > 0; }));
    root_ = root_of(volume, inside);
    parent_ = ways_to(volume, root_);
    std::vector<float> away(count, kFar);
    std::vector<std::uint32_t> nearest(count, root_);  // voxel of the tree
    std::priority_queue<Entry> queue;
    // Distances from the tree, which grows by the path of one tip at a time.
    const auto add = [&](std::uint32_t v) {
        away[v] = 0;
        nearest[v] = v;
        queue.push({0, v});
    };
    // A path that enters the ball around a voxel of the tree joins it there, so that both legs end in the hips, not
    // beside each other in the chest.
    std::vector<std::uint32_t> ball_of(count, count);
    const auto add_ball = [&](std::uint32_t v) {
        const float radius = 0.9f * volume.depth[v];
        const int reach = static_cast<int>(radius);
        const auto [x, y, z] = volume.place(v);
        for (int c = z - reach; c <= z + reach; ++c)
            for (int b = y - reach; b <= y + reach; ++b)
                for (int a = x - reach; a <= x + reach; ++a) {
                    const int dx = a - x, dy = b - y, dz = c - z;
                    if (static_cast<float>(dx * dx + dy * dy + dz * dz) > radius * radius) continue;
                    // Balls lie inside the volume, and so inside the box.
                    std::uint32_t& owner = ball_of[volume.at(a, b, c)];
                    if (owner == count) owner = v;
                }
    };
    add(root_);
    add_ball(root_);
    least = std::max({least, 3.0, 0.025 * std::max({volume.size[0], volume.size[1], volume.size[2]})});
    // A tip changes the distances near it, so all of them settle each voxel a few times. In a sponge (triangles at
    // random) each changes most: the search ends there.
    const double most_settled = 8 * inside;
    double settled = 0;
    while (tips_.size() < 32 && settled < most_settled && !cancelled(context)) {
        while (!queue.empty()) {
            const float key = queue.top().key;
            const std::uint32_t v = queue.top().voxel;
            queue.pop();
            if (key > away[v]) continue;
            ++settled;
            each_neighbour(volume, v, [&](std::uint32_t n, float length) {
                if (volume.depth[n] <= 0 || key + length >= away[n]) return;
                away[n] = key + length;
                nearest[n] = nearest[v];
                queue.push({away[n], n});
            });
        }
        // A bulge is as far from its path as the path is deep. What sticks out farther is a limb.
        std::uint32_t tip = root_;
        double most = 0;
        for (std::uint32_t v = 0; v < count; ++v) {
            if (volume.depth[v] <= 0 || away[v] >= kFar) continue;
            const double out = away[v] - 1.5 * volume.depth[nearest[v]];
            if (out > most) {
                most = out;
                tip = v;
            }
        }
        if (most < least) break;
        tips_.push_back(tip);
        prominences_.push_back(most);
        std::vector<std::uint32_t> path;
        for (std::uint32_t v = tip;; v = parent_[v]) {
            path.push_back(v);
            if (ball_of[parent_[v]] == count) continue;
            parent_[v] = ball_of[parent_[v]];
            break;
        }
        for (const std::uint32_t v : path) add(v);
        for (const std::uint32_t v : path) add_ball(v);
    }
}

double VolumeTree::thickness_at(const BodyVolume& volume, std::uint32_t tip) const {
    const Point3 end = volume.position(tip);
    const double deepest = volume.depth[root_];
    std::uint32_t v = tip;
    while (v != root_ && norm(volume.position(v) - end) < volume.voxel * deepest) v = parent_[v];
    return volume.depth[v] / deepest;
}

std::uint32_t VolumeTree::shared_ancestor(std::uint32_t a, std::uint32_t b) const {
    std::vector<std::uint32_t> up{a};
    while (up.back() != root_) up.push_back(parent_[up.back()]);
    std::sort(up.begin(), up.end());
    while (!std::binary_search(up.begin(), up.end(), b)) b = parent_[b];
    return b;
}

std::uint32_t VolumeTree::meeting(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    const std::uint32_t ab = shared_ancestor(a, b), bc = shared_ancestor(b, c), ac = shared_ancestor(a, c);
    // Two of them are the same voxel; the third is where all meet.
    return ab == bc ? ac : ab == ac ? bc : ab;
}

std::vector<std::uint32_t> VolumeTree::path(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t top = shared_ancestor(a, b);
    std::vector<std::uint32_t> out, down;
    for (std::uint32_t v = a; v != top; v = parent_[v]) out.push_back(v);
    out.push_back(top);
    for (std::uint32_t v = b; v != top; v = parent_[v]) down.push_back(v);
    out.insert(out.end(), down.rbegin(), down.rend());
    return out;
}

}  // namespace sinew
