#include "glb_out.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>

#include "implicit.h"

namespace sinew::test {

namespace {

std::string number(double value) {
    char text[64];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}
std::string vector(Vec3 v) { return "[" + number(v.x) + "," + number(v.y) + "," + number(v.z) + "]"; }

template <typename T>
void put(std::vector<std::byte>& out, const T& value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    out.insert(out.end(), bytes, bytes + sizeof value);
}
void pad(std::vector<std::byte>& out, char with) { out.resize((out.size() + 3) / 4 * 4, std::byte(with)); }

struct Part {
    std::vector<std::uint32_t> vertices;  // of the character
    std::vector<std::uint32_t> indices;   // into vertices
};

class Writer {
public:
    Writer(const Character& character, const GlbOptions& options) : c_(character), options_(options) {}

    std::vector<std::byte> run() {
        std::string primitives;
        const std::vector<Vec3> normals = options_.normals ? vertex_normals() : std::vector<Vec3>{};
        for (const Part& part : parts()) {
            if (!primitives.empty()) primitives += ",";
            primitives += "{\"attributes\":{\"POSITION\":" + vectors(c_.positions, part, true);
            if (options_.normals) primitives += ",\"NORMAL\":" + vectors(normals, part, false);
            primitives += "}";
            if (options_.indexed) primitives += ",\"indices\":" + indices(part);
            primitives += "}";
        }

        std::string nodes, roots;
        for (std::size_t j = 0; j < c_.skeleton.joints.size(); ++j) {
            const Joint& joint = c_.skeleton.joints[j];
            Vec3 p = joint.position;
            if (joint.parent >= 0) {
                const Vec3& q = c_.skeleton.joints[joint.parent].position;
                p = {p.x - q.x, p.y - q.y, p.z - q.z};
            } else {
                roots += (roots.empty() ? "" : ",") + std::to_string(j);
            }
            std::string children;
            for (std::size_t k = 0; k < c_.skeleton.joints.size(); ++k)
                if (c_.skeleton.joints[k].parent == static_cast<int>(j))
                    children += (children.empty() ? "" : ",") + std::to_string(k);
            nodes += (j ? "," : "") + ("{\"name\":\"" + joint.name + "\",\"translation\":" + vector(p));
            nodes += (children.empty() ? "" : ",\"children\":[" + children + "]") + "}";
        }
        if (!primitives.empty()) {
            nodes += ",{\"name\":\"" + c_.name + "\",\"mesh\":0}";
            roots += "," + std::to_string(c_.skeleton.joints.size());
        }
        std::string json =
            R"({"asset":{"version":"2.0","generator":"sinew test characters"},"scene":0,"scenes":[{"nodes":[)" +
            roots + "]}],\"nodes\":[" + nodes + "]";
        if (!primitives.empty())
            json += ",\"meshes\":[{\"name\":\"" + c_.name + "\",\"primitives\":[" + primitives +
                    "]}],\"accessors\":[" + accessors_ + "],\"bufferViews\":[" + views_ +
                    "],\"buffers\":[{\"byteLength\":" + std::to_string(bytes_.size()) + "}]";
        json += "}";
        json.resize((json.size() + 3) / 4 * 4, ' ');

        std::vector<std::byte> out;
        const bool binary = !bytes_.empty();
        put(out,
            std::array<std::uint32_t, 3>{
                0x46546c67u, 2u, static_cast<std::uint32_t>(20 + json.size() + (binary ? 8 + bytes_.size() : 0))});
        put(out, std::array<std::uint32_t, 2>{static_cast<std::uint32_t>(json.size()), 0x4e4f534au});
        for (const char c : json) out.push_back(std::byte(c));
        if (binary) put(out, std::array<std::uint32_t, 2>{static_cast<std::uint32_t>(bytes_.size()), 0x004e4942u});
        out.insert(out.end(), bytes_.begin(), bytes_.end());
        return out;
    }

private:
    std::vector<Part> parts() const {
        std::map<std::uint32_t, Part> by_number;
        const auto v = static_cast<std::uint32_t>(c_.positions.size());
        if (!options_.primitive && options_.indexed && !c_.triangles.empty()) {
            Part& whole = by_number[0];
            for (std::uint32_t i = 0; i < v; ++i) whole.vertices.push_back(i);
            for (const Triangle& t : c_.triangles) whole.indices.insert(whole.indices.end(), t.begin(), t.end());
        } else {
            std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> local;
            for (std::size_t t = 0; t < c_.triangles.size(); ++t) {
                const std::uint32_t p = options_.primitive ? options_.primitive(t) : 0;
                Part& part = by_number[p];
                for (const std::uint32_t corner : c_.triangles[t]) {
                    const auto next = static_cast<std::uint32_t>(part.vertices.size());
                    const std::uint32_t at =
                        options_.indexed ? local.try_emplace({p, corner}, next).first->second : next;
                    if (at == next) part.vertices.push_back(corner);
                    part.indices.push_back(at);
                }
            }
        }
        std::vector<Part> parts;
        for (auto& [number, part] : by_number) parts.push_back(std::move(part));
        return parts;
    }

