// SPDX-License-Identifier: BSD-3-Clause
// The contract of src/pool/pool.hpp, the same for every pool.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "os/injection.hpp"
#include "os/memory.hpp"
#include "os/segments.hpp"
#include "pool/pool.hpp"

namespace quire::pool::pool_test {
namespace {

constexpr std::uint64_t MiB = 1u << 20;
constexpr std::uint64_t size = 8 * MiB;

struct variant {
  const char* name;
  settings how;
};
void PrintTo(const variant& v, std::ostream* out) { *out << v.name; }

variant make_variant(const char* name, kind which, bool written = false, std::uint64_t segment = 0,
                     const char* directory = "") {
  return {name, {which, directory, written, segment}};
}

/// An address range that nobody uses, as the engine reserves one.
std::uint64_t reserved(std::uint64_t bytes) {
  int error = 0;
  void* const at = os::reserve(bytes, nullptr, error);
  EXPECT_NE(at, nullptr) << std::strerror(error);
  return reinterpret_cast<std::uint64_t>(at);
}

class pool_contract : public testing::TestWithParam<variant> {
 protected:
  std::unique_ptr<pool> made(bool accessible, std::uint64_t bytes = size) {
    const std::uint64_t at = reserved(bytes);
    auto p = make(GetParam().how, at, bytes, accessible);
    EXPECT_TRUE(p.ok());
    if (!p.ok()) return nullptr;
    EXPECT_EQ(reinterpret_cast<std::uint64_t>(p.value()->application_view()), at);
    EXPECT_EQ(p.value()->bytes(), bytes);
    return std::move(p.value());
  }
};
INSTANTIATE_TEST_SUITE_P(all, pool_contract,
                         testing::Values(make_variant("memfd", kind::memfd), make_variant("file", kind::file),
                                         make_variant("file_written", kind::file, true),
                                         make_variant("file_in_memory", kind::file, false, 0, "/dev/shm"),
                                         make_variant("posix", kind::posix), make_variant("sysv", kind::sysv),
                                         make_variant("sysv_in_segments", kind::sysv, false, MiB + 12345),
                                         make_variant("mdup", kind::mdup)),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

/// Whether a thread may read at `at`: the kernel tells by EFAULT, without a signal.
bool readable(const std::byte* at) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const bool done = ::write(ends[1], at, 1) == 1;
  ::close(ends[0]);
  ::close(ends[1]);
  return done;
}

/// Names in a directory that a pool could have made.
std::size_t names_in(const std::string& directory) {
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    found += entry.path().filename().string().starts_with("quire.") ? 1 : 0;
  return found;
}

/// System V segments that a process has made and that are still there.
std::size_t segments_of(pid_t process) {
  std::ifstream table("/proc/sysvipc/shm");
  std::size_t found = 0;
  std::string line;
  for (std::getline(table, line); std::getline(table, line);) {
    std::istringstream words(line);
    std::string key, id, mode, bytes;
    pid_t creator = 0;
    words >> key >> id >> mode >> bytes >> creator;
    if (creator == process) ++found;
  }
  return found;
}

#if defined(__x86_64__)
/// Threads run it and read it, and cannot write it; the runtime can.
TEST_P(pool_contract, code_is_written_by_the_system_view_alone) {
  constexpr std::uint64_t bytes = 64 * 1024;
  settings how = GetParam().how;
  how.code = true;
  for (const bool accessible : {true, false}) {
    auto made = make(how, reserved(bytes), bytes, accessible);
    ASSERT_TRUE(made.ok());
    std::byte *const application = made.value()->application_view(), *const system = made.value()->system_view();
    const std::uint8_t returns_42[] = {0xb8, 42, 0, 0, 0, 0xc3};  // mov $42, %eax; ret
    std::memcpy(system + 4096, returns_42, sizeof returns_42);
    ASSERT_EQ(readable(application + 4096), accessible);
    if (!accessible) {
      ASSERT_EQ(os::protect(application, bytes, PROT_READ | PROT_EXEC), 0);
    }
    EXPECT_EQ(reinterpret_cast<int (*)()>(application + 4096)(), 42);
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    ASSERT_EQ(::write(ends[1], "x", 1), 1);
    EXPECT_EQ(::read(ends[0], application + 8192, 1), -1);  // the kernel may not write there for a thread
    EXPECT_EQ(errno, EFAULT);
    ::close(ends[0]);
    ::close(ends[1]);
    EXPECT_EQ(made.value()->leave(), 0);
  }
}
#endif

TEST(pools, fork_has_no_code) {
  settings how;
  how.which = kind::fork;
  how.code = true;
  EXPECT_EQ(make(how, reserved(size), size, true).why(), QUIRE_UNSUPPORTED);
}

TEST_P(pool_contract, both_views_are_the_same_pages) {
  const auto p = made(true);
  ASSERT_NE(p, nullptr);
  std::byte *const application = p->application_view(), *const system = p->system_view();
  ASSERT_NE(application, system);
  for (std::uint64_t at = 0; at < size; at += 4096 * 7) {
    EXPECT_EQ(system[at], std::byte{0});
    system[at] = std::byte{1};
    EXPECT_EQ(application[at], std::byte{1});
    application[at + 9] = std::byte{2};
    EXPECT_EQ(system[at + 9], std::byte{2});
  }
  EXPECT_EQ(application[size - 1], std::byte{0});
}

TEST_P(pool_contract, the_application_view_may_begin_closed) {
  const auto p = made(false);
  ASSERT_NE(p, nullptr);
  p->system_view()[4096] = std::byte{5};
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{4096}, size - 4096})
    EXPECT_FALSE(readable(p->application_view() + at));
  EXPECT_EQ(os::protect(p->application_view() + 4096, 4096, PROT_READ), 0);
  EXPECT_EQ(p->application_view()[4096], std::byte{5});
  EXPECT_FALSE(readable(p->application_view()));
  EXPECT_EQ(os::protect(p->application_view() + 4096, 4096, PROT_READ | PROT_WRITE), 0);
  p->application_view()[4096] = std::byte{6};
  EXPECT_EQ(p->system_view()[4096], std::byte{6});
}

