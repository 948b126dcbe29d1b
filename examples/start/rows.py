# SPDX-License-Identifier: BSD-3-Clause
"""Each node fills its rows of one array, and adds all up: what torchrun, or a job of Kubernetes, starts as its processes."""
import quire as q

plate = q.zeros((1000, 100))
mine = q.block(len(plate))
plate[mine] = q.node + 1
q.barrier()
if q.node == 0:
    print(f"{q.nodes} nodes, the sum {plate.sum():.0f}")
q.barrier()
