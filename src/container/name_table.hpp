// SPDX-License-Identifier: BSD-3-Clause
// Which containers there are, as node 0 knows it: names, which thread makes or removes one, how often each is open. Pure; in processes the driver of
// node 0 has it. name_table.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/fault_heap.hpp"

namespace quire::container {

inline constexpr std::size_t longest_name = 63;
inline constexpr std::uint16_t most_containers = 4095;

class name_table {
 public:
  enum class outcome : std::uint8_t {
    found,   ///< open: it is there, and open once more. take_away: it goes, as far as the table is concerned
    make,    ///< the caller makes it
    wait,    ///< somebody makes or removes it: ask again when something has changed
    none,
    exists,
    busy,    ///< somebody has it open
    full,
  };
  struct answer {
    outcome what = outcome::none;
    std::uint16_t number = 0;  ///< of the container, from 1 on
  };

  /// Who opens. `alone`: nobody makes one while another one is being made.
  [[nodiscard]] answer open(std::string_view name, bool create, bool exclusive, bool alone);
  /// It is there, and open once.
  void made(std::uint16_t number) noexcept;
  /// It could not be made.
  void failed(std::uint16_t number) noexcept { forget(number); }
  void closed(std::uint16_t number) noexcept;
  [[nodiscard]] answer take_away(std::string_view name) noexcept;
  /// It could not be removed.
  void stays(std::uint16_t number) noexcept;
  void gone(std::uint16_t number) noexcept { forget(number); }

  /// At a restart, of a table that is empty: it is there, and nobody has it open. From the smallest number on.
  void load(std::string_view name, std::uint16_t number);
  /// Somebody makes or removes one.
  [[nodiscard]] bool is_changing() const noexcept;
  /// No container has a larger number, or ever had.
  [[nodiscard]] std::uint16_t last() const noexcept { return static_cast<std::uint16_t>(entries_.size()); }
  [[nodiscard]] std::size_t count() const noexcept { return names_.size(); }

 private:
  enum class state : std::uint8_t { none, making, there, going };
  using key = std::array<char, longest_name + 1>;  ///< the rest is zero
  struct entry {
    state is = state::none;
    key name{};
    std::uint32_t open = 0;
  };
  [[nodiscard]] static key key_of(std::string_view name) noexcept;
  [[nodiscard]] entry& at(std::uint16_t number) noexcept;
  void forget(std::uint16_t number) noexcept;

  base::fault_map<key, std::uint16_t> names_{};
  base::fault_vector<entry> entries_{};  ///< [number - 1]
  base::fault_vector<std::uint16_t> free_{};
  unsigned making_ = 0;
};

}  // namespace quire::container
