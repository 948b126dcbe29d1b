// SPDX-License-Identifier: BSD-3-Clause
// container_kill_program DIRECTORY [NODE]: all nodes write a container over a file in rounds, by stores and by calls,
// and sync it. A line in DIRECTORY/log tells of each round that is synced. What a job of before has synced must be in
// the file, and be found in the container. QUIRE_FAIL, which may kill a node at any write and sync, counts on NODE
// alone.
#include <cinttypes>

#include "containers.hpp"

namespace {

using namespace quire::test;

constexpr std::uint64_t rounds = 3;

std::uint64_t bytes_in(std::uint64_t round) { return round == 0 ? 0 : 9 * page + 123 + round * 1500; }

std::uint64_t synced_rounds() {
  struct stat about {};
  return ::stat(path("log").c_str(), &about) == 0 ? static_cast<std::uint64_t>(about.st_size) / 2 : 0;
}
void log_round(std::uint64_t round) {
  const int d = ::open(path("log").c_str(), O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600);
  const char line[] = {static_cast<char>('0' + round), '\n'};
  REQUIRE(d >= 0 && ::write(d, line, sizeof line) == sizeof line);
  ::close(d);
}

/// All of `round` is there, or what came after it.
void require_round(const std::vector<std::byte>& all, std::uint64_t round, const char* where) {
  if (all.size() < bytes_in(round) || all.size() > std::max(bytes_in(round + 1), bytes_in(round))) {
    fail(__FILE__, __LINE__, "%s: %zu bytes after round %" PRIu64, where, all.size(), round);
  }
  for (std::uint64_t at = 0; at < all.size(); ++at) {
    const bool old = at < bytes_in(round) ? all[at] == pattern(at, round) : all[at] == std::byte{0};
    if (!old && all[at] != pattern(at, round + 1))
      fail(__FILE__, __LINE__, "%s: byte %" PRIu64 " is not of round %" PRIu64 ", nor newer", where, at, round);
  }
}

void do_round(quire_container c, std::uint64_t round) {
  const std::uint64_t bytes = bytes_in(round);
  const auto nodes = static_cast<std::uint64_t>(quire_nodes()), self = static_cast<std::uint64_t>(quire_node());
  on_node(quire_nodes() - 1, [&] { write(c, bytes - 1, {pattern(bytes - 1, round)}); });
  for (std::uint64_t p = self; p * page < bytes; p += nodes) {
    const auto part = content(std::min(page, bytes - p * page), round, p * page);
    if (p % 3 == 0) {
      write(c, p * page, part);
    } else {
      std::copy(part.begin(), part.end(), map(c) + p * page);
    }
  }
  barrier();
  on_node(static_cast<int>(round % nodes), [&] { REQUIRE_OK(quire_container_sync(c, 0, 0)); });
  on_node(0, [&] { log_round(round); });
}

}  // namespace

int main(int argc, char** argv) {
  REQUIRE(argc > 1);
  g_directory = argv[1];
  const char* const self = std::getenv("QUIRE_JOB_NODE");
  if (argc > 2 && self != nullptr && std::strcmp(self, argv[2]) != 0) ::unsetenv("QUIRE_FAIL");
  REQUIRE_OK(quire_start(nullptr));
  const std::uint64_t before = synced_rounds();
  barrier();
  if (quire_node() == 0 && before != 0) require_round(file_now("data"), before, "the file");
  const quire_container c = open("data", options(QUIRE_CONTAINER_CREATE, "file", path("data").c_str()));
  require_round(read(c, 0, 2 * bytes_in(rounds)), before, "the container");
  barrier();
  for (std::uint64_t round = before + 1; round <= rounds; ++round) do_round(c, round);
  REQUIRE_OK(quire_container_close(c));
  barrier();
  if (quire_node() == 0) require_round(file_now("data"), rounds, "the file at the end");
  REQUIRE_OK(quire_end());
  if (self == nullptr || std::strcmp(self, "0") == 0) std::puts("all is well");
}
