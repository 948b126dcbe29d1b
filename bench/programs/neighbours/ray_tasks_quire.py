# SPDX-License-Identifier: BSD-3-Clause
# Heat in a plate: calls on nodes, which write where the arrays lie.
import sys
import time

import numpy as np

import quire as q

n, steps = (int(word) for word in sys.argv[1:3])


def sweep(old, new, low, high):
    new[low:high, 1:-1] = (old[low - 1:high - 1, 1:-1] + old[low + 1:high + 1, 1:-1] + old[low:high, :-2] + old[low:high, 2:]) / 4
    return np.abs(new[low:high] - old[low:high]).max()


plate, other = q.zeros((n, n)), q.zeros((n, n))
if q.node == 0:
    plate[0] = other[0] = 100
    cuts = np.linspace(1, n - 1, q.nodes + 1).astype(int)
    begin = time.perf_counter()
    for step in range(steps):
        found = [q.spawn(node, sweep, plate, other, cuts[node], cuts[node + 1]) for node in range(q.nodes)]
        worst = max(one.join() for one in found)
        plate, other = other, plate
    print(f"seconds {time.perf_counter() - begin:.3f}", file=sys.stderr)
    print(f"{steps} steps, the last {worst:.6f}, the sum {plate.sum():.6f}")
q.barrier()
