// SPDX-License-Identifier: BSD-3-Clause
// A node is lost, and the others go on, as far as a protocol decides it; core/survival.cpp says in which order. A part
// of a machine (machine.hpp): the rules of calls are its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/action.hpp"
#include "model/left_out.hpp"
#include "model/message.hpp"

namespace quire::model {

/// A table of a machine with an entry a unit, zero where nothing was ever known of the unit.
struct unit_table {
  const void* entries = nullptr;
  std::size_t bytes_of_entry = 0;
};

class survival {
 public:
  virtual void cut(std::uint64_t, actions&) { left_out(); }
  virtual void absorb(const message&, actions&) { left_out(); }
  virtual void report(std::uint64_t, actions&) { left_out(); }
  virtual void settle(std::uint64_t, actions&) { left_out(); }
  virtual void mend(std::uint64_t, actions&) { left_out(); }
  /// What is known of units stands in these.
  [[nodiscard]] virtual std::span<const unit_table> tables() const noexcept { return {}; }
  /// Content is kept on two nodes.
  [[nodiscard]] virtual bool replicated() const noexcept { return false; }

 protected:
  survival() = default;
  ~survival() = default;
};

}  // namespace quire::model
