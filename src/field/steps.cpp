#include "field/steps.h"

#include "core/parallel.h"

namespace sinew {
namespace {

// The neighbours of the size of a leaf u that touch a leaf n of another size, as directions from u, where none of
// them has its shortest way to n over u. Unless the step to u is costly that is not so for the one in line with u
// and n, and rounding may decide where n is far away.
std::uint32_t beside(const Domain::Leaf& u, const Domain::Leaf& n, double length, bool costly) {
    static const auto masks = [] {
        std::array<std::array<std::uint32_t, 8>, 3> out{};
        for (int d = 0; d < kDirections; ++d)
            for (std::size_t axis = 0; axis < 3; ++axis)
                for (std::size_t allowed = 0; allowed < 8; ++allowed)
                    if (allowed >> (step_of(d)[axis] + 1) & 1) out[axis][allowed] |= 1u << d;
        return out;
    }();
    if (!costly && length > 8) return 0;
    const int own = 1 << u.level, size = 1 << n.level, from[3] = {u.x, u.y, u.z}, low[3] = {n.x, n.y, n.z};
    std::uint32_t touching = (1u << kDirections) - 1;
    int sign[3], twice[3];  // of the way from centre to centre
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const int at = from[axis] - low[axis];  // 0..size-own within n's range
        std::size_t allowed = 0;
        for (int step = -1; step <= 1; ++step)
            if (at + own * step <= size && at + own * (step + 1) >= 0) allowed |= std::size_t{1} << (step + 1);
        touching &= masks[axis][allowed];
        twice[axis] = size - own - 2 * at;
        sign[axis] = (twice[axis] > 0) - (twice[axis] < 0);
        twice[axis] = std::abs(twice[axis]);
    }
    const int most = std::max({twice[0], twice[1], twice[2]});
    bool in_line = !costly;
    for (const int t : twice) in_line = in_line && (t == 0 || t == most);
    if (in_line) touching &= ~(1u << direction_of(-sign[0], -sign[1], -sign[2]));
    return touching;
}

// Of the length from centre to centre, in half voxels.
std::int64_t square(const Domain::Leaf& a, const Domain::Leaf& b) {
    const int grow = (1 << a.level) - (1 << b.level);
    const std::int64_t x = 2 * (a.x - b.x) + grow, y = 2 * (a.y - b.y) + grow, z = 2 * (a.z - b.z) + grow;
    return x * x + y * y + z * z;
}

// Where n touches u: from low to high, in voxels from u's lower corner.
struct Contact {
    std::array<int, 3> low, high;
};
Contact contact(const Domain::Leaf& u, const Domain::Leaf& n) {
    const int size = 1 << u.level, other = 1 << n.level, at[3] = {n.x - u.x, n.y - u.y, n.z - u.z};
    Contact c;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        c.low[axis] = std::clamp(at[axis], 0, size);
        c.high[axis] = std::clamp(at[axis] + other, 0, size);
    }
    return c;
}

// The same for a leaf of level 1, as about_link has it.
std::uint64_t corners(const Contact& c) {
    std::uint64_t out = 0;
    for (int z = c.low[2]; z <= c.high[2]; ++z)
        for (int y = c.low[1]; y <= c.high[1]; ++y)
            for (int x = c.low[0]; x <= c.high[0]; ++x)
                out |= std::uint64_t{1} << (kDirections + x + 3 * y + 9 * z);
    return out;
}

// What a link from u to n costs, and what about_link says of it but for the way of the other end.
struct Joined {
    std::uint32_t cost;
    std::uint64_t about;
};
Joined join(const Domain::Leaf& u, const Domain::Leaf& n, float penalty) {
    const double length = std::sqrt(static_cast<double>(square(u, n))) / 2;
    Joined joined{to_units(length * (n.boundary ? penalty : 1)), n.boundary ? about_link::kBoundary : 0};
    if (u.level < Domain::Graph::kGrouped) {
        joined.about |= beside(u, n, length, u.boundary && penalty >= 2);
        if (u.level > 0) joined.about |= corners(contact(u, n));
    } else if (u.level <= about_link::kLargest) {
        const Contact c = contact(u, n);
        joined.about |= about_link::box(c.low, c.high);
    }
    return joined;
}

// The same from a table for leaves of the finest levels, nearly all that have such links.
class JoinTable {
public:
    explicit JoinTable(float penalty) : penalty_(penalty) {
        for (int from = 0; from < kLevels; ++from)
            for (int to = 0; to < kLevels; ++to) {
                std::vector<Joined>& out = of_[index(from, to)];
                const int own = 1 << from, size = 1 << to, side = own + size + 1;
                out.resize(static_cast<std::size_t>(side * side * side) * 4);
                constexpr int middle = 64;
                for (int z = -size; z <= own; ++z)
                    for (int y = -size; y <= own; ++y)
                        for (int x = -size; x <= own; ++x)
                            for (const bool here : {false, true})
                                for (const bool there : {false, true}) {
                                    const Domain::Leaf u = leaf(middle, middle, middle, from, here);
                                    const Domain::Leaf n = leaf(middle + x, middle + y, middle + z, to, there);
                                    out[place(u, n)] = join(u, n, penalty);
                                }
            }
    }
    Joined operator()(const Domain::Leaf& u, const Domain::Leaf& n) const {
        if (u.level >= kLevels || n.level >= kLevels) return join(u, n, penalty_);
        return of_[index(u.level, n.level)][place(u, n)];
    }

private:
    static constexpr int kLevels = 3;
    static std::size_t index(int from, int to) { return static_cast<std::size_t>(from * kLevels + to); }
    static Domain::Leaf leaf(int x, int y, int z, int level, bool boundary) {
        return {static_cast<std::uint16_t>(x), static_cast<std::uint16_t>(y), static_cast<std::uint16_t>(z),
                static_cast<std::uint8_t>(level), boundary};
    }
    // Of leaves that touch.
    static std::size_t place(const Domain::Leaf& u, const Domain::Leaf& n) {
        const int size = 1 << n.level, side = (1 << u.level) + size + 1;
        const int at = ((n.z - u.z + size) * side + n.y - u.y + size) * side + n.x - u.x + size;
        return static_cast<std::size_t>(4 * at + 2 * u.boundary + n.boundary);
    }
    float penalty_;
    std::array<std::vector<Joined>, kLevels * kLevels> of_;
};

}  // namespace

LargeVector<GeodesicSolver::OtherLink> make_other_links(const Domain& domain, float penalty, Context* context) {
    const Domain::Graph& graph = *domain.graph;
    const std::vector<Domain::Leaf>& leaves = domain.leaves;
    const JoinTable join(penalty);
    LargeVector<GeodesicSolver::OtherLink> links(graph.other.size());
    parallel_for(context, leaves.size(), 8192, [&](std::size_t i) {
        const Domain::Leaf u = leaves[i];
        for (std::uint32_t k = graph.nodes[i].other; k < graph.nodes[i + 1].other; ++k) {
            const std::uint32_t to = graph.other[k];
            const Domain::Leaf n = leaves[to];
            const std::uint8_t back = graph.back[k];
            const int way = kFromOther + back;
            const bool noted = back != Domain::Graph::kFarBack && way <= 255 && n.level <= about_link::kLargest;
            const Joined joined = join(u, n);
            links[k] = {to, joined.cost,
                        joined.about | static_cast<std::uint64_t>(noted ? way : kNoDirection)
                                           << about_link::kWayShift};
        }
    });
    return links;
}

}  // namespace sinew
