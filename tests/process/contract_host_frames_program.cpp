// SPDX-License-Identifier: BSD-3-Clause
// Frames of a host (QUIRE_HOST_FRAMES=1), all nodes being on one: what one has written the others find, no content is
// sent, and there is one frame of a page. Without words, frames are shared; with "apart" they are not (another pool, a
// memory limit, no option), with "partly" one node has its own, and all else is the same: then under release
// consistency no node shares any.
#include <csignal>
#include <fstream>
#include <string>
#include <string_view>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t pages = 2048;
using word = std::uint64_t;
constexpr std::size_t words_a_page = page / sizeof(word);

enum class sharing { all, some, none } shared = sharing::all;

int nodes() { return quire_nodes(); }
int me() { return quire_node(); }

struct area {
  quire_region region{};
  volatile word* words = nullptr;
  [[nodiscard]] volatile word& at(std::size_t number, std::size_t of = 0) const {
    return words[number * words_a_page + of];
  }
};

area make_area(const std::string& name, std::size_t bytes, quire_consistency consistency = QUIRE_SEQUENTIAL) {
  quire_region_options about = region_options(page, QUIRE_PLACE_BLOCK);
  about.consistency = consistency;
  area a;
  a.words = shared_region<word>(name, bytes, about);
  REQUIRE_OK(quire_region_of(const_cast<const word*>(a.words), &a.region));
  barrier();
  return a;
}

std::int64_t sum_of_all(std::int64_t value) {
  REQUIRE_OK(quire_reduce_i64(&value, 1, QUIRE_SUM));
  return value;
}

/// The sum of all that `file` of this process tells as `name`, in KiB; `where`: in mappings whose line has this.
std::int64_t told_kib(const char* file, const std::string& name, const std::string& where) {
  std::ifstream lines(file);
  std::int64_t sum = 0;
  bool counts = false;
  for (std::string line; std::getline(lines, line);) {
    const auto word = line.substr(0, line.find(' '));
    if (word.back() != ':') counts = line.find(where) != line.npos;
    if (word == name && counts) sum += std::stoll(line.substr(word.size()));
  }
  return sum;
}

/// KiB of shared memory that this node has mapped, but for the rings of messages; what several processes have mapped is
/// divided among them.
std::int64_t mapped_kib() {
  const auto all = told_kib("/proc/self/smaps_rollup", "Pss_Shmem:", "");
  REQUIRE(std::ifstream("/proc/self/smaps_rollup").good());
  return all - told_kib("/proc/self/smaps", "Pss:", "/memfd:quire-rings");
}

std::int64_t mapped_by_all() {
  barrier();
  const std::int64_t sum = sum_of_all(mapped_kib());
  barrier();
  return sum;
}

void one_frame_a_page(quire_consistency consistency) {
  const area a = make_area("one frame " + std::to_string(consistency), pages * page, consistency);
  const auto before = mapped_by_all();
  const quire_counters at_first = counters();
  for (std::size_t i = 0; i < pages; ++i) {
    if (static_cast<int>(i % static_cast<std::size_t>(nodes())) == me()) a.at(i) = i + 1;
  }
  barrier();
  for (std::size_t i = 0; i < pages; ++i) REQUIRE_EQUAL(a.at(i), i + 1);
  const auto taken = mapped_by_all() - before;
  const auto bytes_kib = static_cast<std::int64_t>(pages * page / 1024);
  const quire_counters now = counters();
  const auto sent = sum_of_all(static_cast<std::int64_t>(now.bytes_sent - at_first.bytes_sent)) / 1024;
  const auto in_frames = sum_of_all(static_cast<std::int64_t>(now.host_units - at_first.host_units));
  if (shared == sharing::all) {
    REQUIRE(taken < bytes_kib * 5 / 4);
    REQUIRE(sent < bytes_kib / 2);
    const auto most = static_cast<std::int64_t>(pages) * (nodes() - 1);
    if (consistency == QUIRE_RELEASE) REQUIRE(in_frames >= most / 2);  // the first may ask for zeros
    // One memory: who has asked once may use a page for ever.
    const quire_counters asked = counters();
    for (std::size_t round = 0; round < 20; ++round) {
      for (std::size_t i = 0; i < pages; ++i) a.at(i, 1 + static_cast<std::size_t>(me())) = round;
    }
    REQUIRE(sum_of_all(static_cast<std::int64_t>(counters().messages_sent - asked.messages_sent)) < 100);
  } else if (shared == sharing::none) {
    REQUIRE(taken > bytes_kib * 3 / 4 * nodes());
    // Under release consistency the writer has it, and the home, which gets what differs only.
    REQUIRE(sent * 12 > bytes_kib * (nodes() - 1) * (consistency == QUIRE_SEQUENTIAL ? 9 : 4));
    REQUIRE_EQUAL(in_frames, 0);
  } else {
    REQUIRE(taken > bytes_kib * 5 / 4 && taken < bytes_kib * 5 / 4 * (nodes() - 1));
    REQUIRE(sent > bytes_kib / 2 && in_frames > 0);
  }
  barrier();
}

