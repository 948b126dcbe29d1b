// SPDX-License-Identifier: BSD-3-Clause
// The standard library's locks in shared memory, for foreign_locks_test: they come to libc's, from here and from
// libstdc++.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string_view>

#include "node.hpp"

namespace {

using namespace quire::test;
using namespace std::chrono_literals;

struct locks {
  std::mutex mutex;
  std::shared_mutex shared;
  std::condition_variable condition;
};

void wait_and_wake(locks& l) {
  bool ready = false;
  std::thread other([&] {
    const std::lock_guard guard(l.mutex);
    ready = true;
    l.condition.notify_one();
  });
  std::unique_lock guard(l.mutex);
  while (!ready) l.condition.wait(guard);
  REQUIRE(l.condition.wait_for(guard, 1ms) == std::cv_status::timeout);
  guard.unlock();
  other.join();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  return node_main([what] {
    auto* const l = ::new (shared_object<locks>("locks")) locks;
    barrier();
    if (quire_node() != quire_nodes() - 1) return;
    if (what == "mutex") {
      const std::lock_guard guard(l->mutex);
    }
    if (what == "shared_mutex") {
      const std::shared_lock guard(l->shared);
    }
    if (what == "condition_variable") wait_and_wake(*l);
  });
}
