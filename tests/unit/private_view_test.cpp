// SPDX-License-Identifier: BSD-3-Clause
// Application views with private copies of pages (pool::view_kind), for which transactions have them: frames hold what
// is committed, and what a thread writes goes to a copy. On the machine's own kernel, over the pools that have such
// views and the detectors that work on them.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "detect/detector.hpp"
#include "os/injection.hpp"
#include "os/memory.hpp"
#include "os/userfault.hpp"
#include "pool/pool.hpp"

namespace quire::private_view_test {
namespace {

using detect::access;
constexpr std::size_t page_bytes = os::page_bytes, pages = 32;

struct variant {
  const char* name;
  pool::settings how;
  detect::kind detector;
};
void PrintTo(const variant& v, std::ostream* out) { *out << v.name; }
variant of(const char* name, pool::kind which, detect::kind detector, const char* directory = "") {
  return {name, {which, directory, false, 0}, detector};
}

class private_view;
private_view* g_running = nullptr;

struct fault {
  std::size_t page;
  bool write;
  friend bool operator==(const fault&, const fault&) = default;
};
void PrintTo(const fault& f, std::ostream* out) { *out << (f.write ? "write to page " : "read of page ") << f.page; }
using faults = std::vector<fault>;

/// Units of some pages. A fault is noted, and the unit is permitted, as an engine does.
class private_view : public testing::TestWithParam<variant> {
 protected:
  void SetUp() override {
    if (GetParam().detector == detect::kind::userfault_inline) {
      const int fd = os::userfault_open(os::userfault_mode::inline_sigbus);
      if (fd < 0) GTEST_SKIP() << "this machine has no userfaultfd: " << std::strerror(-fd);
      os::close_descriptor(fd);
    }
    auto opened = detect::open(GetParam().detector, false);
    ASSERT_TRUE(opened.ok());
    guard_ = std::move(opened.value());
    int error = 0;
    void* const at = os::reserve(pages * page_bytes, nullptr, error);
    ASSERT_NE(at, nullptr) << std::strerror(error);
    auto made = pool::make(GetParam().how, reinterpret_cast<std::uint64_t>(at), pages * page_bytes,
                           guard_->accessible(), {}, pool::view_kind::private_copies);
    ASSERT_TRUE(made.ok());
    memory_ = std::move(made.value());
    ASSERT_EQ(memory_->application_view(), at);
    ASSERT_EQ(guard_->attach(memory_->application_view(), pages * page_bytes, true), 0);
    ASSERT_EQ(memory_->populate(0, pages * page_bytes), 0);
    for (std::size_t i = 0; i < pages; ++i) std::memset(frame(i), static_cast<int>(i + 1), page_bytes);
    seen_.reserve(1000);  // handlers allocate nothing
    g_running = this;
    ASSERT_TRUE(detect::install_signals(on_fault).ok());
  }
  void TearDown() override {
    detect::remove_signals();
    g_running = nullptr;
    os::inject(os::call::none, 0, 0);
  }

  [[nodiscard]] std::byte* view(std::size_t page) const { return memory_->application_view() + page * page_bytes; }
  [[nodiscard]] std::byte* frame(std::size_t page) const { return memory_->system_view() + page * page_bytes; }
  [[nodiscard]] int load(std::size_t page, std::size_t offset = 100) const {
    return std::to_integer<int>(const_cast<const volatile std::byte*>(view(page))[offset]);
  }
  void store(std::size_t page, int value, std::size_t offset = 100) const {
    const_cast<volatile std::byte*>(view(page))[offset] = static_cast<std::byte>(value);
  }
  [[nodiscard]] int framed(std::size_t page, std::size_t offset = 100) const {
    return std::to_integer<int>(frame(page)[offset]);
  }
  void permit(std::size_t page, std::size_t count, access from, access to) {
    ASSERT_EQ(guard_->permit(view(page), count * page_bytes, from, to), 0);
    for (std::size_t i = page; i < page + count; ++i) rights_[i] = to;
  }
  void protect(std::size_t page, std::size_t count, access from, access to) {
    ASSERT_EQ(guard_->protect(view(page), count * page_bytes, from, to), 0);
    for (std::size_t i = page; i < page + count; ++i) rights_[i] = to;
  }
  /// Faults since the last call.
  faults seen() {
    faults all = seen_;
    seen_.clear();  // which keeps the room
    return all;
  }

  std::size_t unit_ = 1;  ///< pages
  std::unique_ptr<detect::detector> guard_{};
  std::unique_ptr<pool::pool> memory_{};
  access rights_[pages] = {};

