// How much memory a bind may need: the sizes that count, and one formula per method. They are upper bounds of what
// is allocated at the same time, with constants that were measured (docs/memory.md). tests/unit/test_memory.cpp
// compares them with the real peak.
#pragma once

#include "sinew/options.h"
#include "sinew/skeleton.h"

namespace sinew {

/// The sizes on which the memory of a bind depends.
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

/// Bytes that the sources and the solver of bone-heat and surface-heat may need at most.
double surface_solver_memory(const MeshView& mesh, double threads);

/// Compares estimate_memory with the context's limit. The error (too_large) names a resolution that would fit.
Status check_memory(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options, Context* context);

}  // namespace sinew
