// SPDX-License-Identifier: BSD-3-Clause
// What all regions of a node share that have the same protocol: intervals, notices, queues of requests. No I/O. Events
// go in; what is to be done comes out, step by step, by next(). A protocol whose regions share nothing has a domain
// that does nothing: this one.
//
// Driver's thread only, unless said otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/action.hpp"
#include "model/edge.hpp"
#include "model/machine.hpp"
#include "model/message.hpp"
#include "protocol/contract/domain_action.hpp"

namespace quire::protocol {

/// Of the rounds of one group in which all nodes take part: what a domain has told upwards in this one, and in the last
/// one, so that all know it. The domain's own positions; the core keeps them for it.
struct round_marks {
  std::uint64_t gathered = 0, settled = 0;
  std::uint64_t packed = 0;  ///< what was known to all as of these places
};

class domain {
 public:
  virtual ~domain() = default;

  // ---- What events ask for
  /// So many tasks are on the agenda. An event adds some, and whoever tells of it does all that next() says, until it
  /// says no more: see feed(). One may come while an action of another is performed; then its tasks come first.
  [[nodiscard]] virtual std::size_t under_way() const noexcept { return 0; }
  /// What is to be done next, until no more than so many tasks are left; then null. It lasts until the next call.
  [[nodiscard]] virtual const domain_action* next(std::size_t /*left*/) { return nullptr; }
  /// Answers, to domain_action::compare, and look_at_sends.
  virtual void on_compared(bool /*differs*/) {}
  virtual void on_sends(bool /*content_leaves*/) {}

  // ---- Of protocols whose consistency is weaker than sequential (abilities::relaxed), and that order messages by it
  /// A message that synchronises threads is about to leave. True if the domain has taken it, and transmits it now or
  /// later.
  virtual bool leaves(model::node_id, const model::message&, std::span<const std::byte> /*value*/, model::edge) {
    return false;
  }
  /// Such a message has come from another node. True if the domain keeps it, and gives it back by domain_action::hear.
  virtual bool keeps_back(const model::message&, std::span<const std::byte> /*value*/) { return false; }
  /// A thread of this node goes on after a call that acquires.
  virtual void acquire() {}
  /// It comes from a barrier that is no round of all nodes.
  virtual void on_met() {}
  /// The open interval ends: what threads here have written is to be seen by who acquires. With `all_end` each write
  /// from now on is noticed.
  virtual void release(bool /*all_end*/) {}
  /// The same where a message to `next` follows by which this node releases, or joins: `next` need not hurry to look at
  /// what leaves. This node itself: more than one other node is told next.
  virtual void release_ahead(model::node_id /*next*/) {}
  /// This node's part in a round of the job, or of a group with threads on all nodes: it sends its contribution
  /// upwards; then the round is over, before others and threads here are told; or was refused, and others may not have
  /// told or heard in it what this node did.
  virtual void on_gathered(round_marks&) {}
  virtual void on_epoch(round_marks&) {}
  virtual void on_round_refused(round_marks&) {}

  // ---- Of protocols that tell other nodes something before such messages (abilities::tells)
  /// A message that synchronises threads is about to leave, by which one of `to` may go on.
  virtual void tell(model::node_id /*to*/) {}
  /// Such a message has come from another node, or one that comes with it. True if the domain keeps it, and gives it
  /// back by domain_action::admit.
  [[nodiscard]] virtual bool waits(const model::message&, std::span<const std::byte> /*value*/) { return false; }

  // ---- Of all
  /// A message of route::domain. False if it is none.
  [[nodiscard]] virtual bool on_message(const model::message&, std::span<const std::byte> /*value*/) { return false; }
  /// A message whose traits say that the domain sees it, before it leaves, and before a machine hears of it.
  virtual void on_leaving(model::node_id /*to*/, const model::message&) {}
  virtual void on_arriving(const model::message&) {}
  /// After a fault, or hints: there may be too much of something.
  virtual void relieve() {}
  /// There is: nothing shall be written before a thread does so.
  [[nodiscard]] virtual bool is_short() const { return false; }
  /// The machine that decides for a region from now on, and which of all regions that have had this number it is: a
  /// number that grows, 0 of the first. Of a region that nobody knows yet: any thread.
  virtual void on_region(model::region_id, model::machine& /*in_charge*/, std::uint32_t /*life*/) noexcept {}
  /// The region goes, here and on all other nodes; none of its messages is on its way.
  virtual void forget(model::region_id) {}
  /// Nodes are dead, a bit each, and the others go on (model/survival.hpp): the machines have been cut. All that this
  /// node knows or has written is told to the others alive, what waits to leave or to be heard comes out
  /// (domain_action::left_back, hear), and nothing begins until rebuild().
  virtual void cut(std::uint64_t /*dead*/) {}
  /// The machines have been mended.
  virtual void rebuild() {}
  /// A commit of this node is under way, and ends by itself: content changes although threads that ask for more of it
  /// wait. Of a region: one that writes it, or that cannot be undone any more.
  [[nodiscard]] virtual bool commits() const { return false; }
  [[nodiscard]] virtual bool commits_in(model::region_id) const { return false; }
  /// Something of this node is on its way that nobody waits for.
  [[nodiscard]] virtual bool busy() const { return false; }
};

/// Tells a domain of an event, and does what it asks for.
template <class Domain, class Event, class Perform>
void feed(Domain& d, Event&& event, Perform&& perform) {
  const std::size_t before = d.under_way();
  event(d);
  while (const domain_action* const a = d.next(before)) {
    const domain_action one = *a;  // another event may come while it is performed
    perform(one);
  }
}

}  // namespace quire::protocol
