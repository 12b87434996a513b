// A flat figure as skeleton JSON of Spine: bones along their segments, weighted mesh attachments in bone space.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "core/try.h"
#include "io/formats.h"
#include "sinew/cutout_files.h"

namespace sinew::io {

namespace {

/// Only as many digits as a pixel position needs.
double rounded(double value, double steps) {
    const double r = std::round(value * steps) / steps;
    return r == 0 ? 0.0 : r;
}
double length_of(double value) { return rounded(value, 1e4); }

/// Position and direction of a bone, in radians from x.
struct Frame {
    double x = 0, y = 0, angle = 0, length = 0;

    std::array<double, 2> local(double px, double py) const {
        const double c = std::cos(angle), s = std::sin(angle);
        return {c * (px - x) + s * (py - y), -s * (px - x) + c * (py - y)};
    }
};

double degrees(double radians) {
    const double turned = std::remainder(radians * 180 / std::numbers::pi, 360.0);
    return rounded(turned, 1e6);
}

std::vector<Frame> frames_of(const std::vector<Joint>& joints) {
    std::vector<Frame> frames(joints.size());
    for (std::size_t j = 0; j < joints.size(); ++j) {
        Frame& f = frames[j];
        f.x = joints[j].position.x;
        f.y = joints[j].position.y;
        if (!joints[j].tail) continue;
        const double dx = joints[j].tail->x - f.x, dy = joints[j].tail->y - f.y;
        f.length = std::hypot(dx, dy);
        f.angle = f.length > 0 ? std::atan2(dy, dx) : 0;
    }
    return frames;
}

/// The list of bones: the root, then the joints, parents before children.
struct BoneOrder {
    std::vector<std::size_t> joints;
    std::vector<std::size_t> number;  // of each joint, in the list; 0 is the root
};
Result<BoneOrder> order_bones(const std::vector<Joint>& joints) {
    BoneOrder out{{}, std::vector<std::size_t>(joints.size(), 0)};
    while (out.joints.size() < joints.size()) {
        const std::size_t before = out.joints.size();
        for (std::size_t j = 0; j < joints.size(); ++j) {
            const int p = joints[j].parent;
            if (out.number[j] || (p >= 0 && !out.number[static_cast<std::size_t>(p)])) continue;
            out.joints.push_back(j);
            out.number[j] = out.joints.size();
        }
        if (out.joints.size() == before) return Error{ErrorCode::input, "bones must not be their own ancestors"};
    }
    return out;
}

OrderedJson bones_json(const std::vector<Joint>& joints, const std::vector<Frame>& frames, const BoneOrder& order,
                       const std::string& root) {
    OrderedJson bones = OrderedJson::array({{{"name", root}}});
    for (const std::size_t j : order.joints) {
        const int p = joints[j].parent;
        const Frame parent = p < 0 ? Frame{} : frames[static_cast<std::size_t>(p)];
        const auto at = parent.local(frames[j].x, frames[j].y);
        OrderedJson bone{{"name", joints[j].name},
                         {"parent", p < 0 ? root : joints[static_cast<std::size_t>(p)].name}};
        if (frames[j].length > 0) bone["length"] = length_of(frames[j].length);
        bone["rotation"] = degrees(frames[j].angle - parent.angle);
        bone["x"] = length_of(at[0]);
        bone["y"] = length_of(at[1]);
        bones.push_back(std::move(bone));
    }
    return bones;
}

/// The mesh of a layer, with weights in the spaces of bones. `folder`: of the file.
OrderedJson attachment_json(const CutoutLayer& layer, const CutoutPart& part, const std::vector<Frame>& frames,
                            const BoneOrder& order, const std::filesystem::path& folder) {
    OrderedJson uvs = OrderedJson::array(), triangles = OrderedJson::array(), vertices = OrderedJson::array(),
                edges = OrderedJson::array();
    for (const auto& uv : part.mesh.uvs)
        for (const float c : uv) uvs.push_back(rounded(c, 1e7));
    for (const Triangle& t : part.mesh.triangles)
        for (const std::uint32_t v : t) triangles.push_back(v);
    for (std::size_t v = 0; v < part.mesh.positions.size(); ++v) {
        vertices.push_back(part.weights[v].size());
        for (const Influence& i : part.weights[v]) {
            const auto at = frames[i.joint].local(part.mesh.positions[v].x, part.mesh.positions[v].y);
            vertices.push_back(order.number[i.joint]);
            vertices.push_back(length_of(at[0]));
            vertices.push_back(length_of(at[1]));
            vertices.push_back(rounded(i.weight, 1e6));
        }
    }
    // Pairs of vertices, each counted by its two coordinates.
    std::size_t first = 0;
    for (const std::uint32_t n : part.mesh.loops) {
        for (std::size_t k = 0; k < n; ++k) {
            edges.push_back(2 * (first + k));
            edges.push_back(2 * (first + (k + 1) % n));
        }
        first += n;
    }
    std::error_code failed;
    std::filesystem::path path = std::filesystem::relative(layer.path, folder, failed);
    if (failed || path.empty()) path = std::filesystem::absolute(layer.path, failed);
    path.replace_extension();
    OrderedJson mesh{{"type", "mesh"}};
    if (path.generic_string() != layer.name) mesh["path"] = path.generic_string();
    mesh["uvs"] = std::move(uvs);
    mesh["triangles"] = std::move(triangles);
    mesh["vertices"] = std::move(vertices);
    mesh["hull"] = part.mesh.loops.empty() ? 0 : part.mesh.loops.front();
    mesh["edges"] = std::move(edges);
    mesh["width"] = layer.picture.width;
    mesh["height"] = layer.picture.height;
    return mesh;
}

}  // namespace

Result<std::string> cutout_spine(const CutoutFigure& figure, std::span<const CutoutPart> parts,
                                 const std::filesystem::path& folder) {
    const std::vector<Joint>& joints = figure.skeleton.joints;
    std::set<std::string> names;
    for (const Joint& joint : joints)
        if (!names.insert(joint.name).second)
            return Error{ErrorCode::input, "two bones are called '" + printable(joint.name) +
                                               "': in Spine each needs a name of its own"};
    std::string root = "root";
    while (names.contains(root)) root += "_";
    SINEW_TRY_LET(const BoneOrder order, order_bones(joints));
    const std::vector<Frame> frames = frames_of(joints);

    OrderedJson slots = OrderedJson::array(), attachments = OrderedJson::object();
    for (std::size_t l = 0; l < parts.size(); ++l) {
        const CutoutLayer& layer = figure.layers[l];
        slots.push_back({{"name", layer.name}, {"bone", root}, {"attachment", layer.name}});
        attachments[layer.name][layer.name] = attachment_json(layer, parts[l], frames, order, folder);
    }
    const OrderedJson out{
        {"skeleton",
         {{"hash", ""},
          {"spine", "4.1.24"},
          {"x", 0},
          {"y", 0},
          {"width", figure.width},
          {"height", figure.height},
          {"images", "./"},
          {"audio", ""}}},
        {"bones", bones_json(joints, frames, order, root)},
        {"slots", std::move(slots)},
        {"skins", OrderedJson::array({{{"name", "default"}, {"attachments", std::move(attachments)}}})},
        {"animations", {{"animation", OrderedJson::object()}}},
    };
    return out.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace sinew::io
