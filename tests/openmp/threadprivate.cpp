// SPDX-License-Identifier: BSD-3-Clause
// Threadprivate and thread_local variables: kept from region to region, copied in and out, and used by other threads
// through pointers.
#include <omp.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr int threads = 6, large = 3000;
struct state {
  int number;
  double parts[3];
};

int g_count = 5;
long g_table[large] = {1, 2, 3};
state g_state = {1, {0.5, 1.5, 2.5}};
#pragma omp threadprivate(g_count, g_table, g_state)
thread_local std::vector<std::string> g_names{"one"};
thread_local volatile int g_flag = 0;

void expect(bool ok, const char* what) {
  if (!ok) std::printf("%s, thread %d\n", what, omp_get_thread_num());
}

void copies() {
  g_count = 40;
  g_table[large - 1] = 41;
  g_state.parts[2] = 42;
#pragma omp parallel num_threads(threads) copyin(g_count, g_table, g_state)
  {
    expect(g_count == 40 && g_table[large - 1] == 41 && g_table[1] == 2 && g_state.parts[2] == 42, "copyin");
    g_count += omp_get_thread_num();
    g_state.number = omp_get_thread_num();
  }
#pragma omp parallel num_threads(threads)
  {
    expect(g_count == 40 + omp_get_thread_num() && g_state.number == omp_get_thread_num(), "kept");
#pragma omp single copyprivate(g_table, g_state)
    {
      g_table[0] = 77;
      g_state.parts[0] = 78;
      g_state.number = 79;
    }
    expect(g_table[0] == 77 && g_state.parts[0] == 78, "copyprivate");
  }
  std::printf("%d %ld %d\n", g_count, g_table[0], g_state.number);
}

void pointers() {
  int* counts[threads];
  long* tables[threads];
  std::vector<std::string>* names[threads];
  volatile int* flags[threads];
  int* const of_main = &g_count;
  *of_main = 0;
#pragma omp parallel num_threads(threads)
  {
    const int me = omp_get_thread_num(), next = (me + 1) % threads;
    g_count = 100 * me;
    counts[me] = &g_count;
    tables[me] = g_table;
    names[me] = &g_names;
    flags[me] = &g_flag;
    g_names.push_back("of thread " + std::to_string(me));
#pragma omp barrier
    expect(*counts[next] == 100 * next, "read");
    expect(names[next]->size() == 2 && names[next]->back() == "of thread " + std::to_string(next), "object");
#pragma omp barrier
#pragma omp atomic
    ++*counts[next];
    tables[next][large / 2] = next;
    names[next]->push_back("from thread " + std::to_string(me));
#pragma omp atomic
    ++*counts[0];
#pragma omp barrier
    expect(g_count == 100 * me + 1 + (me == 0 ? threads : 0) && g_table[large / 2] == me && g_names.size() == 3,
           "written");
    *flags[next] = 1;
    while (g_flag == 0) {
    }
  }
  std::printf("main has %d, %s\n", *of_main, g_names.back().c_str());
}

void more_threads() {
  for (int count = 7; count < 30; count += 9) {
    int sum = 0;
    g_count = count;
#pragma omp parallel num_threads(count) copyin(g_count) reduction(+ : sum)
    sum += g_count + static_cast<int>(g_table[1]);
    std::printf("%d threads: %d\n", count, sum);
  }
}

}  // namespace

int main() {
  copies();
  pointers();
  more_threads();
  return g_count;
}
