// SPDX-License-Identifier: BSD-3-Clause
// Frames of a host with a memory limit (QUIRE_HOST_FRAMES=1, QUIRE_MEMORY_LIMIT), all nodes being on one: what several
// nodes have is in memory once, all of the host take what they may take together, and content stays as it is. What the
// host's file takes is counted. With "apart" some node has frames of its own.
#include <dirent.h>
#include <sys/stat.h>

#include <cinttypes>
#include <climits>
#include <cstdlib>
#include <string>
#include <string_view>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t page = 4096;
constexpr std::uint64_t MiB = 1 << 20;
using word = std::uint64_t;

std::uint64_t g_limit = 0;

std::uint64_t nodes() { return static_cast<std::uint64_t>(quire_nodes()); }
std::uint64_t me() { return static_cast<std::uint64_t>(quire_node()); }
std::uint64_t host_limit() { return g_limit * nodes(); }

struct area {
  quire_region region{};
  volatile word* at = nullptr;
  std::uint64_t count = 0;
};

area make_area(const char* name, std::uint64_t bytes, quire_consistency consistency = QUIRE_SEQUENTIAL) {
  auto about = region_options(page, QUIRE_PLACE_BLOCK);
  about.consistency = consistency;
  area a;
  a.at = shared_region<word>(name, bytes, about);
  a.count = bytes / sizeof(word);
  REQUIRE_OK(quire_region_of(const_cast<const word*>(a.at), &a.region));
  barrier();
  return a;
}

void end_area(const area& a) {
  barrier();
  if (me() == 0) REQUIRE_OK(quire_region_destroy(a.region));
  barrier();
}

word value_of(std::uint64_t i, word round) { return mix(i + round * 1'000'003); }
void fill(const area& a, std::uint64_t part, word round) {
  const std::uint64_t share = a.count / nodes();
  for (std::uint64_t i = part * share; i < (part + 1) * share; ++i) a.at[i] = value_of(i, round);
}
void verify(const area& a, std::uint64_t part, word round) {
  const std::uint64_t share = a.count / nodes();
  for (std::uint64_t i = part * share; i < (part + 1) * share; ++i) REQUIRE_EQUAL(a.at[i], value_of(i, round));
}

std::int64_t sum_of_all(std::uint64_t value) {
  auto sum = static_cast<std::int64_t>(value);
  REQUIRE_OK(quire_reduce_i64(&sum, 1, QUIRE_SUM));
  return sum;
}

/// Bytes that the memory file of the host has; 0 if this node has none.
std::uint64_t in_frames() {
  std::uint64_t bytes = 0;
  DIR* const all = opendir("/proc/self/fd");
  REQUIRE(all != nullptr);
  while (const dirent* const one = readdir(all)) {
    const std::string path = std::string("/proc/self/fd/") + one->d_name;
    char target[PATH_MAX] = {};
    if (readlink(path.c_str(), target, sizeof target - 1) < 0) continue;
    struct stat what {};
    if (std::string_view(target).find("/memfd:quire-host") == 0 && stat(path.c_str(), &what) == 0)
      bytes += static_cast<std::uint64_t>(what.st_blocks) * 512;
  }
  closedir(all);
  return bytes;
}

/// The limit is exceeded for moments, as each node gives pages up in steps, and waits for its file.
void require_limit_kept(const char* when) {
  const std::uint64_t bytes = in_frames();
  if (bytes > host_limit() * 3 / 2) fail(__FILE__, __LINE__, "%" PRIu64 " KiB are in memory: %s", bytes >> 10, when);
}

/// Each node reads nearly twice what it may have: there is room for all of it, once.
void one_frame_a_page() {
  const quire_counters before = counters();
  const std::uint64_t at_first = in_frames();
  const std::uint64_t bytes = g_limit * 7 / 4;
  const area a = make_area("read by all", bytes);
  fill(a, me(), 1);
  barrier();
  for (std::uint64_t part = 0; part < nodes(); ++part) verify(a, (part + me()) % nodes(), 1);
  barrier();
  const std::uint64_t taken = in_frames() - at_first;
  if (taken < bytes || taken > bytes * 9 / 8)
    fail(__FILE__, __LINE__, "%" PRIu64 " KiB were taken for %" PRIu64, taken >> 10, bytes >> 10);
  const quire_counters now = counters();
  REQUIRE(now.most_memory > g_limit * 3 / 2);
  REQUIRE_EQUAL(sum_of_all(now.paged_to_disk - before.paged_to_disk), 0);
  REQUIRE_EQUAL(sum_of_all(now.copies_dropped - before.copies_dropped), 0);
  const auto in_frames_of_others = sum_of_all(now.host_units - before.host_units);
  REQUIRE(in_frames_of_others > static_cast<std::int64_t>(bytes / page * (nodes() - 1) / 2));
  end_area(a);
  REQUIRE(in_frames() < at_first + g_limit / 4);
}

