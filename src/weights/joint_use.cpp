#include "sinew/weights.h"

namespace sinew {

std::vector<double> joint_use(const SkinWeights& weights, std::size_t joint_count) {
    std::vector<double> use(joint_count, 0.0);
    for (std::size_t v = 0; v < weights.vertex_count(); ++v)
        for (const Influence& i : weights[v])
            if (i.joint < joint_count) use[i.joint] += i.weight;
    return use;
}

}  // namespace sinew
