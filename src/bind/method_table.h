// The table of methods: one row has everything that other files need about a method.
#pragma once

#include <limits>

#include "bind/memory_sizes.h"
#include "bind/method.h"

namespace sinew {

/// The domain of a method. It is built before the method runs.
enum class MethodSpace : std::uint8_t {
    open,     ///< nothing is built: straight distances
    surface,  ///< the mesh itself
    volume,   ///< voxels and the octree
    pixels,   ///< the pixels of a flat figure
};

/// The finest resolution that choose_resolution takes for any method.
inline constexpr int kFinestAutomatic = 512;

/// A method is a value of Method, a row here and a function in a file of its own. Other files read the row and
/// never compare the value.
struct MethodTableRow {
    MethodInfo info;
    Result<MethodRows> (*run)(const Task&);
    /// Sets the options that differ from BindOptions{} and from the default falloff law of the field's kind.
    void (*preset)(BindOptions&);
    /// Peak memory in bytes, without the mesh (docs/memory.md).
    double (*memory)(const MemorySizes&, const MeshView&, const BindOptions&);
    MethodSpace space;
    /// Kind of the fields that Binding keeps of the volume (BindOptions::keep_volume).
    FieldKind volume_field;
    bool overshoot = false;                   ///< BindOptions::overshoot
    bool local_resolution = false;            ///< BindOptions::local_resolution
    bool coarse_bones = false;                ///< DomainKind::sparse_boundary
    int finest_automatic = kFinestAutomatic;  ///< of this method
    /// Vertices of a mesh that bind_progressive gives a first result: of more, a bind at a low resolution takes
    /// nearly as long as at a high one.
    std::size_t most_with_first_result = std::numeric_limits<std::size_t>::max();

    bool has_volume() const { return space == MethodSpace::volume; }
    bool is_flat() const { return space == MethodSpace::pixels; }
};

/// Null for a value that is no method.
const MethodTableRow* find_method(Method method);
/// Of a method that check() has passed.
const MethodTableRow& row_of(Method method);

}  // namespace sinew
