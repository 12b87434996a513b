// stored_weights: JOINTS_n and WEIGHTS_n as they are, and the rules of glTF 2.0 about skins that load does not
// need.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/try.h"
#include "io/gltf_accessor.h"
#include "io/gltf_document.h"

namespace sinew::io {

namespace {

class StoredReader {
public:
    explicit StoredReader(const Scene& scene) : scene_(scene), document_(*scene.document), accessors_(document_) {}

    Result<StoredWeights> read() {
        const std::size_t n = scene_.positions.size();
        out_.sums.assign(n, 0);
        out_.invalid.assign(n, 0);
        out_.repeated.assign(n, 0);
        out_.other_pose.assign(n, 0);
        for (const VertexBlock& block : document_.rig.blocks)
            if (!block.primitives.empty()) SINEW_TRY(read_block(block));
        for (const VertexBlock& block : document_.rig.blocks)
            if (!block.to_scene_each.empty())
                std::fill_n(out_.other_pose.begin() + block.first_vertex, block.vertex_count, std::uint8_t{1});
        for (std::size_t s = 0; s < document_.count("skins"); ++s) check_skin(s);
        for (const auto& [fault, skins] : of_skins_)
            out_.faults.push_back(
                (skins.size() == 1 ? "skin " + std::to_string(skins[0]) : std::to_string(skins.size()) + " skins") +
                ": " + fault);
        if (outside_)
            out_.faults.push_back(std::to_string(outside_) +
                                  " entries of JOINTS_n name joints past the end of the skin");
        check_nodes();
        return std::move(out_);
    }

private:
    Result<Elements> attribute(const Json& primitive, const DracoMesh& draco, const std::string& name) {
        if (const auto found = draco.attributes.find(name); found != draco.attributes.end()) return found->second;
        const auto accessor = whole(member(*member(primitive, "attributes"), name.c_str()));
        if (!accessor) return document_.error(name + " must be an accessor's index");
        return accessors_.read(*accessor, name);
    }

    Status read_block(const VertexBlock& block) {
        const Json& primitive = document_.primitive(block.primitives[0]);
        const Json* attributes = member(primitive, "attributes");
        if (!attributes) return Done{};
        DracoMesh draco;
        if (has_extension(primitive, draco_extension)) {
            SINEW_TRY_LET(draco, read_draco(document_, primitive, "primitive"));
        }
        std::vector<std::vector<std::uint32_t>> joints;
        std::vector<std::vector<float>> weights;
        for (std::size_t set = 0;; ++set) {
            const std::string number = std::to_string(set);
            if (!member(*attributes, ("JOINTS_" + number).c_str()) ||
                !member(*attributes, ("WEIGHTS_" + number).c_str()))
                break;
            SINEW_TRY_LET(auto listed, attribute(primitive, draco, "JOINTS_" + number));
            SINEW_TRY_LET(auto values, attribute(primitive, draco, "WEIGHTS_" + number));
            if (listed.width != 4 || values.width != 4 || listed.count != block.vertex_count ||
                values.count != block.vertex_count)
                return Done{};  // load has refused it, or did not use it
            joints.push_back(as_joints(listed));
            weights.push_back(as_floats(values, values.component != Component::f32));
        }
        std::vector<std::uint32_t> row;
        const std::size_t listed = document_.rig.skins[block.skin].joints.size();
        for (std::uint32_t v = 0; v < block.vertex_count; ++v) {
            row.clear();
            double sum = 0;
            for (std::size_t s = 0; s < joints.size(); ++s)
                for (std::size_t k = 4 * std::size_t{v}; k < 4 * std::size_t{v} + 4; ++k) {
                    const float weight = weights[s][k];
                    outside_ += joints[s][k] >= listed;
                    if (weight == 0) continue;
                    if (!(weight > 0 && std::isfinite(weight))) {
                        out_.invalid[block.first_vertex + v] = 1;
                        continue;
                    }
                    sum += weight;
                    row.push_back(joints[s][k]);
                }
            std::sort(row.begin(), row.end());
            out_.sums[block.first_vertex + v] = static_cast<float>(sum);
            out_.repeated[block.first_vertex + v] = std::adjacent_find(row.begin(), row.end()) != row.end();
        }
        return Done{};
    }

