// SPDX-License-Identifier: BSD-3-Clause
// The units written in the open interval of a node: what its next release has to tell; and what else the machines of
// all its regions share.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/fault_heap.hpp"
#include "directory/pins.hpp"
#include "model/ids.hpp"

namespace quire::release {

using model::node_id;

struct written_unit {
  model::region_id region{};
  std::uint64_t unit = 0;
  friend auto operator<=>(const written_unit& a, const written_unit& b) noexcept {
    return a.region.value() != b.region.value() ? a.region.value() <=> b.region.value() : a.unit <=> b.unit;
  }
  friend bool operator==(const written_unit&, const written_unit&) noexcept = default;
};

/// A unit whose threads may go on writing it from interval to interval (kept.cpp).
struct kept_unit {
  written_unit what{};
  std::uint32_t idle = 0;  ///< releases in a row at which it had not been written
  bool ends = false;       ///< at this release
};

/// A unit that one node alone has written, again and again, and which has its home elsewhere.
struct lone_unit {
  written_unit what{};
  node_id writer{};
};

/// The units that got a twin last because a thread writes them. They keep it, however few twins there may be: an
/// instruction may write two units, and goes on only when it may write both. Where a thread may need all units of a
/// page at a time, they count as one: the first of them is named.
class newest_twins {
 public:
  static constexpr std::size_t most = 4;

  /// How many there are; most, unless the simulator says less.
  void keep(std::size_t count) noexcept { count_ = count; }
  void add(const written_unit& u) noexcept {
    std::size_t i = 0;
    while (i + 1 < count_ && items_[i].used && items_[i].unit != u) ++i;
    if (count_ == 0) return;
    for (; i != 0; --i) items_[i] = items_[i - 1];
    items_[0] = {u, true};
  }
  void forget(model::region_id region) noexcept {
    const auto end =
        std::remove_if(items_.begin(), items_.end(), [region](const item& i) { return i.unit.region == region; });
    std::fill(end, items_.end(), item{});
  }
  [[nodiscard]] bool contains(const written_unit& u) const noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
      if (items_[i].used && items_[i].unit == u) return true;
    }
    return false;
  }
  /// f(unit) for each.
  template <class F>
  void for_each(F&& f) const noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
      if (items_[i].used) f(items_[i].unit);
    }
  }

 private:
  struct item {
    written_unit unit{};
    bool used = false;
  };
  std::array<item, most> items_{};  ///< the last one first
  std::size_t count_ = most;
};

struct interval {
  base::fault_vector<lone_unit> lone{};  ///< of the diffs that have just come
  base::fault_vector<written_unit> written{};
  base::fault_vector<written_unit> came{};    ///< units whose home has come here: nobody else has been told yet
  base::fault_vector<written_unit> merged{};  ///< units whose partners may be sent the content of both (update.cpp)
  base::fault_vector<kept_unit> kept{};       ///< a few; some of them perhaps not any more
  bool keeps_none = false;                    ///< a release ends them all: none begins now
  base::fault_vector<std::uint32_t>
      unacknowledged{};        ///< by node: diffs that were sent there, and are not known to be in their homes' content
  std::uint16_t releases = 0;  ///< of threads here, whatever they had to tell; begins again after the last number
  std::uint8_t epochs = 0;     ///< that have ended, by barriers; begins again after the last number
  std::uint32_t told = 0;  ///< number of this node's last interval whose notices exist: all homes have what it wrote
  directory::pin_table* pins = nullptr;  ///< what threads of this node have pinned, or wait to pin; null: none may
  std::uint64_t twins = 0;               ///< pages of the twins that exist on this node
  bool content_leaves =
      false;  ///< what this node has sent of units may still be read where it lies, and be as new as that is then
  newest_twins newest{};
  std::uint64_t bases = 0;  ///< units whose twin is the base copy of a parallel block
  bool recovering = false;  ///< a node has died, and homes are being found (node::cut() to node::rebuild())
  std::uint64_t passing =
      0;  ///< diffs of others that came here, went on to where the home moved, and are not acknowledged
};

}  // namespace quire::release
