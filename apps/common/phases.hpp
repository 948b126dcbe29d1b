// SPDX-License-Identifier: BSD-3-Clause
// The phases of a program on Quire: between two of its meetings every worker writes what is its own, and reads what was
// written before. Ordinary barriers separate them, or, with --consistency blocks, the ends of parallel blocks on the
// arrays that they write (KOAN): within a block every node has copies of its own, which are merged at its end.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include <quire/quire.hpp>

#include "common/settings.hpp"

namespace apps {

/// An array of any type, for phases.
struct phased_array {
  template <class T>
  phased_array(std::span<T> array) : begin(array.data()) {}
  const void* begin;
};

class phases {
 public:
  /// `arrays`: each in a region of its own. Those of which other nodes read what a node wrote, or that share pages with
  /// theirs.
  phases(const run_settings& wanted, std::initializer_list<phased_array> arrays) {
    if (wanted.consistency != "blocks") return;
    for (const auto& array : arrays) regions_.push_back(quire::region::of(array.begin));
  }
  /// Whether they are parallel blocks.
  [[nodiscard]] bool are_blocks() const { return !regions_.empty(); }
  /// Ends a block and begins the next: a barrier. One thread of each node calls.
  void next_block() {
    end();
    for (const quire::region& r : regions_) r.begin_block();
    began_ = true;
  }
  /// Ends the last one. The same.
  void end() {
    if (!began_) return;
    for (const quire::region& r : regions_) (void)r.end_block();
    began_ = false;
  }

 private:
  std::vector<quire::region> regions_;
  bool began_ = false;
};

}  // namespace apps
