// SPDX-License-Identifier: BSD-3-Clause
// A mutex among four nodes, for transcripts of locks.
#pragma once

#include "sync_cluster.hpp"

namespace quire::sync {

using op = operation;

/// Node 0 has made the mutex.
struct locks : testing::Test {
  cluster c{4};
  std::uint64_t m = c.run(0, make_call(op::mutex_create))->object;
  outcome lock(unsigned n, std::uint32_t thread = 0) { return c.status_of(n, make_call(op::mutex_lock, m, thread)); }
  outcome try_lock(unsigned n, std::uint32_t thread = 0) { return c.status_of(n, make_try(op::mutex_lock, m, thread)); }
  outcome unlock(unsigned n, std::uint32_t thread = 0) {
    return c.status_of(n, make_call(op::mutex_unlock, m, thread));
  }
  /// Delivers the oldest message, which must be this one.
  void deliver(kind what, unsigned to) {
    ASSERT_FALSE(c.bag().empty());
    EXPECT_EQ(kind_of(c.bag()[0].m.kind), what);
    EXPECT_EQ(c.bag()[0].to, node(to));
    c.deliver_first();
  }
};

}  // namespace quire::sync
