// SPDX-License-Identifier: BSD-3-Clause
// A bit for each granule, zero at first. Costs no memory where nothing was set. Not for several threads.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace quire::gc {

class bitmap {
 public:
  bitmap() = default;
  explicit bitmap(std::uint64_t bits)
      : bits_(bits), words_(static_cast<std::uint64_t*>(std::calloc(bits / 64 + 2, sizeof(std::uint64_t)))) {
    if (words_ == nullptr) throw std::bad_alloc();
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return bits_; }
  [[nodiscard]] bool test(std::uint64_t bit) const noexcept { return (words_[bit / 64] >> bit % 64 & 1) != 0; }
  /// Whether it was set before.
  bool test_and_set(std::uint64_t bit) noexcept {
    std::uint64_t& word = words_[bit / 64];
    const std::uint64_t mask = std::uint64_t{1} << bit % 64;
    const bool was = (word & mask) != 0;
    word |= mask;
    return was;
  }
  void fill(std::uint64_t first, std::uint64_t count) noexcept {
    for_each_word(first, count, [](std::uint64_t& word, std::uint64_t mask) { word |= mask; });
  }
  void clear(std::uint64_t first, std::uint64_t count) noexcept {
    for_each_word(first, count, [](std::uint64_t& word, std::uint64_t mask) { word &= ~mask; });
  }
  [[nodiscard]] std::uint64_t count(std::uint64_t first, std::uint64_t count) const noexcept {
    std::uint64_t all = 0;
    for_each_word(first, count, [&](const std::uint64_t& word, std::uint64_t mask) {
      all += static_cast<unsigned>(std::popcount(word & mask));
    });
    return all;
  }
  /// The first one from `from` on that is set, or not; `end` if there is none before.
  [[nodiscard]] std::uint64_t next_set(std::uint64_t from, std::uint64_t end) const noexcept {
    return next(from, end, 0);
  }
  [[nodiscard]] std::uint64_t next_clear(std::uint64_t from, std::uint64_t end) const noexcept {
    return next(from, end, ~std::uint64_t{0});
  }
  /// Calls f(first, count) for each run of bits that are set.
  template <class F>
  void for_each_run(std::uint64_t first, std::uint64_t end, F&& f) const {
    for (std::uint64_t at = next_set(first, end); at < end;) {
      const std::uint64_t behind = next_clear(at, end);
      f(at, behind - at);
      at = next_set(behind, end);
    }
  }

 private:
  template <class F>
  void for_each_word(std::uint64_t first, std::uint64_t count, F&& f) const noexcept {
    for (const std::uint64_t end = first + count; first < end;) {
      const std::uint64_t behind = std::min(end, (first / 64 + 1) * 64), n = behind - first;
      const std::uint64_t mask = (n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1) << first % 64;
      f(words_[first / 64], mask);
      first = behind;
    }
  }
  [[nodiscard]] std::uint64_t next(std::uint64_t from, std::uint64_t end, std::uint64_t flip) const noexcept {
    while (from < end) {
      const std::uint64_t word = (words_[from / 64] ^ flip) >> from % 64;
      if (word != 0) return std::min(from + static_cast<unsigned>(std::countr_zero(word)), end);
      from = (from / 64 + 1) * 64;
    }
    return end;
  }

  struct freed {
    void operator()(std::uint64_t* at) const noexcept { std::free(at); }
  };
  std::uint64_t bits_ = 0;
  std::unique_ptr<std::uint64_t[], freed> words_{};
};

}  // namespace quire::gc
