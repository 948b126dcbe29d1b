// SPDX-License-Identifier: BSD-3-Clause
// Exploration of small programs under release consistency (sim/bare/release_explorer.hpp) as tests write it, and
// programs that several of them use.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <string>
#include <type_traits>

#include "breakages.hpp"
#include "sim/bare/release_explorer.hpp"

namespace quire::sim {

using word = release_cluster::word;
constexpr word no_word = ~word{0};

/// All units at home on node 0.
inline release_options shape(unsigned nodes, unsigned units = 1, unsigned words = 2) {
  release_options o;
  o.nodes = nodes;
  o.units = units;
  o.words = words;
  o.placement = model::placement::node;
  o.batches = true;
  return o;
}

/// A checker that finds something fails the test, as do fewer states than the program is known to lead to. `released`:
/// see check_quiet().
inline void explore(const release_options& o, const release_explorer::scenario& make, std::uint64_t at_least,
                    bool released = false, std::uint64_t most_states = 40'000) {
  const auto start = std::chrono::steady_clock::now();
  release_explorer x(o, make, most_states);
  const release_exploration found = x.run(released);
  EXPECT_EQ(found.failure, "");
  EXPECT_GE(found.states, at_least) << "the program no longer leads to what it was written for";
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::cout << found.states << " states, " << found.steps << " steps, " << found.ends << " ends, longest path "
            << found.longest << (found.complete ? ", all" : ", cut off") << ", " << took.count() << " s\n";
}

/// What the checkers say first of a program in which something is broken, in any order of what happens; empty if they
/// see nothing.
inline std::string verdict(const release_options& o, const release_explorer::scenario& make,
                           const std::function<void(release_cluster&)>& break_it) {
  const auto broken = [&](release_cluster& c) {
    break_it(c);
    make(c);
  };
  return release_explorer(o, broken, 40'000).run(false).failure;
}

/// A thread of `node` with a program.
template <class... Arguments>
void with(release_cluster& c, unsigned node, release_program (*program)(release_cluster&, std::size_t, Arguments...),
          std::type_identity_t<Arguments>... arguments) {
  const std::size_t t = c.add_thread(node);
  c.begin(t, program(c, t, arguments...));
}

/// Adds one to a word under a mutex.
inline release_program locked(release_cluster& c, std::size_t self, std::uint64_t mutex, word w, unsigned times) {
  for (unsigned i = 0; i < times; ++i) {
    co_await c.call(self, sync::operation::mutex_lock, mutex);
    co_await c.write(self, w, co_await c.read(self, w) + 1);
    co_await c.call(self, sync::operation::mutex_unlock, mutex);
  }
}
inline release_program one_word(release_cluster& c, std::size_t self, word w, std::uint64_t value) {
  co_await c.write(self, w, value);
  co_await c.read(self, w);
}
/// Writes a word of its own, then reads another one, with a barrier after each.
inline release_program in_epochs(release_cluster& c, std::size_t self, word mine, word other, unsigned epochs) {
  for (unsigned i = 0; i < epochs; ++i) {
    if (mine != no_word) co_await c.write(self, mine, i * 2 + 1);
    co_await c.call(self, sync::operation::barrier_wait, 0);
    if (other != no_word) co_await c.read(self, other);
    co_await c.call(self, sync::operation::barrier_wait, 0);
  }
}
/// As at the edge of two parts of a grid: writes a word of its own, then reads all from `first` on, with a barrier
/// after each.
inline release_program edge(release_cluster& c, std::size_t self, word mine, word first, word words, unsigned epochs) {
  for (unsigned i = 0; i < epochs; ++i) {
    if (mine != no_word) co_await c.write(self, mine, i * 2 + 1);
    co_await c.call(self, sync::operation::barrier_wait, 0);
    for (word w = first; w < first + words; ++w) co_await c.read(self, w);
    co_await c.call(self, sync::operation::barrier_wait, 0);
  }
}
/// Adds one to a word whose unit it has pinned, and to another one beside.
inline release_program pinned(release_cluster& c, std::size_t self, word w, unsigned times, word beside) {
  for (unsigned i = 0; i < times; ++i) {
    co_await c.pin(self, w);
    co_await c.write(self, w, co_await c.read(self, w) + 1);
    if (beside != no_word) co_await c.write(self, beside, co_await c.read(self, beside) + 1);
    co_await c.unpin(self, w);
  }
}
/// Writes a word, and says so by an atomic operation; reads it if that has been said.
inline release_program publish(release_cluster& c, std::size_t self, word data, word flag) {
  co_await c.write(self, data, 7);
  co_await c.atomic(self, flag, model::atomic_operation::add, 1);
}
inline release_program subscribe(release_cluster& c, std::size_t self, word data, word flag) {
  const std::uint64_t seen = co_await c.atomic(self, flag, model::atomic_operation::add, 0);
  if (seen == 1) {
    co_await c.read(self, data);
  }
}
/// Asks to be the home of the word's unit, as nodes are asked whose neighbours are short of memory.
inline release_program takes(release_cluster& c, std::size_t self, word w, unsigned times) {
  for (unsigned i = 0; i < times; ++i) co_await c.take_over(self, w);
}

}  // namespace quire::sim
