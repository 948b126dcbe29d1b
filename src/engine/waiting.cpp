// SPDX-License-Identifier: BSD-3-Clause
// People ask what this node waits for: by SIGQUIT, or by the launcher (SIGQUIT to it, --timeout). The service thread
// looks at what sleeping threads have shown; who holds which lock only the driver can tell, who is asked for it and
// given half a second. Then the launcher gets the records, and puts those of all nodes together; where there is none,
// the node says what it knows itself.
#include <algorithm>
#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "engine/engine.hpp"
#include "engine/thread_state.hpp"
#include "sync/names.hpp"
#include "waits/report.hpp"

namespace quire::engine {

using waits::record;
using waits::what;

namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t patience_ns = 500 * ms;  // with a driver that does not come to it

}  // namespace

/// Driver's thread. Allocates nothing: it may be within a fault.
void engine::add_holders() noexcept {
  auto& all = asked_waits_.holders;
  const auto add = [&all](const record& r) {
    if (all.size() < all.capacity()) all.push_back(r);
  };
  const auto record_of = [](what kind, sync::object_id id, std::uint32_t thread) {
    record r;
    r.kind = kind;
    r.object = id.value();
    r.thread = thread;
    return r;
  };
  sync_.for_each_lock([&](sync::object_id id, bool held, std::uint32_t thread) {
    add(record_of(held ? what::holds : what::right, id, held ? thread : waits::no_thread));
  });
  sync_.for_each_arrival([&](sync::object_id id, model::node_id node, std::uint32_t number, std::uint32_t of) {
    record r = record_of(what::arrivals, id, waits::no_thread);
    r.node = node.value();
    r.number = number;
    r.of = of;
    add(r);
  });
  waits_shown_.for_each([&](const wait_note& n) {
    region_slot* const r = n.kind == what::memory ? regions_.find(n.object) : nullptr;
    if (r == nullptr) return;
    const std::uint64_t unit = r->unit_of(n.object);
    record asked;
    asked.kind = what::memory;
    asked.object = n.object;
    asked.node = (r->release != nullptr ? r->release->home_of(unit) : r->sequential->manager_of(unit)).value();
    add(asked);
  });
  // Woken, but without their mutex.
  sync_.for_each_reacquiring([&](std::uint32_t thread, sync::object_id mutex) {
    record r = record_of(what::something, mutex, thread);
    add(r);
  });
}

void engine::number_thread(std::uint32_t number) noexcept { t_thread.wants.thread = number; }

/// Any thread, also in a signal handler.
void engine::ask_for_waits() noexcept {
  asked_waits_.by_signal.store(true, std::memory_order_relaxed);
  kick();
}

/// Service thread, not driving.
void engine::begin_waits(bool for_launcher) noexcept {
  auto& a = asked_waits_;
  (for_launcher ? a.for_launcher : a.for_us) = true;
  if (a.begun_ns != 0) return;
  a.begun_ns = base::now_ns();
  if (a.pending.load(std::memory_order_acquire)) return;  // the last one is still queued
  a.holders.clear();
  a.holders.reserve(waits::most_others);
  a.pending.store(true, std::memory_order_relaxed);
  new (&a.task) op(
      [](engine& e, op& self) noexcept {
        e.add_holders();
        self.complete();
        e.asked_waits_.pending.store(false, std::memory_order_release);
        e.kick();
      },
      op::type::call);
  driver_.queue.push(a.task);
}

/// Service thread, not driving, in each round of its loop.
void engine::look_at_waits() noexcept {
  auto& a = asked_waits_;
  if (a.by_signal.load(std::memory_order_relaxed) && a.by_signal.exchange(false)) begin_waits(false);
  if (a.begun_ns == 0) return;
  const bool known = !a.pending.load(std::memory_order_acquire);
  if (!known && base::now_ns() - a.begun_ns < patience_ns) return;
  a.begun_ns = 0;
  const std::vector<record> all = waits_here(known);
  if (std::exchange(a.for_launcher, false)) job_.tell_waits(waits::pack(all));
  if (std::exchange(a.for_us, false)) {
    std::vector<waits::node_report> nodes(config_.nodes);
    for (auto& n : nodes) n.dead = true;
    auto& mine = nodes[config_.self.value()];
    mine.name = "node " + std::to_string(config_.self.value());
    mine.records = all;
    // The others have no name: nothing is said of them.
    for (const std::string& line : waits::describe(nodes, config_.nodes == 1)) base::say("%s", line.c_str());
    if (!known)
      base::say("a thread of this node has been driving for half a second: who holds which lock is not known");
  }
}

std::vector<record> engine::waits_here(bool with_holders) {
  std::vector<record> all;
  const std::uint64_t now = base::now_ns();
  unsigned more = 0;
  waits_shown_.for_each([&](const wait_note& n) {
    if (all.size() >= waits::most_waits) return void(++more);
    all.push_back(record_of_note(n, now));
  });
  std::sort(all.begin(), all.end(), [](const record& a, const record& b) { return a.waited_ms > b.waited_ms; });
  if (more != 0) {
    record r;
    r.kind = what::something;
    r.set_name(("waits of " + std::to_string(more) + " threads more").c_str());
    all.push_back(r);
  }
  if (!with_holders) return all;
  for (const record& r : asked_waits_.holders) {
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

record engine::record_of_note(const wait_note& n, std::uint64_t now_ns) const {
  record r;
  r.kind = n.kind;
  r.node = n.node;
  r.thread = n.thread;
  r.tid = n.tid;
  r.object = n.object;
  r.waited_ms = now_ns > n.since_ns ? (now_ns - n.since_ns) / ms : 0;
  std::string name = n.name, label;
  if (name.starts_with("quire_")) name += "()";
  if (n.kind == what::all_nodes) {
    if (const char* const outer = job_call_.name.load(std::memory_order_relaxed); outer != nullptr)
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

}  // namespace quire::engine
