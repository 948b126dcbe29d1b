// SPDX-License-Identifier: BSD-3-Clause
// The token of the job: its holder alone commits. It stays where it was used last until another node wants it, first
// come first served.
//
//   who wants it   token_request -> node 0
//   node 0         token_next, with the name of who wants it -> who was the last to want it before
//   that one       token -> the one that is named, as soon as it has the token and does not use it (any more)
//
// So a commit of who has the token costs no message for it, and one of another node three. Pure: events go in, messages
// come out, to `out`. Driver's thread.
#pragma once

#include "model/message.hpp"
#include "protocol/transaction/agenda.hpp"
#include "protocol/transaction/token/state.hpp"

namespace quire::transaction::token {

class passing {
 public:
  explicit passing(node_id self);

  /// A transaction of this node wants to use it from now on, or uses it.
  void ask(agenda& out);
  /// It does not any more: who is next gets it.
  void end(agenda& out);
  [[nodiscard]] bool holds() const noexcept { return holds_; }
  /// Of the last commit, while this node holds the token.
  [[nodiscard]] commit_number number() const noexcept { return number_; }
  /// The holder has committed.
  void count_commit() noexcept { ++number_; }

  /// False if it is no message of these, or makes no sense.
  [[nodiscard]] bool on_message(const model::message& m, agenda& out);
  /// The token is on its way to this node.
  [[nodiscard]] bool busy() const noexcept { return wanted_; }
  /// What must hold.
  [[nodiscard]] bool is_valid() const noexcept { return !(holds_ && wanted_) && !(holds_ && has_next_ && !uses_); }

 private:
  void send(node_id to, model::message_kind kind, node_id requester, commit_number number, agenda& out) const;
  [[nodiscard]] bool on_request(node_id from, agenda& out);
  [[nodiscard]] bool on_next(node_id next, agenda& out);
  void pass_on(agenda& out);

  node_id self_;
  bool holds_ = false;
  bool wanted_ = false;  ///< it has been asked for, and has not come yet
  bool uses_ = false;    ///< a transaction here uses it, or will when it has come
  bool has_next_ = false;
  node_id next_{};  ///< who gets it from here
  commit_number number_ = 0;
  node_id last_{};  ///< of node 0: who was the last to want it
};

}  // namespace quire::transaction::token
