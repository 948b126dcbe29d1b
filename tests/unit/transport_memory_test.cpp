// SPDX-License-Identifier: BSD-3-Clause
// What the memory that nodes of a host share for messages costs before there are any.
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "transport_nodes.hpp"

namespace quire::transport::test::transport_memory_test {
namespace {

/// Bytes of memory that files without a name have taken, and could take, whose names begin so.
std::pair<std::uint64_t, std::uint64_t> memory_of(const std::string& names) {
  std::uint64_t taken = 0, all = 0;
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    struct stat about {};
    if (!std::filesystem::read_symlink(one, gone).string().starts_with("/memfd:" + names) ||
        ::stat(one.path().c_str(), &about) != 0)
      continue;
    taken += static_cast<std::uint64_t>(about.st_blocks) * 512;
    all += static_cast<std::uint64_t>(about.st_size);
  }
  return {taken, all};
}

TEST(transport_memory, is_taken_as_it_is_used) {
  job("shm", 8).run([](node& n) {
    const auto [taken, all] = memory_of("quire-rings");
    EXPECT_GE(all, std::uint64_t{1} << 21);
    EXPECT_LE(taken, 16u << 10);
    n.meet();
  });
}

/// UCX writes zeroes to all of it, and each node of a job would begin with that.
TEST(transport_memory, of_ucx_is_taken_as_it_is_used) {
  job("ucx", 2).run([](node& n) {
    const auto [taken, all] = memory_of("ucx");
    EXPECT_GE(all, std::uint64_t{1} << 21);
    EXPECT_LT(taken, all / 2 + all / 8);  // the first page of each buffer
    n.meet();
  });
}

}  // namespace
}  // namespace quire::transport::test::transport_memory_test
