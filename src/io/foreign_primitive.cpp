// One primitive of a mesh of a foreign scene: rows of weights, vertices without duplicates, accessors.
#include "io/foreign_parts.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "io/formats.h"

namespace sinew::io {

namespace {

/// The vertices of a mesh without duplicates: the old vertex of each new one, and the triangles. Vertices are equal
/// if all bits of all attributes are, with weights and shapes.
struct Joined {
    std::vector<std::uint32_t> from;
    std::span<const Triangle> triangles;
    std::vector<Triangle> made;  // or those of the mesh
};

/// Rows of weights, one after the other; without any where nothing is skinned.
struct Rows {
    std::vector<std::size_t> first;  // V + 1
    std::vector<Influence> all;
    std::span<const Influence> operator[](std::size_t v) const {
        return std::span(all).subspan(first[v], first[v + 1] - first[v]);
    }
};

class PrimitiveWriter {
public:
    PrimitiveWriter(const ForeignMesh& mesh, const Matrix& to, const JointOfNode* joint_of_node, Builder& builder,
                    std::vector<std::string>& warnings)
        : mesh_(mesh),
          to_(to),
          joints_(joint_of_node ? joint_of_node->size() : 0),
          builder_(builder),
          warnings_(warnings) {
        if (joint_of_node) rows_ = rows_of(*joint_of_node);
        joined_ = join();
    }

    Json write() {
        if (joined_.triangles.empty()) return nullptr;
        using Three = std::array<float, 3>;
        const auto three = [](const Vec3& v) { return Three{v.x, v.y, v.z}; };

        Json attributes;
        const auto position = [&](std::uint32_t v) {
            const Vec3& p = mesh_.positions[v];
            return three(to_vec3(transform_point(to_, p.x, p.y, p.z)));
        };
        attributes["POSITION"] = floats(position, true);
        const Matrix turn = normal_matrix(to_);
        if (!mesh_.normals.empty())
            attributes["NORMAL"] = floats([&](std::uint32_t v) {
                return three(unit(direction(turn, mesh_.normals[v]), {0, 1, 0}));
            });
        const bool mirrored = determinant(to_) < 0;
        if (!mesh_.tangents.empty())
            attributes["TANGENT"] = floats([&](std::uint32_t v) {
                const Vec3 t = unit(direction(to_, mesh_.tangents[v]), {1, 0, 0});
                return std::array{t.x, t.y, t.z, mirrored ? -mesh_.tangent_signs[v] : mesh_.tangent_signs[v]};
            });
        for (std::size_t set = 0; set < mesh_.uvs.size(); ++set)
            attributes["TEXCOORD_" + std::to_string(set)] = floats([&](std::uint32_t v) {
                std::array<float, 2> uv = mesh_.uvs[set][v];
                for (float& x : uv) x = std::isfinite(x) ? x : 0;
                return uv;
            });
        if (!mesh_.colors.empty())
            attributes["COLOR_0"] = floats([&](std::uint32_t v) {
                std::array<float, 4> color = mesh_.colors[v];
                for (float& x : color) x = x > 0 ? std::min(x, 1.f) : 0;
                return color;
            });
        if (joints_ > 0 && joints_ <= 256) put_weights<std::uint8_t>(attributes, 5121);
        if (joints_ > 256) put_weights<std::uint16_t>(attributes, 5123);
        if (joints_ > 0 && !mesh_.dual_quaternion.empty())
            attributes[dual_quaternion_attribute] =
                floats([&](std::uint32_t v) { return std::array{mesh_.dual_quaternion[v]}; });

        Json out{{"attributes", std::move(attributes)}};
        if (!mesh_.targets.empty()) {
            Json& targets = out["targets"] = Json::array();
            for (const ForeignTarget& target : mesh_.targets) {
                Json& entry = targets.emplace_back();
                const auto offsets = [&](const Matrix& by, const std::vector<Vec3>& from, bool bounded) {
                    const auto offset = [&](std::uint32_t v) {
                        const Vec3 d = to_vec3(direction(by, from[v]));
                        return std::isfinite(d.x + d.y + d.z) ? three(d) : Three{};
                    };
                    return floats(offset, bounded, {});
                };
                entry["POSITION"] = offsets(to_, target.positions, true);
                if (!target.normals.empty()) entry["NORMAL"] = offsets(turn, target.normals, false);
            }
        }
        out["indices"] = joined_.from.size() <= 0xffff ? corners<std::uint16_t>(joined_.triangles, 5123, mirrored)
                                                       : corners<std::uint32_t>(joined_.triangles, 5125, mirrored);
        return out;
    }

private:
    /// Valid rows of weights: positive, finite, no joint twice, sum 1; empty where there are none.
    Rows rows_of(const JointOfNode& joint_of_node) {
        const auto counts = [](float weight) { return weight > 0 && std::isfinite(weight); };
        Rows rows;
        rows.first.resize(mesh_.positions.size() + 1);
        std::size_t bad = 0;
        for (const ForeignBone& bone : mesh_.bones)
            for (const auto& [vertex, weight] : bone.weights) {
                rows.first[vertex + 1] += counts(weight);
                bad += weight != 0 && !counts(weight);
            }
        std::partial_sum(rows.first.begin(), rows.first.end(), rows.first.begin());
        rows.all.resize(rows.first.back());
        std::vector<std::size_t> next(rows.first.begin(), rows.first.end() - 1);
        for (const ForeignBone& bone : mesh_.bones) {
            const auto joint = static_cast<std::uint32_t>(joint_of_node.at(bone.node));
            for (const auto& [vertex, weight] : bone.weights)
                if (counts(weight)) rows.all[next[vertex]++] = {joint, weight};
        }
        Influence* to = rows.all.data();
        for (std::size_t v = 0; v < next.size(); ++v) {
            Influence* const row = to;
            double sum = 0;
            for (std::size_t k = rows.first[v]; k < next[v]; ++k) {
                const Influence in = rows.all[k];
                Influence* const known =
                    std::find_if(row, to, [&](const Influence& i) { return i.joint == in.joint; });
                if (known == to)
                    *to++ = in;
                else
                    known->weight += in.weight;
            }
            for (const Influence* i = row; i != to; ++i) sum += i->weight;
            for (Influence* i = row; i != to; ++i) i->weight = static_cast<float>(i->weight / sum);
            std::sort(row, to, [](const Influence& a, const Influence& b) {
                return a.weight != b.weight ? a.weight > b.weight : a.joint < b.joint;
            });
            while (to != row && to[-1].weight == 0) --to;
            rows.first[v] = static_cast<std::size_t>(row - rows.all.data());
        }
        rows.first.back() = static_cast<std::size_t>(to - rows.all.data());
        if (bad)
            warnings_.push_back("mesh '" + printable(mesh_.name) + "': " + std::to_string(bad) +
                                " negative or not finite weights of the file count as 0");
        return rows;
    }

