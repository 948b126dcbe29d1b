# SPDX-License-Identifier: BSD-3-Clause
# Heat in a plate: each node has its rows of arrays that all share.
import sys
import time

import numpy as np

import quire as q

n, steps = (int(word) for word in sys.argv[1:3])


def sweep(old, new, low, high):
    new[low:high, 1:-1] = (old[low - 1:high - 1, 1:-1] + old[low + 1:high + 1, 1:-1] + old[low:high, :-2] + old[low:high, 2:]) / 4
    return np.abs(new[low:high] - old[low:high]).max()


plate, new = q.zeros((n, n)), q.zeros((n, n))
if q.node == 0:
    plate[0] = new[0] = 100
q.barrier()
mine = q.block(1, n - 1)
begin = time.perf_counter()
for step in range(steps):
    worst = q.reduce(sweep(plate, new, mine.start, mine.stop), "max")  # a barrier as well
    plate, new = new, plate
if q.node == 0:
    print(f"seconds {time.perf_counter() - begin:.3f}", file=sys.stderr)
    print(f"{steps} steps, the last {worst:.6f}, the sum {plate.sum():.6f}")
q.barrier()
