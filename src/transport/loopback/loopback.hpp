// SPDX-License-Identifier: BSD-3-Clause
// Transport between nodes that are threads of one process: for tests of everything above, without UCX. The nodes share
// a hub; each opens its own end. Same contract as the others, also for driving threads, descriptor and losses.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "base/status.hpp"
#include "model/ids.hpp"
#include "transport/transport.hpp"
#include "wire/wire.hpp"

namespace quire::transport::loopback {

/// A message on its way, as bytes: what arrives goes through the same checks as from outside.
struct packet {
  std::vector<std::byte> header, payload;
};

/// What the nodes have in common: a mailbox each.
class hub {
 public:
  explicit hub(unsigned nodes);
  ~hub();
  hub(const hub&) = delete;
  hub& operator=(const hub&) = delete;

  [[nodiscard]] unsigned nodes() const noexcept { return static_cast<unsigned>(mailboxes_.size()); }
  /// Puts any bytes into a mailbox: also how tests send what no node would.
  void post(model::node_id to, packet&& arriving, urgency how = urgency::now);
  /// From now on nobody hears from `node` any more, and all others are told.
  void fail(model::node_id node) noexcept;

 private:
  friend class endpoint;
  struct mailbox;
  void ring(mailbox& bell) noexcept;

  std::vector<std::unique_ptr<mailbox>> mailboxes_;
  std::atomic<unsigned> failures_{0};
};

/// The end of node `self`. The hub lives as long as any of its ends.
[[nodiscard]] std::unique_ptr<transport> open(std::shared_ptr<hub> shared, model::node_id self);

}  // namespace quire::transport::loopback
