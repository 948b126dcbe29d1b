// SPDX-License-Identifier: BSD-3-Clause
// What the node programs of the tests share: start and end, checks that end the program with a sentence, threads,
// sections that all nodes go through together. A failed check exits with status 1 at once; `quire run` then ends the
// other nodes.
#pragma once

#include <quire/quire.h>
#include <unistd.h>

#include <cinttypes>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

namespace quire::test {

/// Prints where and why, and ends the program.
[[noreturn]] __attribute__((format(printf, 3, 4))) inline void fail(const char* file, int line, const char* format,
                                                                    ...) {
  char text[512];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const char* slash = std::strrchr(file, '/');
  std::fprintf(stderr, "FAILED %s:%d on node %d: %s\n", slash != nullptr ? slash + 1 : file, line, quire_node(), text);
  ::_exit(1);
}

inline void require_status(const char* file, int line, const char* call, quire_status got, quire_status wanted) {
  if (got != wanted) fail(file, line, "%s gave %d (%s) instead of %d", call, got, quire_status_text(got), wanted);
}

/// `condition` holds.
#define REQUIRE(condition) \
  if (!(condition)) ::quire::test::fail(__FILE__, __LINE__, "%s does not hold", #condition)
/// Two integers are equal.
#define REQUIRE_EQUAL(a, b)                                                                                           \
  do {                                                                                                                \
    const auto value_a = static_cast<std::int64_t>(a);                                                                \
    const auto value_b = static_cast<std::int64_t>(b);                                                                \
    if (value_a != value_b)                                                                                           \
      ::quire::test::fail(__FILE__, __LINE__, "%s is %" PRId64 " (0x%" PRIx64 "), not %" PRId64 " (%s)", #a, value_a, \
                          static_cast<std::uint64_t>(value_a), value_b, #b);                                          \
  } while (false)
/// A call of Quire succeeds, or gives a certain status.
#define REQUIRE_OK(call) ::quire::test::require_status(__FILE__, __LINE__, #call, call, QUIRE_OK)
#define REQUIRE_STATUS(call, status) ::quire::test::require_status(__FILE__, __LINE__, #call, call, status)

inline void barrier() { REQUIRE_OK(quire_barrier_wait(quire_barrier{0})); }

inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
inline void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

/// Runs f(thread) on `count` threads of this node and waits for them.
inline void on_threads(int count, const std::function<void(int)>& f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(f, i);
  for (auto& thread : threads) thread.join();
}

/// A small generator of random numbers (splitmix64); the same on all machines.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }

 private:
  std::uint64_t state_;
};
inline std::uint64_t mix(std::uint64_t value) { return random_numbers(value).next(); }

/// An object that all nodes share: node 0 allocates it, filled with zeroes, and publishes it under `name`.
template <class T>
T* shared_object(const std::string& name, std::size_t count = 1) {
  void* address = nullptr;
  if (quire_node() == 0) {
    REQUIRE_OK(quire_calloc(count, sizeof(T), &address));
    REQUIRE_OK(quire_publish(name.c_str(), address));
  } else {
    REQUIRE_OK(quire_lookup(name.c_str(), 20'000, &address));
  }
  return static_cast<T*>(address);
}

/// A region that all nodes share, made by node 0.
template <class T>
T* shared_region(const std::string& name, std::uint64_t bytes, const quire_region_options& about) {
  void* address = nullptr;
  if (quire_node() == 0) {
    quire_region region{};
    REQUIRE_OK(quire_region_create(&about, bytes, &region));
    REQUIRE_OK(quire_region_range(region, &address, nullptr));
    REQUIRE_OK(quire_publish(name.c_str(), address));
  } else {
    REQUIRE_OK(quire_lookup(name.c_str(), 20'000, &address));
  }
  return static_cast<T*>(address);
}

/// Bytes of a unit: what a test usually has, or more if CONTRACT_UNIT says so. What holds for units of a page holds for
/// all sizes.
inline std::size_t unit_at_least(std::size_t usual) {
  static const char* const given = std::getenv("CONTRACT_UNIT");
  const std::size_t least = given != nullptr ? std::strtoull(given, nullptr, 10) : 0;
  return usual > least ? usual : least;
}

/// Of minipages, if CONTRACT_MINIPAGES says so: regions whose units would be pages have such units then. Else 0.
inline std::size_t minipages_given() {
  static const char* const given = std::getenv("CONTRACT_MINIPAGES");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 0;
}

/// Of such regions, if CONTRACT_GROUPING says so: page or adaptive.
inline quire_grouping grouping_given() {
  static const char* const given = std::getenv("CONTRACT_GROUPING");
  const std::string_view name = given != nullptr ? given : "none";
  return name == "page" ? QUIRE_GROUP_PAGE : name == "adaptive" ? QUIRE_GROUP_ADAPTIVE : QUIRE_GROUP_NONE;
}

/// What the regions of the tests are is decided here.
inline quire_region_options region_options(std::size_t unit_bytes, quire_placement placement, int home = 0) {
  quire_region_options about{};
  about.size = sizeof about;
  about.unit_bytes = unit_at_least(unit_bytes);
  if (about.unit_bytes == 4096 && minipages_given() != 0) {
    about.unit_bytes = 0;
    about.minipage_bytes = minipages_given();
    about.grouping = grouping_given();
  }
  about.placement = placement;
  about.home = home;
  return about;
}

/// The same memory by its address in a fine view, if it has one; and in the natural view.
template <class T>
T* fine(T* natural) {
  void* at = nullptr;
  REQUIRE_OK(quire_view(const_cast<std::remove_cv_t<T>*>(natural), QUIRE_FINE, &at));
  return static_cast<T*>(at);
}
template <class T>
T* natural(T* fine) {
  void* at = nullptr;
  REQUIRE_OK(quire_view(const_cast<std::remove_cv_t<T>*>(fine), QUIRE_NATURAL, &at));
  return static_cast<T*>(at);
}
/// Of words in regions of the tests: one of their two addresses where there are minipages, by chance (`draw`: any
/// number).
template <class T>
T* either(T* natural, std::uint64_t draw) {
  return minipages_given() != 0 && draw % 4 != 0 ? fine(natural) : natural;
}

inline quire_counters counters() {
  quire_counters c{};
  c.size = sizeof c;
  REQUIRE_OK(quire_counters_read(&c));
  return c;
}

/// All nodes do this together; node 0 tells how long it took.
inline void section(const char* name, const std::function<void()>& body) {
  barrier();
  const double begin = now_seconds();
  body();
  barrier();
  if (quire_node() == 0) std::printf("%-44s %7.1f ms\n", name, (now_seconds() - begin) * 1e3);
}

/// The whole of a node program: start, `body`, end.
inline int node_main(const std::function<void()>& body) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  REQUIRE_OK(quire_start(nullptr));
  body();
  REQUIRE_OK(quire_end());
  return 0;
}

}  // namespace quire::test
