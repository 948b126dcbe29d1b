// SPDX-License-Identifier: BSD-3-Clause
// A process that exits while threads of it go on, and calls quire_end_at_exit() in a handler of atexit(3):
// end_at_exit_program HOW, which says what those threads do then. The handlers that come later run, and the memory of
// the job is gone for them: with HOW `main` one looks.
#include <quire/job.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::uint64_t bytes = 2 << 20, page_words = 512;
std::uint64_t* g_words = nullptr;
std::string g_how;

void later() {
  if (g_how == "main") g_words[1] = 1;
  std::printf("later\n");
}
void end() {
  if (g_how == "none") return quire::end_at_exit();
  REQUIRE_OK(quire_end_at_exit());
}

void add_each(std::uint64_t step) {
  for (std::uint64_t i = 0;; i += step) __atomic_fetch_add(&g_words[1 + i % (bytes / 8 - 1)], 1, __ATOMIC_RELAXED);
}
void wait_for_ever() {
  quire_event never{};
  REQUIRE_OK(quire_event_create(&never));
  (void)quire_event_wait(never, -1);
}
void lock_and_unlock() {
  while (quire_mutex_lock(quire_mutex{g_words[0]}) == QUIRE_OK &&
         quire_mutex_unlock(quire_mutex{g_words[0]}) == QUIRE_OK)
    continue;
}
void allocate() {
  for (void* p = nullptr; quire_malloc(100, &p) == QUIRE_OK;) quire_free(p);
}
void go_on() {
  if (g_how == "sweep") add_each(8);
  if (g_how == "fault") add_each(7 * page_words);
  if (g_how == "event") wait_for_ever();
  if (g_how == "lock") lock_and_unlock();
  if (g_how == "allocate") allocate();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  g_how = argv[1];
  (void)std::atexit(later);
  REQUIRE_OK(quire_start(nullptr));
  (void)std::atexit(end);
  g_words = shared_region<std::uint64_t>("words", bytes, region_options(page_words * 8, QUIRE_PLACE_MODULO));
  if (quire_node() == 0) {
    quire_mutex mutex{};
    REQUIRE_OK(quire_mutex_create(&mutex));
    g_words[0] = mutex.id;
  }
  barrier();
  for (int i = 0; i < 2; ++i) std::thread(go_on).detach();
  sleep_ms(50);
  return 0;
}
