// SPDX-License-Identifier: BSD-3-Clause
// Which containers there are, as node 0 knows it: names, which thread makes, removes or renames one, how often each is
// open on which node. Pure; in processes the driver of node 0 has it. A container that is unlinked while it is open has
// no name, and goes when its last opening ends. Where a job goes on without nodes that are lost, each other node notes
// which containers have been made, and nothing is unlinked or renamed: whoever comes after node 0 has their names.
// name_table.cpp.
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
    found,  ///< open: it is there, and open once more. take_away: it goes, as far as the table is concerned
    make,   ///< the caller makes it
    wait,   ///< somebody makes, removes or renames it: ask again when something has changed
    none,
    exists,
    busy,  ///< somebody has it open
    full,
  };
  struct answer {
    outcome what = outcome::none;
    std::uint16_t number = 0;    ///< of the container, from 1 on
    std::uint16_t replaced = 0;  ///< rename: of the one that had the name
  };

  /// A thread of `node` opens. `alone`: nobody makes one while another one is being made.
  [[nodiscard]] answer open(std::string_view name, bool create, bool exclusive, bool alone, unsigned node = 0);
  /// It is there, and open once.
  void made(std::uint16_t number) noexcept;
  /// It could not be made.
  void failed(std::uint16_t number) noexcept { forget(number); }
  /// True: that was the last opening of one without a name, which goes now: the caller removes it, and says gone() or
  /// stays().
  [[nodiscard]] bool closed(std::uint16_t number, unsigned node = 0) noexcept;
  /// Which one has the name now. found or none. Also on a node that has noted it.
  [[nodiscard]] answer look_up(std::string_view name) const noexcept;
  /// The name goes, at once; the container is open once more, for the caller, who makes the change known and then says
  /// settled().
  [[nodiscard]] answer unlink(std::string_view name, unsigned node = 0);
  /// From here on `from` is `to`, whose container loses the name as by unlink(). `exclusive`: exists, if there is one.
  /// The caller makes the changes known, and then says settled() of both. A name that it has already stays, and the
  /// number is 0.
  [[nodiscard]] answer rename(std::string_view from, std::string_view to, bool exclusive, unsigned node = 0);
  /// All nodes can see what unlink() or rename() has changed of this one. As closed(), if it has no name.
  [[nodiscard]] bool settled(std::uint16_t number, unsigned node = 0) noexcept;
  /// Whether closed() would be true.
  [[nodiscard]] bool goes_when_closed(std::uint16_t number) noexcept;
  [[nodiscard]] answer take_away(std::string_view name, unsigned node = 0) noexcept;
  /// It could not be removed.
  void stays(std::uint16_t number) noexcept;
  void gone(std::uint16_t number) noexcept { forget(number); }

  /// The node is lost, and the others go on: what it had open is closed. What it was making or removing is none any
  /// more, and nobody knows what there is of it: its number is not used again.
  void lost(unsigned node) noexcept;
  /// Not on node 0: there is this one, which some node has made; and it is going, or has gone. Nobody counts there who
  /// has opened it.
  void note(std::string_view name, std::uint16_t number);
  void unnote(std::uint16_t number) noexcept;

  /// At a restart, of a table that is empty: it is there, and nobody has it open. From the smallest number on. Without
  /// a name: it is open once.
  void load(std::string_view name, std::uint16_t number);
  // What a node may say of a number: false where it has nothing to do with it, or there is none.
  [[nodiscard]] bool is_making(std::uint16_t number, unsigned node) const noexcept;
  [[nodiscard]] bool is_going(std::uint16_t number, unsigned node) const noexcept;
  [[nodiscard]] bool is_open(std::uint16_t number, unsigned node) const noexcept;
  [[nodiscard]] bool is_unsettled(std::uint16_t number, unsigned node) const noexcept;
  /// Somebody makes, removes or renames one.
  [[nodiscard]] bool is_changing() const noexcept;
  /// No container has a larger number, or ever had.
  [[nodiscard]] std::uint16_t last() const noexcept { return static_cast<std::uint16_t>(entries_.size()); }
  [[nodiscard]] std::size_t count() const noexcept { return names_.size(); }

 private:
  enum class state : std::uint8_t { none, making, there, going, lost };
  using key = std::array<char, longest_name + 1>;  ///< the rest is zero
  struct entry {
    state is = state::none;
    bool named = false;      ///< names_ has it
    bool unsettled = false;  ///< there, and its name has changed
    key name{};
    std::uint32_t open = 0;
    std::uint32_t by = 0;  ///< the node that makes or removes it
  };
  [[nodiscard]] static constexpr std::uint32_t opener(std::uint16_t number, unsigned node) noexcept {
    return std::uint32_t{number} << 16 | node;
  }
  [[nodiscard]] static key key_of(std::string_view name) noexcept;
  [[nodiscard]] entry& at(std::uint16_t number) noexcept;
  [[nodiscard]] bool is(std::uint16_t number, state what) const noexcept {
    return number != 0 && number <= entries_.size() && entries_[number - 1u].is == what;
  }
  [[nodiscard]] static bool goes(const entry& e) noexcept { return !e.named && !e.unsettled && e.open == 0; }
  void take_name(std::uint16_t number, unsigned node);
  void forget(std::uint16_t number) noexcept;

  base::fault_map<key, std::uint16_t> names_{};
  base::fault_vector<entry> entries_{};  ///< [number - 1]
  base::fault_vector<std::uint16_t> free_{};
  base::fault_map<std::uint32_t, std::uint32_t> openers_{};  ///< how often each node has each one open, where it has
  unsigned making_ = 0;
};

}  // namespace quire::container