    std::vector<Vec3> vertex_normals() const {
        std::vector<P3> sum(c_.positions.size());
        const auto at = [&](std::uint32_t v) {
            return P3{c_.positions[v].x, c_.positions[v].y, c_.positions[v].z};
        };
        for (const Triangle& t : c_.triangles) {
            if (*std::max_element(t.begin(), t.end()) >= c_.positions.size()) continue;
            const P3 n = cross(at(t[1]) - at(t[0]), at(t[2]) - at(t[0]));
            for (const std::uint32_t v : t) sum[v] = sum[v] + n;
        }
        std::vector<Vec3> normals;
        for (const P3& n : sum) {
            const double l = length(n);
            // glTF requires unit length, also where the normal is undefined.
            normals.push_back(l > 0 && std::isfinite(l) ? to_vec3((1 / l) * n) : Vec3{0, 1, 0});
        }
        return normals;
    }

    std::string accessor(std::size_t begin, int target, const std::string& rest) {
        views_ += std::string(view_count_ ? "," : "") + "{\"buffer\":0,\"byteOffset\":" + std::to_string(begin) +
                  ",\"byteLength\":" + std::to_string(bytes_.size() - begin) +
                  ",\"target\":" + std::to_string(target) + "}";
        accessors_ += std::string(view_count_ ? "," : "") + "{\"bufferView\":" + std::to_string(view_count_) + "," +
                      rest + "}";
        pad(bytes_, 0);
        return std::to_string(view_count_++);
    }

    std::string vectors(const std::vector<Vec3>& values, const Part& part, bool bounds) {
        const std::size_t begin = bytes_.size();
        constexpr float inf = std::numeric_limits<float>::infinity();
        float low[3] = {inf, inf, inf}, high[3] = {-inf, -inf, -inf};
        for (const std::uint32_t v : part.vertices) {
            const Vec3 p = v < values.size() ? values[v] : Vec3{};
            put(bytes_, std::array<float, 3>{p.x, p.y, p.z});
            const float xyz[3] = {p.x, p.y, p.z};
            for (int k = 0; k < 3; ++k)
                if (std::isfinite(xyz[k])) low[k] = std::min(low[k], xyz[k]), high[k] = std::max(high[k], xyz[k]);
        }
        std::string rest =
            "\"componentType\":5126,\"type\":\"VEC3\",\"count\":" + std::to_string(part.vertices.size());
        if (bounds)
            rest +=
                ",\"min\":" + vector({low[0], low[1], low[2]}) + ",\"max\":" + vector({high[0], high[1], high[2]});
        return accessor(begin, 34962, rest);
    }

    std::string indices(const Part& part) {
        const std::size_t begin = bytes_.size();
        // The largest index of each type is reserved for primitive restart.
        const std::uint32_t most = *std::max_element(part.indices.begin(), part.indices.end());
        int width = most < 255 ? 1 : most < 65535 ? 2 : 4;
        width = std::max(width, options_.index_bytes);
        for (const std::uint32_t i : part.indices)
            for (int k = 0; k < width; ++k) bytes_.push_back(std::byte(i >> (8 * k)));
        return accessor(begin, 34963,
                        "\"type\":\"SCALAR\",\"componentType\":" +
                            std::to_string(width == 1   ? 5121
                                           : width == 2 ? 5123
                                                        : 5125) +
                            ",\"count\":" + std::to_string(part.indices.size()));
    }

    const Character& c_;
    const GlbOptions& options_;
    std::vector<std::byte> bytes_;
    std::string accessors_, views_;
    int view_count_ = 0;
};

}  // namespace

std::vector<std::byte> to_glb(const Character& character, const GlbOptions& options) {
    return Writer(character, options).run();
}

}  // namespace sinew::test
