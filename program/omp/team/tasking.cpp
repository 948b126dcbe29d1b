// SPDX-License-Identifier: BSD-3-Clause
// Threads, and what they do while they wait. A node's tasks are in one pool of their team, under one lock; bodies run
// without it.
#include "program/omp/team/tasking.hpp"

#include <quire/quire.h>

#include <initializer_list>

#include "program/omp/team/exchange.hpp"
#include "program/omp/team/members.hpp"
#include "program/posix/errands/locks.hpp"
#include "program/posix/memory/stacks.hpp"
#include "program/process/fail.hpp"

namespace quire::program {
namespace {

/// The record of the task that the caller runs.
user_task& current() noexcept {
  context& c = me();
  if (c.now != nullptr) return *c.now;
  c.implicit = c.now = make_private<user_task>();
  return *c.now;
}

bool is_cancelled(const user_task& t) noexcept {
  return t.in != nullptr && t.in->cancelled != nullptr && __atomic_load_n(t.in->cancelled, __ATOMIC_RELAXED) != 0;
}

void call_body(void* at) noexcept {
  const user_task& t = *static_cast<user_task*>(at);
  t.run(t.arguments);
}

/// A task that is not missing anything, from its body to its end.
void run_body(team& in, user_task& t) noexcept {
  context& c = me();
  user_task* const before = c.now;
  const variables kept = c.own;
  c.now = &t;
  c.own = t.own;
  if (!is_cancelled(t)) call_with_room(job().stack_bytes, call_body, &t);
  c.now = before;
  c.own = kept;
  end_body(in, t);
  in.happened.tell();
}

/// Shared, and zero.
void* new_word() noexcept {
  void* memory = nullptr;
  if (const quire_status why = quire_calloc(1, sizeof(std::uint64_t), &memory); why != QUIRE_OK)
    fail("no shared memory for a word", why);
  return memory;
}

/// Takes and runs one; false: there is none.
template <class Take>
bool run_one(team& in, Take&& take) noexcept {
  task* t = nullptr;
  {
    const std::lock_guard held(in.guard);
    t = take(in.tasks);
  }
  if (t == nullptr) return false;
  run_body(in, static_cast<user_task&>(*t));
  return true;
}

/// Runs what `take` finds until `done`, which is asked under the lock. Of a team of all nodes the thread runs anything
/// when it has found nothing for a while, unless it has a lock: what it waits for may be on another node, whose threads
/// wait for what has come here. Nobody waits in a circle, as a task waits for what has begun later than itself, and has
/// begun later than what is below it on its stack.
template <class Done, class Take>
void wait_until(team& in, Done&& done, Take&& take) noexcept {
  constexpr unsigned a_while = 100;
  unsigned idle = 0;
  for (news_watch watch(in.happened, in.spans ? 0 : in.here);;) {
    watch.look();
    look_at_events(in);
    look_at_mail();
    {
      const std::lock_guard held(in.guard);
      if (done()) return;
    }
    if (run_one(in, take) || (in.spans && ++idle > a_while && locks_held() == 0 && run_any(in))) {
      idle = 0;
    } else {
      watch.wait();
    }
  }
}

/// Those that are ready beyond this are run by their makers: memory for tasks is no endless queue.
bool has_enough(const team& t) noexcept { return t.tasks.ready() > 64 + 64 * static_cast<std::uint64_t>(t.here); }

void prepare(user_task& t, const task_options& options) noexcept {
  const user_task& maker = current();
  t.own = own_variables();
  t.final = options.final || maker.final;
  t.event_open = t.event != nullptr;
}

/// The task, which is prepared, is one of the team's from here on. The caller has its lock.
void add_task(team& in, user_task& t, task& maker, const task_options& options) {
  in.tasks.add(t, maker, options.on);
  if (!t.event_open) return;
  t.next_event = in.open_events;
  in.open_events = &t;
}

}  // namespace

void look_at_events(team& in) noexcept {
  if (in.open_events == nullptr) return;
  const std::lock_guard held(in.guard);
  for (user_task** at = &in.open_events; *at != nullptr;) {
    user_task& t = **at;
    if (__atomic_load_n(t.event, __ATOMIC_ACQUIRE) == 0) {
      at = &t.next_event;
      continue;
    }
    *at = t.next_event;
    in.tasks.fulfil(t);
  }
}

bool run_any(team& in) noexcept {
  return run_one(in, [](pool& p) { return p.take_any(); });
}

void dispose_task(task& t) noexcept {
  auto* const u = static_cast<user_task*>(&t);
  for (void* const memory : {u->memory, static_cast<void*>(u->event)}) {
    if (memory != nullptr) (void)quire_free(memory);
  }
  destroy_private(u);
}

user_task* make_task_on(region_function run, void* arguments) noexcept {
  auto* const t = make_private<user_task>();
  t->run = run;
  t->arguments = arguments;
  return t;
}

user_task* make_task(region_function run, std::size_t bytes, std::size_t alignment) noexcept {
  void* memory = nullptr;
  const std::size_t least = alignment < 16 ? 16 : alignment;
  if (const quire_status why = quire_aligned_alloc(least, bytes != 0 ? bytes : 1, &memory); why != QUIRE_OK)
    fail("no shared memory for a task", why);
  user_task* const t = make_task_on(run, memory);
  t->memory = memory;
  return t;
}

bool runs_at_once(const task_options& options) noexcept {
  if (!options.deferred || options.final || current().final) return true;
  return !job().has_tasks || (me().count == 1 && options.on.empty());
}

void start_task(user_task* t, const task_options& options) noexcept {
  team& in = own_team();
  prepare(*t, options);
  const bool now = !options.deferred || t->final || !job().has_tasks;
  user_task& maker = current();
  bool ready = false, wanted = false;
  {
    const std::lock_guard held(in.guard);
    add_task(in, *t, maker, options);
    ready = pool::may_run(*t);
    // Where nobody else would run it, or too many wait already, it waits only for what is missing.
    wanted = !now && !(ready && (me().count == 1 || has_enough(in)));
    if (wanted) in.tasks.queue(*t);
    if (now) ++t->references;
  }
  if (wanted) {
    on_new_task(in);
    return in.happened.tell();
  }
  const auto take = [&](pool& p) { return p.take_below(maker); };
  if (!ready)
    wait_until(
        in, [&] { return pool::may_run(*t); }, take);
  run_body(in, *t);
  if (!now) return;
  wait_until(
      in, [&] { return t->finished; }, take);
  const std::lock_guard held(in.guard);
  in.tasks.drop(*t);
}

void begin_task_here(user_task* t, const task_options& options) noexcept {
  team& in = own_team();
  prepare(*t, options);
  t->maker = &current();
  t->makers = me().own;
  {
    const std::lock_guard held(in.guard);
    add_task(in, *t, *t->maker, options);
    ++t->references;
  }
  wait_until(
      in, [&] { return pool::may_run(*t); }, [&](pool& p) { return p.take_below(*t->maker); });
  me().now = t;
  me().own = t->own;
}

void end_task_here(user_task* t) noexcept {
  team& in = own_team();
  me().now = t->maker;
  me().own = t->makers;
  end_body(in, *t);
  in.happened.tell();
  wait_until(
      in, [&] { return t->finished; }, [&](pool& p) { return p.take_below(*t->maker); });
  const std::lock_guard held(in.guard);
  in.tasks.drop(*t);
}

void* event_of(user_task& t) noexcept {
  t.event = static_cast<std::uint64_t*>(new_word());
  return t.event;
}

void fulfil_event(void* event) noexcept {
  __atomic_store_n(static_cast<std::uint64_t*>(event), 1, __ATOMIC_RELEASE);
  if (me().in_team != nullptr) me().in_team->happened.tell();
}

void wait_for_children() noexcept {
  context& c = me();
  if (c.now == nullptr || c.in_team == nullptr) return;
  user_task& now = *c.now;
  wait_until(
      *c.in_team, [&] { return now.children == 0; }, [&](pool& p) { return p.take_below(now); });
}

void wait_for_dependences(std::span<const dependence> on) noexcept {
  context& c = me();
  if (c.now == nullptr || c.in_team == nullptr) return;
  start_task(make_task_on([](void*) {}, nullptr), {.deferred = false, .on = on});
}

void start_empty_task(std::span<const dependence> on) noexcept {
  start_task(make_task_on([](void*) {}, nullptr), {.on = on});
}

void yield_to_tasks() noexcept {
  context& c = me();
  if (c.now == nullptr || c.in_team == nullptr) return;
  (void)run_one(*c.in_team, [&](pool& p) { return p.take_below(*c.now); });
}

void begin_group() noexcept {
  user_task& now = current();
  auto* const g = make_private<group>();
  g->outer = now.in;
  if (job().cancellation) g->cancelled = static_cast<std::uint32_t*>(new_word());
  now.in = g;
}

void end_group() noexcept {
  user_task& now = current();
  group* const g = now.in;
  if (g == nullptr) return;
  team& in = own_team();
  wait_until(
      in, [&] { return g->tasks == 0; }, [&](pool& p) { return p.take_of(*g, now); });
  now.in = g->outer;
  if (g->cancelled != nullptr) (void)quire_free(g->cancelled);
  destroy_private(g);
}

group* group_of_caller() noexcept { return me().now != nullptr ? me().now->in : nullptr; }
bool in_final_task() noexcept { return me().now != nullptr && me().now->final; }

void end_lone_team() noexcept {
  context& c = me();
  if (c.in_team == nullptr) return;
  team& in = *c.in_team;
  wait_until(
      in, [&] { return in.tasks.idle(); }, [](pool& p) { return p.take_any(); });
  end_implicit_task();
  c.in_team = nullptr;
  give_team(in);
}

void end_implicit_task() noexcept {
  context& c = me();
  if (c.implicit == nullptr) return;
  const std::lock_guard held(c.in_team->guard);
  c.in_team->tasks.drop(*c.implicit);
  c.implicit = c.now = nullptr;
}

}  // namespace quire::program
