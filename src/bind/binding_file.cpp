// A Binding as bytes (docs/binding.md): magic, version, sections, checksum; little-endian throughout. Each part is
// described once, by a transfer function, for the archive that writes and the one that reads.
#include <bit>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "bind/binding_state.h"
#include "bind/method_table.h"
#include "core/geometry.h"
#include "core/hash.h"
#include "core/try.h"
#include "domain/leaf_index.h"

namespace sinew {
namespace {

static_assert(std::endian::native == std::endian::little, "write bytes in reverse on such a machine");

constexpr char kMagic[9] = "SINEWBND";
constexpr std::uint32_t kVersion = 5;
constexpr std::uint16_t kNoJoint = 0xffff;  // skeletons have at most 65534 joints

Error broken(const std::string& what) { return {ErrorCode::input, "binding: " + what}; }

template <typename T>
concept Plain = (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) || std::is_enum_v<T>;

// Both archives have the same functions; what one writes the other reads. A reader that has failed goes on with
// zeros and empty lists.
class Writer {
public:
    static constexpr bool reads = false;

    void section(const char (&name)[5], auto&& body) {
        raw(name, 4);
        const std::size_t at = bytes.size();
        bytes.resize(at + 8);
        body();
        const std::uint64_t size = bytes.size() - at - 8;
        std::memcpy(bytes.data() + at, &size, 8);
    }
    template <Plain T>
    void value(T& v) {
        raw(&v, sizeof v);
    }
    void flag(bool& v) { bytes.push_back(std::byte{v}); }
    void count(std::size_t& n) {
        std::uint64_t wide = n;
        value(wide);
    }
    void text(std::string& s) { counted(s.data(), s.size(), 1); }
    template <Plain T>
    void values(std::vector<T>& v) {
        counted(v.data(), v.size(), sizeof(T));
    }
    void flags(std::vector<bool>& v) {
        std::size_t n = v.size();
        count(n);
        for (const bool b : v) bytes.push_back(std::byte{b});
    }
    /// Joints in 16 bits.
    void joints(std::vector<std::uint32_t>& v) {
        std::vector<std::uint16_t> narrow(v.size());
        for (std::size_t i = 0; i < v.size(); ++i)
            narrow[i] = v[i] == no_index ? kNoJoint : static_cast<std::uint16_t>(v[i]);
        values(narrow);
    }
    template <typename T>
    void list(std::vector<T>& v, auto&& element) {
        std::size_t n = v.size();
        count(n);
        for (T& item : v) element(item);
    }

    std::vector<std::byte> bytes;

private:
    void raw(const void* from, std::size_t n) {
        const auto* first = static_cast<const std::byte*>(from);
        bytes.insert(bytes.end(), first, first + n);
    }
    void counted(const void* from, std::size_t n, std::size_t size) {
        count(n);
        raw(from, n * size);
    }
};

class Reader {
public:
    static constexpr bool reads = true;

    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes), end_(bytes.size()) {}

    void section(const char (&name)[5], auto&& body) {
        char found[4]{};
        std::uint64_t size = 0;
        raw(found, 4);
        value(size);
        if (!failed_ && std::memcmp(found, name, 4) != 0) fail(std::string("there is no section '") + name + "'");
        if (!failed_ && size > end_ - at_) fail(std::string("section '") + name + "' is longer than the file");
        if (failed_) return;
        const std::size_t whole = end_;
        end_ = at_ + static_cast<std::size_t>(size);
        body();
        if (!failed_ && at_ != end_) fail(std::string("section '") + name + "' has bytes that mean nothing");
        end_ = whole;
    }
    template <Plain T>
    void value(T& v) {
        v = T{};
        raw(&v, sizeof v);
    }
    void flag(bool& v) {
        std::uint8_t byte = 0;
        value(byte);
        if (byte > 1) fail("a flag is neither 0 nor 1");
        v = byte == 1;
    }
    void count(std::size_t& n) {
        std::uint64_t wide = 0;
        value(wide);
        n = static_cast<std::size_t>(wide);
    }
    void text(std::string& s) {
        s.assign(element_count(1), '\0');
        raw(s.data(), s.size());
    }
    template <Plain T>
    void values(std::vector<T>& v) {
        v.assign(element_count(sizeof(T)), T{});
        raw(v.data(), v.size() * sizeof(T));
    }
    void flags(std::vector<bool>& v) {
        v.assign(element_count(1), false);
        for (std::size_t i = 0; i < v.size(); ++i) {
            bool b = false;
            flag(b);
            v[i] = b;
        }
    }
    void joints(std::vector<std::uint32_t>& v) {
        std::vector<std::uint16_t> narrow;
        values(narrow);
        v.resize(narrow.size());
        for (std::size_t i = 0; i < v.size(); ++i) v[i] = narrow[i] == kNoJoint ? no_index : narrow[i];
    }
    template <typename T>
    void list(std::vector<T>& v, auto&& element) {
        const std::size_t n = element_count(1);
        v.clear();
        for (std::size_t i = 0; i < n && !failed_; ++i) element(v.emplace_back());
    }

