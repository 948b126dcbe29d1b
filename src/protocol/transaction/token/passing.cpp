// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/transaction/token/passing.hpp"

#include <utility>

namespace quire::transaction::token {

using model::message_kind;

namespace {
constexpr node_id giver{0};  ///< has the token first, too
}

passing::passing(node_id self, protocol::domain::effects& to) : self_(self), to_(to), holds_(self == giver) {}

void passing::send(node_id to, message_kind kind, node_id requester, commit_number number) {
  model::message m;
  m.kind = kind;
  m.from = self_;
  m.requester = requester;
  m.a = number;
  to_.transmit(to, m, {});
}

void passing::ask() {
  uses_ = true;
  if (holds_ || std::exchange(wanted_, true)) return;
  send(giver, message_kind::token_request, self_);
}

void passing::end() {
  uses_ = false;
  if (holds_ && has_next_) pass_on();
}

void passing::pass_on() {
  holds_ = has_next_ = false;
  send(next_, message_kind::token, next_, number_);
}

bool passing::on_message(const model::message& m) {
  switch (m.kind) {
    case message_kind::token_request:
      return on_request(m.from);
    case message_kind::token_next:
      return m.from == giver && on_next(m.requester);
    case message_kind::token:
      if (!std::exchange(wanted_, false)) return false;
      holds_ = true;
      number_ = m.a;
      if (!uses_ && has_next_) pass_on();
      return true;
    default:
      return false;
  }
}

bool passing::on_request(node_id from) {
  if (self_ != giver || from == last_) return false;
  send(std::exchange(last_, from), message_kind::token_next, from);
  return true;
}

/// It may come before the token does.
bool passing::on_next(node_id next) {
  if (has_next_ || next == self_ || !(holds_ || wanted_)) return false;
  has_next_ = true;
  next_ = next;
  if (holds_ && !uses_) pass_on();
  return true;
}

}  // namespace quire::transaction::token
