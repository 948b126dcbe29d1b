// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/transaction/owners/turns.hpp"

#include "base/check.hpp"

namespace quire::transaction::owners {

using model::message_kind;
using model::node_id;

namespace {
constexpr node_id giver{0};
}

turns::turns(node_id self, unsigned nodes) : self_(self), nodes_(nodes) {
  if (self == giver) pauses_.resize(nodes);
}

void turns::send(node_id to, message_kind kind, agenda& out) const {
  model::message m;
  m.kind = kind;
  m.from = m.requester = self_;
  out.transmit(to, m);
}

void turns::ask(agenda& out) {
  CHECK(!wanted_);
  wanted_ = true;
  send(giver, message_kind::turn_request, out);
}

void turns::end(agenda& out) {
  CHECK(had_);
  wanted_ = had_ = false;
  send(giver, message_kind::turn_end, out);
}

void turns::look(agenda& out) {
  if (taking_ || !answers_) return;
  answers_ = false;
  send(giver, message_kind::paused, out);
}

bool turns::on_message(const model::message& m, agenda& out) {
  const bool of_giver =
      m.kind == message_kind::turn_request || m.kind == message_kind::paused || m.kind == message_kind::turn_end;
  if (of_giver ? self_ != giver : m.from != giver) return false;
  switch (m.kind) {
    case message_kind::turn_request:
      queue_.push_back(m.from);
      if (queue_.size() == 1) serve(out);
      return true;
    case message_kind::paused:
      if (awaited_ == 0) return false;
      --awaited_;
      serve(out);
      return true;
    case message_kind::turn_end:
      if (!granted_ || queue_.front() != m.from) return false;
      queue_.erase(queue_.begin());
      granted_ = false;
      serve(out);
      return true;
    case message_kind::turn_grant:
      had_ = true;
      paused_ = false;
      return true;
    case message_kind::pause:
      paused_ = answers_ = true;
      look(out);
      return true;
    case message_kind::resume:
      paused_ = false;
      return true;
    default:
      return false;
  }
}

/// Brings the first of the queue nearer to its turn.
void turns::serve(agenda& out) {
  if (granted_ || awaited_ != 0) return;
  const bool somebody = !queue_.empty();
  for (unsigned n = 0; n < nodes_; ++n) {
    const node_id node{static_cast<std::uint16_t>(n)};
    const bool shall = somebody && node != queue_.front();
    if (pauses_[n] == shall) continue;
    pauses_[n] = shall;
    if (shall) {
      ++awaited_;
      send(node, message_kind::pause, out);
    } else if (!somebody) {
      send(node, message_kind::resume, out);
    }
  }
  if (!somebody || awaited_ != 0) return;
  granted_ = true;
  send(queue_.front(), message_kind::turn_grant, out);
}

}  // namespace quire::transaction::owners
