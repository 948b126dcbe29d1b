// SPDX-License-Identifier: BSD-3-Clause
// Pieces of powers of two. Those of a size that nobody uses are a stack without a lock: its top is an address and a
// count of changes, so that a thread that was away while others took a piece and gave it back does not take the stack
// for unchanged. Pieces are never unmapped, so that such a thread may look at one that is in use again.
#include "base/fault_heap.hpp"

#include <quire/quire.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "base/check.hpp"
#include "base/log.hpp"
#include "base/shortage.hpp"

namespace quire::base {
namespace {

constexpr unsigned smallest = 6, largest = 47;  ///< powers of two
/// Taken from the kernel at once for small pieces. All pages of a chunk are touched as it is cut: the first of a size
/// is small, and each of the next is twice as large.
constexpr std::size_t chunk_bytes = 256 * 1024, first_chunk_bytes = 16 * 1024;

struct piece {
  std::atomic<piece*> next;
};

class stack {
 public:
  void push(piece* first, piece* last) noexcept {
    std::uint64_t top = top_.load(std::memory_order_relaxed);
    do {
      last->next.store(piece_of(top), std::memory_order_relaxed);
    } while (
        !top_.compare_exchange_weak(top, changed(top, first), std::memory_order_release, std::memory_order_relaxed));
  }
  [[nodiscard]] piece* pop() noexcept {
    std::uint64_t top = top_.load(std::memory_order_acquire);
    for (;;) {
      piece* const first = piece_of(top);
      if (first == nullptr) return nullptr;
      piece* const rest = first->next.load(std::memory_order_relaxed);
      if (top_.compare_exchange_weak(top, changed(top, rest), std::memory_order_acquire)) return first;
    }
  }

 private:
  static constexpr unsigned address_bits = 48;
  static constexpr std::uint64_t address_mask = (std::uint64_t{1} << address_bits) - 1;
  [[nodiscard]] static piece* piece_of(std::uint64_t top) noexcept {
    return reinterpret_cast<piece*>(top & address_mask);
  }
  [[nodiscard]] static std::uint64_t changed(std::uint64_t before, piece* top) noexcept {
    return ((before >> address_bits) + 1) << address_bits | reinterpret_cast<std::uint64_t>(top);
  }
  std::atomic<std::uint64_t> top_{0};
};

constinit std::array<stack, largest + 1> g_free{};
constinit std::array<std::atomic<std::uint32_t>, largest + 1> g_chunks{};  ///< of a size, until they are large

std::atomic<words_of_shortage> g_words{nullptr};

[[nodiscard]] std::byte* from_kernel(std::size_t bytes) noexcept {
  void* const made = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) {
    const auto words = g_words.load(std::memory_order_relaxed);
    char why[400] = {};
    if (words != nullptr) words(why, sizeof why);
    die(QUIRE_NO_MEMORY, "the system gives a node no memory (%zu KiB for what is known of its pages)%s", bytes >> 10,
        why);
  }
  return static_cast<std::byte*>(made);
}

/// How many bytes the next chunk for pieces of this size has.
[[nodiscard]] std::size_t next_chunk(unsigned power) noexcept {
  const std::size_t least = std::max(first_chunk_bytes, std::size_t{4} << power);
  auto& chunks = g_chunks[power];
  const std::uint32_t before = chunks.load(std::memory_order_relaxed);
  if (least << before >= chunk_bytes) return chunk_bytes;
  chunks.store(before + 1, std::memory_order_relaxed);  // of two threads at once one may be lost
  return least << before;
}

[[nodiscard]] unsigned power_for(std::size_t bytes) noexcept {
  return bytes <= std::size_t{1} << smallest ? smallest : static_cast<unsigned>(std::bit_width(bytes - 1));
}

}  // namespace

void set_words_of_shortage(words_of_shortage words) noexcept { g_words.store(words); }

#if defined(__SANITIZE_ADDRESS__)  // which is to see each piece
void* fault_allocate(std::size_t bytes) noexcept {
  void* const made = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  CHECK(made != nullptr);
  return made;
}

void fault_free(void* memory, std::size_t) noexcept { std::free(memory); }
#else
void* fault_allocate(std::size_t bytes) noexcept {
  const unsigned power = power_for(bytes);
  CHECK(power <= largest);
  if (piece* const kept = g_free[power].pop(); kept != nullptr) return kept;
  const std::size_t size = std::size_t{1} << power;
  if (size >= chunk_bytes) return from_kernel(size);
  const std::size_t whole = next_chunk(power);
  std::byte* const chunk = from_kernel(whole);
  // The first piece is the caller's; the others wait for the next.
  piece* last = nullptr;
  for (std::size_t at = whole - size; at != 0; at -= size) {
    auto* const one = ::new (chunk + at) piece{last == nullptr ? nullptr : reinterpret_cast<piece*>(chunk + at + size)};
    if (last == nullptr) last = one;
  }
  if (last != nullptr) g_free[power].push(reinterpret_cast<piece*>(chunk + size), last);
  return chunk;
}

void fault_free(void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) return;
  auto* const one = ::new (memory) piece{nullptr};
  g_free[power_for(bytes)].push(one, one);
}
#endif

}  // namespace quire::base
