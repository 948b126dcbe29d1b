# SPDX-License-Identifier: BSD-3-Clause
"""A program of Python's that knows nothing of Quire, and imports an extension module: python_import.py FILE. The file is a library that has no PyInit_."""
import importlib.machinery
import importlib.util
import sys

loader = importlib.machinery.ExtensionFileLoader("work", sys.argv[1])
try:
    importlib.util.module_from_spec(importlib.util.spec_from_loader("work", loader))
except ImportError as error:
    if "PyInit_work" in str(error):
        print("it was loaded")
        sys.exit(0)
    raise
