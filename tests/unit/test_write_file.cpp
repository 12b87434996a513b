#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "io/formats.h"
#include "temporary_folder.h"

namespace sinew::io::test_write_file {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

class WriteFile : public ::testing::Test {
protected:
    std::string contents(const fs::path& path) const {
        std::ostringstream out;
        out << std::ifstream(path, std::ios::binary).rdbuf();
        return out.str();
    }
    std::size_t entries() const { return std::size_t(std::distance(fs::directory_iterator(folder), {})); }

    const test::TemporaryFolder temporary;
    const fs::path folder = temporary.path();
};

TEST_F(WriteFile, CreatesAndReplacesWithoutLeavingAnythingElse) {
    const fs::path path = folder / "a.bin";
    ASSERT_TRUE(write_file(path, bytes_of("one")));
    EXPECT_EQ(contents(path), "one");
    ASSERT_TRUE(write_file(path, bytes_of(std::string("t\0wo", 4))));
    EXPECT_EQ(contents(path), std::string("t\0wo", 4));
    ASSERT_TRUE(write_file(path, {}));
    EXPECT_EQ(fs::file_size(path), 0u);
    EXPECT_EQ(entries(), 1u);
}

TEST_F(WriteFile, RespectsTheUmaskAndKeepsPermissionsOfAReplacedFile) {
    const mode_t old = ::umask(027);
    const Status fresh = write_file(folder / "new", bytes_of("x"));
    ::umask(old);
    ASSERT_TRUE(fresh);
    EXPECT_EQ(fs::status(folder / "new").permissions(), fs::perms(0640));
    fs::permissions(folder / "new", fs::perms(0604));
    ASSERT_TRUE(write_file(folder / "new", bytes_of("y")));
    EXPECT_EQ(fs::status(folder / "new").permissions(), fs::perms(0604));
}

TEST_F(WriteFile, FollowsASymbolicLink) {
    ASSERT_TRUE(write_file(folder / "target", bytes_of("old")));
    fs::create_symlink("target", folder / "link");
    ASSERT_TRUE(write_file(folder / "link", bytes_of("new")));
    EXPECT_TRUE(fs::is_symlink(folder / "link"));
    EXPECT_EQ(contents(folder / "target"), "new");
}

TEST_F(WriteFile, AcceptsTheLongestNameOfTheSystem) {
    EXPECT_TRUE(write_file(folder / std::string(255, 'n'), bytes_of("x")));
}

TEST_F(WriteFile, ReportsTheErrorOfTheSystem) {
    const Status missing = write_file(folder / "no" / "where.bin", bytes_of("x"));
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ErrorCode::io);
    EXPECT_NE(missing.error().message.find("where.bin"), std::string::npos);
    EXPECT_NE(missing.error().message.find("No such file"), std::string::npos);

    EXPECT_FALSE(write_file(folder, bytes_of("x")));
    EXPECT_FALSE(write_file(folder / "", bytes_of("x")));
    EXPECT_FALSE(write_file("", bytes_of("x")));
    EXPECT_FALSE(write_file(folder / std::string(256, 'n'), bytes_of("x")));
    EXPECT_EQ(entries(), 0u);
}

TEST_F(WriteFile, ADiskThatFillsLeavesTheOldFileAndNoTemporary) {
    const fs::path path = folder / "kept";
    ASSERT_TRUE(write_file(path, bytes_of("kept")));
    rlimit old{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
    rlimit small = old;
    small.rlim_cur = 1000;
    auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const Status full = write_file(path, bytes_of(std::string(5000, 'x')));
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
    std::signal(SIGXFSZ, handler);
    ASSERT_FALSE(full);
    EXPECT_NE(full.error().message.find("File too large"), std::string::npos) << full.error().message;
    EXPECT_EQ(contents(path), "kept");
    EXPECT_EQ(entries(), 1u);
}

TEST_F(WriteFile, ADeviceIsWrittenToAndNotReplaced) {
    EXPECT_TRUE(write_file("/dev/null", bytes_of("x")));
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    if (fs::exists("/dev/full")) {
        const Status full = write_file("/dev/full", bytes_of("x"));
        ASSERT_FALSE(full);
        EXPECT_NE(full.error().message.find("No space left"), std::string::npos) << full.error().message;
    }
}

TEST_F(WriteFile, ABatchAppearsTogether) {
    ASSERT_TRUE(write_file(folder / "model", bytes_of("old")));
    {
        OutputBatch batch;
        ASSERT_TRUE(batch.add(folder / "model", bytes_of("new")));
        ASSERT_TRUE(batch.add_folder(folder / "a/b"));
        ASSERT_TRUE(batch.add(folder / "a/b/texture", bytes_of("t")));
        EXPECT_EQ(contents(folder / "model"), "old");
        EXPECT_FALSE(fs::exists(folder / "a/b/texture"));
        ASSERT_TRUE(batch.commit());
    }
    EXPECT_EQ(contents(folder / "model"), "new");
    EXPECT_EQ(contents(folder / "a/b/texture"), "t");
    EXPECT_EQ(entries(), 2u);
}

TEST_F(WriteFile, AFailedBatchLeavesNoFiles) {
    ASSERT_TRUE(write_file(folder / "model", bytes_of("old")));
    {
        OutputBatch batch;
        ASSERT_TRUE(batch.add(folder / "model", bytes_of("new")));
        ASSERT_TRUE(batch.add_folder(folder / "a/b"));
        ASSERT_TRUE(batch.add(folder / "a/b/texture", bytes_of("t")));
        const Status twice = batch.add(folder / "a/../model", bytes_of("x"));
        ASSERT_FALSE(twice);
        EXPECT_NE(twice.error().message.find("two outputs"), std::string::npos);
        EXPECT_FALSE(batch.add(folder / "no/where", bytes_of("x")));
    }
    EXPECT_EQ(entries(), 1u);
    // A failed rename removes new files; a full device is detected before any rename.
    OutputBatch late;
    ASSERT_TRUE(late.add(folder / "becomes a folder", bytes_of("x")));
    ASSERT_TRUE(late.add(folder / "fresh", bytes_of("x")));
    fs::create_directory(folder / "becomes a folder");
    EXPECT_FALSE(late.commit());
    EXPECT_EQ(entries(), 2u);
    if (fs::exists("/dev/full")) {
        OutputBatch full;
        ASSERT_TRUE(full.add(folder / "model", bytes_of("new")));
        ASSERT_TRUE(full.add("/dev/full", bytes_of("x")));
        EXPECT_FALSE(full.commit());
        EXPECT_EQ(entries(), 2u);
    }
    EXPECT_EQ(contents(folder / "model"), "old");
}

TEST_F(WriteFile, ReadFileReadsItBack) {
    std::string large(3 << 20, '\0');
    for (std::size_t i = 0; i < large.size(); ++i) large[i] = char(i * 31 >> 3);
    ASSERT_TRUE(write_file(folder / "large", bytes_of(large)));
    const auto back = read_file(folder / "large");
    ASSERT_TRUE(back);
    EXPECT_EQ(as_text(*back), large);
    EXPECT_EQ(read_file("/dev/null").value().size(), 0u);
    EXPECT_NE(read_file(folder / "no").error().message.find("No such file"), std::string::npos);
    EXPECT_NE(read_file(folder).error().message.find("it is a folder"), std::string::npos);
}

}  // namespace
}  // namespace sinew::io::test_write_file
