// SPDX-License-Identifier: BSD-3-Clause
// Contract: what one node writes all others read, whatever the unit size and the placement; nodes that write different
// words of one unit lose nothing; a sweep with read-ahead sees the newest content; hints and pushes change nothing but
// time.
#include <atomic>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t KiB = 1024, MiB = 1024 * KiB;

std::uint64_t value_of(std::uint64_t word, std::uint64_t round) { return mix(word * 1000 + round); }

/// Each unit is written by another node in each round, and read by all.
void written_once_read_everywhere(std::uint64_t* words, std::size_t unit_bytes, std::size_t units, int rounds) {
  const auto nodes = static_cast<std::size_t>(quire_nodes()), self = static_cast<std::size_t>(quire_node());
  const std::size_t unit_words = unit_bytes / sizeof *words, step = unit_bytes > 64 * KiB ? 61 : 7;
  for (std::size_t word = 0; word < units * unit_words; word += unit_words / 2) REQUIRE_EQUAL(words[word], 0);
  barrier();
  for (int round = 1; round <= rounds; ++round) {
    for (std::size_t unit = 0; unit < units; ++unit) {
      if ((unit + static_cast<std::size_t>(round)) % nodes != self) continue;
      for (std::size_t i = 0; i < unit_words; i += step)
        words[unit * unit_words + i] = value_of(unit * unit_words + i, static_cast<std::uint64_t>(round));
    }
    barrier();
    for (std::size_t unit = 0; unit < units; ++unit)
      for (std::size_t i = 0; i < unit_words; i += step)
        REQUIRE_EQUAL(words[unit * unit_words + i], value_of(unit * unit_words + i, static_cast<std::uint64_t>(round)));
    barrier();
  }
}

void unit_sizes_and_placements() {
  struct row {
    const char* name;
    std::size_t unit_bytes, units;
  };
  const int last = quire_nodes() - 1;
  for (const row& r : {row{"4K", 4 * KiB, 48}, row{"64K", 64 * KiB, 12}, row{"2M", 2 * MiB, 4}}) {
    for (const auto placement : {QUIRE_PLACE_BLOCK, QUIRE_PLACE_MODULO, QUIRE_PLACE_NODE}) {
      const std::string name = std::string("units of ") + r.name + ", placement " + std::to_string(placement);
      auto* words =
          shared_region<std::uint64_t>(name, r.unit_bytes * r.units, region_options(r.unit_bytes, placement, last));
      section(name.c_str(), [&] { written_once_read_everywhere(words, r.unit_bytes, r.units, 3); });
    }
  }
}

/// All nodes count in words of their own that lie side by side, without any synchronisation.
void write_sharing() {
  constexpr int times = 400, words_each = 16;
  const auto nodes = static_cast<std::size_t>(quire_nodes()), self = static_cast<std::size_t>(quire_node());
  auto* words = shared_object<std::uint64_t>("write sharing", words_each * nodes + 1024);
  barrier();
  auto* volatile mine = words;
  for (int i = 0; i < times; ++i)
    for (std::size_t k = 0; k < words_each; ++k) mine[k * nodes + self] = mine[k * nodes + self] + self + 1;
  barrier();
  for (std::size_t k = 0; k < words_each; ++k)
    for (std::size_t n = 0; n < nodes; ++n) REQUIRE_EQUAL(words[k * nodes + n], times * (n + 1));
}

/// Many threads on every node count under one lock, in words that lie on two pages.
void locked_counters() {
  constexpr int threads = 4, times = 40;
  struct counters_of_all {
    quire_mutex mutex;
    std::uint64_t first, padding[1024], second;
  };
  auto* all = shared_object<counters_of_all>("locked counters");
  if (quire_node() == 0) REQUIRE_OK(quire_mutex_create(&all->mutex));
  barrier();
  on_threads(threads, [&](int) {
    for (int i = 0; i < times; ++i) {
      REQUIRE_OK(quire_mutex_lock(all->mutex));
      REQUIRE_EQUAL(all->first, all->second);
      all->first = all->first + 1;
      all->second = all->first;
      REQUIRE_OK(quire_mutex_unlock(all->mutex));
    }
  });
  barrier();
  REQUIRE_EQUAL(all->first, quire_nodes() * threads * times);
}

