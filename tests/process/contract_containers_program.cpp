// SPDX-License-Identifier: BSD-3-Clause
// Containers: all nodes see one content, by mappings and by calls, and the file has every byte of it after a sync, as
// plain pread() tells. What calls refuse, linkers of programs and extremes have programs of their own. Arguments: none;
// or parts by name; `many N`; those with a directory stand in CMakeLists.txt.
#include <fcntl.h>
#include <quire/container.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "containers.hpp"
#include "containers_ends.hpp"

namespace {

using namespace quire::test;

// ---- Parts

void interfaces(const char* name, const quire_container_options& o, std::uint64_t bytes, bool keeps) {
  const int nodes = quire_nodes(), node = quire_node();
  const quire_container c = open(name, o);
  if (!keeps && node == 0) write(c, 0, content(bytes, 1));
  barrier();
  require_content(c, bytes, 1);
  barrier();
  // Each node writes every so many bytes by call and by mapping; everybody sees all.
  std::byte* const at = map(c);
  for (std::uint64_t i = static_cast<std::uint64_t>(node); i * 1000 + 1000 <= bytes;
       i += static_cast<std::uint64_t>(nodes)) {
    const auto mine = content(1000, 2, i * 1000);
    if (i % 2 == 0) {
      write(c, i * 1000, mine);
    } else {
      std::memcpy(at + i * 1000, mine.data(), 1000);
    }
  }
  on_node(nodes - 1, [&] { write(c, bytes / 1000 * 1000, content(bytes % 1000, 2, bytes / 1000 * 1000)); });
  require_content(c, bytes, 2);
  barrier();
  REQUIRE_OK(quire_container_sync(c, 0, 0));
  barrier();
  REQUIRE_OK(quire_container_close(c));
}

void memory() {
  constexpr std::uint64_t bytes = 40 * page + 777;
  interfaces("memory", options(QUIRE_CONTAINER_CREATE), bytes, false);
  barrier();
  auto o = options(QUIRE_CONTAINER_CREATE);
  o.consistency = QUIRE_RELEASE;
  interfaces("released", o, bytes, false);
  barrier();
  o = options(QUIRE_CONTAINER_CREATE);
  o.atomic = 1;
  o.unit_bytes = 16384;
  interfaces("atomic", o, bytes, false);
  // It stays without anybody having it open.
  quire_container c = open("memory", options(QUIRE_CONTAINER_READ_ONLY));
  require_content(c, bytes, 2);
  REQUIRE_OK(quire_container_close(c));
  on_node(0, [] {
    std::set<std::string> all;
    REQUIRE_OK(quire_container_list(
        [](void* context, const char* name, std::uint64_t there, unsigned flags) {
          REQUIRE_EQUAL(there, bytes);
          REQUIRE_EQUAL(flags, 0);
          static_cast<std::set<std::string>*>(context)->insert(name);
          return 0;
        },
        &all));
    REQUIRE((all == std::set<std::string>{"memory", "released", "atomic"}));
    for (const char* const name : {"memory", "released", "atomic"}) REQUIRE_OK(quire_container_remove(name, 0));
    int count = 0;
    REQUIRE_OK(quire_container_list(
        [](void* context, const char*, std::uint64_t, unsigned) { return ++*static_cast<int*>(context); }, &count));
    REQUIRE_EQUAL(count, 0);
  });
}

void files() {
  constexpr std::uint64_t bytes = 60 * page + 123;
  on_node(0, [&] {
    for (const char* const name : {"shared", "placed", "large"}) make_file(name, content(bytes, 1));
  });
  interfaces("shared", options(QUIRE_CONTAINER_CREATE, nullptr, path("shared").c_str()), bytes, true);
  auto o = options(QUIRE_CONTAINER_CREATE, nullptr, path("placed").c_str());
  const std::string placed = path("placed"), large = path("large");
  o.what = placed.c_str();
  o.placement = QUIRE_PLACE_NODE;
  o.home = quire_nodes() - 1;
  interfaces("placed", o, bytes, true);
  o = options(QUIRE_CONTAINER_CREATE, "file", large.c_str());
  o.unit_bytes = 65536;
  interfaces("large", o, bytes, true);
  on_node(0, [&] {
    for (const char* const name : {"shared", "placed", "large"}) REQUIRE_SAME(file_now(name), content(bytes, 2));
    for (const char* const name : {"shared", "placed", "large"}) REQUIRE_OK(quire_container_remove(name, 0));
  });
  // Made anew, it is read from the file.
  quire_container c =
      open("again", options(QUIRE_CONTAINER_CREATE | QUIRE_CONTAINER_READ_ONLY, nullptr, placed.c_str()));
  require_content(c, bytes, 2);
  if (quire_node() == 0) {
    const auto writable = options(0);
    quire_container w{};
    REQUIRE_STATUS(quire_container_open("again", &writable, &w), QUIRE_INVALID);
    REQUIRE(said("read-only"));
  }
  barrier();
  REQUIRE_OK(quire_container_close(c));
  on_node(quire_nodes() - 1, [&] {
    REQUIRE_OK(quire_container_remove("again", QUIRE_CONTAINER_REMOVE_CONTENT));
    REQUIRE(::access(placed.c_str(), F_OK) != 0);
  });
}

/// Another program writes the file: who has it drop sees that.
void drops() {
  constexpr std::uint64_t bytes = 20 * page;
  on_node(0, [&] { make_file("dropped", content(bytes, 1)); });
  const std::string what = path("dropped");
  const quire_container c = open("dropped", options(QUIRE_CONTAINER_CREATE, "file", what.c_str()));
  require_content(c, bytes, 1);
  on_node(quire_nodes() - 1, [&] {
    const int d = ::open(what.c_str(), O_WRONLY | O_CLOEXEC);
    const auto newer = content(bytes, 2);
    REQUIRE(::pwrite(d, newer.data(), bytes, 0) == static_cast<ssize_t>(bytes));
    ::close(d);
  });
  require_content(c, bytes, 1);  // nobody has asked again
  on_node(0, [&] { REQUIRE_OK(quire_container_drop(c, 0, 3 * page)); });
  REQUIRE_SAME(read(c, 0, 3 * page), content(3 * page, 2));
  REQUIRE_SAME(read(c, 3 * page, page), content(page, 1, 3 * page));
  on_node(quire_nodes() - 1, [&] { REQUIRE_OK(quire_container_drop(c, 0, 0)); });
  require_content(c, bytes, 2);
  barrier();
  REQUIRE_OK(quire_container_close(c));
  on_node(0, [] { REQUIRE_OK(quire_container_remove("dropped", 0)); });
}

/// What was read ahead, and nobody has used, is asked for again, too.
void drops_what_was_read_ahead() {
  constexpr std::uint64_t bytes = 256 * page, used = 8 * page;
  on_node(0, [&] {
    const std::string what = path("ahead");
    make_file("ahead", content(bytes, 1));
    auto o = options(QUIRE_CONTAINER_CREATE, "file", what.c_str());
    o.placement = QUIRE_PLACE_NODE;
    const quire_container c = open("ahead", o);
    const auto* const memory = map(c);
    const auto older = content(used, 1), newer = content(bytes, 2);
    for (std::uint64_t at = 0; at < used; at += page) REQUIRE(memory[at] == older[at]);
    sleep_ms(20);
    const int d = ::open(what.c_str(), O_WRONLY | O_CLOEXEC);
    REQUIRE(::pwrite(d, newer.data(), bytes, 0) == static_cast<ssize_t>(bytes));
    ::close(d);
    REQUIRE_OK(quire_container_drop(c, 0, 0));
    for (std::uint64_t at = 0; at < bytes; at += page) REQUIRE(memory[at] == newer[at]);
    REQUIRE_OK(quire_container_close(c));
    REQUIRE_OK(quire_container_remove("ahead", 0));
  });
}

/// One that is refused leaves content alone.
void refused_opens_keep_content() {
  on_node(0, [] {
    const std::string what = path("keeps");
    const auto all = content(3 * page, 1);
    make_file("keeps", all);
    auto o = options(QUIRE_CONTAINER_CREATE | QUIRE_CONTAINER_TRUNCATE, "file", what.c_str(), 2 * page);
    o.capacity = page;
    quire_container c{};
    REQUIRE(quire_container_open("keeps", &o, &c) != QUIRE_OK);
    REQUIRE_SAME(file_now("keeps"), all);
    o.bytes = 0;
    o.capacity = std::uint64_t{1} << 60;
    REQUIRE(quire_container_open("keeps", &o, &c) != QUIRE_OK);
    REQUIRE_SAME(file_now("keeps"), all);
    o.capacity = 0;
    c = open("keeps", o);
    REQUIRE_EQUAL(bytes_of(c), 0);
    REQUIRE(file_now("keeps").empty());
    o.bytes = std::uint64_t{1} << 40;
    write(c, 0, all);
    quire_container again{};
    REQUIRE_STATUS(quire_container_open("keeps", &o, &again), QUIRE_BEYOND);
    REQUIRE_EQUAL(bytes_of(c), all.size());
    REQUIRE_OK(quire_container_close(c));
    REQUIRE_OK(quire_container_remove("keeps", QUIRE_CONTAINER_REMOVE_CONTENT));
  });
}

/// A node that removes the last container while others are ending.
void open_last() {
  const std::string what = path("last");
  on_node(0, [] { make_file("last", content(page, 1)); });
  const quire_container c = open("last", options(QUIRE_CONTAINER_CREATE, "file", what.c_str()));
  require_content(c, page, 1);
  REQUIRE_OK(quire_container_close(c));
  barrier();
}

/// Calls that pin for a moment, and those that no pin may hold up, of several threads of each node.
void atomic_calls() {
  const std::string what = path("whole");
  auto o = options(QUIRE_CONTAINER_CREATE, "file", what.c_str(), 16 * page);
  o.atomic = 1;
  const quire_container c = open("whole", o);
  barrier();
  on_threads(4, [&](int thread) {
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t at = static_cast<std::uint64_t>(i % 3) * page + 100;
      if (thread < 2) {
        write(c, at, std::vector<std::byte>(6 * page, static_cast<std::byte>(quire_node() * 2 + thread)));
      } else if (thread == 2) {
        const auto all = read(c, (2 * page) + 100, 4 * page);  // all of those calls write this
        const auto other = std::find_if(all.begin(), all.end(), [&](std::byte b) { return b != all[0]; });
        if (other != all.end()) {
          fail(__FILE__, __LINE__, "call %d: byte %zd is %d, the first is %d", i, other - all.begin(),
               static_cast<int>(*other), static_cast<int>(all[0]));
        }
      } else if (i % 4 == 0) {
        REQUIRE_OK(quire_container_drop(c, 0, 0));
      } else if (i % 4 == 1) {
        REQUIRE_OK(quire_container_truncate(c, 16 * page - static_cast<std::uint64_t>(i)));
      } else {
        REQUIRE_OK(quire_container_sync(c, 0, 0));
        const quire_container other = open("whole", options(0));
        REQUIRE_OK(quire_container_close(other));
      }
    }
  });
  barrier();
  // What a thread has pinned itself is another matter.
  on_node(0, [&] {
    REQUIRE_OK(quire_pin(map(c), page, -1, nullptr));
    REQUIRE_STATUS(quire_container_sync(c, 0, 0), QUIRE_BUSY);
    REQUIRE(said("pinned"));
    REQUIRE_OK(quire_unpin(map(c), page));
  });
  REQUIRE_OK(quire_container_close(c));
  on_node(0, [] { REQUIRE_OK(quire_container_remove("whole", QUIRE_CONTAINER_REMOVE_CONTENT)); });
}

