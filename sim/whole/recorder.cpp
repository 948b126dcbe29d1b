// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/recorder.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace quire::whole {

recorder::id recorder::begin(const node& at) {
  const id which = all_.size();
  auto& a = all_.emplace_back();
  a.node = at.self().value();
  a.number = which;
  a.begin = ++position_;
  open_.push_back({which});
  return which;
}

void recorder::ask_for_commit(id which) { std::ranges::find(open_, which, &open_attempt::which)->commits = true; }

void recorder::publish(id which) {
  auto& a = all_[which];
  if (a.published != 0) return;
  a.published = ++position_;
  for (const auto& [address, value] : last_writes(which)) world_.wrote(address, value, model::node_id{static_cast<std::uint16_t>(a.node)});
}

void recorder::end(id which, bool committed) {
  auto& a = all_[which];
  a.end = ++position_;
  a.committed = committed;
  commits_ += committed ? 1 : 0;
  const std::string name = "attempt " + std::to_string(which) + " of node " + std::to_string(a.node);
  if (committed && a.published == 0 && !last_writes(which).empty()) world_.fail(name + " is committed, and nobody has seen its writes in frames");
  if (!committed && a.published != 0) world_.fail(name + " is aborted after its writes have come to frames");
  CHECK(std::erase_if(open_, [which](const open_attempt& o) { return o.which == which; }) == 1);
}

void recorder::look_at(node& n) {
  for (const open_attempt& o : open_) {
    if (all_[o.which].node != n.self().value() || all_[o.which].published != 0) continue;
    std::size_t there = 0;
    const auto writes = last_writes(o.which);
    for (const auto& [address, value] : writes) there += n.peek(address) == value ? 1 : 0;
    if (there == 0) continue;
    if (!o.commits || there != writes.size()) world_.fail("frames have writes of attempt " + std::to_string(o.which) + ", which is not committed as a whole");
    publish(o.which);
  }
}

std::unordered_map<std::uint64_t, std::uint64_t> recorder::last_writes(id which) const {
  std::unordered_map<std::uint64_t, std::uint64_t> last;
  for (const auto& o : all_[which].operations) {
    if (o.writes) last[o.variable] = o.value;
  }
  return last;
}

std::string recorder::check() const {
  return sim::history::check(all_, [this](std::uint64_t address) { return world_.name_of(address); });
}

}  // namespace quire::whole
