#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""lengths_test.py SOURCE: a source has one job, and at most 600 lines."""
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import tree  # noqa: E402

ROOT = Path(sys.argv[1]).resolve()
MOST = 600
KINDS = tree.CPP + (".py", ".sh", ".cmake", "CMakeLists.txt")
# Those that may be longer, up to so many lines.
LONGER = {
    "include/quire/quire.h": 700,  # what programs include, in one piece
}


def too_long(lengths):
    """Complaints. `lengths`: {name: lines}."""
    return [f"{name}: {lines} lines, and may have {LONGER.get(name, MOST)}: take a job out of it" for name, lines in sorted(lengths.items())
            if lines > LONGER.get(name, MOST)]


class Lengths(unittest.TestCase):
    def test_no_source_is_too_long(self):
        names = [name for name in tree.tracked(ROOT) if name.endswith(KINDS)]
        self.assertGreater(len(names), 500)
        wrong = too_long({name: len((ROOT / name).read_text().splitlines()) for name in names})
        self.assertFalse(wrong, "\n".join(["", *wrong]))

    def test_the_check_sees_what_is_too_long(self):
        self.assertEqual(too_long({"a.cpp": 600, "b.cpp": 601, "include/quire/quire.h": 650}), ["b.cpp: 601 lines, and may have 600: take a job out of it"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
