// SPDX-License-Identifier: BSD-3-Clause
// Programs without data races for the release protocol, drawn from a seed: what they write lies mixed in the same units
// (false sharing), and each word is ordered by one way of synchronisation.
//
//   main threads   phases, with a barrier of all threads, or the job barrier between barriers of each node's threads. In a phase
//                  a word has one owner who writes it, or is read by all; other words belong to mutexes and rwlocks
//   or, rotating   every second phase one node alone writes, so that the homes move there; in the others all write their own
//                  words and, under a mutex, common ones, so that diffs and requests go after the homes
//   pins           threads of different nodes who pin a unit, and use words of it and of others meanwhile
//   helpers        semaphore channels, queues with conditions, chains of events, flags set by atomic operations, spin locks
//
// Ends with a barrier after all of that, so that every home must have the last content.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "sim/release_simulation.hpp"

namespace quire::sim {

using sync::operation;

struct release_plan {
  std::uint64_t seed = 1;
  network_options net{};
  release_options shape{};
  release_simulation::timing times{};
  unsigned threads_per_node = 2;
  unsigned phases = 4, activities = 6;
  unsigned helpers = 2;   ///< groups of helper threads
  unsigned items = 6;     ///< that each helper hands over
  unsigned stays = 50;    ///< percent of words whose owner stays the same
  bool collectives = true, locks = true;
  bool rotates = false;
  unsigned pins = 0;  ///< threads that use page locking, at most one a node
  bool pushes = false;  ///< main threads push units, whoever writes them
};

/// A whole run of a plan.
class release_run {
 public:
  explicit release_run(const release_plan& p) : plan_(p), sim_(p.net, p.shape, p.times), draw_(mix(p.seed ^ 0x5eed)) {
    deal_words();
    make_objects();
  }
  [[nodiscard]] release_simulation& simulation() noexcept { return sim_; }
  [[nodiscard]] release_cluster& nodes() noexcept { return sim_.nodes(); }
  /// Empty if all was well.
  [[nodiscard]] std::string run() {
    begin();
    return sim_.run(true);
  }

 private:
  using word = release_cluster::word;
  static constexpr auto add = model::atomic_operation::add;
  static constexpr auto compare_exchange = model::atomic_operation::compare_exchange;

  struct guarded {
    std::uint64_t object = 0;
    std::vector<word> words{};
  };
  struct channel {
    std::uint64_t items = 0, space = 0;
    std::vector<word> slots{};
  };
  struct queue {
    std::uint64_t mutex = 0, not_empty = 0, not_full = 0;
    word head = 0, tail = 0;
    std::vector<word> slots{};
  };
  struct flag {
    word version = 0, seen = 0;
    std::vector<word> data{};
  };

  /// Words in random order, handed out one by one; the phases get what is left.
  void deal_words() {
    std::vector<word> all(sim_.nodes().words());
    for (word w = 0; w < all.size(); ++w) all[w] = w;
    for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[draw_.below(i)]);
    free_ = std::move(all);
  }
  std::vector<word> take(std::size_t n) {
    CHECK(free_.size() > n);
    const std::vector<word> got(free_.end() - static_cast<std::ptrdiff_t>(n), free_.end());
    free_.resize(free_.size() - n);
    return got;
  }
  [[nodiscard]] unsigned any_node() { return static_cast<unsigned>(draw_.below(plan_.shape.nodes)); }
  std::uint64_t make(operation what, std::uint64_t operand = 0) { return sim_.nodes().make_object(any_node(), what, operand); }
  [[nodiscard]] unsigned main_threads() const noexcept { return plan_.shape.nodes * plan_.threads_per_node; }

