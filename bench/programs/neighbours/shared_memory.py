# SPDX-License-Identifier: BSD-3-Clause
# Heat in a plate: a pool of processes, and arrays in shared memory of one machine.
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, shared_memory

import numpy as np

n, steps, workers = (int(word) for word in sys.argv[1:])


def attach(*names):
    global kept, plates
    kept = [shared_memory.SharedMemory(name) for name in names]
    plates = [np.ndarray((n, n), buffer=one.buf) for one in kept]


def sweep(step, low, high):
    old, new = plates[step % 2], plates[1 - step % 2]
    new[low:high, 1:-1] = (old[low - 1:high - 1, 1:-1] + old[low + 1:high + 1, 1:-1] + old[low:high, :-2] + old[low:high, 2:]) / 4
    return np.abs(new[low:high] - old[low:high]).max()


if __name__ == "__main__":
    blocks = [shared_memory.SharedMemory(create=True, size=n * n * 8) for _ in range(2)]
    attach(*(one.name for one in blocks))
    for plate in plates:
        plate[...] = 0
        plate[0] = 100
    cuts = np.linspace(1, n - 1, workers + 1).astype(int)
    with ProcessPoolExecutor(workers, get_context("spawn"), attach, [one.name for one in blocks]) as pool:
        sum(pool.map(abs, range(workers)))  # they are there
        begin = time.perf_counter()
        for step in range(steps):
            worst = max(pool.map(sweep, [step] * workers, cuts[:-1], cuts[1:]))
        print(f"seconds {time.perf_counter() - begin:.3f}", file=sys.stderr)
    print(f"{steps} steps, the last {worst:.6f}, the sum {plates[steps % 2].sum():.6f}")
    del plates
    for one in kept + blocks:
        one.close()
    for one in blocks:
        one.unlink()
