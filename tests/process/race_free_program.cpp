// SPDX-License-Identifier: BSD-3-Clause
// Programs without data races, drawn from a seed, run twice on real processes: in a region with sequential consistency, and in
// one with release consistency (with "scan": found by the kernel's record of written pages). Both must leave the same in every
// word, and every read on the way must find what the program's order says: programs without races cannot tell the two apart.
//
// What a program writes lies mixed in the same pages (false sharing), and its result does not depend on who comes first:
//   own words     each has one writer in a phase, other threads read what the phase before has left; barriers between phases
//   common words  under a mutex each; changed by operations whose order makes no difference
//   queues        bounded, with a mutex and two conditions: what comes out is added to a common word
//
//   race_free_program [scan] [seeds]
#include <array>
#include <string_view>

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

/// One program in one region. Words are dealt in random order, so that all kinds lie in all pages.
class program {
 public:
  program(const shape& s, volatile word* memory, const objects& with) : s_(s), memory_(memory), with_(with), place_(s.words()) {
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
    return static_cast<int>(mix(i * 31 + static_cast<word>(phase) * 1'000'003 + s_.seed) % static_cast<word>(2 * s_.workers()));
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
  volatile word* memory_;
  const objects& with_;
  std::vector<std::size_t> place_;
};

void run_all(std::uint64_t seeds, bool scans) {
  constexpr std::size_t bytes = 1 << 20;
  objects with;
  with.make();
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const shape s(seed);
    const auto placement = static_cast<quire_placement>(seed % 4);
    volatile word* memory[2];
    for (int relaxed = 0; relaxed < 2; ++relaxed) {
      const bool first_touch = relaxed == 0 && placement == QUIRE_PLACE_FIRST_TOUCH;
      auto about = region_options(seed % 5 == 0 ? 16384 : 4096, first_touch ? QUIRE_PLACE_BLOCK : placement);
      about.consistency = relaxed != 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL;
      if (scans && relaxed != 0) about.detector = QUIRE_DETECT_SCAN;
      memory[relaxed] = shared_region<word>((relaxed != 0 ? "release " : "sequential ") + std::to_string(seed), bytes, about);
      barrier();
      program(s, memory[relaxed], with).run();
    }
    for (std::size_t i = 0; i < s.words(); ++i) {
      if (memory[0][i] == memory[1][i]) continue;
      fail(__FILE__, __LINE__, "seed %" PRIu64 ": word %zu is %" PRIx64 " under sequential, %" PRIx64 " under release consistency",
           seed, i, memory[0][i], memory[1][i]);
    }
    barrier();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool scans = argc > 1 && std::string_view(argv[1]) == "scan";
  const char* const count = argc > 1 + scans ? argv[1 + scans] : "30";
  return node_main([&] { run_all(std::strtoull(count, nullptr, 10), scans); });
}
