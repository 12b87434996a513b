// The C interface from and to arrays: it gives the bits that the C++ interface gives for the same character.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "characters/characters.h"
#include "sinew.h"
#include "sinew/bind.h"
#include "sinew/transfer.h"
#include "unit/support.h"

namespace sinew::test_arrays {
namespace {

using test::Character;
using test::must;

struct Free {
    void operator()(snw_model* p) const { snw_model_free(p); }
    void operator()(snw_settings* p) const { snw_settings_free(p); }
    void operator()(snw_binding* p) const { snw_binding_free(p); }
    void operator()(snw_weights* p) const { snw_weights_free(p); }
    void operator()(snw_bytes* p) const { snw_bytes_free(p); }
    void operator()(snw_context* p) const { snw_context_free(p); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

/// The result of a call that must succeed: made([&](snw_model** out) { return snw_…(…, out); }).
template <typename T, typename Call>
Owned<T> made(Call&& call) {
    T* out = nullptr;
    EXPECT_EQ(call(&out), SNW_OK) << snw_error();
    return Owned<T>(out);
}

Owned<snw_settings> settings(std::initializer_list<std::pair<const char*, const char*>> options = {}) {
    Owned<snw_settings> out = made<snw_settings>([](auto o) { return snw_settings_new(o); });
    for (const auto& [name, value] : options) EXPECT_EQ(snw_settings_set(out.get(), name, value), SNW_OK) << name;
    return out;
}

/// A character as arrays; members can be changed before open().
struct AsArrays {
    explicit AsArrays(const Character& c) {
        mesh.vertex_count = c.positions.size();
        mesh.positions = &c.positions[0].x;
        mesh.face_count = c.triangles.size();
        mesh.corners = c.triangles[0].data();
        for (const Joint& j : c.skeleton.joints) {
            names.push_back(j.name.c_str());
            parents.push_back(j.parent);
            for (const float x : {j.position.x, j.position.y, j.position.z}) heads.push_back(x);
            const Vec3 tail = j.tail.value_or(Vec3{std::numeric_limits<float>::quiet_NaN(), 0, 0});
            for (const float x : {tail.x, tail.y, tail.z}) tails.push_back(x);
        }
        arrays.meshes = &mesh;
        arrays.mesh_count = 1;
        arrays.joint_count = names.size();
        arrays.names = names.data();
        arrays.parents = parents.data();
        arrays.heads = heads.data();
        arrays.tails = tails.data();
    }
    AsArrays(const AsArrays&) = delete;
    Owned<snw_model> open() const {
        return made<snw_model>([&](auto o) { return snw_model_from_arrays(&arrays, o); });
    }
    /// The sentence with which it is refused.
    std::string refusal() const {
        snw_model* out = nullptr;
        EXPECT_NE(snw_model_from_arrays(&arrays, &out), SNW_OK);
        EXPECT_EQ(out, nullptr);
        return snw_error();
    }

    snw_mesh mesh{};
    snw_arrays arrays{};
    std::vector<const char*> names;
    std::vector<std::int32_t> parents;
    std::vector<float> heads, tails;
};

const Character& dog() {
    static const Character c = test::quadruped(0.05);
    return c;
}

struct Csr {
    std::vector<std::uint64_t> offsets;
    std::vector<std::uint32_t> joints;
    std::vector<float> shares;
    friend bool operator==(const Csr&, const Csr&) = default;
};

Csr csr_of(const SkinWeights& w) {
    Csr out{{0}, {}, {}};
    for (std::size_t v = 0; v < w.vertex_count(); ++v) {
        for (const Influence& i : w[v]) out.joints.push_back(i.joint), out.shares.push_back(i.weight);
        out.offsets.push_back(out.joints.size());
    }
    return out;
}

Csr csr_of(const snw_weights* w) {
    std::size_t vertices = 0, entries = 0;
    snw_weights_size(w, &vertices, &entries);
    Csr out;
    out.offsets.resize(vertices + 1);
    out.joints.resize(entries);
    out.shares.resize(entries);
    EXPECT_EQ(snw_weights_csr(w, out.offsets.data(), out.joints.data(), out.shares.data()), SNW_OK);
    return out;
}

Owned<snw_weights> weights_of(const snw_binding* binding, const snw_model* model, const snw_settings* s) {
    return made<snw_weights>(
        [&](auto o) { return snw_weights_of(binding, model, s, nullptr, 0, nullptr, nullptr, o); });
}

/// The same by the C++ interface.
Binding by_cpp(const Character& c, const BindOptions& options) {
    Skeleton skeleton = c.skeleton;
    EXPECT_TRUE(select_deforming(skeleton, {}, {}).ok());
    return must(bind(c.mesh(), skeleton, options));
}

TEST(Arrays, ABindGivesTheBitsOfTheCppInterface) {
    const AsArrays dog_arrays(dog());
    const Owned<snw_model> model = dog_arrays.open();
    for (const char* method : {"surface-heat", "geodesic-voxel", "closest-distance"}) {
        const auto s = settings({{"method", method}});
        const bool voxels = std::string(method) != "closest-distance";
        if (voxels) {
            ASSERT_EQ(snw_settings_set(s.get(), "resolution", "64"), SNW_OK);
        }
        const auto context = made<snw_context>([](auto o) { return snw_context_new(o); });
        EXPECT_EQ(snw_context_fraction(context.get()), 0);
        const auto binding =
            made<snw_binding>([&](auto o) { return snw_bind(model.get(), s.get(), context.get(), o); });
        EXPECT_EQ(snw_context_fraction(context.get()), 1);
        BindOptions options;
        ASSERT_TRUE(set_option(options, "method", method).ok());
        if (voxels) options.voxels.resolution = 64;
        const SkinWeights wanted = must(by_cpp(dog(), options).weights());
        EXPECT_EQ(csr_of(weights_of(binding.get(), model.get(), s.get()).get()), csr_of(wanted)) << method;
    }
}

TEST(Arrays, TheFractionOfACallNeverFalls) {
    const Owned<snw_model> model = AsArrays(dog()).open();
    const auto s = settings({{"resolution", "128"}});
    const auto context = made<snw_context>([](auto o) { return snw_context_new(o); });
    struct Seen {
        snw_context* context;
        std::vector<double> fractions;
    } seen{context.get(), {}};
    snw_context_progress(
        context.get(),
        [](const char*, double, void* user) {
            auto& s2 = *static_cast<Seen*>(user);
            s2.fractions.push_back(snw_context_fraction(s2.context));
        },
        &seen);
    for (const bool progressive : {false, true}) {
        seen.fractions.clear();
        made<snw_binding>([&](auto o) {
            return progressive ? snw_bind_progressive(
                                     model.get(), s.get(), [](const snw_binding*, int, void*) { return 1; },
                                     nullptr, context.get(), o)
                               : snw_bind(model.get(), s.get(), context.get(), o);
        });
        ASSERT_GT(seen.fractions.size(), 6u);
        EXPECT_EQ(seen.fractions.front(), 0);
        EXPECT_TRUE(std::is_sorted(seen.fractions.begin(), seen.fractions.end()));
        EXPECT_GT(seen.fractions.back(), 0.9);
        EXPECT_EQ(snw_context_fraction(context.get()), 1);
    }
}

TEST(Arrays, SeveralMeshesWithTransformsAndPolygonsAreOneModel) {
    // Two quads in their own spaces, the second one twice as large and moved; a concave pentagon beside them.
    const float square[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
    const std::uint32_t quad[] = {0, 1, 2, 3}, four[] = {4};
    const double moved[] = {2, 0, 0, 10, 0, 2, 0, 0, 0, 0, 2, -1};
    const float arrow[] = {0, 0, 0, 2, 0, 0, 0.5f, 0.5f, 0, 0, 2, 0};
    const std::uint32_t concave[] = {0, 1, 2, 3};
    const snw_mesh meshes[] = {{"left", 4, square, 1, four, quad, nullptr},
                               {"right", 4, square, 1, four, quad, moved},
                               {nullptr, 4, arrow, 1, four, concave, nullptr}};
    snw_arrays arrays{};
    arrays.meshes = meshes;
    arrays.mesh_count = 3;
    const auto model = made<snw_model>([&](auto o) { return snw_model_from_arrays(&arrays, o); });
    std::size_t vertices = 0, triangles = 0, joints = 7;
    snw_model_size(model.get(), &vertices, &triangles, &joints);
    EXPECT_EQ(vertices, 12u);
    EXPECT_EQ(triangles, 6u);
    EXPECT_EQ(joints, 0u);
    const float* p = snw_model_positions(model.get()) + 3 * 6;
    EXPECT_EQ((std::array{p[0], p[1], p[2]}), (std::array{12.f, 2.f, -1.f}));
    const std::uint32_t* t = snw_model_triangles(model.get());
    EXPECT_EQ((std::array{t[6], t[7], t[8]}), (std::array{4u, 5u, 6u}));
    // The concave corner belongs to both triangles, which a fan from corner 0 has, too; from corner 1 it would not.
    double area = 0;
    for (std::size_t k = 4; k < 6; ++k) {
        const float *a = arrow + 3 * (t[3 * k] - 8), *b = arrow + 3 * (t[3 * k + 1] - 8),
                    *c = arrow + 3 * (t[3 * k + 2] - 8);
        area += 0.5 * std::abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
    }
    EXPECT_NEAR(area, 1, 1e-6);
}

TEST(Arrays, RestMatricesGivePlacesAndAxes) {
    AsArrays arrays(dog());
    const Owned<snw_model> by_heads = arrays.open();
    // Each joint's matrix: a turn about y by 90 degrees, stretched by 3 along its own x, mirrored for odd joints.
    std::vector<double> rest;
    for (std::size_t j = 0; j < arrays.names.size(); ++j) {
        const double z = j % 2 ? -1 : 1;
        for (const double x : {0., 0., z, double(arrays.heads[3 * j]), 0., 1., 0., double(arrays.heads[3 * j + 1]),
                               -3., 0., 0., double(arrays.heads[3 * j + 2])})
            rest.push_back(x);
    }
    arrays.arrays.rest = rest.data();
    arrays.arrays.heads = nullptr;
    const Owned<snw_model> by_rest = arrays.open();
    const auto s = settings();
    const auto text = made<snw_bytes>([&](auto o) { return snw_model_json(by_rest.get(), s.get(), nullptr, o); });
    const std::string json(reinterpret_cast<const char*>(snw_bytes_data(text.get())), snw_bytes_size(text.get()));
    // x of the joint lies along -z of the space, z of it along x also where the matrix was mirrored.
    EXPECT_NE(json.find("\"axes\":[[0.0,0.0,-1.0],[0.0,1.0,0.0],[1.0,"), std::string::npos) << json.substr(0, 600);
    EXPECT_EQ(json.find("[-1.0,0.0,0.0]],\"deforms\""), std::string::npos);
    // Places are the same: a method that reads no axes gives the same bits.
    const auto closest = settings({{"method", "closest-distance"}});
    const auto bind = [&](const Owned<snw_model>& m) {
        const auto b = made<snw_binding>([&](auto o) { return snw_bind(m.get(), closest.get(), nullptr, o); });
        return csr_of(weights_of(b.get(), m.get(), closest.get()).get());
    };
    EXPECT_EQ(bind(by_rest), bind(by_heads));
}

TEST(Arrays, DeformFlagsAreStrongerThanNames) {
    AsArrays arrays(dog());
    // Two leaves with names of controls: one is to deform all the same.
    std::vector<std::size_t> leaves;
    for (std::size_t j = 0; j < arrays.parents.size(); ++j)
        if (std::find(arrays.parents.begin(), arrays.parents.end(), static_cast<int>(j)) == arrays.parents.end())
            leaves.push_back(j);
    ASSERT_GE(leaves.size(), 3u);
    std::vector<std::uint8_t> deform(arrays.names.size(), 2);
    arrays.names[leaves[0]] = "ik_target";
    arrays.names[leaves[1]] = "ik_pole";
    deform[leaves[0]] = 1;
    deform[leaves[2]] = 0;
    arrays.arrays.deform = deform.data();
    const Owned<snw_model> model = arrays.open();
    const auto s = settings({{"method", "closest-distance"}});
    const auto binding = made<snw_binding>([&](auto o) { return snw_bind(model.get(), s.get(), nullptr, o); });
    std::vector<double> mass(arrays.names.size());
    const Csr rows = csr_of(weights_of(binding.get(), model.get(), s.get()).get());
    for (std::size_t i = 0; i < rows.joints.size(); ++i) mass[rows.joints[i]] += rows.shares[i];
    EXPECT_GT(mass[leaves[0]], 0);
    EXPECT_EQ(mass[leaves[1]], 0);
    EXPECT_EQ(mass[leaves[2]], 0);
}

TEST(Arrays, WeightsComeAndGoAsRows) {
    const std::uint64_t offsets[] = {0, 3, 3, 5};
    const std::uint32_t joints[] = {2, 0, 2, 1, 0};
    const float shares[] = {1, 2, 1, 0.25f, 0.75f};
    const auto w =
        made<snw_weights>([&](auto o) { return snw_weights_from_rows(3, 3, offsets, joints, shares, o); });
    const Csr wanted{{0, 2, 2, 4}, {0, 2, 0, 1}, {0.5f, 0.5f, 0.75f, 0.25f}};
    EXPECT_EQ(csr_of(w.get()), wanted);
    std::vector<float> dense(9, -1);
    EXPECT_EQ(snw_weights_dense(w.get(), 3, dense.data()), SNW_OK);
    EXPECT_EQ(dense, (std::vector<float>{0.5f, 0, 0.5f, 0, 0, 0, 0.75f, 0.25f, 0}));
    EXPECT_EQ(snw_weights_dense(w.get(), 2, dense.data()), SNW_USAGE);
    EXPECT_NE(std::string(snw_error()).find("vertex 0 has weight on joint 2"), std::string::npos) << snw_error();
    snw_weights* none = nullptr;
    EXPECT_EQ(snw_weights_from_rows(3, 2, offsets, joints, shares, &none), SNW_INPUT);
    EXPECT_NE(std::string(snw_error()).find("vertex 0 has weight on joint 2, but there are 2"), std::string::npos);
    const std::uint64_t falling[] = {0, 3, 2, 5};
    EXPECT_EQ(snw_weights_from_rows(3, 3, falling, joints, shares, &none), SNW_INPUT);
    EXPECT_NE(std::string(snw_error()).find("vertex 1"), std::string::npos) << snw_error();

    // A limit of one joint, and locks: vertex 2 whole, joint 1 everywhere.
    const auto one = settings({{"max-influences", "1"}, {"limit-rule", "cut"}});
    const auto limited =
        made<snw_weights>([&](auto o) { return snw_weights_limit(w.get(), one.get(), nullptr, o); });
    EXPECT_EQ(csr_of(limited.get()), (Csr{{0, 1, 1, 2}, {0, 0}, {1, 1}}));
    const std::uint8_t vertices[] = {0, 0, 1}, locked[] = {0, 0, 1};
    const auto kept = made<snw_weights>(
        [&](auto o) { return snw_weights_keep(limited.get(), w.get(), vertices, locked, 3, 0, nullptr, o); });
    EXPECT_EQ(csr_of(kept.get()), (Csr{{0, 2, 2, 4}, {0, 2, 0, 1}, {0.5f, 0.5f, 0.75f, 0.25f}}));
}

TEST(Arrays, OwnWeightsSelectJointsAndCanBeLocked) {
    AsArrays arrays(dog());
    const Owned<snw_model> plain = arrays.open();
    const auto s = settings({{"method", "closest-distance"}});
    const auto all = made<snw_binding>([&](auto o) { return snw_bind(plain.get(), s.get(), nullptr, o); });
    const auto first = weights_of(all.get(), plain.get(), s.get());
    const Csr rows = csr_of(first.get());
    arrays.arrays.weight_offsets = rows.offsets.data();
    arrays.arrays.weight_joints = rows.joints.data();
    arrays.arrays.weight_shares = rows.shares.data();
    const Owned<snw_model> model = arrays.open();
    const auto own = made<snw_weights>([&](auto o) { return snw_model_weights(model.get(), o); });
    EXPECT_EQ(csr_of(own.get()), rows);
    const auto soft = settings({{"method", "closest-distance"}, {"falloff", "0"}});
    const auto binding = made<snw_binding>([&](auto o) { return snw_bind(model.get(), soft.get(), nullptr, o); });
    const auto fresh = weights_of(binding.get(), model.get(), soft.get());
    // Only the first half gets new weights.
    const std::size_t count = dog().positions.size();
    std::vector<std::uint8_t> keep(count, 0);
    std::fill(keep.begin() + static_cast<std::ptrdiff_t>(count / 2), keep.end(), 1);
    const auto mixed = made<snw_weights>(
        [&](auto o) { return snw_weights_keep(fresh.get(), own.get(), keep.data(), nullptr, 0, 0, nullptr, o); });
    std::vector<float> to_own(count), to_fresh(count);
    ASSERT_EQ(snw_weights_difference(mixed.get(), own.get(), to_own.data()), SNW_OK);
    ASSERT_EQ(snw_weights_difference(mixed.get(), fresh.get(), to_fresh.data()), SNW_OK);
    float most = 0;
    for (std::size_t v = 0; v < count; ++v) {
        EXPECT_EQ(v < count / 2 ? to_fresh[v] : to_own[v], 0) << v;
        most = std::max(most, to_own[v]);
    }
    EXPECT_GT(most, 0);
    // The same by an edit: joint 0 takes all.
    const char edits[] = R"({"edits":[{"op":"set","value":1,"joint":")";
    const std::string list = edits + std::string(arrays.names[0]) + "\"}]}";
    const auto edited = made<snw_weights>([&](auto o) {
        return snw_weights_edit(model.get(), own.get(), list.data(), list.size(), nullptr, nullptr, o);
    });
    std::vector<float> share(count);
    ASSERT_EQ(snw_weights_joint(edited.get(), 0, share.data()), SNW_OK);
    EXPECT_EQ(*std::min_element(share.begin(), share.end()), 1);
}

TEST(Arrays, KeptBindingsServeOtherMeshesAndMovedJoints) {
    AsArrays arrays(dog());
    const Owned<snw_model> model = arrays.open();
    const auto s = settings({{"method", "geodesic-voxel"}, {"resolution", "64"}, {"keep-volume", "on"}});
    const auto binding = made<snw_binding>([&](auto o) { return snw_bind(model.get(), s.get(), nullptr, o); });
    const Csr wanted = csr_of(weights_of(binding.get(), model.get(), s.get()).get());
    const auto file = made<snw_bytes>([&](auto o) { return snw_binding_save(binding.get(), o); });
    const auto read = made<snw_binding>(
        [&](auto o) { return snw_binding_open(snw_bytes_data(file.get()), snw_bytes_size(file.get()), o); });
    const Owned<snw_model> again = arrays.open();
    const auto same =
        made<snw_binding>([&](auto o) { return snw_binding_rebind(read.get(), again.get(), nullptr, o); });
    EXPECT_EQ(csr_of(weights_of(same.get(), again.get(), s.get()).get()), wanted);

    // A joint moves: as bind with the joint there.
    arrays.heads[3 * 6 + 1] += 0.02f;
    std::vector<float> heads = arrays.heads;
    const auto count = arrays.names.size();
    ASSERT_EQ(heads.size(), 3 * count);
    ASSERT_EQ(snw_model_move_joints(model.get(), heads.data(), arrays.tails.data()), SNW_OK) << snw_error();
    const auto moved =
        made<snw_binding>([&](auto o) { return snw_binding_move(binding.get(), model.get(), nullptr, o); });
    const Owned<snw_model> there = arrays.open();
    const auto anew = made<snw_binding>([&](auto o) { return snw_bind(there.get(), s.get(), nullptr, o); });
    const Csr rows = csr_of(weights_of(moved.get(), model.get(), s.get()).get());
    EXPECT_EQ(rows, csr_of(weights_of(anew.get(), there.get(), s.get()).get()));
    EXPECT_NE(rows, wanted);
}

TEST(Arrays, WeightsAreTransferredToAMeshAlone) {
    const Owned<snw_model> source = AsArrays(dog()).open();
    const auto s = settings({{"method", "closest-distance"}});
    const auto binding = made<snw_binding>([&](auto o) { return snw_bind(source.get(), s.get(), nullptr, o); });
    const auto weights = weights_of(binding.get(), source.get(), s.get());
    const Character finer = test::quadruped(0.04);
    AsArrays alone(finer);
    alone.arrays.joint_count = 0;
    const Owned<snw_model> target = alone.open();
    std::vector<std::uint8_t> how(finer.positions.size(), 9);
    const auto moved = made<snw_weights>([&](auto o) {
        return snw_transfer(source.get(), weights.get(), target.get(), 0.05, 30, nullptr, nullptr, how.data(),
                            nullptr, o);
    });
    Skeleton skeleton = dog().skeleton;
    ASSERT_TRUE(select_deforming(skeleton, {}, {}).ok());
    BindOptions options = preset(Method::closest_distance);
    const SkinWeights own = must(must(bind(dog().mesh(), skeleton, options)).weights());
    const Transfer wanted = must(transfer(dog().mesh(), own, finer.mesh()));
    EXPECT_EQ(csr_of(moved.get()), csr_of(wanted.weights));
    EXPECT_EQ(how[0], static_cast<std::uint8_t>(wanted.how[0]));
    // A mesh alone cannot be bound.
    snw_binding* none = nullptr;
    EXPECT_NE(snw_bind(target.get(), s.get(), nullptr, &none), SNW_OK);
    EXPECT_EQ(none, nullptr);
}

TEST(Arrays, AModelFromArraysIsSavedAndPosed) {
    const Owned<snw_model> model = AsArrays(dog()).open();
    const auto s = settings({{"method", "closest-distance"}});
    const auto binding = made<snw_binding>([&](auto o) { return snw_bind(model.get(), s.get(), nullptr, o); });
    const auto weights = weights_of(binding.get(), model.get(), s.get());
    const auto glb =
        made<snw_bytes>([&](auto o) { return snw_save_glb(model.get(), weights.get(), s.get(), nullptr, o); });
    const auto read = made<snw_model>([&](auto o) {
        return snw_model_open(snw_bytes_data(glb.get()), snw_bytes_size(glb.get()), "dog.glb", nullptr, nullptr, 0,
                              nullptr, o);
    });
    const auto saved = made<snw_weights>([&](auto o) { return snw_model_weights(read.get(), o); });
    EXPECT_EQ(csr_of(saved.get()), csr_of(weights.get()));
    // The joints of a file are where the file says.
    EXPECT_EQ(snw_model_move_joints(read.get(), AsArrays(dog()).heads.data(), nullptr), SNW_USAGE);

    const std::size_t joints = dog().skeleton.joints.size();
    std::vector<double> pose(10 * joints), matrices(12 * joints);
    ASSERT_EQ(snw_random_pose(model.get(), 20, 3, pose.data()), SNW_OK);
    ASSERT_EQ(snw_pose_matrices(model.get(), pose.data(), matrices.data()), SNW_OK);
    std::vector<float> posed(3 * dog().positions.size());
    ASSERT_EQ(
        snw_deform(model.get(), weights.get(), matrices.data(), SNW_LINEAR_BLEND, nullptr, posed.data(), nullptr),
        SNW_OK);
    EXPECT_NE(posed[30], dog().positions[10].x);
    EXPECT_EQ(snw_random_pose(model.get(), 200, 3, pose.data()), SNW_USAGE);
    const std::string wave = "{\"joints\":{\"" + dog().skeleton.joints[2].name + "\":{\"rotate\":[90,0,0]}}}";
    ASSERT_EQ(snw_pose_json(model.get(), wave.data(), wave.size(), pose.data()), SNW_OK) << snw_error();
    EXPECT_NEAR(pose[20], std::sqrt(0.5), 1e-6);
    EXPECT_EQ(pose[33], 1);
}

TEST(Arrays, BrokenArraysAreRefusedWithThePlace) {
    const auto says = [](const AsArrays& arrays, const char* words) {
        const std::string said = arrays.refusal();
        EXPECT_NE(said.find(words), std::string::npos) << said;
    };
    {
        AsArrays a(dog());
        std::vector<std::uint32_t> corners(a.mesh.corners, a.mesh.corners + 3 * a.mesh.face_count);
        corners[7] = 999999;
        a.mesh.corners = corners.data();
        a.mesh.name = "body";
        says(a, "arrays: mesh 'body': face 2 names vertex 999999, but the mesh has");
        corners.assign({0, 1});
        const std::uint32_t two[] = {2};
        a.mesh.corners = corners.data();
        a.mesh.face_sizes = two;
        a.mesh.face_count = 1;
        says(a, "face 0 has 2 corners: a face needs at least three");
    }
    {
        AsArrays a(dog());
        std::vector<float> positions(a.mesh.positions, a.mesh.positions + 3 * a.mesh.vertex_count);
        positions[31] = std::numeric_limits<float>::infinity();
        a.mesh.positions = positions.data();
        says(a, "mesh 'mesh 0': vertex 10: its position is not finite");
    }
    {
        AsArrays a(dog());
        a.parents[2] = 2;
        says(a, "arrays: ");
        a.parents[2] = 1000;
        says(a, "arrays: ");
    }
    {
        AsArrays a(dog());
        std::vector<double> rest(12 * a.names.size(), 0);
        a.arrays.rest = rest.data();
        says(a, "joint 0 ('");
        a.arrays.rest = nullptr;
        a.arrays.heads = nullptr;
        says(a, "rest or heads must say where the joints are");
        a.arrays.parents = nullptr;
        says(a, "parents must not be null");
    }
    {
        AsArrays a(dog());
        a.heads[4] = std::numeric_limits<float>::quiet_NaN();
        says(a, "joint 1 ('");
    }
    {
        AsArrays a(dog());
        std::vector<std::uint8_t> deform(a.names.size(), 3);
        a.arrays.deform = deform.data();
        says(a, "deform is 3");
        a.arrays.deform = nullptr;
        const float up[] = {0, 0, 0};
        a.arrays.up = up;
        says(a, "up must be a direction");
    }
    snw_model* out = nullptr;
    EXPECT_EQ(snw_model_from_arrays(nullptr, &out), SNW_USAGE);
    const snw_arrays nothing{};
    EXPECT_EQ(snw_model_from_arrays(&nothing, &out), SNW_INPUT);
}

TEST(Arrays, NullHandlesAreErrors) {
    snw_weights* w = nullptr;
    snw_binding* b = nullptr;
    snw_bytes* bytes = nullptr;
    EXPECT_EQ(snw_weights_from_rows(1, 1, nullptr, nullptr, nullptr, &w), SNW_USAGE);
    EXPECT_EQ(snw_weights_csr(nullptr, nullptr, nullptr, nullptr), SNW_USAGE);
    EXPECT_EQ(snw_weights_dense(nullptr, 1, nullptr), SNW_USAGE);
    EXPECT_EQ(snw_weights_limit(nullptr, nullptr, nullptr, &w), SNW_USAGE);
    EXPECT_EQ(snw_weights_keep(nullptr, nullptr, nullptr, nullptr, 0, 0, nullptr, &w), SNW_USAGE);
    EXPECT_EQ(snw_weights_edit(nullptr, nullptr, nullptr, 0, nullptr, nullptr, &w), SNW_USAGE);
    EXPECT_EQ(snw_weights_open_json(nullptr, nullptr, 0, &w), SNW_USAGE);
    EXPECT_EQ(snw_transfer(nullptr, nullptr, nullptr, 1, 1, nullptr, nullptr, nullptr, nullptr, &w), SNW_USAGE);
    EXPECT_EQ(snw_binding_save(nullptr, &bytes), SNW_USAGE);
    EXPECT_EQ(snw_binding_open(nullptr, 5, &b), SNW_USAGE);
    EXPECT_EQ(snw_binding_open("junk!", 5, &b), SNW_INPUT);
    EXPECT_EQ(snw_binding_rebind(nullptr, nullptr, nullptr, &b), SNW_USAGE);
    EXPECT_EQ(snw_binding_move(nullptr, nullptr, nullptr, &b), SNW_USAGE);
    EXPECT_EQ(snw_model_move_joints(nullptr, nullptr, nullptr), SNW_USAGE);
    EXPECT_EQ(snw_context_fraction(nullptr), 0);
    std::size_t n = 5;
    snw_weights_size(nullptr, &n, &n);
    EXPECT_EQ(n, 0u);
}

}  // namespace
}  // namespace sinew::test_arrays