/// Regions of containers among what regions can do (docs/limits.md has the table).
void regions() {
  const quire_container with = open("with", options(QUIRE_CONTAINER_CREATE, "file", path("with").c_str(), 10 * page));
  const quire_container without = open("without", options(QUIRE_CONTAINER_CREATE));
  on_node(0, [&] { write(without, 0, content(10 * page, 8)); });
  quire_region linked{}, plain{};
  REQUIRE_OK(quire_container_region(with, &linked));
  REQUIRE_OK(quire_container_region(without, &plain));
  REQUIRE_STATUS(quire_region_set_consistency(linked, QUIRE_RELEASE), QUIRE_INVALID);
  REQUIRE(said("container with a linker"));
  REQUIRE_STATUS(quire_block_begin(linked, 0), QUIRE_INVALID);
  REQUIRE(said("container with a linker"));
  const auto write_share = [&](std::uint64_t seed) {
    const auto nodes = static_cast<std::uint64_t>(quire_nodes()), self = static_cast<std::uint64_t>(quire_node()),
               part = 10 * page / nodes / 8 * 8;
    const auto mine = content(self + 1 == nodes ? 10 * page - self * part : part, seed, self * part);
    std::copy(mine.begin(), mine.end(), map(without) + self * part);
  };
  REQUIRE_OK(quire_region_set_consistency(plain, QUIRE_RELEASE));
  require_content(without, 10 * page, 8);
  barrier();
  write_share(9);
  barrier();
  require_content(without, 10 * page, 9);
  REQUIRE_OK(quire_region_set_consistency(plain, QUIRE_SEQUENTIAL));
  require_content(without, 10 * page, 9);
  REQUIRE_OK(quire_block_begin(plain, 0));
  write_share(10);
  REQUIRE_OK(quire_block_end(plain, nullptr));
  require_content(without, 10 * page, 10);
  barrier();
  // It is destroyed by its name alone, also by a node that does not have it open.
  if (quire_node() == 0) REQUIRE_OK(quire_container_close(without));
  on_node(0, [&] {
    REQUIRE_STATUS(quire_region_destroy(plain), QUIRE_INVALID);
    REQUIRE(said("quire_container_remove()"));
  });
  if (quire_node() != 0) REQUIRE_OK(quire_container_close(without));
  REQUIRE_OK(quire_container_close(with));
  on_node(0, [&] {
    REQUIRE_STATUS(quire_region_destroy(plain), QUIRE_INVALID);
    REQUIRE_OK(quire_container_remove("without", 0));
    REQUIRE_OK(quire_container_remove("with", QUIRE_CONTAINER_REMOVE_CONTENT));
    REQUIRE_STATUS(quire_region_destroy(plain), QUIRE_NOT_FOUND);
  });
}

