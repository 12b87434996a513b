#include <gtest/gtest.h>

#include <cmath>

#include "io/formats.h"
#include "temporary_folder.h"

namespace sinew::io::test_weights_json {
namespace {

Skeleton skeleton_of(const std::vector<std::string>& names) {
    Skeleton skeleton;
    for (const std::string& name : names) skeleton.joints.emplace_back().name = name;
    return skeleton;
}

class WeightsJson : public ::testing::Test {
protected:
    Result<SkinWeights> load(const std::string& text, std::size_t vertices) const {
        EXPECT_TRUE(write_file(path, std::as_bytes(std::span(text))));
        return load_weights_json(skeleton, vertices, path);
    }
    void expect_error(const std::string& text, const std::string& fragment, std::size_t vertices = 1) const {
        const Result<SkinWeights> weights = load(text, vertices);
        ASSERT_FALSE(weights) << text;
        EXPECT_NE(weights.error().message.find(fragment), std::string::npos) << weights.error().message;
        EXPECT_NE(weights.error().message.find("w.json"), std::string::npos);
        EXPECT_EQ(weights.error().code, ErrorCode::input);
    }

    const test::TemporaryFolder folder;
    const std::filesystem::path path = folder / "w.json";
    Skeleton skeleton = skeleton_of({"a", "b", "c\"\n\u00e9", "twin", "twin"});
};

TEST_F(WeightsJson, RoundTrip) {
    std::vector<std::uint32_t> counts;
    std::vector<Influence> influences;
    std::uint32_t state = 1;
    for (int v = 0; v < 1000; ++v) {
        counts.push_back(v % 6);  // row 0, 6, … is empty: unbound
        for (std::uint32_t j = 0; j < counts.back(); ++j) {
            state = state * 1664525u + 1013904223u;
            influences.push_back({j, float(state >> 8) + 1});
        }
    }
    const Result<SkinWeights> weights = SkinWeights::from_rows(counts, influences);
    ASSERT_TRUE(weights);
    ASSERT_TRUE(save_weights_json(skeleton, *weights, path));
    const Result<SkinWeights> back = load_weights_json(skeleton, 1000, path);
    ASSERT_TRUE(back) << back.error().message;
    ASSERT_EQ(back->vertex_count(), 1000u);
    for (std::size_t v = 0; v < 1000; ++v) {
        ASSERT_EQ((*back)[v].size(), (*weights)[v].size());
        for (std::size_t i = 0; i < (*back)[v].size(); ++i) {
            EXPECT_EQ((*back)[v][i].joint, (*weights)[v][i].joint);
            EXPECT_NEAR((*back)[v][i].weight, (*weights)[v][i].weight, 2e-7f);
        }
    }
}

TEST_F(WeightsJson, JointsAreMatchedByNameAndTheirOrderIsFree) {
    const Result<SkinWeights> weights = load(
        R"({"vertices": [[[1, 1]], [[0, 1], [2, 3]], [], [[3, 0.5], [4, 0.5]]], "extra": {"a": [1, [true, null]]},
            "joints": ["twin", "b", "a", "unknown", "twin"], "sinew": "weights"})",
        4);
    ASSERT_FALSE(weights);
    EXPECT_NE(weights.error().message.find("vertex 3 is weighted to joint 'unknown'"), std::string::npos);

    const Result<SkinWeights> good = load(
        R"({"vertices": [[[1, 1]], [[0, 1], [2, 3]], [], [[4, 0.5]]], "extra": {"a": [1, [true, null]]},
            "joints": ["twin", "b", "a", "unknown", "twin"], "sinew": "weights"})",
        4);
    ASSERT_TRUE(good) << good.error().message;
    EXPECT_EQ((*good)[0][0], (Influence{1, 1}));
    EXPECT_EQ((*good)[1][0], (Influence{0, 0.75f}));
    EXPECT_EQ((*good)[1][1], (Influence{3, 0.25f}));
    EXPECT_TRUE((*good)[2].empty());
    EXPECT_EQ((*good)[3][0].joint, 4u) << "the second of two joints of the same name";
}

