// Binds a random mesh to a random skeleton with random options. It must be refused with a reason, or keep all
// invariants. Meshes are small: what can go wrong goes wrong with a few triangles, and a hundred of them take a
// second.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#include "require.h"
#include "sinew/bind.h"

namespace {

using namespace sinew;

/// Reads values from the fuzzer's bytes; zeros after their end.
class ByteReader {
public:
    ByteReader(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
    std::uint8_t byte() { return at_ < end_ ? *at_++ : std::uint8_t{0}; }
    /// 0..n-1
    std::uint32_t below(std::uint32_t n) { return (byte() * 256u + byte()) % n; }
    /// Mostly points of a small lattice, so that positions coincide and faces overlap; rarely an arbitrary float.
    float coordinate(bool wild) {
        if (!wild) return static_cast<float>(static_cast<std::int8_t>(byte())) / 16;
        std::uint8_t raw[4] = {byte(), byte(), byte(), byte()};
        float value;
        std::memcpy(&value, raw, sizeof value);
        return value;
    }
    Vec3 point(bool wild) {
        const float x = coordinate(wild), y = coordinate(wild), z = coordinate(wild);
        return {x, y, z};
    }

private:
    const std::uint8_t *at_, *end_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    ByteReader bytes(data, size);
    const std::uint8_t flags = bytes.byte();
    const bool wild = flags % 16 == 15;         // floats from raw bits
    const bool careless = flags / 16 % 8 == 7;  // indices, parents and options may break the rules

    std::vector<Vec3> positions(1 + bytes.below(16));
    for (Vec3& p : positions) p = bytes.point(wild && bytes.byte() < 16);
    const auto vertices = static_cast<std::uint32_t>(positions.size());
    std::vector<Triangle> triangles(1 + bytes.below(20));
    for (Triangle& t : triangles)
        for (std::uint32_t& v : t) v = bytes.below(vertices + (careless ? 1 : 0));

    Skeleton skeleton;
    skeleton.joints.resize(1 + bytes.below(5));
    const auto joints = static_cast<std::uint32_t>(skeleton.joints.size());
    for (std::uint32_t j = 0; j < joints; ++j) {
        Joint& joint = skeleton.joints[j];
        joint.name = "joint" + std::to_string(j);
        joint.parent = static_cast<int>(bytes.below(careless ? joints + 1 : j + 1)) - 1;
        joint.position = bytes.point(wild && bytes.byte() < 16);
        if (bytes.byte() % 4 == 0) joint.tail = bytes.point(false);
        const unsigned kind = bytes.byte() % 8;
        joint.deform = kind != 0;
        joint.stated_links = kind == 1;
    }
    std::vector<std::uint32_t> skin_of_vertex;
    if (bytes.byte() % 4 == 0) {
        skeleton.skins.resize(1 + bytes.below(3));
        for (auto& skin : skeleton.skins)
            for (std::uint32_t n = 1 + bytes.below(4); n > 0; --n) skin.push_back(bytes.below(joints));
        skin_of_vertex.resize(vertices);
        for (auto& skin : skin_of_vertex) skin = bytes.below(static_cast<std::uint32_t>(skeleton.skins.size()));
    }

    BindOptions options = preset(Method::geodesic_voxel);
    options.voxels.resolution = careless ? static_cast<int>(bytes.byte()) : 32;
    options.voxels.winding_numbers = bytes.byte() % 2;
    options.voxels.repair_facing = bytes.byte() % 2;
    options.domain = bytes.byte() % 2 ? DomainKind::uniform : DomainKind::sparse;
    options.penalty = careless ? bytes.coordinate(true) : 1 + static_cast<float>(bytes.byte() % 8);
    options.overshoot = static_cast<float>(bytes.byte() % 3) / 2;
    options.falloff.law = bytes.byte() % 2 ? FalloffLaw::inverse_quadratic : FalloffLaw::inverse_power;
    options.falloff.alpha = careless ? bytes.coordinate(true) : static_cast<float>(bytes.byte()) / 255;
    options.finish.max_influences =
        careless ? static_cast<int>(bytes.byte()) - 1 : static_cast<int>(bytes.below(9));
    options.finish.limit_rule = bytes.byte() % 2 ? LimitRule::cut : LimitRule::fade;
    const std::uint8_t choice = bytes.byte();
    const MethodInfo* chosen = &methods()[choice % methods().size()];
    // This method takes ten times as long as the others: few of the cases.
    if (chosen->method == Method::bounded_biharmonic && choice < 224) chosen = &methods().front();
    const MethodInfo& method = *chosen;
    options.method = method.method;
    if (method.field == FieldKind::strength) options.falloff.law = FalloffLaw::power;
    if (options.method == Method::mesh_geodesic) {
        options.rings = static_cast<RingPlacement>(bytes.byte() % 3);
        options.all_pairs = bytes.byte() % 4 == 0;
    }
    const bool takes_local = (options.method == Method::geodesic_voxel || options.method == Method::surface_heat) &&
                             options.domain == DomainKind::sparse;
    options.fit_check = bytes.byte() % 4 == 0;  // most random skeletons lie beside their mesh
    options.local_resolution = (takes_local || careless) && bytes.byte() % 4 == 0;
    for (Joint& joint : skeleton.joints) {
        if (bytes.byte() % 4 != 1) continue;
        JointShape shape;
        shape.kind = static_cast<JointShape::Kind>(bytes.below(3));
        shape.radius = careless ? bytes.coordinate(true) : static_cast<float>(1 + bytes.byte()) / 32;
        shape.half = {shape.radius, static_cast<float>(1 + bytes.byte()) / 32, 1};
        joint.shape = shape;
        if (options.method == Method::mesh_geodesic && bytes.byte() % 2)
            joint.ring_normal = careless ? Vec3{bytes.coordinate(true), bytes.coordinate(true), 0} : Vec3{0, 0, 1};
        if (bytes.byte() % 2) joint.hardness = static_cast<float>(bytes.byte()) / (careless ? 100.0f : 255.0f);
    }
    if (options.voxels.resolution >= 64) options.voxels.resolution = 32;  // larger ones only cost time
    // This method iterates long. One bind with one thread is enough.
    const bool lasts = options.method == Method::bounded_biharmonic;
    for (std::size_t j = 3; lasts && j < joints; ++j) skeleton.joints[j].deform = false;

    const MeshView mesh{positions, triangles, skin_of_vertex};
    Context context;
    context.threads = 1;
    const auto binding = bind(mesh, skeleton, options, &context);
    if (!binding) return require_refusal(binding.error()), 0;
    const auto weights = binding->weights(&context);
    if (!weights) return require_refusal(weights.error()), 0;

    const BindReport& report = binding->report();
    require(weights->vertex_count() == vertices, "another number of rows than vertices");
    require(report.vertices() == vertices, "coverage does not add up to the vertices");
    require(binding->coverage().size() == vertices, "coverage has another length than the vertices");
    const int limit = options.finish.max_influences;
    require(limit == all_influences || weights->max_influences() <= static_cast<std::size_t>(limit),
            "more influences than the limit");
    std::map<std::tuple<float, float, float>, std::uint32_t> first_at;
    for (std::uint32_t v = 0; v < vertices; ++v) {
        const auto row = (*weights)[v];
        const std::string place = " at vertex " + std::to_string(v);
        require(row.empty() == (binding->coverage()[v] == Coverage::none), "coverage and weights disagree" + place);
        if (!row.empty()) require_row(row, joints, v);
        if (skin_of_vertex.empty()) {
            for (const Influence& i : row)
                require(skeleton.joints[i.joint].deform, "a weight on a joint that does not deform" + place);
            require(!row.empty(), "no weights though no skin limits the joints" + place);
            // Seams must not tear. (-0 and 0 are the same position and compare equal.)
            const auto [same, is_first] = first_at.try_emplace({positions[v].x, positions[v].y, positions[v].z}, v);
            const auto other = (*weights)[same->second];
            require(is_first || std::equal(row.begin(), row.end(), other.begin(), other.end()),
                    "two vertices at one position have different weights" + place);
        }
    }

    if (flags % 16 == 1 && !lasts) {  // rarely, because it costs a second bind
        context.threads = 2;
        const auto twice = bind(mesh, skeleton, options, &context);
        require(twice.ok(), "two threads refuse what one accepts");
        const auto again = twice->weights(&context);
        require(again.ok() && *again == *weights, "two threads give other weights than one");
    }
    return 0;
}
