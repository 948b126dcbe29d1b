// SPDX-License-Identifier: BSD-3-Clause
// Nodes write words of their own on one unit, at lines that the report has to name. report_program [exit|plain]: how it ends.
#include <quire/report.h>
#include <quire/system.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int rounds = 200;

[[gnu::noinline]] void even_node(volatile std::uint64_t* words) { words[0] = words[0] + 1; }   // planted: even
[[gnu::noinline]] void odd_node(volatile std::uint64_t* words) { words[64] = words[64] + 1; }  // planted: odd

quire_barrier all_nodes{0};

void use(std::uint64_t* words, quire_mutex mutex) {
  for (int round = 0; round < rounds; ++round) {
    quire_node() % 2 == 0 ? even_node(words) : odd_node(words);
    if (quire_barrier_wait(all_nodes) != QUIRE_OK) std::abort();
    if (round % 20 != 0) continue;
    if (quire_mutex_lock(mutex) != QUIRE_OK || quire_mutex_unlock(mutex) != QUIRE_OK) std::abort();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* const end = argc > 1 ? argv[1] : "plain";
  if (quire_start(nullptr) != QUIRE_OK) return 1;
  void* memory = nullptr;
  quire_mutex mutex{};
  if (quire_node() == 0) {
    if (quire_aligned_alloc(4096, 4096, &memory) != QUIRE_OK || quire_mutex_create(&mutex) != QUIRE_OK) return 1;
    if (quire_label(memory, 4096, "planted <words>") != QUIRE_OK) return 1;
    if (quire_label(&mutex, 8, "private") != QUIRE_BAD_ADDRESS || quire_label(memory, 0, "none") != QUIRE_INVALID || quire_label(memory, 8, "") != QUIRE_INVALID) return 1;
    if (quire_publish("words", memory) != QUIRE_OK || quire_publish("mutex", reinterpret_cast<void*>(mutex.id)) != QUIRE_OK) return 1;
  }
  void* id = nullptr;
  if (quire_lookup("words", -1, &memory) != QUIRE_OK || quire_lookup("mutex", -1, &id) != QUIRE_OK) return 1;
  mutex.id = reinterpret_cast<std::uint64_t>(id);
  if (quire_phase("writes") != QUIRE_OK || quire_phase(nullptr) != QUIRE_OK || quire_phase("writes") != QUIRE_OK) return 1;
  use(static_cast<std::uint64_t*>(memory), mutex);
  if (quire_phase(nullptr) != QUIRE_OK) return 1;
  if (std::strcmp(end, "exit") == 0) {
    if (quire_barrier_wait(all_nodes) != QUIRE_OK) return 1;
    if (quire_node() == 0) quire_exit(0);
    for (;;) (void)quire_barrier_wait(all_nodes);
  }
  return quire_end() == QUIRE_OK ? 0 : 1;
}
