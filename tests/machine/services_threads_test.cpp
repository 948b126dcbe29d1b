// SPDX-License-Identifier: BSD-3-Clause
// Threads that others have asked for: who joins them, before and after their end.
#include <gtest/gtest.h>

#include "services_requests.hpp"
#include "services/threads.hpp"

namespace quire::services::services_threads_test {
namespace {

constexpr std::uint64_t first = std::uint64_t{3} << 48 | 1;

TEST(services_threads, one_call_joins_before_the_end_or_after) {
  threads here(node_id{3});
  answers out;
  EXPECT_EQ(here.on_started(request_of(1, 1), QUIRE_OK, out), first);
  EXPECT_EQ(threads::node_of(first), 3u);
  EXPECT_EQ(said(out), "1.1 OK " + std::to_string(first));
  here.on_join(request_of(1, 2, first), out);
  EXPECT_EQ(said(out), "");
  here.on_join(request_of(2, 1, first), out);
  EXPECT_EQ(said(out), "2.1 NOT_FOUND");
  here.on_finished(first, 42, out);
  EXPECT_EQ(said(out), "1.2 OK 42");
  here.on_join(request_of(1, 3, first), out);
  EXPECT_EQ(said(out), "1.3 NOT_FOUND");
  const std::uint64_t second = here.on_started(request_of(1, 4), QUIRE_OK, out);
  here.on_finished(second, 43, out);
  (void)said(out);
  here.on_join(request_of(2, 2, second), out);
  EXPECT_EQ(said(out), "2.2 OK 43");
  EXPECT_EQ(here.count(), 0u);
}

TEST(services_threads, one_that_cannot_start_leaves_nothing) {
  threads here(node_id{3});
  answers out;
  EXPECT_EQ(here.on_started(request_of(1, 1), QUIRE_NOT_FOUND, out), 0u);
  EXPECT_EQ(said(out), "1.1 NOT_FOUND");
  EXPECT_EQ(here.count(), 0u);
}

TEST(services_threads, where_who_waits_is_lost_another_one_joins) {
  threads here(node_id{3});
  answers out;
  EXPECT_EQ(here.on_started(request_of(1, 1), QUIRE_OK, out), first);
  here.on_join(request_of(1, 2, first), out);
  (void)said(out);
  here.on_death(node_id{1});
  here.on_join(request_of(2, 1, first), out);
  here.on_finished(first, 42, out);
  EXPECT_EQ(said(out), "2.1 OK 42");
}

}  // namespace
}  // namespace quire::services::services_threads_test