/// With a detector that goes with no linker but "memory".
void without_linkers() {
  interfaces("memory", options(QUIRE_CONTAINER_CREATE), 20 * page + 777, false);
  on_node(0, [] {
    const std::string what = path("none");
    const auto o = options(QUIRE_CONTAINER_CREATE, "file", what.c_str(), page);
    quire_container c{};
    REQUIRE_STATUS(quire_container_open("linked", &o, &c), QUIRE_UNSUPPORTED);
    REQUIRE_OK(quire_container_remove("memory", 0));
  });
}

void errors() {
  const auto throttled = [](const std::string& how, const std::string& name) { return how + ";file;" + path(name); };
  // A write that fails is told by the next sync, once; the content stays, and goes with the one after.
  std::string what = throttled("flush=1,times=1000,error=ENOSPC", "full");
  auto o = options(QUIRE_CONTAINER_CREATE, "throttle", what.c_str());
  o.placement = QUIRE_PLACE_NODE;
  on_node(0, [&] {
    quire_container c = open("full", o);
    write(c, 0, content(page, 4));
    REQUIRE_STATUS(quire_container_sync(c, 0, 0), QUIRE_IO);
    REQUIRE(said("has not taken"));
    REQUIRE_EQUAL(file_now("full").size(), 0);
    require_content(c, page, 4);
    REQUIRE_STATUS(quire_container_close(c), QUIRE_IO);
    c = open("full", options(QUIRE_CONTAINER_READ_ONLY));
    require_content(c, page, 4);
    REQUIRE_OK(quire_container_close(c));
    REQUIRE_OK(quire_container_remove("full", 0));
  });
  what = throttled("flush=2,error=EIO", "once");
  o.what = what.c_str();
  quire_container c = open("once", o);
  on_node(quire_nodes() - 1, [&] {
    write(c, 0, content(page, 5));
    REQUIRE_OK(quire_container_sync(c, 0, 0));
    write(c, page, content(2 * page, 5, page));
    REQUIRE_STATUS(quire_container_sync(c, 0, 0), QUIRE_IO);
    REQUIRE_OK(quire_container_sync(c, 0, 0));
    REQUIRE_SAME(file_now("once"), content(3 * page, 5));
  });
  // Others have been told by the sync of that node's? No: each node that asks hears of it once.
  barrier();
  (void)quire_container_sync(c, 0, 0);
  REQUIRE_OK(quire_container_sync(c, 0, 0));
  barrier();
  REQUIRE_OK(quire_container_close(c));
  on_node(0, [] { REQUIRE_OK(quire_container_remove("once", 0)); });
  // A sync that fails.
  what = throttled("sync=1,error=EIO", "unsynced");
  o.what = what.c_str();
  on_node(0, [&] {
    quire_container s = open("unsynced", o);
    write(s, 0, content(page, 6));
    REQUIRE_STATUS(quire_container_sync(s, 0, 0), QUIRE_IO);
    REQUIRE_OK(quire_container_sync(s, 0, 0));
    REQUIRE_OK(quire_container_close(s));
    REQUIRE_OK(quire_container_remove("unsynced", 0));
  });
  // A read that fails is an error of the call, and the next one may succeed.
  on_node(0, [&] { make_file("bad", content(3 * page, 7)); });
  what = throttled("fill=1,times=1,error=EIO", "bad");
  o = options(QUIRE_CONTAINER_CREATE | QUIRE_CONTAINER_READ_ONLY, "throttle", what.c_str());
  o.placement = QUIRE_PLACE_NODE;
  c = open("bad", o);
  on_node(quire_nodes() - 1, [&] {
    std::vector<std::byte> into(page);
    std::size_t done = 1;
    const quire_status why = quire_container_read(c, 0, into.data(), page, &done);
    if (why == QUIRE_IO) {
      REQUIRE_EQUAL(done, 0);
      REQUIRE(said("does not give"));
    } else {
      REQUIRE_STATUS(why, QUIRE_OK);  // what was asked for in advance has met the error
    }
    require_content(c, 3 * page, 7);
  });
  REQUIRE_OK(quire_container_close(c));
  on_node(0, [] { REQUIRE_OK(quire_container_remove("bad", 0)); });
}

