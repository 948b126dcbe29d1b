// SPDX-License-Identifier: BSD-3-Clause
#include "program/omp/team/team.hpp"

#include <quire/quire.h>
#include <quire/system.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <span>
#include <utility>

#include "program/job/plan.hpp"
#include "program/omp/places/places.hpp"
#include "program/omp/team/affinity.hpp"
#include "program/omp/team/common_memory.hpp"
#include "program/omp/team/environment.hpp"
#include "program/omp/team/exchange.hpp"
#include "program/omp/team/meet.hpp"
#include "program/omp/team/members.hpp"
#include "program/omp/team/phase.hpp"
#include "program/omp/team/program.hpp"
#include "program/omp/team/sums.hpp"
#include "program/omp/team/take.hpp"
#include "program/omp/team/tasking.hpp"
#include "program/omp/team/workers.hpp"
#include "program/posix/errands/actions.hpp"
#include "program/posix/errands/output.hpp"
#include "program/posix/fortran/units.hpp"
#include "program/posix/memory/stacks.hpp"
#include "program/posix/memory/thread_data.hpp"
#include "program/posix/pthreads/starting.hpp"
#include "program/posix/threads/interrupts.hpp"
#include "program/posix/threads/records.hpp"
#include "program/process/fail.hpp"
#include "program/process/interpose.hpp"
#include "program/sites/arguments.hpp"

