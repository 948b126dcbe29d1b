/* SPDX-License-Identifier: BSD-3-Clause */
// Cancellation of regions, loops, sections and taskgroups, with threads that wait in barriers meanwhile.
// OMP_CANCELLATION is true.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static void expect(const char* what, long found, long wanted) {
  if (found == wanted) return;
  printf("%s: %ld instead of %ld\n", what, found, wanted);
  exit(1);
}

static void regions(void) {
  int beyond = 0, before = 0;
  for (int round = 0; round < 10; ++round) {
#pragma omp parallel
    {
#pragma omp barrier
#pragma omp atomic
      before++;
      if (omp_get_thread_num() == round % omp_get_num_threads()) {
#pragma omp cancel parallel
      }
#pragma omp barrier
#pragma omp cancellation point parallel
#pragma omp atomic
      beyond++;
    }
  }
  expect("before the end of a cancelled region", before >= 10 && before <= 10 * omp_get_max_threads(), 1);
  expect("beyond it", beyond, 0);
  int after = 0;
#pragma omp parallel
  {
#pragma omp barrier
#pragma omp atomic
    after++;
  }
  expect("the next region", after, omp_get_max_threads());
}

static void loops(void) {
  int found = -1, all = 0, ran = 0;
#pragma omp parallel
  {
    for (int round = 0; round < 5; ++round) {
#pragma omp for schedule(dynamic, 1)
      for (int i = 0; i < 2000; ++i) {
#pragma omp cancellation point for
        const double until = omp_get_wtime() + 0.0001;
        while (omp_get_wtime() < until) {
        }
#pragma omp atomic
        ran++;
        if (i == 10) {
#pragma omp atomic write
          found = i;
#pragma omp cancel for
        }
      }
#pragma omp for schedule(static)
      for (int i = 0; i < 100; ++i) {
#pragma omp atomic
        all++;
#pragma omp cancel for if (i == -1)
      }
    }
#pragma omp sections
    {
#pragma omp section
      {
#pragma omp cancel sections
      }
#pragma omp section
      {
#pragma omp cancellation point sections
      }
    }
  }
  expect("found", found, 10);
  expect("some of a cancelled loop did not run", ran < 5 * 2000, 1);
  expect("a loop that is not cancelled", all, 500);
}

static void groups(void) {
  int ran = 0, other = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    {
      for (int i = 0; i < 1000; ++i) {
#pragma omp task
        {
#pragma omp cancellation point taskgroup
          int number;
#pragma omp atomic capture
          number = ++ran;
#pragma omp cancel taskgroup if (number == 20)
        }
      }
    }
#pragma omp taskgroup
    for (int i = 0; i < 100; ++i) {
#pragma omp task
      {
#pragma omp atomic
        other++;
      }
    }
  }
  expect("some of a cancelled group did not run", ran < 1000 && ran > 0, 1);
  expect("the next group", other, 100);
}

int main(void) {
  printf("cancellation %d\n", omp_get_cancellation());
  regions();
  loops();
  groups();
  printf("done\n");
  return 0;
}
