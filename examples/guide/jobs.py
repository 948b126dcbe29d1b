# SPDX-License-Identifier: BSD-3-Clause
# Jobs from plain Python, or from a notebook: python3 jobs.py
# [run]
import quire as q


def fill(value):
    a = q.zeros((1000, 1000))
    a[q.block(1000)] = value + q.node
    q.barrier()
    return float(a.sum())


if __name__ == "__main__":
    print(q.run(fill, nodes=2, args=(1,)))  # what each node gives
    # [/run]
    # [pool]
    with q.Pool(nodes=2) as pool:
        print(list(pool.map(lambda x: x * x, range(5))))  # each call on whichever node is free
        print(pool.run(fill, 2))                          # on all nodes at a time
    # [/pool]
