# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn: HistGradientBoosting, regions of OpenMP in Cython."""

from data import samples, tell
from sklearn.ensemble import HistGradientBoostingClassifier

x, y = samples()
tell(lambda: round(HistGradientBoostingClassifier(max_iter=20, random_state=1).fit(x, y).score(x, y), 6))
