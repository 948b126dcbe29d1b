# SPDX-License-Identifier: BSD-3-Clause
"""`quire run --report` of a Python program: the page has its arrays and phases by name, and nothing is in the way without a report."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(__file__).with_name("report_program.py")


def job(*options):
    return subprocess.run([os.environ["PYQUIRE_COMMAND"], "run", "-n", "2", "--timeout", "60", *options, sys.executable, str(PROGRAM)], text=True,
                          capture_output=True, timeout=100)


class Report(unittest.TestCase):
    def test_arrays_and_phases_have_their_names(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            done = job("--report", str(page))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            text = page.read_text()
        begin = '<script type="application/json" id="data">'
        at = text.index(begin) + len(begin)
        data = json.loads(text[at:text.index("</script>", at)])
        said = json.dumps(data)
        for name in ("grid", "one word a node", "fill", "meet"):
            self.assertIn(f'"{name}', said)
        self.assertTrue(any("one word a node" in shared["name"] for shared in data["sharing"]), data["sharing"])

    def test_without_a_report_nothing_happens(self):
        done = job()
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    unittest.main()
