// Records of FBX files: read, and written to the same bytes.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "io/fbx_records.h"
#include "sinew/io.h"
#include "support.h"

namespace sinew::io::test_fbx_records {
namespace {

using test::must;

std::vector<std::byte> bytes_of(std::string_view text) {
    const auto* from = reinterpret_cast<const std::byte*>(text.data());
    return {from, from + text.size()};
}

template <typename T>
std::string little(T value) {
    std::string out(sizeof value, '\0');
    std::memcpy(out.data(), &value, sizeof value);
    return out;
}

/// A record of a binary file of 32 or 64 bits that begins at byte `at`.
std::string record(std::size_t at, bool wide, const std::string& name, int count, const std::string& values,
                   const std::vector<std::string>& names = {}) {
    const auto field = [&](std::size_t v) {
        return wide ? little<std::uint64_t>(v) : little(static_cast<std::uint32_t>(v));
    };
    const std::size_t empty = wide ? 25 : 13;
    std::string body = name + values;
    for (const std::string& inner : names)
        body += record(at + empty + body.size(), wide, inner, 1, "I" + little<std::int32_t>(7));
    if (!names.empty()) body += std::string(empty, '\0');
    return field(at + empty + body.size()) + field(static_cast<std::size_t>(count)) + field(values.size()) +
           static_cast<char>(name.size()) + body;
}

/// Two records: Objects { A: 7  B: 7 }, and Numbers with a value of each type.
std::string binary(bool wide, const std::string& array) {
    std::string out("Kaydara FBX Binary  \0\x1a\0", 23);
    out += little<std::uint32_t>(wide ? 7500 : 7400);
    out += record(out.size(), wide, "Objects", 0, "", {"A", "B"});
    const std::string values = "C" + std::string(1, '\1') + "Y" + little<std::int16_t>(-2) + "I" +
                               little<std::int32_t>(-3) + "L" + little<std::int64_t>(-4) + "F" + little(0.5f) +
                               "D" + little(0.25) + "S" + little<std::uint32_t>(8) + std::string("hip\0\1Bon", 8) +
                               "R" + little<std::uint32_t>(2) + "xy";
    out += record(out.size(), wide, "Numbers", 8, values);
    out += record(out.size(), wide, "Array", 1, array);
    out += std::string(wide ? 25 : 13, '\0') + std::string(20, '\0');
    out.append(16 - out.size() % 16, '\0');
    return out + std::string(124, '\0') + "0123456789abcdef";
}

std::string array_of(char type, std::uint32_t count, std::uint32_t encoding, const std::string& data) {
    return type + little(count) + little(encoding) + little(static_cast<std::uint32_t>(data.size())) + data;
}

/// Four doubles of 0.0 by zlib: a block that is stored.
std::string stored(const std::string& data) {
    const auto size = static_cast<std::uint16_t>(data.size());
    std::uint32_t a = 1, b = 0;
    for (const char c : data) {
        a = (a + static_cast<unsigned char>(c)) % 65521;
        b = (b + a) % 65521;
    }
    std::string out =
        std::string("\x78\x01\x01", 3) + little(size) + little(static_cast<std::uint16_t>(~size)) + data;
    for (const std::uint32_t part : {b >> 8, b, a >> 8, a}) out += static_cast<char>(part & 255);
    return out;
}

const std::string kDoubles = little(1.5) + little(-2.0);

struct Parsed {
    std::vector<std::byte> bytes;
    ModelFiles files;
    Result<FbxFile> file;
    explicit Parsed(std::string_view text) : bytes(bytes_of(text)), file(FbxFile::parse(bytes, "a.fbx", files)) {}
    std::string message() const { return file ? "" : file.error().message; }
};

TEST(FbxRecords, OfBinaryFiles) {
    for (const bool wide : {false, true}) {
        const Parsed parsed(binary(wide, array_of('d', 2, 0, kDoubles)));
        ASSERT_TRUE(parsed.file) << parsed.message();
        const FbxFile& file = *parsed.file;
        EXPECT_TRUE(file.binary());
        EXPECT_EQ(file.version(), wide ? 7500u : 7400u);
        ASSERT_EQ(file.root().records.size(), 3u);
        const FbxRecord& objects = file.root().records[0];
        ASSERT_EQ(objects.records.size(), 2u);
        EXPECT_EQ(file.number(objects.find("B")->values[0]), 7.0);
        const auto& values = file.root().find("Numbers")->values;
        ASSERT_EQ(values.size(), 8u);
        const double numbers[] = {1, -2, -3, -4, 0.5, 0.25};
        for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(file.number(values[k]), numbers[k]) << k;
        EXPECT_EQ(file.whole(values[3]), -4);
        EXPECT_FALSE(file.whole(values[4]));
        EXPECT_EQ(file.text(values[6]), std::string("hip\0\1Bon", 8));
        EXPECT_FALSE(file.number(values[6]));
        EXPECT_EQ(must(file.reals(*file.root().find("Array"))), (std::vector<double>{1.5, -2}));
        EXPECT_EQ(file.bytes(), parsed.bytes);
    }
}

TEST(FbxRecords, ArraysInflateWhenTheyAreRead) {
    const Parsed good(binary(false, array_of('d', 2, 1, stored(kDoubles))));
    ASSERT_TRUE(good.file) << good.message();
    EXPECT_EQ(must(good.file->reals(*good.file->root().find("Array"))), (std::vector<double>{1.5, -2}));
    EXPECT_EQ(good.file->bytes(), good.bytes);
    // Damaged ones, or those that state more than they can hold, are errors where they are wanted.
    for (const std::string& bad : {array_of('d', 3, 1, stored(kDoubles)), array_of('d', 2, 1, "\x78\x01\x01zz"),
                                   array_of('d', 0xffffffffu, 1, stored(kDoubles)), array_of('d', 2, 2, kDoubles),
                                   array_of('i', 5, 0, kDoubles)}) {
        const Parsed parsed(binary(false, bad));
        ASSERT_TRUE(parsed.file) << parsed.message();
        const auto numbers = parsed.file->reals(*parsed.file->root().find("Array"));
        ASSERT_FALSE(numbers);
        EXPECT_NE(numbers.error().message.find(": Array: "), std::string::npos) << numbers.error().message;
        EXPECT_EQ(parsed.file->bytes(), parsed.bytes);
    }
}

TEST(FbxRecords, ALongerRecordMovesWhatFollows) {
    for (const bool wide : {false, true}) {
        Parsed parsed(binary(wide, array_of('d', 2, 0, kDoubles)));
        const std::string longer = array_of('d', 4, 0, kDoubles + kDoubles);
        const auto head = bytes_of(longer);
        FbxRecord& array = parsed.file->root().records[2];
        array.head = head;
        EXPECT_EQ(parsed.file->bytes(), bytes_of(binary(wide, longer)));
    }
}

constexpr std::string_view kText =
    "; FBX 6.1.0 project file\r\n"
    "FBXHeaderExtension:  {\n\tFBXVersion: 6100\n}\n"
    "Objects:  {\n"
    "\tModel: \"Model::a &quot;b&quot;\", \"Mesh\" {\n"
    "\t\tVertices: 0,1.5,-2e1\n\t\t,3\n"
    "\t\tShading: T\n"
    "\t\tEmpty:  {\n\t\t}\n"
    "\t\tKey: \n\t\t\t10,0.5,U,s,1,\n"
    "\t\tColor: 1,0,0 ; a comment: { \n"
    "\t\tContent: , \"aGk=\"\n"
    "\t}\n"
    "}\n"
    "Array: *3 {\n\ta: 1,2,\n3\n} \n; the end\n";

TEST(FbxRecords, OfTextFiles) {
    const Parsed parsed(kText);
    ASSERT_TRUE(parsed.file) << parsed.message();
    const FbxFile& file = *parsed.file;
    EXPECT_EQ(file.version(), 6100u);
    const FbxRecord& model = file.root().find("Objects")->records.at(0);
    EXPECT_EQ(file.text(model.values.at(0)), "Model::a \"b\"");
    ASSERT_EQ(model.records.size(), 6u);
    EXPECT_EQ(must(file.reals(*model.find("Vertices"))), (std::vector<double>{0, 1.5, -20, 3}));
    EXPECT_EQ(file.text(model.find("Shading")->values.at(0)), "T");
    EXPECT_TRUE(model.find("Empty")->block);
    EXPECT_EQ(model.find("Key")->values.size(), 5u);
    EXPECT_EQ(must(file.wholes(*model.find("Color"))), (std::vector<std::int64_t>{1, 0, 0}));
    EXPECT_EQ(file.raw(*model.find("Content")), bytes_of("hi"));
    EXPECT_EQ(must(file.wholes(*file.root().find("Array"))), (std::vector<std::int64_t>{1, 2, 3}));
    EXPECT_EQ(file.bytes(), parsed.bytes);
}

TEST(FbxRecords, IndicesAreTheNearestOfThirtyTwoBits) {
    const std::vector<std::int32_t> ends{std::numeric_limits<std::int32_t>::min(), 7,
                                         std::numeric_limits<std::int32_t>::max()};
    const std::int64_t wide[] = {-(std::int64_t{1} << 40), 7, std::int64_t{1} << 40};
    const Parsed made(binary(false, array_of('l', 3, 0, std::string(reinterpret_cast<const char*>(wide), 24))));
    ASSERT_TRUE(made.file) << made.message();
    EXPECT_EQ(must(made.file->indices(*made.file->root().find("Array"))), ends);
    const Parsed text("; FBX 7.4.0 project file\nArray: *3 {\n\ta: -1099511627776,7,1e12\n}\n");
    ASSERT_TRUE(text.file) << text.message();
    EXPECT_EQ(must(text.file->indices(*text.file->root().find("Array"))), ends);
}

TEST(FbxRecords, ErrorsNameByteAndPath) {
    const std::string whole = binary(true, array_of('d', 2, 0, kDoubles));
    EXPECT_EQ(Parsed(whole.substr(0, 40)).message(), "a.fbx: byte 27: the file ends within a record");
    std::string endian = whole;
    endian[22] = 1;
    EXPECT_NE(Parsed(endian).message().find("byte 22"), std::string::npos);
    std::string later = whole;
    later.replace(23, 4, little<std::uint32_t>(9100));
    EXPECT_NE(Parsed(later).message().find("version 9100 of FBX is not known"), std::string::npos);
    std::string type = whole;
    type[type.find("I" + little<std::int32_t>(7))] = '?';
    EXPECT_NE(Parsed(type).message().find("Objects/A: '?' is not a type of values"), std::string::npos)
        << Parsed(type).message();

    EXPECT_EQ(Parsed("A: { B: 1").message(), "a.fbx: byte 9: A: the file ends within braces");
    EXPECT_EQ(Parsed("A: { B: \"1").message(), "a.fbx: byte 8: A/B: a text has no end");
    EXPECT_EQ(Parsed("A: 1 }").message(), "a.fbx: byte 5: a brace closes that was not opened");
    EXPECT_EQ(Parsed("A: 1 \n 2").message(), "a.fbx: byte 7: a name and a colon must be here");
    const Parsed word("A: 1\nB: { C: *2 { a: 1,x } }");
    const auto numbers = word.file->reals(*word.file->root().find("B")->find("C"));
    ASSERT_FALSE(numbers);
    EXPECT_EQ(numbers.error().message, "a.fbx: byte 10: B/C: \"x\" is not a number");

    std::string deep;
    for (int k = 0; k < 100000; ++k) deep += "A:{";
    EXPECT_NE(Parsed(deep).message().find("more than 64 records are in each other"), std::string::npos);
}

TEST(FbxRecords, MemoryIsLimited) {
    Context context;
    context.memory_limit = 1 << 20;
    ModelFiles files("", &context);
    std::string many;
    for (int k = 0; k < 20000; ++k) many += "A:{}";
    const auto bytes = bytes_of(many);
    const auto file = FbxFile::parse(bytes, "a.fbx", files);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, ErrorCode::too_large);
}

TEST(FbxRecords, DamagedFilesAreErrorsOrTheSameBytes) {
    std::mt19937 random(1);
    for (const std::string& whole : {binary(false, array_of('d', 2, 1, stored(kDoubles))),
                                     binary(true, array_of('d', 2, 0, kDoubles)), std::string(kText)})
        for (int k = 0; k < 2000; ++k) {
            std::string text = whole;
            for (int n = 0; n < 3; ++n) text[random() % text.size()] = static_cast<char>(random());
            if (k % 4 == 0) text.resize(random() % text.size());
            const Parsed parsed(text);
            if (!parsed.file) continue;
            for (const FbxRecord& record : parsed.file->root().records) (void)parsed.file->reals(record);
            // Sizes of binary files are made anew, also where those that were read had gaps between them.
            const auto written = parsed.file->bytes();
            EXPECT_TRUE(parsed.file->binary() || written == parsed.bytes) << text;
        }
}

TEST(FbxRecords, RealFilesComeBackAsTheSameBytes) {
    const char* const corpus = std::getenv("SINEW_CORPUS");
    if (!corpus || !std::filesystem::is_directory(corpus)) GTEST_SKIP() << "SINEW_CORPUS names no folder";
    std::size_t count = 0;
    // Beside the folder are others with FBX.
    const auto shared = std::filesystem::absolute(corpus).lexically_normal().parent_path();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(shared)) {
        if (entry.path().extension() != ".fbx") continue;
        const auto bytes = must(read_file(entry.path()));
        ModelFiles files;
        const auto file = must(FbxFile::parse(bytes, entry.path().string(), files));
        EXPECT_TRUE(file.bytes() == bytes) << entry.path();
        ++count;
    }
    EXPECT_GT(count, 0u);
}

}  // namespace
}  // namespace sinew::io::test_fbx_records
