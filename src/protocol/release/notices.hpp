// SPDX-License-Identifier: BSD-3-Clause
// Write notices on the wire. A message of notices holds records in the order in which the sender knows them, in at most
// `copied` bytes, so that no buffer outlives the send. Numbers are LEB128. A record:
//
//     flags    origin (1): writer, region and interval follow; else they are those of the record before
//              last (2): the interval of the writer is complete
//              moved (4): not written, but its home moved: the new home and the number of moves follow
//              life (8): with an origin; the region has had its number not as the first: its life follows
//              (region::keeper)
//     [writer, region, interval] [life] [home, moves]
//     first    minus the end of the record before, zigzag
//     count
//
// A unit written somewhere in the middle of nowhere takes three bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/ids.hpp"

namespace quire::release {

using model::node_id;

/// A run of units that `writer` wrote in one of its intervals, or whose home it has become.
struct notice {
  node_id writer{};
  model::region_id region{};
  std::uint32_t interval = 0;
  std::uint64_t first = 0;
  std::uint32_t count = 0;  ///< 0: nothing but `last`
  std::uint16_t moves = 0;  ///< 0: written; else the home moved, for this time
  node_id home{};
  bool last = false;       ///< the last of its interval
  std::uint32_t life = 0;  ///< of the region, on the wire: what a node knows is of regions that it has
  friend bool operator==(const notice&, const notice&) noexcept = default;
};

/// Most units that one record may speak of.
inline constexpr std::uint64_t max_notice_units = std::uint64_t{1} << 31;

class notice_writer {
 public:
  /// `room` outlives the writer; at least 64 bytes.
  explicit notice_writer(std::span<std::byte> room) noexcept : room_(room) {}
  /// False, and nothing is added, if there is no room.
  [[nodiscard]] bool add(const notice& n) noexcept;
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return room_.first(size_); }
  void clear() noexcept {
    size_ = 0;
    before_ = {};
  }

 private:
  std::span<std::byte> room_;
  std::size_t size_ = 0;
  notice before_{};
};

class notice_reader {
 public:
  explicit notice_reader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  /// False at the end, or if the bytes are no record; see ok().
  [[nodiscard]] bool next(notice& n) noexcept;
  [[nodiscard]] bool ok() const noexcept { return ok_; }

 private:
  [[nodiscard]] bool read(std::uint64_t& value, std::uint64_t most) noexcept;
  std::span<const std::byte> bytes_;
  notice before_{};
  bool any_ = false, ok_ = true;
};

}  // namespace quire::release
