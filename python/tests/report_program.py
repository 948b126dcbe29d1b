# SPDX-License-Identifier: BSD-3-Clause
"""Names for the report: what report_test.py looks for in its page."""
import quire as q

grid = q.zeros((512, 512), name="grid")
words = q.zeros(q.nodes, "i8", consistency="sequential")
q.label(words, "one word a node") if q.node == 0 else None
with q.phase("fill"):
    grid[q.block(512)] = q.node
    with q.phase("meet"):
        q.barrier()
    for _ in range(60):  # however busy the machine is, the words' page moves once in each round
        q.barrier()
        for _ in range(200):
            words[q.node] += 1
for wrong in ("", "x" * 64):
    try:
        with q.phase(wrong):
            raise AssertionError(f"phase {wrong!r} was begun")
    except q.Invalid:
        pass
try:
    q.label(grid[:, 1], "no whole rows")
    raise AssertionError("a column has a label")
except ValueError:
    pass
q.barrier()
