// SPDX-License-Identifier: BSD-3-Clause
// Where files lie that one dlopen(3) maps: the node that asks for it chooses, the others do the same. Pure.
#pragma once

#include <cstdint>
#include <cstring>

#include "program/job/loaded_library.hpp"

namespace quire::program {

struct placed_file {
  std::uint64_t name = 0;  ///< of its last part (name_of()); 0: memory that is reserved before a file is mapped there
  std::uint64_t first = 0;
};

class load_plan {
 public:
  static constexpr std::uint32_t most = 2048;
  static constexpr std::uint64_t gap = library_gap;

  /// Behind what was placed before, and far enough for what Quire adds to a library's code. Returns where; 0: no room.
  std::uint64_t place(std::uint64_t name, std::uint64_t bytes, std::uint64_t& next) noexcept {
    if (count_ == most || bytes == 0 || bytes > most_bytes) return 0;
    const std::uint64_t first = (next + gap - 1) / gap * gap;
    files_[count_++] = {name, first};
    next = first + bytes + gap / 2;
    return first;
  }
  /// Where that is on the node that has placed it, also if it is another build there; `taken`, of the caller, keeps
  /// files of one name apart. 0: it is not in the plan.
  [[nodiscard]] std::uint64_t find(std::uint64_t name, bool (&taken)[most]) const noexcept {
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (taken[i] || files_[i].name != name) continue;
      taken[i] = true;
      return files_[i].first;
    }
    return 0;
  }

  [[nodiscard]] static std::uint64_t name_of(const char* path) noexcept {
    const char* const slash = std::strrchr(path, '/');
    std::uint64_t sum = 14695981039346656037u;  // FNV-1a
    for (const char* at = slash != nullptr ? slash + 1 : path; *at != 0; ++at)
      sum = (sum ^ static_cast<unsigned char>(*at)) * 1099511628211u;
    return sum != 0 ? sum : 1;
  }

 private:
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40;
  std::uint32_t count_ = 0;
  placed_file files_[most]{};
};

}  // namespace quire::program
