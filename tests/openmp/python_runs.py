#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""python_runs.py QUIRE: which programs of Python `quire run` starts once, as they are, and which on each node."""
import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

QUIRE = sys.argv.pop()
PRINT = "print('it runs')\n"


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = Path(self.folder.name) / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def run_it(self, *words, status=0, options=()):
        done = subprocess.run([QUIRE, "run", "-n", "2", *options, sys.executable, "-B", *words], cwd=self.folder.name, capture_output=True, text=True,
                              check=False, timeout=100)
        self.assertEqual(done.returncode, status, done.stderr)
        self.said = done.stderr
        return done.stdout.count("it runs")

    def test_a_program_that_knows_nothing_of_quire_runs_once(self):
        self.write("fit.py", "# import quire\nimport json, other\nrequired = 'it acquires'\n" + PRINT)
        self.write("other.py", "import sys\n")
        self.assertEqual(self.run_it("fit.py", "argument"), 1)
        self.assertIn("quire run: fit.py runs on node 0", self.said)
        self.assertEqual(self.run_it("-W", "ignore", "-X", "utf8", "fit.py"), 1)
        self.assertEqual(self.run_it("-m", "fit"), 1)
        self.assertEqual(self.run_it("-Wignore", "-uBm", "fit"), 1)
        self.assertEqual(self.run_it("-mfit"), 1)
        self.assertEqual(self.run_it("fit.py", options=["--copies"]), 2)

    def test_a_module_of_the_working_folder_is_looked_at(self):
        self.write("tool/__main__.py", PRINT)
        self.assertEqual(self.run_it("-m", "tool"), 1)

    def test_one_that_imports_quire_runs_on_each_node(self):
        for text in ("if False: pass\nimport json, quire as q\n", "from quire import errors\n", "try:\n    import quire\nexcept ImportError:\n    pass\n",
                     "import mpi4py.MPI\n", "import ctypes\nctypes.CDLL('libquire.so').quire_node()\n"):
            self.write("own.py", "try:\n    " + PRINT + "except ZeroDivisionError:\n    " + "\n    ".join(text.splitlines()) + "\n")
            self.assertEqual(self.run_it("own.py"), 2, text)

    def test_so_does_one_whose_modules_import_it(self):
        self.write("own.py", "import package.part\n" + PRINT)
        self.write("package/__init__.py", "")
        self.write("package/part.py", "def f():\n    from quire import zeros\n    import own\n")
        self.assertEqual(self.run_it("own.py"), 2)

    def test_and_what_is_no_file(self):
        self.write("fit.py", PRINT)
        self.assertEqual(self.run_it("-c", PRINT, "fit.py"), 2)
        self.assertEqual(self.run_it("-uc", PRINT, "fit.py"), 2)
        self.assertEqual(self.run_it("-m", "timeit", "-n1", "-r1", PRINT.strip()), 2)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "the package needs numpy")
    def test_who_imports_quire_all_the_same_is_told_what_to_do(self):
        self.write("late.py", "import importlib\nimportlib.import_module('qui' + 're').node\n" + PRINT)
        self.assertEqual(self.run_it("late.py", status=1), 0)
        self.assertIn("give --copies to quire run", self.said)


if __name__ == "__main__":
    unittest.main()
