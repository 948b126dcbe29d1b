# SPDX-License-Identifier: BSD-3-Clause
# Heat in a rod, by numpy on all nodes of a job.
import quire as q

cells, steps = 20000, 200
now, new = q.zeros(cells), q.zeros(cells)
if q.node == 0:
    now[0] = new[0] = 100
q.barrier()
mine = q.block(1, cells - 1)
low, high = mine.start, mine.stop
for step in range(steps):
    new[low:high] = now[low:high] + 0.25 * (now[low - 1:high - 1] - 2 * now[low:high] + now[low + 1:high + 1])
    q.barrier()
    now, new = new, now
if q.node == 0:
    print(f"{steps} steps, the sum is {now.sum():.6f}")
