// SPDX-License-Identifier: BSD-3-Clause
// Which containers there are, as node 0 knows it: names, who makes or removes one, how often each is open on which node. Pure; in processes the driver of
// node 0 has it. Where a job goes on without nodes that are lost, each other node notes which containers have been made: whoever comes after node 0 has their
// names. name_table.cpp.
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

  /// A thread of `node` opens. `alone`: nobody makes one while another one is being made.
  [[nodiscard]] answer open(std::string_view name, bool create, bool exclusive, bool alone, unsigned node = 0);
  /// It is there, and open once.
  void made(std::uint16_t number) noexcept;
  /// It could not be made.
  void failed(std::uint16_t number) noexcept { forget(number); }
  void closed(std::uint16_t number, unsigned node = 0) noexcept;
  [[nodiscard]] answer take_away(std::string_view name, unsigned node = 0) noexcept;
  /// It could not be removed.
  void stays(std::uint16_t number) noexcept;
  void gone(std::uint16_t number) noexcept { forget(number); }

  /// The node is lost, and the others go on: what it had open is closed. What it was making or removing is none any more, and nobody knows what there is of
  /// it: its number is not used again.
  void lost(unsigned node) noexcept;
  /// Not on node 0: there is this one, which some node has made; and it is going, or has gone.
  void note(std::string_view name, std::uint16_t number);
  void unnote(std::uint16_t number) noexcept;
  /// Node 0 is lost, and this node answers for it. Nobody counts who has opened what before.
  [[nodiscard]] answer find(std::string_view name) const noexcept;

  /// At a restart, of a table that is empty: it is there, and nobody has it open. From the smallest number on.
  void load(std::string_view name, std::uint16_t number);
  /// Somebody makes or removes one.
  [[nodiscard]] bool is_changing() const noexcept;
  /// No container has a larger number, or ever had.
  [[nodiscard]] std::uint16_t last() const noexcept { return static_cast<std::uint16_t>(entries_.size()); }
  [[nodiscard]] std::size_t count() const noexcept { return names_.size(); }

 private:
  enum class state : std::uint8_t { none, making, there, going, lost };
  using key = std::array<char, longest_name + 1>;  ///< the rest is zero
  struct entry {
    state is = state::none;
    key name{};
    std::uint32_t open = 0;
    std::uint32_t by = 0;  ///< the node that makes or removes it
  };
  [[nodiscard]] static constexpr std::uint32_t opener(std::uint16_t number, unsigned node) noexcept { return std::uint32_t{number} << 16 | node; }
  [[nodiscard]] static key key_of(std::string_view name) noexcept;
  [[nodiscard]] entry& at(std::uint16_t number) noexcept;
  void forget(std::uint16_t number) noexcept;

  base::fault_map<key, std::uint16_t> names_{};
  base::fault_vector<entry> entries_{};  ///< [number - 1]
  base::fault_vector<std::uint16_t> free_{};
  base::fault_map<std::uint32_t, std::uint32_t> openers_{};  ///< how often each node has each one open, where it has
  unsigned making_ = 0;
};

}  // namespace quire::container
