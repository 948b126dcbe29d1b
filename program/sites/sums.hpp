// SPDX-License-Identifier: BSD-3-Clause
// Words of a block to which a function only adds, say: each becomes what it was, combined with something that does not
// depend on it, and what it was is used for nothing else. So who calls the function with a copy of the block, in which
// such words begin as nothing (0 of a sum), finds there what it adds, and may combine that with the word later. The
// compiler's function of a parallel region with the clause reduction is of that kind (gcc).
//
// What registers may have of such words is followed along all ways; any other use of them refuses the function. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "program/sites/effects.hpp"

namespace quire::program::sites {

/// By a function that is called.
enum class arguments_taken : std::uint8_t { none, numbers, anything };

/// What is known of a function that is called.
struct known_call {
  arguments_taken takes = arguments_taken::anything;
  enum class lock : std::uint8_t { none, takes, gives } of_atomics = lock::none;  ///< GOMP_atomic_start(), its end
};

/// Of 4 or 8 bytes.
struct summed_word {
  std::uint8_t at = 0;  ///< in the block
  std::uint8_t bytes = 0;
  bool real = false;  ///< a floating-point number; else whole, and wraps
  combining how = combining::add;
  bool operator==(const summed_word&) const = default;
};
struct summed_words {
  static constexpr std::size_t most = 4;
  std::array<summed_word, most> all{};
  std::uint8_t count = 0;
  [[nodiscard]] const summed_word* begin() const noexcept { return all.data(); }
  [[nodiscard]] const summed_word* end() const noexcept { return all.data() + count; }
};

/// What combined with any other leaves that as it is.
void set_to_nothing(const summed_word& w, std::byte* block) noexcept;

/// Bytes from `first` on.
struct byte_range {
  std::int64_t first = 0, bytes = 0;
  [[nodiscard]] bool touches(const byte_range& o) const noexcept {
    return first < o.first + o.bytes && o.first < first + bytes;
  }
};

/// What a register may have of such words.
struct word_value {
  enum class kind : std::uint8_t { other, word, combined, mixed } what = kind::other;
  std::uint8_t at = 0, bytes = 0;  ///< in the block; several numbers side by side
  std::uint8_t lane = 0;           ///< combined: bytes of each number,
  bool real = false;               ///< what they are,
  combining how = combining::add;  ///< and by what
  [[nodiscard]] bool free() const noexcept { return what == kind::other; }
  bool operator==(const word_value&) const = default;
};

/// Of all registers.
class register_values {
 public:
  [[nodiscard]] word_value& operator[](std::uint8_t r) noexcept { return all_[r]; }
  [[nodiscard]] const word_value& operator[](std::uint8_t r) const noexcept { return all_[r]; }
  bool flags = false;      ///< of the processor: they tell what a word has become,
  bool exchanged = false;  ///< or whether an exchange was done, and nothing else
  /// Something goes round a loop that a thread may stay in until others have changed the word: only an exchange that
  /// was not done may.
  [[nodiscard]] bool wait() const noexcept;
  /// What they have of words is in the block: it may not be used any more.
  void spend() noexcept;
  /// True if something has changed: what differs may not be used.
  bool join(const register_values& other) noexcept;
  bool operator==(const register_values&) const = default;

 private:
  std::array<word_value, register_count> all_{};
};

/// What is known of the words of one function.
class word_sums {
 public:
  /// Something is written there; the words that `step` and `call` look at.
  void add_written(byte_range r) { written_.push_back(r); }
  [[nodiscard]] bool any() const noexcept { return !written_.empty(); }
  /// What an instruction does with registers and words. `in_block`: memory[0] is in the block. False: more than add.
  [[nodiscard]] bool step(const effects& e, bool in_block, register_values& values);
  /// A call, or a jump to another function. False: that may see a word, or the function keeps one until others have
  /// changed it: the call may wait for them.
  [[nodiscard]] static bool call(arguments_taken takes, register_values& values) noexcept;
  /// The words; nothing if some of them are used in other ways, too, or if they are too many.
  [[nodiscard]] bool finish(summed_words& into) const;

 private:
  [[nodiscard]] word_value value_of(std::uint8_t at, const effects& e, bool in_block,
                                    const register_values& values) const noexcept;
  [[nodiscard]] bool store(const word_value& v, const effects& e, bool in_block);
  [[nodiscard]] bool perform(const effects& e, bool in_block, register_values& values);
  [[nodiscard]] bool plain(const effects& e, bool in_block, register_values& values);
  [[nodiscard]] bool is_written(byte_range r) const noexcept;

  std::vector<byte_range> written_{}, read_{};
  std::vector<summed_word> found_{};
  bool differ_ = false;
};

}  // namespace quire::program::sites