/// Each word is written by another node in each round, and found by all.
void written_in_turn(quire_consistency consistency) {
  const area a = make_area("in turn " + std::to_string(consistency), 64 * page, consistency);
  for (word round = 1; round <= 30; ++round) {
    for (std::size_t i = 0; i < 64; ++i) {
      if (static_cast<int>((i + round) % static_cast<word>(nodes())) != me()) continue;
      if (round > 1) REQUIRE_EQUAL(a.at(i, i), round - 1 + i);
      a.at(i, i) = round + i;
    }
    barrier();
    if (round % 3 == 0) {
      for (std::size_t i = 0; i < 64; ++i) REQUIRE_EQUAL(a.at(i, i), round + i);
    }
    barrier();
  }
}

/// Threads of all nodes count on the same pages at the same time.
void counted_together() {
  const area a = make_area("counted", 4 * page);
  constexpr int rounds = 400;
  on_threads(2, [&](int) {
    for (int i = 0; i < rounds; ++i)
      REQUIRE_OK(quire_fetch_add(const_cast<word*>(&a.at(static_cast<std::size_t>(i % 4))), 1, nullptr));
  });
  barrier();
  for (std::size_t i = 0; i < 4; ++i) REQUIRE_EQUAL(a.at(i), rounds / 4 * 2 * nodes());
  barrier();
}

/// All nodes write all pages at the same time, each its own words; then each reads all. Frames are one all the same,
/// and nobody needs a twin.
void written_together() {
  const area a = make_area("together", pages * page, QUIRE_RELEASE);
  const auto mine = static_cast<std::size_t>(me());
  const auto before = mapped_by_all();
  const quire_counters at_first = counters();
  for (word round = 1; round <= 3; ++round) {
    for (std::size_t i = 0; i < pages; ++i) a.at(i, mine) = round * 1000 + i;
    barrier();
    for (std::size_t i = 0; i < pages; ++i) {
      for (std::size_t n = 0; n < static_cast<std::size_t>(nodes()); ++n) REQUIRE_EQUAL(a.at(i, n), round * 1000 + i);
    }
    barrier();
  }
  const auto taken = mapped_by_all() - before;
  const auto bytes_kib = static_cast<std::int64_t>(pages * page / 1024);
  const auto twins = sum_of_all(static_cast<std::int64_t>(counters().twins - at_first.twins));
  if (shared == sharing::all) {
    REQUIRE(taken < bytes_kib * 5 / 4);
    REQUIRE_EQUAL(twins, 0);
  } else {
    REQUIRE(taken > bytes_kib * 3 / 4 * nodes());
    REQUIRE(twins > 0);
  }
  barrier();
}

/// A page is false shared: its frame is one, and each node has the right to write it in turn.
void words_of_one_page() {
  const area a = make_area("one page", page);
  const auto mine = static_cast<std::size_t>(me());
  for (word i = 1; i <= 300; ++i) {
    REQUIRE_EQUAL(a.at(0, mine), i - 1);
    a.at(0, mine) = i;
  }
  barrier();
  for (std::size_t n = 0; n < static_cast<std::size_t>(nodes()); ++n) REQUIRE_EQUAL(a.at(0, n), 300);
  barrier();
}

