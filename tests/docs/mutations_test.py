#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mutations_test.py SOURCE: the table of bugs that are put back (docs/mutations.md) has a row for each patch and each of its finders, in their words, and
no other; and none of which it says that nothing has found it."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "scripts" / "mutations"))
import page  # noqa: E402


class Outcome:
    def __init__(self, program, seeds, said=""):
        self.program, self.seeds, self.said = program, seeds, said
        self.found = seeds != 0


class Table(unittest.TestCase):
    def setUp(self):
        self.known = {m.name: m for m in map(page.read, (ROOT / "scripts" / "mutations" / "patches").glob("*.patch"))}
        self.file = ROOT / "docs" / "mutations.md"
        self.rows = page.rows_in(self.file.read_text())

    def test_has_the_rows_of_the_patches(self):
        of_patches = sorted((m.name, m.bug, finder) for m in self.known.values() for finder in m.finders)
        self.assertEqual(sorted((r.name, r.bug, r.finder) for r in self.rows), of_patches,
                         "scripts/mutations/run.py --page docs/mutations.md --minutes 0 makes the rows")

    def test_says_of_some_that_they_were_tried_and_of_none_that_it_was_not_found(self):
        tried = [r for r in self.rows if r.outcome]
        self.assertNotEqual(tried, [], "scripts/mutations/run.py --page docs/mutations.md --missing")
        self.assertEqual([r.name for r in tried if not r.found], [])
        self.assertIn(page.tried_of(self.rows), self.file.read_text())

    def test_is_as_its_writer_makes_it(self):
        with tempfile.TemporaryDirectory() as folder:
            again = Path(folder) / "page.md"
            page.write(again, page.rows_of(self.file, self.known))
            self.assertEqual(again.read_text(), self.file.read_text())


class Rows(unittest.TestCase):
    """What becomes of a patch that is tried."""

    def test_of_outcomes(self):
        m = page.Mutation(Path("a_bug.patch"), "it | is wrong", "none", ["mix_of_3", "unit_tests:x.*"])
        rows = page.rows_after(m, [Outcome("mix_of_3", 1), Outcome("unit_tests:x.*", 1)])
        self.assertEqual([r.outcome for r in rows], ["1 seed", "its test"])
        self.assertTrue(all(r.found for r in rows))
        self.assertEqual(page.rows_in("\n".join(r.text() for r in rows)), rows)
        rows = page.rows_after(m, [Outcome("-", 0, "DOES NOT APPLY: hunk 1")])
        self.assertEqual([(r.finder, r.outcome, r.found) for r in rows], [(f, "does not apply", False) for f in m.finders])
        self.assertEqual(page.rows_after(m, [Outcome("mix_of_3", 1200), Outcome("unit_tests:x.*", 0, "not found")])[0].outcome, "1,200 seeds")

    def test_are_counted(self):
        rows = [page.Row("a", "is wrong", "mix_of_3", outcome) for outcome in ("1 seed", "", "not found")]
        self.assertEqual(page.tried_of(rows), "Of 3 rows 2 were tried so far.")
        self.assertEqual(page.tried_of(rows[:2]), "Of 2 rows 1 was tried so far.")

    def test_of_a_page_that_lacks_one(self):
        m = page.Mutation(Path("a_bug.patch"), "it is wrong", "none", ["mix_of_3"])
        self.assertEqual(page.rows_of(None, {"a_bug": m})["a_bug"][0].outcome, "")


unittest.main()
