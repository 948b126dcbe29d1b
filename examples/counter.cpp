// SPDX-License-Identifier: BSD-3-Clause
// A counter that all nodes change: once under a mutex, once by an atomic operation that is done where the counter lies.
// Run it: quire run -n 2 counter
#include <cstdint>
#include <cstdio>
#include <mutex>

#include <quire/quire.hpp>

namespace {

constexpr std::uint64_t rounds = 1000;

/// Handles such as a mutex may lie in shared memory, beside what they guard.
struct counters {
  quire::mutex guard = quire::mutex::create();
  std::uint64_t guarded = 0;
  std::uint64_t atomic = 0;
};

}  // namespace

int main() {
  quire::session job;
  counters* shared = quire::from_node(0, [] { return quire::new_object<counters>(); });

  for (std::uint64_t i = 0; i < rounds; ++i) {
    const std::scoped_lock lock(shared->guard);
    ++shared->guarded;
  }
  const quire::atomic_ref atomic(shared->atomic);
  for (std::uint64_t i = 0; i < rounds; ++i) atomic.fetch_add(1);

  quire::barrier{}.arrive_and_wait();
  const auto expected = rounds * static_cast<std::uint64_t>(job.nodes());
  const bool right = shared->guarded == expected && shared->atomic == expected;
  if (job.node() == 0)
    std::printf("counted %llu and %llu, expected %llu\n", static_cast<unsigned long long>(shared->guarded),
                static_cast<unsigned long long>(shared->atomic), static_cast<unsigned long long>(expected));

  quire::barrier{}.arrive_and_wait();
  if (job.node() == 0) {
    shared->guard.destroy();
    quire::delete_object(shared);
  }
  return right ? 0 : 1;
}
