// Contract: malloc and its family from any thread of any node at any time, free on another node than the one that
// allocated, with a checker that finds overlap (each block carries a pattern of its own), bad alignment and lost
// content.
#include <atomic>

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
      REQUIRE_STATUS(quire_free(reinterpret_cast<void*>(mailboxes[i])), QUIRE_BAD_ADDRESS);
    }
  }
}

/// One free of many on all nodes is right; the others are told.
void competing_frees() {
  struct shared {
    void* at;
    std::uint64_t freed;
  };
  auto* all = shared_object<shared>("competing frees");
  for (int round = 0; round < 20; ++round) {
    if (quire_node() == round % quire_nodes()) REQUIRE_OK(quire_malloc(round % 2 == 0 ? 40 : 40'000, &all->at));
    barrier();
    std::uint64_t before;
    const auto status = quire_free(all->at);
    if (status == QUIRE_OK) REQUIRE_OK(quire_fetch_add(&all->freed, 1, &before));
    REQUIRE(status == QUIRE_OK || status == QUIRE_BAD_ADDRESS);
    barrier();
    REQUIRE_EQUAL(all->freed, round + 1);
    barrier();
  }
}

}  // namespace

int main() {
  return node_main([] {
    section("simple calls", simple_calls);
    section("reallocation", reallocation);
    section("stress", stress);
    section("competing frees", competing_frees);
  });
}