TEST_P(pool_contract, a_page_is_updated_while_the_application_view_is_closed) {
  const auto p = made(true);
  ASSERT_NE(p, nullptr);
  std::byte* const page = p->application_view() + 3 * 4096;
  page[0] = std::byte{1};
  ASSERT_EQ(os::protect(page, 4096, PROT_NONE), 0);
  std::memset(p->system_view() + 3 * 4096, 7, 4096);
  EXPECT_FALSE(readable(page));
  ASSERT_EQ(os::protect(page, 4096, PROT_READ), 0);
  EXPECT_EQ(page[0], std::byte{7});
  EXPECT_EQ(page[4095], std::byte{7});
}

TEST_P(pool_contract, what_one_view_forgets_the_other_keeps) {
  const auto p = made(true);
  ASSERT_NE(p, nullptr);
  p->application_view()[0] = std::byte{9};
  ASSERT_EQ(os::advise(p->application_view(), 4096, MADV_DONTNEED), 0);
  EXPECT_EQ(p->system_view()[0], std::byte{9});
  EXPECT_EQ(p->application_view()[0], std::byte{9});
}

TEST_P(pool_contract, populate_keeps_what_is_there) {
  const auto p = made(true);
  ASSERT_NE(p, nullptr);
  p->system_view()[4096] = std::byte{3};
  EXPECT_EQ(p->populate(0, 2 * MiB), 0);
  EXPECT_EQ(p->system_view()[4096], std::byte{3});
  EXPECT_EQ(p->system_view()[8192], std::byte{0});
  EXPECT_EQ(p->populate(size - 4096, 4096), 0);
}

TEST_P(pool_contract, nothing_has_a_name_while_the_pool_lives) {
  const auto p = made(true);
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(names_in(os::temporary_directory(GetParam().how.directory)), 0u);
  EXPECT_EQ(names_in("/dev/shm"), 0u);
}

TEST_P(pool_contract, a_process_that_is_killed_leaves_nothing) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto p = made(true);
    if (p != nullptr) std::memset(p->system_view(), 1, MiB);
    (void)!::write(ready[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char x;
  ASSERT_EQ(::read(ready[0], &x, 1), 1);
  if (GetParam().how.which == kind::sysv) {
    EXPECT_GT(segments_of(child), 0u) << "this test would see no segment";
  }
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(segments_of(child), 0u);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_P(pool_contract, a_large_one_costs_nothing_until_touched) {
  if (GetParam().how.written || GetParam().how.segment != 0) GTEST_SKIP() << "this one takes its room at once";
  const auto p = made(true, std::uint64_t{64} << 30);
  ASSERT_NE(p, nullptr);
  p->system_view()[(std::uint64_t{64} << 30) - 1] = std::byte{1};
  EXPECT_EQ(p->application_view()[(std::uint64_t{64} << 30) - 1], std::byte{1});
}

TEST(pool_limits, too_many_segments_are_refused_with_the_limit) {
  testing::internal::CaptureStderr();
  const std::uint64_t bytes = (os::read_segment_limits().count + 1) * 4096;
  const auto p = make({kind::sysv, "", false, 4096}, reserved(bytes), bytes, true);
  EXPECT_EQ(p.why().code(), QUIRE_NO_MEMORY);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("kernel.shmmni"), std::string::npos);
}

TEST(pool_limits, a_directory_that_does_not_exist_is_named) {
  testing::internal::CaptureStderr();
  const auto p = make({kind::file, "/nowhere/at/all", false, 0}, reserved(size), size, true);
  EXPECT_EQ(p.why().code(), QUIRE_SYSTEM);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("/nowhere/at/all"), std::string::npos);
}

