// SPDX-License-Identifier: BSD-3-Clause
// Contract: malloc and its family from any thread of any node at any time, free on another node than the one that
// allocated, with a checker that finds overlap (each block carries a pattern of its own), bad alignment and lost
// content. Frees of another node's memory travel together, and what was wrong with one may be found out later: never
// lost, and never at the cost of memory that is live.
#include <atomic>
#include <cstring>
#include <vector>

#include "node.hpp"

using namespace quire::test;

namespace {

/// A block that was handed to somebody else: its first words tell how long it is and what must stand in it.
struct block {
  std::uint64_t bytes, seed;
};

void fill(void* at, std::uint64_t bytes, std::uint64_t seed) {
  auto* b = static_cast<block*>(at);
  *b = {bytes, seed};
  auto* text = static_cast<unsigned char*>(at);
  for (std::uint64_t i = sizeof *b; i<bytes; i += bytes> 4096 ? 97 : 1) text[i] = static_cast<unsigned char>(seed + i);
}
void check(const void* at) {
  const auto* b = static_cast<const block*>(at);
  const auto* text = static_cast<const unsigned char*>(at);
  for (std::uint64_t i = sizeof *b; i<b->bytes; i += b->bytes> 4096 ? 97 : 1)
    REQUIRE_EQUAL(text[i], static_cast<unsigned char>(b->seed + i));
}
std::uint64_t random_size(random_numbers& random) {
  const auto kind = random.below(20);
  return sizeof(block) + (kind < 14 ? random.below(300) : kind < 19 ? random.below(6000) : random.below(150'000));
}

/// Frees of this node that were wrong, and were not told so by the call.
std::atomic<std::uint64_t> wrong_frees{0};

/// A free that cannot be right.
void free_wrongly(void* at) {
  const auto status = quire_free(at);
  if (status == QUIRE_OK) {
    ++wrong_frees;
  } else {
    REQUIRE_STATUS(status, QUIRE_BAD_ADDRESS);
  }
}

/// `true_now()` comes to hold, by and by.
template <class F>
void eventually(const char* what, F true_now) {
  for (const double limit = now_seconds() + 20; !true_now(); sleep_ms(1))
    if (now_seconds() > limit) fail(__FILE__, __LINE__, "%s: not in 20 s", what);
}
bool is_live(const void* at) {
  std::size_t bytes = 0;
  const auto status = quire_allocation_size(at, &bytes);
  REQUIRE(status == QUIRE_OK || status == QUIRE_BAD_ADDRESS);
  return status == QUIRE_OK;
}

void simple_calls() {
  for (const std::size_t bytes : {1u, 15u, 16u, 17u, 100u, 4095u, 4096u, 4097u, 100'000u, 3'000'000u}) {
    void* at = nullptr;
    REQUIRE_OK(quire_malloc(bytes, &at));
    REQUIRE_EQUAL(reinterpret_cast<std::uint64_t>(at) % (bytes >= 4096 ? 4096 : 16), 0);
    std::size_t usable = 0;
    REQUIRE_OK(quire_allocation_size(at, &usable));
    REQUIRE(usable >= bytes);
    std::memset(at, 0xff, bytes);
    REQUIRE_OK(quire_free(at));
    REQUIRE_STATUS(quire_allocation_size(at, &usable), QUIRE_BAD_ADDRESS);
    // What was dirty is zero for calloc.
    REQUIRE_OK(quire_calloc(bytes, 1, &at));
    for (std::size_t i = 0; i < bytes; ++i)
      if (static_cast<unsigned char*>(at)[i] != 0) fail(__FILE__, __LINE__, "calloc(%zu) is not zero at %zu", bytes, i);
    REQUIRE_OK(quire_free(at));
  }
  for (std::size_t alignment = 1; alignment <= (2u << 20); alignment *= 2) {
    void* at = nullptr;
    REQUIRE_OK(quire_aligned_alloc(alignment, 24, &at));
    REQUIRE_EQUAL(reinterpret_cast<std::uint64_t>(at) % alignment, 0);
    std::memset(at, 1, 24);
    REQUIRE_OK(quire_free(at));
  }
  REQUIRE_OK(quire_free(nullptr));
}

/// Blocks of one node are resized by the next, and keep what is in them.
void reallocation() {
  const auto self = static_cast<std::size_t>(quire_node()), nodes = static_cast<std::size_t>(quire_nodes());
  auto** slots = shared_object<void*>("reallocation", nodes);
  random_numbers random(self);
  REQUIRE_OK(quire_realloc(100, &slots[self]));  // NULL allocates
  fill(slots[self], 100, self);
  for (std::size_t round = 1; round <= 24; ++round) {
    barrier();
    void*& slot = slots[(self + round) % nodes];
    void* at = slot;
    const std::uint64_t before = static_cast<block*>(at)->bytes, seed = static_cast<block*>(at)->seed;
    const std::uint64_t bytes = round % 8 == 7 ? sizeof(block) + 1 : random_size(random);
    REQUIRE_OK(quire_realloc(bytes, &at));
    const std::uint64_t kept = std::min(before, bytes);
    for (std::uint64_t i = sizeof(block); i<kept; i += before> 4096 ? 97 : 1)
      REQUIRE_EQUAL(static_cast<unsigned char*>(at)[i], static_cast<unsigned char>(seed + i));
    fill(at, bytes, random.next() % 251);
    slot = at;
  }
  barrier();
  REQUIRE_OK(quire_free(slots[self]));
}

/// A large block that grows by an eighth, as lists of interpreters do, while others come behind it, is not copied each
/// time.
void growing() {
  std::size_t bytes = 256 << 10;
  int moves = 0, steps = 0;
  void* at = nullptr;
  std::vector<void*> others;
  REQUIRE_OK(quire_malloc(bytes, &at));
  for (; bytes < (4u << 20); bytes += bytes / 8, ++steps) {
    auto* const before = static_cast<unsigned char*>(at);
    before[bytes / 2] = static_cast<unsigned char>(steps);
    REQUIRE_OK(quire_malloc(bytes, &others.emplace_back()));
    REQUIRE_OK(quire_realloc(bytes + bytes / 8, &at));
    REQUIRE_EQUAL(static_cast<unsigned char*>(at)[bytes / 2], static_cast<unsigned char>(steps));
    moves += at != before ? 1 : 0;
  }
  REQUIRE(2 * moves <= steps);
  REQUIRE_OK(quire_free(at));
  for (void* const one : others) REQUIRE_OK(quire_free(one));
  barrier();
}

/// Threads of all nodes allocate, pass blocks on through shared mailboxes, check and free what others have made.
void stress() {
  constexpr int threads = 3, times = 250;
  constexpr std::size_t boxes = 24;
  auto* mailboxes = shared_object<std::uint64_t>("mailboxes", boxes);
  barrier();
  on_threads(threads, [&](int thread) {
    random_numbers random(static_cast<std::uint64_t>(100 + quire_node() * threads + thread));
    for (int i = 0; i < times; ++i) {
      void* at = nullptr;
      const std::uint64_t bytes = random_size(random);
      switch (random.below(4)) {
        case 0: {
          REQUIRE_OK(quire_calloc(1, bytes, &at));
          const auto* text = static_cast<const unsigned char*>(at);
          for (std::uint64_t k = 0; k < bytes; k += 13) REQUIRE_EQUAL(text[k], 0);
          break;
        }
        case 1: {
          const std::size_t alignment = std::size_t{1} << random.below(13);
          REQUIRE_OK(quire_aligned_alloc(alignment, bytes, &at));
          REQUIRE_EQUAL(reinterpret_cast<std::uint64_t>(at) % alignment, 0);
          break;
        }
        default:
          REQUIRE_OK(quire_malloc(bytes, &at));
      }
      fill(at, bytes, random.next() % 251);
      std::uint64_t other = 0;
      REQUIRE_OK(quire_exchange(mailboxes + random.below(boxes), reinterpret_cast<std::uint64_t>(at), &other));
      if (other == 0) continue;
      check(reinterpret_cast<void*>(other));
      REQUIRE_OK(quire_free(reinterpret_cast<void*>(other)));
    }
  });
  barrier();
  if (quire_node() == quire_nodes() - 1) {
    for (std::size_t i = 0; i < boxes; ++i) {
      if (mailboxes[i] == 0) continue;
      check(reinterpret_cast<void*>(mailboxes[i]));
      REQUIRE_OK(quire_free(reinterpret_cast<void*>(mailboxes[i])));
      free_wrongly(reinterpret_cast<void*>(mailboxes[i]));
    }
  }
}

/// One free of many on all nodes is right; the others are told.
void competing_frees() {
  struct shared {
    void* at;
  };
  auto* all = shared_object<shared>("competing frees");
  for (int round = 0; round < 20; ++round) {
    if (quire_node() == round % quire_nodes()) REQUIRE_OK(quire_malloc(round % 2 == 0 ? 40 : 40'000, &all->at));
    barrier();
    const std::uint64_t bad = counters().bad_frees;
    const auto status = quire_free(all->at);
    REQUIRE(status == QUIRE_OK || status == QUIRE_BAD_ADDRESS);
    std::int64_t right = 0;
    eventually("all but one are told", [&] {
      right = (status == QUIRE_OK ? 1 : 0) - static_cast<std::int64_t>(counters().bad_frees - bad);
      REQUIRE_OK(quire_reduce_i64(&right, 1, QUIRE_SUM));
      return right == 1;
    });
    wrong_frees += counters().bad_frees - bad;
    barrier();
    REQUIRE(!is_live(all->at));
    barrier();
  }
}

/// Each node frees what the one before it has made: many at once, and a few that no others follow.
void frees_elsewhere() {
  constexpr std::size_t most = 300;
  const auto self = static_cast<std::size_t>(quire_node()), nodes = static_cast<std::size_t>(quire_nodes());
  auto** blocks = shared_object<void*>("frees elsewhere", most * nodes);
  const auto mine = blocks + self * most, theirs = blocks + (self + 1) % nodes * most;
  for (const std::size_t count : {most, std::size_t{1}, std::size_t{61}, std::size_t{62}, std::size_t{63}}) {
    for (std::size_t i = 0; i < count; ++i) {
      REQUIRE_OK(quire_malloc(1 + i * 37 % 5000, &mine[i]));
      *static_cast<std::size_t*>(mine[i]) = i;
    }
    barrier();
    std::vector<void*> copy(theirs, theirs + count);
    for (std::size_t i = 0; i < count; ++i) {
      REQUIRE_EQUAL(*static_cast<std::size_t*>(copy[i]), i);
      REQUIRE_OK(quire_free(copy[i]));
      REQUIRE(!is_live(copy[i]));  // for who has freed it at once
    }
    // Nobody calls anything that would hurry the others' frees.
    eventually("what others have freed is free", [&] {
      for (std::size_t i = 0; i < count; ++i)
        if (is_live(mine[i])) return false;
      return true;
    });
    barrier();
  }
}

/// Addresses that start nothing are found out, and what is live beside them stays so.
void wrong_frees_elsewhere() {
  const auto self = static_cast<std::size_t>(quire_node()), nodes = static_cast<std::size_t>(quire_nodes());
  auto** slots = shared_object<unsigned char*>("wrong frees", nodes);
  void* at = nullptr;
  REQUIRE_OK(quire_malloc(3000, &at));
  std::memset(at, 0x5a, 3000);
  slots[self] = static_cast<unsigned char*>(at);
  barrier();
  unsigned char* const other = slots[(self + 1) % nodes];
  REQUIRE_STATUS(quire_free(other + 1), QUIRE_BAD_ADDRESS);  // no allocation starts there
  int local = 0;
  REQUIRE_STATUS(quire_free(&local), QUIRE_BAD_ADDRESS);
  free_wrongly(other + 16);
  unsigned char* nothing = other + (std::size_t{1} << 20);
  while (is_live(nothing)) nothing += std::size_t{1} << 20;  // node 0 has objects of all nodes
  free_wrongly(nothing);
  eventually("wrong frees are counted", [] { return counters().bad_frees == wrong_frees; });
  barrier();
  for (int i = 0; i < 3000; ++i) REQUIRE_EQUAL(static_cast<unsigned char*>(at)[i], 0x5a);
  REQUIRE(is_live(at));
  barrier();
  REQUIRE_OK(quire_free(other));
  free_wrongly(other);
}

/// Where no memory is left, what others have freed and not told yet is asked for.
void full_heap() {
  constexpr std::size_t bytes = 256 << 10, few = 10;
  struct shared {
    void* given[few];
    std::uint64_t freed, taken;
  };
  auto* all = shared_object<shared>("full heap");
  std::uint64_t number_before = 0;
  std::vector<void*> blocks;
  for (int round = 0; round < 20; ++round) {
    barrier();
    const auto number = static_cast<std::uint64_t>(round + 1);
    if (quire_node() == 0) {
      void* at = nullptr;
      quire_status why;
      while ((why = quire_malloc(bytes, &at)) == QUIRE_OK) blocks.push_back(at);
      REQUIRE_STATUS(why, QUIRE_NO_MEMORY);
      REQUIRE(blocks.size() > few);
      for (std::size_t i = 0; i < few; ++i) {  // of all nodes' memory
        const std::size_t which = i * 7919 % blocks.size();
        all->given[i] = blocks[which];
        blocks[which] = blocks.back();
        blocks.pop_back();
      }
      REQUIRE_OK(quire_exchange(&all->taken, number, &number_before));
      std::uint64_t freed = 0;
      eventually("the other frees", [&] {
        REQUIRE_OK(quire_fetch_add(&all->freed, 0, &freed));
        return freed == number;
      });
      for (std::size_t i = 0; i < few; ++i) {
        REQUIRE_OK(quire_malloc(bytes, &at));
        blocks.push_back(at);
      }
    } else if (quire_node() == 1) {
      std::uint64_t taken = 0;
      eventually("some is to be freed", [&] {
        REQUIRE_OK(quire_fetch_add(&all->taken, 0, &taken));
        return taken == number;
      });
      for (void* const at : all->given) REQUIRE_OK(quire_free(at));
      REQUIRE_OK(quire_exchange(&all->freed, number, &number_before));
    }
  }
  barrier();
  for (void* const at : blocks) REQUIRE_OK(quire_free(at));
}

}  // namespace

/// full: with a QUIRE_RANGE that is used up quickly.
int main(int argc, char** argv) {
  const bool full = argc > 1 && std::strcmp(argv[1], "full") == 0;
  return node_main([full] {
    if (full) return section("full heap", full_heap);
    section("simple calls", simple_calls);
    section("reallocation", reallocation);
    section("growing", growing);
    section("stress", stress);
    section("competing frees", competing_frees);
    section("frees elsewhere", frees_elsewhere);
    section("wrong frees elsewhere", wrong_frees_elsewhere);
    eventually("all wrong frees are counted", [] { return counters().bad_frees == wrong_frees; });
  });
}