  void make_objects() {
    const std::size_t share = std::max<std::size_t>(1, free_.size() / 8);
    for (int i = 0; i < 3; ++i) mutexes_.push_back({make(operation::mutex_create), take(std::min<std::size_t>(share, 1 + draw_.below(4)))});
    for (int i = 0; i < 2; ++i) rwlocks_.push_back({make(operation::rwlock_create), take(std::min<std::size_t>(share, 1 + draw_.below(4)))});
    counters_ = take(2);
    everyone_ = make(operation::barrier_create, main_threads());
    for (unsigned n = 0; n < plan_.shape.nodes; ++n) local_.push_back(sim_.nodes().make_object(any_node(), operation::barrier_create, plan_.threads_per_node));
    done_ = make(operation::semaphore_create, 0);
  }

  void begin() {
    if (plan_.pins != 0) begin_pins();
    for (unsigned h = 0; h < plan_.helpers; ++h) begin_helpers();
    for (unsigned t = 0; t < main_threads(); ++t) {
      const std::size_t self = nodes().add_thread(t % plan_.shape.nodes);
      nodes().begin(self, plan_.rotates ? rotate(self, t % plan_.shape.nodes, t) : main(self, t % plan_.shape.nodes, t));
    }
  }

  void begin_pins() {
    if (free_.size() < 8) return;
    pinned_ = take(4);
    if (nodes().place_of(pinned_[0]).region * plan_.shape.units + nodes().place_of(pinned_[0]).unit >
        nodes().place_of(pinned_[1]).region * plan_.shape.units + nodes().place_of(pinned_[1]).unit) {
      std::swap(pinned_[0], pinned_[1]);
    }
    const unsigned from = any_node();
    for (unsigned i = 0; i < std::min(plan_.pins, plan_.shape.nodes); ++i) {
      const std::size_t t = nodes().add_thread((from + i) % plan_.shape.nodes);
      nodes().begin(t, pin(t));
      ++helpers_;
    }
  }

  /// Small memories may have no words left for a group.
  void begin_helpers() {
    release_cluster& c = nodes();
    if (free_.size() < 8) return;
    switch (draw_.below(5)) {
      case 0: {
        const std::size_t size = 1 + draw_.below(2);
        channels_.push_back({make(operation::semaphore_create, 0), make(operation::semaphore_create, size), take(size)});
        const std::size_t a = c.add_thread(any_node()), b = c.add_thread(any_node());
        c.begin(a, produce(a, channels_.back()));
        c.begin(b, consume(b, channels_.back()));
        helpers_ += 2;
        break;
      }
      case 1: {
        queue q;
        q.mutex = make(operation::mutex_create);
        q.not_empty = make(operation::condition_create);
        q.not_full = make(operation::condition_create);
        q.slots = take(1 + draw_.below(2));
        q.head = take(1)[0];
        q.tail = take(1)[0];
        queues_.push_back(q);
        const std::size_t a = c.add_thread(any_node()), b = c.add_thread(any_node());
        c.begin(a, enqueue(a, queues_.back()));
        c.begin(b, dequeue(b, queues_.back()));
        helpers_ += 2;
        break;
      }
      case 2: {
        const std::vector<word> words = take(3);
        std::vector<std::uint64_t> events;
        for (int i = 0; i < 4; ++i) events.push_back(make(operation::event_create));
        for (std::size_t i = 0; i < 4; ++i) {
          const std::size_t a = c.add_thread(any_node());
          c.begin(a, chain(a, words, i == 0 ? 0 : events[i - 1], events[i], i));
          ++helpers_;
        }
        break;
      }
      case 3: {
        const std::vector<word> words = take(4);
        flags_.push_back({words[0], words[1], {words[2], words[3]}});
        const std::size_t a = c.add_thread(any_node()), b = c.add_thread(any_node()), d = c.add_thread(any_node());
        c.begin(a, publish(a, flags_.back(), 2));
        c.begin(b, watch(b, flags_.back()));
        c.begin(d, watch(d, flags_.back()));
        helpers_ += 3;
        break;
      }
      default: {
        const std::vector<word> words = take(3);
        for (int i = 0; i < 3; ++i) {
          const std::size_t a = c.add_thread(any_node());
          c.begin(a, spin(a, words[0], words[1], words[2]));
        }
        helpers_ += 3;
      }
    }
  }

