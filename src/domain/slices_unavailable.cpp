// Replaces slices_gl.cpp in a build without OpenGL (SINEW_GL): the hardware voxelizer is an error.
#include "domain/lattice.h"

namespace sinew {

Status check_slices() {
    return Error{ErrorCode::usage,
                 "voxelizer hardware: this build of sinew has no OpenGL (SINEW_GL); use voxelizer cpu, or build it "
                 "where libepoxy-dev is installed"};
}

Result<PairVotes> vote_by_slices(const Lattice&, ViewPairs, Context*, SliceReport*) {
    return check_slices().error();
}

}  // namespace sinew
