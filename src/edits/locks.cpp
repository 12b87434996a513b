// Locked weights: rows of locked vertices, weights on locked joints.
#include <algorithm>

#include "core/parallel.h"
#include "sinew/edits.h"
#include "weights/rows.h"

namespace sinew {

Result<SkinWeights> apply_locks(const SkinWeights& fresh, const Locks& locks, int max_influences,
                                Context* context) {
    const std::size_t n = fresh.vertex_count();
    if (!locks.weights || (locks.vertices.empty() && locks.joints.empty())) return fresh;
    if (locks.weights->vertex_count() != n || (!locks.vertices.empty() && locks.vertices.size() != n))
        return Error{ErrorCode::input, "the weights to keep have rows for " +
                                           std::to_string(locks.weights->vertex_count()) +
                                           " vertices, the new ones " + std::to_string(n)};
    const auto locked = [&](std::uint32_t j) { return j < locks.joints.size() && locks.joints[j]; };
    const std::size_t keep =
        max_influences == all_influences ? ~std::size_t{0} : static_cast<std::size_t>(max_influences);
    return map_rows(n, context, [&](std::size_t v, std::vector<Influence>& out) {
        const auto kept = (*locks.weights)[v];
        const auto now = fresh[v];
        if (kept.empty()) {
            out.assign(now.begin(), now.end());
            return;
        }
        if (!locks.vertices.empty() && locks.vertices[v]) {
            out.assign(kept.begin(), kept.end());
            return;
        }
        double left = 1;
        for (const Influence& i : kept)
            if (locked(i.joint)) {
                out.push_back(i);
                left -= i.weight;
            }
        const std::size_t places = keep > out.size() ? keep - out.size() : 0;
        double sum = 0;
        std::size_t taken = 0;
        for (const Influence& i : now)
            if (!locked(i.joint) && taken < places) sum += i.weight, ++taken;
        if (left <= 1e-6) return;
        if (!(sum > 0)) {
            out.assign(kept.begin(), kept.end());
            return;
        }
        taken = 0;
        for (const Influence& i : now)
            if (!locked(i.joint) && taken < places) {
                out.push_back({i.joint, static_cast<float>(i.weight / sum * left)});
                ++taken;
            }
    });
}

}  // namespace sinew
