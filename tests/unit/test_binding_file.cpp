// Bindings as bytes: a binding round-trips, and all other bytes are refused or harmless.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "characters/characters.h"
#include "characters/shapes.h"
#include "core/hash.h"
#include "field/geodesic.h"
#include "sinew/bind.h"
#include "unit/support.h"

namespace sinew::test_binding_file {
namespace {

using test::bound;
using test::Character;
using test::keeping;
using Bytes = std::vector<std::byte>;

Binding read(const Bytes& bytes) {
    Result<Binding> b = Binding::from_bytes(bytes);
    EXPECT_TRUE(b) << (b ? "" : b.error().message);
    return b ? std::move(*b) : Binding{};
}

std::string refusal(const Bytes& bytes) {
    Result<Binding> b = Binding::from_bytes(bytes);
    if (b) return "accepted";
    EXPECT_EQ(b.error().code, ErrorCode::input) << b.error().message;
    EXPECT_TRUE(b.error().message.starts_with("binding: ")) << b.error().message;
    return b.error().message;
}

/// The bytes with a valid checksum, as a hostile writer would make them.
Bytes sealed(Bytes bytes) {
    const std::uint64_t sum = hash_bytes(std::span(bytes).first(bytes.size() - 8));
    std::memcpy(bytes.data() + bytes.size() - 8, &sum, 8);
    return bytes;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The bar moved a little: another mesh in the volume of the bound one.
Character nudged() {
    Character c = test::bar();
    for (Vec3& p : c.positions) p.y += 0.001f;
    return c;
}

/// An accepted binding must work, or fail with a reason other than an internal error.
void expect_harmless(const Binding& b) {
    if (const auto w = b.weights(); !w) {
        EXPECT_NE(w.error().code, ErrorCode::internal) << w.error().message;
    }
    const Character c = nudged();
    for (const Skeleton& skeleton : {c.skeleton, b.skeleton()})
        if (const auto again = b.rebind(c.mesh(), skeleton); !again) {
            EXPECT_NE(again.error().code, ErrorCode::internal) << again.error().message;
        }
}

TEST(BindingFile, RoundTrip) {
    Character c = test::bar();
    c.skeleton.joints[1].reason = DeformReason::included;
    c.skeleton.skins = {{0, 1}, {1}};
    BindOptions maps = keeping(64);
    maps.falloff.map.of_joint = {0.5f, NAN};
    maps.falloff.map.of_vertex.assign(c.positions.size(), NAN);
    maps.falloff.map.of_vertex[3] = 0.25f;
    maps.falloff.map.share_of_vertex.assign(c.positions.size(), 0.5f);
    maps.falloff.map.hardness_of_joint = {NAN, 0.75f};
    BindOptions closest = preset(Method::closest_distance);
    for (const BindOptions& options : {keeping(64), keeping(32, all_influences), maps, closest}) {
        const Binding b = bound(c, options);
        const Bytes bytes = b.to_bytes();
        const Binding back = read(bytes);
        EXPECT_EQ(back.to_bytes(), bytes);
        EXPECT_EQ(back.distances().joint, b.distances().joint);
        EXPECT_EQ(back.distances().distance, b.distances().distance);
        EXPECT_EQ(back.distances().unit, b.distances().unit);
        EXPECT_EQ(back.coverage(), b.coverage());
        EXPECT_EQ(back.report().coverage, b.report().coverage);
        EXPECT_EQ(back.report().leaves, b.report().leaves);
        EXPECT_EQ(back.report().warnings, b.report().warnings);
        EXPECT_EQ(back.options().method, options.method);
        EXPECT_EQ(back.options().voxels.resolution, options.voxels.resolution);
        EXPECT_EQ(back.options().falloff.map.share_of_vertex, options.falloff.map.share_of_vertex);
        EXPECT_EQ(back.options().falloff.map.hardness_of_joint.size(),
                  options.falloff.map.hardness_of_joint.size());
        EXPECT_EQ(back.skeleton().joints[1].name, "bar_b");
        EXPECT_EQ(back.skeleton().joints[1].reason, DeformReason::included);
        EXPECT_EQ(back.skeleton().skins, c.skeleton.skins);
        EXPECT_EQ(back.keeps_volume(), options.method == Method::geodesic_voxel);
        EXPECT_TRUE(back.is_of(c.mesh(), c.skeleton));
        const auto before = b.weights(), after = back.weights();
        ASSERT_TRUE(before && after);
        EXPECT_EQ(*before, *after);
        if (!back.keeps_volume()) continue;
        const Character other = nudged();
        Skeleton skeleton = other.skeleton;
        const auto first = b.rebind(other.mesh(), skeleton), second = back.rebind(other.mesh(), skeleton);
        ASSERT_TRUE(first && second) << first.error().message;
        EXPECT_EQ(first->to_bytes(), second->to_bytes());
    }
}

TEST(BindingFile, ShapesOfBonesAreKept) {
    Character c = test::bar();
    JointShape& capsule = c.skeleton.joints[0].shape.emplace();
    capsule.kind = JointShape::Kind::capsule;
    capsule.radius = 0.05f;
    JointShape& box = c.skeleton.joints[1].shape.emplace();
    box.kind = JointShape::Kind::box;
    box.half = {0.1f, 0.05f, 0.04f};
    const Binding b = bound(c, keeping(64)), back = read(b.to_bytes());
    ASSERT_EQ(back.bones().size(), b.bones().size());
    EXPECT_EQ(back.bones()[0].radius, 0.05f);
    ASSERT_TRUE(back.bones().back().box);
    EXPECT_EQ(back.bones().back().box->half, (Vec3{0.1f, 0.05f, 0.04f}));
    const Character other = nudged();
    const auto first = b.rebind(other.mesh(), other.skeleton), second = back.rebind(other.mesh(), other.skeleton);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->to_bytes(), second->to_bytes());
}

TEST(BindingFile, JointsRoundTrip) {
    Character c = test::bar();
    Joint& j = c.skeleton.joints[1];
    j.tail = Vec3{1, 2, 3};
    j.stated_links = true;
    j.axes = {Vec3{0, 1, 0}, Vec3{0, 0, 1}, Vec3{1, 0, 0}};
    JointShape& box = j.shape.emplace();
    box.kind = JointShape::Kind::box;
    box.half = {0.1f, 0.05f, 0.04f};
    box.radius = 0.25f;
    box.axes = {Vec3{0, 0, 1}, Vec3{1, 0, 0}, Vec3{0, 1, 0}};
    j.hard_range = std::array{0.25f, 0.5f};
    j.hardness = 0.75f;
    j.ring_normal = Vec3{0, 0.6f, 0.8f};
    j.connected = std::vector<std::string>{"bar_*", "bar_a"};
    const Binding back = read(bound(c, keeping(32)).to_bytes());
    const Joint &plain = back.skeleton().joints[0], &k = back.skeleton().joints[1];
    EXPECT_FALSE(plain.tail || plain.shape || plain.hard_range || plain.hardness || plain.ring_normal ||
                 plain.connected);
    EXPECT_EQ(k.tail, j.tail);
    EXPECT_TRUE(k.stated_links && !plain.stated_links);
    EXPECT_EQ(k.axes, j.axes);
    ASSERT_TRUE(k.shape);
    EXPECT_EQ(k.shape->kind, box.kind);
    EXPECT_EQ(k.shape->half, box.half);
    EXPECT_EQ(k.shape->axes, box.axes);
    EXPECT_EQ(k.hard_range, j.hard_range);
    EXPECT_EQ(k.hardness, j.hardness);
    EXPECT_EQ(k.ring_normal, j.ring_normal);
    EXPECT_EQ(k.connected, j.connected);
    const Bytes whole = back.to_bytes();
    const auto with = [&](const void* bytes, std::size_t size, std::size_t on, auto value) {
        const auto* first = static_cast<const std::byte*>(bytes);
        Bytes other = whole;
        const auto at = std::search(other.begin(), other.end(), first, first + size);
        EXPECT_TRUE(at != other.end());
        std::memcpy(&*at + on, &value, sizeof value);
        return refusal(sealed(other));
    };
    EXPECT_TRUE(contains(with(&j.axes, sizeof j.axes, 0, std::nanf("")), "axes that are not finite"));
    EXPECT_TRUE(contains(with(&j.axes, sizeof j.axes, 37, std::uint8_t{3}), "no known shape"));
    EXPECT_TRUE(contains(with(&*j.tail, sizeof *j.tail, 0, INFINITY), "a tail that is not finite"));
    EXPECT_TRUE(contains(with(&*j.ring_normal, sizeof *j.ring_normal, 0, 1.0f), "normal is not a unit vector"));
}

TEST(BindingFile, ThreadsChangeNoByte) {
    const Character c = test::l_corner();
    Context one, three;
    one.threads = 1;
    three.threads = 3;
    const auto a = bind(c.mesh(), c.skeleton, keeping(64), &one),
               b = bind(c.mesh(), c.skeleton, keeping(64), &three);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->to_bytes(), b->to_bytes());
}

TEST(BindingFile, InvalidFilesAreRefusedWithAReason) {
    const Bytes whole = bound(test::bar(), keeping(32)).to_bytes();
    EXPECT_TRUE(contains(refusal({}), "not a binding"));
    EXPECT_TRUE(contains(refusal(Bytes(100)), "not a binding"));
    Bytes other = whole;
    other[8] = std::byte{9};
    EXPECT_TRUE(contains(refusal(other), "version 9"));
    other = whole;
    other.push_back(std::byte{0});
    EXPECT_TRUE(contains(refusal(other), "checksum"));
    EXPECT_TRUE(contains(refusal(sealed([&] {
                             Bytes longer = whole;
                             longer.insert(longer.end() - 8, 5, std::byte{0});
                             return longer;
                         }())),
                         "behind the last section"));
}

TEST(BindingFile, TruncatedFilesAreRefused) {
    const Bytes whole = bound(test::bar(), keeping(32)).to_bytes();
    for (std::size_t size = 0; size < whole.size(); size += 1 + size / 40) {
        Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_NE(refusal(part), "accepted") << size;
        if (size >= 20) {
            EXPECT_NE(refusal(sealed(part)), "accepted") << size;
        }
    }
}

TEST(BindingFile, ChangedBytesAreDetectedOrHarmless) {
    const Bytes whole = bound(test::bar(), keeping(32)).to_bytes();
    std::mt19937 random(7);
    std::size_t refused = 0, tried = 0;
    for (std::size_t at = 12; at + 8 < whole.size(); at += at < 1500 ? 1 : 1 + random() % 97) {
        Bytes other = whole;
        other[at] ^= static_cast<std::byte>(1 + random() % 255);
        EXPECT_TRUE(contains(refusal(other), "checksum"));
        const auto b = Binding::from_bytes(sealed(other));
        ++tried;
        if (!b) {
            ++refused;
            EXPECT_EQ(b.error().code, ErrorCode::input) << b.error().message;
        } else if (tried % 7 == 0) {
            expect_harmless(*b);
        }
    }
    EXPECT_GT(refused, tried / 10);
}

TEST(BindingFile, InvalidDistancesAreRefused) {
    const Character c = test::bar();
    const Binding b = bound(c, keeping(32));
    const Bytes whole = b.to_bytes();
    // Finds the table's column of distances by its first row.
    const auto find = [&](const void* bytes, std::size_t size) {
        const auto* first = static_cast<const std::byte*>(bytes);
        return static_cast<std::size_t>(std::search(whole.begin(), whole.end(), first, first + size) -
                                        whole.begin());
    };
    const std::size_t column = find(b.distances().distance.data(), 4 * b.distances().width);
    ASSERT_LT(column, whole.size());
    const auto with = [&](std::size_t at, auto value) {
        Bytes other = whole;
        std::memcpy(other.data() + at, &value, sizeof value);
        return refusal(sealed(other));
    };
    EXPECT_TRUE(contains(with(column, std::nanf("")), "vertex 0 has a value that is negative or not finite"));
    EXPECT_TRUE(contains(with(column, -1.0f), "vertex 0 has a value that is negative or not finite"));
    EXPECT_TRUE(contains(with(column, 1e9f), "vertex 0 has a row that is not sorted"));
    const std::size_t joints = column - 8 - 2 * b.distances().joint.size();
    EXPECT_TRUE(contains(with(joints, std::uint16_t{777}), "vertex 0 has joint 777 of 2"));
    EXPECT_TRUE(contains(with(joints, std::uint16_t{0xffff}), "vertex 0 has a value without a joint"));
    const auto second = static_cast<std::uint16_t>(b.distances().joint[1]);
    EXPECT_TRUE(contains(with(joints, second), "vertex 0 has a joint twice"));
    EXPECT_TRUE(contains(with(joints - 8, ~std::uint64_t{0}), "does not fit"));
    // The field is the last section: joints, then distances, for two joints at every leaf.
    const std::size_t slots = 2 * b.report().leaves, end = whole.size() - 8;
    EXPECT_TRUE(
        contains(with(end - 4 * slots - 8 - 2, std::uint16_t{0xffff}), "a leaf has a distance without a joint"));
    const std::size_t joint_of_leaf = end - 6 * slots - 8, distance_of_leaf = end - 4 * slots;
    std::uint16_t first_joint = 0;
    std::memcpy(&first_joint, whole.data() + joint_of_leaf, sizeof first_joint);
    EXPECT_TRUE(contains(with(joint_of_leaf + 2, first_joint), "a leaf has a joint twice"));
    Bytes gap = whole;
    const std::uint16_t no_joint = 0xffff;
    const std::uint32_t no_distance = LeafDistances::unreached;
    std::memcpy(gap.data() + joint_of_leaf, &no_joint, sizeof no_joint);
    std::memcpy(gap.data() + distance_of_leaf, &no_distance, sizeof no_distance);
    EXPECT_TRUE(contains(refusal(sealed(gap)), "a leaf has a joint behind the end of its row"));
    const std::size_t name = find("bar_b", 5);
    EXPECT_EQ(with(name, std::uint16_t{0x4141}), "accepted");
    EXPECT_TRUE(contains(with(name + 5, 77), "binding: "));  // its parent
    const std::size_t volume = find("volu", 4) + 12;
    EXPECT_TRUE(contains(with(volume, std::uint8_t{2}), "a flag is neither"));
    EXPECT_TRUE(contains(with(volume + 1, 48), "the volume: `resolution"));
    EXPECT_TRUE(contains(with(volume + 1, 64), "accepted") || contains(with(volume + 1, 64), "leaves"));
    EXPECT_TRUE(contains(with(volume + 29, 0.0), "no place in the scene"));
    EXPECT_TRUE(contains(with(volume + 53, ~std::uint64_t{0} >> 8), "octree"));
    EXPECT_TRUE(contains(with(volume + 53, ~std::uint64_t{0}), "a leaf is neither"));
}

/// The offset of a text in the bytes.
std::size_t place_of(const Bytes& bytes, std::string_view text) {
    const auto* const first = reinterpret_cast<const char*>(bytes.data());
    return std::string_view(first, bytes.size()).find(text);
}

void add_to_u64(Bytes& bytes, std::size_t at, std::int64_t more) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, 8);
    value += static_cast<std::uint64_t>(more);
    std::memcpy(bytes.data() + at, &value, 8);
}