/// Sweeps over remote memory while its owner goes on counting: a reader never sees a word go back.
void sweep_while_written() {
  constexpr std::size_t units = 512, unit_words = 4 * KiB / sizeof(std::uint64_t);
  static_assert(units % 2 == 0);
  auto* words = shared_region<std::uint64_t>("sweep", units * 4 * KiB, region_options(4 * KiB, QUIRE_PLACE_NODE, 0));
  auto* stop = shared_object<std::uint64_t>("sweep stop");
  const auto word = [&](std::size_t unit) {
    return std::atomic_ref<std::uint64_t>(words[unit * unit_words + unit % unit_words]);
  };
  barrier();
  std::vector<std::uint64_t> seen(units, 0);
  if (quire_node() == 0) {
    random_numbers random(1);
    std::uint64_t left = static_cast<std::uint64_t>(quire_nodes() - 1);
    for (std::uint64_t value = 1; std::atomic_ref(*stop).load() < left || value < 2000; ++value)
      word(random.below(units)).store(value);
  } else {
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < units; ++i) {
        // Forwards, backwards, and two streams at once.
        const std::size_t unit = round == 0 ? i : round == 1 ? units - 1 - i : i / 2 + (i % 2) * units / 2;
        const std::uint64_t value = word(unit).load();
        REQUIRE(value >= seen[unit]);
        seen[unit] = value;
      }
    }
    std::uint64_t before;
    REQUIRE_OK(quire_fetch_add(stop, 1, &before));
  }
}

/// A push while other nodes write words of their own in the same units.
void push_while_written() {
  constexpr std::size_t units = 16, unit_words = 4 * KiB / sizeof(std::uint64_t);
  auto* words =
      shared_region<std::uint64_t>("push and write", units * 4 * KiB, region_options(4 * KiB, QUIRE_PLACE_MODULO));
  const auto self = static_cast<std::size_t>(quire_node()), nodes = static_cast<std::size_t>(quire_nodes());
  barrier();
  random_numbers random(self + 7);
  std::vector<std::uint64_t> mine(units, 0);
  for (int i = 0; i < 200; ++i) {
    const std::size_t unit = random.below(units);
    std::atomic_ref<std::uint64_t> word(words[unit * unit_words + self]);
    REQUIRE_EQUAL(word.load(), mine[unit]);
    word.store(++mine[unit]);
    if (i % 10 == 0) REQUIRE_OK(quire_push(words + random.below(units) * unit_words, 4 * KiB));
    if (i % 10 == 5) REQUIRE_OK(quire_prefetch(words, units * 4 * KiB, static_cast<int>(random.below(2))));
  }
  for (std::size_t unit = 0; unit < units; ++unit) REQUIRE_EQUAL(words[unit * unit_words + self], mine[unit]);
  auto* sum = shared_object<std::uint64_t>("push and write sum", nodes * units);
  for (std::size_t unit = 0; unit < units; ++unit) sum[self * units + unit] = mine[unit];
  barrier();
  for (std::size_t unit = 0; unit < units; ++unit)
    for (std::size_t n = 0; n < nodes; ++n) REQUIRE_EQUAL(words[unit * unit_words + n], sum[n * units + unit]);
}

/// Objects that lie across the border of two units, and accesses wider than a word.
void across_units() {
  auto* bytes = shared_region<unsigned char>("across", 64 * KiB, region_options(4 * KiB, QUIRE_PLACE_MODULO));
  barrier();
  const auto nodes = quire_nodes();
  for (int round = 0; round < 3 * nodes; ++round) {
    if (round % nodes == quire_node()) {
      for (std::size_t page = 1; page < 16; ++page) {
        std::memset(bytes + page * 4 * KiB - 100, round + 1, 200);
        std::uint64_t split;
        std::memset(&split, 0x80 | round, sizeof split);
        *reinterpret_cast<volatile std::uint64_t*>(bytes + page * 4 * KiB - 4) = split;  // one store on two pages
      }
    }
    barrier();
    for (std::size_t page = 1; page < 16; ++page) {
      for (int i = -100; i < 100; ++i) {
        const int expected = i >= -4 && i < 4 ? 0x80 | round : round + 1;
        REQUIRE_EQUAL(bytes[page * 4 * KiB + static_cast<std::size_t>(i)], expected);
      }
    }
    barrier();
  }
}

/// Regions made one after another do not begin at a round distance from each other, and begin with a unit.
void distances() {
  for (const std::size_t unit : {4u << 10, 64u << 10, 1u << 20}) {
    std::uint64_t last = 0;
    for (int i = 0; i < 4; ++i) {
      const auto about = region_options(unit, QUIRE_PLACE_BLOCK);
      const std::string name = "distance " + std::to_string(unit) + " " + std::to_string(i);
      const auto at = reinterpret_cast<std::uint64_t>(shared_region<char>(name, unit, about));
      REQUIRE_EQUAL(at % unit, 0);
      if (i != 0) REQUIRE((at - last) % (64u << 20) != 0);
      last = at;
    }
  }
}

}  // namespace

int main() {
  return node_main([] {
    unit_sizes_and_placements();
    section("write sharing", write_sharing);
    section("locked counters", locked_counters);
    section("sweep while written", sweep_while_written);
    section("push while written", push_while_written);
    section("across units", across_units);
    section("distances", distances);
  });
}
