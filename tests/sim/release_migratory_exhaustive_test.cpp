// SPDX-License-Identifier: BSD-3-Clause
// All interleavings of small programs whose units change hands: the home goes to whoever asks for the content.
#include <gtest/gtest.h>

#include "release_explore.hpp"

namespace quire::sim {
namespace {

using sync::operation;

release_options handing(unsigned nodes, unsigned units = 1, unsigned words = 2) {
  release_options o = shape(nodes, units, words);
  o.migratory = protocol::migratory::always;
  return o;
}

/// Two units that are read and written in turn, with a barrier after each turn.
release_program in_turn(release_cluster& c, std::size_t self, unsigned mine, unsigned nodes, word w, unsigned turns) {
  for (unsigned i = 0; i < turns; ++i) {
    if (i % nodes == mine) co_await c.write(self, w, co_await c.read(self, w) + 1);
    co_await c.call(self, operation::barrier_wait, 0);
  }
}

TEST(release_migratory_exhaustive, two_nodes_write_in_turn) {
  explore(
      handing(2),
      [](release_cluster& c) {
        for (unsigned n = 0; n < 2; ++n) with(c, n, in_turn, n, 2u, 0, 4u);
      },
      100, true);
}

TEST(release_migratory_exhaustive, as_they_do_where_it_is_learned) {
  release_options o = handing(2);
  o.migratory = protocol::migratory::learned;
  explore(
      o,
      [](release_cluster& c) {
        for (unsigned n = 0; n < 2; ++n) with(c, n, in_turn, n, 2u, 0, 7u);
      },
      100, true);
}

TEST(release_migratory_exhaustive, three_nodes_write_in_turn) {
  explore(
      handing(3),
      [](release_cluster& c) {
        for (unsigned n = 0; n < 3; ++n) with(c, n, in_turn, n, 3u, 0, 4u);
      },
      1'000, true);
}

TEST(release_migratory_exhaustive, a_lock_between_two_nodes_and_one_between_three) {
  for (const unsigned nodes : {2u, 3u}) {
    explore(
        handing(nodes),
        [nodes](release_cluster& c) {
          const std::uint64_t m = c.make_object(1, operation::mutex_create);
          for (unsigned n = 0; n < nodes; ++n) with(c, n, locked, m, 0, nodes == 2 ? 2u : 1u);
        },
        300);
  }
}

TEST(release_migratory_exhaustive, a_lock_beside_threads_that_read_and_write_other_words_of_the_unit) {
  explore(
      handing(2, 1, 3),
      [](release_cluster& c) {
        const std::uint64_t m = c.make_object(0, operation::mutex_create);
        for (unsigned n = 0; n < 2; ++n) with(c, n, locked, m, 0, 1u);
        with(c, 1, one_word, 1, 5u);
        with(c, 0, one_word, 2, 6u);
      },
      1'000);
}

TEST(release_migratory_exhaustive, readers_that_do_not_write_beside_one_who_does) {
  explore(
      handing(3),
      [](release_cluster& c) {
        with(c, 0, edge, 0, 0, 2u, 2u);
        with(c, 1, edge, no_word, 0, 1u, 2u);
        with(c, 2, edge, no_word, 1, 1u, 2u);
      },
      1'000, true);
}

TEST(release_migratory_exhaustive, a_flag_of_another_home_by_atomic_operations) {
  explore(
      handing(2, 2),
      [](release_cluster& c) {
        with(c, 0, publish, 0, 2);
        with(c, 1, subscribe, 0, 2);
        with(c, 1, one_word, 1, 3u);
      },
      300);
}

TEST(release_migratory_exhaustive, units_that_are_pinned_too) {
  explore(
      handing(2, 2),
      [](release_cluster& c) {
        with(c, 0, pinned, 0, 1u, 2);
        with(c, 1, pinned, 0, 1u, 2);
        with(c, 1, one_word, 3, 3u);
      },
      300);
}

TEST(release_migratory_exhaustive, homes_that_are_asked_for_meanwhile) {
  explore(
      handing(2),
      [](release_cluster& c) {
        for (unsigned n = 0; n < 2; ++n) with(c, n, in_epochs, n, 1 - n, 1u);
        with(c, 1, takes, 0, 2u);
      },
      300);
}

TEST(release_migratory_exhaustive, first_touch) {
  release_options o = handing(3);
  o.first_touch = true;
  explore(
      o,
      [](release_cluster& c) {
        const std::uint64_t m = c.make_object(0, operation::mutex_create);
        for (unsigned n = 0; n < 3; ++n) with(c, n, locked, m, 0, 1u);
      },
      300);
}

}  // namespace
}  // namespace quire::sim
