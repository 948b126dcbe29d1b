// SPDX-License-Identifier: BSD-3-Clause
// Contract: what the counters say. Read-ahead is off, so that every number is known: a unit that several threads want
// is asked for once, a pushed or prefetched unit is not asked for again, and a sweep with read-ahead (the second run of
// this program, with the argument "ahead") asks for far fewer units than it reads.
#include <signal.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "apart.hpp"
#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t unit_bytes = 4096, unit_words = unit_bytes / sizeof(std::uint64_t);

std::uint64_t* make_region(const char* name, std::size_t units) {
  return shared_region<std::uint64_t>(name, units * unit_bytes, region_options(unit_bytes, QUIRE_PLACE_NODE, 0));
}
void fill(std::uint64_t* words, std::size_t units) {
  if (quire_node() == 0)
    for (std::size_t unit = 0; unit < units; ++unit) words[unit * unit_words] = unit + 1;
  barrier();
}
std::uint64_t load(const std::uint64_t& word) {
  return std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(word)).load();
}
std::uint64_t remote_faults(const quire_counters& c) { return c.read_faults + c.write_faults + c.upgrade_faults; }

/// Four threads want each unit at about the same time: it is asked for once.
void racing_threads() {
  constexpr std::size_t units = 100;
  auto* words = make_region("racing", units);
  fill(words, units);
  if (quire_node() == 1) {
    const auto before = counters();
    std::atomic<std::size_t> arrived{0};
    on_threads(4, [&](int) {
      for (std::size_t unit = 0; unit < units; ++unit) {
        ++arrived;
        while (arrived < 4 * (unit + 1)) std::this_thread::yield();
        REQUIRE_EQUAL(load(words[unit * unit_words]), unit + 1);
      }
    });
    const auto after = counters();
    REQUIRE_EQUAL(after.read_faults - before.read_faults, units);
    REQUIRE(after.racing_faults - before.racing_faults <= 3 * units);
    REQUIRE_EQUAL(after.write_faults + after.upgrade_faults, before.write_faults + before.upgrade_faults);
  }
}

/// Stops a process, and waits until the last of its threads stands still.
void stop(pid_t process) {
  REQUIRE(::kill(process, SIGSTOP) == 0);
  const auto runs = [](const std::filesystem::path& thread) {
    std::string text;
    std::getline(std::ifstream(thread / "stat"), text);
    const auto name_end = text.rfind(')');
    return name_end == text.npos || text.compare(name_end, 4, ") T ") != 0;
  };
  const std::filesystem::directory_iterator threads("/proc/" + std::to_string(process) + "/task");
  for (const auto& thread : threads)
    while (runs(thread.path())) sleep_ms(1);
}

/// Pool 'fork': the engine is another process, which serves while the program of its node stands still, unless it takes
/// mprotect(), which no other process can do, to take a right from it.
bool serves_while_stopped() {
  const char* const pool = std::getenv("QUIRE_POOL");
  const char* const detector = std::getenv("QUIRE_DETECT");
  return pool != nullptr && std::string_view(pool) == "fork" &&
         (detector == nullptr || std::string_view(detector) != "segv");
}

/// While the home is stopped, all four threads must meet: one request, three that join it.
void racing_while_the_home_is_stopped() {
  auto* words = make_region("stopped", 1);
  auto* pid = shared_object<std::int64_t>("stopped pid");
  if (quire_node() == 0) *pid = ::getpid();
  fill(words, 1);
  if (quire_node() == 1) {
    const auto home = static_cast<pid_t>(*pid);
    const auto before = counters();
    stop(home);
    if (serves_while_stopped()) {
      REQUIRE_EQUAL(load(words[0]), 1);
      REQUIRE(::kill(home, SIGCONT) == 0);
      return;
    }
    std::atomic<int> begun{0};
    std::thread starter([&] {
      while (begun < 4) sleep_ms(1);
      sleep_ms(200);
      REQUIRE(::kill(home, SIGCONT) == 0);
    });
    on_threads(4, [&](int) {
      ++begun;
      REQUIRE_EQUAL(load(words[0]), 1);
    });
    starter.join();
    const auto after = counters();
    REQUIRE_EQUAL(after.read_faults - before.read_faults, 1);
    REQUIRE_EQUAL(after.racing_faults - before.racing_faults, 3);
  }
}

