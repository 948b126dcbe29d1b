// SPDX-License-Identifier: BSD-3-Clause
// Node 0's books of mapped files: containers, and which parts of them the program has mapped. No locks: files.cpp.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>

#include "program/posix/mapped/content.hpp"

namespace quire::program::mapped {

struct range {
  std::uint64_t first = 0, end = 0;
  [[nodiscard]] bool has(std::uint64_t at) const noexcept { return at >= first && at < end; }
};

/// A container: a file, or a private mapping of one.
struct mapped_file {
  std::uint64_t opening = 0;  ///< quire_container; 0: the place is free
  std::uint64_t number = 0;   ///< of all that were made, for its name
  range all{};                ///< its addresses
  dev_t device = 0;           ///< and `inode`: of a shared one
  ino_t inode = 0;
  std::uint32_t pieces = 0;
};

/// A part that the program has mapped; two may be of the same pages.
struct piece {
  range at{};  ///< empty: the place is free
  std::uint32_t file = 0;
  bool may_write = false;
};

class table {
 public:
  static constexpr std::uint32_t most_files = 1024, most_pieces = 4096, none = UINT32_MAX;

  mapped_file files[most_files];
  source sources[most_files];  ///< of each

  [[nodiscard]] std::uint32_t free_file() const noexcept {
    const auto* const found =
        std::find_if(files, files + most_files, [](const mapped_file& f) { return f.opening == 0; });
    return found == files + most_files ? none : static_cast<std::uint32_t>(found - files);
  }
  /// One whose window goes to `end` of the file at least.
  [[nodiscard]] std::uint32_t shared_file(dev_t device, ino_t inode, std::uint64_t end) const noexcept {
    for (std::uint32_t i = 0; i < most_files; ++i) {
      if (files[i].opening != 0 && sources[i].is_shared && files[i].device == device && files[i].inode == inode &&
          sources[i].bytes >= end)
        return i;
    }
    return none;
  }

  /// False: there is no place for one more.
  [[nodiscard]] bool add(range at, std::uint32_t file, bool may_write) noexcept {
    for (std::uint32_t i = 0; i < most_pieces; ++i) {
      if (pieces_[i].at.end != 0) continue;
      pieces_[i] = {at, file, may_write};
      used_ = std::max(used_, i + 1);
      ++files[file].pieces;
      return true;
    }
    return false;
  }
  /// The piece that has an address; null if there is none.
  [[nodiscard]] piece* find(std::uint64_t at) noexcept {
    auto* const found = std::find_if(pieces_, pieces_ + used_, [at](const piece& p) { return p.at.has(at); });
    return found == pieces_ + used_ ? nullptr : found;
  }
  /// Takes what a piece has before `end` from `at` on away. False, and nothing has changed: there is no place for what
  /// stays behind it.
  [[nodiscard]] bool cut(piece& p, std::uint64_t at, std::uint64_t end) noexcept {
    const range behind{end, p.at.end};
    if (at > p.at.first && end < p.at.end && !add(behind, p.file, p.may_write)) return false;
    if (at > p.at.first) {
      p.at.end = at;
    } else if (end < p.at.end) {
      p.at.first = end;
    } else {
      --files[p.file].pieces;
      p = {};
    }
    return true;
  }

 private:
  piece pieces_[most_pieces];
  std::uint32_t used_ = 0;  ///< places from here on are free
};

}  // namespace quire::program::mapped
