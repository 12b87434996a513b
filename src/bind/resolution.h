// How fine the voxels are, and where they are finer.
#pragma once

#include "bind/method.h"

namespace sinew {

struct VoxelPlan {
    ResolutionChoice choice;
    std::vector<FinePlace> fine;  ///< empty without local resolution
};

/// What bind does about resolution: chooses where BindOptions::voxels.resolution is 0, and finds the places for
/// local resolution where it is wanted or chosen. Cost: as choose_resolution.
Result<VoxelPlan> plan_voxels(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options,
                              Context* context);

/// Whether the method can have local resolution.
bool takes_local_resolution(Method method);

}  // namespace sinew
