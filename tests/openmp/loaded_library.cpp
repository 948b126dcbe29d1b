// SPDX-License-Identifier: BSD-3-Clause
// A plugin: static data with and without constructors, thread-local variables, exceptions, a region of its own.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

std::vector<std::string> g_names;
int g_count = 5;
struct own {
  int value = 7;
  ~own() { __atomic_fetch_sub(&g_count, 1, __ATOMIC_SEQ_CST); }
};
thread_local own t_own;

struct made {
  made() {
    g_names.push_back("made");
    std::printf("constructed with %d\n", g_count);
  }
  ~made() {
    if (g_names.front() != "made") std::abort();  // the heap is there
    std::printf("destroyed with %zu names\n", g_names.size());
    std::fflush(stdout);
  }
} g_made;

}  // namespace

extern "C" {
int loaded_table[1000];
alignas(8192) int loaded_aligned[3000] = {1};

int loaded_add(int by) { return __atomic_add_fetch(&g_count, by, __ATOMIC_SEQ_CST); }
int loaded_own(int by) { return t_own.value += by; }
int loaded_throw(int many) {
  try {
    if (many > 0) throw std::string(static_cast<std::size_t>(many), 'x');
  } catch (const std::string& text) {
    return static_cast<int>(text.size());
  }
  return 0;
}
/// On how many nodes threads of a region are: each is a process.
int loaded_nodes(void) {
  long processes[4] = {};
#pragma omp parallel for num_threads(4) schedule(static, 1)
  for (int i = 0; i < 4; ++i) processes[i] = syscall(SYS_getpid);
  int count = 0;
  for (int i = 0; i < 4; ++i) count += i == 0 || processes[i] != processes[i - 1] ? 1 : 0;
  return count;
}
/// Code that is written as the library runs, for threads of all nodes; -1: it may not be.
int loaded_compiled(void) {
  constexpr std::size_t page = 4096;
  const unsigned char code[] = {0x8d, 0x47, 0x03, 0xc3};  // lea 3(%rdi),%eax; ret
  void* const at = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memcpy(at, code, sizeof code);
  if (mprotect(at, page, PROT_READ | PROT_EXEC) != 0) return -1;
  int sum = 0;
#pragma omp parallel for num_threads(4) reduction(+ : sum)
  for (int i = 0; i < 4; ++i) sum += reinterpret_cast<int (*)(int)>(at)(i);
  munmap(at, page);
  return sum;
}
int loaded_region(void) {
  int sum = 0;
#ifdef FENCED
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
#pragma omp parallel for num_threads(4) reduction(+ : sum)
  for (int i = 0; i < 1000; ++i) {
    loaded_table[i] = i;
    sum += i;
  }
  return sum;
}
}
