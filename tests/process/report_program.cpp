// SPDX-License-Identifier: BSD-3-Clause
// Nodes write words of their own on one unit, at lines that the report has to name. report_program
// [plain|exit|die|forever|memcpy|qsort|beside]: how it ends, or how it writes; beside: a minipage, and reads of the
// byte before it through its page, as functions of libraries do that read texts by vectors.
#include <quire/report.h>
#include <quire/system.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int rounds = 200;

[[gnu::noinline]] void even_node(volatile std::uint64_t* words) { words[0] = words[0] + 1; }   // planted: even
[[gnu::noinline]] void odd_node(volatile std::uint64_t* words) { words[64] = words[64] + 1; }  // planted: odd

// By functions of the C library, which make no frames. What follows them keeps them from being the last call, which
// would be a jump.
[[gnu::noinline]] void even_copy(std::uint64_t* words, const std::uint64_t* from, std::size_t bytes) {
  std::memcpy(words, from, bytes);  // planted: even copy
  asm volatile("");
}
[[gnu::noinline]] void odd_copy(std::uint64_t* words, const std::uint64_t* from, std::size_t bytes) {
  std::memcpy(words + 64, from, bytes);  // planted: odd copy
  asm volatile("");
}
int order(const void* a, const void* b) { return std::memcmp(a, b, sizeof(std::uint64_t)); }
[[gnu::noinline]] void even_sort(std::uint64_t* words) {
  std::qsort(words, 8, sizeof *words, order);  // planted: even sort
  asm volatile("");
}
[[gnu::noinline]] void odd_sort(std::uint64_t* words) {
  std::qsort(words + 64, 8, sizeof *words, order);  // planted: odd sort
  asm volatile("");
}

quire_barrier all_nodes{0};

void use(std::uint64_t* words, quire_mutex mutex, const char* how) {
  const std::uint64_t content[8] = {1, 2, 3};
  const bool even = quire_node() % 2 == 0, copies = std::strcmp(how, "memcpy") == 0,
             sorts = std::strcmp(how, "qsort") == 0;
  for (int round = 0; round < rounds; ++round) {
    if (copies) {
      even ? even_copy(words, content, sizeof content) : odd_copy(words, content, sizeof content);
    } else if (sorts) {
      even ? even_sort(words) : odd_sort(words);
    } else {
      even ? even_node(words) : odd_node(words);
    }
    if (quire_barrier_wait(all_nodes) != QUIRE_OK) std::abort();
    if (round % 20 != 0) continue;
    if (quire_mutex_lock(mutex) != QUIRE_OK || quire_mutex_unlock(mutex) != QUIRE_OK) std::abort();
  }
}

/// The addresses of a page with a minipage for each of two blocks.
quire_status use_beside() {
  constexpr std::size_t block = 512;
  void *before = nullptr, *at = nullptr;
  if (quire_node() == 0) {
    quire_region_options about{};
    about.size = sizeof about;
    about.heap = 1;
    about.views = 8;
    quire_region region{};
    quire_status why = quire_region_create(&about, 1 << 20, &region);
    if (why == QUIRE_OK) why = quire_region_calloc(region, 0, block, &before);
    if (why == QUIRE_OK) why = quire_region_calloc(region, 0, block, &at);
    if (why == QUIRE_OK) why = quire_publish("block", at);
    if (why != QUIRE_OK) return why;
  }
  const quire_status why = quire_lookup("block", -1, &at);
  if (why != QUIRE_OK) return why;
  const bool even = quire_node() % 2 == 0;
  for (int round = 0; round < rounds; ++round) {
    if (even) static_cast<volatile std::uint64_t*>(at)[0] = 1;
    if (quire_barrier_wait(all_nodes) != QUIRE_OK) std::abort();
    if (!even) (void)static_cast<volatile char*>(at)[-8];  // planted: beside
    if (quire_barrier_wait(all_nodes) != QUIRE_OK) std::abort();
    if (!even) static_cast<volatile std::uint64_t*>(at)[32] = 1;
    if (quire_barrier_wait(all_nodes) != QUIRE_OK) std::abort();
  }
  return QUIRE_OK;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const end = argc > 1 ? argv[1] : "plain";
  if (quire_start(nullptr) != QUIRE_OK) return 1;
  if (std::strcmp(end, "beside") == 0) return use_beside() == QUIRE_OK && quire_end() == QUIRE_OK ? 0 : 1;
  void* memory = nullptr;
  quire_mutex mutex{};
  if (quire_node() == 0) {
    if (quire_aligned_alloc(4096, 4096, &memory) != QUIRE_OK || quire_mutex_create(&mutex) != QUIRE_OK) return 1;
    if (quire_label(memory, 4096, "planted <words>") != QUIRE_OK) return 1;
    if (quire_label(&mutex, 8, "private") != QUIRE_BAD_ADDRESS || quire_label(memory, 0, "none") != QUIRE_INVALID ||
        quire_label(memory, 8, "") != QUIRE_INVALID)
      return 1;
    if (quire_publish("words", memory) != QUIRE_OK ||
        quire_publish("mutex", reinterpret_cast<void*>(mutex.id)) != QUIRE_OK)
      return 1;
  }
  void* id = nullptr;
  if (quire_lookup("words", -1, &memory) != QUIRE_OK || quire_lookup("mutex", -1, &id) != QUIRE_OK) return 1;
  mutex.id = reinterpret_cast<std::uint64_t>(id);
  if (quire_phase("writes") != QUIRE_OK || quire_phase(nullptr) != QUIRE_OK || quire_phase("writes") != QUIRE_OK)
    return 1;
  if (std::strcmp(end, "forever") == 0) {  // who looks at it waits for this
    std::puts("here");
    (void)std::fflush(stdout);
  }
  do use(static_cast<std::uint64_t*>(memory), mutex, end);
  while (std::strcmp(end, "forever") == 0);
  if (std::strcmp(end, "die") == 0 && quire_node() == 1) (void)std::raise(SIGKILL);
  if (quire_phase(nullptr) != QUIRE_OK) return 1;
  if (std::strcmp(end, "exit") == 0) {
    if (quire_barrier_wait(all_nodes) != QUIRE_OK) return 1;
    if (quire_node() == 0) quire_exit(0);
    for (;;) (void)quire_barrier_wait(all_nodes);
  }
  return quire_end() == QUIRE_OK ? 0 : 1;
}
