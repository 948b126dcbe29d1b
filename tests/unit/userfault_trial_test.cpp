// SPDX-License-Identifier: BSD-3-Clause
// What a trial of userfaultfd finds, and read-only pages as kernels before Linux 6.4 have them.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "detect/userfault/read_only.hpp"
#include "detect/userfault/trial.hpp"
#include "os/injection.hpp"
#include "os/memory.hpp"
#include "os/process.hpp"

namespace quire::detect::userfault_trial_test {
namespace {

constexpr std::size_t page_bytes = os::page_bytes;

/// By the kernel, which gets an error where a thread would get a signal.
bool write_by_kernel(std::byte* at) { return ::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, at) == 0; }

/// Pages of a memory object, watched in one view; frames for all of them.
class read_only_in_steps : public testing::TestWithParam<bool> {
 protected:
  static constexpr std::size_t pages = 8;
  void SetUp() override {
    if (!try_userfault(os::userfault_mode::inline_sigbus).all()) GTEST_SKIP() << "this machine has no userfaultfd";
    userfault_ = os::descriptor(os::userfault_open(os::userfault_mode::inline_sigbus));
    memory_ = os::descriptor(os::make_memfd("trial", pages * page_bytes));
    int error = 0;
    view_ = static_cast<std::byte*>(GetParam()
                                        ? os::map_private(memory_.number(), pages * page_bytes, nullptr, true, error)
                                        : os::map_shared(memory_.number(), pages * page_bytes, nullptr, true, error));
    system_ = static_cast<std::byte*>(os::map_shared(memory_.number(), pages * page_bytes, nullptr, true, error));
    ASSERT_EQ(error, 0);
    ASSERT_EQ(os::userfault_register(userfault_.number(), view_, pages * page_bytes), 0);
  }
  void TearDown() override {
    os::unmap(view_, pages * page_bytes);
    os::unmap(system_, pages * page_bytes);
  }
  int permit(std::size_t count) {
    return permit_reading_in_steps(userfault_.number(), view_, count * page_bytes, os::this_process());
  }

  os::descriptor userfault_, memory_;
  std::byte* view_ = nullptr;
  std::byte* system_ = nullptr;
};

TEST_P(read_only_in_steps, shows_the_frame_and_keeps_writers_out) {
  std::memset(system_, 7, pages * page_bytes);
  ASSERT_EQ(permit(pages), 0);
  for (std::size_t i = 0; i < pages; ++i) {
    EXPECT_EQ(view_[i * page_bytes], std::byte{7});
    EXPECT_FALSE(write_by_kernel(view_ + i * page_bytes)) << i;
  }
  ASSERT_EQ(os::userfault_protect(userfault_.number(), view_, page_bytes, false), 0);
  EXPECT_TRUE(write_by_kernel(view_));
  EXPECT_FALSE(write_by_kernel(view_ + page_bytes));
  EXPECT_EQ(system_[0] == std::byte{7} && system_[1] == std::byte{7} && system_[2] == std::byte{7}, GetParam())
      << "a private copy takes the write, and only that";
}

TEST_P(read_only_in_steps, leaves_code_in_them_that_runs) {
  constexpr int usual = PROT_READ | PROT_WRITE | PROT_EXEC;
  ASSERT_EQ(os::protect(view_, pages * page_bytes, usual), 0);
#if defined(__x86_64__)
  constexpr unsigned char returns[] = {0xc3};
#elif defined(__aarch64__)
  constexpr unsigned char returns[] = {0xc0, 0x03, 0x5f, 0xd6};
#endif
  std::memcpy(system_, returns, sizeof returns);
  ASSERT_EQ(permit_reading_in_steps(userfault_.number(), view_, page_bytes, os::this_process(), usual), 0);
  __builtin___clear_cache(reinterpret_cast<char*>(view_), reinterpret_cast<char*>(view_ + page_bytes));
  reinterpret_cast<void (*)()>(view_)();
  EXPECT_FALSE(write_by_kernel(view_));
}

TEST_P(read_only_in_steps, lets_nobody_in_where_a_frame_is_missing) {
  std::memset(system_, 7, 2 * page_bytes);
  EXPECT_EQ(permit(4), EFAULT);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_FALSE(write_by_kernel(view_ + i * page_bytes)) << i;
  std::memset(system_, 8, 4 * page_bytes);
  EXPECT_EQ(permit(4), 0);
  EXPECT_EQ(view_[0], std::byte{8});
  EXPECT_FALSE(write_by_kernel(view_));
}

TEST_P(read_only_in_steps, has_no_moment_at_which_a_write_goes_through) {
  std::memset(system_, 7, pages * page_bytes);
  std::atomic<bool> ends{false};
  std::atomic<int> through{0};
  std::thread writer([&] {
    while (!ends.load()) through += write_by_kernel(view_) || write_by_kernel(view_ + page_bytes) ? 1 : 0;
  });
  for (int round = 0; round < 3000; ++round) {
    ASSERT_EQ(permit(2), 0);
    ASSERT_EQ(os::advise(view_, 2 * page_bytes, MADV_DONTNEED), 0);
  }
  ends.store(true);
  writer.join();
  EXPECT_EQ(through.load(), 0);
}

INSTANTIATE_TEST_SUITE_P(views, read_only_in_steps, testing::Bool(),
                         [](const auto& info) { return info.param ? "private_copies" : "shared"; });

TEST(populate, by_the_way_of_old_kernels_makes_frames_and_keeps_content) {
  constexpr std::size_t bytes = 4 * page_bytes;
  const os::descriptor memory(os::make_memfd("old", bytes));
  int error = 0;
  auto* const view = static_cast<std::byte*>(os::map_shared(memory.number(), bytes, nullptr, true, error));
  ASSERT_EQ(error, 0);
  view[2 * page_bytes + 5] = std::byte{9};
  os::inject(os::call::populate, 1, EINVAL);
  EXPECT_EQ(os::populate(view, bytes), 0);
  os::inject(os::call::none, 0, 0);
  unsigned char there[4] = {};
  ASSERT_EQ(::mincore(view, bytes, there), 0);
  for (const unsigned char one : there) EXPECT_EQ(one & 1, 1);
  EXPECT_EQ(view[2 * page_bytes + 5], std::byte{9});
  EXPECT_EQ(view[0], std::byte{0});
  ASSERT_EQ(::ftruncate(memory.number(), page_bytes), 0);
  EXPECT_EQ(os::populate(view, bytes), EFAULT) << "no frame beyond the end: an error, not SIGBUS";
  os::unmap(view, bytes);
}

}  // namespace
}  // namespace quire::detect::userfault_trial_test