void pushed() {
  const area a = make_area("pushed", 16 * page);
  for (word round = 1; round <= 5; ++round) {
    if (me() == 0) {
      for (std::size_t i = 0; i < 16; ++i) a.at(i) = round * 100 + i;
      REQUIRE_OK(quire_push(const_cast<word*>(a.words), 16 * page));
    }
    barrier();
    for (std::size_t i = 0; i < 16; ++i) REQUIRE_EQUAL(a.at(i), round * 100 + i);
    barrier();
  }
}

/// What was there is there, to and fro.
void consistency_changes() {
  const area a = make_area("changed", 64 * page);
  const auto count = static_cast<std::size_t>(nodes()), mine = static_cast<std::size_t>(me());
  for (word round = 1; round <= 4; ++round) {
    for (std::size_t i = mine; i < 64; i += count) a.at(i, 7) = round * 1000 + i;
    barrier();
    REQUIRE_OK(quire_region_set_consistency(a.region, round % 2 != 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL));
    for (std::size_t i = 0; i < 64; ++i) {
      REQUIRE_EQUAL(a.at(i, 7), round * 1000 + i);
      if (round > 1) {
        for (std::size_t n = 0; n < count; ++n) REQUIRE_EQUAL(a.at(i, 100 + n), round - 1);
      }
    }
    barrier();
    for (std::size_t i = 0; i < 64; ++i) a.at(i, 100 + mine) = round;  // all write all pages
    barrier();
  }
}

/// What a region has left is not in the next one.
void regions_come_and_go() {
  for (word round = 0; round < 6; ++round) {
    const area a = make_area("life " + std::to_string(round), 256 * page);
    for (std::size_t i = 0; i < 256; ++i) REQUIRE_EQUAL(a.at(i), 0);
    barrier();
    for (std::size_t i = 0; i < 256; ++i) {
      if (static_cast<int>((i + round) % static_cast<word>(nodes())) == me()) a.at(i) = i + 1;
    }
    barrier();
    for (std::size_t i = 0; i < 256; ++i) REQUIRE_EQUAL(a.at(i), i + 1);
    barrier();
    if (me() == 0) REQUIRE_OK(quire_region_destroy(a.region));
    barrier();
  }
}

/// Node 1 dies in the midst of writing frames that all others use, with a right that they wait for. The job ends.
void die_while_sharing() {
  const area apart = make_area("of the dead", 64 * page), together = make_area("of all", 64 * page, QUIRE_RELEASE);
  const auto mine = static_cast<std::size_t>(me());
  for (word round = 1;; ++round) {
    for (std::size_t i = 0; i < 64; ++i) {
      apart.at(i, mine) = round;
      together.at(i, mine) = round;
      if (me() == 1 && round == 20 && i == 32) REQUIRE_EQUAL(raise(SIGKILL), 0);
    }
    for (std::size_t i = 0; i < 64; ++i) REQUIRE_EQUAL(together.at(i, mine), round);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view word_given = argc < 2 ? "" : argv[1];
  shared = word_given == "apart" ? sharing::none : word_given == "partly" ? sharing::some : sharing::all;
  if (word_given == "die") return node_main([] { section("dies", die_while_sharing); });
  return node_main([] {
    section("one frame a page", [] { one_frame_a_page(QUIRE_SEQUENTIAL); });
    section("written in turn", [] { written_in_turn(QUIRE_SEQUENTIAL); });
    if (shared != sharing::some) section("one frame a page, release", [] { one_frame_a_page(QUIRE_RELEASE); });
    section("written in turn, release", [] { written_in_turn(QUIRE_RELEASE); });
    section("written together, release", written_together);
    section("counted together", counted_together);
    section("words of one page", words_of_one_page);
    section("pushed", pushed);
    section("consistency changes", consistency_changes);
    section("regions come and go", regions_come_and_go);
  });
}
