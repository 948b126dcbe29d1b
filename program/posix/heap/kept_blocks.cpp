// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/heap/kept_blocks.hpp"

#include <quire/system.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "program/job/job.hpp"
#include "program/job/shared_state.hpp"
#include "program/posix/heap/shared_pages.hpp"
#include "program/posix/memory/page_marks.hpp"

namespace quire::program {
namespace {

constexpr std::size_t most_kept_bytes = std::size_t{32} << 20;  ///< of several
/// What a heap can do without.
std::size_t most_of_one() noexcept {
  return program::shared().closed[0].pages * mapped_page / static_cast<std::size_t>(job().nodes) / 16;
}

struct block {
  void* first;
  std::size_t bytes;
};

/// This node's, the oldest first. A handler may interrupt whoever is in it, and so nobody waits long.
class kept_list {
 public:
  /// leave(block) for those that are not kept.
  template <class Leave>
  void keep(const block& one, const Leave& leave) noexcept {
    const std::size_t most = std::min(most_kept_bytes, most_of_one());
    if (one.bytes > most_of_one() || !enter()) return leave(one);
    if (count_ == all_.size()) leave(take_first());
    all_[count_++] = one;
    bytes_ += one.bytes;
    while (count_ > 1 && bytes_ > most) leave(take_first());
    busy_.clear(std::memory_order_release);
  }
  [[nodiscard]] bool take(block& one) noexcept {
    if (!enter()) return false;
    const bool any = count_ != 0;
    if (any) one = take_first();
    busy_.clear(std::memory_order_release);
    return any;
  }

 private:
  [[nodiscard]] bool enter() noexcept {
    constexpr int tries = 1000;
    for (int i = 0; i < tries; ++i) {
      if (!busy_.test_and_set(std::memory_order_acquire)) return true;
    }
    return false;
  }
  block take_first() noexcept {
    const block first = all_[0];
    std::copy(all_.begin() + 1, all_.begin() + count_, all_.begin());
    --count_;
    bytes_ -= first.bytes;
    return first;
  }

  std::atomic_flag busy_{};
  std::array<block, 16> all_{};
  std::size_t count_ = 0, bytes_ = 0;
};
kept_list g_kept;

/// The caller alone has it from now on. False: the program has mapped there meanwhile, or others have it.
bool take_from_program(const block& b) noexcept {
  if (!add_mark(page_mark::leaves, b.first)) return false;
  const bool mine = take_mark(page_mark::begins, b.first);
  void* first = nullptr;
  std::uint64_t bytes = 0;
  int taken = 0;
  if (mine && quire_allocation_around(b.first, &first, &bytes, &taken) == QUIRE_OK && taken != 0 && first == b.first &&
      bytes == b.bytes && are_all(page_mark::unmapped, b.first, b.bytes))
    return true;
  if (mine) set_mark(page_mark::begins, b.first, mapped_page);
  clear_mark(page_mark::leaves, b.first, mapped_page);
  return false;
}

void give_back_block(const block& b) noexcept {
  bool zero = false;
  if (!take_from_program(b)) return;
  if (open_to_give_back(b.first, b.bytes, zero)) (void)quire_free_now(b.first, zero ? 1 : 0);
  clear_mark(page_mark::leaves, b.first, mapped_page);
}

}  // namespace

void keep_block(void* first, std::size_t bytes) noexcept {
  std::array<block, 17> leave;
  std::size_t count = 0;
  g_kept.keep({first, bytes}, [&](const block& b) { leave[count++] = b; });
  for (std::size_t i = 0; i < count; ++i) give_back_block(leave[i]);
}

void* take_kept(std::size_t bytes, std::size_t alignment) noexcept {
  block b{};
  while (bytes > most_kept_bytes && g_kept.take(b)) {
    if (b.bytes != bytes || reinterpret_cast<std::uintptr_t>(b.first) % alignment != 0) {
      give_back_block(b);
    } else if (take_from_program(b)) {
      clear_mark(page_mark::unmapped, b.first, bytes);
      set_mark(page_mark::begins, b.first, mapped_page);
      clear_mark(page_mark::leaves, b.first, mapped_page);
      return b.first;
    }
  }
  return nullptr;
}

bool give_kept_back() noexcept {
  block b{};
  bool any = false;
  for (; g_kept.take(b); any = true) give_back_block(b);
  return any;
}

}  // namespace quire::program
