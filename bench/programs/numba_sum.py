# SPDX-License-Identifier: BSD-3-Clause
"""numba: a parallel loop, by its layer for OpenMP."""

import numba
import numpy as np
from data import tell

numba.config.THREADING_LAYER = "omp"


@numba.njit(parallel=True)
def total(values):
    result = 0.0
    for i in numba.prange(values.size):
        result += np.sqrt(values[i]) * 2
    return result


values = np.arange(1 << 22) % 1024 * 1.0
tell(lambda: round(sum(total(values) for _ in range(20)), 1))