    bool at_end() const { return at_ == end_; }
    const std::optional<Error>& failed() const { return failed_; }

    void fail(const std::string& what) {
        if (!failed_) failed_ = broken("byte " + std::to_string(at_) + ": " + what);
    }

private:
    void raw(void* to, std::size_t n) {
        if (n > end_ - at_) fail("the file or a section of it ends too early");
        if (failed_ || n == 0) return;
        std::memcpy(to, bytes_.data() + at_, n);
        at_ += n;
    }
    /// Reads a number of elements, and checks that the section still has `size` bytes for each. 0 on failure.
    std::size_t element_count(std::size_t size) {
        std::uint64_t n = 0;
        value(n);
        if (n > (end_ - at_) / size) fail("a list of " + std::to_string(n) + " does not fit into what is left");
        return failed_ ? 0 : static_cast<std::size_t>(n);
    }

    std::span<const std::byte> bytes_;
    std::size_t at_ = 0, end_;
    std::optional<Error> failed_;
};

// Options by name, as set_option reads them, "method" first: an option more needs no new version. One that a file
// lacks has the value of its method's preset.
template <typename Archive>
void transfer_options(Archive& a, BindOptions& o) {
    struct Word {
        std::string name, value;
    };
    std::vector<Word> words;
    if constexpr (!Archive::reads)
        for (const BindSetting& setting : bind_settings())
            words.push_back({std::string(setting.name), option_text(o, setting.name)});
    a.list(words, [&](Word& word) {
        a.text(word.name);
        a.text(word.value);
    });
    if constexpr (Archive::reads) {
        std::set<std::string_view> names;
        for (const Word& word : words) {
            if (!names.insert(word.name).second)
                a.fail("the option '" + printable(word.name) + "' is stated twice");
            if (Status ok = set_option(o, word.name, word.value); !ok) a.fail(ok.error().message);
        }
    }
    // Values without a name on the command line.
    a.flag(o.voxels.repair_facing);
    FalloffOptions& f = o.falloff;
    a.value(f.tolerance);
    a.value(f.neighbours);
    a.values(f.map.of_joint);
    a.values(f.map.of_vertex);
    a.values(f.map.share_of_vertex);
    a.values(f.map.hardness_of_joint);
    a.value(o.finish.prune);
    a.flag(o.keep_volume);
}

void transfer_place(auto& a, Vec3& p) {
    a.value(p.x);
    a.value(p.y);
    a.value(p.z);
}

void transfer_axes(auto& a, std::array<Vec3, 3>& axes) {
    for (Vec3& axis : axes) transfer_place(a, axis);
}

template <typename T>
void transfer_optional(auto& a, std::optional<T>& value, auto&& body) {
    bool there = value.has_value();
    a.flag(there);
    if (!there) return;
    if (!value) value.emplace();
    body(*value);
}

void transfer_skeleton(auto& a, Skeleton& s) {
    a.list(s.joints, [&](Joint& j) {
        a.text(j.name);
        a.value(j.parent);
        transfer_place(a, j.position);
        a.flag(j.deform);
        a.value(j.reason);
        transfer_optional(a, j.tail, [&](Vec3& tail) { transfer_place(a, tail); });
        a.flag(j.stated_links);
        transfer_axes(a, j.axes);
        transfer_optional(a, j.shape, [&](JointShape& shape) {
            a.value(shape.kind);
            a.value(shape.radius);
            transfer_place(a, shape.half);
            transfer_optional(a, shape.axes, [&](std::array<Vec3, 3>& axes) { transfer_axes(a, axes); });
        });
        transfer_optional(a, j.hard_range, [&](std::array<float, 2>& range) {
            for (float& end : range) a.value(end);
        });
        transfer_optional(a, j.hardness, [&](float& hardness) { a.value(hardness); });
        transfer_optional(a, j.ring_normal, [&](Vec3& normal) { transfer_place(a, normal); });
        transfer_optional(a, j.connected, [&](std::vector<std::string>& names) {
            a.list(names, [&](std::string& name) { a.text(name); });
        });
    });
    a.list(s.skins, [&](std::vector<std::uint32_t>& skin) { a.joints(skin); });
}

void transfer_report(auto& a, BindReport& r) {
    MeshDefects& d = r.defects;
    for (std::size_t* n : {&d.parts,
                           &d.open_parts,
                           &d.flipped_parts,
                           &d.flipped_triangles,
                           &d.boundary_edges,
                           &d.holes,
                           &d.nonmanifold_edges,
                           &d.duplicate_triangles,
                           &d.degenerate_triangles,
                           &d.unused_vertices,
                           &d.welded_vertices,
                           &r.boundary_voxels,
                           &r.interior_voxels,
                           &r.exterior_voxels,
                           &r.ambiguous_voxels,
                           &r.ambiguous_inside,
                           &r.bone_voxels,
                           &r.leaves,
                           &r.links,
                           &r.components,
                           &r.bridged_components})
        a.count(*n);
    a.joints(r.snapped_joints);
    a.value(r.reused);
    a.value(r.farthest_outside);
    a.list(r.warnings, [&](std::string& warning) { a.text(warning); });
}

template <typename Archive>
void transfer_domain(Archive& a, Domain& d) {
    GridTransform& g = d.transform;
    a.value(g.resolution);
    for (double& c : g.origin) a.value(c);
    a.value(g.voxel);
    a.value(g.unit);
    // A leaf is one word: x, y, z, level, boundary.
    std::vector<std::uint64_t> words;
    if constexpr (!Archive::reads)
        for (const Domain::Leaf& l : d.leaves)
            words.push_back(l.x | std::uint64_t{l.y} << 16 | std::uint64_t{l.z} << 32 |
                            std::uint64_t{l.level} << 48 | std::uint64_t{l.boundary} << 56);
    a.values(words);
    if constexpr (Archive::reads)
        for (const std::uint64_t w : words) {
            if (w >> 57) a.fail("a leaf is neither of the boundary nor not");
            d.leaves.push_back({static_cast<std::uint16_t>(w), static_cast<std::uint16_t>(w >> 16),
                                static_cast<std::uint16_t>(w >> 32), static_cast<std::uint8_t>(w >> 48),
                                (w >> 56) != 0});
        }
    a.values(d.component);
    a.value(d.component_count);
}

// Joints and distances apart, leaf by leaf. Without joints the distances are those to every joint of the set.
template <typename Archive>
void transfer_distances(Archive& a, KeptField& kept) {
    std::size_t width = 0;
    std::vector<std::uint32_t> joint, distance;
    if constexpr (!Archive::reads) {
        if (const auto* every = std::get_if<EveryDistance>(&kept.field)) {
            width = every->width;
            distance = every->distance;
        } else {
            const auto& nearest = std::get<LeafDistances>(kept.field);
            width = nearest.width;
            joint.reserve(nearest.leaves * width);
            distance.reserve(nearest.leaves * width);
            for (std::size_t leaf = 0; leaf < nearest.leaves; ++leaf)
                for (std::size_t k = 0; k < width; ++k) {
                    joint.push_back(nearest.joint(leaf, k));
                    distance.push_back(nearest.distance(leaf, k));
                }
        }
    }
    a.count(width);
    a.joints(joint);
    a.values(distance);
    if constexpr (Archive::reads) {
        if (joint.empty()) {
            kept.field = EveryDistance{width, std::move(distance)};
            return;
        }
        if (width == 0 || joint.size() != distance.size() || joint.size() % width != 0)
            return a.fail("a field is not leaves × nearest joints long");
        for (std::size_t i = 0; i < joint.size(); ++i)
            if (joint[i] == no_index && distance[i] != LeafDistances::unreached)
                return a.fail("a leaf has a distance without a joint");
        const std::shared_ptr<Label[]> labels(new Label[joint.size()]);
        for (std::size_t i = 0; i < joint.size(); ++i)
            labels[i] =
                joint[i] == no_index ? kNoLabel : make_label(distance[i], static_cast<std::uint16_t>(joint[i]), 0);
        kept.field = LeafDistances{joint.size() / width, width, width, false,
                                   std::shared_ptr<const Label>(labels, labels.get())};
    }
}

template <typename Archive>
void transfer_field(Archive& a, KeptField& kept) {
    a.joints(kept.joints);
    a.flags(kept.seeded);
    bool strengths = std::holds_alternative<LeafStrengths>(kept.field);
    a.flag(strengths);
    if (Archive::reads && strengths) kept.field = LeafStrengths{};
    if (strengths) {
        auto& field = std::get<LeafStrengths>(kept.field);
        a.count(field.width);
        a.values(field.strength);
    } else {
        transfer_distances(a, kept);
    }
}

bool is_length(double x) { return x >= 0 && x <= kLargestCoordinate; }  // NaN fails
bool is_place(const Vec3& p) {
    return is_length(std::abs(p.x)) && is_length(std::abs(p.y)) && is_length(std::abs(p.z));
}

bool has_place(const Bone& b) {
    if (!is_place(b.head) || !is_place(b.tail) || !is_length(b.radius)) return false;
    if (!b.box) return true;
    const Vec3& half = b.box->half;
    if (!is_length(half.x) || !is_length(half.y) || !is_length(half.z)) return false;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t k = i; k < 3; ++k) {
            const Point3 u = to_point(b.box->axes[i]), v = to_point(b.box->axes[k]);
            if (!(std::abs(u[0] * v[0] + u[1] * v[1] + u[2] * v[2] - (i == k)) < 1e-3)) return false;
        }
    return true;
}

