#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""papers_test.py QUIRE NAME: `quire bench NAME --quick` (plurix or kerrighed) measures all that it promises, and its page has all tables."""
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

QUIRE, NAME = sys.argv.pop(1), sys.argv.pop(1)
WAYS = {"plurix": {"sequential", "plain", "owners", "token"}, "kerrighed": {"sequential", "plain"}}[NAME]
NODES = {"sor": {1, 2, 4, 8, 12}, "raytracer": {1, 2, 3, 4, 6, 8, 10, 12}}


class Quick(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([QUIRE, "bench", NAME, "--quick", "--out", folder], capture_output=True, text=True, timeout=280)
            cls.status, cls.text, cls.errors = done.returncode, done.stdout, done.stderr
            if cls.status == 0:
                cls.found = json.loads((Path(folder) / f"{NAME}.json").read_text())
                cls.page = (Path(folder) / f"{NAME}.html").read_text()

    def setUp(self):
        self.assertEqual(self.status, 0, self.errors)

    def test_the_model_has_all_ways_nodes_and_prices(self):
        rows = self.found["model"]
        self.assertEqual(set(self.found["ways"]), WAYS)
        for application, nodes in NODES.items():
            cases = {(r["way"], r["prices"], r["nodes"]) for r in rows if r["application"] == application}
            self.assertEqual(cases, {(w, p, n) for w in WAYS for p in ("paper", "gigabit", "today") for n in nodes})
        for r in rows:
            self.assertTrue(r["speed_up"] == 1 and r["messages"] == 0 if r["nodes"] == 1 else r["messages"] > 0, r)

    def test_faster_networks_are_better(self):
        rows = [r for r in self.found["model"] if r["application"] == "raytracer"]
        best = {p: max(r["speed_up"] for r in rows if r["prices"] == p) for p in ("paper", "gigabit", "today")}
        self.assertLess(best["paper"], best["gigabit"])
        self.assertLess(best["gigabit"], best["today"])

    def test_programs_ran_with_the_result_of_the_serial_one(self):
        for application in NODES:
            rows = {(r["way"], r["nodes"]): r for r in self.found["real"] if r["application"] == application}
            self.assertEqual(set(rows), {("serial", 0), *((w, n) for w in WAYS - {"plain"} for n in (1, 2))})
            self.assertEqual(len({r["checksum"] for r in rows.values()}), 1)
            self.assertTrue(all(0 < r["least_s"] <= r["time_s"] for r in rows.values()))

    def test_text_and_page_have_the_same_tables(self):
        titles = re.findall(r"<h2>([^<]*)</h2>", self.page)
        self.assertEqual(len(titles), 8)
        for title in titles:
            self.assertIn(title.replace("&#x27;", "'"), self.text)
        self.assertEqual(self.page.count("<svg"), 6 * len(WAYS))
        self.assertEqual(re.findall(r"https?://|@import|url\(", self.page), [])


if __name__ == "__main__":
    unittest.main()
