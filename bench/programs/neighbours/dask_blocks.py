# SPDX-License-Identifier: BSD-3-Clause
# Heat in a plate: a Dask array, a block of rows for each worker.
import sys
import time

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster

n, steps, workers = (int(word) for word in sys.argv[1:])


def sweep(old):
    new = old.copy()
    new[1:-1, 1:-1] = (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]) / 4
    return new


if __name__ == "__main__":
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        start = np.zeros((n, n))
        start[0] = 100
        plate = da.from_array(start, chunks=(-(-n // workers), n)).persist()
        plate.sum().compute()  # it is there
        begin = time.perf_counter()
        for step in range(steps):
            new = plate.map_overlap(sweep, depth=(1, 0), boundary="none").persist()
            worst = abs(new - plate).max().compute()
            plate = new
        print(f"seconds {time.perf_counter() - begin:.3f}", file=sys.stderr)
        print(f"{steps} steps, the last {worst:.6f}, the sum {plate.compute().sum():.6f}")
