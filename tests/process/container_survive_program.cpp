// SPDX-License-Identifier: BSD-3-Clause
// A node for jobs that go on when a node is lost, and read containers: container_survive_program WHAT VICTIM. The node
// VICTIM kills itself with signal 9 in the middle of WHAT; the others hear of it, and read on. What they read is right,
// and they can open, map, read, drop, close and make containers.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "containers.hpp"

using namespace quire::test;

namespace {

constexpr unsigned only = QUIRE_CONTAINER_READ_ONLY, create = QUIRE_CONTAINER_CREATE | QUIRE_CONTAINER_READ_ONLY;
constexpr std::uint64_t bytes = 300 * page + 777;
int g_victim = 1, g_node = 0;

bool is_victim() { return quire_node() == g_victim; }
[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}
void wait_for_death() {
  for (const double until = now_seconds() + 50; quire_alive(g_victim) != 0; sleep_ms(1)) {
    if (now_seconds() > until) fail(__FILE__, __LINE__, "no death was heard of");
  }
}

/// Content by its position; `what` is the seed. Slow, so that others wait for it. It kills the victim in the fill that
/// g_dies_in counts down to.
std::atomic<int> g_dies_in{0};
bool g_dies_opening = false;
struct told {
  std::uint64_t seed = 0;
};
int tell_open(void*, const char* what, unsigned, uint64_t* there, void** self) {
  if (is_victim() && g_dies_opening) die();
  *self = new told{std::strtoull(what, nullptr, 10)};
  *there = bytes;
  return 0;
}
int tell_fill(void* self, uint64_t at, void* into, size_t n) {
  if (is_victim() && g_dies_in > 0 && --g_dies_in == 0) die();
  sleep_ms(1);
  for (std::size_t i = 0; i < n; ++i)
    static_cast<std::byte*>(into)[i] = pattern(at + i, static_cast<told*>(self)->seed);
  return 0;
}
void tell_close(void* self) { delete static_cast<told*>(self); }

void add_linkers() {
  quire_linker l{};
  l.size = sizeof l;
  l.open = tell_open;
  l.fill = tell_fill;
  l.close = tell_close;
  l.name = "slow";
  l.can = QUIRE_LINK_ANYWHERE;
  REQUIRE_OK(quire_linker_register(&l));
  l.name = "own";  // each node has its own content, for all that anybody knows
  l.can = 0;
  REQUIRE_OK(quire_linker_register(&l));
  barrier();
}

/// All of it, by calls and by the mapping.
void require_all(quire_container c, std::uint64_t seed) {
  REQUIRE_EQUAL(bytes_of(c), bytes);
  const auto wanted = content(bytes, seed);
  REQUIRE_SAME(read(c, 0, bytes + 5000), wanted);
  const std::byte* const at = map(c);
  for (std::uint64_t i = 0; i < bytes; i += 61) REQUIRE(at[i] == wanted[i]);
}
void require_part(quire_container c, std::uint64_t seed, random_numbers& draw) {
  const std::uint64_t at = draw.below(bytes - 1), n = std::min<std::uint64_t>(1 + draw.below(3 * page), bytes - at);
  if (draw.below(10) == 0) {
    const quire_status why = quire_container_drop(c, at, n);
    REQUIRE(why == QUIRE_OK || why == QUIRE_BUSY);
  }
  if (draw.below(2) == 0) return REQUIRE_SAME(read(c, at, n), content(n, seed, at));
  const std::byte* const there = map(c);
  for (std::uint64_t i = at; i < at + n; i += 37) REQUIRE(there[i] == pattern(i, seed));
}

/// Everything works among the survivors. Without node 0 nothing is made or removed.
void go_on(quire_container c, std::uint64_t seed) {
  wait_for_death();
  require_all(c, seed);
  REQUIRE_OK(quire_container_drop(c, 0, 0));
  barrier();
  require_all(c, seed);
  const quire_container again = open("beside", options(only));
  require_all(again, 5);
  REQUIRE_OK(quire_container_close(again));
  quire_container other{};
  auto o = options(create, "slow", "6");
  if (g_victim == 0) {
    REQUIRE_STATUS(quire_container_open("later", &o, &other), QUIRE_LOST);
    REQUIRE(said("node 0"));
    REQUIRE_STATUS(quire_container_remove("beside", 0), QUIRE_LOST);
    REQUIRE(said("node 0"));
  } else {
    other = open("later", o);
    require_all(other, 6);
    REQUIRE_OK(quire_container_close(other));
  }
  REQUIRE_OK(quire_container_close(c));
  REQUIRE_STATUS(quire_container_open("none", nullptr, &other), QUIRE_UNSUPPORTED);
  o = options(only);
  REQUIRE_STATUS(quire_container_open("none", &o, &other), QUIRE_NOT_FOUND);
  barrier();
  if (g_victim == 0) return;
  const int last = g_victim == quire_nodes() - 1 ? quire_nodes() - 2 : quire_nodes() - 1;
  if (quire_node() == last) {
    for (const char* const name : {"beside", "later", "read"}) REQUIRE_OK(quire_container_remove(name, 0));
  }
  barrier();
  o = options(create, "slow", "7");
  other = open("read", o);  // a number that was used before
  require_all(other, 7);
  REQUIRE_OK(quire_container_close(other));
}

quire_container open_all(const quire_container_options& o) {
  const quire_container beside = open("beside", options(create, "slow", "5"));
  REQUIRE_OK(quire_container_close(beside));
  const quire_container c = open("read", o);
  barrier();
  return c;
}
quire_container_options of_file() {
  if (quire_node() == 0) make_file("file", content(bytes, 1));
  barrier();
  static const std::string name = path("file");
  return options(create, "file", name.c_str());
}

/// The victim does nothing, or has read all, or some: it is home of a part, and others have what they have read.
void idle(bool has_read) {
  const quire_container c = open_all(of_file());
  random_numbers draw(static_cast<std::uint64_t>(quire_node()) + 1);
  if (has_read && is_victim()) require_all(c, 1);
  barrier();
  for (int i = 0; i < 5; ++i) require_part(c, 1, draw);
  barrier();
  if (is_victim()) die();
  go_on(c, 1);
}
void reading(const quire_container_options& o, std::uint64_t seed) {
  const quire_container c = open_all(o);
  on_threads(2, [&](int t) {
    random_numbers draw(static_cast<std::uint64_t>(quire_node() * 8 + t + 1));
    const double until = now_seconds() + 50;
    for (int i = 0; i < 20 || (!is_victim() && quire_alive(g_victim) != 0); ++i) {
      if (now_seconds() > until) fail(__FILE__, __LINE__, "no death was heard of");
      require_part(c, seed, draw);
    }
    if (is_victim()) die();
  });
  go_on(c, seed);
}
quire_container_options at_victim(quire_container_options o) {
  o.placement = QUIRE_PLACE_NODE;
  o.home = g_victim;
  return o;
}
/// The victim dies in its linker, while others wait for what it fills.
void filling(bool at_one) {
  const auto o = options(create, "slow", "2");
  g_dies_in = 12;
  reading(at_one ? at_victim(o) : o, 2);
}
void pinning() {
  auto o = of_file();
  o.atomic = 1;
  reading(o, 1);
}
/// It is the maker that dies: of those who wait for it one becomes the maker, unless it was node 0.
void making() {
  const quire_container beside = open("beside", options(create, "slow", "5"));
  REQUIRE_OK(quire_container_close(beside));
  barrier();
  g_dies_opening = is_victim();
  if (!is_victim()) sleep_ms(200);
  const auto o = options(create, "slow", "3");
  if (g_victim != 0) return go_on(open("read", o), 3);
  quire_container c{};
  REQUIRE_STATUS(quire_container_open("read", &o, &c), QUIRE_LOST);
  REQUIRE(said("node 0"));
  c = open("beside", options(only));
  go_on(c, 5);
}
/// Nobody else reaches the content: what others have read they keep, and the rest is lost.
void alone() {
  const quire_container c = open("read", at_victim(options(create, "own", "4")));
  barrier();
  constexpr std::uint64_t kept = 20 * page;
  if (!is_victim()) REQUIRE_SAME(read(c, 0, kept), content(kept, 4));
  barrier();
  if (is_victim()) die();
  wait_for_death();
  REQUIRE_SAME(read(c, 0, kept), content(kept, 4));
  std::byte one{};
  std::size_t done = 0;
  for (const std::uint64_t at : {kept + 40 * page, bytes - 1}) {
    REQUIRE_STATUS(quire_container_read(c, at, &one, 1, &done), QUIRE_LOST);
    REQUIRE(said("alone"));
    REQUIRE_EQUAL(done, 0);
  }
  REQUIRE_OK(quire_container_close(c));
  barrier();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string what = argv[1];
  g_victim = std::atoi(argv[2]);
  REQUIRE_OK(quire_start(nullptr));
  g_node = quire_node();
  make_directory();
  add_linkers();
  if (what == "idle") idle(false);
  if (what == "has-read") idle(true);
  if (what == "reading") reading(of_file(), 1);
  if (what == "at-home") reading(at_victim(of_file()), 1);
  if (what == "filling") filling(false);
  if (what == "filling-at-home") filling(true);
  if (what == "pinning") pinning();
  if (what == "making") making();
  if (what == "alone") alone();
  remove_directory();
  REQUIRE_OK(quire_end());
  std::printf("node %d has read all\n", g_node);
  return 0;
}
