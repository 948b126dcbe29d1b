// SPDX-License-Identifier: BSD-3-Clause
// Programs without data races, drawn from a seed, run twice on real processes: in a region with sequential consistency,
// and in one with release consistency (with "scan": found by the kernel's record of written pages). Both must leave the
// same in every word, and every read on the way must find what the program's order says: programs without races cannot
// tell the two apart.
//
// What a program writes lies mixed in the same pages (false sharing), and its result does not depend on who comes
// first:
//   own words     each has one writer in a phase, other threads read what the phase before has left; barriers between
//                 phases
//   common words  under a mutex each; changed by operations whose order makes no difference
//   queues        bounded, with a mutex and two conditions: what comes out is added to a common word
//
// With CONTRACT_MINIPAGES each word is used by both of its addresses. With "heap" the words are objects of heaps with
// minipages, that all nodes have made and free again, so that the next program gets them.
//
//   race_free_program [scan] [heap] [seeds]
#include <array>
#include <memory>
#include <string_view>

#include <quire/system.h>

#include "node.hpp"

using namespace quire::test;

namespace {

using word = std::uint64_t;

struct shape {
  std::uint64_t seed = 0;
  int threads = 2, phases = 4, activities = 12;
  std::size_t own = 0, common = 4, queues = 2;
  static constexpr std::size_t slots = 3;
  static constexpr int items = 20;

  explicit shape(std::uint64_t s) : seed(s) {
    random_numbers draw(s);
    threads = 1 + static_cast<int>(draw.below(3));
    phases = 2 + static_cast<int>(draw.below(4));
    activities = 4 + static_cast<int>(draw.below(16));
    own = 64 + draw.below(4000);
    common = 1 + draw.below(6);
    queues = draw.below(3);
  }
  [[nodiscard]] int workers() const { return threads * quire_nodes(); }
  [[nodiscard]] std::size_t words() const { return own + common * 2 + queues * (slots + 3); }
};

/// Objects that all nodes know, made once.
struct objects {
  std::array<quire_mutex, 8> mutex{};
  std::array<quire_condition, 2> not_empty{}, not_full{};

  void make() {
    if (quire_node() == 0) {
      for (auto& m : mutex) REQUIRE_OK(quire_mutex_create(&m));
      for (auto& c : not_empty) REQUIRE_OK(quire_condition_create(&c));
      for (auto& c : not_full) REQUIRE_OK(quire_condition_create(&c));
    }
    for (auto& m : mutex) REQUIRE_OK(quire_broadcast(&m, sizeof m, 0));
    for (auto& c : not_empty) REQUIRE_OK(quire_broadcast(&c, sizeof c, 0));
    for (auto& c : not_full) REQUIRE_OK(quire_broadcast(&c, sizeof c, 0));
  }
};

/// Where the words of a program lie: in a region, one behind the other, or wherever a heap has room.
class memory {
 public:
  memory(volatile word* region, std::size_t words) {
    for (std::size_t i = 0; i < words; ++i)
      places_.push_back({region + i, minipages_given() != 0 ? fine(region + i) : region + i});
  }
  /// Node i % nodes makes object i, of some size; `told` is a table that all share.
  memory(quire_region heap, const shape& s, word* told) : heap_(heap) {
    REQUIRE_OK(quire_region_set_chunk(heap, static_cast<unsigned>(1 + s.seed % 4)));
    for (std::size_t i = 0; i < s.words(); ++i) {
      if (!is_mine(i)) continue;
      void* at = nullptr;
      REQUIRE_OK(quire_region_calloc(heap, 0, 8 + mix(s.seed * 5000 + i) % 90, &at));
      told[i] = reinterpret_cast<word>(at);
    }
    barrier();
    for (std::size_t i = 0; i < s.words(); ++i) {
      auto* const at = reinterpret_cast<volatile word*>(told[i]);
      places_.push_back({natural(at), at});
    }
    barrier();
  }
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;
  /// Another node than the one that has made it frees each object.
  void free() {
    for (std::size_t i = 0; heap_.id != 0 && i < places_.size(); ++i) {
      if (is_mine(i + 1)) REQUIRE_OK(quire_free(const_cast<word*>(places_[i].fine)));
    }
  }
  [[nodiscard]] volatile word& operator[](std::size_t i) const {
    thread_local unsigned uses = 0;
    return ++uses % 4 == 0 ? *places_[i].natural : *places_[i].fine;
  }