namespace quire::program {
namespace {

/// Travels as it is. No function: the job is over.
struct command {
  region_function what = nullptr;
  void* data = nullptr;
  std::int32_t threads = 0;
  std::uint32_t variables_version = 0;  ///< of shared_state::own
  loop first{};
  std::uint16_t carries = 0;  ///< bytes of `carried`; 0: the data lie where `data` says
  std::uint16_t adds = 0;     ///< words of these to which all nodes add
  std::uint32_t adds_by = 0;  ///< of its team, as that has it
  carried_data carried;
};
static_assert(sizeof(command) == 192);

std::uint32_t g_variables_version = 0;
variables g_variables;  ///< of that version
std::byte* g_lead_top = nullptr;
std::mutex g_teams_guard;
team* g_free_teams = nullptr;
thread_local context t_me;
thread_local bool t_is_main = false;
thread_local binding t_asked_binding = binding::none;  ///< of the next region
std::atomic<bool> g_stay{false};                       ///< no team spans nodes any more
std::uint64_t g_spanning = 0;                          ///< teams of all nodes so far
int g_places = 0;                                      ///< threads of the last team that places were made for

context enter(const team& t, int number) noexcept {
  context& c = t_me;
  const context before = c;
  c = {};
  c.number = number;
  c.count = t.threads;
  c.here = t.here;
  c.spans = t.spans;
  c.outer = &t.outer;
  c.level = t.outer.level + 1;
  c.active_level = t.outer.active_level + (t.threads > 1 ? 1 : 0);
  c.own = t.own;
  c.known = true;
  c.within = t.outer.within;
  if (has_bound_threads())
    c.seat =
        take_seat(binding_of_region(t.first.bind, t.outer.active_level), t.here, number - t.first_number, t.outer.seat);
  if (c.level < settings::most_levels && job().threads_at[c.level] != 0) c.own.threads = job().threads_at[c.level];
  return before;
}

/// The team of the nodes' threads; what it shares lies in shared memory.
void clear_common() noexcept {
  context& c = t_me;
  if (c.counted != 0) clear_counters(c.counted);
  if (c.kept != 0) clear_kept_memory();
  if (common().cancelled != 0) common().cancelled = 0;
  if (common().cancelled_share != 0) common().cancelled_share = 0;
}

/// The caller is in no region, nor in a target construct within one.
bool is_outermost() noexcept { return t_me.level == 0 && !t_me.within; }

/// A region that begins here has threads of all nodes.
bool may_span() noexcept { return is_outermost() && !regions_stay(); }

/// Node 0, before a region of so many threads. No function, but threads: nodes make places.
void need_places(int threads) noexcept {
  if (threads == g_places || has_places(threads)) return;
  g_places = threads;
  tell_of_places(threads);
}

/// Threads of other nodes read it in their own memory then, and the page stays where the master writes it.
void carry(command& c, std::size_t read) noexcept {
  if (c.data == nullptr || c.first.reductions) return;
  if (read == by_code) {
    const data_use* const use = use_of_data(c.what, carried_data::most);
    if (use == nullptr) return;
    read = use->read;
    // In one memory they add as threads of a node do.
    if (use->sums.count != 0 && !use->locks_block_only && quire_has_one_memory(c.data) != 0) return;
    // In programs with tasks a region's end is another one.
    if (use->sums.count != 0 && (polls() || !put_sums(use->sums, read, c.carried))) return;
    c.adds = use->sums.count;
    c.adds_by = use->locks_block_only ? use->code : 0;
  }
  if (read == 0 || read > carried_data::most) return;
  std::memcpy(c.carried.bytes, c.data, read);
  c.carries = static_cast<std::uint16_t>(read);
}

/// A region begins on all nodes that have a part in it.
command tell_nodes(region_function what, void* data, int threads, const loop& first, std::size_t read) noexcept {
  if (own_variables() != g_variables) {
    g_variables = t_me.own;
    ++g_variables_version;
    shared().own = g_variables;
  }
  need_places(threads);
  command c{what, data, threads, g_variables_version, first, 0, 0, 0, {}};
  c.first.bind = std::exchange(t_asked_binding, binding::none);
  if (!spans_nodes(threads, job().nodes)) return c;
  carry(c, read);
  write_output();
  flush_units();
  command told = c;
  if (const quire_status why = quire_broadcast(&told, sizeof told, 0); why != QUIRE_OK)
    fail("a parallel region cannot begin", why);
  return c;
}

/// Tells a region from others: its function, unless that is one for all regions (kmp).
const void* code_of(const command& c) noexcept {
  if (c.first.iterations == 0 && c.first.start != 0) return reinterpret_cast<const void*>(c.first.start);
  return reinterpret_cast<const void*>(c.what);
}

/// This node's part of an outermost region, with all its threads but the caller, which is the first here.
team& begin_here(const command& c, const share& mine) noexcept {
  if (c.variables_version != g_variables_version) {
    g_variables = shared().own;
    g_variables_version = c.variables_version;
  }
  team& t = take_team();
  t.what = c.what;
  t.data = c.data;
  if (job().node != 0 && c.carries != 0) {
    t.carried = c.carried;
    t.data = t.carried.bytes;
  }
  t.sums = c.adds != 0 ? sums_of(c.carried, c.adds) : sites::summed_words{};
  t.adds_by = c.adds_by;
  if (job().node != 0) begin_sums(t.sums, t.carried.bytes);
  t.first = c.first;
  t.threads = c.threads;
  t.first_number = mine.first;
  t.here = mine.count;
  t.spans = spans_nodes(c.threads, job().nodes);
  t.outer = job().node == 0 ? t_me : context{};
  t.own = g_variables;
  t.reductions = c.first.reductions ? *static_cast<void**>(c.data) : nullptr;
  t.inside = mine.count;
  if (t.spans) t.sequence = ++g_spanning;
  if (t.spans && polls()) join_exchange(t);
  if (t.spans) begin_phase(code_of(c));
  call_workers(t, mine.first + 1, mine.count - 1, true);
  return t;
}

void run_here(const command& c) noexcept {
  const share mine = share_of(job().node, c.threads, job().nodes);
  if (mine.count == 0) return;
  take_part(begin_here(c, mine), mine.first);
}

/// A region within a region: threads of this node.
team& begin_within(region_function what, void* data, int threads, const loop& first) noexcept {
  team& t = take_team();
  t.what = what;
  t.data = data;
  t.first = first;
  t.first.bind = std::exchange(t_asked_binding, binding::none);
  t.threads = t.here = threads;
  t.first_number = 0;
  t.spans = false;
  t.outer = t_me;
  t.own = own_variables();
  t.reductions = first.reductions ? *static_cast<void**>(data) : nullptr;
  t.inside = threads + 1;  // the caller needs it beyond the end
  call_workers(t, 1, threads - 1, false);
  return t;
}
void end_within(team& t) noexcept {
  release_workers(t);
  leave_team(t);
}
void run_within(region_function what, void* data, int threads, const loop& first) noexcept {
  team& t = begin_within(what, data, threads, first);
  take_part(t, 0);
  end_within(t);
}

/// The caller is thread `number` of the team from here on ...
context begin_part(team& t, int number) noexcept {
  const context before = enter(t, number);
  t_me.in = t.first;
  t_me.in_team = &t;
  return before;
}
/// The last thread of a node at the end of a region of all nodes. Of other nodes than node 0 the next region's
/// broadcast says that it has come (serve).
void end_on_node(team& t) noexcept {
  write_output();
  if (t.sums.count != 0) {
    add_up(t.sums, static_cast<std::byte*>(t.data));
  } else if (job().node == 0) {
    if (const quire_status why = quire_await_nodes(); why != QUIRE_OK) fail("a parallel region cannot end", why);
  }
  begin_phase(nullptr);
}

/// ... and until here.
void end_part(team& t, const context& before) noexcept {
  if (polls()) {
    meet_at_end(t);
  } else if (t.spans) {
    t.barrier.wait(t.here, [&t] { end_on_node(t); });
  } else {
    team_barrier();
  }
  // Nobody is in a loop any more.
  if (t_me.number == 0) clear_common();
  if (t.spans && t_me.number == 0) begin_serial_phase();
  end_implicit_task();
  t_me = before;
  leave_team(t);
}

void run_alone(region_function what, void* data, const loop& first) noexcept {
  const context before = enter_alone();
  t_me.outer = &before;
  t_me.in = first;
  if (first.reductions) own_team().reductions = *static_cast<void**>(data);
  what(data);
  end_lone_team();
  t_me = before;
}

/// What a thread was before a region whose end is a call.
struct kept_context {
  context before;
  team* of;  ///< null: it is alone
  bool outermost;
  kept_context* below;
};
thread_local kept_context* t_kept = nullptr;

void keep(const context& before, team* of, bool outermost) noexcept {
  t_kept = make_private<kept_context>(before, of, outermost, t_kept);
  if (of == nullptr) t_me.outer = &t_kept->before;
}

void must_agree(quire_status why) noexcept {
  if (why != QUIRE_OK) fail("nodes cannot agree on their processors", why);
}

/// Of all nodes, each counted once. Where all may use the same ones, those of a host share them; where a launcher has
/// given each its own, as srun does, they differ.
int processors_of_all() noexcept {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  const bool known = ::sched_getaffinity(0, sizeof mine, &mine) == 0;
  std::uint64_t sum = 0xcbf29ce484222325;
  for (const unsigned char byte : std::span(reinterpret_cast<const unsigned char*>(&mine), sizeof mine))
    sum = (sum ^ byte) * 0x100000001b3;
  const auto which = static_cast<std::int64_t>(sum >> 2);
  std::int64_t same[] = {which, -which};
  must_agree(quire_reduce_i64(same, 2, QUIRE_MIN));
  const int sharers = same[0] == -same[1] ? std::max(quire_local_nodes(), 1) : 1;
  constexpr std::int64_t parts = 1 << 20;
  std::int64_t processors = (known ? CPU_COUNT(&mine) : 1) * parts / sharers;
  must_agree(quire_reduce_i64(&processors, 1, QUIRE_SUM));
  return std::max(static_cast<int>((processors + parts / 2) / parts), 1);
}

/// As node 0 has them, in pieces.
void agree_on(settings& job) noexcept {
  const settings own = job;
  std::array<std::byte, (sizeof(settings) + 63) / 64 * 64> all{};
  std::memcpy(all.data(), &job, sizeof job);
  for (std::size_t at = 0; at < all.size(); at += 64) {
    if (const quire_status why = quire_broadcast(all.data() + at, 64, 0); why != QUIRE_OK)
      fail("nodes cannot agree on their settings", why);
  }
  std::memcpy(&job, all.data(), sizeof job);
  job.node = own.node;
}

/// A node's threads have numbers in a table, and stacks.
void limit_threads(settings& job) noexcept {
  const int most = job.nodes * (most_workers + 1);
  if (job.first.threads <= most) return;
  std::fprintf(stderr, "quire: OpenMP: %d threads are more than %d nodes can have, which is %d: regions have these\n",
               job.first.threads, job.nodes, most);
  job.first.threads = most;
}

}  // namespace

void keep_regions() noexcept { g_stay.store(true, std::memory_order_relaxed); }
bool regions_stay() noexcept { return g_stay.load(std::memory_order_relaxed); }
void begin_main_thread() noexcept { t_is_main = true; }
void ask_binding(binding how) noexcept { t_asked_binding = how; }
context& me() noexcept { return t_me; }

void tell_of_places(int threads) noexcept {
  command told{nullptr, nullptr, threads, g_variables_version, {}, 0, 0, 0, {}};
  if (const quire_status why = quire_broadcast(&told, sizeof told, 0); why != QUIRE_OK)
    fail("nodes cannot make places for threads", why);
  make_places(threads);
}

variables& own_variables() noexcept {
  context& c = t_me;
  if (!c.known) {
    c.own = job().first;
    c.known = true;
  }
  return c.own;
}

common_state& common() noexcept { return t_me.spans ? shared().common : own_team().common; }

team& take_team() noexcept {
  const std::lock_guard held(g_teams_guard);
  team* const t = g_free_teams;
  if (t == nullptr) return *make_private<team>();
  g_free_teams = t->next_free;
  return *t;
}

void give_team(team& t) noexcept {
  for (meeting* const m : {&t.within, &t.end}) m->arrived = m->closed = m->released = 0;
  t.reductions = nullptr;
  t.adds_by = 0;
  t.singles = 0;
  const std::lock_guard held(g_teams_guard);
  t.next_free = g_free_teams;
  g_free_teams = &t;
}

void leave_team(team& t) noexcept {
  if (t.inside.fetch_sub(1, std::memory_order_acq_rel) == 1) give_team(t);
}

team& own_team() noexcept {
  context& c = t_me;
  if (c.in_team == nullptr) {
    c.in_team = &take_team();
    c.in_team->threads = c.in_team->here = 1;
    c.in_team->spans = false;
  }
  return *c.in_team;
}

context enter_alone() noexcept {
  (void)own_variables();
  const context before = t_me;
  context& c = t_me;
  c = {};
  c.level = before.level + 1;
  c.active_level = before.active_level;
  c.own = before.own;
  c.known = true;
  c.seat = before.seat;
  t_asked_binding = binding::none;
  return before;
}

void open_team() {
  tell_of_places_by(tell_of_places);
  job().node = quire_node();
  job().nodes = quire_nodes();
  job().main_thread = ::pthread_self();
  job().processors = processors_of_all();
  job().first.threads = job().processors;
  job().has_tasks = program_has_tasks();
  job().for_llvm = program_is_for_llvm();
  if (job().for_llvm) {
    job().first.schedule = loop::schedule::blocks;
    job().first.chunk = 0;
  }
  if (job().node == 0) {
    read_environment(job());
    limit_threads(job());
  }
  agree_on(job());
  if (job().display && job().node == 0) display_environment(false);
  g_variables = job().first;
  if (polls()) open_exchange();
  if (job().node == 0 && job().nodes > 1) open_arguments();
}

int threads_of_region(unsigned threads) noexcept {
  const context& c = t_me;
  if (has_placement()) return 1;  // a library's: the program has no OpenMP
  const variables& own = own_variables();
  const int wanted =
      std::min(threads != 0 ? static_cast<int>(std::min(threads, 1u << 20)) : own.threads, own.thread_limit);
  if (wanted <= 1 || c.active_level >= own.most_active_levels ||
      !on_stack(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))))
    return 1;
  if (is_outermost() && !t_is_main) return 1;  // a thread of the program's own
  if (may_span()) return std::min(wanted, job().nodes * (most_workers + 1));
  return std::min(wanted, idle_workers() + 1);
}

