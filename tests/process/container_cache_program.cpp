// SPDX-License-Identifier: BSD-3-Clause
// What containers with a linker keep in memory has a bound (QUIRE_CACHE_LIMIT, or QUIRE_MEMORY_LIMIT):
// container_cache_program BYTES. Files that are larger are read and written by all nodes. BYTES is the bound, or 0 if
// there is to be none that is felt; `refused` if no unit of 2 MiB may be used.
#include <algorithm>

#include "containers.hpp"

namespace {

using namespace quire::test;

constexpr std::uint64_t file_bytes = (10u << 20) + 4321;

std::uint64_t g_limit = 0;

/// More than the limit is in memory only for a moment: what is on its way, and what the file does not have for certain
/// yet. On a busy machine that is more than the limit itself; all of the file is ten times as much.
void require_limit_kept(const char* when) {
  const std::uint64_t most = counters().most_memory;
  if (g_limit != 0 && most > 4 * g_limit)
    fail(__FILE__, __LINE__, "%s: %lu KiB were in memory", when, static_cast<unsigned long>(most >> 10));
}

/// All nodes read all of it, by calls and by the mapping.
void read_all(std::uint64_t seed) {
  on_node(0, [&] { make_file("input", content(file_bytes, seed)); });
  const quire_container c =
      open("input", options(QUIRE_CONTAINER_CREATE | QUIRE_CONTAINER_READ_ONLY, "file", path("input").c_str()));
  const auto wanted = content(file_bytes, seed);
  REQUIRE_SAME(read(c, 0, file_bytes + 1), wanted);
  REQUIRE(std::equal(wanted.begin(), wanted.end(), map(c)));
  random_numbers draw(seed + static_cast<std::uint64_t>(quire_node()));
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t at = draw.below(file_bytes);
    REQUIRE(map(c)[at] == wanted[at]);
  }
  barrier();
  require_limit_kept("reading");
  REQUIRE_OK(quire_container_close(c));
}

/// Each node writes a part, in pieces that lie between those of others: most of what it has is another node's to write
/// to the file.
void write_all() {
  const quire_container c = open("output", options(QUIRE_CONTAINER_CREATE, "file", path("output").c_str(), file_bytes));
  const auto nodes = static_cast<std::uint64_t>(quire_nodes()), self = static_cast<std::uint64_t>(quire_node());
  const auto wanted = content(file_bytes, 5);
  constexpr std::uint64_t piece = 3 * page + 100;
  for (std::uint64_t at = self * piece; at < file_bytes; at += nodes * piece) {
    const auto first = wanted.begin() + static_cast<std::ptrdiff_t>(at),
               last = wanted.begin() + static_cast<std::ptrdiff_t>(std::min(at + piece, file_bytes));
    if (at / piece % 2 == 0) {
      write(c, at, {first, last});
    } else {
      std::copy(first, last, map(c) + at);
    }
  }
  barrier();
  require_limit_kept("writing");
  REQUIRE_SAME(read(c, 0, file_bytes), wanted);
  require_limit_kept("reading what is not in the file");
  REQUIRE_OK(quire_container_sync(c, 0, 0));
  barrier();
  on_node(0, [&] { REQUIRE_SAME(file_now("output"), wanted); });
  REQUIRE_OK(quire_container_close(c));
}

}  // namespace

int main(int argc, char** argv) {
  REQUIRE(argc > 1);
  REQUIRE_OK(quire_start(nullptr));
  make_directory();
  if (std::string_view(argv[1]) == "refused") {
    const std::string what = path("units");
    auto o = options(QUIRE_CONTAINER_CREATE, "file", what.c_str(), 4u << 20);
    o.unit_bytes = 2u << 20;
    quire_container c{};
    on_node(0, [&] { REQUIRE(quire_container_open("units", &o, &c) != QUIRE_OK); });
    quire_container kept = open("memory", options(QUIRE_CONTAINER_CREATE));  // of that there is no bound
    write(kept, static_cast<std::uint64_t>(quire_node()) << 21, content(2u << 20, 9));
    barrier();
    REQUIRE(read(kept, 0, 2u << 20) == content(2u << 20, 9));
  } else {
    g_limit = static_cast<std::uint64_t>(std::atoll(argv[1]));
    read_all(1);
    write_all();
    const quire_counters c = counters();
    require_limit_kept("at the end");
    if (g_limit == 0 && c.most_memory < file_bytes)
      fail(__FILE__, __LINE__, "only %lu KiB were in memory", static_cast<unsigned long>(c.most_memory >> 10));
    std::printf("node %d: %lu KiB in memory at most, %lu units read, %lu given to other nodes\n", quire_node(),
                static_cast<unsigned long>(c.most_memory >> 10), static_cast<unsigned long>(c.paged_from_disk),
                static_cast<unsigned long>(c.paged_to_nodes));
  }
  remove_directory();
  REQUIRE_OK(quire_end());
  return 0;
}
