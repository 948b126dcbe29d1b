# SPDX-License-Identifier: BSD-3-Clause
# Heat in a plate: a pool of nodes, on any machines, and arrays that all have.
import sys
import time

import numpy as np

import quire as q

n, steps, workers = (int(word) for word in sys.argv[1:])


def make():
    for plate in q.zeros((n, n), name="even"), q.zeros((n, n), name="odd"):
        if q.node == 0:
            plate[0] = 100
    q.barrier()


def sweep(step):
    old, new = (q.array(name) for name in (("even", "odd") if step % 2 == 0 else ("odd", "even")))
    mine = q.block(1, n - 1)
    low, high = mine.start, mine.stop
    new[low:high, 1:-1] = (old[low - 1:high - 1, 1:-1] + old[low + 1:high + 1, 1:-1] + old[low:high, :-2] + old[low:high, 2:]) / 4
    return q.reduce(np.abs(new[low:high] - old[low:high]).max(), "max")  # a barrier as well


if __name__ == "__main__":
    with q.Pool(workers) as pool:
        pool.run(make)
        begin = time.perf_counter()
        for step in range(steps):
            worst = max(pool.run(sweep, step))
        print(f"seconds {time.perf_counter() - begin:.3f}", file=sys.stderr)
        total = pool.submit(lambda: q.array("even" if steps % 2 == 0 else "odd").sum()).result()
    print(f"{steps} steps, the last {worst:.6f}, the sum {total:.6f}")
