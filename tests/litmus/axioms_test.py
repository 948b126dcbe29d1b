#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The models' axioms against machines that do what two of them say, on every generated test: the same outcomes, all of
them. What the classic tests are known for; and generated.hpp is what generate.py makes."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import axioms  # noqa: E402
import generate  # noqa: E402

ROWS = {generate.name_of(c): generate.says(c) for c in generate.cycles()}


class Models(unittest.TestCase):
    def test_the_same_as_machines_that_interleave_and_buffer(self):
        sequential, tso = axioms.model_of("sequential"), axioms.model_of("tso")
        for name, (program, _, _) in ROWS.items():
            if sum(map(len, program)) > 7:
                continue  # as long as all others together
            with self.subTest(name):
                self.assertEqual(axioms.allowed(program, sequential), axioms.interleavings(program))
                self.assertEqual(axioms.allowed(program, tso), axioms.interleavings(program, buffers=True))

    def test_whole_transactions_and_critical_sections_come_one_after_the_other(self):
        for name, (program, _, _) in ROWS.items():
            if sum(map(len, program)) > 6:
                continue
            with self.subTest(name):
                whole = generate.in_sections(program)
                one_by_one = set()
                for order in generate.itertools.permutations(range(len(program))):
                    serial = [[axioms.Access(0, i, a.kind, a.location, a.value)
                               for i, a in enumerate(a for t in order for a in program[t])]]
                    (values, last), = axioms.interleavings(serial)
                    reads = [(t, a.place) for t in order for a in program[t] if a.kind == "R"]
                    one_by_one.add((tuple(v for _, v in sorted(zip(reads, values))), last))
                self.assertEqual(axioms.allowed(whole, axioms.model_of("transactional")), one_by_one)
                self.assertEqual(axioms.allowed(whole, axioms.model_of("release"), locks=True), one_by_one)

    def test_classic_tests(self):
        for name, sequential, tso, release, mixed in (("SB", 0, 1, 1, 1), ("MP", 0, 0, 1, 0), ("LB", 0, 0, 0, 0),
                                                      ("IRIW", 0, 0, 1, 1), ("WRC", 0, 0, 1, 1), ("2+2W", 0, 0, 1, 0),
                                                      ("R", 0, 1, 1, 1), ("S", 0, 0, 1, 0), ("ISA2", 0, 0, 1, 1)):
            row = ROWS[name][2]
            self.assertEqual([row[m] for m in ("sequential", "tso", "release", "mixed")],
                             [bool(x) for x in (sequential, tso, release, mixed)], name)

    def test_no_model_with_order_allows_a_cycle(self):
        for name, (_, _, row) in ROWS.items():
            self.assertFalse(row["sequential"] or row["transactional"] or row["locked"], name)

    def test_generated_file(self):
        rows = [(generate.name_of(c), *ROWS[generate.name_of(c)]) for c in generate.cycles()]
        text = (Path(__file__).resolve().parent / "generated.hpp").read_text()
        self.assertEqual(text, generate.header(rows), "run generate.py")


if __name__ == "__main__":
    unittest.main()
