#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""license_test.py SOURCE: every file of a known kind says in its first three lines under which license it stands, and there is no file of
an unknown kind.
"""
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
ROOT = Path(sys.argv[1]).resolve()
sys.path.append(str(ROOT / "tests" / "tidy"))
from tree import tracked  # noqa: E402

LINE = "SPDX-License-Identifier: BSD-3-Clause"
# By the end of the name: what begins a comment, and what ends it.
KINDS = {
    ".cpp": ("// ", ""), ".hpp.in": ("// ", ""), ".hpp": ("// ", ""), ".js": ("// ", ""), ".c": ("/* ", " */"), ".h": ("/* ", " */"), ".css": ("/* ", " */"),
    ".html": ("<!-- ", " -->"), ".py": ("# ", ""), ".sh": ("# ", ""), ".cmake": ("# ", ""), ".txt": ("# ", ""), ".toml": ("# ", ""), ".yaml": ("# ", ""),
    ".pyi": ("# ", ""), "py.typed": ("# ", ""), ".in": ("# ", ""), ".map": ("# ", ""), ".patch": ("# ", ""), "deb/triggers": ("# ", ""),
    "deb/postinst": ("# ", ""), "deb/prerm": ("# ", ""), "Makefile": ("# ", ""), ".ci/run": ("# ", ""), ".clang-format": ("# ", ""), ".gitignore": ("# ", ""), ".git-blame-ignore-revs": ("# ", ""),
    ".f90": ("! ", ""), ".f90.in": ("! ", ""), ".1": ('.\\" ', ""), ".7": ('.\\" ', ""), ".cat": ("(* ", " *)"),
}
# Files without the line, and why.
WITHOUT = {
    "LICENSE": "the license itself",
    ".md": "documents, which LICENSE covers",
    ".json": "has no comments",
    ".svg": "generated, and compared with what is generated again",
    ".png": "pictures of what programs show",
    "tests/fuzz/corpus/": "bytes that a decoder reads",
    ".abc": "edges of a graph, as programs read them",
    ".fasta": "sequences, as programs read them",
}


def comment_of(name):
    return KINDS.get(max((end for end in KINDS if name.endswith(end)), key=len, default=None))


def is_without(name):
    return any(name.startswith(rule) if rule.endswith("/") else name.endswith(rule) for rule in WITHOUT)


def complaint(name, lines):
    """What is wrong with a file that begins with these lines; None if nothing is."""
    if is_without(name):
        return None
    marks = comment_of(name)
    if marks is None:
        return f"{name} is of no kind that this test knows: give it a row in KINDS or WITHOUT"
    wanted = marks[0] + LINE + marks[1]
    return None if wanted in lines[:3] else f"{name} lacks the line: {wanted}"


class Licenses(unittest.TestCase):
    def test_every_file_says_its_license(self):
        names = tracked(ROOT)
        self.assertGreater(sum(comment_of(name) is not None for name in names), 500)
        wrong = []
        for name in names:
            lines = [] if is_without(name) else (ROOT / name).read_text().splitlines()
            wrong += [text for text in (complaint(name, lines),) if text]
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_license_is_the_one_that_files_name(self):
        text = (ROOT / "LICENSE").read_text()
        self.assertTrue(text.startswith("BSD 3-Clause License\n"))
        self.assertRegex(text, r"Copyright \(c\) \d+, The Quire authors\n")

    def test_the_check_sees_what_is_missing(self):
        self.assertIsNone(complaint("a.cpp", ["// " + LINE]))
        self.assertIsNone(complaint("a.sh", ["#!/bin/sh", "# " + LINE]))
        self.assertIsNone(complaint("tests/fuzz/corpus/diff/empty", []))
        for name, lines in (("a.cpp", ["int a;"]), ("a.cpp", ["# " + LINE]), ("a.c", ["// " + LINE]), ("a.py", ["", "", "", "# " + LINE]),
                            ("a.rs", ["// " + LINE])):
            self.assertIsNotNone(complaint(name, lines), name)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
