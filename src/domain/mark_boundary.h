// The boundary voxels of a triangle.
#pragma once

#include "domain/lattice.h"
#include "sinew/voxels.h"

namespace sinew {

/// Sets every voxel that the triangle touches; in a grid with blocks, only those in blocks. Voxels are closed: a
/// point on a border touches the voxels on both sides. Threads may mark triangles of one grid at the same time.
void mark_boundary(BitGrid& grid, const LatticePoint* p);

}  // namespace sinew
