# SPDX-License-Identifier: BSD-3-Clause
"""xgboost: training, regions of OpenMP."""

import xgboost
from data import samples, tell

x, y = samples()
options = {"objective": "binary:logistic", "nthread": 2}


def train():
    data = xgboost.DMatrix(x, y, nthread=2)
    return round(float(xgboost.train(options, data, 20).predict(data).sum()), 1)


tell(train)