/// Read, write and upgrade faults are told apart, and a write miss takes one fault.
void kinds_of_faults() {
  constexpr std::size_t units = 30;
  auto* words = make_region("kinds", units);
  fill(words, units);
  if (quire_node() == 1) {
    const auto start = counters();
    for (std::size_t unit = 0; unit < units; unit += 3) REQUIRE_EQUAL(load(words[unit * unit_words]), unit + 1);
    const auto read = counters();
    REQUIRE_EQUAL(read.read_faults - start.read_faults, 10);
    for (std::size_t unit = 0; unit < units; unit += 3) words[unit * unit_words + 1] = unit;
    const auto upgraded = counters();
    REQUIRE_EQUAL(upgraded.upgrade_faults - read.upgrade_faults, 10);
    for (std::size_t unit = 1; unit < units; unit += 3) words[unit * unit_words + 1] = unit;
    const auto written = counters();
    REQUIRE_EQUAL(written.write_faults - upgraded.write_faults, 10);
    REQUIRE_EQUAL(written.read_faults, upgraded.read_faults);
    REQUIRE_EQUAL(written.upgrade_faults, upgraded.upgrade_faults);
    for (std::size_t unit = 2; unit < units; unit += 3) {  // a locked instruction is a write from the start
      std::atomic_ref<std::uint64_t>(words[unit * unit_words]).fetch_add(1);
    }
    const auto locked = counters();
    REQUIRE_EQUAL(locked.write_faults - written.write_faults, 10);
    REQUIRE_EQUAL(locked.read_faults, written.read_faults);
    REQUIRE(locked.messages_sent > start.messages_sent &&
            locked.bytes_received - start.bytes_received >= 30 * unit_bytes);
    REQUIRE(locked.fault_ns > start.fault_ns || std::getenv("QUIRE_DETECT") == std::string("thread"));
  }
  barrier();
  if (quire_node() == 0) {
    const auto before = counters();
    for (std::size_t unit = 0; unit < units; ++unit) words[unit * unit_words + 2] = unit;
    REQUIRE_EQUAL(remote_faults(counters()) - remote_faults(before), units);
  }
}

/// Four nodes read, one writes: three copies and the owner's are invalidated.
void invalidations() {
  auto* words = make_region("invalidations", 1);
  fill(words, 1);
  const auto before = counters();
  REQUIRE_EQUAL(load(words[0]), 1);
  barrier();
  if (quire_node() == 1) words[0] = 5;
  barrier();
  REQUIRE_EQUAL(counters().invalidations - before.invalidations, quire_node() == 1 ? 0 : 1);
  barrier();
  REQUIRE_EQUAL(load(words[0]), 5);
}

/// What was prefetched or pushed is not asked for again, at whatever time it arrives.
void hints() {
  constexpr std::size_t units = 64;
  auto* words = make_region("hints", units);
  fill(words, units);
  const auto check = [&](std::uint64_t more, bool writing) {
    const auto before = counters();
    for (std::size_t unit = 0; unit < units; ++unit) {
      if (writing) words[unit * unit_words + 1] = unit;
      REQUIRE_EQUAL(load(words[unit * unit_words]), unit + more);
    }
    REQUIRE_EQUAL(remote_faults(counters()), remote_faults(before));
  };
  if (quire_node() == 1) {
    REQUIRE_OK(quire_prefetch(words, units * unit_bytes, 0));
    check(1, false);
    REQUIRE_OK(quire_prefetch(words, units * unit_bytes, 1));
    check(1, true);
  }
  barrier();
  if (quire_node() == 0) {
    for (std::size_t unit = 0; unit < units; ++unit) words[unit * unit_words] = unit + 2;
    REQUIRE_OK(quire_push(words, units * unit_bytes));
  }
  barrier();
  check(2, false);
  barrier();
  if (quire_node() == 1) REQUIRE_OK(quire_push(words, units * unit_bytes));  // by a node that does not own it
  barrier();
  if (quire_node() == 0) words[0] = 77;
  barrier();
  REQUIRE_EQUAL(load(words[0]), 77);
}

