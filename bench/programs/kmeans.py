# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn: KMeans, regions of OpenMP in Cython."""

from data import samples, tell
from sklearn.cluster import KMeans

x, _ = samples()
tell(lambda: round(KMeans(8, n_init=1, max_iter=20, random_state=3).fit(x).inertia_, 3))