// Checks of everything that readers rely on.

Status check_rows(const std::vector<std::uint32_t>& joint, const std::vector<float>& value, std::size_t vertices,
                  std::size_t width, std::size_t joints, FieldKind kind) {
    if (width < 1 || width > joints || joint.size() != vertices * width || value.size() != joint.size())
        return broken("the table is not vertices × width long");
    const bool distances = kind == FieldKind::distance;
    std::vector<std::size_t> last_seen(joints, vertices);  // per joint: the vertex
    for (std::size_t at = 0; at < joint.size(); ++at) {
        const auto place = [&] { return "vertex " + std::to_string(at / width) + " "; };
        const float x = value[at];
        if (joint[at] == no_index) {
            if (!(distances ? x == INFINITY : x == 0)) return broken(place() + "has a value without a joint");
            continue;
        }
        if (joint[at] >= joints)
            return broken(place() + "has joint " + std::to_string(joint[at]) + " of " + std::to_string(joints));
        if (!(x >= 0 && x < INFINITY)) return broken(place() + "has a value that is negative or not finite");
        if (last_seen[joint[at]] == at / width) return broken(place() + "has a joint twice");
        last_seen[joint[at]] = at / width;
        if (at % width == 0) continue;
        const float before = value[at - 1];
        if (joint[at - 1] == no_index || (distances ? x < before : x > before))
            return broken(place() + "has a row that is not sorted");
    }
    return Done{};
}

