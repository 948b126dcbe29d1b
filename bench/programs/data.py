# SPDX-License-Identifier: BSD-3-Clause
"""What the programs of this folder learn from, and how they tell of it: the result on standard output, seconds on standard error."""

import sys
import time

import numpy as np


def samples(count=200_000, columns=16):
    draws = np.random.default_rng(1)
    x = draws.random((count, columns))
    return x, (x.sum(axis=1) + draws.random(count) > columns / 2 + 0.5).astype(int)


def tell(work):
    """Calls work(), and again for the time: the first call loads, and compiles."""
    work()
    begin = time.perf_counter()
    print(work())
    print(f"seconds {time.perf_counter() - begin:.3f}", file=sys.stderr)
