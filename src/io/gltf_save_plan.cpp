// Plans the saving of a document: numbers of sets, free accessors and bufferViews, the buffer of the new data.
#include <algorithm>
#include <set>

#include "core/try.h"
#include "io/gltf_save.h"

namespace sinew::io::gltf_save {

bool is_weight_attribute(std::string_view name) {
    for (const std::string_view prefix : {"JOINTS_", "WEIGHTS_"})
        if (name.starts_with(prefix) && name.size() > prefix.size() &&
            name.find_first_not_of("0123456789", prefix.size()) == name.npos)
            return true;
    return false;
}

Status check(const Request& request) {
    const Scene& scene = request.scene;
    const Rig& rig = request.rig();
    SINEW_TRY(check_weights(scene, request.weights, request.document.name));
    for (const VertexBlock& block : rig.blocks)
        if (std::size_t{block.first_vertex} + block.vertex_count > scene.positions.size() ||
            block.skin >= rig.skins.size())
            return request.internal_error("the scene is not the one of its document");
    return Done{};
}

void plan_blocks(const Request& request, Plan& plan) {
    const Rig& rig = request.rig();
    plan.blocks.resize(rig.blocks.size());
    for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
        const VertexBlock& block = rig.blocks[b];
        BlockPlan& out = plan.blocks[b];
        std::size_t most = 1;
        for (std::uint32_t v = 0; v < block.vertex_count; ++v)
            most = std::max(most, request.weights[block.first_vertex + v].size());
        out.sets = (most + 3) / 4;
        const Json& attributes = request.document.primitive(block.primitives[0])["attributes"];
        for (std::size_t s = 0;; ++s) {
            const auto joints = whole(member(attributes, ("JOINTS_" + std::to_string(s)).c_str()));
            const auto shares = whole(member(attributes, ("WEIGHTS_" + std::to_string(s)).c_str()));
            if (!joints || !shares) break;
            out.old_joints.push_back(*joints);
            out.old_weights.push_back(*shares);
        }
    }
}

void plan_matrices(const Request& request, Plan& plan) {
    using Written = BindMatrix::Written;
    const Rig& rig = request.rig();
    std::vector<std::set<std::uint32_t>> used(rig.skins.size());  // joints of each skin
    for (const VertexBlock& block : rig.blocks)
        if (!rig.skins[block.skin].other_matrices.empty())
            for (std::uint32_t v = block.first_vertex; v < block.first_vertex + block.vertex_count; ++v)
                for (const Influence& i : request.weights[v]) used[block.skin].insert(i.joint);
    std::size_t count = 0;
    for (std::size_t s = 0; s < rig.skins.size(); ++s)
        for (const auto& [place, other] : rig.skins[s].other_matrices) {
            const bool needed = other.written == Written::if_used ? used[s].contains(rig.skins[s].joints[place])
                                : other.written == Written::on_request ? request.options.repair_matrices
                                                                       : true;
            count += needed;
            if (needed || (request.fresh && other.written == Written::if_used))
                plan.other_matrices[s][place] = other.matrix;
        }
    if (count)
        plan.report.notes.push_back(std::to_string(count) +
                                    (count == 1 ? " inverse bind matrix is" : " inverse bind matrices are") +
                                    " written anew: as bound");
}

