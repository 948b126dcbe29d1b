# SPDX-License-Identifier: BSD-3-Clause
# joblib's tasks on all nodes: quire run -n 2 python3 joblib_tasks.py
# [tasks]
import joblib

import quire as q
import quire.joblib  # tells joblib of the name "quire"

a = q.zeros((1000, 1000))


def fill(rows, value):
    rows[...] = value  # they lie where they are: nothing is copied
    return float(rows.sum())


if q.node == 0:
    with joblib.parallel_backend("quire"):
        sums = joblib.Parallel()(joblib.delayed(fill)(a[i:i + 100], i) for i in range(0, 1000, 100))
    print(sum(sums), a.sum())
q.barrier()  # the others wait here, and do tasks meanwhile
# [/tasks]
