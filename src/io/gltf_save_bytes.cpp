// The data of a saved document: decompressed Draco, animations, skin weights and inverse bind matrices as bytes of
// new accessors, and their places in the target buffer.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <tuple>

#include "core/try.h"
#include "io/gltf_builder.h"
#include "io/gltf_save.h"
#include "io/gltf_skins.h"
#include "io/gltf_weights.h"
#include "io/json_text.h"

namespace sinew::io::gltf_save {

namespace {

void append_little_endian(std::vector<std::byte>& out, std::uint32_t value, std::size_t size) {
    for (std::size_t k = 0; k < size; ++k) out.push_back(static_cast<std::byte>(value >> (8 * k) & 0xff));
}

// ---- Draco

/// A component as a number, as bounds state it: not normalised.
double number_at(const Elements& elements, std::size_t i) {
    const auto read = [&](auto value) {
        std::memcpy(&value, elements.bytes.data() + i * sizeof value, sizeof value);
        return static_cast<double>(value);
    };
    switch (elements.component) {
        case Component::i8:
            return read(std::int8_t{});
        case Component::u8:
            return read(std::uint8_t{});
        case Component::i16:
            return read(std::int16_t{});
        case Component::u16:
            return read(std::uint16_t{});
        case Component::u32:
            return read(std::uint32_t{});
        case Component::f32:
            return read(float{});
    }
    return 0;
}

/// Writes bounds where they differ from the stated ones: compression moves values a little, and bounds must be
/// those of what is written. Only POSITION must have bounds; other accessors may state them.
void set_bounds(const Json& described, const Elements& elements, bool required, NewAccessor& added) {
    const std::size_t width = elements.width;
    if (elements.count == 0 || width == 0) return;
    for (const bool upper : {false, true}) {
        const Json* stated = member(described, upper ? "max" : "min");
        if (!stated && !required) continue;
        std::vector<double> bound;
        for (std::size_t i = 0; i < elements.count * width; ++i) {
            const double value = number_at(elements, i);
            if (i < width)
                bound.push_back(value);
            else if (double& b = bound[i % width]; upper ? value > b : value < b)
                b = value;
        }
        const auto same_number = [&](const Json& number, double value) {
            if (!number.is_number()) return false;
            const auto is = number.get<double>();
            return elements.component == Component::f32 ? static_cast<double>(static_cast<float>(is)) == value
                                                        : is == value;
        };
        bool same = stated && stated->is_array() && stated->size() == width;
        for (std::size_t k = 0; same && k < width; ++k) same = same_number((*stated)[k], bound[k]);
        if (same) continue;
        std::string& text = upper ? added.max : added.min;
        for (const double b : bound) text += (text.empty() ? "[" : ",") + json_number(b);
        text += "]";
    }
}

NewAccessor index_accessor(const Json* described, Elements elements) {
    NewAccessor added;
    added.count = elements.count;
    added.target = 34963;
    if (!described) {
        added.component = Component::u32;
        added.type = "SCALAR";
        added.bytes = std::move(elements.bytes);
        return added;
    }
    const auto type = whole(member(*described, "componentType"));
    added.component = type == 5121 ? Component::u8 : type == 5123 ? Component::u16 : Component::u32;
    set_bounds(*described, elements, false, added);
    for (const std::uint32_t i : as_unsigned(elements))
        append_little_endian(added.bytes, i, size_of(added.component));
    return added;
}

/// Rows of vertex attributes are padded to four bytes.
NewAccessor attribute_accessor(const std::string& name, const Json& described, const Elements& elements) {
    NewAccessor added;
    added.count = elements.count;
    added.component = elements.component;
    const std::size_t row = size_of(elements.component) * elements.width, step = aligned(row);
    added.stride = step == row ? 0 : step;
    added.bytes.resize(elements.count * step);
    for (std::size_t i = 0; i < elements.count; ++i)
        std::memcpy(added.bytes.data() + i * step, elements.bytes.data() + i * row, row);
    set_bounds(described, elements, name == "POSITION", added);
    return added;
}

/// Decompresses primitives into plain accessors with the numbers of those that described the compressed data. Two
/// primitives may describe different data by one accessor as long as the data is compressed; then the second
/// primitive gets an accessor of its own.
class DracoData {
public:
    DracoData(const Request& request, Plan& plan) : document_(request.document), plan_(plan) {
        // The accessor of an uncompressed primitive must not get the data of a compressed one.
        for (std::size_t m = 0; m < document_.count("meshes"); ++m) {
            const Json* primitives = member(*document_.at("meshes", m), "primitives");
            if (!primitives || !primitives->is_array()) continue;
            for (const Json& json : *primitives) {
                if (has_extension(json, draco_extension)) continue;
                if (const auto accessor = whole(member(json, "indices"))) blob_of_[*accessor] = none;
                const Json* attributes = member(json, "attributes");
                if (!attributes || !attributes->is_object()) continue;
                for (const auto& [name, value] : attributes->items())
                    if (const auto accessor = whole(&value)) blob_of_[*accessor] = none;
            }
        }
    }

