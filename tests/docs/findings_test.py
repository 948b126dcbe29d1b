#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""findings_test.py ROOT: each script of findings/ has a row in its README, which says what Quire does, and says itself what one would expect, what
happens, and where it was seen. What the rows name is there."""
import os
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1))
FINDINGS = ROOT / "findings"
SCRIPTS = sorted(FINDINGS.glob("*.sh"))
ROWS = re.findall(r"^\| `([\w-]+\.sh)` \| (.+?) \| (.+?) \|$", (FINDINGS / "README.md").read_text(), re.MULTILINE)


class Findings(unittest.TestCase):
    def test_each_has_a_row_and_no_row_is_left_over(self):
        self.assertEqual(sorted(name for name, _, _ in ROWS), [s.name for s in SCRIPTS])

    def test_each_says_what_is_expected_and_seen(self):
        for script in SCRIPTS:
            text = script.read_text()
            with self.subTest(script.name):
                self.assertTrue(os.access(script, os.X_OK))
                for part in ("# Expected guess: ", "# Behaviour: ", "# Seen on: ", "Exit status 1: "):
                    self.assertIn(part, text)
                self.assertIn("set -euo pipefail", text)
                self.assertNotRegex(text, r"libquire|-lquire|quire run", "it runs without Quire")

    def test_what_rows_name_is_there(self):
        for name, _, ours in ROWS:
            for path in re.findall(r"`((?:docs|tests|src)/[\w/.-]+)`", ours):
                with self.subTest(name):
                    self.assertTrue((ROOT / path).exists(), path)


if __name__ == "__main__":
    unittest.main()
