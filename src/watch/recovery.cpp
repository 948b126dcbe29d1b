// SPDX-License-Identifier: BSD-3-Clause
// See recovery.hpp.
#include "watch/recovery.hpp"

namespace quire::watch {

/// Of a node that was taken for dead, and has left, nothing more comes.
recovery::step recovery::learn(std::uint64_t dead, std::uint64_t left, std::uint64_t members) noexcept {
  dead &= all_;  // a peer may say anything
  left &= all_;
  members &= all_;
  left |= left_;
  dead |= dead_;
  ended_ |= dead & left;
  dead &= ~left;
  members |= members_ | dead | left;  // who ended before it could say that it has come counts as one that had
  if (dead == dead_ && left == left_ && members == members_) return advance({});
  dead_ = dead;
  left_ = left;
  members_ = members;
  if ((members >> self_ & 1) == 0) return {};  // it is to join; then it begins
  if (comes_) heard_ |= left;
  seen_ = {};
  at_ = round::cut;
  copying_ = false;
  step s;
  s.begin = true;
  return advance(s);
}

recovery::step recovery::on_ended(std::uint64_t ended) noexcept {
  ended_ |= ended & left_;
  return learn(ended & ~left_, 0, 0);
}

recovery::step recovery::on_join(std::uint64_t members, std::uint64_t left) noexcept {
  comes_ = true;
  ended_ |= left;
  return learn(0, left, members | std::uint64_t{1} << self_);
}

recovery::step recovery::on_marker(unsigned from, round r, const knowledge& of) noexcept {
  if (((dead_ | ended_) >> from & 1) != 0) return {};
  missed_ |= of.missed;
  step s = learn(of.dead, of.left, of.members);
  const bool last = r == round::cut && (of.left >> from & 1) != 0;  // nothing follows it, but for more of its kind
  if (last) heard_ |= std::uint64_t{1} << from;
  const bool knows_all = of.dead == dead_ && of.left == left_ && of.members == members_;
  if (!knows_all || !active()) return s;  // the sender does not know all yet, and will begin again
  seen_[static_cast<std::size_t>(r)] |= std::uint64_t{1} << from;
  return advance(s);
}

recovery::step recovery::advance(step s) noexcept {
  if (leaves()) {
    if (active() && complete(round::reports)) {
      at_ = round::none;
      s.leave = true;
    }
    return s;
  }
  if (at_ == round::cut && complete(round::cut)) {
    at_ = round::reports;
    s.report = true;
  }
  if (at_ == round::reports && complete(round::reports)) {
    at_ = round::settled;
    s.settle = true;
  }
  if (at_ == round::settled && complete(round::settled)) {
    at_ = copies_ ? round::copied : round::none;
    s.copy = copying_ = copies_;
    s.go_on = !copies_;
  }
  if (at_ == round::copied && complete(round::copied)) {
    at_ = joins_ ? round::joined : round::none;
    s.join = joins_;
    s.go_on = !joins_;
  }
  if (at_ == round::joined && complete(round::joined)) {
    at_ = round::none;
    s.go_on = true;
  }
  if (s.go_on) comes_ = false;
  return s;
}

}  // namespace quire::watch