  // ---- helpers; each says so at its end

  release_program produce(std::size_t self, const channel& ch) {
    release_cluster& c = nodes();
    for (unsigned i = 0; i < plan_.items; ++i) {
      co_await c.call(self, operation::semaphore_acquire, ch.space);
      co_await c.write(self, ch.slots[i % ch.slots.size()], unique());
      co_await c.call(self, operation::semaphore_release, ch.items, 1);
    }
    co_await c.call(self, operation::semaphore_release, done_, 1);
  }
  release_program consume(std::size_t self, const channel& ch) {
    release_cluster& c = nodes();
    for (unsigned i = 0; i < plan_.items; ++i) {
      co_await c.call(self, operation::semaphore_acquire, ch.items);
      co_await c.read(self, ch.slots[i % ch.slots.size()]);
      if (draw_.chance(30)) co_await c.write(self, ch.slots[i % ch.slots.size()], unique());
      co_await c.call(self, operation::semaphore_release, ch.space, 1);
    }
    co_await c.call(self, operation::semaphore_release, done_, 1);
  }

  release_program enqueue(std::size_t self, const queue& q) {
    release_cluster& c = nodes();
    for (unsigned i = 0; i < plan_.items; ++i) {
      co_await c.call(self, operation::mutex_lock, q.mutex);
      const std::uint64_t tail = co_await c.read(self, q.tail);
      while (tail - co_await c.read(self, q.head) == q.slots.size()) {
        co_await c.call(self, operation::condition_wait, q.not_full, q.mutex);
      }
      co_await c.write(self, q.slots[tail % q.slots.size()], unique());
      co_await c.write(self, q.tail, tail + 1);
      if (draw_.chance(50)) {
        co_await c.call(self, operation::condition_notify_one, q.not_empty);
        co_await c.call(self, operation::mutex_unlock, q.mutex);
      } else {
        co_await c.call(self, operation::mutex_unlock, q.mutex);
        co_await c.call(self, operation::condition_notify_all, q.not_empty);
      }
    }
    co_await c.call(self, operation::semaphore_release, done_, 1);
  }
  release_program dequeue(std::size_t self, const queue& q) {
    release_cluster& c = nodes();
    for (unsigned i = 0; i < plan_.items; ++i) {
      co_await c.call(self, operation::mutex_lock, q.mutex);
      const std::uint64_t head = co_await c.read(self, q.head);
      while (co_await c.read(self, q.tail) == head) co_await c.call(self, operation::condition_wait, q.not_empty, q.mutex);
      co_await c.read(self, q.slots[head % q.slots.size()]);
      co_await c.write(self, q.head, head + 1);
      co_await c.call(self, operation::mutex_unlock, q.mutex);
      co_await c.call(self, operation::condition_notify_one, q.not_full);
    }
    co_await c.call(self, operation::semaphore_release, done_, 1);
  }

  release_program chain(std::size_t self, std::vector<word> words, std::uint64_t before, std::uint64_t after, std::size_t place) {
    release_cluster& c = nodes();
    if (before != 0) co_await c.call(self, operation::event_wait, before);
    for (const word w : words) co_await c.read(self, w);
    co_await c.write(self, words[place % words.size()], unique());
    co_await c.call(self, operation::event_set, after);
    co_await c.call(self, operation::semaphore_release, done_, 1);
  }

  release_program publish(std::size_t self, const flag& f, unsigned watchers) {
    release_cluster& c = nodes();
    for (unsigned v = 1; v <= plan_.items; ++v) {
      for (const word w : f.data) co_await c.write(self, w, unique());
      co_await c.atomic(self, f.version, add, 1);
      while (co_await c.atomic(self, f.seen, add, 0) != std::uint64_t{v} * watchers) co_await c.pause(self);
    }
    co_await c.call(self, operation::semaphore_release, done_, 1);
  }
  release_program watch(std::size_t self, const flag& f) {
    release_cluster& c = nodes();
    for (unsigned v = 1; v <= plan_.items; ++v) {
      while (co_await c.atomic(self, f.version, add, 0) < v) co_await c.pause(self);
      for (const word w : f.data) co_await c.read(self, w);
      co_await c.atomic(self, f.seen, add, 1);
    }
    co_await c.call(self, operation::semaphore_release, done_, 1);
  }

