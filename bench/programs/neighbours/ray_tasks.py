# SPDX-License-Identifier: BSD-3-Clause
# Heat in a plate: Ray's tasks, whose arrays are read only.
import sys
import time

import numpy as np
import ray

n, steps, workers = (int(word) for word in sys.argv[1:])


@ray.remote
def sweep(old, low, high):
    new = (old[low - 1:high - 1, 1:-1] + old[low + 1:high + 1, 1:-1] + old[low:high, :-2] + old[low:high, 2:]) / 4
    return new, np.abs(new - old[low:high, 1:-1]).max()


ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="error")
plate = np.zeros((n, n))
plate[0] = 100
cuts = np.linspace(1, n - 1, workers + 1).astype(int)
ray.get([sweep.remote(plate[:3], 1, 2) for _ in range(workers)])  # they are there
begin = time.perf_counter()
for step in range(steps):
    old = ray.put(plate)
    found = ray.get([sweep.remote(old, low, high) for low, high in zip(cuts[:-1], cuts[1:])])
    for low, high, (rows, _) in zip(cuts[:-1], cuts[1:], found):
        plate[low:high, 1:-1] = rows
    worst = max(change for _, change in found)
print(f"seconds {time.perf_counter() - begin:.3f}", file=sys.stderr)
print(f"{steps} steps, the last {worst:.6f}, the sum {plate.sum():.6f}")
