// SPDX-License-Identifier: BSD-3-Clause
// A region that transactions write becomes a sequential one, and transactional again, while threads read it and run
// transactions elsewhere; beside it regions of all consistencies, which a body uses, too.
//
//   contract_transactions_change_program [save DIRECTORY | go-on DIRECTORY]
#include <atomic>

#include <quire/quire.hpp>
#include <quire/transaction.hpp>

#include "node.hpp"

using namespace quire::test;

namespace {

using word = std::uint64_t;
constexpr std::size_t units = 12, unit_words = 512;

struct changing {
  quire_region region{};
  word* words = nullptr;
  [[nodiscard]] word& at(std::size_t unit, std::size_t i) const { return words[unit * unit_words + i]; }
};

word* make(const char* name, quire_consistency consistency, quire_region* made = nullptr) {
  quire_region_options about = region_options(4096, QUIRE_PLACE_MODULO, 0);
  about.consistency = consistency;
  auto* const words = shared_region<word>(name, units * 4096, about);
  if (made != nullptr) REQUIRE_OK(quire_region_of(words, made));
  return words;
}

std::size_t self() { return static_cast<std::size_t>(quire_node()); }
std::size_t nodes() { return static_cast<std::size_t>(quire_nodes()); }

/// Each node counts in words that all write, in one of its own beside them, and in a unit that one node at a time
/// writes.
void count_in_transactions(const changing& c, word times) {
  for (word i = 0; i < times; ++i) {
    quire::atomically([&] {
      ++c.at(i % 4, 0);
      ++c.at(i % 4, 8 + self());
    });
    quire::atomically([&] { ++c.at(4 + self() % (units - 4), 16 + self()); });
  }
}
void count_plainly(const changing& c, quire_mutex lock, word times) {
  for (word i = 0; i < times; ++i) {
    REQUIRE_OK(quire_mutex_lock(lock));
    ++c.at(i % 4, 0);
    REQUIRE_OK(quire_mutex_unlock(lock));
    ++c.at(i % 4, 8 + self());  // nobody else writes it
    ++c.at(4 + self() % (units - 4), 16 + self());
  }
}
void check(const changing& c, word each) {
  for (std::size_t unit = 0; unit < 4; ++unit) {
    REQUIRE_EQUAL(c.at(unit, 0), each * nodes() / 4);
    for (std::size_t node = 0; node < nodes(); ++node) REQUIRE_EQUAL(c.at(unit, 8 + node), each / 4);
  }
  for (std::size_t node = 0; node < nodes(); ++node) REQUIRE_EQUAL(c.at(4 + node % (units - 4), 16 + node), each);
}

void set(const changing& c, quire_consistency to) { REQUIRE_OK(quire_region_set_consistency(c.region, to)); }

/// What one other node alone writes only grows. (Of its own node a thread may see what is not committed, and will be
/// undone.)
void watch(const changing& c, const std::atomic<bool>& stop) {
  std::vector<word> seen(nodes());
  while (!stop.load()) {
    for (std::size_t node = 0; node < nodes(); ++node) {
      if (node == self()) continue;
      const word now = *const_cast<volatile word*>(&c.at(4 + node % (units - 4), 16 + node));
      REQUIRE(now >= seen[node]);
      seen[node] = now;
    }
  }
}

void to_and_fro() {
  changing c;
  c.words = make("changing", QUIRE_TRANSACTIONAL, &c.region);
  word* const beside = make("beside", QUIRE_TRANSACTIONAL);
  const auto lock = quire::from_node(0, [] {
    quire_mutex made{};
    REQUIRE_OK(quire_mutex_create(&made));
    return made;
  });
  std::atomic<bool> stop{false};
  std::uint64_t transfers = 0;
  std::thread reader([&] { watch(c, stop); });
  std::thread other([&] {
    for (; !stop.load(); ++transfers)
      quire::atomically([&] { ++beside[self() % 4 * unit_words], ++beside[8 * unit_words + self()]; });
  });
  word each = 0;
  constexpr word times = 40;
  for (int round = 0; round < 5; ++round) {
    count_in_transactions(c, times);
    set(c, QUIRE_SEQUENTIAL);
    each += times;
    check(c, each);
    barrier();
    count_plainly(c, lock, times);
    if (round % 2 == 1) {
      set(c, QUIRE_RELEASE);
      count_plainly(c, lock, times);
      each += times;
      set(c, QUIRE_SEQUENTIAL);
    }
    set(c, QUIRE_TRANSACTIONAL);
    each += times;
    quire::atomically([&] { check(c, each); });
    barrier();
  }
  stop = true;
  reader.join();
  other.join();
  REQUIRE_EQUAL(quire::atomically([&] { return beside[8 * unit_words + self()]; }), transfers);
  barrier();
}

void refusals() {
  changing c;
  c.words = make("refused", QUIRE_TRANSACTIONAL, &c.region);
  changing plain;
  plain.words = make("plain", QUIRE_SEQUENTIAL, &plain.region);
  REQUIRE_STATUS(quire_region_set_consistency(c.region, QUIRE_RELEASE), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_set_consistency(plain.region, QUIRE_TRANSACTIONAL), QUIRE_INVALID);
  quire::atomically([&] { REQUIRE_STATUS(quire_region_set_consistency(c.region, QUIRE_SEQUENTIAL), QUIRE_INVALID); });
  set(c, QUIRE_TRANSACTIONAL);  // it is
  quire::atomically([&] { ++c.at(0, self()); });
  barrier();
}

/// A body that is undone has written what is not transactional all the same.
void all_at_once() {
  word* const strong = make("strong", QUIRE_SEQUENTIAL);
  word* const relaxed = make("relaxed", QUIRE_RELEASE);
  word* const all = make("all", QUIRE_TRANSACTIONAL);
  for (int i = 0; i < 50; ++i) {
    quire::atomically([&] {
      strong[self()] = all[0];
      relaxed[unit_words + self()] = strong[self()];
      ++all[0];
    });
  }
  barrier();
  REQUIRE_EQUAL(quire::atomically([&] { return all[0]; }), 50 * nodes());
  for (std::size_t node = 0; node < nodes(); ++node)
    REQUIRE(strong[node] < 50 * nodes() && relaxed[unit_words + node] == strong[node]);
  barrier();
}

void save(const char* directory) {
  changing c;
  c.words = make("changing", QUIRE_TRANSACTIONAL, &c.region);
  quire::atomically([&] { ++c.at(0, 0); });
  set(c, QUIRE_SEQUENTIAL);
  if (quire_node() == 0) ++c.at(0, 0);
  barrier();
  REQUIRE_OK(quire_checkpoint(directory));
}
void go_on(const char* directory) {
  REQUIRE_OK(quire_restore(directory));
  changing c;
  void* at = nullptr;
  REQUIRE_OK(quire_lookup("changing", 0, &at));
  c.words = static_cast<word*>(at);
  REQUIRE_OK(quire_region_of(at, &c.region));
  const word before = c.at(0, 0);
  barrier();
  if (quire_node() == 0) ++c.at(0, 0);  // it is sequential
  set(c, QUIRE_TRANSACTIONAL);
  quire::atomically([&] { ++c.at(0, 0); });
  barrier();
  REQUIRE_EQUAL(quire::atomically([&] { return c.at(0, 0); }), before + 1 + nodes());
  if (quire_node() == 0) std::printf("goes on with %" PRIu64 "\n", before);
  barrier();
}

}  // namespace

int main(int argc, char** argv) {
  return node_main([&] {
    const std::string what = argc > 2 ? argv[1] : "";
    if (what == "save") return save(argv[2]);
    if (what == "go-on") return go_on(argv[2]);
    section("to and fro", to_and_fro);
    section("refusals", refusals);
    section("all consistencies at once", all_at_once);
  });
}