/// The master runs one page below the data that it hands over, lest its own frames take that page from who reads it.
void run_region(region_function what, void* data, unsigned threads, const loop& first, std::size_t read) noexcept {
  const int wanted = threads_of_region(threads);
  if (wanted == 1) return run_alone(what, data, first);
  if (!may_span()) return run_within(what, data, wanted, first);
  const command c = tell_nodes(what, data, wanted, first, read);
  constexpr std::uintptr_t page = 4096;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  auto* const below = reinterpret_cast<std::byte*>((here - page) / page * page);
  call_on(
      below, [](void* at) { run_here(*static_cast<const command*>(at)); }, const_cast<command*>(&c));
}

void begin_alone() noexcept { keep(enter_alone(), nullptr, false); }
void end_alone() noexcept { end_region(); }

void begin_region(region_function what, void* data, unsigned threads, const loop& first) noexcept {
  const int wanted = threads_of_region(threads);
  if (wanted == 1) {
    begin_alone();
    t_me.in = first;
  } else if (may_span()) {
    const command c = tell_nodes(what, data, wanted, first, 0);
    team& t = begin_here(c, share_of(job().node, wanted, job().nodes));
    keep(begin_part(t, 0), &t, true);
    if (job().display_affinity) show_affinity();
  } else {
    team& t = begin_within(what, data, wanted, first);
    keep(begin_part(t, 0), &t, false);
  }
}

