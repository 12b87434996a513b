// The yardstick: the published method's distances as its text suggests to write them. Not part of the library.
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

/// The whole bind with these distances: the same stages before and after, eq. 7 without overshoot for every
/// vertex and joint, the same falloff and finish. `width`: joints kept per vertex.
Result<SkinWeights> naive_bind(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options,
                               std::vector<StageTime>* seconds = nullptr, Context* context = nullptr);

}  // namespace sinew::bench
