#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""lines_test.py SOURCE [--rewrite]: no line is longer than 120 columns in C and C++, which clang-format sees to but for literals, macros and tables, and 160
elsewhere. lines.txt has the files that had longer ones when this test came, with how many; --rewrite records that there are fewer."""
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import tree  # noqa: E402

ROOT = Path(sys.argv[1]).resolve()
LIST = Path(__file__).resolve().with_name("lines.txt")
# Documents, manual pages, tables and pictures have lines of their own; differences are as their sources were.
NOT = (".md", ".1", ".7", ".json", ".svg", ".png", ".patch", "families.txt", "LICENSE")


def limit_of(name):
    """Columns; None for what has none."""
    if name.endswith(NOT) or name.startswith("tests/fuzz/corpus/"):
        return None
    # Programs of the guide are not formatted: documents show them as they stand.
    return 120 if name.endswith(tree.CPP) and not name.startswith("examples/guide/") else 160


def long_lines(name, text):
    """The numbers of those that are too long."""
    return [number for number, line in enumerate(text.splitlines(), 1) if len(line) > limit_of(name)]


def measured():
    found = {name: long_lines(name, (ROOT / name).read_text()) for name in tree.tracked(ROOT) if limit_of(name)}
    return {name: numbers for name, numbers in found.items() if numbers}


def counts(found):
    return {name: len(numbers) for name, numbers in found.items()}


class Lines(unittest.TestCase):
    def test_no_file_has_more_long_lines(self):
        found = measured()
        wrong = tree.compare(counts(found), tree.read_list(LIST), "lines are too long", LIST)
        which = {line.partition(":")[0] for line in wrong} & set(found)
        self.assertFalse(wrong, "\n".join(["", *wrong, *(f"{name}: too long are {', '.join(map(str, found[name]))}" for name in sorted(which))]))

    def test_the_check_sees_what_is_too_long(self):
        self.assertEqual([long_lines(name, "a\n" + "x" * 130 + "\n") for name in ("src/a.cpp", "examples/guide/a.cpp", "a.py")], [[2], [], []])
        self.assertEqual(long_lines("a.py", "x" * 161), [1])
        self.assertIsNone(limit_of("README.md"))
        self.assertEqual(tree.compare({"a": 2}, {"a": 2}, "x", LIST), [])
        self.assertEqual(tree.compare({"a": 3, "b": 1}, {"a": 2}, "x", LIST), ["a: 3 x, and 2 are tolerated", "b: 1 x"])
        self.assertEqual(len(tree.compare({"a": 1}, {"a": 2}, "x", LIST)), 2)


if __name__ == "__main__":
    if sys.argv[2:] == ["--rewrite"]:
        tree.rewrite(counts(measured()), LIST)
    else:
        unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
