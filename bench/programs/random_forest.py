# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn: RandomForest, threads of joblib."""

from data import samples, tell
from sklearn.ensemble import RandomForestClassifier

x, y = samples(20_000)
tell(lambda: round(RandomForestClassifier(20, n_jobs=2, random_state=1).fit(x, y).score(x, y), 6))