TEST_F(WeightsJson, ErrorsNameTheVertex) {
    const auto rows = [](const std::string& text) {
        return R"({"sinew": "weights", "joints": ["a", "b"], "vertices": )" + text + "}";
    };
    ASSERT_TRUE(load(rows("[[[0, 1]]]"), 1));
    expect_error(rows("[[[0, 1]]]"), "weights for 1 vertices, but the mesh has 2", 2);
    expect_error(rows("[[[0, 1]], [[0, -0.5]]]"), "vertex 1: a weight must be a finite number", 2);
    expect_error(rows("[[[0, 1e39]]]"), "vertex 0: a weight must be a finite number");
    expect_error(rows("[[[0, 1e999]]]"), "number overflow");
    expect_error(rows("[[[0, 1]], [[0, 0], [1, 0.0]]]"), "vertex 1: its weights sum to zero", 2);
    expect_error(rows("[[[2, 1]]]"), "vertex 0 names joint 2, but \"joints\" has 2");
    expect_error(rows("[[[-1, 1]]]"), "vertex 0: a joint must be an index");
    expect_error(rows("[[[0.5, 1]]]"), "vertex 0: a joint must be an index");
    expect_error(rows("[[[4294967296, 1]]]"), "vertex 0: a joint must be an index");
    expect_error(rows("[[[0]]]"), "vertex 0: an influence must be [joint, weight]");
    expect_error(rows("[[[0, 1, 2]]]"), "vertex 0: an influence must be [joint, weight]");
    expect_error(rows("[[[\"a\", 1]]]"), "and here is a string");
    expect_error(rows("[[[0, [1]]]]"), "and here is an array");
    expect_error(rows("[[0, 1]]"), "and here is a number");
    expect_error(rows("[{}]"), "and here is an object");
    expect_error(rows("[null]"), "and here is null");
    expect_error(rows("true"), "and here is true or false");
    expect_error(rows("{}"), "and here is an object");
    expect_error(rows("[]") + "x", "not valid JSON");
    expect_error("", "not valid JSON");
    expect_error("[]", "must be an object");
    expect_error("3", "must be an object");
    expect_error("{}", "lacks \"sinew\": \"weights\"");
    expect_error(R"({"sinew": "skeleton"})", "lacks \"sinew\": \"weights\"");
    expect_error(R"({"sinew": 3})", "\"sinew\" must be \"weights\"");
    expect_error(R"({"sinew": "weights", "joints": []})", "\"vertices\" is missing");
    expect_error(R"({"sinew": "weights", "joints": [3]})", "\"joints\" must be an array of names");
    expect_error(R"({"sinew": "weights", "joints": [["a"]]})", "\"joints\" must be an array of names");
    expect_error(R"({"sinew": "weights", "joints": [], "joints": []})", "given twice");
    expect_error(std::string(1000, '['), "nested deeper");
}

TEST_F(WeightsJson, EveryTruncationIsAnError) {
    const std::string text =
        R"({"sinew":"weights","joints":["a","b"],"x":{"y":[1]},"vertices":[[[0,1]],[[1,0.5],[0,5e-1]]]})";
    ASSERT_TRUE(load(text, 2));
    for (std::size_t n = 0; n < text.size(); ++n) EXPECT_FALSE(load(text.substr(0, n), 2)) << n;
}

TEST_F(WeightsJson, AJointOutsideTheSkeletonIsNotWritten) {
    const std::vector<std::uint32_t> counts{1};
    const Result<SkinWeights> weights = SkinWeights::from_rows(counts, {{7, 1.0f}});
    ASSERT_TRUE(weights);
    const Status saved = save_weights_json(skeleton, *weights, path);
    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().code, ErrorCode::usage);
    EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace sinew::io::test_weights_json
