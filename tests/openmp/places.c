/* SPDX-License-Identifier: BSD-3-Clause */
// Threads run where their places are, in regions with each kind of clause and in regions within regions; and say so.
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static int wrong;

static void check(void) {
  const int places = omp_get_num_places(), mine = omp_get_place_num();
  int bad = 0;
  if (places == 0) {
    bad |= mine != -1 || omp_get_proc_bind() != omp_proc_bind_false;
  } else {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    const int count = omp_get_place_num_procs(mine);
    int ids[1024], inside = 0, partition[1024];
    bad |= mine < 0 || mine >= places || count < 1 || count != CPU_COUNT(&set);
    omp_get_place_proc_ids(mine, ids);
    for (int i = 0; i < count; ++i) bad |= !CPU_ISSET(ids[i], &set);
    omp_get_partition_place_nums(partition);
    for (int i = 0; i < omp_get_partition_num_places(); ++i) inside |= partition[i] == mine;
    bad |= !inside;
  }
#pragma omp atomic
  wrong += bad;
}

int main(int argc, char** argv) {
  const int bound = argc > 1 && atoi(argv[1]);
  check();
  printf("places: %s, policy %s\n", omp_get_num_places() > 0 ? "yes" : "no",
         omp_get_proc_bind() != omp_proc_bind_false ? "some" : "none");
  if ((omp_get_num_places() > 0) != bound) printf("wrong: places\n");
#pragma omp parallel
  check();
#pragma omp parallel proc_bind(spread)
  check();
#pragma omp parallel proc_bind(close) num_threads(3)
  check();
#pragma omp parallel proc_bind(primary)
  check();
#pragma omp parallel for proc_bind(spread) schedule(dynamic)
  for (int i = 0; i < 8; ++i) check();
#pragma omp parallel sections proc_bind(close)
  {
#pragma omp section
    check();
#pragma omp section
    check();
  }
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) proc_bind(spread)
  {
    check();
#pragma omp parallel num_threads(2) proc_bind(close)
    check();
    check();
  }
  check();
  printf("wrong: %d, no place %d has %d processors\n", wrong, omp_get_num_places() > 9999, omp_get_place_num_procs(-1));
  return 0;
}
