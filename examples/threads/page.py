#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/guide/programs.md: six programs of threads, and their differences from the same programs on Quire. Nobody edits the page by hand;
tests/docs/programs_test.py fails when it is not what this writes.

    examples/threads/page.py            writes the page; --check only compares, and ends with 1 if it differs
"""
import argparse
import difflib
import re
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent
PAGE = EXAMPLES.parent / "docs" / "guide" / "programs.md"

# In the order of the page: what each difference shows.
POINTS = {
    "word_count": "A `quire::sharded_map` stands in place of a map and a mutex. `merge()` locks one shard after the other, and begins with another one on each node. "
                  "A key lies in shared memory, so it is plain data and no view of the text, of which each node has a copy of its own.",
    "sample_sort": "The two arrays lie in regions. Beside them the threads exchange one array of samples, which `me.reduce()` combines by messages: it needs no shared object, and no barrier.",
    "page_rank": "The ranks lie in regions with release consistency and units of 64 KiB, as each thread reads what all have written. `me.sum()` is a sum and a barrier. Each thread's part of the graph "
                 "is private in both programs.",
    "work_queue": "`quire::channel` is a queue of all nodes, which a program of threads has to write itself. The count of open tasks is an atomic in shared memory. Tasks are a millisecond long or more: a task that moves to another node costs a lock and some pages, which move, too.",
    "k_means": "Nothing is shared at all. The points are private in both programs; the sums of the clusters are an array in `me.reduce()`.",
    "heat": "The plates lie in regions, and the object that names them is on the shared heap: a run that is started again finds it by name. The barrier is `me.wait()`. "
            "The program of threads has no checkpoints, and most of the difference is that.",
}


def body(path):
    """The lines of a program without license, introduction and includes."""
    lines = path.read_text().splitlines()
    last = max(i for i, line in enumerate(lines) if line.startswith("#include"))
    rest = lines[last + 1:]
    while rest and not rest[0]:
        rest.pop(0)
    return rest


def difference(threads, quire):
    """Of two lists of lines: the lines of a unified difference, without names and numbers of lines."""
    lines = list(difflib.unified_diff(threads, quire, lineterm="", n=2))[2:]
    return [re.sub(r"^@@.*@@", "@@", line) for line in lines]


def section(name):
    threads, quire = body(EXAMPLES / "threads" / f"{name}.cpp"), body(EXAMPLES / f"{name}.cpp")
    lines = difference(threads, quire)
    gone, new = (sum(line.startswith(sign) for line in lines) for sign in "-+")
    row = f"| [{name}](#{name}) | {len(threads)} | {len(quire)} | {gone} | {new} |"
    return row, [f"## {name}", "", POINTS[name], "",
                 f"[threads](../../examples/threads/{name}.cpp), [Quire](../../examples/{name}.cpp)", "", "```diff", *lines, "```", ""]


def page():
    rows, sections = zip(*(section(name) for name in POINTS))
    lines = ["# Six programs, with threads and on Quire", "",
             "Written by `examples/threads/page.py` from the programs in `examples/`. Each program is there twice: with threads of one process in",
             "`examples/threads/`, without Quire, and on Quire. The tests run both, on 1, 2 and 4 nodes, and compare the results. Here is how the second differs from the",
             "first; comments at the top and includes are left out. `threads/parts.hpp` has `part_of()`, which Quire has itself.", "",
             "    build/examples/threads/heat 1000 1024 2                      # 2 threads of one process",
             "    build/bin/quire run -n 2 build/examples/heat 1000 1024 1     # 2 nodes with a thread each", "",
             "Both print the time that their work took. `bench/run.py --only programs` compares the times of all six.", "",
             "| program | lines with threads | on Quire | lines that go | that come |", "| --- | ---: | ---: | ---: | ---: |", *rows, ""]
    for text in sections:
        lines += text
    return "\n".join(lines) + "\nNext: [Teams](teams.md).\n"


def main():
    parser = argparse.ArgumentParser(description="Writes docs/guide/programs.md from the programs in examples/ and examples/threads/.")
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 if the page is another one")
    wanted = parser.parse_args()
    text = page()
    if not wanted.check:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        sys.exit(f"{PAGE} is not what examples/threads/page.py writes; run it")


if __name__ == "__main__":
    main()
