// SPDX-License-Identifier: BSD-3-Clause
// Errors and time limits, of docs/guide/failures.md: quire run -n 2 guide/errors
#include <chrono>
#include <cstdio>
#include <mutex>

#include <quire/quire.hpp>

int main() {
  quire::session job;
  bool right = false;
  // [errors]
  try {
    (void)quire::region::create(1 << 20, {.unit_bytes = 3000});    // not a power of two
  } catch (const quire::error& e) {
    right = e.code() == quire::errc::invalid;                      // or e.status() == QUIRE_INVALID
    if (job.node() == 0) std::printf("refused: %s\n", e.what());
  }
  // [/errors]
  auto lock = quire::from_node(0, quire::mutex::create);
  if (job.node() == 0) lock.lock();
  quire::barrier{}.arrive_and_wait();
  if (job.node() == 1) {
    // [limit]
    using namespace std::chrono_literals;
    if (!lock.try_lock_for(50ms)) std::printf("somebody else has it\n");
    // [/limit]
    right = right && !lock.try_lock();
  }
  quire::barrier{}.arrive_and_wait();
  if (job.node() == 0) lock.unlock();
  return right ? 0 : 1;
}
