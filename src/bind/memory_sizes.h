// How much memory a bind may need: the sizes that count, and one formula per method. They are upper bounds by what
// is alive together at the worst moment, with constants that were measured (docs/memory.md);
// tests/unit/test_memory.cpp holds them against the real peak.
#pragma once

#include "sinew/bind.h"

namespace sinew {

/// What a bind's memory depends on.
struct MemorySizes {
    double vertices, triangles;
    double joints;  ///< of the skeleton
    double sets;    ///< sets of joints that skins allow
    double kept;    ///< joints per row
    double labels;  ///< bytes of a leaf's row in the sweep for the nearest joints
    double threads;
    double leaves;  ///< at most; of a volume or a figure
    double cells;   ///< voxels for which grids take memory
    bool all;       ///< every joint is kept
    bool keep_volume;
};

double geodesic_voxel_memory(const MemorySizes& s, const MeshView& mesh, const BindOptions& options);
double voxel_heat_memory(const MemorySizes& s, const MeshView& mesh, const BindOptions& options);
double bounded_biharmonic_memory(const MemorySizes& s, const MeshView& mesh, const BindOptions& options);
double surface_heat_memory(const MemorySizes& s, const MeshView& mesh, const BindOptions& options);
double bone_heat_memory(const MemorySizes& s, const MeshView& mesh, const BindOptions& options);
double mesh_geodesic_memory(const MemorySizes& s, const MeshView& mesh, const BindOptions& options);
double pixel_geodesic_memory(const MemorySizes& s, const MeshView& mesh, const BindOptions& options);
double open_space_memory(const MemorySizes& s, const MeshView& mesh, const BindOptions& options);

}  // namespace sinew
