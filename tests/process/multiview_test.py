#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""multiview_test.py QUIRE: `quire bench multiview --quick` measures all that it promises, and its page needs nothing beside itself."""
import json
import re
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path

QUIRE = sys.argv.pop(1)


class Balanced(HTMLParser):
    """Whether tags that are opened are closed, and which addresses the page names."""
    EMPTY = ("meta", "rect", "line", "circle", "polyline", "!doctype")
    OPTIONAL = ("p", "td", "th", "tr")

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.addresses, self.seen = [], [], [], set()

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href", "xlink:href")]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


class Quick(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([QUIRE, "bench", "multiview", "--quick", "--out", folder], capture_output=True, text=True, timeout=280)
            cls.status, cls.text, cls.errors = done.returncode, done.stdout, done.stderr
            if cls.status == 0:
                cls.found = json.loads((Path(folder) / "multiview.json").read_text())
                cls.page = (Path(folder) / "multiview.html").read_text()

    def setUp(self):
        self.assertEqual(self.status, 0, self.errors)

    def test_views_are_compared_with_one(self):
        rows = self.found["overheads"]
        self.assertEqual({(r["what"], r["skewed"]) for r in rows}, {(w, s) for w in ("bytes", "words") for s in (True, False)})
        self.assertTrue(all(r["ratio"] == 1 for r in rows if r["views"] == 1))
        self.assertTrue(all(r["ratio"] > 0 for r in rows))

    def test_costs_are_those_of_table_1(self):
        for transport in ("shm", "tcp"):
            costs = self.found["costs"]["by_transport"][transport]
            for name in ("read 128", "read 4096", "write 128 0", "write 4096 0", "upgrade 128", "lookup", "barrier", "lock_unlock", "exchange 512"):
                self.assertGreater(costs[name]["median"], 0, f"{transport}: {name}")
                self.assertLessEqual(costs[name]["min"], costs[name]["median"])
        model = self.found["costs"]["model"]["published prices"]  # virtual: the same on every machine
        self.assertAlmostEqual(model["read 128"], 204, delta=1)
        self.assertAlmostEqual(model["read 4096"], 314, delta=1)
        self.assertTrue(all(model[f"write 128 {k}"] < model[f"write 128 {k + 1}"] for k in range(6)))

    def test_applications_ran_with_pages_and_minipages(self):
        ways = {}
        for r in self.found["applications"]:
            ways.setdefault(r["application"], set()).add(r["way"])
            self.assertGreater(r["time_s"], 0)
        self.assertEqual(set(ways), {"sor", "is", "water", "lu", "tsp"})
        for name, own in ways.items():
            self.assertLessEqual({"serial", "1 node", "pages"}, own, name)
            self.assertEqual("minipages" in own, name != "lu", name)
        self.assertLessEqual({"chunk=2", "chunk=3", "composed"}, ways["water"])
        self.assertTrue("adaptive" in ways["water"] or any("adaptive" in why for why in self.found["left_out"]))

    def test_the_model_has_all_nodes_and_prices(self):
        rows = self.found["model"]
        self.assertEqual({r["nodes"] for r in rows}, {1, 2, 4, 8})
        self.assertEqual(len({r["prices"] for r in rows}), 4)
        self.assertTrue(all(r["speed_up"] == 1 and r["messages"] == 0 for r in rows if r["nodes"] == 1))
        competing = {r["way"]: r["competing_requests"] for r in rows
                     if r["application"] == "water" and r["nodes"] == 2 and r["prices"] == "shared memory"}
        self.assertLessEqual({"minipages", "pages", "composed", *(f"chunk={c}" for c in (2, 3, 4, 5))}, set(competing))

    def test_false_sharing_goes(self):
        for transport in ("shm", "tcp"):
            self.assertLessEqual(self.found["sharing"][transport]["counter minipages messages"]["min"], 8)
        for target in self.found["targets"]:
            met = target["median"] <= target["target"] if target["bound"] == "most" else target["median"] >= target["target"]
            self.assertEqual(target["meets"], met, target["name"])

    def test_the_page_needs_nothing_beside_itself(self):
        page = Balanced()
        page.feed(self.page)
        page.close()
        self.assertEqual(page.addresses, [])
        self.assertEqual(re.findall(r"https?://|@import|url\(", self.page), [])
        self.assertNotIn("script", page.seen)
        self.assertLessEqual({"svg", "style", "table", "polyline"}, page.seen)
        self.assertEqual((page.wrong, page.open), ([], []))

    def test_text_and_page_have_the_same_tables(self):
        for title in re.findall(r"<h2>([^<]*)</h2>", self.page):
            self.assertIn(title, self.text)


if __name__ == "__main__":
    unittest.main()