    /// Vertices with the same data become one; those of FBX are so already (fbx_meshes.cpp).
    Joined join() const {
        Joined out;
        if (!mesh_.points.empty()) {
            out.from.resize(mesh_.positions.size());
            std::iota(out.from.begin(), out.from.end(), 0u);
            out.triangles = mesh_.triangles;
            return out;
        }
        // All data of a vertex as bytes. -0 and 0 differ, which keeps a duplicate at worst.
        std::vector<std::pair<const char*, std::size_t>> lists;  // and the bytes of an element
        const auto add = [&](const auto& list) {
            if (!list.empty()) lists.emplace_back(reinterpret_cast<const char*>(list.data()), sizeof list[0]);
        };
        add(mesh_.positions), add(mesh_.normals), add(mesh_.tangents), add(mesh_.tangent_signs), add(mesh_.colors);
        add(mesh_.dual_quaternion);
        for (const auto& set : mesh_.uvs) add(set);
        for (const ForeignTarget& target : mesh_.targets) add(target.positions), add(target.normals);
        const auto hash = [&](std::uint32_t v) {
            std::size_t sum = 0;
            for (const auto& [begin, size] : lists)
                sum = 31 * sum + std::hash<std::string_view>()({begin + v * size, size});
            return sum;
        };
        const auto equal = [&](std::uint32_t u, std::uint32_t v) {
            for (const auto& [begin, size] : lists)
                if (std::memcmp(begin + u * size, begin + v * size, size) != 0) return false;
            if (rows_.first.empty()) return true;
            const auto a = rows_[u], b = rows_[v];
            return std::equal(a.begin(), a.end(), b.begin(), b.end());
        };
        std::unordered_map<std::uint32_t, std::uint32_t, decltype(hash), decltype(equal)> known(
            mesh_.positions.size() / 3, hash, equal);
        std::vector<std::uint32_t> to(mesh_.positions.size(), no_index);
        for (const Triangle& t : mesh_.triangles) {
            Triangle triangle{};
            for (std::size_t k = 0; k < 3; ++k) {
                std::uint32_t& place = to[t[k]];
                if (place == no_index) {
                    const auto [found, added] = known.emplace(t[k], static_cast<std::uint32_t>(out.from.size()));
                    if (added) out.from.push_back(t[k]);
                    place = found->second;
                }
                triangle[k] = place;
            }
            out.made.push_back(triangle);
        }
        out.triangles = out.made;
        return out;
    }

