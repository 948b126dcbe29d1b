// SPDX-License-Identifier: BSD-3-Clause
// See recovery.hpp.
#include "watch/recovery.hpp"

namespace quire::watch {

/// Of a node that was taken for dead, and has left, nothing more comes.
recovery::step recovery::learn(std::uint64_t dead, std::uint64_t left) noexcept {
  left |= left_;
  dead |= dead_;
  ended_ |= dead & left;
  dead &= ~left;
  if (dead == dead_ && left == left_) return advance({});
  dead_ = dead;
  left_ = left;
  seen_ = {};
  at_ = round::cut;
  copying_ = false;
  step s;
  s.begin = true;
  return advance(s);
}

recovery::step recovery::on_ended(std::uint64_t ended) noexcept {
  ended_ |= ended & left_;
  return learn(ended & ~left_, 0);
}

recovery::step recovery::on_marker(unsigned from, round r, std::uint64_t dead, std::uint64_t left,
                                   std::uint64_t missed) noexcept {
  if (((dead_ | ended_) >> from & 1) != 0) return {};
  missed_ |= missed;
  step s = learn(dead, left);
  const bool last = r == round::cut && (left >> from & 1) != 0;  // nothing follows it, but for more of its kind
  if (last) heard_ |= std::uint64_t{1} << from;
  if (dead != dead_ || left != left_ || !active()) return s;  // the sender does not know all yet, and will begin again
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
  return s;
}

}  // namespace quire::watch
