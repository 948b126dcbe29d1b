// SPDX-License-Identifier: BSD-3-Clause
// Two stores in 80 lines, to show what one takes. `masked` keeps content so that nobody who looks into it can read it:
// each word is mixed with a number that its position gives. `formula` has content that was never written: each word is
// a function of its position, and it takes nothing back.
#pragma once

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>

#include "sim/random.hpp"
#include "store/store.hpp"

namespace quire::toy {

/// What word stands at a position.
inline std::uint64_t number_at(std::uint64_t at) { return sim::mix(at ^ 0x70e); }

template <class F>
void each_word(std::span<std::byte> bytes, std::uint64_t at, F&& f) {
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    word = f(word, at + i);
    std::memcpy(bytes.data() + i, &word, sizeof word);
  }
}

class masked final : public store::store {
 public:
  static constexpr std::size_t page = 4096;
  static inline bool forgets_its_mask = false;  ///< now and then, for a test that must fail
  static inline bool loses = false;             ///< all that it is given, for another

  [[nodiscard]] int fill(std::uint64_t at, std::span<std::byte> into) noexcept override {
    for (std::size_t done = 0; done < into.size(); done += page) {
      const auto found = pages_.find(at + done);
      if (found == pages_.end() || loses) return EIO;
      std::memcpy(into.data() + done, found->second.data(), page);
    }
    each_word(into, at, [](std::uint64_t word, std::uint64_t position) { return word ^ number_at(position); });
    ++filled;
    return 0;
  }
  [[nodiscard]] int flush(std::uint64_t at, std::span<const std::byte> from) noexcept override {
    for (std::size_t done = 0; done < from.size(); done += page) {
      auto& kept = pages_[at + done];
      std::memcpy(kept.data(), from.data() + done, page);
      if (forgets_its_mask && ++flushed % 8 == 0) continue;
      each_word(kept, at + done, [](std::uint64_t word, std::uint64_t position) { return word ^ number_at(position); });
    }
    return 0;
  }
  [[nodiscard]] std::size_t grain() const noexcept override { return page; }
  [[nodiscard]] const char* name() const noexcept override { return "masked store"; }
  [[nodiscard]] const char* where() const noexcept override { return "a test"; }

  static inline std::uint64_t filled = 0, flushed = 0;

 private:
  std::map<std::uint64_t, std::array<std::byte, page>> pages_{};
};

inline constexpr store::row masked_row{
    .id = 1, .name = "masked", .make = [](const store::settings&) -> std::unique_ptr<store::store> {
      return std::make_unique<masked>();
    }};

class formula final : public store::store {
 public:
  [[nodiscard]] int fill(std::uint64_t at, std::span<std::byte> into) noexcept override {
    if (at >= ends_at) return EIO;
    each_word(into, at, [](std::uint64_t, std::uint64_t position) { return number_at(position); });
    return 0;
  }
  [[nodiscard]] int flush(std::uint64_t, std::span<const std::byte>) noexcept override { return EROFS; }
  [[nodiscard]] const char* name() const noexcept override { return "formula"; }
  [[nodiscard]] const char* where() const noexcept override { return "a test"; }

  std::uint64_t ends_at = ~std::uint64_t{0};
};

}  // namespace quire::toy
