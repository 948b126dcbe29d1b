// SPDX-License-Identifier: BSD-3-Clause
// Containers over files of a file system that is full for a while.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "command.hpp"

namespace quire::test::container_full_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class container_full : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "quire-full-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    if (::mount("tmpfs", root_.c_str(), "tmpfs", 0, "size=4m") != 0)
      GTEST_SKIP() << "this needs the right to mount a tmpfs";
    mounted_ = true;
    std::ofstream(root_ + "/ballast") << std::string(3 << 20, 'x');
  }
  void TearDown() override {
    if (mounted_) {
      EXPECT_EQ(::umount(root_.c_str()), 0);
    }
    fs::remove_all(root_);
  }
  std::string root_{};
  bool mounted_ = false;
};

TEST_P(container_full, loses_nothing) {
  const auto result = run({QUIRE_TOOL, "run", "-n", std::to_string(GetParam()), "--timeout", "60",
                           QUIRE_PROGRAMS "/container_full_program", root_},
                          {}, "", 70);
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("all is well"));
  EXPECT_THAT(result.err, HasSubstr("No space left on device"));
}

INSTANTIATE_TEST_SUITE_P(nodes, container_full, testing::Values(1, 2, 3),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

}  // namespace
}  // namespace quire::test::container_full_test
