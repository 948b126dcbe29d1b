// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/transaction/token/passing.hpp"

#include <utility>

namespace quire::transaction::token {

using model::message_kind;

namespace {
constexpr node_id giver{0};  ///< has the token first, too
}

passing::passing(node_id self) : self_(self), holds_(self == giver) {}

void passing::send(node_id to, message_kind kind, node_id requester, commit_number number, agenda& out) const {
  model::message m;
  m.kind = kind;
  m.from = self_;
  m.requester = requester;
  m.a = number;
  out.transmit(to, m);
}

void passing::ask(agenda& out) {
  uses_ = true;
  if (holds_ || wanted_) return;
  wanted_ = true;
  send(giver, message_kind::token_request, self_, 0, out);
}

void passing::end(agenda& out) {
  uses_ = false;
  if (holds_ && has_next_) pass_on(out);
}

void passing::pass_on(agenda& out) {
  holds_ = has_next_ = false;
  send(next_, message_kind::token, next_, number_, out);
}

bool passing::on_message(const model::message& m, agenda& out) {
  switch (m.kind) {
    case message_kind::token_request:
      return on_request(m.from, out);
    case message_kind::token_next:
      return m.from == giver && on_next(m.requester, out);
    case message_kind::token:
      if (!std::exchange(wanted_, false)) return false;
      holds_ = true;
      number_ = m.a;
      if (!uses_ && has_next_) pass_on(out);
      return true;
    default:
      return false;
  }
}

bool passing::on_request(node_id from, agenda& out) {
  if (self_ != giver || from == last_) return false;
  send(std::exchange(last_, from), message_kind::token_next, from, 0, out);
  return true;
}

/// It may come before the token does.
bool passing::on_next(node_id next, agenda& out) {
  if (has_next_ || next == self_ || !(holds_ || wanted_)) return false;
  has_next_ = true;
  next_ = next;
  if (holds_ && !uses_) pass_on(out);
  return true;
}

}  // namespace quire::transaction::token
