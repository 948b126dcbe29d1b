// SPDX-License-Identifier: BSD-3-Clause
// See watch.hpp.
#include "watch/watch.hpp"

#include <algorithm>
#include <utility>

namespace quire::watch {

watch::watch(unsigned self, unsigned nodes, std::uint64_t limit_ns, std::uint64_t start_ns)
    : self_(self), nodes_(nodes), step_(limit_ns / parts), start_ns_(start_ns), heard_(nodes, 0), alive_(nodes, 1) {}

void watch::begin(std::uint64_t now) noexcept {
  looked_ = now;
  choose(now);
}

/// The next ones alive in each direction. Who was watched before stays so with all that is known of it.
void watch::choose(std::uint64_t now) noexcept {
  const auto before = watched_;
  const unsigned before_count = count_;
  count_ = watcher_count_ = 0;
  if (step_ == 0) return;
  for (unsigned i = 1; i < nodes_ && count_ < most_watched; ++i) {
    const unsigned node = (self_ + i) % nodes_;
    if (!is_alive(node)) continue;
    const auto* const old =
        std::find_if(before.data(), before.data() + before_count, [&](const entry& e) { return e.node == node; });
    entry& e = watched_[count_++];
    e = entry{};
    e.node = node;
    e.last_heard = now;
    if (old != before.data() + before_count) e = *old;
  }
  for (unsigned i = 1; i < nodes_ && watcher_count_ < most_watched; ++i) {
    const unsigned node = (self_ + nodes_ - i) % nodes_;
    if (is_alive(node)) watchers_[watcher_count_++] = node;
  }
  next_look_ = count_ == 0 ? never : now;
}

void watch::leaves(unsigned node) noexcept {
  for (unsigned i = 0; i < count_; ++i) {
    if (watched_[i].node == node) watched_[i].over = true;
  }
}

void watch::is_dead(unsigned node, std::uint64_t now) noexcept {
  if (!is_alive(node)) return;
  alive_[node] = 0;
  choose(now);
}

void watch::joins(unsigned node, std::uint64_t now) noexcept {
  if (is_alive(node)) return;
  alive_[node] = 1;
  choose(now);
}

std::uint64_t watch::limit_of(const entry& e) const noexcept {
  return e.known ? parts_of_silence * step_ : std::max(parts_of_silence * step_, start_ns_);
}

void watch::pause(std::uint64_t now) noexcept {
  looked_ = now;
  next_look_ = now + step_;
}

findings watch::look(std::uint64_t now) noexcept {
  findings found;
  if (next_look_ == never) return found;
  const std::uint64_t passed = std::min(now - looked_, step_ + step_ / 2);
  looked_ = now;
  next_look_ = never;
  for (unsigned i = 0; i < count_; ++i) {
    entry& e = watched_[i];
    e.silence += passed;
    if (heard_[e.node] != 0) {
      heard_[e.node] = 0;
      e.known = true;
      e.silence = 0;
      e.ping_at = step_;
      e.last_heard = now;
      if (std::exchange(e.lost, false)) found.back[found.backs++] = e.node;
    }
    if (e.over) continue;
    if (e.lost) {  // what it was asked lies there
      next_look_ = std::min(next_look_, now + step_);
      continue;
    }
    if (e.silence >= limit_of(e) && !found.lost) {
      e.lost = found.lost = true;
      found.peer = e.node;
      found.silent_ns = now - e.last_heard;
      next_look_ = std::min(next_look_, now + step_);
      continue;
    }
    if (e.silence >= e.ping_at) {
      found.ping[found.pings++] = e.node;
      e.ping_at = e.silence + step_;
    }
    next_look_ = std::min(next_look_, now + std::min(e.ping_at, std::max(limit_of(e), e.silence)) - e.silence);
  }
  return found;
}

}  // namespace quire::watch
