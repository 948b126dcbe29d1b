// SPDX-License-Identifier: BSD-3-Clause
// All interleavings of small programs under release consistency, on two and three nodes: every order in which messages
// of different pairs of nodes can arrive, and in which threads can run. Where there are too many, as many as time
// allows.
#include <gtest/gtest.h>

#include "release_explore.hpp"

namespace quire::sim::release_exhaustive_test {
namespace {

using sync::operation;
constexpr auto add = model::atomic_operation::add;

release_program counted(release_cluster& c, std::size_t self, word counter, word mine) {
  co_await c.write(self, mine, self + 1);
  co_await c.atomic(self, counter, add, 1);
  co_await c.read(self, mine);
}

TEST(release_exhaustive, a_lock_between_two_nodes) {
  explore(
      shape(2),
      [](release_cluster& c) {
        const std::uint64_t m = c.make_object(0, operation::mutex_create);
        for (unsigned n = 0; n < 2; ++n) {
          const std::size_t t = c.add_thread(n);
          c.begin(t, locked(c, t, m, 0, 2));
        }
      },
      300);
}

TEST(release_exhaustive, a_lock_between_three_nodes_one_of_them_the_home) {
  explore(
      shape(3),
      [](release_cluster& c) {
        const std::uint64_t m = c.make_object(1, operation::mutex_create);
        for (unsigned n = 0; n < 3; ++n) {
          const std::size_t t = c.add_thread(n);
          c.begin(t, locked(c, t, m, 0, 1));
        }
      },
      1'000);
}

TEST(release_exhaustive, a_lock_beside_a_thread_that_writes_another_word_of_the_unit) {
  explore(
      shape(2, 1, 3),
      [](release_cluster& c) {
        const std::uint64_t m = c.make_object(0, operation::mutex_create);
        for (unsigned n = 0; n < 2; ++n) {
          const std::size_t t = c.add_thread(n);
          c.begin(t, locked(c, t, m, 0, 1));
        }
        const std::size_t other = c.add_thread(1);
        c.begin(other, one_word(c, other, 1, 5));
        const std::size_t home = c.add_thread(0);
        c.begin(home, one_word(c, home, 2, 6));
      },
      10'000);
}

TEST(release_exhaustive, two_locks_and_two_words_of_one_unit) {
  explore(
      shape(2),
      [](release_cluster& c) {
        for (word w = 0; w < 2; ++w) {
          const std::uint64_t m = c.make_object(static_cast<unsigned>(w), operation::mutex_create);
          for (unsigned n = 0; n < 2; ++n) {
            const std::size_t t = c.add_thread(n);
            c.begin(t, locked(c, t, m, w, 1));
          }
        }
      },
      10'000);
}

TEST(release_exhaustive, few_twins) {
  release_options o = shape(2, 3, 1);
  o.twin_limit = 1;
  explore(
      o,
      [](release_cluster& c) {
        const std::uint64_t m = c.make_object(1, operation::mutex_create);
        const std::size_t a = c.add_thread(1), b = c.add_thread(1), d = c.add_thread(0);
        c.begin(a, locked(c, a, m, 0, 1));
        c.begin(b, one_word(c, b, 1, 5));
        c.begin(d, locked(c, d, m, 0, 1));
      },
      500, false, 5'000);
}

TEST(release_exhaustive, the_home_moves_between_barriers_to_its_only_writer) {
  explore(
      shape(2),
      [](release_cluster& c) {
        const std::size_t a = c.add_thread(0), b = c.add_thread(1);
        c.begin(a, in_epochs(c, a, no_word, 0, 2));
        c.begin(b, in_epochs(c, b, 0, 0, 2));
      },
      100, true);
}

TEST(release_exhaustive, the_home_moves_while_another_thread_uses_the_unit) {
  explore(
      shape(2),
      [](release_cluster& c) {
        const std::uint64_t m = c.make_object(0, operation::mutex_create);
        const std::size_t a = c.add_thread(0), b = c.add_thread(1), d = c.add_thread(1), e = c.add_thread(0);
        c.begin(a, in_epochs(c, a, no_word, 0, 1));
        c.begin(b, in_epochs(c, b, 0, 0, 1));
        c.begin(d, locked(c, d, m, 1, 1));
        c.begin(e, locked(c, e, m, 1, 1));
      },
      10'000);
}

TEST(release_exhaustive, the_home_moves_on_three_nodes_and_a_third_node_goes_after_it) {
  explore(
      shape(3, 1, 3),
      [](release_cluster& c) {
        const std::size_t a = c.add_thread(0), b = c.add_thread(1), d = c.add_thread(2), e = c.add_thread(2);
        c.begin(a, in_epochs(c, a, no_word, 0, 1));
        c.begin(b, in_epochs(c, b, 0, no_word, 1));
        c.begin(d, in_epochs(c, d, no_word, 0, 1));
        c.begin(e, one_word(c, e, 2, 9));
      },
      10'000);
}

TEST(release_exhaustive, first_touch) {
  release_options o = shape(3);
  o.first_touch = true;
  explore(
      o,
      [](release_cluster& c) {
        const std::uint64_t m = c.make_object(0, operation::mutex_create);
        for (unsigned n = 0; n < 3; ++n) {
          const std::size_t t = c.add_thread(n);
          c.begin(t, locked(c, t, m, 0, 1));
        }
      },
      1'000);
}

TEST(release_exhaustive, atomic_operations_beside_plain_words) {
  explore(
      shape(2, 1, 4),
      [](release_cluster& c) {
        for (unsigned n = 0; n < 2; ++n) {
          const std::size_t t = c.add_thread(n);
          c.begin(t, counted(c, t, 0, 1 + n));
        }
        const std::size_t t = c.add_thread(1);
        c.begin(t, one_word(c, t, 3, 9));
      },
      100);
}

TEST(release_exhaustive, a_flag_set_by_an_atomic_operation) {
  explore(
      shape(3, 2, 1),
      [](release_cluster& c) {
        const std::size_t a = c.add_thread(1), b = c.add_thread(2), d = c.add_thread(0);
        c.begin(a, publish(c, a, 0, 1));
        c.begin(b, subscribe(c, b, 0, 1));
        c.begin(d, subscribe(c, d, 0, 1));
      },
      300);
}

TEST(release_exhaustive, notices_that_are_packed_all_the_time) {
  release_options o = shape(2, 2, 1);
  o.notice_limit = 1;
  explore(
      o,
      [](release_cluster& c) {
        const std::uint64_t m = c.make_object(1, operation::mutex_create);
        for (unsigned n = 0; n < 2; ++n) {
          const std::size_t t = c.add_thread(n);
          c.begin(t, locked(c, t, m, 0, 2));
        }
      },
      300);
}

TEST(release_exhaustive, updates_between_barriers) {
  release_options o = shape(2);
  o.update = release::updates::always;
  explore(
      o,
      [](release_cluster& c) {
        const std::size_t a = c.add_thread(0), b = c.add_thread(1);
        c.begin(a, edge(c, a, 0, 0, 2, 3));
        c.begin(b, edge(c, b, no_word, 0, 2, 3));
      },
      100, true);
}

TEST(release_exhaustive, updates_of_a_unit_that_its_reader_writes_too) {
  release_options o = shape(2);
  o.update = release::updates::always;
  explore(
      o,
      [](release_cluster& c) {
        const std::size_t a = c.add_thread(0), b = c.add_thread(1);
        c.begin(a, edge(c, a, 0, 0, 2, 2));
        c.begin(b, edge(c, b, 1, 0, 2, 2));
      },
      300, true);
}

TEST(release_exhaustive, updates_on_three_nodes_where_notices_take_another_way) {
  release_options o = shape(3);
  o.update = release::updates::always;
  explore(
      o,
      [](release_cluster& c) {
        const std::size_t a = c.add_thread(0), b = c.add_thread(1), d = c.add_thread(2);
        c.begin(a, edge(c, a, no_word, 0, 2, 2));
        c.begin(b, edge(c, b, 0, 0, 2, 2));
        c.begin(d, edge(c, d, 1, 0, 2, 2));
      },
      3'000, true);
}

TEST(release_exhaustive, updates_under_a_lock_that_three_nodes_hand_on) {
  release_options o = shape(3);
  o.update = release::updates::always;
  explore(
      o,
      [](release_cluster& c) {
        const std::uint64_t m = c.make_object(1, operation::mutex_create);
        for (unsigned n = 0; n < 3; ++n) {
          const std::size_t t = c.add_thread(n);
          c.begin(t, locked(c, t, m, 0, 1));
        }
      },
      1'000);
}

/// That it would notice: the same with one thing broken.
TEST(release_exhaustive, what_is_broken_is_found) {
  const auto broken = [](const std::function<void(release_cluster&)>& break_it) {
    return verdict(
        shape(2),
        [&](release_cluster& c) {
          const std::uint64_t m = c.make_object(0, operation::mutex_create);
          for (unsigned n = 0; n < 2; ++n) with(c, n, locked, m, 0, 2);
        },
        break_it);
  };
  EXPECT_EQ(broken([](release_cluster&) {}), "");
  EXPECT_NE(broken([](release_cluster& c) { c.tamper().never_acquires = true; }), "");
  EXPECT_NE(broken([](release_cluster& c) { c.tamper().releases_nothing = true; }), "");
}

}  // namespace
}  // namespace quire::sim::release_exhaustive_test
