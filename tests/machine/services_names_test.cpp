// SPDX-License-Identifier: BSD-3-Clause
// Names of values: who is told what, and of whom node 0 keeps nothing.
#include <gtest/gtest.h>

#include "services_requests.hpp"
#include "services/names.hpp"

namespace quire::services::services_names_test {
namespace {

TEST(services_names, who_waits_is_told_in_the_order_of_coming) {
  names all;
  answers out;
  const auto tree = names::name_of("tree"), list = names::name_of("list");
  all.on_lookup(request_of(1, 1, 0), tree, out);
  EXPECT_EQ(said(out), "1.1 NOT_FOUND");
  all.on_lookup(request_of(1, 2, 1), tree, out);
  all.on_lookup(request_of(2, 1, 1), list, out);
  all.on_lookup(request_of(3, 1, 1), tree, out);
  EXPECT_EQ(said(out), "");
  all.on_publish(request_of(2, 2, 500), tree, out);
  EXPECT_EQ(said(out), "2.2 OK, 1.2 OK 500, 3.1 OK 500");
  all.on_publish(request_of(1, 3, 600), tree, out);
  EXPECT_EQ(said(out), "1.3 EXISTS");
  EXPECT_EQ(all.waiting(), 1u);
}

TEST(services_names, of_calls_that_are_over_nothing_is_kept) {
  names all;
  answers out;
  const auto tree = names::name_of("tree");
  for (std::uint64_t token = 1; token <= 3; ++token) all.on_lookup(request_of(1, token, 1), tree, out);
  all.on_lookup(request_of(2, 1, 1), tree, out);
  all.on_withdrawn(request_of(1, 2));
  all.on_withdrawn(request_of(1, 7));  // it has been answered
  all.on_death(node_id{2});
  EXPECT_EQ(all.waiting(), 2u);
  all.on_publish(request_of(0, 1, 500), tree, out);
  EXPECT_EQ(said(out), "0.1 OK, 1.1 OK 500, 1.3 OK 500");
}

TEST(services_names, a_name_goes_with_its_memory_and_comes_with_a_checkpoint) {
  names all;
  answers out;
  const auto tree = names::name_of("tree");
  all.on_publish(request_of(0, 1, 4096), tree, out);
  all.on_gone(8192, 4096);
  all.on_lookup(request_of(1, 1, 1), tree, out);
  EXPECT_EQ(said(out), "0.1 OK, 1.1 OK 4096");
  all.on_gone(4096, 4096);
  all.on_lookup(request_of(1, 2, 1), tree, out);
  EXPECT_EQ(said(out), "");
  all.on_restored(tree, 12288, out);
  EXPECT_EQ(said(out), "1.2 OK 12288");
}

}  // namespace
}  // namespace quire::services::services_names_test
