/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat in a rod, by messages: each rank has a part, with a cell of each neighbour on both sides. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { cells = 20000, steps = 200 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int first = 1 + (cells - 2) * rank / ranks, last = 1 + (cells - 2) * (rank + 1) / ranks;
  const int count = last - first;
  double* now = calloc(count + 2, sizeof(double));
  double* next = calloc(count + 2, sizeof(double));
  if (now == NULL || next == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  if (rank == 0) now[0] = next[0] = 100;
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  for (int step = 0; step < steps; ++step) {
    MPI_Sendrecv(&now[1], 1, MPI_DOUBLE, left, 0, &now[count + 1], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&now[count], 1, MPI_DOUBLE, right, 1, &now[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 1; i <= count; ++i) next[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
    double* const other = now;
    now = next;
    next = other;
  }
  double part = rank == 0 ? now[0] : 0, sum = 0;
  for (int i = 1; i <= count; ++i) part += now[i];
  MPI_Reduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d steps, the sum is %.6f\n", steps, sum);
  MPI_Finalize();
  return 0;
}
