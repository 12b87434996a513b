#include "bind/rows.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace sinew {

RowPlan plan_rows(const MeshView& mesh, const Skeleton& skeleton, const std::vector<std::uint32_t>& weld) {
    const std::size_t n = mesh.positions.size();
    RowPlan plan;
    plan.source.resize(n);
    std::vector<std::vector<std::uint32_t>> allowed;  // per skin: deforming joints, ascending
    std::vector<bool> idle;
    auto deforming = [&](std::vector<std::uint32_t> joints) {
        std::vector<std::uint32_t> kept;
        std::sort(joints.begin(), joints.end());
        joints.erase(std::unique(joints.begin(), joints.end()), joints.end());
        for (const std::uint32_t j : joints)
            if (skeleton.joints[j].deform) kept.push_back(j);
        idle.push_back(kept.empty());
        return kept.empty() ? joints : kept;
    };
    if (skeleton.skins.empty() || mesh.skin_of_vertex.empty()) {
        std::vector<std::uint32_t> all(skeleton.joints.size());
        std::iota(all.begin(), all.end(), 0u);
        plan.sets.push_back({deforming(std::move(all)), {}, false});
        for (std::size_t v = 0; v < n; ++v) {
            plan.source[v] = weld[v];
            if (weld[v] == v) plan.sets[0].vertices.push_back(static_cast<std::uint32_t>(v));
        }
        return plan;
    }
    for (const auto& skin : skeleton.skins) allowed.push_back(deforming(skin));

    std::vector<std::vector<std::uint32_t>> skins_at(n);  // per distinct position
    for (std::size_t v = 0; v < n; ++v) {
        auto& list = skins_at[weld[v]];
        if (std::find(list.begin(), list.end(), mesh.skin_of_vertex[v]) == list.end())
            list.push_back(mesh.skin_of_vertex[v]);
    }
    std::map<std::vector<std::uint32_t>, std::size_t> set_of;  // joints -> set
    auto set_for = [&](const std::vector<std::uint32_t>& joints, bool is_idle) {
        const auto [it, fresh] = set_of.try_emplace(joints, plan.sets.size());
        if (fresh) plan.sets.push_back({joints, {}, is_idle});
        return it->second;
    };
    std::vector<std::size_t> set_of_skin(allowed.size());
    for (std::size_t k = 0; k < allowed.size(); ++k) set_of_skin[k] = set_for(allowed[k], idle[k]);
    constexpr std::size_t none_shared = ~std::size_t{0};
    std::map<std::vector<std::uint32_t>, std::size_t> set_of_skins;  // of a seam: the set of what its skins share
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>
        own_row;  // position, skin -> vertex with the row
    for (std::size_t v = 0; v < n; ++v) {
        const std::uint32_t place = weld[v], skin = mesh.skin_of_vertex[v];
        auto& skins = skins_at[place];
        if (skins.size() == 1) {
            plan.source[v] = place;
            if (place == v) plan.sets[set_of_skin[skin]].vertices.push_back(place);
            continue;
        }
        std::sort(skins.begin(), skins.end());
        const auto [seam, fresh] = set_of_skins.try_emplace(skins, none_shared);
        if (fresh) {
            std::vector<std::uint32_t> common = allowed[skins[0]];
            for (std::size_t k = 1; k < skins.size(); ++k) {
                std::vector<std::uint32_t> both;
                std::set_intersection(common.begin(), common.end(), allowed[skins[k]].begin(),
                                      allowed[skins[k]].end(), std::back_inserter(both));
                common = std::move(both);
            }
            if (!common.empty()) seam->second = set_for(common, false);
        }
        if (seam->second != none_shared) {
            plan.source[v] = place;
            if (place == v) plan.sets[seam->second].vertices.push_back(place);
        } else {
            const auto [row, first] = own_row.try_emplace({place, skin}, static_cast<std::uint32_t>(v));
            plan.source[v] = row->second;
            if (first) plan.sets[set_of_skin[skin]].vertices.push_back(row->second);
        }
    }
    return plan;
}

}  // namespace sinew
