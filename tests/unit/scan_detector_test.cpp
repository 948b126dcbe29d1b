// SPDX-License-Identifier: BSD-3-Clause
// The contract of detect::detector::collect(): writes that are found, not noticed. Over the pools that userfaultfd can
// watch.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "detect/detector.hpp"
#include "detect/userfault/page_set.hpp"
#include "os/injection.hpp"
#include "os/memory.hpp"
#include "os/process.hpp"
#include "os/userfault.hpp"
#include "pool/pool.hpp"

namespace quire::detect::scan_detector_test {
namespace {

using namespace std::chrono_literals;
using pages_told = std::vector<std::size_t>;
constexpr std::size_t page_bytes = os::page_bytes;

/// Why this machine cannot run these tests; empty if it can.
std::string why_not() {
  const os::descriptor userfault(os::userfault_open(os::userfault_mode::inline_scan));
  const os::descriptor pagemap(os::pagemap_open());
  if (userfault.open() && pagemap.open()) return "";
  return "this kernel finds no written pages (userfaultfd with WP_ASYNC, PAGEMAP_SCAN: Linux 6.7)";
}

struct variant {
  const char* name;
  pool::settings how;
};
void PrintTo(const variant& v, std::ostream* out) { *out << v.name; }
variant make_variant(const char* name, pool::kind which, const char* directory = "") {
  return {name, {which, directory, false, 0}};
}

class scan : public testing::TestWithParam<variant> {
 protected:
  void SetUp() override {
    if (const auto why = why_not(); !why.empty()) GTEST_SKIP() << why;
  }
  void TearDown() override {
    os::inject(os::call::none, 0, 0);
    remove_signals();
  }

  /// A pool of that many pages and its detector; frames for all of them unless `bare`.
  void make(std::size_t pages, bool bare = false) {
    pages_ = pages;
    auto opened = open(kind::userfault_scan, false);
    ASSERT_TRUE(opened.ok());
    guard_ = std::move(opened.value());
    int error = 0;
    void* const at = os::reserve(pages * page_bytes, nullptr, error);
    auto made =
        pool::make(GetParam().how, reinterpret_cast<std::uint64_t>(at), pages * page_bytes, guard_->accessible());
    ASSERT_TRUE(made.ok());
    memory_ = std::move(made.value());
    ASSERT_EQ(guard_->attach(page(0), pages * page_bytes), 0);
    if (!bare) {
      ASSERT_EQ(memory_->populate(0, pages * page_bytes), 0);
    }
  }
  [[nodiscard]] std::byte* page(std::size_t i) const { return memory_->application_view() + i * page_bytes; }
  void write(std::size_t i) const { *const_cast<volatile std::byte*>(page(i)) = std::byte{1}; }
  void look(std::size_t i) const { (void)*const_cast<const volatile std::byte*>(page(i)); }
  [[nodiscard]] int permit(std::size_t first, std::size_t count, access from, access to) const {
    return guard_->permit(page(first), count * page_bytes, from, to);
  }
  [[nodiscard]] int protect(std::size_t first, std::size_t count, access from, access to) const {
    return guard_->protect(page(first), count * page_bytes, from, to);
  }

  /// The pages that were written, by as many calls as it takes with room for `room` ranges.
  pages_told told(std::size_t room = 64) { return told(0, pages_, room); }
  pages_told told(std::size_t first, std::size_t last, std::size_t room) {
    std::vector<page_range> found(room);
    pages_told all;
    std::byte* const end = page(last);
    for (std::byte* at = page(first); at != end;) {
      std::size_t count = 0;
      std::byte* const before = at;
      EXPECT_EQ(guard_->collect(at, end, found, count), 0);
      EXPECT_TRUE(count == room || at == end) << "it came back early";
      EXPECT_GT(at, before);
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_GT(found[i].bytes, 0u);
        EXPECT_LE(found[i].address + found[i].bytes, at);
        if (i != 0) {
          EXPECT_LT(found[i - 1].address + found[i - 1].bytes, found[i].address) << "neighbours are one range";
        }
        const auto begin = static_cast<std::size_t>(found[i].address - page(0)) / page_bytes;
        for (std::size_t p = 0; p < found[i].bytes / page_bytes; ++p) all.push_back(begin + p);
      }
      if (HasFailure()) break;
    }
    return all;
  }