  release_program spin(std::size_t self, word lock, word a, word b) {
    release_cluster& c = nodes();
    for (unsigned i = 0; i < plan_.items; ++i) {
      while (co_await c.atomic(self, lock, compare_exchange, 0, 1) != 0) co_await c.pause(self);
      co_await c.write(self, a, co_await c.read(self, b) + 1);
      if (draw_.chance(50)) co_await c.write(self, b, unique());
      co_await c.atomic(self, lock, model::atomic_operation::exchange, 0);
    }
    co_await c.call(self, operation::semaphore_release, done_, 1);
  }

  /// The first word's unit is always pinned first: it is a lock for all these words, wherever they lie.
  release_program pin(std::size_t self) {
    release_cluster& c = nodes();
    const auto same_unit = [&](word a, word b) {
      return c.place_of(a).region == c.place_of(b).region && c.place_of(a).unit == c.place_of(b).unit;
    };
    for (unsigned i = 0; i < plan_.items; ++i) {
      if (draw_.chance(20)) {
        if (co_await c.try_pin(self, pinned_[0]) == 0) continue;
      } else {
        co_await c.pin(self, pinned_[0]);
      }
      const bool both = !same_unit(pinned_[0], pinned_[1]) && draw_.chance(30);
      if (both) co_await c.pin(self, pinned_[1]);
      for (std::uint64_t k = 1 + draw_.below(4); k != 0; --k) {
        const word w = pinned_[draw_.below(pinned_.size())];
        if (draw_.chance(50)) {
          co_await c.read(self, w);
        } else {
          co_await c.write(self, w, unique());
        }
      }
      if (draw_.chance(20)) co_await c.atomic(self, counters_[0], add, 1);
      if (both) co_await c.unpin(self, pinned_[1]);
      co_await c.unpin(self, pinned_[0]);
    }
    co_await c.call(self, operation::semaphore_release, done_, 1);
  }

  // ---- main threads

  [[nodiscard]] std::uint64_t unique() noexcept { return ++values_; }
  /// Who may write the word of the phases in this phase; none: all may read it.
  [[nodiscard]] unsigned owner(word w, unsigned phase) const noexcept {
    const bool stays = mix(plan_.seed * 31 + w) % 100 < plan_.stays;
    const std::uint64_t h = mix(mix(plan_.seed ^ w * 0x9e3779b97f4a7c15u) + (stays ? 0 : phase + 1));
    if (mix(h + phase * 7919) % 4 == 0) return main_threads();
    return static_cast<unsigned>(h % main_threads());
  }

