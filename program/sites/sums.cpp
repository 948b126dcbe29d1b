// SPDX-License-Identifier: BSD-3-Clause
#include "program/sites/sums.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace quire::program::sites {
namespace {

constexpr std::uint8_t vector_arguments = 8, general_registers = 16;
constexpr reg_set arguments_of_calls =
    only(rdi) | only(rsi) | only(rdx) | only(rcx) | only(r8) | only(r9) | only(r10) | only(rax);
constexpr reg_set lost_by_calls = arguments_of_calls | only(r11), kept_by_calls = static_cast<reg_set>(~lost_by_calls);
constexpr std::uint8_t scalar_bytes = 8;

template <class T>
void put(std::byte* at, T value) noexcept {
  std::memcpy(at, &value, sizeof value);
}

template <class T>
T real_nothing(combining how) noexcept {
  switch (how) {
    case combining::multiply:
      return 1;
    case combining::least:
      return std::numeric_limits<T>::infinity();
    case combining::greatest:
      return -std::numeric_limits<T>::infinity();
    default:
      return -T{0};  // 0 added to -0 would be 0
  }
}

byte_range range_of(const memory_use& m) noexcept { return {m.displacement, m.bytes}; }

bool uses_in_addresses(const effects& e, const register_values& values) noexcept {
  const auto has = [&](std::uint8_t r) { return r < general_registers && !values[r].free(); };
  return std::any_of(e.memory.begin(), e.memory.begin() + e.uses,
                     [&](const memory_use& m) { return has(m.base) || has(m.index); });
}

/// What registers have of words is not among these.
bool are_free(std::uint32_t set, std::uint8_t first, const register_values& values) noexcept {
  for (std::uint8_t i = 0; i < general_registers; ++i) {
    if ((set >> i & 1u) != 0 && !values[static_cast<std::uint8_t>(first + i)].free()) return false;
  }
  return true;
}

}  // namespace

void set_to_nothing(const summed_word& w, std::byte* block) noexcept {
  std::byte* const at = block + w.at;
  if (w.real) return w.bytes == 8 ? put(at, real_nothing<double>(w.how)) : put(at, real_nothing<float>(w.how));
  const std::uint64_t nothing = w.how == combining::multiply ? 1 : 0;
  w.bytes == 8 ? put(at, nothing) : put(at, static_cast<std::uint32_t>(nothing));
}

bool register_values::wait() const noexcept {
  return !exchanged && std::any_of(all_.begin(), all_.end(), [](const word_value& v) {
    return v.what == word_value::kind::word || v.what == word_value::kind::combined;
  });
}

void register_values::spend() noexcept {
  exchanged = false;
  for (word_value& v : all_)
    if (!v.free()) v = {word_value::kind::mixed};
}

bool register_values::join(const register_values& other) noexcept {
  bool changed = (other.flags && !flags) || (exchanged && !other.exchanged);
  flags = flags || other.flags;
  exchanged = exchanged && other.exchanged;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (all_[i] == other.all_[i] || all_[i].what == word_value::kind::mixed) continue;
    all_[i] = {word_value::kind::mixed};
    changed = true;
  }
  return changed;
}

bool word_sums::is_written(byte_range r) const noexcept {
  return std::any_of(written_.begin(), written_.end(), [&](const byte_range& w) { return w.touches(r); });
}

word_value word_sums::value_of(std::uint8_t at, const effects& e, bool in_block,
                               const register_values& values) const noexcept {
  if (at < register_count) return values[at];
  if (at != in_memory || !in_block || !is_written(range_of(e.memory[0]))) return {};
  return {word_value::kind::word, static_cast<std::uint8_t>(e.memory[0].displacement), e.step.bytes};
}

/// Into memory: what a word has become, where it is.
bool word_sums::store(const word_value& v, const effects& e, bool in_block) {
  const memory_use& m = e.memory[0];
  if (!in_block) return v.free();
  if (v.what != word_value::kind::combined || v.at != m.displacement || v.bytes != m.bytes || v.bytes != e.step.bytes)
    return false;
  for (unsigned at = 0; at < v.bytes; at += v.lane) {
    const summed_word w{static_cast<std::uint8_t>(v.at + at), v.lane, v.real, v.how};
    const auto same = std::find_if(found_.begin(), found_.end(), [&](const summed_word& o) {
      return byte_range{o.at, o.bytes}.touches({w.at, w.bytes});
    });
    if (same == found_.end()) {
      found_.push_back(w);
    } else if (*same != w) {
      differ_ = true;
    }
  }
  return true;
}

