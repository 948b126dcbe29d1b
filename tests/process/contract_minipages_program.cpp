// SPDX-License-Identifier: BSD-3-Clause
// Contract of heaps whose small objects are sharing units of their own (quire_region_options::views): nodes that write
// different objects of a page send no messages; any node allocates at any time, and finds no address that some node
// does not know; any node frees, resizes and uses what others have made; chunks; what is refused. With the argument
// "job": the same of quire_malloc() under QUIRE_HEAP_VIEWS, which the program is to be started with. With "past" (and
// QUIRE_CHECK=minipages, QUIRE_HEAP_VIEWS) it ends by an access past an object. With "many": what a job of many nodes
// has time for.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <quire/quire.hpp>
#include <quire/system.h>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t page = 4096, mib = 1u << 20;

int nodes() { return quire_nodes(); }
bool leads() { return quire_node() == 0; }
std::size_t self() { return static_cast<std::size_t>(quire_node()); }
std::uint64_t address_of(const void* at) { return reinterpret_cast<std::uint64_t>(at); }

quire_region_options with_views(int views, int chunk = 0) {
  quire_region_options about{};
  about.size = sizeof about;
  about.heap = 1;
  about.views = views;
  about.chunk = chunk;
  return about;
}

/// Node 0 makes it, all know it.
quire_region make(std::size_t bytes, int views, int chunk = 0) {
  quire_region region{};
  const quire_region_options about = with_views(views, chunk);
  if (leads()) REQUIRE_OK(quire_region_create(&about, bytes, &region));
  REQUIRE_OK(quire_broadcast(&region, sizeof region, 0));
  return region;
}
void destroy(quire_region region) {
  barrier();
  if (leads()) REQUIRE_OK(quire_region_destroy(region));
  barrier();
}

template <class T>
T* allocate(quire_region from, std::size_t count = 1) {
  void* at = nullptr;
  REQUIRE_OK(quire_region_calloc(from, 0, count * sizeof(T), &at));
  return static_cast<T*>(at);
}

/// What this node has sent, and how often it had to ask for something, while f() ran.
struct traffic {
  std::uint64_t faults, messages;
};
template <class F>
traffic of(F f) {
  const quire_counters before = counters();
  f();
  const quire_counters after = counters();
  return {after.read_faults + after.write_faults + after.upgrade_faults - before.read_faults - before.write_faults -
              before.upgrade_faults,
          after.messages_sent - before.messages_sent};
}

/// Counters of all nodes, one behind the other in a page: node 0 makes them, and each node counts its own.
void neighbours(quire_region region) {
  constexpr std::uint64_t times = 200'000;
  const auto count = static_cast<std::size_t>(nodes());
  auto** const all = shared_object<volatile std::uint64_t*>("neighbours " + std::to_string(region.id), count);
  if (leads()) {
    for (std::size_t i = 0; i < count; ++i) all[i] = allocate<std::uint64_t>(region);
    // Where they are in their pages tells that they share them.
    const std::uint64_t first = address_of(const_cast<std::uint64_t*>(all[0])) % page;
    for (std::size_t i = 1; i < count; ++i)
      REQUIRE_EQUAL(address_of(const_cast<std::uint64_t*>(all[i])) % page, (first + i * 256) % page);
  }
  barrier();
  volatile std::uint64_t* const mine = all[self()];
  *mine = 1;
  barrier();
  const traffic cost = of([&] {
    for (std::uint64_t i = 1; i < times; ++i) *mine = *mine + 1;
  });
  REQUIRE_EQUAL(cost.faults, 0);
  REQUIRE(cost.messages <= 8);
  barrier();
  for (std::size_t i = 0; i < count; ++i) REQUIRE_EQUAL(*all[i], times);
  // They are shared all the same: each node goes on where the one before it was.
  for (int round = 0; round < nodes(); ++round) {
    barrier();
    volatile std::uint64_t* const other = all[(self() + static_cast<std::size_t>(round)) % count];
    *other = *other + 1;
  }
  barrier();
  for (std::size_t i = 0; i < count; ++i) REQUIRE_EQUAL(*all[i], times + static_cast<std::uint64_t>(nodes()));
  barrier();
  if (quire_node() == nodes() - 1) {
    for (std::size_t i = 0; i < count; ++i) REQUIRE_OK(quire_free(const_cast<std::uint64_t*>(all[i])));
  }
  barrier();
}