  release_program main(std::size_t self, unsigned node, unsigned number) {
    release_cluster& c = nodes();
    const bool first = number < plan_.shape.nodes;  // of its node
    for (unsigned phase = 0; phase <= plan_.phases; ++phase) {
      for (unsigned i = 0; i < plan_.activities; ++i) {
        const std::uint64_t what = draw_.below(100);
        if (what < 20 && plan_.locks) {
          const guarded& g = mutexes_[draw_.below(mutexes_.size())];
          sync::call lock;
          lock.what = operation::mutex_lock;
          lock.object = g.object;
          lock.try_only = draw_.chance(20);
          if (co_await c.call(self, lock) != QUIRE_OK) continue;
          for (std::uint64_t k = 1 + draw_.below(4); k != 0; --k) {
            const word w = g.words[draw_.below(g.words.size())];
            if (draw_.chance(50)) {
              co_await c.read(self, w);
            } else {
              co_await c.write(self, w, unique());
            }
          }
          co_await c.call(self, operation::mutex_unlock, g.object);
        } else if (what < 35 && plan_.locks) {
          const guarded& g = rwlocks_[draw_.below(rwlocks_.size())];
          const bool writes = draw_.chance(40);
          co_await c.call(self, writes ? operation::rwlock_write_lock : operation::rwlock_read_lock, g.object);
          for (std::uint64_t k = 1 + draw_.below(3); k != 0; --k) {
            const word w = g.words[draw_.below(g.words.size())];
            co_await c.read(self, w);
            if (writes) co_await c.write(self, w, unique());
          }
          co_await c.call(self, operation::rwlock_unlock, g.object);
        } else if (what < 45) {
          co_await c.atomic(self, counters_[draw_.below(counters_.size())], add, 1);
        } else if (what < 60 && plan_.pushes) {
          co_await c.push(self, free_[draw_.below(free_.size())]);
        } else if (what < 52) {
          const word w = draw_.below(c.words());
          if (draw_.chance(60)) {
            co_await c.read_ahead(self, w, draw_.chance(30));
          } else {
            co_await c.map_around(self, w);
          }
        } else {
          for (int k = 0; k < 4; ++k) {
            const word w = free_[draw_.below(free_.size())];
            const unsigned writer = owner(w, phase);
            if (writer == number && draw_.chance(70)) {
              co_await c.write(self, w, unique());
            } else if (writer == number || writer == main_threads()) {
              co_await c.read(self, w);
            }
          }
        }
      }
      if (phase == plan_.phases && number == 0) {
        for (unsigned h = 0; h < helpers_; ++h) co_await c.call(self, operation::semaphore_acquire, done_);
      }
      const bool job = plan_.collectives && (phase == plan_.phases || mix(plan_.seed + phase) % 3 != 0);
      if (!job) {
        co_await c.call(self, operation::barrier_wait, everyone_);
        continue;
      }
      co_await c.call(self, operation::barrier_wait, local_[node]);
      if (first) co_await c.call(self, collective(phase));
      co_await c.call(self, operation::barrier_wait, local_[node]);
    }
    for (int k = 0; k < 4; ++k) co_await c.read(self, draw_.below(c.words()));
  }

  release_program rotate(std::size_t self, unsigned node, unsigned number) {
    release_cluster& c = nodes();
    const auto mine = [&](word w) { return w % main_threads() == number; };
    for (unsigned phase = 0; phase <= plan_.phases; ++phase) {
      const bool alone = phase % 2 == 0;
      const unsigned writer = static_cast<unsigned>(mix(plan_.seed + phase) % plan_.shape.nodes);
      for (unsigned i = 0; i < plan_.activities; ++i) {
        if (alone && node != writer) break;
        for (const word w : free_) {
          if (!mine(w)) continue;
          if (draw_.chance(60)) co_await c.write(self, w, unique());
          if (draw_.chance(30)) co_await c.read(self, w);
        }
        if (alone) continue;
        const guarded& g = mutexes_[draw_.below(mutexes_.size())];
        co_await c.call(self, operation::mutex_lock, g.object);
        for (const word w : g.words) {
          co_await c.read(self, w);
          co_await c.write(self, w, unique());
        }
        co_await c.call(self, operation::mutex_unlock, g.object);
      }
      if (phase == plan_.phases && number == 0) {
        for (unsigned h = 0; h < helpers_; ++h) co_await c.call(self, operation::semaphore_acquire, done_);
      }
      co_await c.call(self, operation::barrier_wait, local_[node]);
      if (number < plan_.shape.nodes) co_await c.call(self, collective(phase));
      co_await c.call(self, operation::barrier_wait, local_[node]);
    }
  }

  [[nodiscard]] sync::call collective(unsigned phase) const {
    sync::call c;
    c.what = operation::barrier_wait;
    if (mix(plan_.seed ^ phase) % 3 == 0) {
      c.what = operation::reduce_i64;
      c.count = 1;
      const std::int64_t one = 1;
      c.values = sync::value(std::as_bytes(std::span(&one, 1)));
    }
    return c;
  }

