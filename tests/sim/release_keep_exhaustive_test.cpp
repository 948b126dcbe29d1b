// SPDX-License-Identifier: BSD-3-Clause
// Units that keep their right from interval to interval (src/protocol/release/kept.cpp), in all orders of small
// programs: writes that no fault tells, patches from homes to copies that are being written. Whole nodes do it at
// random (whole_test: mix, races).
#include "release_explore.hpp"

namespace quire::sim::release_keep_exhaustive_test {
namespace {

release_options both(unsigned nodes) {
  release_options o = shape(nodes, 1, 3);
  o.update = release::updates::always;
  o.keeps = true;
  return o;
}

TEST(release_keep_exhaustive, a_unit_that_two_nodes_write) {
  explore(
      both(2),
      [](release_cluster& c) {
        for (unsigned n = 0; n < 2; ++n) with(c, n, edge, n, 0, 2, 4);
      },
      300, true);
}

TEST(release_keep_exhaustive, a_unit_that_three_nodes_write) {
  explore(
      both(3),
      [](release_cluster& c) {
        for (unsigned n = 0; n < 3; ++n) with(c, n, edge, n, 0, 3, 2);
      },
      3'000, true);
}

/// The home and a copy, kept, and words that a lock hands on.
release_program handed_on(release_cluster& c, std::size_t self, std::uint64_t mutex, word mine, unsigned times) {
  for (unsigned i = 0; i < times; ++i) {
    co_await c.write(self, mine, i + 1);
    co_await c.call(self, sync::operation::mutex_lock, mutex);
    co_await c.write(self, 2, co_await c.read(self, 2) + 1);
    co_await c.call(self, sync::operation::mutex_unlock, mutex);
  }
}

TEST(release_keep_exhaustive, a_word_under_a_lock_between_two_that_are_not) {
  explore(
      both(2),
      [](release_cluster& c) {
        const std::uint64_t m = c.make_object(1, sync::operation::mutex_create);
        for (unsigned n = 0; n < 2; ++n) with(c, n, handed_on, m, n, 3);
      },
      300, false);
}

}  // namespace
}  // namespace quire::sim::release_keep_exhaustive_test