Status check_field(const KeptField& kept, const Domain& domain, std::size_t joints, FieldKind kind) {
    const std::size_t leaves = domain.leaves.size(), members = kept.joints.size();
    std::vector<bool> member(joints, false);
    for (std::size_t k = 0; k < members; ++k) {
        if (kept.joints[k] >= joints || (k > 0 && kept.joints[k] <= kept.joints[k - 1]))
            return broken("the joints of a field are not ascending joints of the skeleton");
        member[kept.joints[k]] = true;
    }
    if (kept.seeded.size() != domain.component_count)
        return broken("a field does not say which components have seeds");
    const auto is_long = [&](std::size_t size, std::size_t width) { return size == leaves * width; };
    if (const auto* field = std::get_if<LeafStrengths>(&kept.field)) {
        if (kind != FieldKind::strength) return broken("the method measures distances, and a field has strengths");
        if (field->width != members || !is_long(field->strength.size(), members))
            return broken("a field is not leaves × joints long");
        for (const float h : field->strength)
            if (!std::isfinite(h)) return broken("a field has a strength that is not finite");
        return Done{};
    }
    if (kind != FieldKind::distance) return broken("the method measures strengths, and a field has distances");
    if (const auto* every = std::get_if<EveryDistance>(&kept.field))
        return leaves == 0 || (every->width == members && is_long(every->distance.size(), members))
                   ? Status(Done{})
                   : broken("a field is not leaves × joints long");
    const auto& field = std::get<LeafDistances>(kept.field);
    if (field.width > std::size_t{GeodesicSolver::kMaxNearest} || field.leaves != leaves)
        return broken("a field is not leaves × nearest joints long");
    std::vector<std::size_t> last_seen(joints, leaves);  // leaf
    for (std::size_t leaf = 0; leaf < leaves; ++leaf)
        for (std::size_t k = 0; k < field.width; ++k) {
            const std::uint32_t j = field.joint(leaf, k);
            if (j == no_index) continue;
            if (j >= joints || !member[j]) return broken("a field has a joint that is not of its set");
            if (k > 0 && field.joint(leaf, k - 1) == no_index)
                return broken("a leaf has a joint behind the end of its row");
            if (std::exchange(last_seen[j], leaf) == leaf) return broken("a leaf has a joint twice");
        }
    return Done{};
}