    /// With `weights` also JOINTS_n and WEIGHTS_n.
    void add(const PrimitiveRef& ref, DracoMesh mesh, bool weights) {
        const Json& json = document_.primitive(ref);
        const std::size_t blob = *whole(member(json["extensions"][draco_extension], "bufferView"));
        add(ref, "indices", member(json, "indices"), blob, std::move(mesh.indices));
        for (auto& [name, elements] : mesh.attributes)
            if (weights || !is_weight_attribute(name))
                add(ref, name, member(json["attributes"], name.c_str()), blob, std::move(elements));
        ++plan_.draco_primitives;
    }

private:
    void add(const PrimitiveRef& ref, const std::string& name, const Json* index, std::size_t blob,
             Elements elements) {
        if (name == "indices" && !index) {  // only the compressed data has indices
            plan_.redirected.push_back({ref, name, plan_.added.size()});
            plan_.added.push_back(index_accessor(nullptr, std::move(elements)));
            return;
        }
        const auto accessor = whole(index);
        const Json* described = accessor ? document_.at("accessors", *accessor) : nullptr;
        // A bufferView here is the uncompressed version that the writer left for readers without Draco.
        if (!described || member(*described, "bufferView")) return;
        const auto [known, is_first] = blob_of_.try_emplace(*accessor, blob);
        if (!is_first && known->second == blob) return;
        if (!is_first) {
            const auto [split, is_new] = split_.try_emplace({*accessor, blob}, plan_.added.size());
            plan_.redirected.push_back({ref, name, split->second});
            if (!is_new) return;
        }
        NewAccessor added = name == "indices" ? index_accessor(described, std::move(elements))
                                              : attribute_accessor(name, *described, elements);
        added.described = *accessor;
        if (is_first) added.accessor = *accessor;
        plan_.added.push_back(std::move(added));
    }