  release_plan plan_;
  release_simulation sim_;
  sim::random draw_;
  std::vector<word> free_{};  ///< after make_objects and helpers: words of the phases
  std::vector<guarded> mutexes_{}, rwlocks_{};
  std::vector<word> counters_{};
  std::vector<word> pinned_{};
  std::deque<channel> channels_{};
  std::deque<queue> queues_{};
  std::deque<flag> flags_{};
  std::vector<std::uint64_t> local_{};
  std::uint64_t everyone_ = 0, done_ = 0, values_ = 0;
  unsigned helpers_ = 0;
};

/// What a seed stands for.
[[nodiscard]] inline release_plan make_release_plan(std::uint64_t seed, unsigned nodes) {
  sim::random draw(mix(seed) ^ nodes * 1'000'003ull);
  release_plan p;
  p.seed = seed;
  p.net.seed = seed;
  p.net.nodes = p.shape.nodes = nodes;
  p.net.step_limit = 3'000'000;
  p.net.straggler_percent = draw.chance(50) ? 5 + static_cast<unsigned>(draw.below(20)) : 0;
  p.net.straggler_delay = draw.chance(50) ? 100'000 : 1'000'000;
  p.net.min_delay = draw.chance(20) ? 0 : 2'000;
  p.net.max_delay = draw.chance(20) ? 200'000 : 20'000;
  p.net.max_self_delay = draw.chance(30) ? 0 : 3'000;
  p.net.trace_length = 120;
  p.shape.regions = draw.chance(30) ? 2 : 1;
  p.shape.units = 2 + static_cast<unsigned>(draw.below(6));
  p.shape.words = 8 << draw.below(2);
  p.shape.placement = static_cast<model::placement>(draw.below(3));
  p.shape.fixed = node_id{static_cast<std::uint16_t>(draw.below(nodes))};
  p.shape.first_touch = draw.chance(40);
  p.shape.migrates = draw.chance(75);
  p.shape.twin_limit = draw.chance(40) ? 1 + draw.below(4) : 64;
  p.shape.notice_limit = draw.chance(40) ? 1 + draw.below(12) : release::history::default_limit;
  p.shape.batches = draw.chance(70);
  p.times.think = draw.chance(20) ? 50'000 : 3'000;
  p.times.interrupt_percent = draw.chance(70) ? 30 : 0;
  p.threads_per_node = 1 + static_cast<unsigned>(draw.below(nodes > 8 ? 2 : 3));
  p.phases = 1 + static_cast<unsigned>(draw.below(6));
  p.activities = 2 + static_cast<unsigned>(draw.below(nodes > 8 ? 3 : 8));
  p.helpers = static_cast<unsigned>(draw.below(4));
  p.stays = draw.chance(50) ? 90 : 30;
  p.locks = draw.chance(85);
  p.rotates = draw.chance(20);
  if (p.rotates) {
    p.shape.migrates = true;
    p.phases = 4 + static_cast<unsigned>(draw.below(6));
    p.activities = 1 + static_cast<unsigned>(draw.below(3));
    p.net.straggler_percent = 10 + static_cast<unsigned>(draw.below(30));
  }
  p.shape.update = static_cast<release::updates>(draw.below(3));
  p.net.reads_late = draw.chance(50);
  return p;
}

/// The same with homes that move as often as may be, back to where they were as well.
[[nodiscard]] inline release_plan make_rotating_plan(std::uint64_t seed, unsigned nodes) {
  release_plan p = make_release_plan(seed, nodes);
  p.rotates = p.shape.migrates = true;
  p.phases = 10;
  p.activities = 3;
  p.threads_per_node = 3;
  p.net.straggler_percent = 20;
  p.net.straggler_delay = 200'000;
  return p;
}

}  // namespace quire::sim