/// A thread that needs by a mapping what the linker does not give gets SIGBUS, at the address of its access.
sigjmp_buf g_back;
void* volatile g_where = nullptr;
void signals() {
  on_node(0, [&] { make_file("unreadable", content(4 * page, 7)); });
  const std::string what = "fill=1,times=1000000;file;" + path("unreadable");
  auto o = options(QUIRE_CONTAINER_CREATE | QUIRE_CONTAINER_READ_ONLY, "throttle", what.c_str());
  o.placement = QUIRE_PLACE_NODE;
  const quire_container c = open("unreadable", o);
  for (int node = 0; node < quire_nodes(); ++node) {
    on_node(node, [&] {
      struct sigaction mine {
      }, before{};
      mine.sa_sigaction = [](int, siginfo_t* about, void*) {
        g_where = about->si_addr;
        ::siglongjmp(g_back, 1);
      };
      mine.sa_flags = SA_SIGINFO;
      REQUIRE(::sigaction(SIGBUS, &mine, &before) == 0);
      volatile std::byte* const at = map(c) + 2 * page + 77;
      volatile bool passed = false;
      if (::sigsetjmp(g_back, 1) == 0) {
        passed = *at != std::byte{0} || true;
      }
      REQUIRE(!passed);
      REQUIRE(reinterpret_cast<std::uint64_t>(g_where) / page == reinterpret_cast<std::uint64_t>(at) / page);
      REQUIRE(::sigaction(SIGBUS, &before, nullptr) == 0);
    });
  }
  REQUIRE_OK(quire_container_close(c));
  on_node(0, [] { REQUIRE_OK(quire_container_remove("unreadable", 0)); });
}