namespace {

using JsonSet = std::set<const Json*>;

/// Collects the accessors that the document refers to outside of `skipped`. In unknown extensions, every value that
/// could be such an index counts: one too many costs bytes, one too few breaks the file.
void find_used_accessors(const Json& root, const JsonSet& skipped, std::set<std::size_t>& out) {
    const auto keep = [&](const Json* value) {
        if (value && !skipped.contains(value))
            if (const auto index = whole(value)) out.insert(*index);
    };
    const auto keep_all = [&](const Json* object) {
        if (object && object->is_object())
            for (const auto& [name, value] : object->items()) keep(&value);
    };
    // Every object of the document: the keys that name accessors, in the core and in extensions.
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

void find_used_views(const Json& root, const JsonSet& skipped, std::set<std::size_t>& out) {
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

}  // namespace

void find_free_slots(const Request& request, Plan& plan) {
    const Document& document = request.document;
    JsonSet skipped;  // values that the saved document does not have
    std::set<std::size_t> lost;
    const auto lose = [&](const Json& value) {
        skipped.insert(&value);
        if (const auto accessor = whole(&value); accessor && *accessor < document.count("accessors"))
            lost.insert(*accessor);
    };
    for (const VertexBlock& block : request.rig().blocks)
        for (const PrimitiveRef& ref : block.primitives) {
            const Json& json = document.primitive(ref);
            for (const auto& [name, value] : json["attributes"].items())
                if (is_weight_attribute(name)) lose(value);
            if (has_extension(json, draco_extension))
                skipped.insert(&json["extensions"][draco_extension]);
            else if (!block.to_scene_each.empty())
                for_each_shape(json, [&](const char*, const Json& value, std::size_t) { lose(value); });
        }
    for (const auto& [s, matrices] : plan.other_matrices)
        if (const Json* old = member(*document.at("skins", request.rig().skins[s].number), "inverseBindMatrices"))
            lose(*old);
    for (const PrimitiveRef& ref : plan.unpacked)
        skipped.insert(&document.primitive(ref)["extensions"][draco_extension]);
    std::set<std::size_t> kept;
    find_used_accessors(document.json, skipped, kept);
    for (const std::size_t accessor : lost)
        if (!kept.contains(accessor)) plan.free_accessors.push_back(accessor);

    for (const std::size_t accessor : plan.free_accessors) skipped.insert(document.at("accessors", accessor));
    std::set<std::size_t> used_views, old_views;
    find_used_views(document.json, skipped, used_views);
    for (const Json* value : skipped) find_used_views(*value, {}, old_views);
    for (const std::size_t view : old_views)
        if (!used_views.contains(view) && view < document.count("bufferViews")) plan.free_views.push_back(view);
}

void choose_sets(const Request& request, Plan& plan) {
    std::size_t needed = plan.clip_accessors, decompressed = plan.added.size() - plan.clip_accessors;
    for (const BlockPlan& block : plan.blocks) needed += 2 * block.sets;
    for (const RigSkin& skin : request.rig().skins) needed += skin.number == none;
    needed += plan.other_matrices.size();
    const auto are_last = [](const std::vector<std::size_t>& freed, std::size_t from, std::size_t count) {
        for (std::size_t i = from; i < freed.size(); ++i)
            if (freed[i] != count - (freed.size() - i)) return false;
        return true;
    };
    const std::size_t accessors = std::min(needed, plan.free_accessors.size());
    const std::size_t views = std::min(needed + decompressed, plan.free_views.size());
    const bool spare = accessors < plan.free_accessors.size() || views < plan.free_views.size();
    if (!spare) return;
    if (are_last(plan.free_accessors, accessors, request.document.count("accessors")) &&
        are_last(plan.free_views, views, request.document.count("bufferViews"))) {
        plan.fill_from_first = true;
        return;
    }
    for (BlockPlan& block : plan.blocks) block.sets = std::max(block.sets, block.old_joints.size());
}

void choose_buffer(const Request& request, Plan& plan) {
    using Origin = Document::Origin;
    const auto& buffers = request.document.buffers;
    if (!buffers.empty()) {
        // A conversion moves buffer 0 into the chunk or out of it.
        const Origin origin = buffers[0].origin;
        plan.target_is_bin =
            request.glb && (origin == Origin::bin || (!request.document.glb && origin != Origin::absent));
    }
    if (request.glb && (plan.target_is_bin || buffers.empty())) {
        plan.target = 0;
        plan.target_is_bin = true;
    } else if (!buffers.empty() && (buffers.back().origin == Origin::data_uri ||
                                    (!request.glb && buffers.back().origin == Origin::bin))) {
        plan.target = buffers.size() - 1;
    } else {
        plan.target = buffers.size();
    }
    if (plan.target < buffers.size())
        plan.buffer.assign(buffers[plan.target].bytes.begin(), buffers[plan.target].bytes.end());
}

void assign_slots(const Request& request, Plan& plan) {
    const Document& document = request.document;
    std::set<std::size_t> accessors(plan.free_accessors.begin(), plan.free_accessors.end());
    std::set<std::size_t> views(plan.free_views.begin(), plan.free_views.end());
    const auto take_first = [](std::set<std::size_t>& free, std::size_t& slot) {
        if (slot != none || free.empty()) return;
        slot = *free.begin();
        free.erase(free.begin());
    };
    if (!plan.fill_from_first)
        for (NewAccessor& added : plan.added) {
            if (added.accessor == none && added.replaces != none && accessors.erase(added.replaces))
                added.accessor = added.replaces;
            if (added.replaces == none) continue;
            const Json* const old = document.at("accessors", added.replaces);
            if (!old) continue;  // a primitive without a skin may name accessors that do not exist
            const auto view = whole(member(*old, "bufferView"));
            if (view && views.erase(*view)) added.view = *view;
        }
    for (NewAccessor& added : plan.added) {
        take_first(accessors, added.accessor);
        take_first(views, added.view);
    }
    // Free slots that are left over are cut off where they are at the end of their list.
    plan.kept_accessors = document.count("accessors");
    plan.kept_views = document.count("bufferViews");
    while (accessors.contains(plan.kept_accessors - 1)) accessors.erase(--plan.kept_accessors);
    while (views.contains(plan.kept_views - 1)) views.erase(--plan.kept_views);
    if (!accessors.empty() || !views.empty())
        plan.report.notes.push_back(std::to_string(accessors.size()) + " accessors and " +
                                    std::to_string(views.size()) + " bufferViews are left unused");
    std::size_t next_accessor = plan.kept_accessors, next_view = plan.kept_views;
    for (NewAccessor& added : plan.added) {
        if (added.accessor == none) added.accessor = next_accessor++;
        if (added.view == none) added.view = next_view++;
    }
}

}  // namespace sinew::io::gltf_save