void end_region() noexcept {
  kept_context* const kept = t_kept;
  if (kept == nullptr) fail("a region ends that has not begun", QUIRE_INVALID);
  t_kept = kept->below;
  if (kept->of == nullptr) {
    end_lone_team();
    t_me = kept->before;
  } else {
    end_part(*kept->of, kept->before);
    if (!kept->outermost) end_within(*kept->of);
  }
  destroy_private(kept);
}

void run_initial(region_function run, void* data) noexcept {
  const context before = enter_alone();
  context& c = t_me;
  c.level = c.active_level = 0;
  c.outer = nullptr;
  c.within = before.level > 0 || before.within;
  run(data);
  end_lone_team();
  t_me = before;
}

void take_part(team& t, int number) noexcept {
  const context before = begin_part(t, number);
  if (job().display_affinity) show_affinity();
  t.what(t.data);
  end_part(t, before);
}

void team_barrier(const void* code) noexcept {
  const context& c = t_me;
  if (polls() && c.in_team != nullptr) return meet(*c.in_team);
  if (c.count == 1) return;
  c.in_team->barrier.wait(c.here, [&] {
    if (!c.spans) return;
    write_output();
    if (const quire_status why = quire_barrier_wait(quire_barrier{0}); why != QUIRE_OK)
      fail("a barrier cannot end", why);
    begin_phase(code);
  });
}

