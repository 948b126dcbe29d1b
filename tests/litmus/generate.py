#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""generate.py [--check]: all critical cycles of two to four threads, as litmus tests, and what each model says of them.
Writes generated.hpp, which litmus_program and the tests of models.hpp include; with --check only compares, and ends with
1 if it differs.

A cycle (Alglave et al., "Herding cats", 2014, after Shasha and Snir): each thread has two accesses of different
locations, or one; the last access of a thread and the first of the next one are of the same location, and rf, co or fr
goes from one to the other. Of one location these are rf, co, fr, co rf or fr rf: longer ones say no more. With at least
two locations, and at most four threads."""
import itertools
import sys
from pathlib import Path

import axioms
from axioms import Access

CHAINS = [("rf",), ("co",), ("fr",), ("co", "rf"), ("fr", "rf")]
KINDS = {"rf": "WR", "co": "WW", "fr": "RW"}
NAMES = {("rf", "fr"): "MP", ("fr", "fr"): "SB", ("rf", "rf"): "LB", ("co", "fr"): "R", ("co", "rf"): "S",
         ("co", "co"): "2+2W", ("rf", "fr rf"): "WRC", ("fr", "fr rf"): "RWC", ("fr rf", "fr rf"): "IRIW",
         ("co", "fr rf"): "WRW+2W", ("rf", "co rf"): "WWC", ("fr", "co rf"): "WRR+2W", ("rf", "rf", "fr"): "ISA2",
         ("fr", "fr", "fr"): "3.SB", ("rf", "rf", "rf"): "3.LB", ("co", "co", "co"): "3.2W", ("rf", "fr", "fr"): "W+RWC"}
MODELS = ["sequential", "tso", "release", "transactional", "mixed"]
COLUMNS = MODELS + ["locked", "barriers"]


def rotations(cycle):
    return [cycle[i:] + cycle[:i] for i in range(len(cycle))]


def cycles():
    found = {}
    for locations in (2, 3, 4):
        for cycle in itertools.product(CHAINS, repeat=locations):
            if sum(len(chain) for chain in cycle) <= 4:
                found.setdefault(min(rotations(cycle)), cycle)
    return sorted(found, key=lambda c: (sum(len(chain) for chain in c), len(c), c))


def name_of(cycle):
    for words in rotations(tuple(" ".join(chain) for chain in cycle)):
        if words in NAMES:
            return NAMES[words]
    return "-".join("".join(chain) for chain in cycle)


def program_of(cycle):
    """Threads, and the outcome that the cycle is: values of reads, in order, and what locations hold in the end."""
    # Accesses along the cycle: of chain i the kinds, all of location i. Between chains a thread goes on.
    along = []
    for location, chain in enumerate(cycle):
        kinds = [KINDS[chain[0]][0]] + [KINDS[edge][1] for edge in chain]
        along += [(location, k, kind, chain) for k, kind in enumerate(kinds)]
    first = next(i for i, a in enumerate(along) if a[1] == 0)  # the end of the thread that began with the last chain
    order = along[first - 1:] + along[:first - 1]
    threads, thread = [], []
    for location, k, kind, chain in order:
        thread.append((location, k, kind, chain))
        if not (k == len(chain)):  # the next access of the chain is another thread's
            threads.append(thread)
            thread = []
    # The rotation begins with the end of the last chain, so nothing is left over.
    assert not thread
    program, reads, last = [], [], [0] * len(cycle)
    for t, accesses in enumerate(threads):
        row = []
        for place, (location, k, kind, chain) in enumerate(accesses):
            writes = [i for i in range(len(chain) + 1) if (KINDS[chain[0]][0] + "".join(KINDS[e][1] for e in chain))[i] == "W"]
            if kind == "W":
                value = writes.index(k) + 1
                last[location] = max(last[location], value)
                row.append(Access(t, place, "W", location, value))
            else:
                # fr: from before the next write, which is the first; rf: of the write before.
                before = [i for i in writes if i < k]
                reads.append(writes.index(before[-1]) + 1 if before else 0)
                row.append(Access(t, place, "R", location))
        program.append(row)
    return program, (tuple(reads), tuple(last))


def in_sections(program):
    return [[Access(a.thread, a.place, a.kind, a.location, a.value, 0) for a in thread] for thread in program]


def outcomes(program, column):
    """All that is allowed: `locked` are critical sections under release consistency, `barriers` as well meets after each access."""
    whole = column in ("transactional", "locked")
    model = axioms.model_of(column if column in MODELS else "release")
    return axioms.allowed(in_sections(program) if whole else program, model, locks=column == "locked", barriers=column == "barriers")


def says(cycle):
    """By column, whether the outcome is allowed."""
    program, outcome = program_of(cycle)
    return program, outcome, {column: outcome in outcomes(program, column) for column in COLUMNS}


def header(rows):
    lines = ["// SPDX-License-Identifier: BSD-3-Clause",
             "// All critical cycles of two to four threads. Written by generate.py, which says what they are; the models that allow",
             "// the outcome of each are those of models/.", "#pragma once", "", '#include "models.hpp"', "",
             "namespace quire::test::litmus {", "", "struct generated {", "  shape test;",
             "  outcome cycle;  ///< what it must not show, but where its model allows that",
             "  bool sequential, tso, release, transactional, mixed, locked, barriers;  ///< whether it does", "};", "",
             "// clang-format off", "inline const std::vector<generated> all_generated = {"]
    for name, program, (reads, last), row in rows:
        register, threads = 0, []
        for thread in program:
            steps = []
            for a in thread:
                if a.kind == "W":
                    steps.append(f"{{true, {a.location}, {a.value}}}")
                else:
                    steps.append(f"{{false, {a.location}, {register}}}")
                    register += 1
            threads.append("{" + ", ".join(steps) + "}")
        values = list(reads) + [0] * (4 - len(reads)) + list(last) + [0] * (4 - len(last))
        flags = ", ".join("true" if row[m] else "false" for m in COLUMNS)
        lines.append(f'      {{{{"{name}",')
        lines += [f"        {'{' if t == 0 else ' '}{thread}{',' if t + 1 < len(threads) else '},'}" for t, thread in enumerate(threads)]
        lines.append(f"        {len(reads)}}},")
        lines.append(f"       {{{', '.join(map(str, values))}}},")
        lines.append(f"       {flags}}},")
    return "\n".join(lines + ["};", "// clang-format on", "", "}  // namespace quire::test::litmus", ""])


def main():
    rows = []
    for cycle in cycles():
        program, outcome, row = says(cycle)
        rows.append((name_of(cycle), program, outcome, row))
    text = header(rows)
    target = Path(__file__).resolve().parent / "generated.hpp"
    if "--check" in sys.argv:
        if target.read_text() == text:
            return 0
        print(f"{target} is not what {Path(__file__).name} makes: run it")
        return 1
    target.write_text(text)
    print(len(rows), "tests")
    for name, _, outcome, row in rows:
        print(f"{name:24}", outcome, *(m for m in row if row[m]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
