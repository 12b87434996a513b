#include "io/gltf_nodes.h"
#include "core/try.h"

#include <algorithm>
#include <array>
#include <span>

namespace sinew::io {

std::string in_quotes(const std::string& name) { return "'" + printable(name) + "'"; }

std::string name_of(const Json& object, const char* kind, std::size_t index) {
    const std::string name = string_of(member(object, "name"));
    return name.empty() ? std::string(kind) + " " + std::to_string(index) : name;
}

std::string node_name(const Document& document, std::size_t node) {
    return name_of(*document.at("nodes", node), "node", node);
}

namespace {

Result<Matrix> local_transform(const Document& document, std::size_t index) {
    const Json& node = *document.at("nodes", index);
    const auto numbers = [&](const char* key, std::span<double> out) -> Status {
        const Json* list = member(node, key);
        if (!list) return Done{};
        bool good = list->is_array() && list->size() == out.size();
        for (std::size_t i = 0; good && i < out.size(); ++i) {
            good = (*list)[i].is_number();
            if (good) out[i] = (*list)[i].get<double>();
        }
        if (good) return Done{};
        return document.error("node " + std::to_string(index) + ": " + key + " must be " +
                              std::to_string(out.size()) + " numbers");
    };
    Matrix out;
    if (member(node, "matrix")) {
        SINEW_TRY(numbers("matrix", out.m));
        return out;
    }
    std::array<double, 3> t{0, 0, 0}, s{1, 1, 1};
    std::array<double, 4> q{0, 0, 0, 1};
    SINEW_TRY(numbers("translation", t));
    SINEW_TRY(numbers("rotation", q));
    SINEW_TRY(numbers("scale", s));
    return compose(t, q, s);
}

}  // namespace

Status read_nodes(Document& document) {
    NodeTree& nodes = document.rig.nodes;
    const std::size_t count = document.count("nodes");
    nodes.parent.assign(count, none);
    nodes.children.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        const Json* children = member(*document.at("nodes", i), "children");
        if (!children) continue;
        if (!children->is_array())
            return document.error("node " + std::to_string(i) + ": children must be an array");
        for (const Json& entry : *children) {
            const auto child = whole(&entry);
            if (!child || *child >= count)
                return document.error("node " + std::to_string(i) + " has a child that does not exist");
            if (nodes.parent[*child] != none)
                return document.error("node " + std::to_string(*child) + " is a child of both node " +
                                      std::to_string(nodes.parent[*child]) + " and node " + std::to_string(i));
            nodes.parent[*child] = i;
            nodes.children[i].push_back(*child);
        }
    }
    // From the roots down; nodes that are not reached are in a cycle.
    nodes.local.resize(count);
    nodes.world.resize(count);
    std::vector<std::size_t>& order = nodes.top_down;
    for (std::size_t i = 0; i < count; ++i)
        if (nodes.parent[i] == none) order.push_back(i);
    for (std::size_t k = 0; k < order.size(); ++k)
        order.insert(order.end(), nodes.children[order[k]].begin(), nodes.children[order[k]].end());
    if (order.size() != count) {
        std::vector<bool> reached(count);
        for (const std::size_t i : order) reached[i] = true;
        const auto lost =
            static_cast<std::size_t>(std::find(reached.begin(), reached.end(), false) - reached.begin());
        return document.error("node " + std::to_string(lost) + " is its own ancestor");
    }
    for (const std::size_t i : order) {
        SINEW_TRY_LET(const auto local, local_transform(document, i));
        nodes.local[i] = local;
        nodes.world[i] = nodes.parent[i] == none ? nodes.local[i] : nodes.world[nodes.parent[i]] * nodes.local[i];
    }
    return Done{};
}

}  // namespace sinew::io
