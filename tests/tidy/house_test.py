#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""house_test.py SOURCE: the ways through the code that scripts/house prints are there, and no figure of it is worse than what the house allows."""
import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
ROOT = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "scripts" / "house"))
import figures  # noqa: E402
import tree  # noqa: E402


class House(unittest.TestCase):
    def test_each_step_of_a_way_is_there(self):
        for way, steps in figures.ways().items():
            self.assertEqual(len(steps), len({name for name, _ in steps}), f"the way of a {way} passes a file twice")
            for name, inside in steps:
                code = tree.code_of((ROOT / name).read_text()) if (ROOT / name).is_file() else ""
                self.assertTrue(re.search(rf"\b{inside}\b", code), f"the way of a {way}: {name} has no {inside}")

    def test_calls_have_no_choreography(self):
        calls = [name for name in figures.files(ROOT, ".cpp", ".hpp") if name.startswith("src/api/")]
        self.assertLessEqual(figures.lines_of(ROOT, calls), 5000)

    def test_words_of_our_own_are_few(self):
        self.assertIn(len(figures.own_words(ROOT)), range(20, 41))

    def test_circles_are_found(self):
        self.assertEqual(figures.circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}), [["b", "c"]])
        self.assertEqual(figures.circles({"a": {"b"}, "b": {"c"}}), [])
        self.assertEqual(figures.circles({"a": {"b", "c"}, "b": {"a"}, "c": {"d"}, "d": {"c"}}), [["c", "d"], ["a", "b"]])

    def test_headers_of_the_core_are_in_no_circle(self):
        known = figures.includes(ROOT, "src", "")
        headers = {name: lowers for name, lowers in known.items() if name.startswith("core/") and name.endswith(".hpp")}
        self.assertGreater(len(headers), 50)
        self.assertEqual(figures.circles(headers), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
