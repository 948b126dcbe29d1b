// SPDX-License-Identifier: BSD-3-Clause
// A /dev/shm of the test's own: what others do in theirs is not seen, and theirs can be neither filled nor littered.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace quire::test {

/// While it lives, this process and all that it starts have an empty tmpfs of `bytes` there. One at a time.
class own_shm {
 public:
  explicit own_shm(std::uint64_t bytes) {
    const std::string size = "mode=1777,size=" + std::to_string(bytes);
    there_ = ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
             ::mount("none", "/dev/shm", "tmpfs", 0, size.c_str()) == 0;
  }
  ~own_shm() {
    if (there_) ::umount2("/dev/shm", MNT_DETACH);
  }
  own_shm(const own_shm&) = delete;
  own_shm& operator=(const own_shm&) = delete;
  /// False: mounting is not allowed.
  [[nodiscard]] bool there() const noexcept { return there_; }
  [[nodiscard]] static std::vector<std::string> names() {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) found.push_back(entry.path());
    return found;
  }
  /// What is taken of it, with or without a name.
  [[nodiscard]] static std::uint64_t used_bytes() {
    struct statvfs about {};
    EXPECT_EQ(::statvfs("/dev/shm", &about), 0);
    return (about.f_blocks - about.f_bfree) * about.f_frsize;
  }

 private:
  bool there_ = false;
};

}  // namespace quire::test

#define OWN_SHM_OR_SKIP(name, bytes)      \
  const quire::test::own_shm name(bytes); \
  if (!name.there()) GTEST_SKIP() << "mounting a /dev/shm of one's own takes root"