  std::unique_ptr<detector> guard_;
  std::unique_ptr<pool::pool> memory_;
  std::size_t pages_ = 0;
};
INSTANTIATE_TEST_SUITE_P(pools, scan,
                         testing::Values(make_variant("memfd", pool::kind::memfd),
                                         make_variant("posix", pool::kind::posix),
                                         make_variant("mdup", pool::kind::mdup),
                                         make_variant("file_in_memory", pool::kind::file, "/dev/shm")),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

TEST_P(scan, what_is_permitted_counts_as_not_written) {
  make(64);
  EXPECT_EQ(permit(0, 8, access::none, access::read), 0);
  EXPECT_EQ(permit(8, 8, access::none, access::write), 0);
  EXPECT_EQ(told(), pages_told{});
  for (std::size_t i = 0; i < 16; ++i) look(i);
  EXPECT_EQ(told(), pages_told{});
}

TEST_P(scan, a_write_is_told_once_and_the_next_one_again) {
  make(64);
  EXPECT_EQ(permit(0, 64, access::none, access::write), 0);
  for (int round = 0; round < 3; ++round) {
    for (const std::size_t i : {0, 5, 6, 7, 40, 63}) write(i);
    for (const std::size_t i : {6, 7}) write(i);
    EXPECT_EQ(told(), (pages_told{0, 5, 6, 7, 40, 63}));
    EXPECT_EQ(told(), pages_told{});
    write(6);
    EXPECT_EQ(told(), pages_told{6});
  }
}

TEST_P(scan, only_the_range_is_looked_at) {
  make(64);
  EXPECT_EQ(permit(0, 64, access::none, access::write), 0);
  for (std::size_t i = 0; i < 64; ++i) write(i);
  EXPECT_EQ(told(10, 12, 8), (pages_told{10, 11}));
  EXPECT_EQ(told(9, 13, 8), (pages_told{9, 12}));
  EXPECT_EQ(told(20, 20, 8), pages_told{});
  EXPECT_EQ(told().size(), 60u);
}

TEST_P(scan, a_page_that_may_be_read_may_be_written) {
  make(64);
  EXPECT_EQ(permit(0, 4, access::none, access::read), 0);
  write(2);
  EXPECT_EQ(permit(0, 4, access::read, access::write), 0) << "which loses nothing";
  EXPECT_EQ(told(), pages_told{2});
}

TEST_P(scan, lowering_to_read_forgets) {
  make(64);
  EXPECT_EQ(permit(0, 8, access::none, access::write), 0);
  for (const std::size_t i : {1, 2, 3, 4}) write(i);
  EXPECT_EQ(protect(2, 2, access::write, access::read), 0);
  EXPECT_EQ(told(), (pages_told{1, 4}));
  write(3);
  EXPECT_EQ(told(), pages_told{3});
}

TEST_P(scan, pages_without_permission_are_not_told) {
  make(64);
  EXPECT_EQ(told(), pages_told{});
  EXPECT_EQ(permit(10, 10, access::none, access::write), 0);
  for (std::size_t i = 10; i < 20; ++i) write(i);
  EXPECT_EQ(protect(12, 4, access::write, access::none), 0);
  EXPECT_EQ(told(), (pages_told{10, 11, 16, 17, 18, 19}));
  EXPECT_EQ(told(), pages_told{});
  EXPECT_EQ(permit(12, 4, access::none, access::read), 0);
  EXPECT_EQ(told(), pages_told{}) << "what was written before it was taken away is of another time";
  write(13);
  EXPECT_EQ(told(), pages_told{13});
}

TEST_P(scan, writes_through_the_system_view_are_not_told) {
  make(64);
  EXPECT_EQ(permit(0, 64, access::none, access::write), 0);
  std::memset(memory_->system_view(), 7, 64 * page_bytes);
  EXPECT_EQ(told(), pages_told{});
  EXPECT_EQ(*page(5), std::byte{7});
}

TEST_P(scan, what_the_kernel_writes_is_told) {
  make(64);
  EXPECT_EQ(permit(0, 8, access::none, access::read), 0);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  char text[2 * page_bytes] = "abc";
  // The raw calls: Quire interposes read(2).
  ASSERT_EQ(::syscall(SYS_write, ends[1], text, 3), 3);
  EXPECT_EQ(::syscall(SYS_read, ends[0], page(4), 3), 3);
  EXPECT_EQ(std::memcmp(page(4), "abc", 3), 0);
  EXPECT_EQ(told(), pages_told{4});
  ASSERT_EQ(::syscall(SYS_write, ends[1], text, page_bytes), static_cast<long>(page_bytes));
  EXPECT_EQ(::syscall(SYS_read, ends[0], page(4) + 100, page_bytes), static_cast<long>(page_bytes));
  EXPECT_EQ(told(), (pages_told{4, 5}));
  EXPECT_EQ(::syscall(SYS_write, ends[1], page(6), 3), 3);
  EXPECT_EQ(told(), pages_told{}) << "the kernel has only read";
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_P(scan, a_missing_frame_permits_nothing) {
  make(64, true);
  ASSERT_EQ(memory_->populate(0, 2 * page_bytes), 0);
  EXPECT_EQ(permit(0, 4, access::none, access::write), EFAULT);
  EXPECT_EQ(told(), pages_told{});
  ASSERT_EQ(memory_->populate(2 * page_bytes, 2 * page_bytes), 0);
  EXPECT_EQ(permit(0, 4, access::none, access::write), 0);
  EXPECT_EQ(told(), pages_told{});
  write(1);
  write(3);
  EXPECT_EQ(told(), (pages_told{1, 3}));
}

TEST_P(scan, ranges_for_which_there_is_no_room_come_by_the_next_call) {
  make(4096);
  EXPECT_EQ(permit(0, 4096, access::none, access::write), 0);
  for (const std::size_t room : {1, 2, 3, 63, 64, 65, 500, 4096}) {
    pages_told expected;
    for (std::size_t i = room % 3; i < 4096; i += 3) {
      write(i);
      expected.push_back(i);
    }
    EXPECT_EQ(told(room), expected) << room;
    EXPECT_EQ(told(room), pages_told{}) << room;
  }
  for (std::size_t i = 0; i < 4096; ++i) write(i);
  EXPECT_EQ(told(1).size(), 4096u);
}

/// For the handler.
detector* g_guard = nullptr;

bool open_page(std::uint64_t address, bool write) noexcept {
  auto* const at = reinterpret_cast<std::byte*>(address / page_bytes * page_bytes);
  return g_guard->permit(at, page_bytes, access::none, write ? access::write : access::read) == 0;
}

TEST_P(scan, an_absent_page_faults) {
  make(64);
  g_guard = guard_.get();
  ASSERT_TRUE(install_signals(&open_page).ok());
  look(3);
  EXPECT_EQ(told(), pages_told{});
  write(5);
  EXPECT_EQ(told(), pages_told{5});
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(::syscall(SYS_write, ends[1], "abc", 3), 3);
  EXPECT_EQ(::syscall(SYS_read, ends[0], page(9), 3), -1);
  EXPECT_EQ(errno, EFAULT) << "a system call takes no signal";
  EXPECT_EQ(told(), pages_told{});
  ::close(ends[0]);
  ::close(ends[1]);
}

/// Against a model that knows better, with all that a protocol may do, in any order.
TEST_P(scan, any_order_of_calls) {
  constexpr std::size_t count = 1500;  // three page tables
  make(count);
  std::mt19937 random(7);
  std::vector<bool> permitted(count), written(count);
  for (int step = 0; step < 3000; ++step) {
    const std::size_t first = random() % count,
                      length = 1 + random() % std::min<std::size_t>(count - first, random() % 4 == 0 ? 300 : 6);
    const auto all = [&](bool wanted) {
      return std::all_of(permitted.begin() + static_cast<long>(first),
                         permitted.begin() + static_cast<long>(first + length),
                         [wanted](bool p) { return p == wanted; });
    };
    switch (random() % 5) {
      case 0:
        if (!all(false)) break;
        ASSERT_EQ(permit(first, length, access::none, random() % 2 != 0 ? access::read : access::write), 0);
        for (std::size_t i = first; i < first + length; ++i) permitted[i] = true, written[i] = false;
        break;
      case 1:
        if (!all(true)) break;
        if (random() % 2 == 0) {
          ASSERT_EQ(protect(first, length, access::write, access::read), 0);
        } else {
          ASSERT_EQ(protect(first, length, access::write, access::none), 0);
          for (std::size_t i = first; i < first + length; ++i) permitted[i] = false;
        }
        for (std::size_t i = first; i < first + length; ++i) written[i] = false;
        break;
      case 2:
      case 3:
        for (std::size_t i = first; i < first + length; ++i) {
          if (!permitted[i]) continue;
          write(i);
          written[i] = true;
        }
        break;
      default: {
        if (random() % 8 != 0) break;
        pages_told expected;
        for (std::size_t i = first; i < count; ++i) {
          if (written[i]) expected.push_back(i);
          written[i] = false;
        }
        ASSERT_EQ(told(first, count, 1 + random() % 40), expected) << "step " << step;
      }
    }
  }
}

/// khugepaged does the same to a pool that may have huge pages; swapping does it page by page.
TEST_P(scan, what_the_kernel_takes_away_is_told_if_it_was_written) {
  constexpr std::size_t huge = 2u << 20, count = 4 * huge / page_bytes;
  constexpr int collapse = 25;  // MADV_COLLAPSE, Linux 6.1
  make(count);
  EXPECT_EQ(permit(0, count / 2, access::none, access::write), 0);
  for (const std::size_t i : {7, 8, 600}) write(i);
  // A third view, where huge pages fit.
  int error = 0;
  auto* const room = static_cast<std::byte*>(os::reserve(5 * huge, nullptr, error));
  auto* const at = reinterpret_cast<std::byte*>((reinterpret_cast<std::uint64_t>(room) + huge - 1) / huge * huge);
  ASSERT_EQ(::mremap(memory_->system_view(), 0, count * page_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at), at);
  const int refused = ::madvise(at, count * page_bytes, collapse) == 0 ? 0 : errno;
  os::unmap(room, 5 * huge);
  if (refused != 0) GTEST_SKIP() << "no huge pages for shared memory: " << std::strerror(refused);
  EXPECT_EQ(told(), (pages_told{7, 8, 600}));
  EXPECT_EQ(told(), pages_told{});
  // They fault now, and are permitted again.
  EXPECT_EQ(permit(0, 1, access::none, access::read), 0);
  EXPECT_EQ(told(), pages_told{0}) << "that it was not written is no longer known";
  EXPECT_EQ(permit(7, 1, access::none, access::read), 0);
  EXPECT_EQ(*page(7), std::byte{1});
  EXPECT_EQ(told(), pages_told{7});
  EXPECT_EQ(told(), pages_told{});
  EXPECT_EQ(protect(0, count / 2, access::write, access::none), 0);
  EXPECT_EQ(permit(0, count / 2, access::none, access::read), 0);
  EXPECT_EQ(told(), pages_told{});
}

TEST_P(scan, errors_come_back) {
  make(64);
  EXPECT_EQ(permit(0, 8, access::none, access::write), 0);
  write(3);
  std::array<page_range, 4> found;
  std::size_t count = 1;
  std::byte* at = page(0);
  os::inject(os::call::pagemap_scan, 1, EINTR);
  EXPECT_EQ(guard_->collect(at, page(64), found, count), EINTR);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(at, page(0));
  EXPECT_EQ(guard_->collect(at, page(64), {}, count), EINVAL);
  EXPECT_EQ(told(), pages_told{3});
  os::inject(os::call::userfault_ioctl, 1, ENOMEM);
  EXPECT_EQ(permit(20, 4, access::none, access::write), ENOMEM);
  EXPECT_EQ(told(), pages_told{});
  os::inject(os::call::advise, 1, EAGAIN);
  EXPECT_EQ(protect(0, 8, access::write, access::none), EAGAIN);
  write(2);
  EXPECT_EQ(told(), pages_told{2}) << "it was not taken away";
}

TEST_P(scan, an_error_in_the_middle_keeps_what_was_found_before) {
  make(4096);
  EXPECT_EQ(permit(0, 4096, access::none, access::write), 0);
  for (std::size_t i = 0; i < 4096; i += 2) write(i);
  std::vector<page_range> found(4096);
  std::size_t count = 0;
  std::byte* at = page(0);
  os::inject(os::call::pagemap_scan, 2, EINTR);
  EXPECT_EQ(guard_->collect(at, page(4096), found, count), EINTR);
  ASSERT_GT(count, 0u);
  EXPECT_EQ(at, found[count - 1].address + page_bytes);
  EXPECT_EQ(told().size(), 2048 - count);
}

/// Threads write, one thread collects and copies what it is told. What a thread had written before a collect began must
/// be in the copy when it is done: this is what a release promises.
TEST_P(scan, no_write_is_lost_between_threads_that_write_and_one_that_collects) {
  constexpr std::size_t count = 1100, writers = 4;  // the last of them by system calls
  make(count);
  EXPECT_EQ(permit(0, count, access::none, access::write), 0);
  const auto word = [this](std::size_t p, std::size_t w) {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(page(p) + w * 512);
  };
  std::vector<std::array<std::atomic<std::uint64_t>, writers>> done(count);
  std::vector<std::array<std::uint64_t, writers>> before(count), copy(count);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (std::size_t w = 0; w < writers; ++w) {
    threads.emplace_back([&, w] {
      std::mt19937 random(static_cast<unsigned>(w));
      int ends[2];
      ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
      for (std::uint64_t n = 1; !stop; ++n) {
        // Sometimes the same few pages again and again: they are written while they are collected.
        const std::size_t p = random() % (n % 64 < 32 ? 4 : count);
        if (w + 1 == writers) {
          ASSERT_EQ(::syscall(SYS_write, ends[1], &n, sizeof n), 8);
          ASSERT_EQ(::syscall(SYS_read, ends[0], word(p, w), sizeof n), 8);
        } else {
          word(p, w)->store(n, std::memory_order_relaxed);
        }
        done[p][w].store(n, std::memory_order_release);
      }
      ::close(ends[0]);
      ::close(ends[1]);
    });
  }
  std::uint64_t pages = 0, rounds = 0, lost = 0;
  const auto round = [&](std::size_t room) {
    for (std::size_t p = 0; p < count; ++p)
      for (std::size_t w = 0; w < writers; ++w) before[p][w] = done[p][w].load(std::memory_order_acquire);
    for (const std::size_t p : told(room)) {
      for (std::size_t w = 0; w < writers; ++w) copy[p][w] = word(p, w)->load(std::memory_order_relaxed);
      ++pages;
    }
    for (std::size_t p = 0; p < count; ++p)
      for (std::size_t w = 0; w < writers; ++w) lost += copy[p][w] < before[p][w] ? 1 : 0;
    ++rounds;
  };
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < 1s && lost == 0) round(rounds % 3 == 0 ? 1 + rounds % 5 : 256);
  stop = true;
  for (auto& thread : threads) thread.join();
  round(256);
  EXPECT_EQ(lost, 0u);
  for (std::size_t p = 0; p < count; ++p)
    for (std::size_t w = 0; w < writers; ++w) EXPECT_EQ(copy[p][w], *word(p, w)) << p;
  EXPECT_GT(rounds, 20u);
  EXPECT_GT(pages, 1000u);
  EXPECT_EQ(told(), pages_told{});
}

TEST(scan_choice, the_others_do_not_scan) {
  for (const auto which : {kind::userfault_inline, kind::segv}) {
    auto opened = open(which, false);
    ASSERT_TRUE(opened.ok());
    EXPECT_FALSE(opened.value()->scans());
    std::array<page_range, 4> found;
    std::size_t count = 7;
    std::byte* at = nullptr;
    EXPECT_EQ(opened.value()->collect(at, at, found, count), ENOTSUP);
    EXPECT_EQ(count, 0u);
  }
}

/// The line that says why the detector cannot be opened.
std::string refusal(os::address_space& where = os::this_process(), bool quiet = false) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(open(kind::userfault_scan, quiet, where).why(), base::status(QUIRE_UNSUPPORTED));
  return testing::internal::GetCapturedStderr();
}

TEST(scan_choice, a_kernel_that_cannot_is_named) {
  os::inject(os::call::userfault_ioctl, 1, EINVAL);
  EXPECT_NE(refusal().find("Linux 6.7"), std::string::npos);
  if (const auto why = why_not(); !why.empty()) GTEST_SKIP() << why;
  os::inject(os::call::pagemap_open, 1, ENOTTY);
  EXPECT_NE(refusal().find("Linux 6.7"), std::string::npos);
  os::inject(os::call::userfault_open, 1, EPERM);
  EXPECT_NE(refusal().find(std::strerror(EPERM)), std::string::npos);
  os::inject(os::call::none, 0, 0);
}

TEST(scan_choice, another_process_cannot_be_scanned) {
  struct elsewhere final : os::address_space {
    int protect(void*, std::size_t, int) noexcept override { return 0; }
    int advise(void*, std::uint64_t, int) noexcept override { return 0; }
    int open_userfault(os::userfault_mode) noexcept override { return -EOPNOTSUPP; }
  } other;
  EXPECT_NE(refusal(other).find("fork"), std::string::npos);
  EXPECT_EQ(refusal(other, true), "");
}

TEST(pagemap, memory_that_nobody_watches_is_refused) {
  if (const auto why = why_not(); !why.empty()) GTEST_SKIP() << why;
  const os::descriptor pagemap(os::pagemap_open());
  int error = 0;
  void* const at = os::map_shared(-1, page_bytes, nullptr, true, error);
  const auto begin = reinterpret_cast<std::uint64_t>(at);
  std::array<os::pagemap_range, 4> found;
  std::size_t count = 1;
  std::uint64_t next = 0;
  EXPECT_EQ(os::pagemap_collect(pagemap.number(), begin, begin + page_bytes, found, count, next), EPERM);
  EXPECT_EQ(os::pagemap_collect(pagemap.number(), begin, begin + page_bytes, {}, count, next), EINVAL);
  EXPECT_EQ(count, 0u);
  os::unmap(at, page_bytes);
}

TEST(page_set, finds_what_is_in_and_what_is_not) {
  constexpr std::uint64_t base = (std::uint64_t{1} << 42) - 100 * page_bytes, count = 1000;  // over the end of a GiB
  page_set set;
  ASSERT_EQ(set.cover(base, count / 2 * page_bytes), 0);
  ASSERT_EQ(set.cover(base + count / 2 * page_bytes, count / 2 * page_bytes), 0);
  EXPECT_EQ(set.cover(std::uint64_t{1} << 60, page_bytes), EINVAL);
  const auto at = [](std::uint64_t i) { return base + i * page_bytes; };
  std::mt19937 random(3);
  std::set<std::uint64_t> model;
  for (int step = 0; step < 3000; ++step) {
    const std::uint64_t first = random() % count, length = 1 + random() % std::min<std::uint64_t>(count - first, 200);
    if (random() % 2 == 0) {
      const auto next = model.lower_bound(first);
      EXPECT_EQ(set.insert(at(first), length * page_bytes), next != model.end() && *next < first + length);
      for (std::uint64_t i = first; i < first + length; ++i) model.insert(i);
    } else {
      set.erase(at(first), length * page_bytes);
      model.erase(model.lower_bound(first), model.lower_bound(first + length));
    }
    const std::uint64_t from = random() % count, end = from + random() % (count - from + 1);
    std::uint64_t in = from, out = from;
    while (in < end && !model.contains(in)) ++in;
    while (out < end && model.contains(out)) ++out;
    ASSERT_EQ(set.next_in(at(from), at(end)), at(in));
    ASSERT_EQ(set.next_out(at(from), at(end)), at(out));
  }
}

}  // namespace
}  // namespace quire::detect::scan_detector_test