bool meet_on_node(void* what, void (*last)(const brought*, void*), void* argument) noexcept {
  team& t = own_team();
  brought own{what, t.offered.load(std::memory_order_relaxed)};
  while (!t.offered.compare_exchange_weak(own.next, &own, std::memory_order_acq_rel)) {
  }
  bool mine = false;
  t.barrier.wait(t_me.here, [&] {
    mine = true;
    last(t.offered.exchange(nullptr, std::memory_order_acq_rel), argument);
  });
  return mine;
}

void serve() noexcept {
  g_lead_top = make_stack(job().stack_bytes);
  remember_private_stack();
  begin_to_let_in();
  bool first = true;
  for (command c;;) {
    if (const quire_status why = quire_broadcast(&c, sizeof c, 0); why != QUIRE_OK) fail("node 0 cannot be heard", why);
    if (c.what == nullptr && c.threads == 0) return;
    if (c.what == nullptr) {
      make_places(c.threads);
      continue;
    }
    if (std::exchange(first, false)) repeat_fortran_settings();
    repeat_actions();
    call_on(
        g_lead_top, [](void* at) { run_here(*static_cast<const command*>(at)); }, &c);
    (void)QUIRE_NEXT(fflush)(nullptr);
    flush_units();
  }
}

void dismiss() noexcept {
  command c;
  if (job().nodes > 1) (void)!quire_broadcast(&c, sizeof c, 0);
}

}  // namespace quire::program
