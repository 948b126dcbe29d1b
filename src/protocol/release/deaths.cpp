// SPDX-License-Identifier: BSD-3-Clause
// A node is dead, and the others go on: the part of it that all regions of a node share. loss.cpp has the order, and
// what happens to units.
#include <algorithm>
#include <span>

#include "protocol/release/node.hpp"

namespace quire::release {

/// All that threads here have written is told, whether a release has asked for it or not, and whether its diffs have
/// arrived or not: only copies that have it may count. Diffs are where they are; who has sent some to the dead says so
/// (losses::owes()).
void node::cut(std::uint64_t dead) {
  interval& open = state_.open;
  open.recovering = true;
  leaving_.insert(leaving_.end(), closed_.begin(), closed_.end());
  leaving_.insert(leaving_.end(), open.written.begin(), open.written.end());
  std::sort(leaving_.begin(), leaving_.end());
  leaving_.erase(std::unique(leaving_.begin(), leaving_.end()), leaving_.end());
  history_.add_interval(leaving_);
  open.told = history_.known(state_.self);
  leaving_.clear();
  closed_.clear();
  leaving_releases_ = releases_;
  open.came.clear();
  open.lone.clear();
  open.merged.clear();
  std::ranges::fill(open.unacknowledged, 0);
  open.passing = own_ = 0;
  groups_ = diff_groups(nodes_);
  told_early_ = {};
  owed_last_ = 0;
  unhurried_.forget();
  arrivals_.cut();
  state_.agenda.push(task::kind::cut).first = dead;
}

/// To each node alive all notices; then what waits at both gates.
void node::cut_on(task& t) {
  if (t.at < nodes_) {
    const auto n = static_cast<std::uint16_t>(t.at++);
    return (t.first >> n & 1) == 0 ? tell(node_id{n}) : void();
  }
  if (waiting() != 0) {
    const held_message& next = gate_[left_++];
    return state_.leave_back(next.to, next.m, std::span(next.value).first(next.bytes), next.what);
  }
  gate_.clear();
  left_ = 0;
  if (!arrivals_.hear_one()) state_.agenda.pop();
}

/// No node has a copy, and what threads wrote is on its way to homes: nothing that was told means anything any more.
void node::rebuild() {
  state_.open.recovering = false;
  history_.forget_all();
  epoch_ = history_.end();
  relieved_ = 0;
}

}  // namespace quire::release
