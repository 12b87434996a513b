// Kernel: distances of many points from one bone, in vectors where the processor has them. The plain reference is
// BoneShapes::straight of one point.
#include "bind/bone_shapes.h"

#include <algorithm>

#include "core/processor.h"

namespace sinew {

struct BoneShapes::Kernel {
    // Adds a bone that is no box: a line or a capsule. Written for compilers that vectorise.
    static void add(const Shape& shape, PointBatch& m) {
        const Shape s = shape;  // which no store into m changes
        for (std::size_t i = 0; i < m.count; ++i) {
            const SegmentPosition at = s.space.beside({m.x[i], m.y[i], m.z[i]});
            const double outside = at.distance - s.space.radius();
            const Distance d = nearer({m.nearest[i], m.beyond[i]}, s, at, outside > 0 ? outside : 0);
            m.nearest[i] = d.nearest;
            m.beyond[i] = d.beyond;
        }
    }
    static void plain(const Shape& shape, PointBatch& m) { add(shape, m); }
#if defined(SINEW_VECTORS)
    SINEW_FOR_AVX2 static void avx2(const Shape& shape, PointBatch& m) { add(shape, m); }
    SINEW_FOR_AVX512 static void avx512(const Shape& shape, PointBatch& m) { add(shape, m); }
    static auto best() { return best_of(plain, avx2, avx512); }
#else
    static auto best() { return plain; }
#endif
};

void BoneShapes::straight(std::uint32_t joint, PointBatch& m) const {
    static const auto add = Kernel::best();
    std::fill_n(m.nearest, m.count, INFINITY);
    std::fill_n(m.beyond, m.count, 0.0);
    for (const Shape& s : of_joint_[joint]) {
        if (!s.space.is_box()) {
            add(s, m);
            continue;
        }
        for (std::size_t i = 0; i < m.count; ++i) {
            const Point3 p{m.x[i], m.y[i], m.z[i]};
            const Distance d = nearer({m.nearest[i], m.beyond[i]}, s, s.space.beside(p), s.space.distance(p));
            m.nearest[i] = d.nearest;
            m.beyond[i] = d.beyond;
        }
    }
}

}  // namespace sinew
