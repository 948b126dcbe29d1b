// SPDX-License-Identifier: BSD-3-Clause
// Names for values (quire_publish(), quire_lookup()), all of them on node 0. A machine: a request or another event goes
// in, answers come out. Driver's thread of node 0.
//
// It promises: who looks a name up gets what was published under it, from the end of that call until its memory goes; a
// name has one value at a time; and a lookup that waits ends when there is a value, or with its thread's patience.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/fault_heap.hpp"
#include "services/services.hpp"

namespace quire::services {

class names {
 public:
  static constexpr std::size_t longest = 63;
  using name = std::array<char, longest + 1>;  ///< the rest is zero
  [[nodiscard]] static name name_of(std::string_view text) noexcept;

  /// `a` of the request is the value. QUIRE_EXISTS: the name has one.
  void on_publish(const message& request, const name& what, answers& out);
  /// `a` of the request: whether it waits for a value, if there is none. Else QUIRE_NOT_FOUND.
  void on_lookup(const message& request, const name& what, answers& out);
  /// The call of that node and token waits no more. It may have been answered.
  void on_withdrawn(const message& which);
  /// A node is lost, and the job goes on.
  void on_death(node_id node);
  /// What lay in these bytes has gone, and its names with it.
  void on_gone(std::uint64_t base, std::uint64_t bytes);
  /// A value of a checkpoint.
  void on_restored(const name& what, std::uint64_t value, answers& out);

  [[nodiscard]] const base::fault_map<name, std::uint64_t>& all() const noexcept { return values_; }
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }

 private:
  struct waiter {
    name what;
    message request;
  };
  void tell_waiters(const name& what, std::uint64_t value, answers& out);

  base::fault_map<name, std::uint64_t> values_{};
  base::fault_vector<waiter> waiting_{};  ///< as they came
};

}  // namespace quire::services
