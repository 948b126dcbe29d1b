// SPDX-License-Identifier: BSD-3-Clause
// The atomic page update (ParADE): while one thread replaces the content of a page, no other may see a half of it.
// Threads read pages word by word, upwards; an updater closes a page, writes a higher number into all words, upwards,
// and opens it again. Who reads upwards may meet the next version on the way, but never the version before. Over pools
// and detectors; and with a pool that is broken on purpose, to show that this test can see.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "detect/detector.hpp"
#include "os/memory.hpp"
#include "pool/pool.hpp"

namespace quire::page_update_test {
namespace {

using detect::access;
using namespace std::chrono_literals;

constexpr std::size_t page_bytes = os::page_bytes, words_per_page = page_bytes / sizeof(std::uint64_t);
constexpr std::size_t pages = 16;
constexpr unsigned readers = 4;

/// The pages, and who may read which: what an engine would know.
struct field {
  std::byte* base = nullptr;
  std::array<std::atomic<bool>, pages> open{};
  std::atomic<std::uint64_t> faults{0};
};
field* g_field = nullptr;

/// A reader came too early: it waits here, inside its fault, until the page is open.
bool on_fault(std::uint64_t address, bool) noexcept {
  field& f = *g_field;
  const std::uint64_t page = (address - reinterpret_cast<std::uint64_t>(f.base)) / page_bytes;
  if (page >= pages) return false;
  f.faults.fetch_add(1, std::memory_order_relaxed);
  while (!f.open[page].load(std::memory_order_acquire)) std::this_thread::yield();
  return true;
}

struct setting {
  pool::kind pool;
  detect::kind detector;
  bool broken = false;  ///< pages are updated through the application view, which must be open for that
};
void PrintTo(const setting& s, std::ostream* out) {
  *out << pool::name_of(s.pool) << (s.detector == detect::kind::segv ? ", segv" : ", userfault");
}

struct outcome {
  std::uint64_t torn = 0, updates = 0, scans = 0, faults = 0;
};

constexpr std::uint64_t enough_faults = 50;

/// Lets readers and an updater loose on `s` for `span` and until they have met often enough, or a torn page has been
/// seen.
outcome hammer(const setting& s, std::chrono::milliseconds span) {
  outcome seen;
  auto detector = detect::open(s.detector, false);
  int error = 0;
  void* const at = os::reserve(pages * page_bytes, nullptr, error);
  auto made = pool::make({s.pool, "", false, 0}, reinterpret_cast<std::uint64_t>(at), pages * page_bytes,
                         detector.value()->accessible());
  pool::pool& memory = *made.value();
  detect::detector& guard = *detector.value();
  field f;
  f.base = memory.application_view();
  g_field = &f;
  EXPECT_EQ(guard.attach(f.base, pages * page_bytes), 0);
  EXPECT_TRUE(detect::install_signals(&on_fault).ok());
  EXPECT_EQ(memory.populate(0, pages * page_bytes), 0);

  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> torn{0}, scans{0};
  std::vector<std::thread> threads;
  for (unsigned r = 0; r < readers; ++r) {
    threads.emplace_back([&, r] {
      for (std::size_t page = r; !stop.load(std::memory_order_relaxed); page = (page + 1) % pages) {
        const auto* const words = reinterpret_cast<volatile const std::uint64_t*>(f.base + page * page_bytes);
        std::uint64_t last = 0;
        for (std::size_t i = 0; i < words_per_page; ++i) {
          const std::uint64_t word = words[i];
          if (word < last) torn.fetch_add(1);
          last = word;
        }
        scans.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  const auto start = std::chrono::steady_clock::now();
  const auto goes_on = [&] {
    const auto past = std::chrono::steady_clock::now() - start;
    return torn == 0 && (past < span || (f.faults <= enough_faults && past < 20s));  // a busy machine needs longer
  };
  for (std::uint64_t version = 1; goes_on(); ++version) {
    const std::size_t page = version % pages;
    std::byte* const view = f.base + page * page_bytes;
    const bool was_open = f.open[page].exchange(false);
    int failed = was_open ? guard.protect(view, page_bytes, access::read, access::none) : 0;
    if (s.broken) failed |= guard.permit(view, page_bytes, access::none, access::write);
    auto* const words =
        reinterpret_cast<volatile std::uint64_t*>(s.broken ? view : memory.system_view() + page * page_bytes);
    for (std::size_t i = 0; i < words_per_page; ++i) words[i] = version;
    failed |= s.broken ? guard.protect(view, page_bytes, access::write, access::read)
                       : guard.permit(view, page_bytes, access::none, access::read);
    EXPECT_EQ(failed, 0);
    f.open[page].store(true, std::memory_order_release);
    ++seen.updates;
  }
  // All pages open, so that nobody waits for ever.
  for (std::size_t page = 0; page < pages; ++page) {
    if (f.open[page]) continue;
    EXPECT_EQ(guard.permit(f.base + page * page_bytes, page_bytes, access::none, access::read), 0);
    f.open[page] = true;
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  detect::remove_signals();
  seen.torn = torn;
  seen.scans = scans;
  seen.faults = f.faults;
  return seen;
}

class page_update : public testing::TestWithParam<setting> {};
INSTANTIATE_TEST_SUITE_P(all, page_update,
                         testing::Values(setting{pool::kind::memfd, detect::kind::userfault_inline},
                                         setting{pool::kind::posix, detect::kind::userfault_inline},
                                         setting{pool::kind::mdup, detect::kind::userfault_inline},
                                         setting{pool::kind::memfd, detect::kind::segv},
                                         setting{pool::kind::file, detect::kind::segv},
                                         setting{pool::kind::posix, detect::kind::segv},
                                         setting{pool::kind::sysv, detect::kind::segv},
                                         setting{pool::kind::mdup, detect::kind::segv}),
                         [](const auto& chosen) {
                           return std::string(pool::name_of(chosen.param.pool)) +
                                  (chosen.param.detector == detect::kind::segv ? "_segv" : "_userfault");
                         });

TEST_P(page_update, nobody_sees_half_a_page) {
  const outcome seen = hammer(GetParam(), 700ms);
  EXPECT_EQ(seen.torn, 0u);
  EXPECT_GT(seen.updates, 100u);
  EXPECT_GT(seen.scans, 100u);
  EXPECT_GT(seen.faults, enough_faults) << "nobody came while a page was closed: the test has not tested";
}

/// System V segments and files on a disk are not for userfaultfd; what the pool says is what the kernel does.
TEST(page_update_choice, takes_userfault_is_what_the_kernel_says) {
  auto detector = detect::open(detect::kind::userfault_inline, false);
  ASSERT_TRUE(detector.ok());
  for (const auto which :
       {pool::kind::memfd, pool::kind::file, pool::kind::posix, pool::kind::sysv, pool::kind::mdup}) {
    for (const char* directory : {"/var/tmp", "/dev/shm"}) {
      int error = 0;
      void* const at = os::reserve(pages * page_bytes, nullptr, error);
      const pool::settings how{which, directory, false, 0};
      auto made = pool::make(how, reinterpret_cast<std::uint64_t>(at), pages * page_bytes, true);
      ASSERT_TRUE(made.ok());
      const bool taken = detector.value()->attach(made.value()->application_view(), pages * page_bytes) == 0;
      EXPECT_EQ(taken, pool::takes_userfault(how)) << pool::name_of(which) << " in " << directory;
    }
  }
}

TEST(broken_page_update, is_seen_within_seconds) {
  for (const auto detector : {detect::kind::userfault_inline, detect::kind::segv}) {
    EXPECT_GT(hammer({pool::kind::memfd, detector, true}, 10s).torn, 0u);
  }
}

}  // namespace
}  // namespace quire::page_update_test