    const Document& document_;
    Plan& plan_;
    std::map<std::size_t, std::size_t> blob_of_;  // accessor -> the bufferView of its compressed data, or none
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> split_;  // accessor, other view -> Plan::added
};

}  // namespace

Status add_draco_data(const Request& request, Plan& plan) {
    const Document& document = request.document;
    DracoData data(request, plan);
    const auto add = [&](const PrimitiveRef& ref, bool weights) -> Status {
        SINEW_TRY_LET(auto decoded, read_draco(document, document.primitive(ref),
                                               "mesh " + std::to_string(ref.mesh) + " primitive " +
                                                   std::to_string(ref.primitive)));
        data.add(ref, std::move(decoded), weights);
        return Done{};
    };
    std::set<const Json*> done;
    for (const VertexBlock& block : request.rig().blocks)
        for (const PrimitiveRef& ref : block.primitives) {
            const Json& json = document.primitive(ref);
            if (!has_extension(json, draco_extension)) continue;
            done.insert(&json);
            SINEW_TRY(add(ref, false));
        }
    if (!request.options.decompress) return Done{};
    for (std::size_t m = 0; m < document.count("meshes"); ++m) {
        const Json* primitives = member(*document.at("meshes", m), "primitives");
        for (std::size_t p = 0; primitives && primitives->is_array() && p < primitives->size(); ++p) {
            const Json& json = (*primitives)[p];
            if (!has_extension(json, draco_extension) || done.contains(&json)) continue;
            if (!member(json, "attributes")) return document.error("a compressed primitive has no attributes");
            SINEW_TRY(add({m, p}, true));
            plan.unpacked.push_back({m, p});
        }
    }
    return Done{};
}

// ---- animations

namespace {

/// Adds values of a clip; returns their place in Plan::added. Times state their bounds.
std::size_t add_floats(Plan& plan, const std::vector<float>& values, const char* type, std::size_t width,
                       bool are_times) {
    NewAccessor added;
    added.type = type;
    added.target = 0;
    added.count = values.size() / width;
    added.bytes.resize(values.size() * sizeof(float));
    std::memcpy(added.bytes.data(), values.data(), added.bytes.size());
    if (are_times) {
        added.min = "[" + json_number(values.front()) + "]";
        added.max = "[" + json_number(values.back()) + "]";
    }
    plan.added.push_back(std::move(added));
    ++plan.clip_accessors;
    return plan.added.size() - 1;
}

}  // namespace

Status add_clip_data(const Request& request, Plan& plan) {
    const Json* animations = member(request.document.json, "animations");
    if (!request.options.clips.empty() && animations && !animations->is_array())
        return request.document.error("animations must be an array");
    for (const PoseClip& clip : request.options.clips) {
        SINEW_TRY_LET(std::vector<NodeTrack> tracks, node_tracks(request.scene, clip, plan.report.notes));
        if (tracks.empty()) {
            plan.report.notes.push_back("animation " + json_string(clip.name) + " moves no joint: left out");
            continue;
        }
        std::vector<float> times;
        for (const PoseKey& key : clip.keys) times.push_back(static_cast<float>(key.time));
        ClipPlan out{&clip, add_floats(plan, times, "SCALAR", 1, true), {}};
        for (NodeTrack& track : tracks) {
            const std::size_t values = track.width == 4 ? add_floats(plan, track.values, "VEC4", 4, false)
                                                        : add_floats(plan, track.values, "VEC3", 3, false);
            out.tracks.emplace_back(std::move(track), values);
        }
        plan.clips.push_back(std::move(out));
    }
    return Done{};
}

// ---- skin weights

namespace {

constexpr double kFolded = 1e-2;  ///< determinant of a mean of motions: one that is smaller has no usable inverse

Component component_of(WeightFormat format) {
    return format == WeightFormat::f32   ? Component::f32
           : format == WeightFormat::u16 ? Component::u16
                                         : Component::u8;
}

/// Empty accessors for the sets of a block; returns the place of the first in Plan::added.
std::size_t add_sets(BlockPlan& block, std::size_t count, Component joint_type, Component weight_type, Plan& plan) {
    const std::size_t first = plan.added.size();
    for (std::size_t s = 0; s < block.sets; ++s) {
        NewAccessor joints, weights;
        joints.component = joint_type;
        weights.component = weight_type;
        weights.normalized = weight_type != Component::f32;
        joints.count = weights.count = count;
        joints.bytes.resize(count * 4 * size_of(joint_type));
        weights.bytes.resize(count * 4 * size_of(weight_type));
        if (s < block.old_joints.size()) {
            joints.replaces = block.old_joints[s];
            weights.replaces = block.old_weights[s];
        }
        block.added.push_back(plan.added.size());
        plan.added.push_back(std::move(joints));
        plan.added.push_back(std::move(weights));
    }
    return first;
}

/// Adds JOINTS_n and WEIGHTS_n of a block. `local`: number in the skin of each joint of the skeleton.
void add_block(const Request& request, std::size_t b, const std::vector<std::uint32_t>& local, Component joint_type,
               Plan& plan) {
    const VertexBlock& block = request.rig().blocks[b];
    BlockPlan& out = plan.blocks[b];
    const std::size_t count = block.vertex_count, slots = 4 * out.sets;
    const Component weight_type = component_of(request.options.weight_format);
    const std::size_t joint_size = size_of(joint_type), weight_size = size_of(weight_type);
    const std::size_t first = add_sets(out, count, joint_type, weight_type, plan);
    const auto put = [](std::vector<std::byte>& bytes, std::size_t at, std::size_t size, std::uint32_t value) {
        for (std::size_t k = 0; k < size; ++k)
            bytes[at * size + k] = static_cast<std::byte>(value >> (8 * k) & 0xff);
    };
    std::vector<float> shares;
    std::vector<std::uint32_t> units(slots);
    for (std::size_t v = 0; v < count; ++v) {
        const auto row = request.weights[block.first_vertex + v];
        shares.clear();
        for (const Influence& influence : row) shares.push_back(influence.weight);
        if (weight_type == Component::f32) {
            correct_sum(shares);
        } else {
            units.resize(std::max(slots, shares.size()));
            quantise_shares(shares, weight_type == Component::u8 ? 255 : 65535, units);
        }
        for (std::size_t i = 0; i < row.size(); ++i) {
            // An influence that rounds to zero is left out: its slot keeps joint 0.
            if (weight_type != Component::f32 && units[i] == 0) continue;
            NewAccessor& joints = plan.added[first + 2 * (i / 4)];
            NewAccessor& weights = plan.added[first + 2 * (i / 4) + 1];
            const std::size_t at = 4 * v + i % 4;
            put(joints.bytes, at, joint_size, local[row[i].joint]);
            if (weight_type == Component::f32)
                std::memcpy(weights.bytes.data() + at * 4, &shares[i], 4);
            else
                put(weights.bytes, at, weight_size, units[i]);
        }
    }
}

}  // namespace

Status add_weight_data(const Request& request, Plan& plan) {
    const Rig& rig = request.rig();
    for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
        const VertexBlock& block = rig.blocks[b];
        std::vector<std::uint32_t> local(request.scene.skeleton.joints.size(), no_index);
        const auto& joints = rig.skins[block.skin].joints;
        for (std::size_t j = joints.size(); j-- > 0;)
            if (joints[j] < local.size()) local[joints[j]] = static_cast<std::uint32_t>(j);

        std::uint32_t largest = 0;
        for (std::uint32_t v = 0; v < block.vertex_count; ++v) {
            const auto row = request.weights[block.first_vertex + v];
            for (const Influence& influence : row) {
                if (influence.joint >= local.size() || local[influence.joint] == no_index)
                    return request.internal_error("vertex " + std::to_string(block.first_vertex + v) + ": joint " +
                                                  std::to_string(influence.joint) + " is not in the vertex's skin");
                largest = std::max(largest, local[influence.joint]);
            }
        }
        if (largest > 0xffff) return request.usage_error("a skin of more than 65536 joints cannot be written");
        add_block(request, b, local, largest < 256 ? Component::u8 : Component::u16, plan);
    }
    return Done{};
}

