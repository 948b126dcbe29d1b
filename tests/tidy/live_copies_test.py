#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""live_copies_test.py SOURCE: the system's view of units, which threads may be writing or reading, is not given to memcpy() and the like, which may copy
a word in parts: base/copy_words.hpp. What is copied by words otherwise, or is nobody's meanwhile, is in ALLOWED with the reason."""
import re
import sys
import unittest
from pathlib import Path

import tree

ROOT = Path(sys.argv[1]).resolve()
CALL = re.compile(r"\b(?:std::|__builtin_)?(?:memcpy|memmove|copy_n|copy)\s*\(([^;]*?)\)\s*;", re.S)
LIVE = re.compile(r"\b(?:system|application)\(|\bsystem_view\(|\bsystem_base\b|\bas_told\(")
ALLOWED = {
    "src/container/service/service.cpp": "the head of a container, under its lock",
}


def told(name, text):
    if name in ALLOWED:
        return []
    code = tree.code_of(text)
    return [f"{name}:{code.count(chr(10), 0, m.start()) + 1}: base::copy_words() for content of units" for m in CALL.finditer(code) if LIVE.search(m[1])]


class LiveCopies(unittest.TestCase):
    def test_content_of_units_is_copied_by_words(self):
        files = sorted((ROOT / "src").rglob("*.[ch]pp"))
        self.assertGreater(len(files), 100)
        wrong = [line for path in files for line in told(path.relative_to(ROOT).as_posix(), path.read_text())]
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_the_check_sees_planted_copies(self):
        for planted in ("std::memcpy(r.twin(u), r.system(u), n);", "std::memcpy(to,\n  memory->system_view() + at, n);", "std::memcpy(as_told(r, u), b, n);"):
            self.assertEqual(len(told("x.cpp", planted)), 1, planted)
        for fine in ("base::copy_words(r.twin(u), r.system(u), n);", "std::memcpy(a, b, n); f(r.system(u));", "// memcpy(a, r.system(u), n);\n"):
            self.assertEqual(told("x.cpp", fine), [], fine)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
