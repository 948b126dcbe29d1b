// SPDX-License-Identifier: BSD-3-Clause
// What a node knows of a unit while its region changes from one protocol to another, and nothing of it is on its way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "model/copyset.hpp"
#include "model/ids.hpp"

namespace quire::model {

struct handover {
  access right = access::none;   ///< write: the content is here, and nowhere else; read: here as well
  access mapped = access::none;  ///< what the application view permits; never more than `right`
  bool written = false;          ///< the content may differ from zero
  bool manages = false;          ///< `owner` and `copies` are known here
  node_id owner{};               ///< the node that has the content for certain
  bool keeps = false;            ///< this node is the owner
  bool by_directory = false;     ///< the machine that takes has the same directory: copies stay, and nobody is told
  copyset copies{};              ///< nodes whose copies are as good as the owner's, itself included
  friend bool operator==(const handover&, const handover&) noexcept = default;
};

/// The units of a table that have been used: all of them lie within.
class used_units {
 public:
  void add(std::uint64_t unit) noexcept {
    first_ = std::min(first_, unit);
    end_ = std::max(end_, unit + 1);
  }
  void clear() noexcept { *this = {}; }
  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }

 private:
  std::uint64_t first_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t end_ = 0;
};

}  // namespace quire::model
