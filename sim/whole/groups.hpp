// SPDX-License-Identifier: BSD-3-Clause
// Groups of a few threads that hand words on to one another, each group in a way of its own and in words of its own,
// which lie between those of the other groups:
//
//   channel     two semaphores, for what is there and what is free
//   queue       a mutex and two conditions, notified under the mutex or after it; some waits have a time limit
//   generation  one thread notifies all, and goes on when all have seen the word
//   chain       events, each of which lets the next thread go on, and is reset by it
//   flag        a word that counts, by atomic operations; others look at it until it has changed
//   spin        a lock that is a word, by compare-and-exchange
//   readers     a rwlock, tried and timed and waited for
//
// They end by themselves: join() waits for all.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/whole/actor.hpp"

namespace quire::whole {

struct groups_options {
  unsigned count = 2;
  bool flags_only = false;  ///< all of them are of kind flag or spin
  std::uint64_t base =
      0;  ///< where their words lie; an atomic operation releases what lies in regions of the same consistency
  unsigned pages = 1;
  std::uint64_t page_bytes = 4096;
};

class groups {
 public:
  enum class kind : std::uint8_t { channel, queue, generation, chain, flag, spin, readers, last = readers };

  groups(world& w, const groups_options& options, std::uint64_t seed);
  /// Makes the objects of all groups, each on a node that chance decides, and starts the threads. From a fibre; returns
  /// when all run.
  void begin(actor& maker);
  /// All have ended, and what they wrote may be seen. Of one thread.
  void join(actor& waiter);
  [[nodiscard]] unsigned threads() const noexcept { return threads_; }

 private:
  using body = void (groups::*)(actor&, unsigned group, unsigned member);
  struct group {
    kind what{};
    unsigned items = 0;
    std::vector<std::uint64_t> objects{};
    std::uint64_t generation = 0;
  };

  [[nodiscard]] std::uint64_t word(unsigned group, unsigned slot) const;
  [[nodiscard]] std::uint64_t counter(unsigned group, unsigned slot) const;
  void make_all(actor& maker);
  void make(actor& maker, group& g);
  void start(unsigned number, unsigned members, body what);
  void begin_group(unsigned number);

  void fill(actor& a, unsigned g, unsigned member);
  void drain(actor& a, unsigned g, unsigned member);
  void enqueue(actor& a, unsigned g, unsigned member);
  void dequeue(actor& a, unsigned g, unsigned member);
  void wait_on(actor& a, const group& g, unsigned condition);
  void announce(actor& a, unsigned g, unsigned member);
  void follow(actor& a, unsigned g, unsigned member);
  void pass_on(actor& a, unsigned g, unsigned member);
  void raise(actor& a, unsigned g, unsigned member);
  void watch(actor& a, unsigned g, unsigned member);
  void spin(actor& a, unsigned g, unsigned member);
  void share(actor& a, unsigned g, unsigned member);

  world& world_;
  groups_options options_;
  sim::random draw_;
  std::deque<group> groups_{};
  std::uint64_t done_ = 0;  ///< a semaphore
  unsigned threads_ = 0, made_ = 0;
};

}  // namespace quire::whole
