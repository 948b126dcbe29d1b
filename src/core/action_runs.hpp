// SPDX-License-Identifier: BSD-3-Clause
// Joins actions of the same kind on neighbouring units into runs: one system call, one message each. The order of
// actions on any one unit is kept; the order between units does not matter to the protocols. Pure: the performer
// performs the runs on mechanisms, the model (sim/timed) on virtual time. No heap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/action.hpp"
#include "wire/wire.hpp"

namespace quire::core {

/// Units are joined into one message up to this payload. A larger unit is a message by itself.
inline constexpr std::uint64_t max_content_bytes = 128 * 1024;

/// An action for `count` units, from what.unit on.
template <class Region>
struct action_run {
  Region* region = nullptr;
  std::uint64_t count = 0;
  model::action what{};  ///< of the first unit

  [[nodiscard]] bool contains(std::uint64_t unit) const noexcept {
    return unit >= what.unit && unit < what.unit + count;
  }
};

/// Runs in order. A Region says by bytes_of(first, count) how large so many of its units are.
template <class Region>
class action_runs {
 public:
  /// Joins `a` to a run, or begins one. False if there is no room; nothing has changed then.
  [[nodiscard]] bool add(Region& r, const model::action& a) noexcept {
    // Backwards over the runs: joining one is right only if no later run touches this unit.
    for (std::size_t i = size_; i-- > 0;) {
      if (joins(runs_[i], r, a)) {
        ++runs_[i].count;
        return true;
      }
      if (runs_[i].region == &r && runs_[i].contains(a.unit)) break;
    }
    if (size_ == runs_.size()) return false;
    runs_[size_++] = {&r, 1, a};
    return true;
  }
  void clear() noexcept { size_ = 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const action_run<Region>& operator[](std::size_t i) const noexcept { return runs_[i]; }

 private:
  /// Whether `a` is for the next unit of a run of the same kind. Messages may differ in nothing but the unit.
  [[nodiscard]] static bool joins(const action_run<Region>& before, const Region& r, const model::action& a) noexcept {
    using model::action_kind;
    const model::action& w = before.what;
    if (w.kind != a.kind || before.region != &r || w.unit + before.count != a.unit) return false;
    switch (a.kind) {
      case action_kind::permit:
        return w.from == a.from && w.level == a.level && w.fresh == a.fresh;
      case action_kind::protect:
        return w.from == a.from && w.level == a.level;
      case action_kind::wake:
      case action_kind::make_twin:
      case action_kind::publish:
      case action_kind::flush:
        return true;
      case action_kind::leave:
        return w.m.a == a.m.a;
      case action_kind::refuse:
        return w.m.operation == a.m.operation;
      case action_kind::send_diff:
        return w.to == a.to && w.keep == a.keep && w.m.flags == a.m.flags;
      case action_kind::send:
      case action_kind::multicast:
        break;
      default:
        return false;
    }
    if (w.with_content != a.with_content || before.count == wire::max_count) return false;
    if (a.with_content && r.bytes_of(w.unit, before.count + 1) > max_content_bytes) return false;
    if (a.kind == action_kind::send ? w.to != a.to : !(w.targets == a.targets)) return false;
    model::message m = a.m;
    m.unit = w.m.unit;
    return m == w.m && a.m.token == 0;
  }

  std::array<action_run<Region>, 32> runs_{};
  std::size_t size_ = 0;
};

}  // namespace quire::core
