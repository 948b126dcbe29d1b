// SPDX-License-Identifier: BSD-3-Clause
// Words that threads read and write without a word of synchronisation. A thread that reads one finds a value that
// somebody has written there, whole.
//
//   owned   has one writer, which counts: what a thread reads does not go back, where content is not read late, and at
//           the end, behind a barrier, all find the last value
//   common  is written by anybody; all bytes of a value are alike, so that a mixture of two shows
//
// Under sequential consistency each read finds what was written last, as for all words.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <string>

#include "sim/whole/actor.hpp"

namespace quire::whole {

struct races_options {
  std::uint64_t base = 0;
  unsigned pages = 1;
  std::uint64_t page_bytes = 4096;
  unsigned threads = 1;     ///< the first of them have words of their own
  bool in_order = true;     ///< no owned word goes back
  bool sequential = false;  ///< the region's consistency
};

class races {
 public:
  races(world& w, const races_options& options) : world_(w), options_(options) {}
  /// Some accesses of thread number `place`; it writes if it may.
  void step(actor& a, unsigned place, bool may_write);
  /// Behind a barrier: all common words.
  void look_at_all(actor& a);
  /// Whether anybody may write a word of the region.
  [[nodiscard]] bool is_common(std::uint64_t address) const noexcept {
    return (address - options_.base) % options_.page_bytes / sizeof(std::uint64_t) < common_words;
  }
  [[nodiscard]] std::uint64_t reads_of_others() const noexcept { return reads_of_others_; }

 private:
  static constexpr unsigned owned_words = 2, common_words = 3, most_writers = 100;
  [[nodiscard]] unsigned writers() const noexcept {
    return options_.threads < most_writers ? options_.threads : most_writers;
  }
  [[nodiscard]] std::uint64_t owned(unsigned writer, unsigned which) const;
  [[nodiscard]] std::uint64_t common(unsigned page, unsigned which) const;
  void read_owned(actor& a, unsigned place, unsigned writer, unsigned which);
  void read_common(actor& a, std::uint64_t address);
  void fail(const actor& a, const char* why, std::uint64_t found, std::uint64_t address);

  world& world_;
  races_options options_;
  std::map<std::pair<unsigned, std::uint64_t>, std::uint64_t> seen_{};  ///< by thread and word
  std::map<std::uint64_t, std::bitset<256>> written_{};                 ///< of a common word: bytes
  std::uint64_t reads_of_others_ = 0;
};

}  // namespace quire::whole
