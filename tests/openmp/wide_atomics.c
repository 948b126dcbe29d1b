/* SPDX-License-Identifier: BSD-3-Clause */
// Atomic operations on objects that are too wide, or not aligned, for an instruction. libatomic has locks for these,
// each node its own.
#include <omp.h>
#include <stdio.h>

struct wide {
  long a, b;
  char between[5000];  // on two pages
  long c, d;
};
static _Atomic struct wide counters;
static struct __attribute__((packed)) {
  char before;
  double _Complex value;
} sums;

int main(void) {
  int threads = 0;
  long wrong = 0;
#pragma omp parallel reduction(+ : threads, wrong)
  {
    threads++;
    for (int i = 0; i < 600; ++i) {
      struct wide old = counters, new;
      do {
        wrong += old.a != old.b || old.a != old.d;
        new = old;
        new.a++, new.b++, new.d++;
        new.c += omp_get_thread_num();
      } while (!__c11_atomic_compare_exchange_strong(&counters, &old, new, 5, 5));
#pragma omp atomic
      sums.value += 1.0 + 2.0i;
    }
  }
  const struct wide last = counters;
  printf("%ld %ld %ld, %ld wrong, %.0f %.0f\n", last.a / threads, last.c, last.d / threads, wrong,
         __real__ sums.value / threads, __imag__ sums.value / threads);
  return 0;
}
