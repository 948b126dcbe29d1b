// SPDX-License-Identifier: BSD-3-Clause
// A linker whose functions hang, run with QUIRE_IO_TIMEOUT=1: who needs it gets an error, content that was written
// stays and is kept once the function comes back, and nobody waits for one that never does: neither the end of a
// container nor that of the job. Argument: comes-back, or the function that hangs for ever (open, fill, flush, sync,
// truncate, close).
#include <quire/container.h>
#include <setjmp.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <string>

#include "node.hpp"

namespace {

using namespace quire::test;

constexpr std::size_t page = 4096, pages = 8;

/// The content, on the node that does the I/O; and where a function of the linker stays.
struct place {
  std::mutex mutex{};
  std::array<std::byte, page * pages> all{};
  std::atomic<int> hangs{0};  ///< a function
  std::atomic<int> inside{0}, calls{0};
};
place g;

enum function : int { none, opens, fills, flushes, syncs, truncates, closes };

/// True if it has been here for a while.
bool stay(function which) {
  ++g.calls;
  if (g.hangs.load() != which) return false;
  ++g.inside;
  while (g.hangs.load() == which) sleep_ms(2);
  --g.inside;
  return true;
}

quire_linker linker() {
  quire_linker l{};
  l.size = sizeof l;
  l.name = "hanging";
  l.can = QUIRE_LINK_WRITE | QUIRE_LINK_TRUNCATE;
  l.open = [](void*, const char*, unsigned, std::uint64_t* bytes, void** self) {
    (void)stay(opens);
    *bytes = page * pages;
    *self = &g;
    return 0;
  };
  l.fill = [](void*, std::uint64_t at, void* into, std::size_t bytes) {
    (void)stay(fills);
    const std::lock_guard guard(g.mutex);
    std::memcpy(into, g.all.data() + at, bytes);
    return 0;
  };
  l.flush = [](void*, std::uint64_t at, const void* from, std::size_t bytes) {
    (void)stay(flushes);
    const std::lock_guard guard(g.mutex);
    std::memcpy(g.all.data() + at, from, bytes);
    return 0;
  };
  l.sync = [](void*) {
    (void)stay(syncs);
    return 0;
  };
  l.truncate = [](void*, std::uint64_t bytes) {
    if (stay(truncates)) return EIO;
    const std::lock_guard guard(g.mutex);
    for (std::size_t at = bytes; at < g.all.size(); ++at) g.all[at] = std::byte{0};
    return 0;
  };
  l.close = [](void*) { (void)stay(closes); };
  return l;
}

quire_container open() {
  quire_container_options o{};
  o.size = sizeof o;
  o.linker = "hanging";
  o.what = "nowhere";
  o.flags = QUIRE_CONTAINER_CREATE;
  o.placement = QUIRE_PLACE_NODE;
  quire_container c{};
  REQUIRE_OK(quire_container_open("stuck", &o, &c));
  return c;
}
void on_node(int node, const std::function<void()>& f) {
  barrier();
  if (quire_node() == node) f();
  barrier();
}
void on_io_node(const std::function<void()>& f) { on_node(0, f); }
void on_last(const std::function<void()>& f) { on_node(quire_nodes() - 1, f); }
void hang(function which) {
  on_io_node([&] { g.hangs = which; });
}
/// It goes on, and the linker is of use again.
void release() {
  on_io_node([] {
    g.hangs = none;
    while (g.inside != 0) sleep_ms(2);
  });
}
quire_status read(quire_container c, std::size_t unit, std::byte* into) {
  std::size_t done = 0;
  return quire_container_read(c, unit * page, into, page, &done);
}
void fill_page(std::size_t unit, int value) {
  const std::lock_guard guard(g.mutex);
  std::memset(g.all.data() + unit * page, value, page);
}
bool has(const std::byte* all, int value) { return all[0] == std::byte(value) && all[page - 1] == std::byte(value); }

sigjmp_buf g_back;
int g_code = 0;
void on_bus(int, siginfo_t* about, void*) {
  g_code = about->si_code;
  siglongjmp(g_back, 1);
}

void fill_hangs() {
  on_io_node([] { fill_page(1, 11); });
  const quire_container c = open();
  void* address = nullptr;
  REQUIRE_OK(quire_container_map(c, &address, nullptr));
  hang(fills);
  std::byte into[page];
  on_last([&] {
    REQUIRE_STATUS(read(c, 1, into), QUIRE_IO);
    struct sigaction act {
    }, before{};
    act.sa_sigaction = on_bus;
    act.sa_flags = SA_SIGINFO;
    REQUIRE(::sigaction(SIGBUS, &act, &before) == 0);
    if (sigsetjmp(g_back, 1) == 0) {
      (void)*(static_cast<volatile std::byte*>(address) + 2 * page);
      REQUIRE(false);
    }
    REQUIRE_EQUAL(g_code, BUS_OBJERR);
    REQUIRE(::sigaction(SIGBUS, &before, nullptr) == 0);
  });
  on_io_node([&] {
    const int calls = g.calls;
    for (int i = 0; i < 20; ++i) REQUIRE_STATUS(read(c, 3, into), QUIRE_IO);
    REQUIRE_EQUAL(g.calls, calls);  // the linker is not asked while it hangs
  });
  release();
  on_last([&] {
    for (;;) {  // until its thread has told that it is back
      const quire_status why = read(c, 1, into);
      if (why == QUIRE_OK) break;
      REQUIRE_STATUS(why, QUIRE_IO);
      sleep_ms(5);
    }
    REQUIRE(has(into, 11));
  });
  REQUIRE_OK(quire_container_close(c));
  on_io_node([] { REQUIRE_OK(quire_container_remove("stuck", 0)); });
}

/// What was written stays, and is kept when the linker is back.
void writing_hangs(function which, int value) {
  const quire_container c = open();
  std::byte from[page], into[page];
  std::memset(from, value, page);
  std::size_t done = 0;
  on_last([&] { REQUIRE_OK(quire_container_write(c, 4 * page, from, page, &done)); });
  hang(which);
  on_last([&] { REQUIRE_STATUS(quire_container_sync(c, 0, 0), QUIRE_IO); });
  REQUIRE_OK(read(c, 4, into));
  REQUIRE(has(into, value));
  release();
  while (quire_container_sync(c, 0, 0) != QUIRE_OK) sleep_ms(5);  // each node is told once
  on_io_node([&] {
    const std::lock_guard guard(g.mutex);
    REQUIRE(has(g.all.data() + 4 * page, value));
  });
  REQUIRE_OK(quire_container_close(c));
  on_io_node([] { REQUIRE_OK(quire_container_remove("stuck", 0)); });
}

/// A cut of which the linker does not come back is made before content grows again: what was there does not come to
/// light.
void truncate_hangs() {
  on_io_node([] {
    for (std::size_t unit = 0; unit < pages; ++unit) fill_page(unit, 7);
  });
  const quire_container c = open();
  hang(truncates);
  std::byte into[page];
  on_last([&] {
    REQUIRE_OK(read(c, 6, into));
    REQUIRE(has(into, 7));
    REQUIRE_STATUS(quire_container_truncate(c, 2 * page), QUIRE_IO);
    std::uint64_t bytes = 0;
    REQUIRE_OK(quire_container_bytes(c, &bytes));
    REQUIRE_EQUAL(bytes, 2 * page);
    REQUIRE_STATUS(quire_container_truncate(c, pages * page), QUIRE_IO);  // not before the linker has been cut
    REQUIRE_OK(quire_container_bytes(c, &bytes));
    REQUIRE_EQUAL(bytes, 2 * page);
  });
  release();
  on_last([&] {
    while (quire_container_truncate(c, pages * page) != QUIRE_OK) sleep_ms(5);
    for (std::size_t unit = 0; unit < pages; ++unit) {
      REQUIRE_OK(read(c, unit, into));
      REQUIRE(has(into, unit < 2 ? 7 : 0));
    }
  });
  REQUIRE_OK(quire_container_close(c));
  on_io_node([] { REQUIRE_OK(quire_container_remove("stuck", 0)); });
}

void open_hangs() {
  hang(opens);
  on_io_node([] {
    quire_container_options o{};
    o.size = sizeof o;
    o.linker = "hanging";
    o.what = "nowhere";
    o.flags = QUIRE_CONTAINER_CREATE;
    quire_container c{};
    REQUIRE_STATUS(quire_container_open("stuck", &o, &c), QUIRE_IO);
    REQUIRE(std::strstr(quire_last_error(), "timed out") != nullptr);
  });
}

void never_returns(function which) {
  if (which == opens) return open_hangs();
  const quire_container c = open();
  std::byte some[page];
  std::memset(some, 3, page);
  std::size_t done = 0;
  if (which != fills) {
    on_last([&] { REQUIRE_OK(quire_container_write(c, 0, some, page, &done)); });
  }
  hang(which);
  if (which == fills) REQUIRE_STATUS(read(c, 5, some), QUIRE_IO);
  if (which == truncates) {
    on_last([&] { REQUIRE_STATUS(quire_container_truncate(c, 0), QUIRE_IO); });
  }
  if (which == closes) {
    REQUIRE_OK(quire_container_close(c));
  } else {
    (void)quire_container_close(c);  // QUIRE_IO on some node: it has told
  }
  if (which != syncs)
    on_io_node([] { REQUIRE_OK(quire_container_remove("stuck", 0)); });  // else the end of the job has to do with it
  on_io_node([&] { REQUIRE(g.inside >= 1); });
}

}  // namespace

int main(int, char** argv) {
  REQUIRE_OK(quire_start(nullptr));
  const quire_linker l = linker();
  REQUIRE_OK(quire_linker_register(&l));
  barrier();
  const std::string last = argv[1];
  if (last == "comes-back") {
    fill_hangs();
    writing_hangs(flushes, 21);
    writing_hangs(syncs, 22);
    truncate_hangs();
  } else {
    constexpr std::array names = {"", "open", "fill", "flush", "sync", "truncate", "close"};
    for (int which = opens; which <= closes; ++which) {
      if (last == names[static_cast<std::size_t>(which)]) never_returns(static_cast<function>(which));
    }
  }
  REQUIRE_OK(quire_end());
  return 0;
}
