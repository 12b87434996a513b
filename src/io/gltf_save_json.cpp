// The JSON of a saved document: bufferViews, accessors, primitives, joint nodes, skins, animations and extensions
// are edited in its text, and the text and the target buffer become a GLB or a .gltf file.
#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "core/base64.h"
#include "core/try.h"
#include "io/gltf_builder.h"
#include "io/gltf_save.h"
#include "io/json_text.h"

namespace sinew::io::gltf_save {

bool erase_extension(JsonValue& object, std::string_view extension) {
    JsonValue* extensions = object.find("extensions");
    if (!extensions || !extensions->erase(extension)) return false;
    if (extensions->size() == 0) object.erase("extensions");
    return true;
}

void unlist_extension(JsonValue& root, std::string_view extension) {
    for (const char* name : {"extensionsUsed", "extensionsRequired"}) {
        JsonValue* entries = root.find(name);
        if (!entries) continue;
        for (std::size_t i = entries->size(); i-- > 0;)
            if (entries->at(i)->str() == json_string(extension)) entries->erase_at(i);
        if (entries->size() == 0) root.erase(name);
    }
}

std::string data_uri(std::span<const std::byte> bytes) {
    return json_string("data:application/octet-stream;base64," + encode_base64(bytes));
}

namespace {

std::string list_of(const std::vector<std::size_t>& numbers) {
    std::string out = "[";
    for (const std::size_t n : numbers) out += (out.size() > 1 ? "," : "") + std::to_string(n);
    return out + "]";
}

/// Sets a member where `present`; erases it otherwise.
void set_if(bool present, JsonValue& object, const char* key, const std::string& json) {
    if (present)
        object.set(key, json);
    else
        object.erase(key);
}

void set_bounds(JsonValue& accessor, const NewAccessor& added) {
    if (!added.min.empty()) accessor.set("min", added.min);
    if (!added.max.empty()) accessor.set("max", added.max);
}

/// The end of the one bone of each joint, if the skeleton's file states it: as a tail, or as a link to one child.
std::vector<std::optional<Vec3>> stated_ends(const std::vector<Joint>& joints) {
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

// ---- the GLB container

void put_u32(std::vector<std::byte>& out, std::uint32_t value) {
    for (int k = 0; k < 4; ++k) out.push_back(static_cast<std::byte>(value >> (8 * k) & 0xff));
}

void put_chunk(std::vector<std::byte>& out, std::uint32_t type, std::span<const std::byte> data, char padding) {
    put_u32(out, static_cast<std::uint32_t>(aligned(data.size())));
    put_u32(out, type);
    out.insert(out.end(), data.begin(), data.end());
    out.resize(aligned(out.size()), static_cast<std::byte>(padding));
}

/// The edited text, and `bin` as the BIN chunk where buffer 0 is one; other chunks are kept.
Result<std::vector<std::byte>> assemble_glb(const Request& request, const Plan& plan,
                                            std::span<const std::byte> text, std::span<const std::byte> bin) {
    const Document& document = request.document;
    std::vector<std::byte> out;
    put_u32(out, 0x46546C67);
    put_u32(out, 2);
    put_u32(out, 0);
    put_chunk(out, 0x4E4F534A, text, ' ');
    if (plan.target_is_bin && !document.bin_chunk) put_chunk(out, 0x004E4942, bin, '\0');
    for (std::size_t c = 0; c < document.chunks.size(); ++c) {
        const Document::Chunk& other = document.chunks[c];
        put_chunk(out, other.type, c == document.bin_chunk ? bin : std::span(other.bytes), '\0');
    }
    if (out.size() > std::numeric_limits<std::uint32_t>::max())
        return Error{ErrorCode::too_large, document.name + ": a GLB cannot be larger than 4 GiB"};
    std::vector<std::byte> total;
    put_u32(total, static_cast<std::uint32_t>(out.size()));
    std::copy(total.begin(), total.end(), out.begin() + 8);
    return out;
}

/// Edits the text of a document. Each step is called once, in the order of write_json.
class JsonEditor {
public:
    JsonEditor(const Request& request, Plan& plan)
        : request_(request), document_(request.document), rig_(request.rig()), plan_(plan), text_(document_.text) {}

    void trim_lists() {
        for (const auto& [list, size] :
             {std::pair("accessors", plan_.kept_accessors), std::pair("bufferViews", plan_.kept_views)})
            if (JsonValue* entries = text_.root().find(list))
                while (entries->size() > size) entries->erase_at(entries->size() - 1);
    }

    void write_accessors() {
        JsonValue &accessors = list("accessors"), &views = list("bufferViews");
        // Appended ones come in the order of their numbers, which is that of Plan::added.
        for (const NewAccessor& added : plan_.added) {
            JsonValue& view = added.view < views.size() ? *views.at(added.view) : views.append("{}");
            view.set("buffer", std::to_string(plan_.target));
            set_if(added.offset != 0, view, "byteOffset", std::to_string(added.offset));
            view.set("byteLength", std::to_string(added.bytes.size()));
            set_if(added.stride != 0, view, "byteStride", std::to_string(added.stride));
            set_if(added.target != 0, view, "target", std::to_string(added.target));
            for (const char* extension : meshopt_extensions) erase_extension(view, extension);

            JsonValue& accessor =
                added.accessor < accessors.size() ? *accessors.at(added.accessor) : accessors.append("{}");
            if (added.described != none && added.described != added.accessor)
                accessor.replace(document_.at("accessors", added.described)->dump());
            accessor.set("bufferView", std::to_string(added.view));
            accessor.erase("byteOffset");
            if (added.described != none) {  // the other members stay
                accessor.erase("sparse");
                set_bounds(accessor, added);
                continue;
            }
            accessor.set("componentType", std::to_string(static_cast<std::uint32_t>(added.component)));
            set_if(added.normalized, accessor, "normalized", "true");
            accessor.set("count", std::to_string(added.count));
            accessor.set("type", json_string(added.type));
            for (const char* key : {"min", "max", "sparse"}) accessor.erase(key);
            set_bounds(accessor, added);
        }
    }

    void edit_primitives() {
        JsonValue* meshes = text_.root().find("meshes");
        for (const std::size_t source : rig_.mesh_copies) meshes->append(meshes->at(source)->str());
        for (std::size_t b = 0; b < plan_.blocks.size(); ++b)
            for (const PrimitiveRef& ref : rig_.blocks[b].primitives)
                set_weights(*meshes->at(ref.mesh)->find("primitives")->at(ref.primitive), ref, plan_.blocks[b]);
        for (const PrimitiveRef& ref : plan_.unpacked)
            erase_draco(*meshes->at(ref.mesh)->find("primitives")->at(ref.primitive));
        for (const Redirected& r : plan_.redirected) {
            JsonValue& json = *meshes->at(r.primitive.mesh)->find("primitives")->at(r.primitive.primitive);
            JsonValue& holder = r.name == "indices" ? json
                                : r.morph == none   ? *json.find("attributes")
                                                    : *json.find("targets")->at(r.morph);
            holder.set(r.name, accessor_number(r.added));
        }
    }

    /// Joint nodes of a skeleton from elsewhere, skins, and the nodes that use them.
    void add_skins() {
        joint_nodes_ = rig_.node_of_joint;
        for (const auto& [skin, added] : plan_.rewritten_skins)
            list("skins").at(skin)->set("inverseBindMatrices", accessor_number(added));
        JsonValue& nodes = list("nodes");
        if (rig_.source == RigSource::added) add_joint_nodes(nodes);
        std::vector<std::size_t> number;  // of Rig::skins
        for (std::size_t s = 0; s < rig_.skins.size(); ++s) {
            number.push_back(rig_.skins[s].number);
            if (number[s] != none) continue;
            JsonValue& skins = list("skins");
            number[s] = skins.size();
            std::vector<std::size_t> joints;
            for (const std::uint32_t j : rig_.skins[s].joints) joints.push_back(joint_nodes_[j]);
            skins.append("{\"inverseBindMatrices\":" + accessor_number(plan_.skin_matrices[s]) +
                         ",\"joints\":" + list_of(joints) + "}");
        }
        for (const Rig::SkinnedNode& skinned : rig_.skinned_nodes) {
            JsonValue& node = *nodes.at(skinned.node);
            node.set("mesh", std::to_string(skinned.mesh));
            if (rig_.skins[skinned.skin].number == none) node.set("skin", std::to_string(number[skinned.skin]));
        }
    }

    void add_clips() {
        if (plan_.clips.empty()) return;
        JsonValue& animations = list("animations");
        for (const ClipPlan& clip : plan_.clips) {
            const std::string input = accessor_number(clip.times);
            std::string channels, samplers;
            for (std::size_t i = 0; i < clip.tracks.size(); ++i) {
                const auto& [track, values] = clip.tracks[i];
                const std::size_t node = joint_nodes_[track.joint];
                const std::string comma = i ? "," : "";
                channels += comma + "{\"sampler\":" + std::to_string(i) +
                            ",\"target\":{\"node\":" + std::to_string(node) + ",\"path\":\"" + track.path + "\"}}";
                samplers += comma + "{\"input\":" + input + ",\"output\":" + accessor_number(values) +
                            ",\"interpolation\":" + (clip.clip->step ? "\"STEP\"}" : "\"LINEAR\"}");
                decompose_matrix(node);
            }
            const std::string name =
                clip.clip->name.empty() ? "" : "\"name\":" + json_string(clip.clip->name) + ",";
            animations.append("{" + name + "\"channels\":[" + channels + "],\"samplers\":[" + samplers + "]}");
        }
    }

    /// Extensions whose last use is gone are no longer listed.
    void remove_unused_extensions() {
        if (plan_.draco_primitives) remove_draco();
        for (const char* extension : meshopt_extensions) remove_meshopt(extension);
    }

    /// Views that reach past the end of the buffer, which is longer now, must not read what was added to it.
    void cut_dangling_views() {
        if (plan_.target >= document_.buffers.size()) return;
        const std::size_t size = document_.buffers[plan_.target].bytes.size();
        std::set<std::size_t> written;
        for (const NewAccessor& added : plan_.added) written.insert(added.view);
        std::size_t cut = 0;
        for (std::size_t v = 0; v < std::min(plan_.kept_views, document_.count("bufferViews")); ++v) {
            const Json& view = *document_.at("bufferViews", v);
            const auto offset = whole_or(view, "byteOffset", 0), length = whole(member(view, "byteLength"));
            if (written.contains(v) || whole(member(view, "buffer")) != plan_.target || !offset || !length ||
                (*offset <= size && *length <= size - *offset))
                continue;
            list("bufferViews").at(v)->set("byteLength", "1");
            ++cut;
        }
        if (cut > 0)
            plan_.report.notes.push_back(std::to_string(cut) +
                                         " buffer views reach past the end of their buffer: they are cut to one "
                                         "byte, so that they do not read what is added behind it");
    }

    void write_buffer(std::vector<std::byte>& bin) {
        JsonValue& buffers = list("buffers");
        const std::size_t known = buffers.size();
        JsonValue& target = plan_.target < known ? *buffers.at(plan_.target) : buffers.append("{}");
        target.set("byteLength", std::to_string(plan_.buffer.size()));
        if (plan_.target_is_bin) {
            target.erase("uri");
            bin = std::move(plan_.buffer);
        } else {
            // A data uri keeps its media type.
            std::string uri = data_uri(plan_.buffer);
            if (plan_.target < known && document_.buffers[plan_.target].origin == Document::Origin::data_uri) {
                const std::string old = document_.at("buffers", plan_.target)->at("uri");
                uri = json_string(old.substr(0, old.find(',') + 1) + encode_base64(plan_.buffer));
            }
            target.set("uri", std::move(uri));
        }
        if (!request_.glb && document_.glb && plan_.target != 0 && !document_.buffers.empty() &&
            document_.buffers[0].origin == Document::Origin::bin)
            buffers.at(0)->set("uri", data_uri(document_.buffers[0].bytes));
    }

    std::string text() const { return text_.str(); }

private:
    JsonValue& list(std::string_view name) {
        JsonValue* found = text_.root().find(name);
        return found ? *found : text_.root().set(name, "[]");
    }

    std::string accessor_number(std::size_t added) const { return std::to_string(plan_.added[added].accessor); }

    void set_weights(JsonValue& json, const PrimitiveRef& ref, const BlockPlan& block) {
        JsonValue& attributes = *json.find("attributes");
        std::set<std::string> names;
        for (std::size_t s = 0; s < block.sets; ++s)
            for (std::size_t k = 0; k < 2; ++k) {
                const std::string name = (k == 0 ? "JOINTS_" : "WEIGHTS_") + std::to_string(s);
                attributes.set(name, accessor_number(block.added[s] + k));
                names.insert(name);
            }
        for (const auto& [name, value] : document_.primitive(ref)["attributes"].items())
            if (is_weight_attribute(name) && !names.contains(name)) attributes.erase(name);
        erase_draco(json);
    }

    static void erase_draco(JsonValue& primitive) {
        if (erase_extension(primitive, draco_extension) && primitive.find("mode")) primitive.set("mode", "4");
    }

    void add_joint_nodes(JsonValue& nodes) {
        const auto& joints = request_.scene.skeleton.joints;
        const std::size_t first = nodes.size();
        std::vector<std::vector<std::size_t>> children(joints.size());
        const std::vector<std::optional<Vec3>> ends = stated_ends(joints);
        std::vector<std::size_t> roots;
        for (std::size_t j = 0; j < joints.size(); ++j) {
            joint_nodes_.push_back(first + j);
            if (joints[j].parent < 0)
                roots.push_back(first + j);
            else
                children[static_cast<std::size_t>(joints[j].parent)].push_back(first + j);
        }
        const auto numbers = [](const auto& values) {
            std::string out;
            for (const double v : values) out += (out.empty() ? "[" : ",") + json_number(v + 0.0);  // -0 is 0
            return out + "]";
        };
        const auto no_turn = [](const std::array<double, 4>& q) {
            return std::max({std::abs(q[0]), std::abs(q[1]), std::abs(q[2])}) < 1e-12;
        };
        for (std::size_t j = 0; j < joints.size(); ++j) {
            const Matrix frame = frame_of(joints[j]);
            const Matrix above =
                joints[j].parent < 0 ? Matrix{} : frame_of(joints[static_cast<std::size_t>(joints[j].parent)]);
            const Trs local = decompose(inverse(above).value_or(Matrix{}) * frame);
            JsonValue& node = nodes.append("{\"name\":" + json_string(joints[j].name) + "}");
            if (!children[j].empty()) node.set("children", list_of(children[j]));
            node.set("translation", numbers(local.t));
            if (!no_turn(local.q)) node.set("rotation", numbers(local.q));
            // The file has the same bones when it is bound again.
            if (const std::optional<Vec3>& tail = ends[j]) {
                const auto end = transform_point(inverse(frame).value_or(Matrix{}), double(tail->x),
                                                 double(tail->y), double(tail->z));
                node.set("extras", "{" + json_string(tail_key) + ":" + numbers(end) + "}");
            }
        }
        // The joints of a skin must have a common root.
        std::size_t root = roots[0];
        if (roots.size() > 1) {
            root = nodes.size();
            nodes.append("{\"name\":\"skeleton\",\"children\":" + list_of(roots) + "}");
        }
        add_to_scenes(root);
    }

    /// Every scene that shows a mesh of the skin must contain its joints.
    void add_to_scenes(std::size_t root) {
        JsonValue* scenes = text_.root().find("scenes");
        if (!scenes) return;
        std::set<std::size_t> skinned;
        for (const Rig::SkinnedNode& node : rig_.skinned_nodes) skinned.insert(node.node);
        for (std::size_t s = 0; s < document_.count("scenes"); ++s) {
            const Json* roots = member(*document_.at("scenes", s), "nodes");
            if (roots && roots->is_array() && contains_any(*roots, skinned))
                scenes->at(s)->find("nodes")->append(std::to_string(root));
        }
    }

    /// Whether any of `wanted` is among these nodes or below them.
    bool contains_any(const Json& nodes, const std::set<std::size_t>& wanted) const {
        std::vector<const Json*> stack{&nodes};
        while (!stack.empty()) {
            const Json& entries = *stack.back();
            stack.pop_back();
            for (const Json& entry : entries) {
                const auto node = whole(&entry);
                const Json* json = node ? document_.at("nodes", *node) : nullptr;
                if (!json) continue;
                if (wanted.contains(*node)) return true;
                if (const Json* children = member(*json, "children"); children && children->is_array())
                    stack.push_back(children);
            }
        }
        return false;
    }

    /// An animated node must not have a matrix.
    void decompose_matrix(std::size_t node) {
        JsonValue& json = *list("nodes").at(node);
        if (!json.erase("matrix")) return;
        const Trs at_rest = decompose(rig_.nodes.local[node]);
        const auto put = [&](const char* key, const auto& values) {
            std::string text;
            for (const double v : values) text += (text.empty() ? "[" : ",") + json_number(v);
            json.set(key, text + "]");
        };
        put("translation", at_rest.t);
        put("rotation", at_rest.q);
        put("scale", at_rest.s);
    }

    void remove_draco() {
        std::size_t uses = 0;
        for (std::size_t m = 0; m < document_.count("meshes"); ++m)
            if (const Json* primitives = member(*document_.at("meshes", m), "primitives"))
                for (const Json& json : *primitives) uses += has_extension(json, draco_extension);
        // Plan::draco_primitives counts copies too, which are not in the document.
        std::set<const Json*> decompressed;
        for (const VertexBlock& block : rig_.blocks)
            for (const PrimitiveRef& ref : block.primitives)
                if (const Json& json = document_.primitive(ref); has_extension(json, draco_extension))
                    decompressed.insert(&json);
        for (const PrimitiveRef& ref : plan_.unpacked) decompressed.insert(&document_.primitive(ref));
        if (uses == decompressed.size()) unlist_extension(text_.root(), draco_extension);
        plan_.report.notes.push_back(std::to_string(plan_.draco_primitives) +
                                     " primitives were compressed with Draco and are written uncompressed");
    }

    void remove_meshopt(const char* extension) {
        std::size_t uses = 0, dropped = 0;
        for (const char* kind : {"bufferViews", "buffers"})
            for (std::size_t i = 0; i < document_.count(kind); ++i)
                uses += has_extension(*document_.at(kind, i), extension);
        bool weights = false;
        for (const NewAccessor& added : plan_.added) {
            const Json* view = document_.at("bufferViews", added.view);
            dropped += view && has_extension(*view, extension);
            const Json* old = document_.at("accessors", added.replaces);
            const auto old_view = old ? whole(member(*old, "bufferView")) : std::nullopt;
            const Json* stored = old_view ? document_.at("bufferViews", *old_view) : nullptr;
            weights = weights || (stored && has_extension(*stored, extension));
        }
        if (dropped && uses == dropped) unlist_extension(text_.root(), extension);
        if (weights)
            plan_.report.notes.push_back("skin weights were compressed with " + std::string(extension) +
                                         " and are written uncompressed");
    }

    const Request& request_;
    const Document& document_;
    const Rig& rig_;
    Plan& plan_;
    JsonText text_;
    std::vector<std::size_t> joint_nodes_;  // node of each joint in the saved document
};

}  // namespace

Result<SavedFile> write_json(const Request& request, Plan& plan) {
    JsonEditor editor(request, plan);
    editor.trim_lists();
    editor.write_accessors();
    editor.edit_primitives();
    editor.add_skins();
    editor.add_clips();
    editor.remove_unused_extensions();
    editor.cut_dangling_views();
    std::vector<std::byte> bin;
    editor.write_buffer(bin);

    SavedFile file;
    const std::string text = editor.text();
    const auto* raw = reinterpret_cast<const std::byte*>(text.data());
    if (request.glb) {
        SINEW_TRY_LET(file.bytes, assemble_glb(request, plan, {raw, text.size()}, bin));
    } else {
        file.bytes.assign(raw, raw + text.size());
        for (std::size_t c = 0; c < request.document.chunks.size(); ++c)
            if (c != request.document.bin_chunk)
                plan.report.notes.push_back("a chunk of the GLB cannot be stored in a .gltf: left out");
    }
    plan.report.bytes = file.bytes.size();
    file.report = std::move(plan.report);
    return file;
}

}  // namespace sinew::io::gltf_save