TEST(BindingFile, OptionsAreKeptByName) {
    const Character c = test::bar();
    BindOptions options = keeping(32);
    options.keep_volume = false;
    options.overshoot = 0.25f;
    options.falloff.map.hardness_of_joint = {0.5f, NAN};
    const auto bound = bind(c.mesh(), c.skeleton, options);
    ASSERT_TRUE(bound);
    const Bytes whole = bound->to_bytes();
    const Binding same = read(whole);
    for (const BindSetting& s : bind_settings())
        EXPECT_EQ(option_text(same.options(), s.name), option_text(bound->options(), s.name)) << s.name;
    EXPECT_EQ(same.options().falloff.map.hardness_of_joint.size(), 2u);

    // An option that this program does not know.
    Bytes other = whole;
    const std::size_t name = place_of(other, "overshoot");
    ASSERT_NE(name, std::string::npos);
    other[name] = std::byte{'x'};
    EXPECT_TRUE(contains(refusal(sealed(other)), "there is no option 'xvershoot'"));

    // A file written before this option existed: the option has the value of the method's preset.
    Bytes older = whole;
    const std::size_t begin = name - 8, end = name + 9 + 8 + 4;  // two texts, each after its length
    ASSERT_EQ(std::memcmp(older.data() + end - 4, "0.25", 4), 0);
    older.erase(older.begin() + static_cast<std::ptrdiff_t>(begin),
                older.begin() + static_cast<std::ptrdiff_t>(end));
    const std::size_t section = place_of(older, "opts") + 4;
    add_to_u64(older, section, -static_cast<std::int64_t>(end - begin));
    add_to_u64(older, section + 8, -1);  // options in the list
    EXPECT_EQ(read(sealed(older)).options().overshoot, preset(Method::geodesic_voxel).overshoot);

    // An option that is listed twice is ambiguous.
    Bytes twice = whole;
    std::memcpy(twice.data() + place_of(twice, "lambda-min"), "lambda-max", 10);
    EXPECT_TRUE(contains(refusal(sealed(twice)), "the option 'lambda-max' is stated twice"));
}

}  // namespace
}  // namespace sinew::test_binding_file
