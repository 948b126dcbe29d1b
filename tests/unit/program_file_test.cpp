// SPDX-License-Identifier: BSD-3-Clause
// What is read from the file of a program: from this test's own, from its beginnings, and from files that are none.
#include "os/program_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace quire::os::program_file_test {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::StartsWith;

class ProgramFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "quire-program-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string put(const std::string& bytes) {
    std::ofstream(folder / "file", std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return folder / "file";
  }

  static std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path folder;
};

TEST_F(ProgramFile, NamesTheLibrariesThatItIsLinkedWith) {
  const auto own = linkage_of("/proc/self/exe");
  ASSERT_TRUE(own.has_value());
  EXPECT_THAT(own->needed, Contains(StartsWith("libc.so")));
  EXPECT_THAT(own->needed, Contains(StartsWith("libstdc++.so")));
}

TEST_F(ProgramFile, OtherFilesAreNone) {
  EXPECT_FALSE(linkage_of(put("#!/bin/sh\ntrue\n")).has_value());
  EXPECT_FALSE(linkage_of(put("")).has_value());
  EXPECT_FALSE(linkage_of(folder).has_value());
  EXPECT_FALSE(linkage_of(folder / "missing").has_value());
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(linkage_of(pipe).has_value()) << "nobody writes: it must not wait";
}

constexpr const char* small_program = "/bin/true";

TEST_F(ProgramFile, BeginningsOfAProgramAreReadAsFarAsTheyGo) {
  const std::string all = bytes_of(small_program);
  const auto whole = linkage_of(small_program);
  ASSERT_TRUE(whole.has_value());
  ASSERT_FALSE(whole->needed.empty());
  EXPECT_FALSE(linkage_of(put(all.substr(0, all.size() / 4))).has_value());
  // The header and the tables behind it byte by byte, then in steps.
  for (std::size_t bytes = 0; bytes < all.size(); bytes += bytes < 1024 ? 1 : 97) {
    const auto part = linkage_of(put(all.substr(0, bytes)));
    if (part.has_value()) {
      EXPECT_EQ(part->needed, whole->needed) << bytes;
    }
  }
}

TEST_F(ProgramFile, DamagedHeadersLeadNowhere) {
  const std::string all = bytes_of(small_program);
  const std::size_t libraries = linkage_of(small_program)->needed.size();
  for (std::size_t at = 0; at < 1024; ++at) {
    std::string damaged = all;
    damaged[at] = '\xff';
    // It ends, and touches nothing beyond the file.
    if (const auto found = linkage_of(put(damaged))) {
      EXPECT_LE(found->needed.size(), libraries) << at;
    }
  }
}

}  // namespace
}  // namespace quire::os::program_file_test
