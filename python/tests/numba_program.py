# SPDX-License-Identifier: BSD-3-Clause
"""numba's prange on shared arrays: all cores of all nodes. Exit status 77: numba is not installed."""
import sys

import numpy as np

import quire as q

try:
    import numba
except ImportError:
    print("numba is not installed")
    sys.exit(77)
numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))


@numba.njit(parallel=True, nogil=True)
def sweep(new, old, low, high):
    for i in numba.prange(low, high):
        for j in range(1, old.shape[1] - 1):
            new[i, j] = 0.25 * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1])


def heat(new, old, steps, rows, wait):
    for _ in range(steps):
        sweep(new, old, rows.start, rows.stop)
        wait()
        new, old = old, new
    return old


SIDE = 600  # 2.9 MB: a region, whose rows come by faults
shared = q.zeros((SIDE, SIDE)), q.zeros((SIDE, SIDE))
private = np.zeros((SIDE, SIDE)), np.zeros((SIDE, SIDE))
if q.node == 0:
    shared[0][0] = shared[1][0] = 100
private[0][0] = private[1][0] = 100
q.barrier()
there = heat(*shared, 60, q.block(1, SIDE - 1), q.barrier)
wanted = heat(*private, 60, slice(1, SIDE - 1), lambda: None)
assert (there == wanted).all()  # bit by bit
q.barrier()


# A lock of Quire around a loop in machine code; small arrays are sequential.
@numba.njit(nogil=True)
def add(counts, times):
    for _ in range(times):
        for i in range(counts.size):
            counts[i] += 1


counts, lock = q.zeros(64, "i8"), q.Lock()
for _ in range(10):
    with lock:
        add(counts, 100)
q.barrier()
assert (counts == 1000 * q.nodes).all()
