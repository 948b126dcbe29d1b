// SPDX-License-Identifier: BSD-3-Clause
// Descriptors of types, and the numbers of names. Node 0 gives a name its number, when somebody first uses it, and
// refuses a name that comes back with another layout (registrar, driver's thread). The descriptor itself stands in
// shared memory, where whoever registers a type writes it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/fault_heap.hpp"
#include "gc/shape.hpp"

namespace quire::gc {

inline constexpr std::size_t longest_name = 63;

/// As it stands in shared memory, by number from 1 on.
struct type_record {
  std::array<char, longest_name + 1> name{};
  std::uint32_t ready = 0;  ///< 1: the rest is there
  std::uint32_t bytes = 0;  ///< of an element
  std::uint32_t count = 0;  ///< references in it
  std::array<std::uint32_t, most_references> offsets{};
  std::array<std::uint32_t, 9> unused{};
  [[nodiscard]] std::span<const std::uint32_t> references() const noexcept {
    return {offsets.data(), count < most_references ? count : most_references};
  }
};
static_assert(sizeof(type_record) == 512);

/// What makes two types the same; never 0.
[[nodiscard]] std::uint64_t layout_of(std::uint64_t bytes, std::span<const std::uint32_t> offsets) noexcept;
/// Why no type looks so; null if one may.
[[nodiscard]] const char* why_no_type(std::uint64_t bytes, std::span<const std::uint32_t> offsets) noexcept;

/// What a marker needs of types. Number 0 is none.
class type_table {
 public:
  struct type {
    std::uint64_t bytes = 0;
    std::vector<std::uint32_t> offsets{};
  };
  void set(unsigned number, std::uint64_t bytes, std::span<const std::uint32_t> offsets);
  [[nodiscard]] const type* find(unsigned number) const noexcept {
    return number < all_.size() && all_[number].bytes != 0 ? &all_[number] : nullptr;
  }

 private:
  std::vector<type> all_{};
};

/// As names are kept: the rest is zero.
[[nodiscard]] std::array<char, longest_name + 1> name_record(std::string_view name) noexcept;

/// On node 0, of one heap and of one kind of names. Driver's thread.
class registrar {
 public:
  explicit registrar(unsigned most) noexcept : most_(most) {}
  enum class outcome : std::uint8_t { good, differs, full };
  struct answer {
    outcome what = outcome::good;
    unsigned number = 0;  ///< from 1 on
  };
  /// The number of a name. `beyond`: the caller knows that all numbers up to this one have been given, by a job before
  /// this one.
  [[nodiscard]] answer add(std::string_view name, std::uint64_t layout, unsigned beyond = 0);
  /// The greatest number that has been given.
  [[nodiscard]] unsigned last() const noexcept { return last_; }

 private:
  struct entry {
    unsigned number = 0;
    std::uint64_t layout = 0;
  };
  unsigned most_, last_ = 0;
  base::fault_map<std::array<char, longest_name + 1>, entry> names_{};
};

}  // namespace quire::gc
