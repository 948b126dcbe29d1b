// SPDX-License-Identifier: BSD-3-Clause
// Words that threads hand on by flags: plain words of a region with sequential consistency that orders
// (core::orders()). A flag names the thread that may use the words, which lie in a region of any consistency; that
// thread reads and writes them, and then names another one. Nothing else keeps them apart: each read must find what was
// written last.
#pragma once

#include <cstdint>

#include "sim/whole/actor.hpp"

namespace quire::whole {

struct turns_options {
  unsigned count = 0;       ///< flags; 0: nothing happens
  std::uint64_t flags = 0;  ///< where they lie
  std::uint64_t base = 0;   ///< of the words
  unsigned pages = 1;       ///< of each
  std::uint64_t page_bytes = 4096;
  unsigned threads = 1;
};

class turns {
 public:
  turns(world& w, const turns_options& options) : world_(w), options_(options) {}
  [[nodiscard]] bool any() const noexcept { return options_.count != 0; }
  /// Thread number `place` looks at a flag, and does its turn if it has it.
  void step(actor& a, unsigned place);
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }

 private:
  static constexpr unsigned words = 6;         ///< of a flag, in each page
  static constexpr unsigned first_word = 256;  ///< of those, behind all others of the region
  [[nodiscard]] std::uint64_t flag(unsigned which) const;
  [[nodiscard]] std::uint64_t word(unsigned which, std::uint64_t page, std::uint64_t number) const;
  [[nodiscard]] std::uint64_t look(actor& a, std::uint64_t at);
  void hand_on(actor& a, std::uint64_t at);

  world& world_;
  turns_options options_;
  std::uint64_t taken_ = 0;
};

}  // namespace quire::whole
