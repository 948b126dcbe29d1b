/* SPDX-License-Identifier: BSD-3-Clause */
// Atomic operations by calls, as compilers of Intel make them: by each thread on the same variables, which lie on pages
// of several nodes' threads.
#include <omp.h>
#include <stdio.h>

#define DECLARE(name, type)                                              \
  void __kmpc_atomic_##name(void* place, int thread, type* at, type by); \
  type __kmpc_atomic_##name##_cpt(void* place, int thread, type* at, type by, int wants_new);
DECLARE(fixed1_add, char)
DECLARE(fixed2_sub, short)
DECLARE(fixed4_add, int)
DECLARE(fixed4_mul, int)
DECLARE(fixed4_max, int)
DECLARE(fixed4u_shr, unsigned)
DECLARE(fixed8_xor, long)
DECLARE(fixed8_orb, long)
DECLARE(float4_add, float)
DECLARE(float8_add, double)
DECLARE(float8_min, double)
DECLARE(float10_add, long double)
void __kmpc_atomic_fixed4_sub_rev(void* place, int thread, int* at, int by);
int __kmpc_atomic_fixed4_rd(void* place, int thread, int* at);
int __kmpc_atomic_fixed4_swp(void* place, int thread, int* at, int by);
int __kmpc_global_thread_num(void* place);
void __kmpc_atomic_start(void);
void __kmpc_atomic_end(void);

static char small;
static short down;
static int sum, product = 1, most, turned, tickets, exchanged, seen[64];
static unsigned shifted = 1u << 31;
static long bits, flipped;
static float single;
static double twice, least = 1e9;
static long double whole;
static long guarded[4];

int main(void) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  {
    const int me = omp_get_thread_num(), own = __kmpc_global_thread_num(0);
    threads++;
    for (int i = 0; i < 20; ++i) {
      __kmpc_atomic_fixed1_add(0, own, &small, 1);
      __kmpc_atomic_fixed2_sub(0, own, &down, 2);
      __kmpc_atomic_fixed4_add(0, own, &sum, me);
      __kmpc_atomic_float4_add(0, own, &single, 0.5f);
      __kmpc_atomic_float8_add(0, own, &twice, 0.25);
      __kmpc_atomic_float10_add(0, own, &whole, 1.0L);
      __kmpc_atomic_start();
      guarded[0]++;
      guarded[3]++;
      __kmpc_atomic_end();
    }
    __kmpc_atomic_fixed4_mul(0, own, &product, 3);
    __kmpc_atomic_fixed4_max(0, own, &most, me);
    __kmpc_atomic_float8_min(0, own, &least, me + 1);
    __kmpc_atomic_fixed4u_shr(0, own, &shifted, 2);
    __kmpc_atomic_fixed8_orb(0, own, &bits, 1L << me);
    __kmpc_atomic_fixed8_xor(0, own, &flipped, 3L << me);
    __kmpc_atomic_fixed4_sub_rev(0, own, &turned, 1);
    const int ticket = __kmpc_atomic_fixed4_add_cpt(0, own, &tickets, 1, 0);
    __kmpc_atomic_fixed4_add(0, own, &seen[ticket], 1);
    __kmpc_atomic_fixed4_add(0, own, &exchanged, __kmpc_atomic_fixed4_swp(0, own, &seen[ticket], 1));
  }
  printf("%d %d %d %.1f %.2f %.0Lf %ld %ld\n", small, down, sum, single, twice, whole, guarded[0], guarded[3]);
  printf("%d %d %.0f %u %lx %lx %d %d %d\n", product, most, least, shifted, bits, flipped, turned,
         __kmpc_atomic_fixed4_rd(0, __kmpc_global_thread_num(0), &tickets), exchanged);
  return threads;
}