    /// An accessor of floats, those of each vertex: of(old vertex), an array.
    template <typename Of>
    std::size_t floats(const Of& of, bool bounded = false, std::optional<int> target = vertices_target) {
        constexpr std::size_t width = std::tuple_size_v<std::invoke_result_t<const Of&, std::uint32_t>>;
        static constexpr const char* types[] = {"SCALAR", "VEC2", "VEC3", "VEC4"};
        const std::size_t count = width * joined_.from.size();
        const float* values = nullptr;
        const std::size_t out =
            builder_.accessor<float>(count, 5126, types[width - 1], width, target, [&](float* to) {
                values = to;
                for (const std::uint32_t v : joined_.from) {
                    const std::array<float, width> own = of(v);
                    to = std::copy(own.begin(), own.end(), to);
                }
            });
        if (bounded) builder_.bound(out, {values, count}, width);
        return out;
    }

    /// An accessor of the corners of triangles.
    template <typename T>
    std::size_t corners(std::span<const Triangle> triangles, int component, bool mirrored) {
        return builder_.accessor<T>(3 * triangles.size(), component, "SCALAR", 1, indices_target, [&](T* to) {
            for (const Triangle& t : triangles)
                for (const std::uint32_t corner : {t[0], t[mirrored ? 2 : 1], t[mirrored ? 1 : 2]})
                    *to++ = static_cast<T>(corner);
        });
    }

    /// JOINTS_n of numbers of type J, and WEIGHTS_n.
    template <typename J>
    void put_weights(Json& attributes, int component) {
        const std::size_t count = 4 * joined_.from.size();
        std::size_t most = 1;
        for (const std::uint32_t v : joined_.from) most = std::max(most, rows_[v].size());
        for (std::size_t set = 0; 4 * set < most; ++set) {
            /// Calls put(number, influence) for those of the set, four a vertex.
            const auto each = [&](const auto& put) {
                for (std::size_t v = 0; v < joined_.from.size(); ++v) {
                    const std::span<const Influence> row = rows_[joined_.from[v]];
                    for (std::size_t k = 4 * set; k < std::min(row.size(), 4 * set + 4); ++k)
                        put(4 * v + k % 4, row[k]);
                }
            };
            const std::string suffix = std::to_string(set);
            attributes["JOINTS_" + suffix] = builder_.accessor<J>(
                count, component, "VEC4", 4, vertices_target,
                [&](J* to) { each([&](std::size_t k, const Influence& i) { to[k] = static_cast<J>(i.joint); }); });
            attributes["WEIGHTS_" + suffix] = builder_.accessor<float>(
                count, 5126, "VEC4", 4, vertices_target,
                [&](float* to) { each([&](std::size_t k, const Influence& i) { to[k] = i.weight; }); });
        }
    }

    const ForeignMesh& mesh_;
    const Matrix& to_;
    const std::size_t joints_;  // of its skin; 0: none
    Builder& builder_;
    std::vector<std::string>& warnings_;
    Rows rows_;
    Joined joined_;
};

}  // namespace

Json foreign_primitive(const ForeignMesh& mesh, const Matrix& to, const JointOfNode* joint_of_node,
                       Builder& builder, std::vector<std::string>& warnings) {
    return PrimitiveWriter(mesh, to, joint_of_node, builder, warnings).write();
}

}  // namespace sinew::io
