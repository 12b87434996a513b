// JsonText keeps every byte of text that is not edited.
#include <gtest/gtest.h>

#include "io/json_text.h"

namespace sinew::io::test_json_text {
namespace {

const char* const odd =
    "\xef\xbb\xbf \n{ \"a\" : [ 1.50 , -2E+3,\ttrue ] ,\r\n\"b\\u0041\":{ },\"s\":\"}\\\"]{,:\" , \"e\":[]}\n ";

TEST(JsonText, UneditedTextIsUnchanged) {
    JsonText text{odd};
    EXPECT_EQ(text.str(), odd);
    // Reading it does not change it.
    EXPECT_EQ(text.root().size(), 4u);
    EXPECT_EQ(text.root().find("a")->size(), 3u);
    EXPECT_EQ(text.root().find("a")->at(1)->str(), "-2E+3");
    EXPECT_NE(text.root().find("bA"), nullptr);
    EXPECT_EQ(text.root().find("e")->size(), 0u);
    EXPECT_EQ(text.root().find("s")->str(), "\"}\\\"]{,:\"");
    EXPECT_EQ(text.root().find("none"), nullptr);
    EXPECT_EQ(text.str(), odd);
}

TEST(JsonText, ReplacesOnlyTheValue) {
    JsonText text{R"({"a" :  [1, 2 ,3], "b": 0.10})"};
    text.root().find("a")->at(1)->replace("{\"x\":7}");
    EXPECT_EQ(text.str(), R"({"a" :  [1, {"x":7} ,3], "b": 0.10})");
    text.root().find("a")->at(1)->set("x", "8");
    text.root().set("b", "null");
    EXPECT_EQ(text.str(), R"({"a" :  [1, {"x":8} ,3], "b": null})");
}

TEST(JsonText, AddsInTheStyleOfTheNeighbours) {
    JsonText text{"{\n  \"a\": [\n    1,\n    2\n  ],\n  \"o\": {\n    \"x\": 1\n  }\n}"};
    text.root().find("a")->append("3");
    text.root().find("o")->set("y", "2");
    EXPECT_EQ(text.str(),
              "{\n  \"a\": [\n    1,\n    2,\n    3\n  ],\n  \"o\": {\n    \"x\": 1,\n    \"y\": 2\n  }\n}");
}

TEST(JsonText, AddsToEmptyContainers) {
    JsonText text{R"({"a":[ ],"o":{ }})"};
    text.root().find("a")->append("1");
    text.root().find("a")->append("2");
    text.root().find("o")->set("k\"", "3");
    EXPECT_EQ(text.str(), R"({"a":[1,2],"o":{"k\"":3}})");
}

TEST(JsonText, RemovesMembersAndTheirCommas) {
    const char* const source = "{ \"a\": 1, \"b\": 2,\n \"c\": 3 }";
    const auto without = [&](std::initializer_list<const char*> keys) {
        JsonText text{source};
        for (const char* key : keys) EXPECT_TRUE(text.root().erase(key));
        return text.str();
    };
    EXPECT_EQ(without({"a"}), "{ \"b\": 2,\n \"c\": 3 }");
    EXPECT_EQ(without({"b"}), "{ \"a\": 1,\n \"c\": 3 }");
    EXPECT_EQ(without({"c"}), "{ \"a\": 1, \"b\": 2 }");
    EXPECT_EQ(without({"a", "b"}), "{ \"c\": 3 }");
    EXPECT_EQ(without({"c", "b"}), "{ \"a\": 1 }");
    EXPECT_EQ(without({"a", "b", "c"}), "{}");
    JsonText text{source};
    EXPECT_FALSE(text.root().erase("d"));
    EXPECT_EQ(text.str(), source);
}

TEST(JsonText, TheLastOfRepeatedKeysCounts) {
    JsonText text{R"({"a":1,"a":2})"};
    EXPECT_EQ(text.root().find("a")->str(), "2");
    text.root().set("a", "3");
    EXPECT_EQ(text.str(), R"({"a":1,"a":3})");
    text.root().erase("a");
    EXPECT_EQ(text.str(), "{}");
}

TEST(JsonText, AcceptsEveryKindOfTopLevelValue) {
    for (const char* source : {"1", " \"x\" ", "[]", "{}", "null", "[[[{\"a\":[{}]}]]]"}) {
        JsonText text{source};
        EXPECT_EQ(text.str(), source);
        text.root().size();
        EXPECT_EQ(text.str(), source);
    }
}

TEST(JsonText, NumbersReadBack) {
    for (const double value : {0.1, 1e-7, 123456789.0, -0.5, 3.4028234663852886e38, 1.0 / 3.0})
        EXPECT_EQ(std::stod(json_number(value)), value);
    EXPECT_EQ(json_string("a\"\n\xff"), "\"a\\\"\\n\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace sinew::io::test_json_text
