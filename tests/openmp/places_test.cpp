// SPDX-License-Identifier: BSD-3-Clause
// OMP_PLACES as text, and which place a thread gets.
#include <gtest/gtest.h>

#include "program/job/assignment.hpp"
#include "program/omp/places/place_list.hpp"

namespace quire::program::places_test {
namespace {

/// Two sockets of two cores of two threads; cores i and i + 4 are one.
std::vector<processor> machine() {
  std::vector<processor> all;
  for (int i = 0; i < 8; ++i) all.push_back({i, i % 4, i % 4 / 2, i % 4 / 2, i % 4 / 2});
  return all;
}

std::string read(const char* text, const std::vector<processor>& available = machine()) {
  std::string why, all;
  for (const processor_set& p : read_places(text, available, why)) all += (all.empty() ? "" : " ") + text_of(p);
  return why.empty() ? all : why;
}

TEST(places, have_names) {
  EXPECT_EQ(read("threads"), "{0} {1} {2} {3} {4} {5} {6} {7}");
  EXPECT_EQ(read(" Cores "), "{0,4} {1,5} {2,6} {3,7}");
  EXPECT_EQ(read("sockets"), "{0,1,4,5} {2,3,6,7}");
  EXPECT_EQ(read("ll_caches(1)"), "{0,1,4,5}");
  EXPECT_EQ(read("numa_domains(99)"), "{0,1,4,5} {2,3,6,7}");
  EXPECT_EQ(read("threads( 2 )"), "{0} {1}");
}

TEST(places, are_listed_by_number) {
  EXPECT_EQ(read("{0,1},{2,3}"), "{0:2} {2:2}");
  EXPECT_EQ(read("{0:4}:2:4"), "{0:4} {4:4}");
  EXPECT_EQ(read("{0:2:4}:4"), "{0,4} {1,5} {2,6} {3,7}");
  EXPECT_EQ(read("{6:2}:4:-2"), "{6:2} {4:2} {2:2} {0:2}");
  EXPECT_EQ(read("0,1:3"), "{0} {1} {2} {3}");
  EXPECT_EQ(read("{0:4,!2}"), "{0,1,3}");
  EXPECT_EQ(read("{0}:4,!{2}"), "{0} {1} {3}");
}

TEST(places, are_of_processors_that_may_be_used) {
  const std::vector<processor> two = {{2, 2, 0, 0, 0}, {5, 5, 0, 0, 0}};
  EXPECT_EQ(read("{0:8}", two), "{2,5}");
  EXPECT_EQ(read("{0}:8", two), "{2} {5}");
  EXPECT_EQ(read("{0},{1}", two), "a list of places of which this node may use no processor");
}

TEST(places, refuse_what_is_none) {
  for (const char* text : {"",          "corez", "cores(0)",    "cores(-1)", "cores(2", "cores 2",
                           "{",         "{}",    "{0",          "{0:}",      "{0:0}",   "{-1}",
                           "{0}:0",     "{0}:x", "{0},",        "{0}}",      "{1024}",  "{99999999999999999999}",
                           "{0:99999}", "!",     "{0}:2:99999", "0:1:"}) {
    EXPECT_EQ(read(text), "no list of places") << text;
  }
}

TEST(places, of_a_host_are_shared_by_its_nodes) {
  EXPECT_EQ(part_of(8, 0, 2).count, 4u);
  EXPECT_EQ(part_of(8, 1, 2).first, 4u);
  EXPECT_EQ(part_of(2, 3, 4).first, 1u);
  EXPECT_EQ(part_of(2, 3, 4).count, 1u);
  for (std::size_t nodes = 1; nodes < 9; ++nodes) {
    std::size_t next = 0;
    for (std::size_t node = 0; node < nodes; ++node) {
      EXPECT_EQ(part_of(8, node, nodes).first, next);
      next += part_of(8, node, nodes).count;
    }
    EXPECT_EQ(next, 8u);
  }
}

std::string seats(binding how, int threads, const seat& of) {
  std::string all;
  for (int i = 0; i < threads; ++i) {
    const seat s = seat_of(how, threads, i, of);
    all += (i != 0 ? " " : "") + std::to_string(s.place) + "[" + std::to_string(s.part.first) + "+" +
           std::to_string(s.part.count) + "]";
  }
  return all;
}

TEST(binding_of_threads, close_goes_on_from_the_master) {
  EXPECT_EQ(seats(binding::close, 3, {2, {0, 4}}), "2[0+4] 3[0+4] 0[0+4]");
  EXPECT_EQ(seats(binding::fixed, 2, {5, {4, 2}}), "5[4+2] 4[4+2]");
  EXPECT_EQ(seats(binding::close, 5, {1, {0, 2}}), "1[0+2] 1[0+2] 1[0+2] 0[0+2] 0[0+2]");
}

TEST(binding_of_threads, spread_gives_each_a_part) {
  EXPECT_EQ(seats(binding::spread, 2, {0, {0, 8}}), "0[0+4] 4[4+4]");
  EXPECT_EQ(seats(binding::spread, 3, {0, {0, 8}}), "0[0+3] 3[3+3] 6[6+2]");
  EXPECT_EQ(seats(binding::spread, 2, {6, {0, 8}}), "6[4+4] 0[0+4]");
  EXPECT_EQ(seats(binding::spread, 4, {0, {0, 2}}), "0[0+1] 0[0+1] 1[1+1] 1[1+1]");
}

TEST(binding_of_threads, primary_and_none_stay) {
  EXPECT_EQ(seats(binding::primary, 3, {1, {0, 4}}), "1[0+4] 1[0+4] 1[0+4]");
  EXPECT_EQ(seats(binding::none, 2, {}), "-1[0+0] -1[0+0]");
  EXPECT_EQ(seats(binding::close, 2, {}), "-1[0+0] -1[0+0]");
}

TEST(binding_of_threads, every_thread_has_a_place_of_its_partition) {
  for (int places = 1; places < 12; ++places) {
    for (int threads = 1; threads < 25; ++threads) {
      for (int master = 0; master < places; ++master) {
        for (const binding how : {binding::primary, binding::close, binding::spread}) {
          EXPECT_EQ(seat_of(how, threads, 0, {master, {0, places}}).place, master);
          std::vector<int> used(static_cast<std::size_t>(places));
          for (int i = 0; i < threads; ++i) {
            const seat s = seat_of(how, threads, i, {master, {0, places}});
            ASSERT_TRUE(s.place >= s.part.first && s.place < s.part.first + s.part.count &&
                        s.part.first + s.part.count <= places);
            ++used[static_cast<std::size_t>(s.place)];
          }
          if (how == binding::primary) continue;
          for (const int n : used)
            ASSERT_TRUE(n >= threads / places && n <= (threads + places - 1) / places)
                << places << ' ' << threads << ' ' << master;
        }
      }
    }
  }
}

}  // namespace
}  // namespace quire::program::places_test
