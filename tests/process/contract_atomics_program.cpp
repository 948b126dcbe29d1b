// SPDX-License-Identifier: BSD-3-Clause
// Contract: atomic operations of all nodes and threads on the same words, mixed with plain loads, with locked
// instructions of the processor, and with pages that move.
#include <algorithm>
#include <atomic>
#include <string_view>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr int threads = 3;

std::uint64_t fetch_add(std::uint64_t* word, std::uint64_t value) {
  std::uint64_t before = 0;
  REQUIRE_OK(quire_fetch_add(word, value, &before));
  return before;
}

/// All add to eight words of one page; every value that fetch_add gives appears once.
void additions() {
  constexpr std::uint64_t times = 150;
  auto* words = shared_object<std::uint64_t>("additions", 8);
  const std::uint64_t total = static_cast<std::uint64_t>(quire_nodes()) * threads * times;
  auto* seen = shared_object<unsigned char>("additions seen", total);
  barrier();
  on_threads(threads, [&](int) {
    for (std::uint64_t i = 0; i < times; ++i) {
      fetch_add(words + 1 + i % 7, i);
      const std::uint64_t mine = fetch_add(words, 1);
      REQUIRE(mine < total);
      std::atomic_ref<unsigned char> mark(seen[mine]);
      REQUIRE_EQUAL(mark.fetch_add(1), 0);
    }
  });
  barrier();
  REQUIRE_EQUAL(std::atomic_ref(words[0]).load(), total);
  REQUIRE_EQUAL(std::count(seen, seen + total, 1), total);
  std::uint64_t sum = 0;
  for (int i = 1; i < 8; ++i) sum += words[i];
  REQUIRE_EQUAL(sum, total / times * (times * (times - 1) / 2));
}

/// Every value that was put in with exchange comes out once.
void exchanges() {
  constexpr std::uint64_t times = 100;
  struct sums {
    std::uint64_t slot, put, got;
  };
  auto* all = shared_object<sums>("exchanges");
  barrier();
  on_threads(threads, [&](int thread) {
    random_numbers random(static_cast<std::uint64_t>(quire_node() * threads + thread));
    std::uint64_t put = 0, got = 0;
    for (std::uint64_t i = 0; i < times; ++i) {
      const std::uint64_t value = random.next();
      std::uint64_t before = 0;
      REQUIRE_OK(quire_exchange(&all->slot, value, &before));
      put += value;
      got += before;
    }
    fetch_add(&all->put, put);
    fetch_add(&all->got, got);
  });
  barrier();
  const std::uint64_t out = all->got + all->slot;
  REQUIRE_EQUAL(all->put, out);
}

/// Compare-exchange as a lock-free counter: what fails tells the current value, what succeeds counts.
void comparisons() {
  constexpr std::uint64_t times = 60;
  struct pair {
    std::uint64_t value, failed;
  };
  auto* all = shared_object<pair>("comparisons");
  barrier();
  on_threads(threads, [&](int) {
    std::uint64_t expected = 0, failed = 0;
    for (std::uint64_t i = 0; i < times; ++i) {
      int done = 0;
      for (;;) {
        const std::uint64_t tried = expected;
        REQUIRE_OK(quire_compare_exchange(&all->value, &expected, expected + 1, &done));
        if (done != 0) {
          REQUIRE_EQUAL(expected, tried);
          break;
        }
        REQUIRE(expected != tried);
        ++failed;
      }
      ++expected;
    }
    fetch_add(&all->failed, failed);
  });
  barrier();
  REQUIRE_EQUAL(all->value, static_cast<std::uint64_t>(quire_nodes()) * threads * times);
}

/// Quire's operations (done where the page is) and the processor's (the page comes here) on one word, while others
/// read.
void mixed_with_instructions() {
  const char* const consistency = std::getenv("QUIRE_CONSISTENCY");
  if (consistency != nullptr && std::string_view(consistency) == "release")
    return;  // instructions are none between nodes then
  constexpr std::uint64_t times = 120;
  auto* words = shared_object<std::uint64_t>("mixed", 2);
  barrier();
  on_threads(threads, [&](int thread) {
    std::uint64_t last = 0;
    for (std::uint64_t i = 0; i < times; ++i) {
      if ((static_cast<std::uint64_t>(thread) + i) % 2 == 0) {
        fetch_add(words, 1);
      } else {
        std::atomic_ref(words[0]).fetch_add(1);
      }
      const std::uint64_t now = std::atomic_ref(words[0]).load();
      REQUIRE(now > last && now > i);
      last = now;
    }
  });
  barrier();
  REQUIRE_EQUAL(words[0], static_cast<std::uint64_t>(quire_nodes()) * threads * times);
}

/// Words of pages that nobody has touched, that only a third node holds, and that all nodes have read.
void states_of_the_page() {
  constexpr std::size_t words_of_page = 512;
  const int nodes = quire_nodes(), last = nodes - 1;
  auto* words = shared_region<std::uint64_t>("states", 4 * 4096, region_options(4096, QUIRE_PLACE_MODULO));
  std::uint64_t *untouched = words, *held = words + words_of_page, *read = words + 2 * words_of_page,
                *mine = words + 3 * words_of_page;
  if (quire_node() == last) *held = 1000;
  barrier();
  REQUIRE_EQUAL(*read, 0);
  barrier();
  fetch_add(untouched, 1);
  fetch_add(held, 1);
  fetch_add(read, 1);
  if (quire_node() == last) fetch_add(mine, 5);  // nobody else ever touches this page, but reads it later
  barrier();
  REQUIRE_EQUAL(*untouched, nodes);
  REQUIRE_EQUAL(*held, 1000 + nodes);
  REQUIRE_EQUAL(*read, nodes);
  REQUIRE_EQUAL(*mine, 5);
}

}  // namespace

int main() {
  return node_main([] {
    section("additions", additions);
    section("exchanges", exchanges);
    section("comparisons", comparisons);
    section("mixed with instructions", mixed_with_instructions);
    section("states of the page", states_of_the_page);
  });
}