 private:
  struct place {
    volatile word *natural, *fine;
  };
  static bool is_mine(std::size_t i) {
    return i % static_cast<std::size_t>(quire_nodes()) == static_cast<std::size_t>(quire_node());
  }

  quire_region heap_{};
  std::vector<place> places_{};
};

/// One program in one region. Words are dealt in random order, so that all kinds lie in all pages.
class program {
 public:
  program(const shape& s, const memory& words, const objects& with)
      : s_(s), memory_(words), with_(with), place_(s.words()) {
    for (std::size_t i = 0; i < place_.size(); ++i) place_[i] = i;
    random_numbers draw(s.seed + 1);
    for (std::size_t i = place_.size(); i > 1; --i) std::swap(place_[i - 1], place_[draw.below(i)]);
  }

  void run() {
    quire_barrier everyone{};
    if (quire_node() == 0) REQUIRE_OK(quire_barrier_create(static_cast<std::uint32_t>(s_.workers()), &everyone));
    REQUIRE_OK(quire_broadcast(&everyone, sizeof everyone, 0));
    on_threads(s_.threads, [&](int thread) {
      const int self = quire_node() * s_.threads + thread;
      for (int phase = 1; phase <= s_.phases; ++phase) {
        step(self, phase);
        REQUIRE_OK(quire_barrier_wait(everyone));
      }
      if (s_.workers() >= 2) queues(self);
      REQUIRE_OK(quire_barrier_wait(everyone));
    });
    barrier();
  }

 private:
  [[nodiscard]] volatile word& own(std::size_t i) const { return memory_[place_[i]]; }
  [[nodiscard]] volatile word& common(std::size_t i) const { return memory_[place_[s_.own + i]]; }
  [[nodiscard]] volatile word& queue(std::size_t q, std::size_t i) const {
    return memory_[place_[s_.own + s_.common * 2 + q * (shape::slots + 3) + i]];
  }
  /// Who writes an own word in a phase; about half of them nobody.
  [[nodiscard]] int writer(std::size_t i, int phase) const {
    return static_cast<int>(mix(i * 31 + static_cast<word>(phase) * 1'000'003 + s_.seed) %
                            static_cast<word>(2 * s_.workers()));
  }
  /// What an own word holds after a phase: its last writer's value.
  [[nodiscard]] word value(std::size_t i, int phase) const {
    for (; phase > 0; --phase) {
      if (writer(i, phase) < s_.workers()) return mix(i ^ static_cast<word>(phase) << 32 ^ s_.seed);
    }
    return 0;
  }
  void step(int self, int phase) const {
    random_numbers draw(s_.seed * 977 + static_cast<word>(self * 100 + phase));
    for (std::size_t i = 0; i < s_.own; ++i) {
      if (writer(i, phase) == self) {
        REQUIRE_EQUAL(own(i), value(i, phase - 1));
        own(i) = value(i, phase);
      }
    }
    for (int k = 0; k < s_.activities; ++k) {
      const std::size_t look = draw.below(s_.own);
      if (writer(look, phase) >= s_.workers()) REQUIRE_EQUAL(own(look), value(look, phase));
      const std::size_t c = draw.below(s_.common);
      const word add = draw.next();
      REQUIRE_OK(quire_mutex_lock(with_.mutex[c]));
      common(2 * c) = common(2 * c) + add;
      common(2 * c + 1) = common(2 * c + 1) ^ mix(add);
      REQUIRE_OK(quire_mutex_unlock(with_.mutex[c]));
    }
  }
  /// Pairs of workers hand items over; head, tail and sum lie behind the slots.
  void queues(int self) const {
    const auto q = static_cast<std::size_t>(self / 2);
    if (q >= s_.queues || q >= static_cast<std::size_t>(s_.workers() / 2)) return;
    const quire_mutex mutex = with_.mutex[6 + q];
    const bool gives = self % 2 == 0;
    volatile word &head = queue(q, shape::slots), &tail = queue(q, shape::slots + 1), &sum = queue(q, shape::slots + 2);
    for (int i = 0; i < shape::items; ++i) {
      REQUIRE_OK(quire_mutex_lock(mutex));
      while (gives ? tail - head == shape::slots : tail == head) {
        REQUIRE_OK(quire_condition_wait(gives ? with_.not_full[q] : with_.not_empty[q], mutex, -1));
      }
      if (gives) {
        queue(q, tail % shape::slots) = mix(s_.seed + static_cast<word>(i));
        tail = tail + 1;
      } else {
        const word item = queue(q, head % shape::slots);
        REQUIRE_EQUAL(item, mix(s_.seed + static_cast<word>(i)));
        sum = sum + item;
        head = head + 1;
      }
      REQUIRE_OK(quire_condition_notify_all(gives ? with_.not_empty[q] : with_.not_full[q]));
      REQUIRE_OK(quire_mutex_unlock(mutex));
    }
  }

