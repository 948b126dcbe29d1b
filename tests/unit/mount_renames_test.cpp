// SPDX-License-Identifier: BSD-3-Clause
// Files of a mounted directory whose names go or change while programs have them open. Skipped where this process may
// not mount.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

#include "mount_support.hpp"

namespace quire::mount::mount_renames_test {
namespace {

class MountRenames : public Mount {};

TEST_F(MountRenames, KeepsAnOpenFileWhoseNameGoes) {
  shown.add("f", "old");
  const auto d = opened(path("f"), O_RDWR);
  ASSERT_EQ(::unlink(path("f").c_str()), 0);
  EXPECT_EQ(shown.of("f"), "(none)");
  ASSERT_EQ(shell("echo new > " + path("f")), 0);
  char text[8] = {};
  ASSERT_EQ(::pread(d.number(), text, 3, 0), 3);
  EXPECT_STREQ(text, "old");
  struct stat s {};
  ASSERT_EQ(::fstat(d.number(), &s), 0);
  EXPECT_EQ(s.st_size, 3);
  EXPECT_EQ(shown.of("f"), "new\n");
  EXPECT_NE(::unlink(path("g").c_str()), 0);
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(MountRenames, RenamesWhileFilesAreOpen) {
  shown.add("f", "one");
  shown.add("g", "two, longer");
  const auto f = opened(path("f"), O_RDWR), g = opened(path("g"), O_RDONLY);
  struct stat before {
  }, after{};
  ASSERT_EQ(::fstat(f.number(), &before), 0);
  ASSERT_EQ(::rename(path("f").c_str(), path("g").c_str()), 0);
  EXPECT_EQ(shown.of("f"), "(none)");
  EXPECT_EQ(shown.of("g"), "one");
  EXPECT_NE(::access(path("f").c_str(), F_OK), 0);
  ASSERT_EQ(::stat(path("g").c_str(), &after), 0);
  EXPECT_EQ(after.st_ino, before.st_ino);
  ASSERT_EQ(::fstat(g.number(), &after), 0);
  EXPECT_EQ(after.st_size, 11) << "who has the old one open keeps it";
  char text[16] = {};
  ASSERT_EQ(::pread(g.number(), text, 11, 0), 11);
  EXPECT_STREQ(text, "two, longer");
  ASSERT_EQ(::pwrite(f.number(), "ONE", 3, 0), 3);
  EXPECT_EQ(shown.of("g"), "ONE");
  ASSERT_EQ(::rename(path("g").c_str(), path("g").c_str()), 0);
  EXPECT_EQ(shown.of("g"), "ONE");
}

TEST_F(MountRenames, RefusesOtherRenames) {
  shown.add("f", "one");
  shown.add("g", "two");
  const auto how = [&](const char* from, const char* to, unsigned flags) {
    return ::renameat2(AT_FDCWD, path(from).c_str(), AT_FDCWD, path(to).c_str(), flags) == 0 ? 0 : errno;
  };
  EXPECT_EQ(how("f", "g", RENAME_NOREPLACE), EEXIST);
  EXPECT_EQ(how("f", "g", RENAME_EXCHANGE), EINVAL);
  EXPECT_EQ(how("none", "g", 0), ENOENT);
  EXPECT_EQ(how("f", std::string(64, 'n').c_str(), 0), ENAMETOOLONG);
  EXPECT_EQ(shown.of("f"), "one");
  EXPECT_EQ(shown.of("g"), "two");
  EXPECT_EQ(how("f", "h", RENAME_NOREPLACE), 0);
  EXPECT_EQ(shown.of("h"), "one");
}

/// What another node does between two looks of the kernel.
TEST_F(MountRenames, KnowsAFileByWhatItIsNotByItsName) {
  shown.add("f", "one");
  const auto f = opened(path("f"), O_RDONLY);
  struct stat before {
  }, after{};
  ASSERT_EQ(::fstat(f.number(), &before), 0);
  shown.add("f", "another one");
  ASSERT_EQ(::fstat(f.number(), &after), 0);
  EXPECT_EQ(after.st_size, 3);
  ASSERT_EQ(::stat(path("f").c_str(), &after), 0);
  EXPECT_EQ(after.st_size, 11);
  EXPECT_NE(after.st_ino, before.st_ino);
  EXPECT_EQ(content_of(path("f")), "another one");
  ASSERT_EQ(shown.rename("f", "elsewhere", false), 0);
  ASSERT_EQ(::stat(path("elsewhere").c_str(), &before), 0);
  EXPECT_EQ(after.st_ino, before.st_ino);
}

/// At no time is there no such file.
TEST_F(MountRenames, FindsAFileThatIsReplacedAgainAndAgain) {
  shown.add("f", "content");
  std::atomic<bool> ends{false};
  std::thread other([&] {
    while (!ends.load()) {
      shown.add("new", "content");
      EXPECT_EQ(shown.rename("new", "f", false), 0);
    }
  });
  int missed = 0;
  struct stat s {};
  for (int i = 0; i < 3000; ++i) missed += ::stat(path("f").c_str(), &s) == 0 && s.st_size == 7 ? 0 : 1;
  ends.store(true);
  other.join();
  EXPECT_EQ(missed, 0);
}

TEST_F(MountRenames, MakesAndRemovesAJournalAgainAndAgain) {
  for (int i = 0; i < 50; ++i) {
    auto d = opened(path("f"), O_RDWR | O_CREAT | O_EXCL);
    ASSERT_EQ(::write(d.number(), "new", 3), 3);
    d.reset();
    ASSERT_EQ(::unlink(path("f").c_str()), 0);
    EXPECT_NE(::unlink(path("f").c_str()), 0);
    EXPECT_EQ(errno, ENOENT);
  }
  EXPECT_TRUE(std::filesystem::is_empty(at));
}

}  // namespace
}  // namespace quire::mount::mount_renames_test