TEST(pool_limits, a_disk_that_is_too_small_is_told_before_it_is_full) {
  testing::internal::CaptureStderr();
  const std::uint64_t bytes = std::uint64_t{1} << 46;
  const auto p = make({kind::file, "/var/tmp", true, 0}, reserved(bytes), bytes, true);
  EXPECT_EQ(p.why().code(), QUIRE_NO_MEMORY);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("has room for"), std::string::npos);
}

/// What a child does that is killed, as soon as a call of this kind comes. The child's number.
pid_t killed_at(os::call which, const settings& how) {
  const pid_t child = ::fork();
  if (child == 0) {
    os::inject(which, 1, os::kill_instead);
    (void)make(how, reserved(size), size, true).ok();
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the call has not come";
  return child;
}

/// Those of this size that process `maker` has made, which nobody uses.
std::size_t segments_without_process(pid_t maker) {
  std::ifstream table("/proc/sysvipc/shm");
  std::size_t found = 0;
  std::string line;
  for (std::getline(table, line); std::getline(table, line);) {
    std::istringstream words(line);
    std::string word[7];
    for (auto& w : word) words >> w;
    found += word[6] == "0" && word[3] == std::to_string(size) && word[4] == std::to_string(maker) ? 1 : 0;
  }
  return found;
}

TEST(pool_leftovers, segment_of_a_process_that_was_killed_goes_with_the_next_pool) {
  const settings sysv{kind::sysv, "", false, 0};
  pid_t killed = -1;
  bool seen = false;
  for (int tries = 0; tries < 100 && !seen;
       ++tries) {  // a pool that another process makes just now, as tests beside this one do, removes the segment
    killed = killed_at(os::call::segment_attach, sysv);
    seen = segments_without_process(killed) == 1;
  }
  EXPECT_TRUE(seen);
  const auto next = make(sysv, reserved(size), size, true);
  EXPECT_TRUE(next.ok());
  EXPECT_EQ(segments_without_process(killed), 0u);
}

TEST(pool_leftovers, segment_of_a_process_that_lives_stays) {
  const settings sysv{kind::sysv, "", false, 0};
  const pid_t child = ::fork();
  if (child == 0) {
    os::inject(os::call::segment_attach, 1, os::wait_instead);  // half a second between making and attaching it
    ::_exit(make(sysv, reserved(size), size, true).ok() ? 0 : 1);
  }
  int status = -1;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    os::remove_dead_segments();
    ::usleep(1'000);
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

/// Where the file system makes no file without a name.
TEST(pool_leftovers, names_of_processes_that_were_killed_go_with_the_next_file) {
  char directory[] = "/tmp/quire-pool-test.XXXXXX";
  ASSERT_NE(::mkdtemp(directory), nullptr);
  const auto path = [&](const char* name) { return std::string(directory) + "/" + name; };
  for (const char* name : {"quire.unnamed.abcdef", "quire.unnamed.ghijkl", "quire.of-the-user", "anything"}) {
    std::ofstream(path(name)) << "x";
  }
  std::filesystem::create_directory(path("quire.unnamed.folder"));
  os::inject(os::call::unnamed_file, 1, EOPNOTSUPP);
  const int file = os::make_temporary_file(directory, 4096);
  EXPECT_GE(file, 0);
  EXPECT_EQ(::lseek(file, 0, SEEK_END), 4096);
  os::close_descriptor(file);
  std::set<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) left.insert(entry.path().filename());
  EXPECT_EQ(left, (std::set<std::string>{"quire.of-the-user", "anything", "quire.unnamed.folder"}));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace quire::pool::pool_test
