// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/recorder.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "core/transactions.hpp"

namespace quire::whole {

recorder::id recorder::begin(const node& at) {
  const id which = all_.size();
  auto& a = all_.emplace_back();
  a.node = at.self().value();
  a.number = which;
  a.begin = ++position_;
  if (!at_once_) {
    a.knows = known_[a.node];
    a.knows.resize(world_.nodes());
  }
  open_.push_back({which});
  return which;
}

void recorder::ask_for_commit(id which) { std::ranges::find(open_, which, &open_attempt::which)->commits = true; }

void recorder::publish(id which) {
  auto& a = all_[which];
  if (a.published != 0) return;
  a.published = ++position_;
  for (const auto& [address, value] : last_writes(which))
    world_.wrote(address, value, model::node_id{static_cast<std::uint16_t>(a.node)});
}

void recorder::end(id which, bool committed) {
  auto& a = all_[which];
  a.end = ++position_;
  a.committed = committed;
  commits_ += committed ? 1 : 0;
  const std::string name = "attempt " + std::to_string(which) + " of node " + std::to_string(a.node);
  if (committed && a.published == 0 && !last_writes(which).empty())
    world_.fail(name + " is committed, and nobody has seen its writes in frames");
  if (!committed && a.published != 0) world_.fail(name + " is aborted after its writes have come to frames");
  CHECK(std::erase_if(open_, [which](const open_attempt& o) { return o.which == which; }) == 1);
}

void recorder::look_at(node& n) {
  const std::uint64_t commits = n.core().transactions.count().commits;
  if (std::uint64_t& seen = seen_commits_[n.self().value()]; seen != commits) {
    if (++seen != commits) world_.fail("a node commits twice in one turn");
    look_at_commit(n);
  }
  for (const open_attempt& o : open_) {
    if (all_[o.which].node != n.self().value() || all_[o.which].published != 0) continue;
    for (const auto& [address, value] : last_writes(o.which)) {
      if (n.peek(address) == value)
        world_.fail("frames have writes of attempt " + std::to_string(o.which) + ", which is not committed");
    }
  }
}

/// Frames that are gone already, as others have taken their units, are empty.
void recorder::look_at_commit(node& n) {
  const auto is_it = [&](const open_attempt& o) {
    const auto& a = all_[o.which];
    return o.commits && a.node == n.self().value() && a.published == 0 && !last_writes(o.which).empty();
  };
  const auto found = std::find_if(open_.rbegin(), open_.rend(),
                                  is_it);  // of those before it, threads have not heard yet that they are doomed
  if (found == open_.rend()) return world_.fail("a node counts a commit, and nobody has asked for one");
  for (const auto& [address, value] : last_writes(found->which)) {
    if (n.has_frame(address) && n.peek(address) != value) {
      world_.fail("attempt " + std::to_string(found->which) +
                  " is committed, and its last write is not in the frame of " + world_.name_of(address));
    }
  }
  publish(found->which);
}

bool recorder::may_be_uncommitted(const node& n, std::uint64_t since, std::uint64_t address,
                                  std::uint64_t value) const {
  const auto found = writers_.find(value);
  if (found == writers_.end()) return false;
  const auto& a = all_[found->second];
  const bool there = std::ranges::any_of(
      a.operations, [&](const auto& o) { return o.writes && o.variable == address && o.value == value; });
  return there && a.node == n.self().value() && (a.end == 0 || a.end >= since);
}

bool recorder::is_published(std::uint64_t address, std::uint64_t value) const {
  if (value == sim::history::initial) return true;
  const auto found = writers_.find(value);
  if (found == writers_.end() || all_[found->second].published == 0) return false;
  const auto last = last_writes(found->second);
  return last.contains(address) && last.at(address) == value;
}

void recorder::join(clock& to, const clock& from) {
  to.resize(std::max(to.size(), from.size()));
  for (std::size_t n = 0; n < from.size(); ++n) to[n] = std::max(to[n], from[n]);
}

void recorder::tell(const node& n, std::uint64_t object) {
  clock& own = known_[n.self().value()];
  own.resize(world_.nodes());
  own[n.self().value()] = ++position_;
  join(objects_[object], own);
}

void recorder::hear(const node& n, std::uint64_t object) { join(known_[n.self().value()], objects_[object]); }

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
