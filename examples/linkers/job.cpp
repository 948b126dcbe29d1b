// SPDX-License-Identifier: BSD-3-Clause
// A linker in a job: all nodes use one container of it, as memory and by calls.
//   quire run -n 2 linker_NAME WHAT           content that can be written
//   quire run -n 2 linker_NAME WHAT EXPECTED  content that is there already, as in the file EXPECTED
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <quire/container.h>
#include <quire/quire.hpp>

#include "linkers.h"

namespace {

constexpr std::size_t piece = 100'000;  // no multiple of anything
const quire_linker& tested = LINKER;

/// Ends the program if a call has failed.
void check(quire_status status, const char* call) {
  if (status == QUIRE_OK) return;
  std::fprintf(stderr, "%s: %s: %s\n", call, quire_status_text(status), quire_last_error());
  std::exit(1);
}
#define CHECK(call) check(call, #call)

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "node %d: not so: %s\n", quire_node(), what);
  std::exit(1);
}
#define REQUIRE(condition) require(condition, #condition)

void meet() { CHECK(quire_barrier_wait(quire_barrier{0})); }

quire_container open(const char* what, unsigned flags) {
  quire_container_options how{};
  how.size = sizeof how;
  how.linker = tested.name;
  how.what = what;
  how.flags = flags | QUIRE_CONTAINER_CREATE;
  quire_container c{};
  CHECK(quire_container_open("data", &how, &c));
  return c;
}

char byte_of(int node, std::size_t i, int round) {
  return static_cast<char>(node * 31 + round * 7 + static_cast<int>(i % 251));
}

/// All of it, by memory and by a call, is what `right` says.
template <class Right>
void compare(quire_container c, std::uint64_t bytes, Right right) {
  std::uint64_t there = 0;
  CHECK(quire_container_bytes(c, &there));
  REQUIRE(there == bytes);
  void* address = nullptr;
  CHECK(quire_container_map(c, &address, nullptr));
  const char* const memory = static_cast<const char*>(address);
  std::vector<char> read(bytes);
  std::size_t done = 0;
  CHECK(quire_container_read(c, 0, read.data(), read.size(), &done));
  REQUIRE(done == bytes);
  for (std::uint64_t i = 0; i < bytes; ++i) REQUIRE(read[i] == right(i) && memory[i] == right(i));
}

/// It goes from memory: the linker is asked again.
void forget(quire_container c, const char* name) {
  CHECK(quire_container_close(c));
  meet();
  if (quire_node() == 0) CHECK(quire_container_remove(name, 0));
  meet();
}

void use_written(const char* what, std::uint64_t length) {
  const int node = quire_node(), nodes = quire_nodes();
  const bool grows = (tested.can & QUIRE_LINK_TRUNCATE) != 0;
  const std::uint64_t bytes = grows ? static_cast<std::uint64_t>(nodes) * piece : length;
  const std::size_t part = static_cast<std::size_t>(bytes) / static_cast<std::size_t>(nodes);
  quire_container c = open(what, grows ? QUIRE_CONTAINER_TRUNCATE * (node == 0) : 0);
  meet();
  // Each node writes its part; the container grows by that.
  std::vector<char> mine(part);
  for (std::size_t i = 0; i < part; ++i) mine[i] = byte_of(node, i, 1);
  const std::uint64_t begin = static_cast<std::uint64_t>(node) * part;
  CHECK(quire_container_write(c, begin, mine.data(), part, nullptr));
  meet();
  const std::uint64_t written = grows ? bytes : part * static_cast<std::uint64_t>(nodes);
  const auto first = [part](std::uint64_t i) { return byte_of(static_cast<int>(i / part), i % part, 1); };
  if (written == bytes) compare(c, bytes, first);
  meet();
  // By memory: the next node's part.
  void* address = nullptr;
  CHECK(quire_container_map(c, &address, nullptr));
  const int other = (node + 1) % nodes;
  for (std::size_t i = 0; i < part; ++i)
    static_cast<char*>(address)[static_cast<std::size_t>(other) * part + i] = byte_of(other, i, 2);
  meet();
  const auto second = [part](std::uint64_t i) { return byte_of(static_cast<int>(i / part), i % part, 2); };
  if (written == bytes) compare(c, bytes, second);
  CHECK(quire_container_sync(c, 0, 0));
  meet();
  forget(c, "data");
  c = open(what, 0);
  if (written == bytes) compare(c, bytes, second);
  meet();
  if (grows && node == nodes - 1) {
    CHECK(quire_container_truncate(c, part / 2));
    CHECK(quire_container_append(c, "the end", 7, nullptr));
  }
  meet();
  if (grows) {
    const auto cut = [&](std::uint64_t i) { return i < part / 2 ? second(i) : "the end"[i - part / 2]; };
    compare(c, part / 2 + 7, cut);
    meet();
    forget(c, "data");
    c = open(what, QUIRE_CONTAINER_READ_ONLY);
    compare(c, part / 2 + 7, cut);
  }
  CHECK(quire_container_close(c));
}

void use_expected(const char* what, const std::vector<char>& expected) {
  const quire_container c = open(what, QUIRE_CONTAINER_READ_ONLY);
  compare(c, expected.size(), [&](std::uint64_t i) { return expected[i]; });
  meet();
  forget(c, "data");
}

}  // namespace

int main(int argc, char** argv) {
  const quire::session job;
  if (argc < 2) {
    std::fprintf(stderr, "usage: quire run -n 2 %s WHAT [EXPECTED]\n", argv[0]);
    return 2;
  }
  CHECK(quire_linker_register(&tested));
  meet();
  std::uint64_t length = 0;
  if (argc > 2) {
    std::ifstream file(argv[2], std::ios::binary);
    const std::vector<char> expected{std::istreambuf_iterator<char>(file), {}};
    length = expected.size();
    use_expected(argv[1], expected);
  }
  if ((tested.can & QUIRE_LINK_WRITE) != 0) use_written(argv[1], length);
  meet();
  if (quire_node() == 0) std::printf("%s is right on %d nodes\n", tested.name, quire_nodes());
}
