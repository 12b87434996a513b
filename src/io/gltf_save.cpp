// Surgical writing. The document keeps its JSON text and its bytes; only what holds skin weights is replaced.
//
//   - Nothing is renumbered. Accessors and buffer views that lose their last use to the new weights are used again,
//   and
//     what is needed beyond is appended, so no unused object is left behind.
//   - Bytes of freed views are used again too, and given back at the end of the buffer: binding a file that sinew
//   wrote
//     does not make it grow.
//   - A primitive with more sets than it needs keeps them, with zeros, unless the objects that become free are the
//   last
//     of their lists and can be taken off. So weights of 8 joints bound again with 4 leave an empty second set in a
//     foreign file, where an unused accessor would be the other choice, and none in a file of sinew's own.
#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "io/formats.h"
#include "io/gltf_accessor.h"
#include "io/gltf_builder.h"
#include "io/gltf_clips.h"
#include "io/gltf_scene.h"
#include "io/gltf_weights.h"
#include "io/json_text.h"

namespace sinew::io {

namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

bool is_weight_attribute(std::string_view name) {
    for (const std::string_view prefix : {"JOINTS_", "WEIGHTS_"})
        if (name.starts_with(prefix) && name.size() > prefix.size() &&
            name.find_first_not_of("0123456789", prefix.size()) == name.npos)
            return true;
    return false;
}

std::size_t aligned(std::size_t size) { return (size + 3) / 4 * 4; }

struct Range {
    std::size_t begin = 0, end = 0;
};

/// Where new data goes: first into what freed views leave, then behind the end.
class Space {
public:
    Space(std::vector<std::byte>& bytes, std::vector<Range> used, std::vector<Range> freed) : bytes_(bytes) {
        const auto by_begin = [](const Range& a, const Range& b) { return a.begin < b.begin; };
        std::sort(used.begin(), used.end(), by_begin);
        std::sort(freed.begin(), freed.end(), by_begin);
        used.push_back({bytes.size(), bytes.size()});
        std::size_t gap = 0;  // begin of what no remaining view covers
        for (const Range& next : used) {
            for (const Range& f : freed) {
                const Range part{std::max(f.begin, gap), std::min(f.end, next.begin)};
                if (part.begin >= part.end) continue;
                // Up to three bytes between two freed ranges are padding.
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

/// An accessor that is to be written, with its data.
struct NewAccessor {
    Component component = Component::f32;
    bool normalized = false;
    const char* type = "VEC4";
    std::size_t count = 0;
    std::size_t stride = 0;  ///< of rows that are padded; 0 = tight
    int target = 34962;      ///< 0 = none
    std::vector<std::byte> bytes;
    std::size_t accessor = none, view = none;  ///< slots that it gets; none = a new one
    std::size_t wanted = none;                 ///< the accessor that it replaces, if that one is free
    std::size_t described = none;              ///< out of Draco: the accessor that describes it and stays as it is
    std::string min, max;                      ///< bounds to state; else none, or those of `described`
};

/// Joints and weights of one block, set by set.
struct BlockWeights {
    std::vector<std::size_t> joints, weights;  ///< into Writer::fresh_
};

class Writer {
public:
    Writer(const Document& document, const Scene& scene, const SkinWeights& weights, const SaveOptions& options,
           bool glb)
        : document_(document),
          scene_(scene),
          weights_(weights),
          options_(options),
          glb_(glb),
          rig_(document.rig),
          text_(document.text) {}

    Result<SavedFile> write() {
        if (const Status s = check(); !s) return s.error();
        read_blocks();
        if (const Status s = read_draco_primitives(); !s) return s.error();
        find_freed();
        if (const Status s = make_clips(); !s) return s.error();
        choose_sets();
        choose_buffer();
        if (const Status s = make_weights(); !s) return s.error();
        if (const Status s = make_skins(); !s) return s.error();
        give_slots();
        store();
        edit_primitives();
        add_joint_nodes();
        add_clips();
        drop_extensions();
        return finish();
    }

private:
    // ---- what is there

    Error wrong(const std::string& message) const { return {ErrorCode::usage, document_.name + ": " + message}; }
    Error mistake(const std::string& message) const {
        return {ErrorCode::internal, document_.name + ": " + message};
    }

    Status check() const {
        if (Status s = check_weights(scene_, weights_, document_.name); !s) return s;
        for (const VertexBlock& block : rig_.blocks)
            if (std::size_t{block.first_vertex} + block.vertex_count > scene_.positions.size() ||
                block.skin >= rig_.skins.size())
                return mistake("the scene is not the one of its document");
        return Done{};
    }

    /// A primitive of the document, of a mesh copy too.
    const Json& primitive(const PrimitiveRef& ref) const {
        const std::size_t meshes = document_.count("meshes");
        const std::size_t mesh = ref.mesh < meshes ? ref.mesh : rig_.mesh_copies[ref.mesh - meshes];
        return document_.at("meshes", mesh)->at("primitives")[ref.primitive];
    }

    void read_blocks() {
        blocks_.resize(rig_.blocks.size());
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            const VertexBlock& block = rig_.blocks[b];
            Block& out = blocks_[b];
            std::size_t most = 1;
            for (std::uint32_t v = 0; v < block.vertex_count; ++v)
                most = std::max(most, weights_[block.first_vertex + v].size());
            out.sets = (most + 3) / 4;
            const Json& attributes = primitive(block.primitives[0])["attributes"];
            for (std::size_t s = 0;; ++s) {
                const auto joints = whole(member(attributes, ("JOINTS_" + std::to_string(s)).c_str()));
                const auto shares = whole(member(attributes, ("WEIGHTS_" + std::to_string(s)).c_str()));
                if (!joints || !shares) break;
                out.old_joints.push_back(*joints);
                out.old_weights.push_back(*shares);
            }
        }
    }

    Status read_draco_primitives() {
        // Accessors that a primitive without compression reads must not get the data of one with it.
        std::set<std::size_t> plain;
        for (std::size_t m = 0; m < document_.count("meshes"); ++m) {
            const Json* primitives = member(*document_.at("meshes", m), "primitives");
            if (!primitives || !primitives->is_array()) continue;
            for (const Json& json : *primitives) {
                if (has_extension(json, draco_extension)) continue;
                if (const auto accessor = whole(member(json, "indices"))) plain.insert(*accessor);
                const Json* attributes = member(json, "attributes");
                if (!attributes || !attributes->is_object()) continue;
                for (const auto& [name, value] : attributes->items())
                    if (const auto accessor = whole(&value)) plain.insert(*accessor);
            }
        }
        for (const std::size_t accessor : plain) unpacked_[accessor] = none;
        for (const VertexBlock& block : rig_.blocks)
            for (const PrimitiveRef& ref : block.primitives) {
                const Json& json = primitive(ref);
                if (!has_extension(json, draco_extension)) continue;
                const std::string place =
                    "mesh " + std::to_string(ref.mesh) + " primitive " + std::to_string(ref.primitive);
                auto decoded = read_draco(document_, json, place);
                if (!decoded) return decoded.error();
                unpack_draco(ref, std::move(*decoded));
                ++draco_unpacked_;
            }
        return Done{};
    }

    /// The accessors of a Draco primitive, as plain ones in the same slots. Two primitives may describe different
    /// data by one accessor, as long as it is compressed; then the second gets an accessor of its own.
    void unpack_draco(const PrimitiveRef& ref, DracoMesh mesh) {
        const Json& json = primitive(ref);
        const std::size_t blob = *whole(member(json["extensions"][draco_extension], "bufferView"));
        const auto unpack = [&](const std::string& name, const Json* index, Elements elements) {
            if (name == "indices" && !index) {  // the compressed data knows them all the same
                NewAccessor fresh;
                fresh.component = Component::u32;
                fresh.type = "SCALAR";
                fresh.count = elements.count;
                fresh.target = 34963;
                fresh.bytes = std::move(elements.bytes);
                repointed_.push_back({ref, name, fresh_.size()});
                fresh_.push_back(std::move(fresh));
                return;
            }
            const auto accessor = whole(index);
            const Json* slot = accessor ? document_.at("accessors", *accessor) : nullptr;
            // A bufferView here is the uncompressed version that the writer left for readers without Draco.
            if (!slot || member(*slot, "bufferView")) return;
            const auto [known, is_first] = unpacked_.try_emplace(*accessor, blob);
            if (!is_first && known->second == blob) return;
            NewAccessor fresh;
            fresh.described = *accessor;
            if (is_first)
                fresh.accessor = *accessor;
            else if (const auto again = split_.try_emplace({*accessor, blob}, fresh_.size()); !again.second) {
                repointed_.push_back({ref, name, again.first->second});
                return;
            } else {
                repointed_.push_back({ref, name, fresh_.size()});
            }
            fresh.count = elements.count;
            fresh.component = elements.component;
            if (name == "indices") {
                const auto type = whole(member(*slot, "componentType"));
                fresh.component = type == 5121 ? Component::u8 : type == 5123 ? Component::u16 : Component::u32;
                fresh.target = 34963;
                for (const std::uint32_t i : as_unsigned(elements))
                    for (std::size_t k = 0; k < size_of(fresh.component); ++k)
                        fresh.bytes.push_back(static_cast<std::byte>(i >> (8 * k) & 0xff));
            } else {
                const std::size_t row = size_of(elements.component) * elements.width, step = aligned(row);
                fresh.stride = step == row ? 0 : step;
                fresh.bytes.resize(elements.count * step);
                for (std::size_t i = 0; i < elements.count; ++i)
                    std::memcpy(fresh.bytes.data() + i * step, elements.bytes.data() + i * row, row);
                if (name == "POSITION") set_bounds(*slot, elements, fresh);
            }
            fresh_.push_back(std::move(fresh));
        };
        unpack("indices", member(json, "indices"), std::move(mesh.indices));
        for (auto& [name, elements] : mesh.attributes)
            if (!is_weight_attribute(name))
                unpack(name, member(json["attributes"], name.c_str()), std::move(elements));
    }

    /// Compression moves vertices a little, and the bounds must be those of what is written.
    static void set_bounds(const Json& slot, const Elements& elements, NewAccessor& fresh) {
        if (elements.width != 3 || elements.count == 0) return;
        const std::vector<float> values = as_floats(elements, false);
        for (const bool upper : {false, true}) {
            std::array<float, 3> bound{values[0], values[1], values[2]};
            for (std::size_t i = 3; i < values.size(); ++i) {
                float& b = bound[i % 3];
                b = upper ? std::max(b, values[i]) : std::min(b, values[i]);
            }
            const Json* stated = member(slot, upper ? "max" : "min");
            bool same = stated && stated->is_array() && stated->size() == 3;
            for (std::size_t k = 0; same && k < 3; ++k)
                same = (*stated)[k].is_number() && static_cast<float>((*stated)[k].get<double>()) == bound[k];
            if (!same)
                (upper ? fresh.max : fresh.min) =
                    "[" + json_number(bound[0]) + "," + json_number(bound[1]) + "," + json_number(bound[2]) + "]";
        }
    }

    /// Which accessors and views nobody needs any more once the old weights are gone.
    void find_freed() {
        std::set<const Json*> skipped;  // values that will not be there any more
        std::set<std::size_t> lost;
        for (const VertexBlock& block : rig_.blocks)
            for (const PrimitiveRef& ref : block.primitives) {
                const Json& json = primitive(ref);
                for (const auto& [name, value] : json["attributes"].items()) {
                    if (!is_weight_attribute(name)) continue;
                    skipped.insert(&value);
                    if (const auto accessor = whole(&value); accessor && *accessor < document_.count("accessors"))
                        lost.insert(*accessor);
                }
                if (has_extension(json, draco_extension)) skipped.insert(&json["extensions"][draco_extension]);
            }
        std::set<std::size_t> kept;
        keep_accessors(document_.json, skipped, kept);
        for (const std::size_t accessor : lost)
            if (!kept.contains(accessor)) free_accessors_.push_back(accessor);

        for (const std::size_t accessor : free_accessors_) skipped.insert(document_.at("accessors", accessor));
        std::set<std::size_t> used_views, old_views;
        keep_views(document_.json, skipped, used_views);
        for (const Json* value : skipped) keep_views(*value, {}, old_views);
        for (const std::size_t view : old_views)
            if (!used_views.contains(view) && view < document_.count("bufferViews")) free_views_.push_back(view);
    }

    /// Collects the accessors that the rest of the document refers to. Of extensions that are not known, everything
    /// that could be such an index counts: keeping one too many costs bytes, one too few breaks the file.
    void keep_accessors(const Json& root, const std::set<const Json*>& skipped, std::set<std::size_t>& out) const {
        const auto keep = [&](const Json* value) {
            if (value && !skipped.contains(value))
                if (const auto index = whole(value)) out.insert(*index);
        };
        const auto keep_all = [&](const Json* object) {
            if (object && object->is_object())
                for (const auto& [name, value] : object->items()) keep(&value);
        };
        // Every object of the document: the keys under which accessors are named, in the core and in extensions.
        std::vector<const Json*> stack{&root};
        while (!stack.empty()) {
            const Json& json = *stack.back();
            stack.pop_back();
            if (skipped.contains(&json)) continue;
            if (json.is_array()) {
                for (const Json& entry : json) {
                    if (entry.is_structured()) stack.push_back(&entry);
                }
            } else if (json.is_object()) {
                for (const char* key : {"indices", "inverseBindMatrices", "input", "output", "accessor"})
                    keep(member(json, key));
                keep_all(member(json, "attributes"));
                if (const Json* targets = member(json, "targets"); targets && targets->is_array())
                    for (const Json& target : *targets) keep_all(&target);
                for (const auto& [name, value] : json.items())
                    if (value.is_structured() && name != draco_extension) stack.push_back(&value);
            }
        }
    }

    static void keep_views(const Json& root, const std::set<const Json*>& skipped, std::set<std::size_t>& out) {
        std::vector<const Json*> stack{&root};
        while (!stack.empty()) {
            const Json& json = *stack.back();
            stack.pop_back();
            if (skipped.contains(&json)) continue;
            if (json.is_object())
                if (const auto view = whole(member(json, "bufferView"))) out.insert(*view);
            if (json.is_structured())
                for (const Json& value : json)
                    if (value.is_structured()) stack.push_back(&value);
        }
    }

    // ---- what is written

    /// How many sets each block gets (see the top of this file).
    void choose_sets() {
        std::size_t needed = clip_accessors_, unpacked = fresh_.size() - clip_accessors_;
        for (const Block& block : blocks_) needed += 2 * block.sets;
        const auto tail = [](const std::vector<std::size_t>& freed, std::size_t keep, std::size_t count) {
            for (std::size_t i = keep; i < freed.size(); ++i)
                if (freed[i] != count - (freed.size() - i)) return false;
            return true;
        };
        // Skins that are made need accessors and views as well, but then no weights were there to be freed.
        const std::size_t accessors = std::min(needed, free_accessors_.size());
        const std::size_t views = std::min(needed + unpacked, free_views_.size());
        const bool spare = accessors < free_accessors_.size() || views < free_views_.size();
        if (!spare) return;
        if (tail(free_accessors_, accessors, document_.count("accessors")) &&
            tail(free_views_, views, document_.count("bufferViews"))) {
            in_order_ = true;
            return;
        }
        for (Block& block : blocks_) block.sets = std::max(block.sets, block.old_joints.size());
    }

    /// Which buffer takes the new data: the BIN chunk; without one, or in a .gltf, the last buffer if it is
    /// embedded, else one more that is.
    void choose_buffer() {
        const auto& buffers = document_.buffers;
        if (!buffers.empty()) {
            // Converting moves buffer 0 into the chunk or out of it.
            const auto origin = buffers[0].origin;
            into_chunk_ =
                glb_ && (origin == Document::Origin::bin || (!document_.glb && origin != Document::Origin::absent));
        }
        if (glb_ && (into_chunk_ || buffers.empty())) {
            target_ = 0;
            into_chunk_ = true;
        } else if (!buffers.empty() && (buffers.back().origin == Document::Origin::data_uri ||
                                        (!glb_ && buffers.back().origin == Document::Origin::bin))) {
            target_ = buffers.size() - 1;
        } else {
            target_ = buffers.size();
        }
        if (target_ < buffers.size()) bytes_ = buffers[target_].bytes;
    }

    Status make_weights() {
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            const VertexBlock& block = rig_.blocks[b];
            std::vector<std::uint32_t> local(scene_.skeleton.joints.size(), 0xffffffffu);
            const auto& joints = rig_.skins[block.skin].joints;
            for (std::size_t j = joints.size(); j-- > 0;)
                if (joints[j] < local.size()) local[joints[j]] = static_cast<std::uint32_t>(j);

            std::uint32_t largest = 0;
            for (std::uint32_t v = 0; v < block.vertex_count; ++v) {
                const auto row = weights_[block.first_vertex + v];
                for (const Influence& influence : row) {
                    if (influence.joint >= local.size() || local[influence.joint] == 0xffffffffu)
                        return mistake("vertex " + std::to_string(block.first_vertex + v) + ": joint " +
                                       std::to_string(influence.joint) + " is not in the vertex's skin");
                    largest = std::max(largest, local[influence.joint]);
                }
            }
            if (largest > 0xffff) return wrong("a skin of more than 65536 joints cannot be written");
            add_block(b, local, largest < 256 ? Component::u8 : Component::u16);
        }
        return Done{};
    }

    void add_block(std::size_t b, const std::vector<std::uint32_t>& local, Component joint_type) {
        const VertexBlock& block = rig_.blocks[b];
        Block& out = blocks_[b];
        const std::size_t count = block.vertex_count, slots = 4 * out.sets;
        const Component weight_type = options_.weight_format == WeightFormat::f32   ? Component::f32
                                      : options_.weight_format == WeightFormat::u16 ? Component::u16
                                                                                    : Component::u8;
        const std::size_t joint_size = size_of(joint_type), weight_size = size_of(weight_type);
        const std::size_t first = fresh_.size();
        for (std::size_t s = 0; s < out.sets; ++s) {
            NewAccessor joints, weights;
            joints.component = joint_type;
            weights.component = weight_type;
            weights.normalized = weight_type != Component::f32;
            joints.count = weights.count = count;
            joints.bytes.resize(count * 4 * joint_size);
            weights.bytes.resize(count * 4 * weight_size);
            if (s < out.old_joints.size()) {
                joints.wanted = out.old_joints[s];
                weights.wanted = out.old_weights[s];
            }
            out.fresh.push_back(fresh_.size());
            fresh_.push_back(std::move(joints));
            fresh_.push_back(std::move(weights));
        }
        std::vector<float> shares;
        std::vector<std::uint32_t> units(slots);
        for (std::size_t v = 0; v < count; ++v) {
            const auto row = weights_[block.first_vertex + v];
            shares.clear();
            for (const Influence& influence : row) shares.push_back(influence.weight);
            if (weight_type == Component::f32) {
                settle_sum(shares);
            } else {
                units.resize(std::max(slots, shares.size()));
                quantise_shares(shares, weight_type == Component::u8 ? 255 : 65535, units);
            }
            for (std::size_t i = 0; i < row.size(); ++i) {
                // An influence that rounds to nothing is none: its slot keeps joint 0.
                if (weight_type != Component::f32 && units[i] == 0) continue;
                NewAccessor& joints = fresh_[first + 2 * (i / 4)];
                NewAccessor& weights = fresh_[first + 2 * (i / 4) + 1];
                const std::size_t at = 4 * v + i % 4;
                const std::uint32_t joint = local[row[i].joint];
                for (std::size_t k = 0; k < joint_size; ++k)
                    joints.bytes[at * joint_size + k] = static_cast<std::byte>(joint >> (8 * k) & 0xff);
                if (weight_type == Component::f32)
                    std::memcpy(weights.bytes.data() + at * 4, &shares[i], 4);
                else
                    for (std::size_t k = 0; k < weight_size; ++k)
                        weights.bytes[at * weight_size + k] = static_cast<std::byte>(units[i] >> (8 * k) & 0xff);
            }
        }
    }

    /// Inverse bind matrices of skins that the file does not have yet.
    Status make_skins() {
        if (rig_.source == RigSource::skins) return Done{};
        for (const RigSkin& skin : rig_.skins) {
            NewAccessor fresh;
            fresh.type = "MAT4";
            fresh.count = skin.joints.size();
            fresh.target = 0;
            for (std::size_t j = 0; j < skin.joints.size(); ++j) {
                Matrix to_joint;
                if (rig_.source == RigSource::nodes) {
                    const auto inverted = inverse(rig_.joint_to_world[j]);
                    if (!inverted) return mistake("a joint's transform cannot be inverted");
                    to_joint = *inverted;
                } else {
                    const Vec3& p = scene_.skeleton.joints[j].position;
                    to_joint = translation(-double(p.x), -double(p.y), -double(p.z));
                }
                Matrix bind = to_joint * skin.mesh_to_world;
                for (std::size_t c = 0; c < 4; ++c) bind(3, c) = c == 3 ? 1 : 0;
                for (const double value : bind.m) {
                    const auto number = static_cast<float>(value);
                    if (!std::isfinite(number))
                        return document_.error("joint " + std::to_string(j) + " ('" +
                                               scene_.skeleton.joints[j].name.substr(0, 120) +
                                               "'): its inverse bind matrix is not finite");
                    const auto* raw = reinterpret_cast<const std::byte*>(&number);
                    fresh.bytes.insert(fresh.bytes.end(), raw, raw + 4);
                }
            }
            skin_matrices_.push_back(fresh_.size());
            fresh_.push_back(std::move(fresh));
        }
        return Done{};
    }

    /// Times and values of the animations to add.
    Status make_clips() {
        const Json* animations = member(document_.json, "animations");
        if (!options_.clips.empty() && animations && !animations->is_array())
            return document_.error("animations must be an array");
        for (const PoseClip& clip : options_.clips) {
            Result<std::vector<NodeTrack>> tracks = node_tracks(scene_, clip, report_.notes);
            if (!tracks) return tracks.error();
            if (tracks->empty()) {
                report_.notes.push_back("animation " + json_string(clip.name) + " moves no joint: left out");
                continue;
            }
            NewClip out{&clip, add_floats(times_of(clip), "SCALAR", true), {}};
            for (NodeTrack& track : *tracks) {
                const std::size_t values = add_floats(track.values, track.width == 4 ? "VEC4" : "VEC3", false);
                out.tracks.emplace_back(std::move(track), values);
            }
            clips_.push_back(std::move(out));
        }
        return Done{};
    }

    static std::vector<float> times_of(const PoseClip& clip) {
        std::vector<float> out;
        for (const PoseKey& key : clip.keys) out.push_back(static_cast<float>(key.time));
        return out;
    }

    /// Values of a clip as a new accessor; its place in fresh_. Rising ones state their bounds.
    std::size_t add_floats(const std::vector<float>& values, const char* type, bool rising) {
        NewAccessor fresh;
        fresh.type = type;
        fresh.target = 0;
        fresh.count = values.size() / (rising ? 1 : type == std::string_view("VEC4") ? 4 : 3);
        fresh.bytes.resize(values.size() * sizeof(float));
        std::memcpy(fresh.bytes.data(), values.data(), fresh.bytes.size());
        if (rising) {
            fresh.min = "[" + json_number(values.front()) + "]";
            fresh.max = "[" + json_number(values.back()) + "]";
        }
        fresh_.push_back(std::move(fresh));
        ++clip_accessors_;
        return fresh_.size() - 1;
    }

    // ---- where it goes

    /// Accessor and view numbers for everything new: its own old one, else another free one, else one more.
    void give_slots() {
        std::set<std::size_t> accessors(free_accessors_.begin(), free_accessors_.end());
        std::set<std::size_t> views(free_views_.begin(), free_views_.end());
        const auto take_first = [](std::set<std::size_t>& free, std::size_t& slot) {
            if (slot != none || free.empty()) return;
            slot = *free.begin();
            free.erase(free.begin());
        };
        if (!in_order_)
            for (NewAccessor& fresh : fresh_) {
                if (fresh.accessor == none && fresh.wanted != none && accessors.erase(fresh.wanted))
                    fresh.accessor = fresh.wanted;
                if (fresh.wanted == none) continue;
                const Json* const old = document_.at("accessors", fresh.wanted);
                if (!old) continue;  // a primitive without a skin may name weights that are not there
                const auto view = whole(member(*old, "bufferView"));
                if (view && views.erase(*view)) fresh.view = *view;
            }
        std::size_t next_accessor = document_.count("accessors"), next_view = document_.count("bufferViews");
        for (NewAccessor& fresh : fresh_) {
            take_first(accessors, fresh.accessor);
            take_first(views, fresh.view);
        }
        // What is left over is taken off the end of its list, where it stands there.
        while (accessors.contains(next_accessor - 1)) accessors.erase(--next_accessor);
        while (views.contains(next_view - 1)) views.erase(--next_view);
        if (!accessors.empty() || !views.empty())
            report_.notes.push_back(std::to_string(accessors.size()) + " accessors and " +
                                    std::to_string(views.size()) + " bufferViews are left unused");
        for (const auto& [list, size] :
             {std::pair("accessors", next_accessor), std::pair("bufferViews", next_view)})
            if (JsonValue* entries = text_.root().find(list))
                while (entries->size() > size) entries->erase_at(entries->size() - 1);
        for (NewAccessor& fresh : fresh_) {
            if (fresh.accessor == none) fresh.accessor = next_accessor++;
            if (fresh.view == none) fresh.view = next_view++;
        }
    }

    JsonValue& list(std::string_view name) {
        JsonValue* found = text_.root().find(name);
        return found ? *found : text_.root().set(name, "[]");
    }

    /// Puts the bytes into the buffer and says so in views and accessors.
    void store() {
        std::vector<Range> used, freed;
        const std::set<std::size_t> free(free_views_.begin(), free_views_.end());
        const auto range_of = [&](const Json& object) -> std::optional<Range> {
            const auto buffer = whole(member(object, "buffer")), length = whole(member(object, "byteLength"));
            const auto offset = whole_or(object, "byteOffset", 0);
            if (buffer != target_ || !length || !offset) return std::nullopt;
            // What ends past the buffer was never read; it must not be taken for free either.
            if (*offset > bytes_.size()) return std::nullopt;
            return Range{*offset, *length > bytes_.size() - *offset ? bytes_.size() : *offset + *length};
        };
        std::set<const Json*> free_objects;
        for (const std::size_t view : free_views_) {
            const Json& json = *document_.at("bufferViews", view);
            free_objects.insert(&json);
            // Of a compressed view the plain range lies in a buffer that is not stored.
            const Json* meshopt = meshopt_of(json);
            if (const auto range = range_of(meshopt ? *meshopt : json)) freed.push_back(*range);
        }
        // Any object with a buffer and a length, in views or in extensions.
        std::vector<const Json*> stack{&document_.json};
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
        Space space(bytes_, std::move(used), std::move(freed));

        JsonValue &accessors = list("accessors"), &views = list("bufferViews");
        // Appended ones come in the order of their numbers, which is that of fresh_.
        for (const NewAccessor& fresh : fresh_) {
            const std::size_t offset = space.put(fresh.bytes);
            JsonValue& view = fresh.view < views.size() ? *views.at(fresh.view) : views.append("{}");
            view.set("buffer", std::to_string(target_));
            if (offset)
                view.set("byteOffset", std::to_string(offset));
            else
                view.erase("byteOffset");
            view.set("byteLength", std::to_string(fresh.bytes.size()));
            if (fresh.stride)
                view.set("byteStride", std::to_string(fresh.stride));
            else
                view.erase("byteStride");
            if (fresh.target)
                view.set("target", std::to_string(fresh.target));
            else
                view.erase("target");
            for (const char* extension : meshopt_extensions) drop_extension(view, extension);

            JsonValue& accessor =
                fresh.accessor < accessors.size() ? *accessors.at(fresh.accessor) : accessors.append("{}");
            if (fresh.described != none && fresh.described != fresh.accessor)
                accessor.replace(document_.at("accessors", fresh.described)->dump());
            accessor.set("bufferView", std::to_string(fresh.view));
            accessor.erase("byteOffset");
            if (fresh.described != none) {  // the rest is as it was
                accessor.erase("sparse");
                state_bounds(accessor, fresh);
                continue;
            }
            accessor.set("componentType", std::to_string(static_cast<std::uint32_t>(fresh.component)));
            if (fresh.normalized)
                accessor.set("normalized", "true");
            else
                accessor.erase("normalized");
            accessor.set("count", std::to_string(fresh.count));
            accessor.set("type", json_string(fresh.type));
            for (const char* key : {"min", "max", "sparse"}) accessor.erase(key);
            state_bounds(accessor, fresh);
        }
    }

    static void state_bounds(JsonValue& accessor, const NewAccessor& fresh) {
        if (!fresh.min.empty()) accessor.set("min", fresh.min);
        if (!fresh.max.empty()) accessor.set("max", fresh.max);
    }

    static bool drop_extension(JsonValue& object, std::string_view extension) {
        JsonValue* extensions = object.find("extensions");
        if (!extensions || !extensions->erase(extension)) return false;
        if (extensions->size() == 0) object.erase("extensions");
        return true;
    }

    void edit_primitives() {
        JsonValue* meshes = text_.root().find("meshes");
        for (const std::size_t source : rig_.mesh_copies) meshes->append(meshes->at(source)->str());
        for (std::size_t b = 0; b < blocks_.size(); ++b)
            for (const PrimitiveRef& ref : rig_.blocks[b].primitives) {
                JsonValue& json = *meshes->at(ref.mesh)->find("primitives")->at(ref.primitive);
                JsonValue& attributes = *json.find("attributes");
                std::set<std::string> names;
                for (std::size_t s = 0; s < blocks_[b].sets; ++s)
                    for (std::size_t k = 0; k < 2; ++k) {
                        const std::string name = (k == 0 ? "JOINTS_" : "WEIGHTS_") + std::to_string(s);
                        attributes.set(name, std::to_string(fresh_[blocks_[b].fresh[s] + k].accessor));
                        names.insert(name);
                    }
                for (const auto& [name, value] : primitive(ref)["attributes"].items())
                    if (is_weight_attribute(name) && !names.contains(name)) attributes.erase(name);
                if (drop_extension(json, draco_extension) && json.find("mode")) json.set("mode", "4");
            }
        for (const Repointed& r : repointed_) {
            JsonValue& json = *meshes->at(r.primitive.mesh)->find("primitives")->at(r.primitive.primitive);
            (r.name == "indices" ? json : *json.find("attributes"))
                .set(r.name, std::to_string(fresh_[r.fresh].accessor));
        }
    }

    /// Joint nodes of a skeleton from elsewhere, skins, and who wears them.
    void add_joint_nodes() {
        if (rig_.source == RigSource::skins) {
            joint_nodes_ = rig_.node_of_joint;
            return;
        }
        JsonValue& nodes = list("nodes");
        std::vector<std::size_t>& joint_nodes = joint_nodes_;
        joint_nodes = rig_.joint_nodes;
        if (rig_.source == RigSource::added) {
            const auto& joints = scene_.skeleton.joints;
            const std::size_t first = nodes.size();
            std::vector<std::vector<std::size_t>> children(joints.size());
            const std::vector<std::optional<Vec3>> ends = stated_ends(joints);
            std::vector<std::size_t> roots;
            for (std::size_t j = 0; j < joints.size(); ++j) {
                joint_nodes.push_back(first + j);
                if (joints[j].parent < 0)
                    roots.push_back(first + j);
                else
                    children[static_cast<std::size_t>(joints[j].parent)].push_back(first + j);
            }
            for (std::size_t j = 0; j < joints.size(); ++j) {
                const Vec3& p = joints[j].position;
                const Vec3 o =
                    joints[j].parent < 0 ? Vec3{} : joints[static_cast<std::size_t>(joints[j].parent)].position;
                JsonValue& node = nodes.append("{\"name\":" + json_string(joints[j].name) + "}");
                if (!children[j].empty()) node.set("children", list_of(children[j]));
                node.set("translation", "[" + json_number(double(p.x) - o.x) + "," +
                                            json_number(double(p.y) - o.y) + "," + json_number(double(p.z) - o.z) +
                                            "]");
                // So that the file, bound again, has the same bones.
                if (const std::optional<Vec3>& tail = ends[j])
                    node.set("extras", "{" + json_string(tail_key) + ":[" + json_number(double(tail->x) - p.x) +
                                           "," + json_number(double(tail->y) - p.y) + "," +
                                           json_number(double(tail->z) - p.z) + "]}");
            }
            // The joints of a skin must hang together.
            std::size_t root = roots[0];
            if (roots.size() > 1) {
                root = nodes.size();
                nodes.append("{\"name\":\"skeleton\",\"children\":" + list_of(roots) + "}");
            }
            add_to_scenes(root);
        }
        JsonValue& skins = list("skins");
        const std::size_t first_skin = skins.size();
        for (std::size_t s = 0; s < rig_.skins.size(); ++s) {
            std::vector<std::size_t> joints;
            for (const std::uint32_t j : rig_.skins[s].joints) joints.push_back(joint_nodes[j]);
            skins.append("{\"inverseBindMatrices\":" + std::to_string(fresh_[skin_matrices_[s]].accessor) +
                         ",\"joints\":" + list_of(joints) + "}");
        }
        for (const Rig::SkinnedNode& skinned : rig_.skinned_nodes) {
            JsonValue& node = *nodes.at(skinned.node);
            node.set("mesh", std::to_string(skinned.mesh));
            node.set("skin", std::to_string(first_skin + skinned.skin));
        }
    }

    void add_clips() {
        if (clips_.empty()) return;
        JsonValue& animations = list("animations");
        for (const NewClip& clip : clips_) {
            const std::string input = std::to_string(fresh_[clip.times].accessor);
            std::string channels, samplers;
            for (std::size_t i = 0; i < clip.tracks.size(); ++i) {
                const auto& [track, values] = clip.tracks[i];
                const std::size_t node = joint_nodes_[track.joint];
                const std::string comma = i ? "," : "";
                channels += comma + "{\"sampler\":" + std::to_string(i) +
                            ",\"target\":{\"node\":" + std::to_string(node) + ",\"path\":\"" + track.path + "\"}}";
                samplers += comma + "{\"input\":" + input +
                            ",\"output\":" + std::to_string(fresh_[values].accessor) +
                            ",\"interpolation\":" + (clip.clip->step ? "\"STEP\"}" : "\"LINEAR\"}");
                take_matrix_apart(node);
            }
            const std::string name =
                clip.clip->name.empty() ? "" : "\"name\":" + json_string(clip.clip->name) + ",";
            animations.append("{" + name + "\"channels\":[" + channels + "],\"samplers\":[" + samplers + "]}");
        }
    }

    /// A node that is animated has no matrix.
    void take_matrix_apart(std::size_t node) {
        JsonValue& json = *list("nodes").at(node);
        if (!json.erase("matrix")) return;
        const Trs at_rest = decompose(rig_.node_local[node]);
        const auto put = [&](const char* key, const auto& values) {
            std::string text;
            for (const double v : values) text += (text.empty() ? "[" : ",") + json_number(v);
            json.set(key, text + "]");
        };
        put("translation", at_rest.t);
        put("rotation", at_rest.q);
        put("scale", at_rest.s);
    }

    /// Where the one bone of each joint ends, if the skeleton's file states it: as a tail, or as a link to one
    /// child.
    static std::vector<std::optional<Vec3>> stated_ends(const std::vector<Joint>& joints) {
        std::vector<std::optional<Vec3>> ends(joints.size());
        std::vector<std::size_t> children(joints.size(), 0);
        for (const Joint& joint : joints) {
            if (joint.parent < 0) continue;
            const auto above = static_cast<std::size_t>(joint.parent);
            ++children[above];
            if (joints[above].stated_links) ends[above] = joint.position;
        }
        for (std::size_t j = 0; j < joints.size(); ++j)
            if (joints[j].tail)
                ends[j] = joints[j].tail;
            else if (children[j] != 1)
                ends[j].reset();
        return ends;
    }

    static std::string list_of(const std::vector<std::size_t>& numbers) {
        std::string out = "[";
        for (const std::size_t n : numbers) out += (out.size() > 1 ? "," : "") + std::to_string(n);
        return out + "]";
    }

    /// Every scene that shows a mesh of the skin must show its joints.
    void add_to_scenes(std::size_t root) {
        JsonValue* scenes = text_.root().find("scenes");
        if (!scenes) return;
        std::set<std::size_t> skinned;
        for (const Rig::SkinnedNode& node : rig_.skinned_nodes) skinned.insert(node.node);
        for (std::size_t s = 0; s < document_.count("scenes"); ++s) {
            const Json* roots = member(*document_.at("scenes", s), "nodes");
            if (!roots || !roots->is_array()) continue;
            std::vector<const Json*> stack{roots};
            bool shows = false;
            while (!stack.empty() && !shows) {
                const Json& entries = *stack.back();
                stack.pop_back();
                for (const Json& entry : entries) {
                    const auto node = whole(&entry);
                    const Json* json = node ? document_.at("nodes", *node) : nullptr;
                    if (!json) continue;
                    shows = shows || skinned.contains(*node);
                    if (const Json* children = member(*json, "children"); children && children->is_array())
                        stack.push_back(children);
                }
            }
            if (shows) scenes->at(s)->find("nodes")->append(std::to_string(root));
        }
    }

    /// Extensions whose last use has gone are no longer listed.
    void drop_extensions() {
        if (draco_unpacked_) {
            std::size_t uses = 0;
            const std::size_t meshes = document_.count("meshes");
            for (std::size_t m = 0; m < meshes; ++m)
                if (const Json* primitives = member(*document_.at("meshes", m), "primitives"))
                    for (const Json& json : *primitives) uses += has_extension(json, draco_extension);
            // Copies were counted as unpacked, but are not in the document.
            std::set<const Json*> unpacked;
            for (const VertexBlock& block : rig_.blocks)
                for (const PrimitiveRef& ref : block.primitives)
                    if (has_extension(primitive(ref), draco_extension)) unpacked.insert(&primitive(ref));
            if (uses == unpacked.size()) unlist(draco_extension);
            report_.notes.push_back(std::to_string(draco_unpacked_) +
                                    " primitives were compressed with Draco and are written uncompressed");
        }
        for (const char* extension : meshopt_extensions) {
            std::size_t uses = 0, dropped = 0;
            for (const char* kind : {"bufferViews", "buffers"})
                for (std::size_t i = 0; i < document_.count(kind); ++i)
                    uses += has_extension(*document_.at(kind, i), extension);
            bool weights = false;
            for (const NewAccessor& fresh : fresh_) {
                const Json* view = document_.at("bufferViews", fresh.view);
                dropped += view && has_extension(*view, extension);
                const Json* old = document_.at("accessors", fresh.wanted);
                const auto old_view = old ? whole(member(*old, "bufferView")) : std::nullopt;
                const Json* stored = old_view ? document_.at("bufferViews", *old_view) : nullptr;
                weights = weights || (stored && has_extension(*stored, extension));
            }
            if (dropped && uses == dropped) unlist(extension);
            if (weights)
                report_.notes.push_back("skin weights were compressed with " + std::string(extension) +
                                        " and are written uncompressed");
        }
    }

    void unlist(std::string_view extension) {
        for (const char* name : {"extensionsUsed", "extensionsRequired"}) {
            JsonValue* entries = text_.root().find(name);
            if (!entries) continue;
            for (std::size_t i = entries->size(); i-- > 0;)
                if (entries->at(i)->str() == json_string(extension)) entries->erase_at(i);
            if (entries->size() == 0) text_.root().erase(name);
        }
    }

    static std::string embedded(std::span<const std::byte> bytes) {
        return json_string("data:application/octet-stream;base64," + encode_base64(bytes));
    }

    Result<SavedFile> finish() {
        JsonValue& buffers = list("buffers");
        const std::size_t known = buffers.size();
        JsonValue& target = target_ < known ? *buffers.at(target_) : buffers.append("{}");
        target.set("byteLength", std::to_string(bytes_.size()));
        std::vector<std::byte> chunk;
        if (into_chunk_) {
            target.erase("uri");
            chunk = std::move(bytes_);
        } else {
            // A data uri keeps its own media type.
            std::string uri = embedded(bytes_);
            if (target_ < known && document_.buffers[target_].origin == Document::Origin::data_uri) {
                const std::string old = document_.at("buffers", target_)->at("uri");
                uri = json_string(old.substr(0, old.find(',') + 1) + encode_base64(bytes_));
            }
            target.set("uri", std::move(uri));
        }
        if (!glb_ && document_.glb && target_ != 0 && !document_.buffers.empty() &&
            document_.buffers[0].origin == Document::Origin::bin)
            buffers.at(0)->set("uri", embedded(document_.buffers[0].bytes));

        SavedFile file;
        const std::string text = text_.str();
        const auto* raw = reinterpret_cast<const std::byte*>(text.data());
        if (!glb_) {
            file.bytes.assign(raw, raw + text.size());
            for (std::size_t c = 0; c < document_.chunks.size(); ++c)
                if (c != document_.bin_chunk)
                    report_.notes.push_back("a GLB chunk has no place in a .gltf: left out");
        } else {
            put_u32(file.bytes, 0x46546C67);
            put_u32(file.bytes, 2);
            put_u32(file.bytes, 0);
            put_chunk(file.bytes, 0x4E4F534A, {raw, text.size()}, ' ');
            if (into_chunk_ && !document_.bin_chunk) put_chunk(file.bytes, 0x004E4942, chunk, '\0');
            for (std::size_t c = 0; c < document_.chunks.size(); ++c) {
                const Document::Chunk& other = document_.chunks[c];
                put_chunk(file.bytes, other.type,
                          c == document_.bin_chunk ? std::span<const std::byte>(chunk) : other.bytes, '\0');
            }
            if (file.bytes.size() > std::numeric_limits<std::uint32_t>::max())
                return Error{ErrorCode::too_large, document_.name + ": a GLB cannot be larger than 4 GiB"};
            std::vector<std::byte> total;
            put_u32(total, static_cast<std::uint32_t>(file.bytes.size()));
            std::copy(total.begin(), total.end(), file.bytes.begin() + 8);
        }
        report_.bytes = file.bytes.size();
        file.report = std::move(report_);
        return file;
    }

    static void put_u32(std::vector<std::byte>& out, std::uint32_t value) {
        for (int k = 0; k < 4; ++k) out.push_back(static_cast<std::byte>(value >> (8 * k) & 0xff));
    }

    static void put_chunk(std::vector<std::byte>& out, std::uint32_t type, std::span<const std::byte> data,
                          char padding) {
        put_u32(out, static_cast<std::uint32_t>(aligned(data.size())));
        put_u32(out, type);
        out.insert(out.end(), data.begin(), data.end());
        out.resize(aligned(out.size()), static_cast<std::byte>(padding));
    }

    struct Block {
        std::size_t sets = 0;
        std::vector<std::size_t> old_joints, old_weights;  // accessors, set by set
        std::vector<std::size_t> fresh;                    // JOINTS of each set in fresh_; WEIGHTS follow
    };

    const Document& document_;
    const Scene& scene_;
    const SkinWeights& weights_;
    const SaveOptions& options_;
    const bool glb_;
    const Rig& rig_;
    JsonText text_;
    SaveReport report_;

    std::vector<Block> blocks_;
    std::vector<NewAccessor> fresh_;               // everything that is written
    std::map<std::size_t, std::size_t> unpacked_;  // accessor -> the blob whose data it gets; none = of no blob
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> split_;  // accessor, other blob -> fresh_
    struct Repointed {
        PrimitiveRef primitive;
        std::string name;
        std::size_t fresh;
    };
    std::vector<Repointed> repointed_;
    std::size_t draco_unpacked_ = 0;          // primitives
    std::vector<std::size_t> skin_matrices_;  // of each skin to make, in fresh_
    struct NewClip {
        const PoseClip* clip;
        std::size_t times;                                      // in fresh_
        std::vector<std::pair<NodeTrack, std::size_t>> tracks;  // with their values in fresh_
    };
    std::vector<NewClip> clips_;
    std::size_t clip_accessors_ = 0;        // of those in fresh_
    std::vector<std::size_t> joint_nodes_;  // node of each joint in what is written
    std::vector<std::size_t> free_accessors_, free_views_;
    bool in_order_ = false;  // lowest free slots first, so that the rest stands at the end

    std::size_t target_ = 0;   // buffer for new data
    bool into_chunk_ = false;  // buffer 0 is the BIN chunk of what is written
    std::vector<std::byte> bytes_;
};

}  // namespace

Result<SavedFile> write_document(const Document& document, const Scene& scene, const SkinWeights& weights,
                                 const SaveOptions& options, bool glb) {
    return Writer(document, scene, weights, options, glb).write();
}

std::vector<std::string> external_uris(const Document& document, bool glb) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < document.count("buffers"); ++i)
        if (document.buffers[i].origin == Document::Origin::external && !(glb && !document.glb && i == 0))
            out.push_back(string_of(member(*document.at("buffers", i), "uri")));
    for (std::size_t i = 0; i < document.count("images"); ++i)
        if (const std::string uri = string_of(member(*document.at("images", i), "uri"));
            !uri.empty() && !uri.starts_with("data:"))
            out.push_back(uri);
    return out;
}

}  // namespace sinew::io
