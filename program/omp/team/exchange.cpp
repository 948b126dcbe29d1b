// SPDX-License-Identifier: BSD-3-Clause
// A node that has nothing to do says so to the others, once to each until it gets something. These give it their oldest
// tasks when they have some, in a parcel of shared memory. The task stays open where it was made until the other node
// has told that it has left, with all that it has made there.
#include "program/omp/team/exchange.hpp"

#include <quire/quire.h>
#include <sched.h>
#include <time.h>

#include <atomic>
#include <mutex>

#include "program/omp/team/mail.hpp"
#include "program/omp/team/members.hpp"
#include "program/omp/team/steps/exchange.hpp"
#include "program/omp/team/tasking.hpp"
#include "program/process/fail.hpp"

namespace quire::program {
namespace {

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

std::mutex g_guard;                    ///< of receiving, and of what follows
team* g_team = nullptr;                ///< the team of all nodes, while its region runs
std::atomic<bool>* g_asked = nullptr;  ///< by node: whom this one has asked
bool* g_hungry = nullptr;              ///< and who has asked it
std::uint64_t g_last_feed = 0;
std::atomic<std::uint64_t> g_calls{0};

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
  {
    const std::lock_guard held(in.guard);
    if (in.stand_in == nullptr) in.stand_in = make_private<user_task>();
    in.tasks.add_from_elsewhere(*t, *in.stand_in, *its);
  }
  in.happened.tell();
}

void* reductions_of(const team& in, const task& t) noexcept {
  for (const group* g = t.in; g != nullptr; g = g->outer) {
    if (g->reductions != nullptr) return g->reductions;
  }
  return in.reductions;
}

parcel* pack(const team& in, user_task& t) noexcept {
  void* memory = nullptr;
  if (const quire_status why = quire_malloc(sizeof(parcel), &memory); why != QUIRE_OK)
    fail("no shared memory for a task", why);
  auto* const p = static_cast<parcel*>(memory);
  *p = {&t,
        job().node,
        t.final,
        t.run,
        t.arguments,
        t.own,
        t.in != nullptr ? t.in->cancelled : nullptr,
        reductions_of(in, t)};
  return p;
}

std::uint64_t now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// Small tasks cost less than their way: they do not go too often. With the guard.
bool may_feed() noexcept {
  constexpr std::uint64_t often_ns = 300'000;
  const std::uint64_t now = now_ns();
  if (now - g_last_feed < often_ns) return false;
  g_last_feed = now;
  return true;
}

/// What the steps have around them in a process.
struct surroundings {
  using parcel = quire::program::parcel;
  using team = quire::program::team;
  static constexpr std::uint64_t most_given = 64;
  /// Until there is room in a ring of another node, which tells nobody.
  struct room {
    void look() noexcept {}
    void wait() noexcept { ::sched_yield(); }
  };

  static int node() noexcept { return job().node; }
  static int nodes() noexcept { return job().nodes; }
  static std::mutex& guard() noexcept { return g_guard; }
  static std::atomic<bool>& asked(int node) noexcept { return g_asked[node]; }
  static bool& hungry(int node) noexcept { return g_hungry[node]; }

  static bool try_send(int node, const letter& l) noexcept { return quire::program::try_send(node, l); }
  static bool receive(letter& l, int& from) noexcept { return quire::program::receive(l, from); }
  static room watch_room() noexcept { return {}; }

  static bool in_region() noexcept { return g_team != nullptr; }
  static team& team_of_all() noexcept { return *g_team; }
  static bool spans(const team& in) noexcept { return in.spans; }
  static void tell() noexcept { g_team->happened.tell(); }
  static void release(std::uint64_t number) noexcept { release_here(number); }
  /// On node 0: nobody is in a loop any more.
  static void on_all_met() noexcept {
    if (shared().common.cancelled_share != 0) __atomic_store_n(&shared().common.cancelled_share, 0, __ATOMIC_RELEASE);
  }

  template <class F>
  static decltype(auto) with_tasks(team& in, F&& f) noexcept {
    const std::lock_guard held(in.guard);
    return f(in.tasks);
  }
  static bool may_feed() noexcept { return quire::program::may_feed(); }
  static std::uint64_t threads_of(const team& in) noexcept { return static_cast<std::uint64_t>(in.here); }
  static parcel* pack(const team& in, task& t) noexcept { return quire::program::pack(in, static_cast<user_task&>(t)); }
  static void unpack(parcel* p) noexcept { quire::program::unpack(*p); }
  static std::uint64_t number_of(const parcel* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }
  static parcel* parcel_of(std::uint64_t number) noexcept { return reinterpret_cast<parcel*>(number); }
  static void destroy(parcel* p) noexcept { (void)quire_free(p); }
  static void destroy(group* g) noexcept { destroy_private(g); }
};

surroundings g_surroundings;
constinit steps::exchange<surroundings> g_exchange(g_surroundings);

}  // namespace

void open_exchange() {
  const auto nodes = static_cast<std::size_t>(job().nodes);
  if (nodes == 1) return;
  g_exchange.open(job().node, job().nodes);
  g_asked = static_cast<std::atomic<bool>*>(take_private(nodes * sizeof(std::atomic<bool>)));
  g_hungry = static_cast<bool*>(take_private(nodes * sizeof(bool)));
  for (std::size_t i = 0; i < nodes; ++i) {
    new (&g_asked[i]) std::atomic<bool>(false);
    g_hungry[i] = false;
  }
  open_mail();
}

void join_exchange(team& t) noexcept {
  const std::lock_guard held(g_guard);
  g_team = &t;
}

void look_at_mail() noexcept {
  if (g_asked != nullptr) g_exchange.look();
}

void node_is_ready(team& in, std::uint64_t round, bool at_end) noexcept {
  g_exchange.ready(in.sequence << round_bits | (at_end ? last_round : round));
}

void ask_for_tasks() noexcept {
  if (job().has_tasks) g_exchange.ask();
}

void on_new_task(team& in) noexcept {
  constexpr std::uint64_t often = 8;
  if (in.spans && g_calls.fetch_add(1, std::memory_order_relaxed) % often == 0) look_at_mail();
}

void end_body(team& in, user_task& t) noexcept { g_exchange.end_body(in, t); }

}  // namespace quire::program
