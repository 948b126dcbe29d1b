// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/release/history.hpp"

#include <algorithm>
#include <tuple>

#include "base/check.hpp"

namespace quire::release {

void history::append(const notice& n, node_id source) {
  if (log_.size() >= std::max(limit_, packed_size_ * 2)) pack();
  log_.push_back({n, source});
}

void history::add_interval(base::fault_vector<written_unit>& written) {
  if (written.empty()) return;
  std::sort(written.begin(), written.end());
  const std::uint32_t number = known_[self_.value()] + 1;
  for (std::size_t i = 0; i < written.size();) {
    notice n;
    n.writer = self_;
    n.region = written[i].region;
    n.interval = number;
    n.first = written[i].unit;
    while (i < written.size() && written[i].region == n.region && written[i].unit - n.first <= n.count &&
           n.count < max_notice_units) {
      n.count = static_cast<std::uint32_t>(written[i].unit - n.first) + 1;
      ++i;
    }
    n.last = i == written.size();
    append(n, self_);
  }
  known_[self_.value()] = number;  // not before: what is packed on the way must not pass for complete
}

void history::add_move(model::region_id region, std::uint64_t unit, node_id home, std::uint16_t moves) {
  notice n;
  n.writer = self_;
  n.region = region;
  n.interval = known_[self_.value()] + 1;
  n.first = unit;
  n.count = 1;
  n.moves = moves;
  n.home = home;
  if (!log_.empty()) {
    notice& before = log_.back().what;
    if (log_.back().source == self_ && before.moves == moves && before.home == home && before.region == region &&
        before.interval == n.interval && before.first + before.count == unit) {
      ++before.count;
      return;
    }
  }
  append(n, self_);
}

void history::end_moves() {
  if (log_.empty() || log_.back().what.writer != self_ || log_.back().what.last) return;
  log_.back().what.last = true;
  known_[self_.value()] = log_.back().what.interval;
}

bool history::learn(const notice& n, node_id from) {
  std::uint32_t& known = known_[n.writer.value()];
  if (n.writer == self_ || n.interval <= known) return false;
  append(n, from);
  if (n.last) known = n.interval;
  return true;
}

const notice* history::next_for(node_id to, position& at) const noexcept {
  for (at = std::max(at, base_); at < end(); ++at) {
    const entry& e = log_[at - base_];
    if (e.source != to && e.what.writer != to && (e.what.count != 0 || e.what.last)) return &log_[at - base_].what;
  }
  return nullptr;
}

void history::forget_region(model::region_id region) {
  for (entry& e : log_) {
    if (e.what.region != region) continue;
    e.what.region = {};
    e.what.count = e.what.moves = 0;
  }
}

void history::forget(position up_to) {
  if (up_to <= base_) return;
  CHECK(up_to <= end());
  log_.erase(log_.begin(), log_.begin() + static_cast<std::ptrdiff_t>(up_to - base_));
  base_ = up_to;
  packed_size_ = std::min(packed_size_, log_.size());
}

/// One record for each unit of each writer, as of its last interval. Who has been told all so far need not be told
/// again; everybody else starts from the beginning, and ignores what it knows. Intervals that are not complete stay as
/// they are.
void history::pack() {
  const position before = end();
  base::fault_vector<entry> open;
  base::fault_vector<bool> complete(known_.size());
  for (const entry& e : log_) {
    if (e.what.interval > known_[e.what.writer.value()]) {
      open.push_back(e);
    } else {
      complete[e.what.writer.value()] = true;
    }
  }
  std::erase_if(log_, [&](const entry& e) {
    return e.what.interval > known_[e.what.writer.value()] || e.what.moves != 0 || e.what.count == 0;
  });
  const auto key = [](const entry& e) {
    return std::tuple(e.what.writer.value(), e.what.region.value(), e.what.first);
  };
  std::sort(log_.begin(), log_.end(), [&](const entry& a, const entry& b) { return key(a) < key(b); });
  base::fault_vector<entry> packed;
  for (const entry& e : log_) {
    notice* const last = packed.empty() ? nullptr : &packed.back().what;
    const std::uint64_t stop = e.what.first + e.what.count;
    if (last != nullptr && last->writer == e.what.writer && last->region == e.what.region &&
        last->first + last->count >= e.what.first && stop - last->first <= max_notice_units) {
      last->count = static_cast<std::uint32_t>(std::max(last->first + last->count, stop) - last->first);
      continue;
    }
    packed.push_back({e.what, self_});
  }
  for (std::size_t i = 0; i < packed.size(); ++i) {
    notice& n = packed[i].what;
    n.interval = known_[n.writer.value()];
    n.last = i + 1 == packed.size() || packed[i + 1].what.writer != n.writer;
    complete[n.writer.value()] = false;
  }
  // Of who only moved homes, that is all there is to say: others may have heard one half of it.
  for (std::uint16_t writer = 0; writer < complete.size(); ++writer) {
    if (!complete[writer]) continue;
    notice n;
    n.writer = node_id{writer};
    n.interval = known_[writer];
    n.last = true;
    packed.push_back({n, self_});
  }
  packed.insert(packed.end(), open.begin(), open.end());
  log_ = std::move(packed);
  base_ = before;
  for (position& told : told_) told = told == before ? end() : base_;
  packed_size_ = log_.size();
  ++packings_;
}

}  // namespace quire::release
