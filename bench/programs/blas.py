# SPDX-License-Identifier: BSD-3-Clause
"""numpy: a product of matrices, threads of OpenBLAS: those stay on node 0."""

import numpy as np
from data import tell

a = np.arange(1 << 20, dtype=float).reshape(1024, 1024) % 7
tell(lambda: float((a @ a).sum()))
