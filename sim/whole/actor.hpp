// SPDX-License-Identifier: BSD-3-Clause
// A thread of a random program, with its own source of chance: loads and stores that are checked against the last
// writes, atomic operations, and calls of synchronisation objects, each of which must end well unless the program says
// otherwise. Used on a fibre.
#pragma once

#include <cstdint>
#include <string>

#include "model/atomic_operation.hpp"
#include "sim/whole/world.hpp"
#include "sync/call.hpp"

namespace quire::whole {

class actor {
 public:
  /// `number`: of the thread on its node, from 1.
  actor(world& w, node& at, unsigned number, std::uint64_t seed) : here(at), number(number), draw(seed), world_(w) {}

  node& here;
  unsigned number;
  sim::random draw;

  [[nodiscard]] unsigned node_number() const noexcept { return here.self().value(); }
  /// The word is what was written last.
  std::uint64_t read(std::uint64_t address);
  /// A value that nobody has written before.
  void write(std::uint64_t address) { write(address, world_.unique()); }
  void write(std::uint64_t address, std::uint64_t value) { here.store(address, value); }
  /// What the word held before.
  std::uint64_t operate(std::uint64_t address, model::atomic_operation what, std::uint64_t a, std::uint64_t b = 0);
  /// Timeouts as in quire.h.
  [[nodiscard]] base::status call(sync::operation what, std::uint64_t& object, std::uint64_t operand = 0,
                                  std::int64_t timeout_ms = -1);
  /// The same; it ends well.
  void must_call(sync::operation what, std::uint64_t object, std::uint64_t operand = 0);
  [[nodiscard]] std::uint64_t create(sync::operation what, std::uint64_t operand = 0);
  void must(const base::status& why, const std::string& what, quire_status also = QUIRE_OK);
  /// Does nothing for a moment, more often than not.
  void rest();
  /// It is what was written last to the word.
  void check(std::uint64_t address, std::uint64_t found) { check(address, found, world_.latest(address)); }

 private:
  void check(std::uint64_t address, std::uint64_t found, std::uint64_t latest);
  world& world_;
};

}  // namespace quire::whole
