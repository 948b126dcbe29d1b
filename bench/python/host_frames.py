#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What several nodes of one host take that read one array and write their own parts of another, as Python programs do:

    QUIRE_HOST_FRAMES=1 quire run -n 4 python3 bench/python/host_frames.py --mebibytes 256 --consistency sequential

Node 0 fills the array, as from a file. Then all nodes together, `rounds` times: the sum of each column of the whole array, from which each node computes its
own rows of a second one. Node 0 prints a line of JSON for each figure: time_s, frames_mb (pages of memory of both arrays that the nodes have mapped, each
counted once: the sum of Pss_Shmem in /proc/self/smaps_rollup, less what it was before)."""
import argparse
import json
import time

import numpy as np

import quire as q


def frames_kib():
    """Of this node; pages that several processes have are divided among them."""
    with open("/proc/self/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pss_Shmem:"))


def frames_of_all():
    q.barrier()
    return q.reduce(frames_kib())


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--mebibytes", type=int, default=256, help="of the array that all read")
    asked.add_argument("--rounds", type=int, default=2)
    asked.add_argument("--consistency", default="sequential", choices=("sequential", "release"))
    asked = asked.parse_args()
    columns = 1024
    rows = asked.mebibytes * 1024 * 1024 // (8 * columns)
    data = q.zeros((rows, columns), consistency=asked.consistency)
    result = q.zeros((rows, 16), consistency=asked.consistency)
    before = frames_of_all()
    if q.node == 0:
        data[...] = np.arange(columns)
    q.barrier()
    mine = q.block(0, rows)
    start = time.perf_counter()
    for done in range(asked.rounds):
        sums = data.sum(axis=0)
        if not np.array_equal(sums, np.arange(columns) * float(rows)):
            raise SystemExit("the array has an old content")
        result[mine] += sums[:16]
        q.barrier()
    took = time.perf_counter() - start
    if not np.array_equal(result[-1], np.arange(16) * float(rows) * asked.rounds):
        raise SystemExit("the result is wrong")
    frames = frames_of_all() - before
    if q.node == 0:
        for name, unit, value in (("time", "s", took), ("frames", "MB", frames * 1024 / 1e6)):
            print(json.dumps({"name": f"{name} {q.nodes} nodes {asked.consistency}", "unit": unit, "median": value, "min": value}))


if __name__ == "__main__":
    main()