    std::size_t root_of(std::size_t node) const {
        const std::vector<std::size_t>& parent = document_.rig.nodes.parent;
        for (std::size_t steps = 0; node < parent.size() && parent[node] != Rig::no_node && steps < parent.size();
             ++steps)
            node = parent[node];
        return node;
    }
    bool is_above(std::size_t above, std::size_t node) const {
        const std::vector<std::size_t>& parent = document_.rig.nodes.parent;
        for (std::size_t steps = 0; steps <= parent.size() && node < parent.size(); ++steps) {
            if (node == above) return true;
            node = parent[node];
        }
        return false;
    }

    void check_skin(std::size_t index) {
        const Json& skin = *document_.at("skins", index);
        const auto report = [&](const char* fault) { of_skins_[fault].push_back(index); };
        const Json* list = member(skin, "joints");
        if (!list || !list->is_array()) return;
        std::vector<std::size_t> joints;
        for (const Json& j : *list)
            if (const auto node = whole(&j)) joints.push_back(*node);
        if (std::set<std::size_t>(joints.begin(), joints.end()).size() < joints.size())
            report("a joint is listed twice");
        std::set<std::size_t> roots;
        for (const std::size_t node : joints) roots.insert(root_of(node));
        if (roots.size() > 1) report("the joints have no common root node");
        if (const auto skeleton = whole(member(skin, "skeleton")))
            if (!std::all_of(joints.begin(), joints.end(), [&](std::size_t j) { return is_above(*skeleton, j); }))
                report("the node 'skeleton' is not above all of the joints");
        if (const auto accessor = whole(member(skin, "inverseBindMatrices"))) {
            const Json* const described = document_.at("accessors", *accessor);
            const auto view = described ? whole(member(*described, "bufferView")) : std::nullopt;
            const Json* const bytes = view ? document_.at("bufferViews", *view) : nullptr;
            if (bytes && member(*bytes, "byteStride"))
                report("the bufferView of the inverse bind matrices has a byteStride");
            auto matrices = accessors_.read(*accessor, "inverseBindMatrices");
            if (!matrices || matrices->width != 16) return;
            const std::vector<float> m = as_floats(*matrices, false);
            bool affine = true;
            for (std::size_t k = 0; k < matrices->count; ++k)
                affine = affine && m[16 * k + 3] == 0 && m[16 * k + 7] == 0 && m[16 * k + 11] == 0 &&
                         m[16 * k + 15] == 1;
            if (!affine) report("the last row of an inverse bind matrix is not 0, 0, 0, 1");
        }
    }

    void check_nodes() {
        std::size_t no_skin = 0, no_weights = 0;
        for (std::size_t n = 0; n < document_.count("nodes"); ++n) {
            const Json& node = *document_.at("nodes", n);
            const auto mesh = whole(member(node, "mesh"));
            const Json* at = mesh ? document_.at("meshes", *mesh) : nullptr;
            const Json* primitives = at ? member(*at, "primitives") : nullptr;
            if (!primitives || !primitives->is_array()) continue;
            bool any = false, all = true;
            for (const Json& primitive : *primitives) {
                const Json* attributes = member(primitive, "attributes");
                const bool weighted =
                    attributes && member(*attributes, "JOINTS_0") && member(*attributes, "WEIGHTS_0");
                any = any || weighted;
                all = all && weighted;
            }
            const bool skinned = member(node, "skin") != nullptr;
            no_skin += any && !skinned;
            no_weights += skinned && !all;
        }
        if (no_skin) out_.faults.push_back(std::to_string(no_skin) + " nodes have a mesh with weights and no skin");
        if (no_weights)
            out_.faults.push_back(std::to_string(no_weights) + " nodes have a skin and a mesh without weights");
    }

    const Scene& scene_;
    const Document& document_;
    AccessorReader accessors_;
    StoredWeights out_;
    std::size_t outside_ = 0;
    std::map<std::string, std::vector<std::size_t>> of_skins_;  // fault -> skins that have it
};

}  // namespace

Result<StoredWeights> stored_weights(const Scene& scene) {
    if (!scene.weights || !scene.document || scene.document->rig.source != RigSource::skins) return StoredWeights{};
    return StoredReader(scene).read();
}

}  // namespace sinew::io