namespace {

void append_floats(NewAccessor& added, std::span<const float> values) {
    const auto* raw = reinterpret_cast<const std::byte*>(values.data());
    added.bytes.insert(added.bytes.end(), raw, raw + values.size_bytes());
}

/// Of each vertex of a block in another pose: from the space of POSITION to the scene, so that the new weights show
/// it at rest where the old ones did. Where they cannot (they fold it there): as it was bound.
std::vector<Matrix> moves_of(const Request& request, const VertexBlock& block, const std::vector<Matrix>& at_rest) {
    std::vector<Matrix> out;
    for (std::uint32_t v = 0; v < block.vertex_count; ++v) {
        const Matrix shown = blended(request.weights[block.first_vertex + v],
                                     [&](std::uint32_t j) -> const Matrix& { return at_rest[j]; });
        const auto back = std::abs(determinant(shown)) > kFolded ? inverse(shown) : std::nullopt;
        out.push_back(back ? *back * block.to_rest_each[v] : block.to_scene_each[v]);
    }
    return out;
}

/// An attribute of a block, or of a morph target, in the scene.
Result<NewAccessor> moved_attribute(const Request& request, AccessorReader& accessors, const VertexBlock& block,
                                    const std::vector<Matrix>& moves, const std::string& name, std::size_t accessor,
                                    bool offsets) {
    const std::string place = name + " of a mesh in another pose";
    SINEW_TRY_LET(const auto elements, accessors.read(accessor, place));
    const std::size_t width = name == "TANGENT" && !offsets ? 4 : 3;
    if (elements.width != width || elements.count != block.vertex_count)
        return request.document.error(place + ": accessor " + std::to_string(accessor) + " does not fit");
    const std::vector<float> values = as_floats(elements, elements.normalized);
    NewAccessor added;
    added.type = width == 4 ? "VEC4" : "VEC3";
    added.count = block.vertex_count;
    added.replaces = accessor;
    Vec3 low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
    for (std::size_t v = 0; v < moves.size(); ++v) {
        const float* x = values.data() + width * v;
        Vec3 q;
        if (name == "POSITION" && !offsets)
            q = to_vec3(transform_point(moves[v], x[0], x[1], x[2]));
        else
            q = to_vec3(direction(name == "NORMAL" ? normal_matrix(moves[v]) : moves[v], {x[0], x[1], x[2]}));
        if (name != "POSITION" && !offsets) q = unit({q.x, q.y, q.z}, {x[0], x[1], x[2]});
        low = {std::min(low.x, q.x), std::min(low.y, q.y), std::min(low.z, q.z)};
        high = {std::max(high.x, q.x), std::max(high.y, q.y), std::max(high.z, q.z)};
        append_floats(added, std::array{q.x, q.y, q.z});
        if (width == 4) append_floats(added, {x + 3, 1});
    }
    if (name != "POSITION") return added;
    const auto text = [](const Vec3& p) {
        return "[" + json_number(p.x) + "," + json_number(p.y) + "," + json_number(p.z) + "]";
    };
    added.min = text(low);
    added.max = text(high);
    return added;
}

/// The matrices of skins with those of the plan in their places.
Status rewrite_matrices(const Request& request, Plan& plan) {
    AccessorReader accessors(request.document);
    for (const auto& [s, matrices] : plan.other_matrices) {
        const std::size_t number = request.rig().skins[s].number;
        SINEW_TRY_LET(auto read, read_skin(request.document, accessors, number));
        NewAccessor added;
        added.type = "MAT4";
        added.count = read.nodes.size();
        added.target = 0;
        if (const Json* old = member(*request.document.at("skins", number), "inverseBindMatrices"))
            if (const auto index = whole(old); index && *index < request.document.count("accessors"))
                added.replaces = *index;
        for (const auto& [place, matrix] : matrices) read.inverse_bind[place] = matrix;
        for (const Matrix& bind : read.inverse_bind)
            for (const double value : bind.m) append_floats(added, std::array{static_cast<float>(value)});
        plan.rewritten_skins.emplace_back(number, plan.added.size());
        plan.added.push_back(std::move(added));
    }
    return Done{};
}

}  // namespace

