// SPDX-License-Identifier: BSD-3-Clause
// Pools whose frames are a host's: what one writes the others have, until one has frames of its own; and the file that
// another process has open.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "os/memory.hpp"
#include "os/process_file.hpp"
#include "pool/pool.hpp"

namespace quire::pool::host_pool_test {
namespace {

constexpr std::uint64_t range = std::uint64_t{64} << 20, bytes = std::uint64_t{1} << 20,
                        offset = std::uint64_t{4} << 20;

class host_pool : public testing::Test {
 protected:
  void SetUp() override {
    file_ = os::make_memfd("host", range);
    ASSERT_GE(file_, 0);
    first_ = make();
    second_ = make();
  }
  void TearDown() override { os::close_descriptor(file_); }

  /// Each stands where it is put; to the file both are at one address.
  [[nodiscard]] std::unique_ptr<class pool> make(const fine_views& fine = {}) const {
    int error = 0;
    void* const at = os::reserve(bytes + fine.count * fine.stride, nullptr, error);
    EXPECT_NE(at, nullptr);
    settings how;
    how.host_file = file_;
    how.host_base = reinterpret_cast<std::uint64_t>(at) - offset;
    auto made = ::quire::pool::make(how, reinterpret_cast<std::uint64_t>(at), bytes, true, fine);
    EXPECT_TRUE(made.ok());
    return std::move(made.value());
  }
  [[nodiscard]] std::uint64_t frames_kib() const {
    struct stat about {};
    EXPECT_EQ(::fstat(file_, &about), 0);
    return static_cast<std::uint64_t>(about.st_blocks) / 2;
  }

  int file_ = -1;
  std::unique_ptr<class pool> first_, second_;
};

TEST_F(host_pool, what_one_writes_the_other_has) {
  first_->system_view()[5000] = std::byte{7};
  EXPECT_EQ(second_->application_view()[5000], std::byte{7});
  second_->application_view()[4999] = std::byte{8};
  EXPECT_EQ(first_->system_view()[4999], std::byte{8});
  EXPECT_EQ(frames_kib(), 4u);
  EXPECT_TRUE(first_->of_host());
}

TEST_F(host_pool, frames_lie_where_the_address_says) {
  first_->system_view()[0] = std::byte{7};
  int error = 0;
  void* const all = os::map_shared(file_, range, nullptr, true, error);
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(static_cast<std::byte*>(all)[offset], std::byte{7});
  os::unmap(all, range);
}

TEST_F(host_pool, the_end_of_one_leaves_the_frames_to_the_others) {
  first_->system_view()[0] = std::byte{7};
  first_.reset();
  EXPECT_EQ(second_->system_view()[0], std::byte{7});
}

TEST_F(host_pool, frames_go_with_the_region) {
  first_->system_view()[0] = second_->system_view()[70'000] = std::byte{7};
  EXPECT_EQ(frames_kib(), 8u);
  EXPECT_EQ(first_->leave(), 0);
  EXPECT_EQ(frames_kib(), 0u);
  EXPECT_EQ(second_->leave(), 0);
  EXPECT_EQ(make()->system_view()[0], std::byte{0});
}

TEST_F(host_pool, one_has_frames_of_its_own_from_then_on) {
  first_->system_view()[0] = std::byte{7};
  std::byte* before = nullptr;
  ASSERT_EQ(first_->own_frames(before), 0);
  EXPECT_EQ(before[0], std::byte{7});
  EXPECT_EQ(first_->system_view()[0], std::byte{0});
  first_->system_view()[0] = std::byte{1};
  EXPECT_EQ(second_->system_view()[0], std::byte{7});
  ASSERT_EQ(first_->make_accessible(), 0);
  EXPECT_EQ(first_->application_view()[0], std::byte{1});
  EXPECT_EQ(first_->own_frames(before), EOPNOTSUPP) << "it has them";
  first_->end_host();
  EXPECT_FALSE(first_->of_host());
  EXPECT_EQ(frames_kib(), 0u);
  EXPECT_EQ(first_->leave(), 0);
}

TEST_F(host_pool, fine_views_go_along) {
  auto third = make({2, bytes});
  std::byte* before = nullptr;
  third->application_view()[2 * bytes] = std::byte{3};
  EXPECT_EQ(second_->system_view()[0], std::byte{3});
  ASSERT_EQ(third->own_frames(before), 0);
  ASSERT_EQ(third->make_accessible(), 0);
  third->application_view()[bytes + 1] = std::byte{4};
  EXPECT_EQ(third->system_view()[1], std::byte{4});
  EXPECT_EQ(second_->system_view()[1], std::byte{0});
  third->end_host();
}

TEST_F(host_pool, other_pools_have_no_host) {
  int error = 0;
  void* const at = os::reserve(bytes, nullptr, error);
  auto made = ::quire::pool::make({}, reinterpret_cast<std::uint64_t>(at), bytes, true);
  ASSERT_TRUE(made.ok());
  std::byte* before = nullptr;
  EXPECT_FALSE(made.value()->of_host());
  EXPECT_EQ(made.value()->own_frames(before), EOPNOTSUPP);
}

TEST(file_of_a_process, is_opened_if_it_is_the_one_that_was_told) {
  const int file = os::make_memfd("host", 4096), other = os::make_memfd("host", 4096);
  const os::file_identity which = os::identity_of(file);
  EXPECT_TRUE(which.known());
  EXPECT_FALSE(os::identity_of(-1).known());
  const int opened = os::open_of_process(::getpid(), file, which);
  EXPECT_GE(opened, 0);
  EXPECT_EQ(os::identity_of(opened), which);
  EXPECT_EQ(os::open_of_process(::getpid(), other, which), -ESTALE);
  EXPECT_EQ(os::open_of_process(::getpid(), file, {}), -ESTALE);
  EXPECT_EQ(os::open_of_process(::getpid(), 9999, which), -ENOENT);
  for (const int fd : {file, other, opened}) os::close_descriptor(fd);
}

}  // namespace
}  // namespace quire::pool::host_pool_test
