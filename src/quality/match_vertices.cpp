// Vertices of two meshes at the same places.
#include <map>

#include "quality/nearest_point.h"
#include "sinew/quality.h"

namespace sinew {

std::optional<std::vector<std::uint32_t>> match_vertices(std::span<const Vec3> reference,
                                                         std::span<const Vec3> other, double within) {
    const auto numbered = [](std::span<const Vec3> positions) {
        std::vector<std::pair<Point3, std::uint32_t>> out;
        for (std::uint32_t v = 0; v < positions.size(); ++v) out.emplace_back(to_point(positions[v]), v);
        return out;
    };
    // Vertices of both sides by the place in the reference that is nearest to them, which is the first vertex
    // there.
    const NearestPoint nearest(numbered(reference));
    struct Place {
        std::vector<std::uint32_t> reference, other;
    };
    std::map<std::uint32_t, Place> places;
    for (std::uint32_t v = 0; v < reference.size(); ++v)
        places[nearest.find(to_point(reference[v]), 0)].reference.push_back(v);
    for (std::uint32_t v = 0; v < other.size(); ++v) {
        const std::uint32_t at = nearest.find(to_point(other[v]), within);
        if (at == no_index) return {};
        places[at].other.push_back(v);
    }
    std::vector<std::uint32_t> out(reference.size());
    for (const auto& [first, place] : places) {
        const std::size_t n = place.reference.size(), m = place.other.size();
        if (m == 0) return {};
        for (std::size_t k = 0; k < n; ++k) out[place.reference[k]] = place.other[k * m / n];
    }
    return out;
}

}  // namespace sinew
