#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""simulated_test.py SOURCE: the ledger of simulators (docs/simulated.md) is as its writer makes it, its simulators exist, and runs are added to it."""
import re
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "scripts" / "soak"))
import ledger  # noqa: E402


class Ledger(unittest.TestCase):
    def test_is_as_its_writer_makes_it(self):
        text = (ROOT / "docs" / "simulated.md").read_text()
        self.assertEqual(ledger.page(*ledger.read(text)), text)

    def test_names_simulators_that_exist(self):
        sources = "".join(file.read_text() for file in (ROOT / "tests" / "sim").glob("*.?pp"))
        seeds, _ = ledger.read((ROOT / "docs" / "simulated.md").read_text())
        self.assertNotEqual(seeds, {})
        self.assertEqual([name for name in seeds if re.sub(r"_of_\d+$", "", name) not in sources], [])

    def test_adds(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "page.md"
            self.assertEqual(ledger.add(file, Counter(one=3), Counter(one=5_000)), 5_000)
            self.assertEqual(ledger.add(file, Counter(one=1, other=2), Counter(one=10, other=1_000_000)), 1_005_010)
            self.assertEqual(ledger.read(file.read_text()), (Counter(one=4, other=2), Counter(one=5_010, other=1_000_000)))


unittest.main()
