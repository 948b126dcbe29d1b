// SPDX-License-Identifier: BSD-3-Clause
// Push, and page broadcasting (KOAN: production phases), as far as a protocol decides it. The interval of this node has
// ended before each call. A part of a machine (machine.hpp): the rules of calls are its own.
#pragma once

#include <cstdint>

#include "model/action.hpp"
#include "model/left_out.hpp"

namespace quire::model {

class broadcasting {
 public:
  /// A thread here calls for a push of `unit`; `token` is told when all nodes have it.
  virtual void on_push(std::uint64_t, std::uint64_t /*token*/, actions&) { left_out(); }
  /// From now on it is noticed whether threads here write `unit`.
  virtual void on_produce_begin(std::uint64_t, actions&) { left_out(); }
  /// Ends that. True if this node has written `unit` in the phase: push it.
  [[nodiscard]] virtual bool on_produce_end(std::uint64_t) { left_out(); }

 protected:
  broadcasting() = default;
  ~broadcasting() = default;
};

}  // namespace quire::model