  const shape& s_;
  const memory& memory_;
  const objects& with_;
  std::vector<std::size_t> place_;
};

std::unique_ptr<memory> region_of(const shape& s, bool relaxed, bool scans) {
  const auto placement = static_cast<quire_placement>(s.seed % 4);
  const bool first_touch = !relaxed && placement == QUIRE_PLACE_FIRST_TOUCH;
  auto about = region_options(s.seed % 5 == 0 ? 16384 : 4096, first_touch ? QUIRE_PLACE_BLOCK : placement);
  about.consistency = relaxed ? QUIRE_RELEASE : QUIRE_SEQUENTIAL;
  if (scans && relaxed) about.detector = QUIRE_DETECT_SCAN;
  auto* const words =
      shared_region<word>((relaxed ? "release " : "sequential ") + std::to_string(s.seed), 1 << 20, about);
  return std::make_unique<memory>(words, s.words());
}

/// Made once: the programs give back what they have had.
quire_region heap_of(bool relaxed) {
  quire_region_options about{};
  about.size = sizeof about;
  about.heap = 1;
  about.views = 64;
  about.consistency = relaxed ? QUIRE_RELEASE : QUIRE_SEQUENTIAL;
  quire_region made{};
  if (quire_node() == 0) REQUIRE_OK(quire_region_create(&about, 16 << 20, &made));
  REQUIRE_OK(quire_broadcast(&made, sizeof made, 0));
  return made;
}

void run_all(std::uint64_t seeds, bool scans, bool in_heaps) {
  objects with;
  with.make();
  const std::array<quire_region, 2> heaps =
      in_heaps ? std::array{heap_of(false), heap_of(true)} : std::array<quire_region, 2>{};
  word* const told = in_heaps ? shared_object<word>("told", 8192) : nullptr;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const shape s(seed);
    std::array<std::unique_ptr<memory>, 2> words;
    for (const bool relaxed : {false, true}) {
      words[relaxed] = in_heaps ? std::make_unique<memory>(heaps[relaxed], s, told) : region_of(s, relaxed, scans);
      barrier();
      program(s, *words[relaxed], with).run();
    }
    for (std::size_t i = 0; i < s.words(); ++i) {
      const word sequential = (*words[0])[i], released = (*words[1])[i];
      if (sequential == released) continue;
      fail(__FILE__, __LINE__,
           "seed %" PRIu64 ": word %zu is %" PRIx64 " under sequential, %" PRIx64 " under release consistency", seed, i,
           sequential, released);
    }
    barrier();
    for (const auto& each : words) each->free();
  }
}

}  // namespace

int main(int argc, char** argv) {
  bool scans = false, in_heaps = false;
  const char* count = "30";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "scan") {
      scans = true;
    } else if (word == "heap") {
      in_heaps = true;
    } else {
      count = argv[i];
    }
  }
  return node_main([&] { run_all(std::strtoull(count, nullptr, 10), scans, in_heaps); });
}
