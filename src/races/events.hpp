// SPDX-License-Identifier: BSD-3-Clause
// What a node records of its intervals under release consistency (QUIRE_CHECK=races): which bytes threads here wrote
// in which interval, from which lines of the program, which intervals of other nodes were known then, and what the
// content was before and after. Those of all nodes together tell data races, and whether a node has begun to write on
// content that lacks what it had heard of (checker.hpp).
//
// The file begins with a mark, the node's number and how many there are. Then events, in the order in which they came.
// Numbers are LEB128. A line is 64 bytes of memory, at a multiple of 64.
//
//     written    site, first line (the difference to that of the event before, zigzag), lines; 8 bytes each: a hash of
//                the content before and after; for each 64 lines 8 bytes: those written; for each of them 8 bytes: its
//                bytes written
//     alike      the same, where all these have the same bytes written: 8 bytes, which come before the lines
//     acquired   how many follow; each: a node, and its last interval that this one has heard of, and applied
//     released   a release: what was written since the one before belongs to it
//     interval   an interval of this node has its number; how many releases, from the first on, belong to it and to
//                those before; 0: homes have moved
//     site       the thread's number, and addresses: the instruction, its callers; sites count from 1
//     other      first line, lines: the content changed in a way that is not recorded
//     unseen     site, first line, lines: any of these may have been written, as nobody else had them
//     end        nothing is missing
//
// Pure; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/fault_heap.hpp"

namespace quire::races {

enum class event_kind : std::uint8_t { written = 1, acquired, interval, site, other, end, released, alike, unseen };

inline constexpr std::uint64_t line_bytes = 64;
inline constexpr std::uint64_t most_lines = 4096 / line_bytes + 1;  ///< of one event: a page that begins anywhere

/// The instruction that wrote, and who may have called it, the innermost first; 0: not known.
struct site {
  std::uint64_t thread = 0;
  std::array<std::uint64_t, 4> from{};
  friend bool operator==(const site&, const site&) noexcept = default;
};

/// What was written in one part of memory, a page at most.
struct write_set {
  std::uint64_t first_line = 0;
  std::uint64_t lines = 0;
  std::uint64_t before = 0, after = 0;            ///< hashes of the content
  std::array<std::uint64_t, most_lines> bytes{};  ///< by line, a bit for each byte
  [[nodiscard]] bool any() const noexcept {
    for (std::uint64_t i = 0; i < lines; ++i)
      if (bytes[i] != 0) return true;
    return false;
  }
};

/// Which of `bytes` bytes at `address`, at most a page, differ from what they were.
[[nodiscard]] write_set compare(std::uint64_t address, std::span<const std::byte> now,
                                const std::byte* before) noexcept;

struct event {
  event_kind kind{};           ///< never alike, which is written to who reads
  std::uint64_t number = 0;    ///< of an interval; written, unseen: of a site
  std::uint64_t releases = 0;  ///< of an interval
  write_set written{};         ///< other, unseen: their lines
  races::site at{};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> known{};  ///< by acquired: node, interval
};

struct file_head {
  std::uint64_t node = 0, nodes = 1;
};

[[nodiscard]] std::string file_name(std::uint64_t node);  ///< "quire.NODE.intervals"

/// Makes the bytes of events, at the end of `to`.
class writer {
 public:
  /// `to` outlives the writer.
  explicit writer(base::fault_vector<std::byte>& to) noexcept : to_(to) {}
  void head(const file_head& h);
  void written(std::uint64_t site_number, const write_set& w);
  void acquired(std::span<const std::pair<std::uint64_t, std::uint64_t>> known);
  void released();
  void interval(std::uint64_t number, std::uint64_t releases);
  void add_site(const site& s);
  void other(std::uint64_t first_line, std::uint64_t lines);
  void unseen(std::uint64_t site_number, std::uint64_t first_line, std::uint64_t lines);
  void end();

 private:
  void kind(event_kind k) { to_.push_back(static_cast<std::byte>(k)); }
  void number(std::uint64_t value);
  void word(std::uint64_t value);
  base::fault_vector<std::byte>& to_;
  std::uint64_t line_before_ = 0;
};

/// Reads them back, a piece of the file at a time.
class reader {
 public:
  enum class found : std::uint8_t {
    event,
    more,   ///< more bytes are needed, or the file ends in the middle
    wrong,  ///< it is no such file, or damaged
  };
  /// Bytes that follow those given before.
  void feed(std::span<const std::byte> bytes);
  [[nodiscard]] found head(file_head& h);
  [[nodiscard]] found next(event& e);

 private:
  [[nodiscard]] found body(event& e);
  [[nodiscard]] found written(event& e, bool alike);
  [[nodiscard]] found number(std::uint64_t& value);
  [[nodiscard]] found word(std::uint64_t& value);
  std::vector<std::byte> bytes_{};
  std::size_t at_ = 0;
  std::uint64_t line_before_ = 0;
};

}  // namespace quire::races