Status add_moved_shapes(const Request& request, Plan& plan) {
    const Rig& rig = request.rig();
    AccessorReader accessors(request.document);
    std::vector<Matrix> at_rest;
    std::size_t count = 0;
    for (const VertexBlock& block : rig.blocks) {
        if (block.to_rest_each.empty()) continue;
        ++count;
        if (at_rest.empty()) {
            SINEW_TRY_LET(const ScenePose rest, pose_at(request.scene, std::nullopt, 0));
            for (const Transform& t : rest.skinning) at_rest.push_back(to_matrix(t));
        }
        const std::vector<Matrix> moves = moves_of(request, block, at_rest);
        std::map<std::tuple<std::size_t, std::string, bool>, std::size_t> done;
        for (const PrimitiveRef& ref : block.primitives) {
            Status ok = Done{};
            for_each_shape(request.document.primitive(ref), [&](const std::string& name, const Json& value,
                                                                std::size_t morph) {
                const auto accessor = whole(&value);
                if (!accessor || !ok) return;
                const auto [at, is_new] = done.try_emplace({*accessor, name, morph == none}, plan.added.size());
                if (is_new) {
                    auto moved = moved_attribute(request, accessors, block, moves, name, *accessor, morph != none);
                    if (!moved) return void(ok = moved.error());
                    plan.added.push_back(std::move(*moved));
                }
                plan.redirected.push_back({ref, name, at->second, morph});
            });
            SINEW_TRY(ok);
        }
    }
    if (count)
        plan.report.notes.push_back(std::to_string(count) + (count == 1 ? " mesh that was" : " meshes that were") +
                                    " bound in another pose: written in the pose of the others");
    return Done{};
}

Status add_bind_matrices(const Request& request, Plan& plan) {
    const Rig& rig = request.rig();
    const std::vector<Joint>& joints = request.scene.skeleton.joints;
    SINEW_TRY(rewrite_matrices(request, plan));
    for (const RigSkin& skin : rig.skins) {
        plan.skin_matrices.push_back(skin.number == none ? plan.added.size() : none);
        if (skin.number != none) continue;
        NewAccessor added;
        added.type = "MAT4";
        added.count = skin.joints.size();
        added.target = 0;
        for (std::size_t j = 0; j < skin.joints.size(); ++j) {
            const std::uint32_t joint = skin.joints[j];
            const Matrix frame = rig.source == RigSource::added ? frame_of(joints[joint]) : rig.bind_pose[joint];
            // The reader has warned of matrices without an inverse.
            Matrix bind = inverse(frame).value_or(Matrix{}) * skin.to_scene;
            for (std::size_t c = 0; c < 4; ++c) bind(3, c) = c == 3 ? 1 : 0;
            for (const double value : bind.m) {
                const auto number = static_cast<float>(value);
                if (!std::isfinite(number))
                    return request.document.error("joint " + std::to_string(joint) + " ('" +
                                                  printable(joints[joint].name) +
                                                  "'): its inverse bind matrix is not finite");
                append_floats(added, {&number, 1});
            }
        }
        plan.added.push_back(std::move(added));
    }
    return Done{};
}