/// A block that was handed to somebody else: it tells how long it is and what must stand in it.
struct block {
  std::uint64_t bytes, seed;
};
void fill(void* at, std::uint64_t bytes, std::uint64_t seed) {
  auto* const text = static_cast<unsigned char*>(at);
  for (std::uint64_t i = sizeof(block); i < bytes; ++i) text[i] = static_cast<unsigned char>(seed + i);
  *static_cast<block*>(at) = {bytes, seed};
}
void check(const void* at, std::uint64_t bytes = ~0ull) {
  const auto* const b = static_cast<const block*>(at);
  const auto* const text = static_cast<const unsigned char*>(at);
  for (std::uint64_t i = sizeof *b; i < std::min(b->bytes, bytes); ++i)
    REQUIRE_EQUAL(text[i], static_cast<unsigned char>(b->seed + i));
}
std::uint64_t random_size(random_numbers& random) {
  return sizeof(block) +
         (random.below(20) != 0 ? random.below(random.below(2) == 0 ? 200 : 2033) : random.below(20'000));
}

/// Threads of all nodes allocate at once, of new sizes too, so that many spans are announced at the same time; and use,
/// resize and free what others have made.
void stress(quire_region region) {
  constexpr int threads = 3, times = 200;
  constexpr std::size_t boxes = 24;
  auto* const mailboxes = shared_object<std::uint64_t>("boxes " + std::to_string(region.id), boxes);
  barrier();
  on_threads(threads, [&](int thread) {
    random_numbers random(static_cast<std::uint64_t>(100 + quire_node() * threads + thread));
    for (int i = 0; i < times; ++i) {
      void* at = nullptr;
      const std::uint64_t bytes = random_size(random);
      const std::size_t alignment = random.below(4) != 0 ? 16 : std::size_t{1} << random.below(12);
      if (random.below(2) == 0) {
        REQUIRE_OK(quire_region_malloc(region, alignment, bytes, &at));
      } else {
        REQUIRE_OK(quire_region_calloc(region, alignment, bytes, &at));
        for (std::uint64_t k = 0; k < bytes; ++k) REQUIRE_EQUAL(static_cast<unsigned char*>(at)[k], 0);
      }
      REQUIRE_EQUAL(address_of(at) % alignment, 0);
      fill(at, bytes, random.below(251));
      std::uint64_t other = 0;
      REQUIRE_OK(quire_exchange(mailboxes + random.below(boxes), address_of(at), &other));
      if (other == 0) continue;
      void* theirs = reinterpret_cast<void*>(other);
      check(theirs);
      if (random.below(3) == 0) {
        const std::uint64_t now = random_size(random);
        REQUIRE_OK(quire_realloc(now, &theirs));
        check(theirs, now);
      }
      std::size_t usable = 0;
      REQUIRE_OK(quire_allocation_size(theirs, &usable));
      REQUIRE(usable >= sizeof(block));
      REQUIRE_OK(quire_free(theirs));
    }
  });
  barrier();
  if (quire_node() == nodes() - 1) {
    for (std::size_t i = 0; i < boxes; ++i) {
      if (mailboxes[i] == 0) continue;
      check(reinterpret_cast<void*>(mailboxes[i]));
      REQUIRE_OK(quire_free(reinterpret_cast<void*>(mailboxes[i])));
    }
  }
  barrier();
  REQUIRE_EQUAL(counters().bad_frees, 0);
}

/// Each node makes objects of a size that nobody has had, and others use them at once: every node knows where they
/// begin.
void handed_on(quire_region region) {
  constexpr std::size_t rounds = 30;
  auto** const all =
      shared_object<std::uint64_t*>("handed on " + std::to_string(region.id), static_cast<std::size_t>(nodes()));
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::size_t words = 34 + 6 * round + static_cast<std::size_t>(nodes() > 1 ? self() * 2 : 0);
    auto* const mine = allocate<std::uint64_t>(region, words);
    for (std::size_t w = 0; w < words; ++w) mine[w] = mix(round * 1000 + self()) + w;
    all[self()] = mine;
    barrier();
    const std::size_t next = (self() + 1) % static_cast<std::size_t>(nodes());
    std::uint64_t* const theirs = all[next];
    const std::size_t their_words = 34 + 6 * round + (nodes() > 1 ? next * 2 : 0);
    for (std::size_t w = 0; w < their_words; ++w) {
      REQUIRE_EQUAL(theirs[w], mix(round * 1000 + next) + w);
      theirs[w] += 7;
    }
    barrier();
    for (std::size_t w = 0; w < words; ++w) REQUIRE_EQUAL(mine[w], mix(round * 1000 + self()) + w + 7);
    barrier();
    REQUIRE_OK(quire_free(theirs));
  }
}

/// Nothing is left, and everything again when it was freed, by whichever node.
void exhaustion(int views) {
  const quire_region region = make(2 * mib, views);
  auto* const counts = shared_object<std::uint64_t>("exhausted " + std::to_string(region.id), 2);
  auto** const given = shared_object<void*>("exhausted list " + std::to_string(region.id), 4000);
  for (int round = 0; round < 2; ++round) {
    barrier();
    if (quire_node() == nodes() - 1) {  // of all nodes' parts
      std::uint64_t count = 0;
      void* at = nullptr;
      quire_status why;
      while ((why = quire_region_malloc(region, 0, 672, &at)) == QUIRE_OK) {
        *static_cast<std::uint64_t*>(at) = count;
        given[count++] = at;
      }
      REQUIRE_STATUS(why, QUIRE_NO_MEMORY);
      REQUIRE_STATUS(quire_region_malloc(region, 0, 40, &at), QUIRE_NO_MEMORY);
      counts[round] = count;
    }
    barrier();
    const auto step = static_cast<std::size_t>(nodes());
    for (std::size_t i = self(); i < counts[round]; i += step) {
      REQUIRE_EQUAL(*static_cast<std::uint64_t*>(given[i]), i);
      REQUIRE_OK(quire_free(given[i]));
    }
  }
  barrier();
  REQUIRE(counts[0] >= 3 * mib / 2 / page * 6);
  REQUIRE_EQUAL(counts[0], counts[1]);
  destroy(region);
}

/// From size to size, by the node that made it and by others; what fits stays.
void reallocation(quire_region region) {
  auto** const slots = shared_object<void*>("resized " + std::to_string(region.id), static_cast<std::size_t>(nodes()));
  slots[self()] = allocate<block>(region);
  fill(slots[self()], sizeof(block), 0);
  const std::vector<std::uint64_t> sizes = {20, 300, 304, 2048, 2049, 5000, 20'000, 2048, 100, 4096, 16, 1000};
  for (std::size_t round = 0; round < sizes.size(); ++round) {
    barrier();
    void*& slot = slots[(self() + round / 2) % static_cast<std::size_t>(nodes())];
    void* at = slot;
    const std::uint64_t before = static_cast<block*>(at)->bytes;
    std::size_t usable = 0;
    REQUIRE_OK(quire_allocation_size(at, &usable));
    REQUIRE_OK(quire_realloc(sizes[round], &at));
    if (sizes[round] <= usable && sizes[round] >= usable / 2) REQUIRE(at == slot);
    check(at, std::min(before, sizes[round]));
    quire_region found{};
    REQUIRE_OK(quire_region_of(at, &found));
    REQUIRE_EQUAL(found.id, region.id);
    fill(at, std::max<std::uint64_t>(sizes[round], sizeof(block)), round * 31 + self());
    slot = at;
    barrier();
  }
  barrier();
  REQUIRE_OK(quire_free(slots[self()]));
}

/// Objects of one chunk come together, and no others do.
void chunks() {
  const quire_region region = make(16 * mib, 16, 2);
  constexpr std::size_t count = 12;
  struct object {
    std::uint64_t words[84];  // 672 bytes
  };
  auto** const all = shared_object<object*>("chunks", 2 * count);
  if (leads()) {
    for (std::size_t i = 0; i < count; ++i) all[i] = allocate<object>(region);
    REQUIRE_OK(quire_region_set_chunk(region, 3));
    for (std::size_t i = count; i < 2 * count; ++i) all[i] = allocate<object>(region);
    for (std::size_t i = 0; i < 2 * count; ++i) all[i]->words[0] = i;
  }
  barrier();
  if (quire_node() == nodes() - 1 && nodes() > 1) {
    const std::vector<object*> here(all, all + 2 * count);  // so that all faults are those of objects
    // From the last to the first, so that nothing comes ahead of what is asked for.
    for (const auto& [from, chunk, a_page] :
         {std::array<std::size_t, 3>{0, 2, 6}, std::array<std::size_t, 3>{count, 3, 6}}) {
      std::uint64_t faults = 0;
      for (std::size_t i = count; i-- > 0;) {
        const traffic cost = of([&] { REQUIRE_EQUAL(here[from + i]->words[0], from + i); });
        REQUIRE(cost.faults <= 1);
        faults += cost.faults;
      }
      REQUIRE(a_page % chunk == 0);
      REQUIRE(faults <= count / chunk);
      REQUIRE(faults >= count / a_page);
    }
  }
  barrier();
  void* at = nullptr;
  REQUIRE_STATUS(quire_region_set_chunk(region, 0), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_set_chunk(region, 129), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_set_chunk(quire_region{~0ull}, 2), QUIRE_NOT_FOUND);
  REQUIRE_STATUS(quire_region_set_chunk(quire_region{0}, 2), QUIRE_INVALID);
  for (const unsigned chunk : {1u, 128u, 5u}) {
    REQUIRE_OK(quire_region_set_chunk(region, chunk));
    REQUIRE_OK(quire_region_malloc(region, 0, 100, &at));
    std::memset(at, 1, 100);
    REQUIRE_OK(quire_free(at));
  }
  destroy(region);
}

/// Only what was given can be given back.
void wrong_frees(quire_region region) {
  auto** const slots =
      shared_object<std::byte*>("wrong frees " + std::to_string(region.id), static_cast<std::size_t>(nodes()));
  auto* const mine = allocate<std::byte>(region, 300);
  auto* const beside = allocate<std::byte>(region, 300);
  std::memset(mine, 0x5a, 300);
  slots[self()] = mine;
  // The bytes of the one through the view of the other.
  const std::uint64_t across = address_of(mine) - address_of(mine) % page + address_of(beside) % page;
  if (across != address_of(beside)) REQUIRE_STATUS(quire_free(reinterpret_cast<void*>(across)), QUIRE_BAD_ADDRESS);
  for (const std::size_t offset : {1u, 8u, 16u, 299u}) {
    REQUIRE_STATUS(quire_free(mine + offset), QUIRE_BAD_ADDRESS);
    void* moved = mine + offset;
    REQUIRE_STATUS(quire_realloc(10, &moved), QUIRE_BAD_ADDRESS);
  }
  std::size_t usable = 0;
  REQUIRE_OK(quire_allocation_size(mine, &usable));
  REQUIRE_EQUAL(usable, 304);
  barrier();
  REQUIRE_STATUS(quire_free(slots[(self() + 1) % static_cast<std::size_t>(nodes())] + 1), QUIRE_BAD_ADDRESS);
  barrier();
  REQUIRE(std::all_of(mine, mine + 300, [](std::byte b) { return b == std::byte{0x5a}; }));
  REQUIRE_OK(quire_free(mine));
  REQUIRE_STATUS(quire_free(mine), QUIRE_BAD_ADDRESS);
  REQUIRE_OK(quire_free(beside));
  barrier();
}

void bad_input() {
  quire_region region{};
  for (const int views : {-1, 257, 70'000}) {
    const quire_region_options about = with_views(views);
    REQUIRE_STATUS(quire_region_create(&about, mib, &region), QUIRE_INVALID);
  }
  for (const int chunk : {-1, 129}) {
    const quire_region_options about = with_views(16, chunk);
    REQUIRE_STATUS(quire_region_create(&about, mib, &region), QUIRE_INVALID);
  }
  quire_region_options plain = with_views(0, 2);
  REQUIRE_STATUS(quire_region_create(&plain, mib, &region), QUIRE_INVALID);
  const quire_region heap = make(4 * mib, 16);
  void* at = nullptr;
  REQUIRE_STATUS(quire_region_malloc(heap, 0, 0, &at), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_malloc(heap, 24, 64, &at), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_malloc(heap, 0, 5 * mib, &at), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_range(heap, &at, nullptr), QUIRE_INVALID);
  void* first = nullptr;
  std::uint64_t bytes = 0;
  REQUIRE_OK(quire_heap_range(heap, &first, &bytes));
  REQUIRE(bytes >= 17 * 4 * mib);
  for (const std::size_t size : {1u, 16u, 2047u, 2048u, 2049u, 4096u, 70'000u}) {
    REQUIRE_OK(quire_region_malloc(heap, 0, size, &at));
    REQUIRE(address_of(at) >= address_of(first) && address_of(at) + size <= address_of(first) + bytes);
    std::memset(at, 3, size);
    REQUIRE_OK(quire_free(at));
  }
  destroy(heap);
  REQUIRE_STATUS(quire_region_malloc(heap, 0, 16, &at), QUIRE_NOT_FOUND);
}

// ---- In C++ ---------------------------------------------------------------------------------------------------------

struct link {
  std::uint64_t value = 0;
  link* next = nullptr;
};

/// A list whose nodes all nodes of the job have made, and a map that all have filled.
void in_cpp() {
  const auto heap = quire::from_node(0, [] { return quire::minipage_heap::create(16 * mib, {.views = 16}); });
  struct shared {
    quire::mutex guard = quire::mutex::create();
    link* first = nullptr;
  };
  auto* const list = quire::from_node(0, [&] { return quire::new_object<shared>(); });
  constexpr std::uint64_t each = 50;
  for (std::uint64_t i = 0; i < each; ++i) {
    auto* const added = heap.make<link>(i * 100 + self());
    const std::scoped_lock lock(list->guard);
    added->next = list->first;
    list->first = added;
  }
  barrier();
  std::set<std::uint64_t> seen;
  for (const link* at = list->first; at != nullptr; at = at->next) REQUIRE(seen.insert(at->value).second);
  REQUIRE_EQUAL(seen.size(), each * static_cast<std::uint64_t>(nodes()));
  barrier();
  if (quire_node() == nodes() - 1) {
    for (link* at = list->first; at != nullptr;) heap.free(std::exchange(at, at->next));
  }
  barrier();

  using allocator = quire::minipage_allocator<std::pair<const int, int>>;
  using map = std::map<int, int, std::less<int>, allocator>;
  map* const numbers = quire::from_node(0, [&] { return heap.make<map>(allocator{heap}); });
  for (int i = 0; i < 60; ++i) {
    const std::scoped_lock lock(list->guard);
    (*numbers)[i * nodes() + quire_node()] = i;
    if (i % 3 == 2) numbers->erase((i - 1) * nodes() + quire_node());
  }
  barrier();
  REQUIRE_EQUAL(numbers->size(), 40 * nodes());
  for (const auto& [key, value] : *numbers) {
    REQUIRE_EQUAL(key / nodes(), value);
    REQUIRE(value % 3 != 1);
    REQUIRE(quire::region::of(&value) == quire::region(heap));
  }
  barrier();
  if (leads()) heap.free(numbers);
  barrier();
  heap.set_chunk(4);
  auto* const one = heap.make<std::pair<int, int>>(3, 4);
  REQUIRE_EQUAL(one->second, 4);
  heap.free(one);
  barrier();
  if (leads()) {
    heap.destroy();
    quire::delete_object(list);
  }
  barrier();
}

/// Parallel blocks and changes of consistency: objects of several sizes, neighbours on their pages; some are made
/// within a block, and seen after it.
void blocks() {
  const quire_region region = make(16 * mib, 16);
  const auto count = static_cast<std::size_t>(nodes());
  constexpr std::size_t each = 30;
  auto** const all = shared_object<std::uint64_t*>("of blocks", 2 * each * count);
  const auto words_of = [](std::size_t i) { return 1 + i * 11 % 250; };
  for (std::size_t i = 0; leads() && i < each * count; ++i) all[i] = allocate<std::uint64_t>(region, words_of(i));
  barrier();
  for (std::uint64_t round = 1; round <= 6; ++round) {
    const bool checked = round % 2 == 0;
    REQUIRE_OK(quire_block_begin(region, checked ? QUIRE_BLOCK_CHECK : 0));
    for (std::size_t i = 0; i < each * count; ++i) {
      const bool mine = (i + round) % count == self();
      if (checked) REQUIRE_EQUAL(all[i][0], (round - 1) * 1000 + i * (round != 1));
      if (mine) std::fill_n(all[i], words_of(i), round * 1000 + i);
    }
    if (round == 3) {
      for (std::size_t i = 0; i < each; ++i) {
        const std::size_t number = (each + i) * count + self();
        all[number] = allocate<std::uint64_t>(region, words_of(number) + 7);
        std::fill_n(all[number], words_of(number), number);
      }
    }
    quire_overlap found{};
    void* same = nullptr;
    if (checked && count > 1 && self() < 2) all[3][words_of(3) - 1] = round + self();
    if (checked && count > 1) {
      REQUIRE_STATUS(quire_block_end(region, &found), QUIRE_OVERLAP);
      REQUIRE_OK(quire_view(found.address, QUIRE_FINE, &same));
      REQUIRE(found.address == same && found.address >= all[3] + words_of(3) - 1 &&
              found.address < all[3] + words_of(3));
    } else {
      REQUIRE_OK(quire_block_end(region, &found));
    }
    for (std::size_t i = 0; i < each * count; ++i) {
      REQUIRE_EQUAL(all[i][0], round * 1000 + i);
      REQUIRE(i == 3 || all[i][words_of(i) - 1] == round * 1000 + i);
    }
    for (std::size_t number = each * count; round >= 3 && number < 2 * each * count; ++number)
      REQUIRE_EQUAL(all[number][words_of(number) - 1], number);
    barrier();
    if (round > 2) REQUIRE_OK(quire_region_set_consistency(region, round % 2 != 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL));
  }
  destroy(region);
}

/// quire_malloc() under QUIRE_HEAP_VIEWS: small ones are minipages, large ones lie in the heap that the job has in any
/// case.
void job_heap() {
  void *small = nullptr, *large = nullptr, *cleared = nullptr;
  quire_region of_small{}, of_large{};
  REQUIRE_OK(quire_malloc(2048, &small));
  REQUIRE_OK(quire_malloc(2049, &large));
  REQUIRE_OK(quire_region_of(small, &of_small));
  REQUIRE_OK(quire_region_of(large, &of_large));
  REQUIRE_EQUAL(of_large.id, 0);
  REQUIRE(of_small.id != 0);
  std::memset(small, 7, 2048);
  REQUIRE_OK(quire_realloc(10'000, &small));  // it is one heap to the program
  quire_region now{};
  REQUIRE_OK(quire_region_of(small, &now));
  REQUIRE_EQUAL(now.id, 0);
  for (int i = 0; i < 2048; ++i) REQUIRE_EQUAL(static_cast<unsigned char*>(small)[i], 7);
  REQUIRE_OK(quire_free(small));
  REQUIRE_OK(quire_free(large));
  REQUIRE_OK(quire_calloc(1, 200, &cleared));
  REQUIRE(std::all_of(static_cast<char*>(cleared), static_cast<char*>(cleared) + 200, [](char c) { return c == 0; }));
  REQUIRE_OK(quire_free(cleared));
  REQUIRE_STATUS(quire_region_destroy(of_small), QUIRE_INVALID);
  section("neighbours", [&] { neighbours(of_small); });
  section("stress", [&] { stress(quire_region{0}); });
  REQUIRE_STATUS(quire_restore("/nowhere/at/all"), QUIRE_INVALID);  // too late
}

/// Objects lie at the end of pages of their own and are used as ever; the first access past one ends the program.
void past(std::uint64_t bytes) {
  const quire_region region = make(64 * mib, 16);
  for (const quire_region from : {quire_region{0}, region}) {
    auto** const all =
        shared_object<unsigned char*>("guarded " + std::to_string(from.id), 2048 * static_cast<std::size_t>(nodes()));
    unsigned char** const mine = all + 2048 * self();
    for (std::size_t size = 1; size <= 2048; size += 89) {
      mine[size - 1] = allocate<unsigned char>(from, size);
      REQUIRE_EQUAL((address_of(mine[size - 1]) + (size + 15) / 16 * 16) % page, 0);
      std::memset(mine[size - 1], 5, (size + 15) / 16 * 16);
    }
    barrier();
    unsigned char** const theirs = all + 2048 * ((self() + 1) % static_cast<std::size_t>(nodes()));
    for (std::size_t size = 1; size <= 2048; size += 89) {
      REQUIRE(std::all_of(theirs[size - 1], theirs[size - 1] + size, [](unsigned char c) { return c == 5; }));
      REQUIRE_OK(quire_free(theirs[size - 1]));
    }
    barrier();
  }
  if (leads()) {
    volatile unsigned char* const at = allocate<unsigned char>(region, bytes);
    for (std::size_t i = 0;; ++i) at[i] = 1;
  }
  sleep_ms(20'000);
  std::exit(3);
}

/// Each node allocates of a size that it alone has and of one that all have; its neighbour uses both at once.
void many() {
  const quire_region region = make(256 * mib, 16);
  const auto count = static_cast<std::size_t>(nodes());
  auto** const all = shared_object<std::uint64_t*>("many", 2 * count);
  for (std::size_t round = 0; round < 3; ++round) {
    all[2 * self()] = allocate<std::uint64_t>(region, 33 + self() % 200);
    all[2 * self() + 1] = allocate<std::uint64_t>(region, 40 + 50 * round);
    for (const std::size_t which : {0u, 1u}) *all[2 * self() + which] = mix(self() + which);
    barrier();
    for (const std::size_t which : {0u, 1u}) {
      const std::size_t next = (self() + 1) % count;
      std::uint64_t* const theirs = all[2 * next + which];
      REQUIRE_EQUAL(*theirs, mix(next + which));
      theirs[32] = round + 7;
    }
    barrier();
    for (const std::size_t which : {0u, 1u}) {
      REQUIRE_EQUAL(all[2 * self() + which][32], round + 7);
      REQUIRE_OK(quire_free(all[2 * ((self() + 5) % count) + which]));
    }
    barrier();
  }
  destroy(region);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const std::uint64_t bytes = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 300;
  return node_main([what, bytes] {
    if (what == "job") return section("the heap of the job", job_heap);
    if (what == "past") return past(bytes);
    if (what == "many") return section("many nodes", many);
    const quire_region region = make(64 * mib, 16);
    section("neighbours", [&] { neighbours(region); });
    section("handed on", [&] { handed_on(region); });
    section("stress", [&] { stress(region); });
    section("reallocation", [&] { reallocation(region); });
    section("wrong frees", [&] { wrong_frees(region); });
    destroy(region);
    for (const int views : {1, 2, 256}) {
      const quire_region other = make(64 * mib, views);
      section(("stress, views " + std::to_string(views)).c_str(), [&] { stress(other); });
      destroy(other);
    }
    section("exhaustion", [] {
      for (const int views : {6, 256}) exhaustion(views);
    });
    section("chunks", chunks);
    section("blocks", blocks);
    section("bad input", bad_input);
    section("in C++", in_cpp);
  });
}
