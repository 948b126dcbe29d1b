// SPDX-License-Identifier: BSD-3-Clause
// Addresses of other nodes' memory that threads of this node have given back, gathered by the node that has to hear of
// it, so that one message tells of many. Decides when a batch has to leave: when it is full, or when its oldest address
// has waited long enough. Pure: the time comes in, and whoever takes a batch sends it.
//
// Called by region with a lock held; never in fault context, as the first address for a node allocates.
#pragma once

#include <cstdint>
#include <vector>

namespace quire::heap {

class remote_frees {
 public:
  /// As many addresses as one message takes.
  static constexpr std::size_t most = 62;
  /// No address waits longer than this, as soon as somebody looks.
  static constexpr std::uint64_t longest_wait_ns = 2'000'000;

  enum class outcome : std::uint8_t {
    kept,   ///< it waits
    full,   ///< it waits, and the batch of its node is to leave now
    twice,  ///< it waits already: the second free of the same memory; nothing has changed
  };

  /// A batch is full with `batch` addresses, 1 to `most`.
  remote_frees(unsigned nodes, std::size_t batch) : nodes_(nodes), batch_(batch) {}

  [[nodiscard]] outcome add(unsigned node, std::uint64_t address, std::uint64_t now_ns);
  [[nodiscard]] bool contains(unsigned node, std::uint64_t address) const noexcept;
  /// All that waits for `node`, oldest first; it waits no longer.
  [[nodiscard]] std::vector<std::uint64_t> take(unsigned node);
  /// Calls f(node) for each node that something waits for, and f may take it. With `now_ns` only where it has waited
  /// long enough.
  template <class F>
  void for_each(F f, std::uint64_t now_ns = UINT64_MAX) {
    for (unsigned node = 0; waiting_ != 0 && node < nodes_.size(); ++node) {
      if (!nodes_[node].addresses.empty() && now_ns - nodes_[node].oldest_ns >= longest_wait_ns) f(node);
    }
  }
  /// Nodes that batches have been taken for since the last call: what they have to say of them may still come.
  [[nodiscard]] std::vector<unsigned> take_unconfirmed();
  /// How many addresses wait.
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }

 private:
  struct waiting_for {
    bool unconfirmed = false;
    std::uint64_t oldest_ns = 0;
    std::vector<std::uint64_t> addresses;
  };
  std::vector<waiting_for> nodes_;
  std::size_t batch_, waiting_ = 0;
};

}  // namespace quire::heap
