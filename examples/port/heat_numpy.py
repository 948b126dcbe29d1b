# SPDX-License-Identifier: BSD-3-Clause
# Heat in a rod, by numpy.
import numpy as np

cells, steps = 20000, 200
now, new = np.zeros(cells), np.zeros(cells)
now[0] = new[0] = 100
low, high = 1, cells - 1
for step in range(steps):
    new[low:high] = now[low:high] + 0.25 * (now[low - 1:high - 1] - 2 * now[low:high] + now[low + 1:high + 1])
    now, new = new, now
print(f"{steps} steps, the sum is {now.sum():.6f}")
