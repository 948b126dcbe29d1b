// SPDX-License-Identifier: BSD-3-Clause
// What is found of functions in code of tests: argument_test.cpp and sums_test.cpp have some, which never run.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/sites/argument.hpp"

namespace quire::program::sites {

#define QUIRE_DECLARE(name) extern "C" const std::byte argument_##name[]
QUIRE_DECLARE(nothing);
QUIRE_DECLARE(sine);
QUIRE_DECLARE(lock);
QUIRE_DECLARE(unlock);

struct calls : known_calls {
  [[nodiscard]] known_call find(std::uint64_t at, bool word) const noexcept override {
    const auto is = [at, word](const std::byte* what) { return !word && at == reinterpret_cast<std::uint64_t>(what); };
    if (is(argument_nothing)) return {.takes = arguments_taken::none};
    if (is(argument_sine)) return {.takes = arguments_taken::numbers};
    if (is(argument_lock)) return {.takes = arguments_taken::none, .of_atomics = known_call::lock::takes};
    if (is(argument_unlock)) return {.takes = arguments_taken::none, .of_atomics = known_call::lock::gives};
    return {};
  }
};

class Argument : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    by_ = decoder::open(why);
    if (by_ == nullptr) GTEST_SKIP() << why;
  }
  [[nodiscard]] std::optional<block_use> use(const std::byte* from, const std::byte* to) const {
    return use_of_block(*by_, {from, to}, reinterpret_cast<std::uint64_t>(from), 120, calls{});
  }
  [[nodiscard]] std::optional<std::uint32_t> of(const std::byte* from, const std::byte* to) const {
    const auto found = use(from, to);
    return found && found->sums.count == 0 ? std::optional(found->read) : std::nullopt;
  }
  /// Of its words to which it adds, as `summed_word` has them.
  [[nodiscard]] std::vector<summed_word> sums(const std::byte* from, const std::byte* to) const {
    const auto found = use(from, to);
    return found ? std::vector(found->sums.begin(), found->sums.end()) : std::vector<summed_word>();
  }
  /// It adds to words under the lock of atomics, which is for nothing else.
  [[nodiscard]] bool locks_words(const std::byte* from, const std::byte* to) const {
    const auto found = use(from, to);
    return found && found->sums.count != 0 && found->locks_block_only;
  }
  /// Whatever the bytes are, it ends, and reads nothing beyond them.
  void of_any(const std::byte* first, const std::byte* end) const {
    const auto length = static_cast<std::size_t>(end - first);
    for (std::size_t from = 0; from < length; ++from) {
      for (const std::size_t bytes : {std::size_t{1}, std::size_t{3}, std::size_t{17}, length - from})
        (void)of(first + from, first + std::min(from + bytes, length));
    }
  }
  const decoder* by_ = nullptr;
};

}  // namespace quire::program::sites