/// An instruction that knows nothing of words must not see any.
bool word_sums::plain(const effects& e, bool in_block, register_values& values) {
  if (!are_free(e.reads, 0, values) || !are_free(e.vector_reads, general_registers, values)) return false;
  if (in_block && e.memory[0].writes) return false;
  if (in_block && e.memory[0].reads) read_.push_back(range_of(e.memory[0]));
  for (std::uint8_t i = 0; i < general_registers; ++i) {
    if ((e.replaces >> i & 1u) != 0) values[i] = {};
    word_value& v = values[static_cast<std::uint8_t>(general_registers + i)];
    if ((e.vector_replaces >> i & 1u) != 0)  // perhaps not all of it
      v = v.free() || v.bytes <= scalar_bytes || e.clears ? word_value{} : word_value{word_value::kind::mixed};
  }
  return true;
}

bool word_sums::step(const effects& e, bool in_block, register_values& values) {
  if (uses_in_addresses(e, values) || (values.flags && e.tests_flags)) return false;
  if (e.sets_flags) values.flags = values.exchanged = false;
  return perform(e, in_block, values);
}

bool word_sums::perform(const effects& e, bool in_block, register_values& values) {
  using enum value_step::kind;
  const value_step& a = e.step;
  if (a.what == nothing || e.uses > 1) return plain(e, in_block, values);
  const word_value left = value_of(a.left, e, in_block, values), right = value_of(a.right, e, in_block, values);
  if (a.what == exchange) {
    const word_value expected = values[rax];
    if (!in_block) return expected.free() && right.free() ? plain(e, in_block, values) : false;
    const bool is_word = expected.what == word_value::kind::word && expected.at == e.memory[0].displacement &&
                         expected.bytes == e.memory[0].bytes;
    values.exchanged = is_word;  // %rax has the word then, or had it before
    return is_word && store(right, e, in_block);
  }
  word_value result = right;
  if (a.what == combine) {
    const word_value& from = left.free() ? right : left;
    if (!left.free() && (!right.free() || from.bytes != a.bytes)) return false;
    if (left.free() && !right.free() && (a.ordered || from.bytes != a.bytes)) return false;
    if (from.what == word_value::kind::mixed) return false;
    const bool again = from.what == word_value::kind::combined;
    if (again && (from.how != a.how || from.real != a.real || from.lane != a.lane)) return false;
    if (!from.free() && !a.real) values.flags = true;
    result =
        from.free() ? word_value{} : word_value{word_value::kind::combined, from.at, from.bytes, a.lane, a.real, a.how};
  } else if (!result.free()) {
    const bool whole =
        a.to < register_count && a.right < register_count ? result.bytes <= a.bytes : result.bytes == a.bytes;
    if (result.what == word_value::kind::mixed || !whole) return false;
  }
  if (a.to == in_memory) {
    if (a.right < register_count && !values[a.right].free()) values[a.right] = {word_value::kind::mixed};
    return store(result, e, in_block);
  }
  if (in_block && result.free()) read_.push_back(range_of(e.memory[0]));
  word_value& to = values[a.to];
  to = a.merges && !to.free() ? word_value{word_value::kind::mixed} : result;
  return true;
}

bool word_sums::call(arguments_taken takes, register_values& values) noexcept {
  constexpr std::uint32_t vectors = (1u << vector_arguments) - 1u;
  if (!are_free(kept_by_calls, 0, values)) return false;  // others may change the word meanwhile
  if (takes == arguments_taken::anything && !are_free(arguments_of_calls, 0, values)) return false;
  if (takes != arguments_taken::none && !are_free(vectors, general_registers, values)) return false;
  for (std::uint8_t i = 0; i < general_registers; ++i) {
    if ((lost_by_calls >> i & 1u) != 0) values[i] = {};
    values[static_cast<std::uint8_t>(general_registers + i)] = {};
  }
  return true;
}

bool word_sums::finish(summed_words& into) const {
  if (differ_ || found_.empty() || found_.size() > summed_words::most) return false;
  for (const summed_word& w : found_) {
    const byte_range r{w.at, w.bytes};
    if (std::any_of(read_.begin(), read_.end(), [&](const byte_range& o) { return o.touches(r); })) return false;
  }
  std::copy(found_.begin(), found_.end(), into.all.begin());
  into.count = static_cast<std::uint8_t>(found_.size());
  return true;
}

}  // namespace quire::program::sites
