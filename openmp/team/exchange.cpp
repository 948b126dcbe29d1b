// SPDX-License-Identifier: BSD-3-Clause
// A node that has nothing to do says so to the others, once to each until it gets something. These give it their oldest tasks when they have some, in a
// parcel of shared memory. The task stays open where it was made until the other node has told that it has left, with all that it has made there.
#include "openmp/team/exchange.hpp"

#include <quire/quire.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "openmp/start/fail.hpp"
#include "openmp/tasks/tree.hpp"
#include "openmp/team/mail.hpp"
#include "openmp/team/members.hpp"
#include "openmp/team/tasking.hpp"

namespace quire::openmp {
namespace {

using kind = letter::kind;

struct parcel {
  user_task* at_home;  ///< an address of the node that has made the task
  std::int32_t home;
  bool final;
  region_function run;
  void* arguments;
  variables own;
  std::uint32_t* cancelled;
  void* reductions;
};

std::mutex g_guard;  ///< of receiving, and of what follows
meeting_tree g_tree;
team* g_team = nullptr;  ///< the team of all nodes, while its region runs
std::atomic<bool>*g_asked = nullptr, *g_hungry = nullptr;  ///< by node: whom this one has asked, and who has asked it
std::atomic<int> g_hungry_nodes{0};
std::atomic<std::uint64_t> g_calls{0}, g_last_feed{0};

/// Meetings of all regions, in their order; that at the end of a region is its last.
constexpr unsigned round_bits = 32;
constexpr std::uint64_t last_round = (std::uint64_t{1} << round_bits) - 1;

void release_here(std::uint64_t number) noexcept {
  team* const t = g_team;
  if (t == nullptr || t->sequence != number >> round_bits) return;
  const std::uint64_t round = number & last_round;
  if (round == last_round) {
    t->end.released.store(1, std::memory_order_release);
    g_team = nullptr;
  } else {
    t->within.released.store(round, std::memory_order_release);
  }
  t->happened.tell();
}

/// Tells those below, before this node's threads go on and have others to tell.
void on_released(std::uint64_t number) noexcept {
  g_tree.on_released(number);
  for (int i = 0; i < g_tree.children(); ++i) send(g_tree.first_child() + i, {kind::released, number});
  release_here(number);
}

void go_on_with_meeting() noexcept {
  const std::uint64_t number = g_tree.take_complete();
  if (number == 0) return;
  if (!g_tree.is_root()) return send(g_tree.parent(), {kind::arrived, number});
  if (shared().common.cancelled_share != 0) __atomic_store_n(&shared().common.cancelled_share, 0, __ATOMIC_RELEASE);
  on_released(number);
}

void unpack(const parcel& p) noexcept {
  team& in = *g_team;
  auto* const its = make_private<group>();
  its->origin = const_cast<parcel*>(&p);
  its->cancelled = p.cancelled;
  its->reductions = p.reductions;
  user_task* const t = make_task_on(p.run, p.arguments);
  t->own = p.own;
  t->final = p.final;
  t->parcel = const_cast<parcel*>(&p);
  const std::lock_guard held(in.guard);
  if (in.stand_in == nullptr) in.stand_in = make_private<user_task>();
  in.tasks.add_from_elsewhere(*t, *in.stand_in, *its);
}

/// The task may have come from a third node, which is told in its turn.
void on_end(parcel* p, bool all) noexcept {
  team& in = *g_team;
  void* const before = all ? nullptr : p->at_home->parcel;
  {
    const std::lock_guard held(in.guard);
    if (all) {
      in.tasks.left_elsewhere(*p->at_home);
    } else {
      in.tasks.ended_elsewhere(*p->at_home);
    }
  }
  if (before != nullptr) tell_of_end(before);
  if (!all) return;
  (void)quire_free(p);
  tell_of_empty_groups(in);
}

void on_letter(const letter& l, int from) noexcept {
  switch (l.what) {
    case kind::arrived: return g_tree.on_arrived(from, l.value);
    case kind::released: return on_released(l.value);
    case kind::hungry:
      if (!g_hungry[from].exchange(true)) g_hungry_nodes.fetch_add(1);
      return;
    case kind::given:
      g_asked[from] = false;
      unpack(*reinterpret_cast<parcel*>(l.value));
      break;
    case kind::ended:
    case kind::left: on_end(reinterpret_cast<parcel*>(l.value), l.what == kind::left); break;
    case kind::none: return;
  }
  if (g_team != nullptr) g_team->happened.tell();
}

void* reductions_of(const team& in, const task& t) noexcept {
  for (const group* g = t.in; g != nullptr; g = g->outer) {
    if (g->reductions != nullptr) return g->reductions;
  }
  return in.reductions;
}

parcel* pack(const team& in, user_task& t) noexcept {
  void* memory = nullptr;
  if (const quire_status why = quire_malloc(sizeof(parcel), &memory); why != QUIRE_OK) fail("no shared memory for a task", why);
  auto* const p = static_cast<parcel*>(memory);
  *p = {&t, job().node, t.final, t.run, t.arguments, t.own, t.in != nullptr ? t.in->cancelled : nullptr, reductions_of(in, t)};
  return p;
}

std::uint64_t now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// Half of what is ready, at most a few for each thread, and not too often: small tasks cost less than their way. The last one stays.
void feed(team& in, int node) noexcept {
  constexpr std::uint64_t most = 64, often_ns = 300'000;
  const std::uint64_t now = now_ns();
  std::uint64_t last = g_last_feed.load(std::memory_order_relaxed);
  if (now - last < often_ns || !g_last_feed.compare_exchange_strong(last, now)) return;
  task* taken[most];
  std::uint64_t count = 0;
  {
    const std::lock_guard held(in.guard);
    const std::uint64_t ready = in.tasks.ready();
    const std::uint64_t share = std::min({ready / 2, most, 4 + 2 * static_cast<std::uint64_t>(in.here)});
    for (; count < share; ++count) {
      if ((taken[count] = in.tasks.take_away()) == nullptr) break;
    }
  }
  if (count == 0) return;
  if (g_hungry[node].exchange(false)) g_hungry_nodes.fetch_sub(1);
  for (std::uint64_t i = 0; i < count; ++i) send(node, {kind::given, reinterpret_cast<std::uintptr_t>(pack(in, static_cast<user_task&>(*taken[i])))});
}

/// Nodes that have asked get some of the tasks that are ready here.
void share_tasks(team& in) noexcept {
  for (int i = 1; i < job().nodes && g_hungry_nodes.load(std::memory_order_relaxed) != 0; ++i) {
    const int node = (job().node + i) % job().nodes;
    if (g_hungry[node].load(std::memory_order_relaxed)) feed(in, node);
  }
}

}  // namespace

void open_exchange() {
  const auto nodes = static_cast<std::size_t>(job().nodes);
  if (nodes == 1) return;
  g_tree.set(job().node, job().nodes);
  g_asked = static_cast<std::atomic<bool>*>(take_private(2 * nodes * sizeof(std::atomic<bool>)));
  g_hungry = g_asked + nodes;
  for (std::size_t i = 0; i < 2 * nodes; ++i) new (&g_asked[i]) std::atomic<bool>(false);
  open_mail();
}

void join_exchange(team& t) noexcept {
  const std::lock_guard held(g_guard);
  g_team = &t;
}

/// When the region has ended here, what comes is the next one's: it waits until that begins here.
void look_at_mail() noexcept {
  if (g_asked == nullptr) return;
  const std::unique_lock held(g_guard, std::try_to_lock);
  if (!held) return;
  letter l;
  int from = 0;
  for (int i = 0; i < 64 && g_team != nullptr && receive(l, from); ++i) on_letter(l, from);
  go_on_with_meeting();
  if (g_team != nullptr && g_hungry_nodes.load(std::memory_order_relaxed) != 0) share_tasks(*g_team);
}

void node_is_ready(team& in, std::uint64_t round, bool at_end) noexcept {
  const std::lock_guard held(g_guard);
  g_tree.on_ready(in.sequence << round_bits | (at_end ? last_round : round));
  go_on_with_meeting();
}

void ask_for_tasks(team& in) noexcept {
  if (!job().has_tasks) return;
  const int nodes = job().nodes;
  for (int i = 1; i < nodes; ++i) {
    const int node = (job().node + i) % nodes;
    if (g_asked[node].exchange(true)) continue;
    return send(node, {kind::hungry, in.sequence});
  }
}

void on_new_task(team& in) noexcept {
  constexpr std::uint64_t often = 8;
  if (in.spans && g_calls.fetch_add(1, std::memory_order_relaxed) % often == 0) look_at_mail();
}

void tell_of_end(void* at) noexcept {
  const auto* const p = static_cast<parcel*>(at);
  send(p->home, {kind::ended, reinterpret_cast<std::uintptr_t>(p)});
}

void tell_of_empty_groups(team& in) noexcept {
  if (!in.spans) return;
  for (;;) {
    group* g = nullptr;
    {
      const std::lock_guard held(in.guard);
      g = in.tasks.take_empty();
    }
    if (g == nullptr) return;
    auto* const p = static_cast<parcel*>(g->origin);
    destroy_private(g);
    send(p->home, {kind::left, reinterpret_cast<std::uintptr_t>(p)});
  }
}

}  // namespace quire::openmp
