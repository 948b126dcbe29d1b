// SPDX-License-Identifier: BSD-3-Clause
#include "drive/waits.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "core/configuration.hpp"
#include "core/host.hpp"
#include "core/job_call_state.hpp"
#include "core/sync_calls.hpp"
#include "sync/names.hpp"
#include "waits/report.hpp"

namespace quire::drive {

using waits::record;
using waits::what;

namespace {

using base::ms;
constexpr std::uint64_t patience_ns = 500 * ms;  // with a driver that does not come to it

}  // namespace

void waits_told::ask_driver(core::core& c, core::op& self) noexcept {
  waits_told& told = static_cast<task&>(self).told;
  c.objects.add_holders(told.shown_, told.holders_);
  self.complete();
  told.pending_.store(false, std::memory_order_release);
  told.threads_.call();
}

core::op* waits_told::begin(bool for_launcher) noexcept {
  (for_launcher ? for_launcher_ : for_us_) = true;
  if (begun_ns_ != 0) return nullptr;
  begun_ns_ = threads_.now();
  if (pending_.load(std::memory_order_acquire)) return nullptr;  // the last one is still queued
  holders_.clear();
  holders_.reserve(waits::most_others);
  pending_.store(true, std::memory_order_relaxed);
  return &task_.emplace(*this);
}

core::op* waits_told::look() noexcept {
  core::op* const asked =
      by_signal_.load(std::memory_order_relaxed) && by_signal_.exchange(false) ? begin(false) : nullptr;
  if (begun_ns_ == 0 || asked != nullptr) return asked;
  const bool known = !pending_.load(std::memory_order_acquire);
  if (known || threads_.now() - begun_ns_ >= patience_ns) {
    begun_ns_ = 0;
    tell(known);
  }
  return nullptr;
}

void waits_told::tell(bool known) {
  const std::vector<record> all = all_here(known);
  if (std::exchange(for_launcher_, false)) job_.tell_waits(waits::pack(all));
  if (!std::exchange(for_us_, false)) return;
  const auto& c = core_.config;
  std::vector<waits::node_report> nodes(c.nodes);
  for (auto& n : nodes) n.dead = true;
  auto& mine = nodes[c.self.value()];
  mine.name = "node " + std::to_string(c.self.value());
  mine.records = all;
  // The others have no name: nothing is said of them.
  for (const std::string& line : waits::describe(nodes, c.nodes == 1)) base::say("%s", line.c_str());
  if (!known) base::say("a thread of this node has been driving for half a second: who holds which lock is not known");
}

std::vector<record> waits_told::all_here(bool with_holders) const {
  std::vector<record> all;
  const std::uint64_t now = threads_.now();
  unsigned more = 0;
  shown_.for_each([&](const core::wait_note& n) {
    if (all.size() >= waits::most_waits) return void(++more);
    all.push_back(record_of(n, now));
  });
  std::sort(all.begin(), all.end(), [](const record& a, const record& b) { return a.waited_ms > b.waited_ms; });
  if (more != 0) {
    record r;
    r.kind = what::something;
    r.set_name(("waits of " + std::to_string(more) + " threads more").c_str());
    all.push_back(r);
  }
  if (!with_holders) return all;
  for (const record& r : holders_) {
    if (!r.is_wait()) {
      all.push_back(r);
      continue;
    }
    for (record& w : all) {
      if (r.kind == what::memory && w.kind == what::memory && w.object == r.object) w.node = r.node;
      if (r.kind != what::something || w.kind != what::object || w.thread != r.thread) continue;
      w.object = r.object;
      w.set_label(sync::object_name(sync::object_id{r.object}).text);
    }
  }
  return all;
}

record waits_told::record_of(const core::wait_note& n, std::uint64_t now_ns) const {
  record r;
  r.kind = n.kind;
  r.node = n.node;
  r.thread = n.thread;
  r.tid = n.tid;
  r.object = n.object;
  r.waited_ms = now_ns > n.since_ns ? (now_ns - n.since_ns) / ms : 0;
  std::string name = n.name, label;
  if (name.starts_with("quire_") && name.find('(') == name.npos) name += "()";
  if (n.kind == what::all_nodes) {
    if (const char* const outer = core_.job_call.name.load(std::memory_order_relaxed); outer != nullptr)
      name = std::string(outer) + "()";
  } else if (n.kind == what::object) {
    label = sync::object_name(sync::object_id{n.object}).text;
  } else if (n.kind == what::memory) {
    char text[sizeof r.label];
    std::snprintf(text, sizeof text, "0x%llx (unit %llu of region %llu)", static_cast<unsigned long long>(n.object),
                  static_cast<unsigned long long>(n.other & 0xffffffffffff),
                  static_cast<unsigned long long>(n.other >> 48));
    label = text;
  }
  r.set_name(name.c_str());
  r.set_label(label.c_str());
  return r;
}

}  // namespace quire::drive