/// With read-ahead a sweep asks for few units itself, and none is wasted when all are read, whichever way it goes.
void sweep(bool down) {
  constexpr std::size_t units = 2048;
  auto* words = make_region(down ? "sweep down" : "sweep", units);
  fill(words, units);
  if (quire_node() == 1) {
    const auto before = counters();
    for (std::size_t i = 0; i < units; ++i) {
      const std::size_t unit = down ? units - 1 - i : i;
      REQUIRE_EQUAL(load(words[unit * unit_words]), unit + 1);
    }
    const auto after = counters();
    REQUIRE(after.read_faults - before.read_faults < units / 16);
    REQUIRE(after.read_ahead_units - before.read_ahead_units > units / 2);
    REQUIRE_EQUAL(after.read_ahead_wasted, before.read_ahead_wasted);
    REQUIRE_EQUAL(after.read_faults - before.read_faults + after.read_ahead_units - before.read_ahead_units, units);
  }
}

/// Nor does memory that fills up in several streams, or downwards, fault at each page.
void filling() {
  constexpr std::size_t pages = 1536, streams = 3, of_a_stream = 4;
  for (const bool down : {false, true}) {
    void* at = nullptr;
    REQUIRE_OK(quire_malloc(pages * unit_bytes, &at));
    auto* const words = static_cast<std::uint64_t*>(at);
    const auto before = counters();
    for (std::size_t block = 0; block < pages; block += streams * of_a_stream)
      for (std::size_t i = 0; i < streams * of_a_stream; ++i) {
        const std::size_t page = block + i % streams * of_a_stream + i / streams;
        words[(down ? pages - 1 - page : page) * unit_words] = page;
      }
    const auto after = counters();
    REQUIRE(after.local_faults - before.local_faults < pages / 4);
    REQUIRE_OK(quire_free(at));
    barrier();
  }
}

void calls_are_counted() {
  const auto before = counters();
  barrier();
  auto* word = shared_object<std::uint64_t>("counted");
  std::uint64_t old;
  for (int i = 0; i < 5; ++i) REQUIRE_OK(quire_fetch_add(word, 1, &old));
  quire_mutex mutex{};
  REQUIRE_OK(quire_mutex_create(&mutex));
  for (int i = 0; i < 7; ++i) {
    REQUIRE_OK(quire_mutex_lock(mutex));
    REQUIRE_OK(quire_mutex_unlock(mutex));
  }
  REQUIRE_OK(quire_mutex_destroy(mutex));
  const auto after = counters();
  REQUIRE_EQUAL(after.atomics - before.atomics, 5);
  REQUIRE_EQUAL(after.locks - before.locks, 7);
  REQUIRE_EQUAL(after.barriers - before.barriers, 1);
  REQUIRE(after.lock_ns > before.lock_ns && after.barrier_ns > before.barrier_ns);
}

}  // namespace

int main(int argc, char**) {
  const bool ahead = argc > 1;
  keep_nodes_apart();
  if (!ahead) ::setenv("QUIRE_READ_AHEAD", "0", 1);
  return node_main([&] {
    if (ahead) section("sweep", [] { sweep(false); });
    if (ahead) section("sweep down", [] { sweep(true); });
    if (ahead) return section("filling", filling);
    section("racing threads", racing_threads);
    section("racing while the home is stopped", racing_while_the_home_is_stopped);
    section("kinds of faults", kinds_of_faults);
    section("invalidations", invalidations);
    section("hints", hints);
    section("calls are counted", calls_are_counted);
  });
}
