// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/groups.hpp"

#include <string>

#include "core/sync_calls.hpp"

namespace quire::whole {

using sync::operation;

namespace {
constexpr auto add = model::atomic_operation::add;
constexpr unsigned slots = 4, first_counter = 64;  // words before that are read and written
constexpr unsigned first_number = 100;             // of a group's threads on their nodes
constexpr unsigned readers_of_a_flag = 2, members_of_a_chain = 4;
}  // namespace

groups::groups(world& w, const groups_options& options, std::uint64_t seed)
    : world_(w), options_(options), draw_(sim::mix(seed ^ 0x6709)) {
  for (unsigned i = 0; i < options.count; ++i) {
    auto what = static_cast<kind>(draw_.below(static_cast<unsigned>(kind::last) + 1));
    if (options.flags_only) what = draw_.chance(70) ? kind::flag : kind::spin;
    groups_.push_back({what, 2 + static_cast<unsigned>(draw_.below(5)), {}, 0});
  }
}

std::uint64_t groups::word(unsigned group, unsigned slot) const {
  const std::uint64_t page = sim::mix(std::uint64_t{group} << 8 | slot) % options_.pages;
  return options_.base + page * options_.page_bytes +
         (std::uint64_t{slot} * options_.count + group) * sizeof(std::uint64_t);
}

std::uint64_t groups::counter(unsigned group, unsigned slot) const {
  return options_.base + group % options_.pages * options_.page_bytes +
         (first_counter + group * 2 + slot) * sizeof(std::uint64_t);
}

void groups::begin(actor& maker) {
  if (groups_.empty()) return;
  done_ = maker.create(operation::semaphore_create, 0);
  for (group& g : groups_) {
    world_.start(static_cast<unsigned>(draw_.below(world_.nodes())), [this, &g, seed = draw_.next()](node& at) {
      actor other(world_, at, first_number - 1, seed);
      make(other, g);
      ++made_;
    });
  }
  while (made_ < groups_.size() && !world_.failed()) world_.sleep(1'000);
  for (unsigned i = 0; i < groups_.size(); ++i) begin_group(i);
}

void groups::make(actor& maker, group& g) {
  const auto add_object = [&](operation what, std::uint64_t operand = 0) {
    g.objects.push_back(maker.create(what, operand));
  };
  switch (g.what) {
    case kind::channel:
      add_object(operation::semaphore_create, 0);
      return add_object(operation::semaphore_create, slots);
    case kind::queue:
    case kind::generation:
      add_object(operation::mutex_create);
      add_object(operation::condition_create);
      return add_object(operation::condition_create);
    case kind::chain:
      for (unsigned i = 0; i < members_of_a_chain; ++i) add_object(operation::event_create);
      return;
    case kind::readers:
      return add_object(operation::rwlock_create);
    case kind::flag:
    case kind::spin:
      return;  // words are all they need
  }
}

void groups::start(unsigned number, unsigned member, body what) {
  const unsigned own = first_number + threads_++;
  world_.start(static_cast<unsigned>(draw_.below(world_.nodes())),
               [this, number, member, what, own, seed = draw_.next()](node& at) {
                 actor a(world_, at, own, seed);
                 (this->*what)(a, number, member);
                 a.must_call(operation::semaphore_release, done_, 1);
               });
}

void groups::begin_group(unsigned number) {
  for (unsigned slot = 0; slot < 2; ++slot) world_.forget(counter(number, slot));
  const auto several = [&](unsigned count, body what) {
    for (unsigned i = 0; i < count; ++i) start(number, i, what);
  };
  switch (groups_[number].what) {
    case kind::channel:
      several(1, &groups::fill);
      return several(1, &groups::drain);
    case kind::queue:
      several(1, &groups::enqueue);
      return several(1, &groups::dequeue);
    case kind::generation:
      several(1, &groups::announce);
      return several(2, &groups::follow);
    case kind::chain:
      return several(members_of_a_chain, &groups::pass_on);
    case kind::flag:
      several(1, &groups::raise);
      return several(readers_of_a_flag, &groups::watch);
    case kind::spin:
      return several(3, &groups::spin);
    case kind::readers:
      return several(3, &groups::share);
  }
}

void groups::join(actor& waiter) {
  for (unsigned i = 0; i < threads_ && !world_.failed(); ++i) waiter.must_call(operation::semaphore_acquire, done_);
}

void groups::fill(actor& a, unsigned g, unsigned) {
  for (unsigned i = 0; i < groups_[g].items * slots; ++i) {
    a.must_call(operation::semaphore_acquire, groups_[g].objects[1]);
    a.write(word(g, i % slots));
    a.rest();
    a.must_call(operation::semaphore_release, groups_[g].objects[0], 1);
  }
}

void groups::drain(actor& a, unsigned g, unsigned) {
  for (unsigned i = 0; i < groups_[g].items * slots; ++i) {
    a.must_call(operation::semaphore_acquire, groups_[g].objects[0]);
    (void)a.read(word(g, i % slots));
    if (a.draw.chance(30)) a.write(word(g, i % slots));
    a.must_call(operation::semaphore_release, groups_[g].objects[1], 1);
  }
}

/// Under the group's mutex; it may come back for nothing.
void groups::wait_on(actor& a, const group& g, unsigned condition) {
  std::uint64_t object = g.objects[condition];
  const std::int64_t timeout_ms = a.draw.chance(20) ? 1 : -1;
  const auto why = a.call(operation::condition_wait, object, g.objects[0], timeout_ms);
  a.must(why, "a wait for a condition", timeout_ms < 0 ? QUIRE_OK : QUIRE_TIMED_OUT);
}

/// Slots 0 and 1 lie under the mutex, with the number of items that have come (2) and gone (3).
void groups::enqueue(actor& a, unsigned g, unsigned) {
  const group& q = groups_[g];
  for (unsigned i = 0; i < q.items && !world_.failed(); ++i) {
    a.must_call(operation::mutex_lock, q.objects[0]);
    while (a.read(word(g, 2)) - a.read(word(g, 3)) == 2 && !world_.failed()) wait_on(a, q, 2);
    a.write(word(g, i % 2));
    a.write(word(g, 2), i + 1);
    const bool under = a.draw.chance(50);
    if (under) a.must_call(operation::condition_notify_one, q.objects[1]);
    a.must_call(operation::mutex_unlock, q.objects[0]);
    if (!under) a.must_call(operation::condition_notify_all, q.objects[1]);
  }
}

void groups::dequeue(actor& a, unsigned g, unsigned) {
  const group& q = groups_[g];
  for (unsigned i = 0; i < q.items && !world_.failed(); ++i) {
    a.must_call(operation::mutex_lock, q.objects[0]);
    while (a.read(word(g, 2)) == i && !world_.failed()) wait_on(a, q, 1);
    (void)a.read(word(g, i % 2));
    a.write(word(g, 3), i + 1);
    a.must_call(operation::mutex_unlock, q.objects[0]);
    a.must_call(operation::condition_notify_one, q.objects[2]);
    a.rest();
  }
}

/// Slot 0: the generation; 1: how many have seen it; 2, 3: what is announced.
void groups::announce(actor& a, unsigned g, unsigned) {
  const group& q = groups_[g];
  for (unsigned i = 1; i <= q.items && !world_.failed(); ++i) {
    a.must_call(operation::mutex_lock, q.objects[0]);
    a.write(word(g, 2));
    a.write(word(g, 3));
    a.write(word(g, 1), 0);
    a.write(word(g, 0), i);
    a.must_call(operation::condition_notify_all, q.objects[1]);
    while (a.read(word(g, 1)) < 2 && !world_.failed()) wait_on(a, q, 2);
    a.must_call(operation::mutex_unlock, q.objects[0]);
    a.rest();
  }
}

void groups::follow(actor& a, unsigned g, unsigned) {
  const group& q = groups_[g];
  for (unsigned i = 1; i <= q.items && !world_.failed(); ++i) {
    a.must_call(operation::mutex_lock, q.objects[0]);
    while (a.read(word(g, 0)) < i && !world_.failed()) wait_on(a, q, 1);
    (void)a.read(word(g, 2));
    (void)a.read(word(g, 3));
    a.write(word(g, 1), a.read(word(g, 1)) + 1);
    a.must_call(operation::condition_notify_one, q.objects[2]);
    a.must_call(operation::mutex_unlock, q.objects[0]);
  }
}

/// A circle: who comes first begins each lap, and is let in again by the last.
void groups::pass_on(actor& a, unsigned g, unsigned member) {
  const group& q = groups_[g];
  const std::uint64_t before = q.objects[(member + members_of_a_chain - 1) % members_of_a_chain],
                      next = q.objects[member];
  for (unsigned lap = 0; lap < q.items && !world_.failed(); ++lap) {
    if (lap != 0 || member != 0) {
      a.must_call(operation::event_wait, before);
      a.must_call(operation::event_reset, before);
    }
    for (unsigned slot = 0; slot < slots; ++slot) (void)a.read(word(g, slot));
    a.write(word(g, (lap + member) % slots));
    a.must_call(operation::event_set, next);
  }
}

void groups::raise(actor& a, unsigned g, unsigned) {
  for (unsigned i = 1; i <= groups_[g].items && !world_.failed(); ++i) {
    for (unsigned slot = 0; slot < 2; ++slot) a.write(word(g, slot));
    (void)a.operate(counter(g, 0), add, 1);
    while (a.operate(counter(g, 1), add, 0) != std::uint64_t{i} * readers_of_a_flag && !world_.failed())
      world_.sleep(a.draw.below(60'000));  // not in step with anybody
  }
}

void groups::watch(actor& a, unsigned g, unsigned) {
  for (unsigned i = 1; i <= groups_[g].items && !world_.failed(); ++i) {
    while (a.operate(counter(g, 0), add, 0) < i && !world_.failed())
      world_.sleep(a.draw.below(60'000));  // not in step with anybody
    for (unsigned slot = 0; slot < 2; ++slot) (void)a.read(word(g, slot));
    (void)a.operate(counter(g, 1), add, 1);
  }
}

void groups::spin(actor& a, unsigned g, unsigned) {
  constexpr auto compare_exchange = model::atomic_operation::compare_exchange;
  for (unsigned i = 0; i < groups_[g].items && !world_.failed(); ++i) {
    while (a.operate(counter(g, 0), compare_exchange, 0, 1) != 0 && !world_.failed())
      world_.sleep(a.draw.below(60'000));  // not in step with anybody
    a.write(word(g, 0), a.read(word(g, 1)) + 1);
    if (a.draw.chance(50)) a.write(word(g, 1));
    (void)a.operate(counter(g, 0), model::atomic_operation::exchange, 0);
  }
}

void groups::share(actor& a, unsigned g, unsigned) {
  std::uint64_t lock = groups_[g].objects[0];
  for (unsigned i = 0; i < groups_[g].items * 2 && !world_.failed(); ++i) {
    const bool writes = a.draw.chance(40);
    const std::int64_t timeout_ms = a.draw.chance(50) ? -1 : static_cast<std::int64_t>(a.draw.below(2));
    const auto why = a.call(writes ? operation::rwlock_write_lock : operation::rwlock_read_lock, lock, 0, timeout_ms);
    const bool in_vain = timeout_ms >= 0 && (why.code() == QUIRE_BUSY || why.code() == QUIRE_TIMED_OUT);
    if (in_vain) continue;
    a.must(why, "a rwlock");
    for (unsigned slot = 0; slot < slots; ++slot) {
      (void)a.read(word(g, slot));
      if (writes && a.draw.chance(60)) a.write(word(g, slot));
    }
    a.rest();
    a.must_call(operation::rwlock_unlock, lock);
  }
}

}  // namespace quire::whole
