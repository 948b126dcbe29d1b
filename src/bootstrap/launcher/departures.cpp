// SPDX-License-Identifier: BSD-3-Clause
// Nodes that leave while the others go on (quire_leave()), and people who want them to (`quire leave`): the wish goes
// to the node, and what becomes of it to all who have it. The job is as it was for a wish that is refused.
#include "bootstrap/launcher/job.hpp"
#include "bootstrap/leave_word.hpp"

namespace quire::bootstrap::launcher {

using local::frame_kind;

void job::take_wishes() {
  for (const int node : viewers_.take_wishes()) {
    if (node >= 0 && node < plan_.nodes && at(node).departed) {
      viewers_.tell(node, local::make_frame(frame_kind::departs, node, {}));
      continue;
    }
    const std::string why = why_stays(node);
    if (node >= 0 && node < plan_.nodes) at(node).wanted = true;
    if (why.empty()) {
      give(node, local::make_frame(frame_kind::leave_wanted, node, {}));
    } else {
      viewers_.tell(node, local::make_frame(frame_kind::cannot, node, why));
    }
  }
}

/// Why a node can take no wish; empty: it can.
std::string job::why_stays(int node) const {
  if (node < 0 || node >= plan_.nodes) {
    const std::string last = std::to_string(plan_.nodes - 1);
    return "the job has no node " + std::to_string(node) + ": " +
           (plan_.nodes == 1 ? "it is one node, 0" : "its nodes are 0 to " + last);
  }
  if (phase_ != phase::running) return "the job ends";
  const auto& record = at(node);
  if (record.alive && !record.joined) return name_of(node) + " has not called quire_start(), and cannot be asked yet";
  if (!can_tell_waits(node)) return name_of(node) + " " + state_of(node);
  return {};
}

void job::on_leaving(int node, const std::string& payload) {
  const auto word = unpack_leave_word(payload);
  if (!word) return fail(node, "sent nonsense to `quire run`", 1);
  if (word->state == leave_word::what::never) return refuse_wish(node, name_of(node) + " stays: " + word->text);
  viewers_.tell(node, local::make_frame(frame_kind::leaving, node, payload), true);
}

void job::refuse_wish(int node, const std::string& text) {
  if (!at(node).wanted) return;
  at(node).wanted = false;
  viewers_.tell(node, local::make_frame(frame_kind::cannot, node, text));
}

/// It has ended well, and has given all that it had to others: nobody is to hear of a failure.
void job::announce_departure(int node) {
  accusations_.drop(node);
  (void)tell_all_of(node, name_of(node) + " has left the job");
  at(node).wanted = false;
  viewers_.tell(node, local::make_frame(frame_kind::departs, node, {}));
}

}  // namespace quire::bootstrap::launcher
