// SPDX-License-Identifier: BSD-3-Clause
// A node for silence_test: silence_program WHAT. All print their pid, then do what WHAT says. Unlike death_program's,
// these jobs come to a good end unless somebody is taken for dead.
#include <unistd.h>

#include <atomic>
#include <functional>
#include <map>

#include "node.hpp"

using namespace quire::test;

namespace {

struct shared {
  quire_mutex mutex;
  std::uint64_t words[4096];
};

void compute_for(double seconds) {
  for (const double until = now_seconds() + seconds; now_seconds() < until;) asm volatile("");
}

/// Node 1 computes for long without a call or a fault; the others wait for it.
void busy(shared&, double seconds) {
  if (quire_node() == 1) compute_for(seconds);
}
/// So does it with a lock that the others want.
void busy_with_lock(shared& s, double seconds) {
  if (quire_node() == 1) REQUIRE_OK(quire_mutex_lock(s.mutex));
  barrier();
  if (quire_node() == 1) {
    compute_for(seconds);
  } else {
    REQUIRE_OK(quire_mutex_lock(s.mutex));
  }
  REQUIRE_OK(quire_mutex_unlock(s.mutex));
}
/// All work on shared words, and pass them around.
void share(shared& s, double seconds) {
  for (const double until = now_seconds() + seconds; now_seconds() < until;)
    for (std::size_t i = 0; i < 4096; i += 64) std::atomic_ref(s.words[i]).fetch_add(1);
}
void idle(shared&, double seconds) { sleep_ms(static_cast<int>(seconds * 1000)); }
/// One comes late to the end, and then takes long with what follows it.
void slow_end(shared&, double seconds) {
  if (quire_node() == 1) sleep_ms(static_cast<int>(seconds * 1000));
  REQUIRE_OK(quire_end());
  if (quire_node() == 0) sleep_ms(static_cast<int>(seconds * 1000));
  std::printf("done\n");
  std::exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void(shared&, double)>> things{
      {"busy", busy}, {"busy_with_lock", busy_with_lock}, {"share", share}, {"idle", idle}, {"slow_end", slow_end}};
  const std::string what = argc > 1 ? argv[1] : "";
  const double seconds = argc > 2 ? std::atof(argv[2]) : 5;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (what == "slow_start") {
    const char* const number = std::getenv("QUIRE_JOB_NODE");
    if (number != nullptr && std::atoi(number) == 1) sleep_ms(static_cast<int>(seconds * 1000));
  }
  REQUIRE_OK(quire_start(nullptr));
  auto& s = *shared_object<shared>("shared");
  if (quire_node() == 0) REQUIRE_OK(quire_mutex_create(&s.mutex));
  barrier();
  std::printf("node %d is %d\n", quire_node(), ::getpid());
  if (things.contains(what)) things.at(what)(s, seconds);
  barrier();
  std::printf("done\n");
  REQUIRE_OK(quire_end());
  return 0;
}