/// More than the host may have.
void larger_than_the_host() {
  const quire_counters before = counters();
  const area a = make_area("larger", host_limit() * 2);
  for (word round = 0; round < 3; ++round) {
    const std::uint64_t part = (me() + round) % nodes();
    fill(a, part, round);
    require_limit_kept("while all write");
    barrier();
    for (std::uint64_t next = 0; next < nodes(); ++next) verify(a, (part + next) % nodes(), round);
    require_limit_kept("while all read");
    barrier();
  }
  const quire_counters now = counters();
  REQUIRE(now.paged_to_disk > before.paged_to_disk && now.paged_from_disk > before.paged_from_disk);
  REQUIRE(sum_of_all(now.copies_dropped - before.copies_dropped) > 0);
  end_area(a);
}

/// Node 0 takes what the others do not need; then they do.
void others_need_their_share() {
  const area a = make_area("taken", host_limit() * 3 / 4), b = make_area("needed", host_limit());
  fill(a, me(), 1);
  barrier();
  for (std::uint64_t part = 0; me() == 0 && part < nodes(); ++part) verify(a, part, 1);
  barrier();
  if (me() != 0) fill(b, me(), 2);
  barrier();
  require_limit_kept("when others need their share");
  if (me() != 0) verify(b, me(), 2);
  barrier();
  for (std::uint64_t part = 0; part < nodes(); ++part) verify(a, part, 1);
  for (std::uint64_t part = 1; part < nodes(); ++part) verify(b, part, 2);
  end_area(a);
  end_area(b);
}

/// Each word is written by another node in each round, while pages leave.
void written_in_turn() {
  const area a = make_area("in turn", host_limit() * 5 / 4);
  constexpr std::uint64_t step = 96;  // of words: several of a page
  for (word round = 1; round <= 4; ++round) {
    for (std::uint64_t i = 0; i < a.count; i += step) {
      if ((i / step + round) % nodes() != me()) continue;
      if (round > 1) REQUIRE_EQUAL(a.at[i], value_of(i, round - 1));
      a.at[i] = value_of(i, round);
    }
    barrier();
  }
  for (std::uint64_t i = 0; i < a.count; i += step) REQUIRE_EQUAL(a.at[i], value_of(i, 4));
  end_area(a);
}

/// Pages that are in memory, and pages that are in files, when each node gets its own.
void consistency_changes() {
  const area a = make_area("changed", host_limit() * 5 / 4);
  for (word round = 1; round <= 3; ++round) {
    fill(a, (me() + round) % nodes(), round);
    barrier();
    REQUIRE_OK(quire_region_set_consistency(a.region, round % 2 != 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL));
    for (std::uint64_t part = 0; part < nodes(); ++part) verify(a, part, round);
    barrier();
  }
  end_area(a);
}

}  // namespace

int main(int argc, char** argv) {
  const bool apart = argc > 1 && std::string_view(argv[1]) == "apart";
  const char* const limit = std::getenv("QUIRE_MEMORY_LIMIT");
  g_limit = limit != nullptr ? std::strtoull(limit, nullptr, 10) * MiB : 0;
  if (g_limit == 0) return 2;
  const char* const number = std::getenv("QUIRE_JOB_NODE");
  if (apart && (number == nullptr || *number == '0')) ::unsetenv("QUIRE_MEMORY_LIMIT");
  return node_main([apart] {
    if (apart) REQUIRE_EQUAL(in_frames(), 0);
    if (!apart) section("one frame a page", one_frame_a_page);
    if (!apart) section("larger than the host", larger_than_the_host);
    if (!apart) section("others need their share", others_need_their_share);
    section("written in turn", written_in_turn);
    section("consistency changes", consistency_changes);
  });
}