Status check_volume(KeptVolume& volume, std::size_t joints, FieldKind kind) {
    Domain& domain = volume.domain;
    const GridTransform& g = domain.transform;
    VoxelizeOptions voxels;
    voxels.resolution = g.resolution;
    if (Status ok = check(voxels); !ok) return broken("the volume: " + ok.error().message);
    bool finite = g.voxel > 0 && is_length(g.voxel) && g.unit > 0 && is_length(g.unit / 4);
    for (const double c : g.origin) finite = finite && std::abs(c) < 2 * double{kLargestCoordinate};
    if (!finite) return broken("the volume has no place in the scene");
    if (!index_leaves(domain)) return broken("the leaves of the volume are not those of an octree");
    if (domain.component.size() != domain.leaves.size() || domain.component_count > domain.leaves.size())
        return broken("the components of the volume are not those of its leaves");
    for (const std::uint32_t c : domain.component)
        if (c >= domain.component_count) return broken("a leaf belongs to a component that there is not");
    for (const KeptField& kept : volume.fields) SINEW_TRY(check_field(kept, domain, joints, kind));
    return Done{};
}

void transfer_bone(auto& a, Bone& b) {
    a.value(b.joint);
    transfer_place(a, b.head);
    transfer_place(a, b.tail);
    a.flag(b.open_head);
    a.flag(b.open_tail);
    a.value(b.radius);
    transfer_optional(a, b.box, [&](Bone::Box& box) {
        transfer_place(a, box.half);
        transfer_axes(a, box.axes);
    });
}

// All sections. `volume` is written or filled if `has_volume`, which is written or read.
void transfer_state(auto& a, BindingState& s, bool& has_volume, KeptVolume& volume) {
    a.section("skel", [&] { transfer_skeleton(a, s.skeleton); });
    a.section("opts", [&] {
        transfer_options(a, s.options);
        a.flag(s.map_is_hardness);
    });
    a.section("bone", [&] { a.list(s.bones, [&](Bone& b) { transfer_bone(a, b); }); });
    a.section("mesh", [&] {
        a.value(s.mesh_hash);
        a.values(s.coverage);
    });
    a.section("rprt", [&] { transfer_report(a, s.report); });
    a.section("dist", [&] {
        a.count(s.distances.width);
        a.value(s.distances.unit);
        a.joints(s.distances.joint);
        a.values(s.distances.distance);
    });
    a.section("infl", [&] {
        a.count(s.influences.width);
        a.joints(s.influences.joint);
        a.values(s.influences.strength);
    });
    a.section("volu", [&] {
        a.flag(has_volume);
        if (!has_volume) return;
        transfer_domain(a, volume.domain);
        a.list(volume.fields, [&](KeptField& field) { transfer_field(a, field); });
    });
}

Status check_joints(const Skeleton& skeleton) {
    for (const Joint& j : skeleton.joints) {
        if (to_string(j.reason) == "unknown")
            return broken("joint '" + printable(j.name) + "' has no known reason");
        if (!std::all_of(j.axes.begin(), j.axes.end(), is_place))
            return broken("joint '" + printable(j.name) + "' has axes that are not finite");
        if (j.shape && j.shape->kind > JointShape::Kind::box)
            return broken("joint '" + printable(j.name) + "' has no known shape");
    }
    return Done{};
}

