// SPDX-License-Identifier: BSD-3-Clause
// What the launcher tells this node, and what the node does when it tells nothing. The service thread's part of
// threads.hpp.
#include "base/clock.hpp"
#include "base/log.hpp"
#include "core/configuration.hpp"
#include "core/survival.hpp"
#include "core/watching.hpp"
#include "drive/threads.hpp"

namespace quire::drive {

/// A peer was lost, and the launcher has not said why. Or the job ends, and this node has not.
void threads::handle_loss() noexcept {
  const std::uint64_t until = core_.watching.lost_until_ns();
  if (until == 0 || base::now_ns() < until) return;
  if (core_.watching.leaves()) {
    job_.leave({});
    base::end_process(core_.watching.leave_status());
  }
  base::die(QUIRE_PEER_LOST, "%s; this node ends", core_.watching.loss_text().c_str());
}

/// What the launcher tells. The death of a node ends the job on all, unless they go on.
void threads::handle_news() noexcept {
  const bool survives = core_.config.survives;
  auto news = job_.poll_news();
  for (;; news = job_.poll_news()) {
    if (news.what == bootstrap::news::kind::show_waits) {
      if (core::op* const o = waits_.begin(true); o != nullptr) driver_.queue.push(*o);
      continue;
    }
    if (news.what == bootstrap::news::kind::show_counters) {
      if (core::op* const o = counters_.begin(); o != nullptr) driver_.queue.push(*o);
      continue;
    }
    if (news.what == bootstrap::news::kind::leave_wanted) {
      if (core::op* const o = wish_.begin(); o != nullptr) driver_.queue.push(*o);
      continue;
    }
    if (!survives || news.what != bootstrap::news::kind::node_died) break;
    base::log(base::log_level::info, "%s; this node goes on", news.text.c_str());
    core_.survival.on_announced(static_cast<unsigned>(news.node));
  }
  if (news.what == bootstrap::news::kind::nothing || core_.watching.leaves()) return;
  if (news.text.empty()) base::end_process(QUIRE_PEER_LOST);
  base::die(QUIRE_PEER_LOST, "%s; this node ends", news.text.c_str());
}

}  // namespace quire::drive
