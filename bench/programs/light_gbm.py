# SPDX-License-Identifier: BSD-3-Clause
"""lightgbm: training, regions of OpenMP."""

import lightgbm
from data import samples, tell

x, y = samples()
options = {"objective": "binary", "verbose": -1, "num_threads": 2, "deterministic": True, "force_row_wise": True}
tell(lambda: round(float(lightgbm.train(options, lightgbm.Dataset(x, y), 20).predict(x).sum()), 3))