// Also sets the numbers of vertices, which are not in the file.
Status check_tables(BindingState& s, FieldKind kind) {
    const std::size_t joints = s.skeleton.joints.size(), vertices = s.coverage.size();
    DistanceTable& d = s.distances;
    InfluenceTable& i = s.influences;
    const bool by_distance = kind == FieldKind::distance;
    if (by_distance ? i.width > 0 || !i.joint.empty() || !i.strength.empty()
                    : d.width > 0 || !d.joint.empty() || !d.distance.empty())
        return broken("there is a table that the method does not fill");
    d.vertices = by_distance ? vertices : 0;
    i.vertices = by_distance ? 0 : vertices;
    if (!(d.unit > 0 && d.unit < INFINITY)) return broken("the unit of distances is not above 0");
    return by_distance ? check_rows(d.joint, d.distance, vertices, d.width, joints, kind)
                       : check_rows(i.joint, i.strength, vertices, i.width, joints, kind);
}

// Everything but the volume. Also counts the coverage, which is not in the file.
Status check_state(BindingState& s) {
    if (Status ok = check_skeleton(s.skeleton); !ok) return broken(ok.error().message);
    if (Status ok = check(s.options); !ok) return broken(ok.error().message);
    SINEW_TRY(check_joints(s.skeleton));
    const std::size_t joints = s.skeleton.joints.size();
    for (const Bone& b : s.bones)
        if (b.joint >= joints || !has_place(b)) return broken("a bone has no joint or no place");
    BindReport& report = s.report;
    for (const std::uint32_t j : report.snapped_joints)
        if (j >= joints) return broken("a snapped joint is not of the skeleton");
    if (to_string(report.reused).empty() || !std::isfinite(report.farthest_outside))
        return broken("the report is not one");
    report.coverage = {};
    for (const Coverage how : s.coverage) {
        if (to_string(how).empty()) return broken("a vertex was bound in no known way");
        ++report.coverage[static_cast<std::size_t>(how)];
    }
    return check_tables(s, row_of(s.options.method).info.field);
}

}  // namespace

std::vector<std::byte> Binding::to_bytes() const {
    Writer writer;
    for (int k = 0; k < 8; ++k) writer.bytes.push_back(static_cast<std::byte>(kMagic[k]));
    std::uint32_t version = kVersion;
    writer.value(version);
    // A writer changes nothing; transfer_state is shared with the reader, which does.
    auto& state = const_cast<BindingState&>(*state_);
    bool has_volume = state.volume != nullptr;
    KeptVolume no_volume;
    transfer_state(writer, state, has_volume, has_volume ? const_cast<KeptVolume&>(*state.volume) : no_volume);
    std::uint64_t checksum = hash_bytes(writer.bytes);
    writer.value(checksum);
    return std::move(writer.bytes);
}

Result<Binding> Binding::from_bytes(std::span<const std::byte> bytes) {
    constexpr std::size_t head = 8 + 4, tail = 8;
    if (bytes.size() < head + tail || std::memcmp(bytes.data(), kMagic, 8) != 0)
        return broken("this is not a binding (`sinew bind save-binding` writes one)");
    std::uint32_t version = 0;
    std::memcpy(&version, bytes.data() + 8, 4);
    if (version != kVersion)
        return broken("version " + std::to_string(version) + " is not known to this program, which reads version " +
                      std::to_string(kVersion) + ": bind again");
    std::uint64_t checksum = 0;
    std::memcpy(&checksum, bytes.data() + bytes.size() - tail, tail);
    if (hash_bytes(bytes.first(bytes.size() - tail)) != checksum)
        return broken("the checksum does not fit: the file is damaged or incomplete");
    Reader reader(bytes.subspan(head, bytes.size() - head - tail));
    const auto state = std::make_shared<BindingState>();
    bool has_volume = false;
    KeptVolume volume;
    transfer_state(reader, *state, has_volume, volume);
    if (reader.failed()) return *reader.failed();
    if (!reader.at_end()) return broken("there are bytes behind the last section");
    SINEW_TRY(check_state(*state));
    if (has_volume) {
        const FieldKind kind = row_of(state->options.method).volume_field;
        SINEW_TRY(check_volume(volume, state->skeleton.joints.size(), kind));
        state->volume = std::make_shared<const KeptVolume>(std::move(volume));
    }
    return Binding(state);
}

}  // namespace sinew
