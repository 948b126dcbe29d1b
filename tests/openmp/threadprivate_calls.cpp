// SPDX-License-Identifier: BSD-3-Clause
// Threadprivate variables of threads on other nodes, where the compiler asks the runtime for them: made by a
// constructor, copied in, kept from region to region, and used by pointer.
#include <omp.h>

#include <cstdio>

namespace {

struct counter {
  int n = 5;
  counter() { n = 7; }
};
counter own;
#pragma omp threadprivate(own)
int values[100] = {1, 2, 3};
#pragma omp threadprivate(values)
counter several[3];
#pragma omp threadprivate(several)

}  // namespace

int main() {
  int wrong = 0, sum = 0;
  int* of[64] = {};
  values[5] = 10;
  own.n = 8;
#pragma omp parallel copyin(values) reduction(+ : wrong)
  {
    const int me = omp_get_thread_num(), next = (me + 1) % omp_get_num_threads();
    wrong += values[5] != 10 || values[1] != 2 || several[2].n != 7;
    values[6] = me + 1;
    own.n += me;
    of[me] = values;
#pragma omp barrier
    wrong += of[next][6] != next + 1;
  }
#pragma omp parallel reduction(+ : wrong, sum)
  {
    wrong += values[6] != omp_get_thread_num() + 1;
    sum += own.n;
  }
  std::printf("%d wrong, %d\n", wrong, sum);
  return wrong;
}
