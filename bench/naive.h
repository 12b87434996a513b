// The baseline of the benchmarks: the published method, written plainly as its text suggests. Not part of the
// library.
#pragma once

#include <vector>

#include "field/geodesic.h"
#include "sinew/bind.h"

namespace sinew::bench {

/// One Dijkstra per joint over an explicit adjacency with a binary heap of float distances (Dionne and de Lasa
/// 2014, algorithm 3), joints spread over threads. Returns joints × leaves in voxels, +inf where unreached; empty
/// for joints without seeds.
std::vector<std::vector<float>> naive_distances(const Domain& domain, const BoneSeeds& seeds,
                                                const std::vector<Bridge>& bridges, float penalty,
                                                Context* context = nullptr);

/// The whole bind with these distances. The stages before and after are sinew's own. Distances at the vertices
/// follow eq. 7 without overshoot. Keeps the eight nearest joints of each vertex.
Result<SkinWeights> naive_bind(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options,
                               std::vector<StageTime>* seconds = nullptr, Context* context = nullptr);

}  // namespace sinew::bench
