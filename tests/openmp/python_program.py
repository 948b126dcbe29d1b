# SPDX-License-Identifier: BSD-3-Clause
"""A program of Python's that knows nothing of Quire, and a library with regions of OpenMP."""
import ctypes
import sys

library = ctypes.CDLL(sys.argv[-1])
print(f"sum {library.loaded_region()} on {library.loaded_nodes()} nodes")
