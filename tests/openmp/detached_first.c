/* SPDX-License-Identifier: BSD-3-Clause */
// Tasks that wait in a loop for others which were made before them and have events: these must not stay behind.
#include <omp.h>
#include <stdio.h>

enum { count = 4 };

int main(void) {
  omp_event_handle_t kept[count];
  int done[count] = {0}, have[count] = {0}, sum = 0;
#pragma omp parallel num_threads(count)
#pragma omp single
  {
    for (int i = 0; i < count; ++i) {
      omp_event_handle_t event;
#pragma omp task detach(event) firstprivate(i) shared(done, have, kept)
      {
        done[i] = 1;
        kept[i] = event;
#pragma omp atomic write
        have[i] = 1;
      }
    }
    for (int i = 0; i < count; ++i) {
#pragma omp task firstprivate(i) shared(done, have, kept)
      {
        for (int seen = 0; seen == 0;) {
#pragma omp taskyield
#pragma omp atomic read
          seen = have[i];
        }
        done[i] += 10;
        omp_fulfill_event(kept[i]);
      }
    }
#pragma omp taskwait
    for (int i = 0; i < count; ++i) sum += done[i];
    printf("%d\n", sum);
  }
  return 0;
}