// ---- the buffer

namespace {

struct Range {
    std::size_t begin = 0, end = 0;
};

/// Places for new data: first the ranges of free views, then the end of the buffer.
class FreeSpace {
public:
    FreeSpace(std::vector<std::byte>& bytes, std::vector<Range> used, std::vector<Range> freed) : bytes_(bytes) {
        const auto by_begin = [](const Range& a, const Range& b) { return a.begin < b.begin; };
        std::sort(used.begin(), used.end(), by_begin);
        std::sort(freed.begin(), freed.end(), by_begin);
        used.push_back({bytes.size(), bytes.size()});
        std::size_t gap = 0;  // begin of the range that no remaining view covers
        for (const Range& next : used) {
            for (const Range& f : freed) {
                const Range part{std::max(f.begin, gap), std::min(f.end, next.begin)};
                if (part.begin >= part.end) continue;
                // Up to three bytes between two free ranges are padding.
                if (!free_.empty() && free_.back().begin >= gap && part.begin <= free_.back().end + 3)
                    free_.back().end = std::max(free_.back().end, part.end);
                else
                    free_.push_back(part);
            }
            gap = std::max(gap, next.end);
        }
        if (!free_.empty() && free_.back().end + 3 >= bytes.size()) {
            bytes.resize(free_.back().begin);
            free_.pop_back();
        }
    }

    /// Stores data at a multiple of four; returns its offset.
    std::size_t put(std::span<const std::byte> data) {
        std::size_t at = none;
        for (Range& range : free_) {
            const std::size_t begin = aligned(range.begin);
            if (begin > range.end || range.end - begin < data.size()) continue;
            at = begin;
            range.begin = begin + data.size();
            break;
        }
        if (at == none) {
            at = aligned(bytes_.size());
            bytes_.resize(at + data.size());
        }
        std::copy(data.begin(), data.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(at));
        return at;
    }

private:
    std::vector<std::byte>& bytes_;
    std::vector<Range> free_;
};

}  // namespace

void store_bytes(const Request& request, Plan& plan) {
    const Document& document = request.document;
    const std::size_t size = plan.buffer.size();
    const auto range_of = [&](const Json& object) -> std::optional<Range> {
        const auto buffer = whole(member(object, "buffer")), length = whole(member(object, "byteLength"));
        const auto offset = whole_or(object, "byteOffset", 0);
        if (buffer != plan.target || !length || !offset) return std::nullopt;
        // A range that ends past the buffer was never read, and its bytes must not count as free either.
        if (*offset > size) return std::nullopt;
        return Range{*offset, *length > size - *offset ? size : *offset + *length};
    };
    std::vector<Range> used, freed;
    std::set<const Json*> free_objects;
    for (const std::size_t view : plan.free_views) {
        const Json& json = *document.at("bufferViews", view);
        free_objects.insert(&json);
        // The plain range of a compressed view is in a buffer that is not stored.
        const Json* meshopt = meshopt_of(json);
        if (const auto range = range_of(meshopt ? *meshopt : json)) freed.push_back(*range);
    }
    // Any object with a buffer and a length, in views or in extensions.
    std::vector<const Json*> stack{&document.json};
    while (!stack.empty()) {
        const Json& json = *stack.back();
        stack.pop_back();
        if (free_objects.contains(&json)) continue;
        if (json.is_object())
            if (const auto range = range_of(json)) used.push_back(*range);
        if (json.is_structured())
            for (const Json& value : json)
                if (value.is_structured()) stack.push_back(&value);
    }
    std::size_t all = size;
    for (const NewAccessor& added : plan.added) all = aligned(all + added.bytes.size());
    plan.buffer.reserve(all);  // growing would double it
    FreeSpace space(plan.buffer, std::move(used), std::move(freed));
    for (NewAccessor& added : plan.added) added.offset = space.put(added.bytes);
}

}  // namespace sinew::io::gltf_save
