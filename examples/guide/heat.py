# SPDX-License-Identifier: BSD-3-Clause
# Heat in a plate: quire run -n 4 python3 heat.py
# [start]
import numpy as np

import quire as q  # joins the job that `quire run` has started

n = 1000
a = q.zeros((n, n), name="plate")  # all nodes call: one array, a plain numpy.ndarray
b = q.zeros_like(a)
if q.node == 0:
    a[0] = b[0] = 100
q.barrier()  # now all see it
# [/start]
# [sweep]
mine = q.block(1, n - 1)  # this node's rows
low, high = mine.start, mine.stop
for step in range(200):
    b[mine, 1:-1] = (a[low - 1:high - 1, 1:-1] + a[low + 1:high + 1, 1:-1] + a[mine, :-2] + a[mine, 2:]) / 4
    worst = q.reduce(np.abs(b[mine] - a[mine]).max(), "max")  # a barrier as well
    a, b = b, a
    if worst < 0.1:
        break
# [/sweep]
# [lock]
hits, lock = q.zeros(1, "i8"), q.Lock()
with lock:
    hits[0] += 1
q.barrier()
q.fetch_add(hits, 0)  # the same without a lock
q.barrier()
# [/lock]
# [spawn]
def mean(rows):
    return q.node, float(a[rows].mean())


there = q.spawn(q.nodes - 1, mean, slice(0, 10))  # a thread of another node
node, value = there.join()
# [/spawn]
assert hits[0] == 2 * q.nodes and node == q.nodes - 1 and value == a[:10].mean()
# [files]
if q.node == 0:
    a.tofile("plate.values")
q.barrier()
again = q.fromfile("plate.values", shape=(n, n))  # each node reads a part of it
# [/files]
assert (again == a).all()
q.barrier()
if q.node == 0:
    __import__("os").unlink("plate.values")
    print(f"{q.nodes} nodes, {step + 1} steps, {a.sum():.6f}")
