// SPDX-License-Identifier: BSD-3-Clause
// A bounded queue in shared memory: node 0 produces, all nodes consume. A semaphore counts the free slots, a condition
// variable wakes consumers.
// Run it: quire run -n 2 producer_consumer
#include <array>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>

#include <quire/quire.hpp>

namespace {

constexpr std::int64_t items = 500;

struct queue {
  quire::mutex guard = quire::mutex::create();
  quire::condition_variable filled = quire::condition_variable::create();
  quire::counting_semaphore free_slots = quire::counting_semaphore::create(16);
  std::array<std::int64_t, 16> slots{};
  std::size_t first = 0;
  std::size_t count = 0;
  bool closed = false;
};

void produce(queue& q) {
  for (std::int64_t item = 1; item <= items; ++item) {
    q.free_slots.acquire();
    const std::scoped_lock lock(q.guard);
    q.slots[(q.first + q.count++) % q.slots.size()] = item;
    q.filled.notify_one();
  }
  const std::scoped_lock lock(q.guard);
  q.closed = true;
  q.filled.notify_all();
}

/// The sum of what this consumer got.
std::int64_t consume(queue& q) {
  std::int64_t sum = 0;
  for (;;) {
    std::unique_lock lock(q.guard);
    q.filled.wait(lock, [&] { return q.count > 0 || q.closed; });
    if (q.count == 0) return sum;
    sum += q.slots[q.first];
    q.first = (q.first + 1) % q.slots.size();
    --q.count;
    q.free_slots.release();
  }
}

}  // namespace

int main() {
  quire::session job;
  queue* shared = quire::from_node(0, [] { return quire::new_object<queue>(); });
  std::jthread producer;
  if (job.node() == 0) producer = std::jthread([shared] { produce(*shared); });
  const std::int64_t here = consume(*shared);
  const std::int64_t all = quire::all_reduce(here, quire::operation::sum);
  std::printf("node %d consumed %lld of %lld\n", job.node(), static_cast<long long>(here), static_cast<long long>(all));
  return all == items * (items + 1) / 2 ? 0 : 1;
}