 private:
  static bool on_fault(std::uint64_t address, bool write) noexcept {
    private_view& self = *g_running;
    const std::uint64_t page =
        (address - reinterpret_cast<std::uint64_t>(self.memory_->application_view())) / page_bytes;
    if (page >= pages || self.seen_.size() == self.seen_.capacity()) return false;
    self.seen_.push_back({page, write});
    const std::size_t first = page / self.unit_ * self.unit_;
    const access to = write ? access::write : access::read;
    if (self.guard_->permit(self.view(first), self.unit_ * page_bytes, self.rights_[page], to) != 0) return false;
    for (std::size_t i = first; i < first + self.unit_; ++i) self.rights_[i] = to;
    return true;
  }

  faults seen_{};
};
INSTANTIATE_TEST_SUITE_P(all, private_view,
                         testing::Values(of("memfd_userfault", pool::kind::memfd, detect::kind::userfault_inline),
                                         of("memfd_segv", pool::kind::memfd, detect::kind::segv),
                                         of("posix_userfault", pool::kind::posix, detect::kind::userfault_inline),
                                         of("posix_segv", pool::kind::posix, detect::kind::segv),
                                         of("file_in_memory_userfault", pool::kind::file,
                                            detect::kind::userfault_inline, "/dev/shm"),
                                         of("file_in_memory_segv", pool::kind::file, detect::kind::segv, "/dev/shm"),
                                         of("file_segv", pool::kind::file, detect::kind::segv)),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

TEST_P(private_view, read_shows_the_frame) {
  EXPECT_EQ(load(3), 4);
  EXPECT_EQ(load(3, 4095), 4);
  EXPECT_EQ(load(4), 5);
  EXPECT_EQ(seen(), (faults{{3, false}, {4, false}}));
}

/// The view shows frames for a while: nothing is permitted at first, writes are in the frames, and copies of before are
/// gone.
TEST_P(private_view, shows_frames_and_copies_again) {
  store(3, 77);
  (void)load(4);
  for (const bool copies : {false, true}) {
    ASSERT_EQ(memory_->show(copies ? pool::view_kind::private_copies : pool::view_kind::shared), 0);
    guard_->detach(memory_->application_view(), pages * page_bytes);
    ASSERT_EQ(guard_->attach(memory_->application_view(), pages * page_bytes, copies), 0);
    if (guard_->accessible()) {
      ASSERT_EQ(memory_->make_accessible(), 0);
    }
    std::ranges::fill(rights_, access::none);
    (void)seen();
    EXPECT_EQ(load(3), copies ? 78 : 4);
    EXPECT_EQ(seen(), (faults{{3, false}}));
    permit(3, 1, access::read, access::write);
    store(3, copies ? 79 : 78);
    EXPECT_EQ(framed(3), 78);
    EXPECT_EQ(load(4), 5);
    protect(3, 1, access::write, access::none);
    EXPECT_EQ(load(3), 78);
    protect(3, 1, access::read, access::none);
  }
}

TEST_P(private_view, write_stays_out_of_the_frame) {
  store(3, 77);  // none -> write
  EXPECT_EQ(load(3), 77);
  EXPECT_EQ(load(3, 101), 4) << "the rest of the copy is as the frame";
  EXPECT_EQ(framed(3), 4);
  EXPECT_EQ(seen(), (faults{{3, true}}));
  EXPECT_EQ(load(5), 6);
  store(5, 78);  // read -> write
  EXPECT_EQ(load(5), 78);
  EXPECT_EQ(framed(5), 6);
  EXPECT_EQ(seen(), (faults{{5, false}, {5, true}}));
  std::memset(frame(3), 9, page_bytes);
  EXPECT_EQ(load(3), 77) << "who has a copy does not see the frame";
  EXPECT_EQ(load(3, 101), 4);
}

TEST_P(private_view, page_without_a_copy_shows_what_is_written_to_its_frame) {
  EXPECT_EQ(load(3), 4);
  std::memset(frame(3), 50, page_bytes);
  EXPECT_EQ(load(3), 50);
  permit(4, 1, access::none, access::write);
  EXPECT_EQ(load(4), 5);
  std::memset(frame(4), 51, page_bytes);
  EXPECT_EQ(load(4), 51) << "writes are permitted, and none has come";
  permit(3, 1, access::read, access::write);
  EXPECT_EQ(load(3), 50);
  std::memset(frame(3), 52, page_bytes);
  EXPECT_EQ(load(3), 52) << "the same after a read";
  protect(4, 1, access::write, access::read);
  std::memset(frame(4), 53, page_bytes);
  EXPECT_EQ(load(4), 53) << "and protected again";
  EXPECT_EQ(seen(), (faults{{3, false}}));
}

TEST_P(private_view, protection_to_none_drops_the_copy) {
  for (const access before : {access::write, access::read}) {
    store(3, 77);
    if (before == access::read) protect(3, 1, access::write, access::read);
    EXPECT_EQ(load(3), 77);
    (void)seen();
    protect(3, 1, before, access::none);
    EXPECT_EQ(load(3), 4);
    EXPECT_EQ(seen(), (faults{{3, false}}));
    std::memset(frame(3), 4, page_bytes);
    protect(3, 1, access::read, access::none);
    permit(3, 1, access::none, access::write);
    EXPECT_EQ(load(3), 4) << "none -> write begins from the frame as well";
    protect(3, 1, access::write, access::none);
  }
}

TEST_P(private_view, protection_to_read_keeps_the_copy_and_the_next_write_faults) {
  store(3, 77);
  protect(3, 1, access::write, access::read);
  (void)seen();
  EXPECT_EQ(load(3), 77);
  EXPECT_TRUE(seen().empty());
  store(3, 78, 200);
  EXPECT_EQ(seen(), (faults{{3, true}}));
  EXPECT_EQ(load(3), 77);
  EXPECT_EQ(load(3, 200), 78);
  EXPECT_EQ(framed(3), 4);
  EXPECT_EQ(framed(3, 200), 4);
}

TEST_P(private_view, publishing_is_a_copy_to_the_system_view) {
  store(3, 77);
  protect(3, 1, access::write, access::read);
  std::memcpy(frame(3), view(3), page_bytes);
  EXPECT_EQ(framed(3), 77);
  EXPECT_EQ(framed(3, 101), 4);
  protect(3, 1, access::read, access::none);
  EXPECT_EQ(load(3), 77) << "now of the frame";
  std::memset(frame(3), 1, page_bytes);
  EXPECT_EQ(load(3), 1);
}

/// Rolling back without dropping: the content of the frame over the copy.
TEST_P(private_view, rolling_back_is_a_copy_from_the_system_view) {
  store(3, 77);
  std::memcpy(view(3), frame(3), page_bytes);
  protect(3, 1, access::write, access::read);
  EXPECT_EQ(load(3), 4);
  (void)seen();
  store(3, 78);
  EXPECT_EQ(seen(), (faults{{3, true}}));
  EXPECT_EQ(framed(3), 4);
}

TEST_P(private_view, unit_of_several_pages) {
  unit_ = 8;
  EXPECT_EQ(load(9), 10);
  EXPECT_EQ(load(15), 16);
  store(12, 77);
  store(14, 78);
  EXPECT_EQ(seen(), (faults{{9, false}, {12, true}}));
  EXPECT_EQ(framed(12), 13);
  EXPECT_EQ(framed(14), 15);
  std::memset(frame(13), 99, page_bytes);
  EXPECT_EQ(load(13), 99) << "copies are of pages, not of units";
  protect(8, 8, access::write, access::read);
  EXPECT_EQ(load(12), 77);
  store(14, 79);
  EXPECT_EQ(seen(), (faults{{14, true}}));
  store(13, 80);  // the whole unit is permitted
  EXPECT_TRUE(seen().empty());
  protect(8, 8, access::write, access::none);
  for (std::size_t i = 8; i < 16; ++i) EXPECT_EQ(load(i), i == 13 ? 99 : static_cast<int>(i + 1)) << i;
  EXPECT_EQ(seen(), (faults{{8, false}}));
  store(7, 1);
  EXPECT_EQ(framed(7), 8);
}

TEST_P(private_view, frames_that_are_given_back_leave_copies) {
  store(3, 77);
  EXPECT_EQ(load(4), 5);
  ASSERT_EQ(memory_->give_back(3 * page_bytes, 2 * page_bytes), 0);
  EXPECT_EQ(load(3), 77);
  ASSERT_EQ(memory_->populate(3 * page_bytes, 2 * page_bytes), 0);
  EXPECT_EQ(framed(3), 0);
  protect(3, 1, access::write, access::none);
  EXPECT_EQ(load(3), 0);
}

TEST_P(private_view, kernel_writes_to_copies_too) {
  store(3, 1);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  EXPECT_EQ(::read(ends[0], view(3) + 50, 1), 1);
  EXPECT_EQ(load(3, 50), 'x');
  EXPECT_EQ(framed(3, 50), 4);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_P(private_view, failure_to_drop_a_copy_is_told) {
  store(3, 77);
  os::inject(os::call::advise, 1, ENOMEM);
  EXPECT_EQ(guard_->protect(view(3), page_bytes, access::write, access::none), ENOMEM);
}

TEST_P(private_view, leaving_leaves_a_reservation) {
  store(3, 77);
  std::byte* const at = memory_->application_view();
  guard_->detach(at, pages * page_bytes);
  ASSERT_EQ(memory_->leave(), 0);
  EXPECT_EQ(os::protect(at, pages * page_bytes, PROT_READ | PROT_WRITE), 0);  // a reservation is private zero memory
  for (std::size_t i = 0; i < pages; ++i) EXPECT_EQ(std::to_integer<int>(at[i * page_bytes + 100]), 0);
  os::unmap(at, pages * page_bytes);
}

/// The detector knows which ranges have copies: others beside them, and ranges that come where they have been, have
/// none.
TEST_P(private_view, shared_ranges_beside_it_are_shared) {
  guard_->detach(memory_->application_view(), pages * page_bytes);
  ASSERT_EQ(memory_->leave(), 0);
  int error = 0;
  auto* const at = static_cast<std::byte*>(os::reserve(3 * page_bytes, nullptr, error));
  std::unique_ptr<pool::pool> three[3];
  for (int i = 0; i < 3; ++i) {
    const bool copies = i == 1;
    auto made =
        pool::make(GetParam().how, reinterpret_cast<std::uint64_t>(at) + i * page_bytes, page_bytes,
                   guard_->accessible(), {}, copies ? pool::view_kind::private_copies : pool::view_kind::shared);
    ASSERT_TRUE(made.ok());
    three[i] = std::move(made.value());
    ASSERT_EQ(guard_->attach(three[i]->application_view(), page_bytes, copies), 0);
    ASSERT_EQ(three[i]->populate(0, page_bytes), 0);
    ASSERT_EQ(guard_->permit(three[i]->application_view(), page_bytes, access::none, access::write), 0);
    at[i * page_bytes] = std::byte{5};
    ASSERT_EQ(guard_->protect(three[i]->application_view(), page_bytes, access::write, access::none), 0);
    ASSERT_EQ(guard_->permit(three[i]->application_view(), page_bytes, access::none, access::read), 0);
    EXPECT_EQ(std::to_integer<int>(at[i * page_bytes]), copies ? 0 : 5) << i;
  }
  // mprotect() is all that it takes to close a shared page, also one where a private range was.
  guard_->detach(at + page_bytes, page_bytes);
  ASSERT_EQ(guard_->attach(at + page_bytes, page_bytes, false), 0);
  if (GetParam().detector == detect::kind::segv) {
    os::inject(os::call::advise, 1, ENOMEM);
    EXPECT_EQ(guard_->protect(at, 3 * page_bytes, access::read, access::none), 0);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(guard_->protect(at + i * page_bytes, page_bytes, access::read, access::none), 0) << i;
    os::inject(os::call::none, 0, 0);
  }
  for (int i = 0; i < 3; ++i) guard_->detach(at + i * page_bytes, page_bytes);
}

void expect_refused(pool::kind which, const pool::fine_views& fine, const char* told) {
  testing::internal::CaptureStderr();
  int error = 0;
  void* const at = os::reserve(pages * page_bytes, nullptr, error);
  const auto p = pool::make({which, "", false, 0}, reinterpret_cast<std::uint64_t>(at), pages * page_bytes, true, fine,
                            pool::view_kind::private_copies);
  EXPECT_EQ(p.why().code(), QUIRE_UNSUPPORTED);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find(told), std::string::npos) << said;
  os::unmap(at, pages * page_bytes);
}

TEST(private_view_limits, pools_that_cannot_are_refused_with_those_that_can) {
  for (const auto which : {pool::kind::sysv, pool::kind::mdup, pool::kind::fork}) {
    EXPECT_FALSE(pool::takes_private_copies(which));
    expect_refused(which, {}, "the pools memfd, posix and file have");
    expect_refused(which, {}, pool::name_of(which));
  }
}

TEST(private_view_limits, fine_views_are_refused) {
  expect_refused(pool::kind::memfd, {2, 64 * page_bytes}, "make its units pages");
}

}  // namespace
}  // namespace quire::private_view_test