/// Under QUIRE_FAIL a system call has failed once, with no space left.
void fails() {
  const std::string what = path("fails");
  const quire_container c = open("fails", options(QUIRE_CONTAINER_CREATE, "file", what.c_str()));
  write(c, 0, content(3 * page + 5, 12));
  REQUIRE_STATUS(quire_container_sync(c, 0, 0), QUIRE_IO);
  require_content(c, 3 * page + 5, 12);
  REQUIRE_OK(quire_container_sync(c, 0, 0));
  REQUIRE_SAME(file_now("fails"), content(3 * page + 5, 12));
  REQUIRE_OK(quire_container_close(c));
}

std::size_t descriptors() {
  std::size_t count = 0;
  for (int d = 0; d < 4096; ++d) count += ::fcntl(d, F_GETFD) >= 0 ? 1 : 0;
  return count;
}

std::size_t threads() {
  std::size_t count = 0;
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/task")) count += one.is_directory() ? 1 : 0;
  return count;
}

/// Nothing is left of those that have gone.
void many(int count) {
  std::size_t before = 0, threads_before = 0;
  for (int i = 0; i < count + 20; ++i) {
    if (i == 20) before = descriptors();
    if (i == 20) threads_before = threads();
    const bool mine = i % quire_nodes() == quire_node();
    if (!mine) continue;
    const std::string name = "many-" + std::to_string(i % 7 + quire_node() * 7);
    const std::string what = path(name);
    const bool file = i % 3 != 0;
    const quire_container c = open(name.c_str(), options(QUIRE_CONTAINER_CREATE | QUIRE_CONTAINER_EXCLUSIVE, nullptr,
                                                         file ? what.c_str() : nullptr));
    write(c, 10, content(100, static_cast<std::uint64_t>(i)));
    REQUIRE_OK(quire_container_close(c));
    REQUIRE_OK(quire_container_remove(name.c_str(), QUIRE_CONTAINER_REMOVE_CONTENT));
  }
  barrier();
  if (count > 200) REQUIRE(descriptors() <= before + 4);
  if (count > 200) REQUIRE(threads() <= threads_before + 30);  // some may be about to end
  barrier();
}

/// All open the same one at a time: it is made once.
void at_once() {
  const std::string what = path("once-only");
  for (int i = 0; i < 10; ++i) {
    on_threads(3, [&](int thread) {
      const quire_container c = open("at-once", options(QUIRE_CONTAINER_CREATE, "file", what.c_str()));
      const std::uint64_t mark = static_cast<std::uint64_t>(quire_node() * 3 + thread + 1);
      REQUIRE_OK(quire_container_append(c, &mark, sizeof mark, nullptr));
      REQUIRE_OK(quire_container_close(c));
    });
    barrier();
    const quire_container c = open("at-once", options(QUIRE_CONTAINER_READ_ONLY));
    REQUIRE_EQUAL(bytes_of(c), static_cast<std::uint64_t>(quire_nodes()) * 3 * 8);
    REQUIRE_OK(quire_container_close(c));
    on_node(0, [&] {
      REQUIRE_EQUAL(file_now("once-only").size(), static_cast<std::size_t>(quire_nodes()) * 3 * 8);
      REQUIRE_OK(quire_container_remove("at-once", QUIRE_CONTAINER_REMOVE_CONTENT));
    });
  }
}

// ---- Two jobs

constexpr std::uint64_t kept_bytes = 33 * page + 1001;

void save() {
  const std::string what = path("kept");
  const quire_container c = open("kept", options(QUIRE_CONTAINER_CREATE, "file", what.c_str()));
  on_node(quire_nodes() - 1, [&] { write(c, 0, content(kept_bytes, 11)); });
  std::byte* const at = map(c);
  if (quire_node() == 0) at[5] = std::byte{42};
  barrier();  // not closed: the end of the job keeps it
}
void go_on() {
  auto wanted = content(kept_bytes, 11);
  wanted[5] = std::byte{42};
  REQUIRE_SAME(file_now("kept"), wanted);
  const std::string what = path("kept");
  const quire_container c =
      open("other name", options(QUIRE_CONTAINER_CREATE | QUIRE_CONTAINER_READ_ONLY, "file", what.c_str()));
  REQUIRE_SAME(read(c, 0, 1 << 20), wanted);
  barrier();
  if (quire_node() == 0) std::puts("the content is there");
}
void die() {
  const std::string what = path("kept");
  const quire_container c = open("kept", options(QUIRE_CONTAINER_CREATE, "file", what.c_str()));
  on_node(quire_nodes() - 1, [&] { write(c, 0, content(kept_bytes, 11)); });
  std::byte* const at = map(c);
  if (quire_node() == 0) at[5] = std::byte{42};
  barrier();
  if (quire_node() == 0) REQUIRE_OK(quire_container_sync(c, 0, 0));
  barrier();
  if (quire_node() == quire_nodes() - 1) ::kill(::getpid(), SIGKILL);
  for (;;) sleep_ms(1000);
}

}  // namespace

int main(int argc, char** argv) {
  REQUIRE_OK(quire_start(nullptr));
  const std::string part = argc > 1 ? argv[1] : "";
  const bool given = part == "save" || part == "go-on" || part == "die";
  if (given) {
    g_directory = argv[2];
    ::mkdir(g_directory.c_str(), 0700);
  } else {
    make_directory();
  }
  if (part == "save") save();
  if (part == "go-on") go_on();
  if (part == "die") die();
  if (part == "fails") fails();
  if (part == "large") {  // more than a node may have in memory
    constexpr std::uint64_t bytes = (6u << 20) + 4321;
    on_node(0, [&] { make_file("large", content(bytes, 1)); });
    interfaces("large", options(QUIRE_CONTAINER_CREATE, nullptr, path("large").c_str()), bytes, true);
    on_node(0, [&] { REQUIRE_SAME(file_now("large"), content(bytes, 2)); });
  }
  if (part == "without_linkers") without_linkers();
  if (part == "many") many(argc > 2 ? std::atoi(argv[2]) : 200);
  const std::pair<const char*, void (*)()> parts[] = {{"memory", memory},
                                                      {"files", files},
                                                      {"drops", drops},
                                                      {"ahead", drops_what_was_read_ahead},
                                                      {"keeps", refused_opens_keep_content},
                                                      {"appends", appends},
                                                      {"ends", ends},
                                                      {"beyond", beyond_the_end},
                                                      {"atomic_calls", atomic_calls},
                                                      {"regions", regions},
                                                      {"errors", errors},
                                                      {"shrinks", shrinks},
                                                      {"signals", signals},
                                                      {"at_once", at_once}};
  for (const auto& [name, run] : parts) {
    if (!given && (part.empty() || part == name)) {
      barrier();
      run();
    }
  }
  if (part.empty()) many(40);
  barrier();
  if (part.empty()) {
    open_last();
    if (quire_node() == 0) {
      sleep_ms(20);
      REQUIRE_OK(quire_container_remove("last", 0));
    }
  }
  if (!given) remove_directory();
  REQUIRE_OK(quire_end());
  return 0;
}
