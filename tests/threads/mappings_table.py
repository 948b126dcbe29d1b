#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mappings_table.py QUIRE DOCUMENT [--rewrite] [OPTION...] PROGRAM: the tables of DOCUMENT say what PROGRAM (mappings.c) finds on two nodes, started by
`quire run OPTION...`, and each call that is refused has a line. --rewrite: the document says so afterwards."""
import re
import subprocess
import sys


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split(" | ")]


def rows_of(lines):
    return {cells(line)[0].strip("`| "): [c.strip("| ") for c in cells(line)[1:]] for line in lines if line.startswith("| ") and "---" not in line}


def alike(row):
    """The columns of the document: kinds of shared memory that behave alike are one, and memory that is not shared is none where it is the node's own."""
    if len(row) != 8:
        return row
    *shared, hole, of_all, of_one, private = row
    return [shared[0] if len(set(shared)) == 1 else "; ".join(shared), hole, of_all, of_one] + ([] if private == "the node's own" else [private])


quire, document, *rest = sys.argv[1:]
rewrite = "--rewrite" in rest
command = [quire, "run", "-n", "2", "--place", "round", "--timeout", "50"] + [word for word in rest if word != "--rewrite"]
run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
lines = run.stdout.splitlines()
found = rows_of(lines)
if run.returncode != 0 or lines[:1] != ["nodes: 2"] or len(found) < 30:
    sys.exit(f"status {run.returncode}\n{run.stdout}{run.stderr}")
refused = sum(cell.split(",")[0] == "refused" for row in found.values() for cell in row)
said = len(re.findall(r"^quire: node \d+: .* is refused: ", run.stderr, re.M))
if refused != said:
    sys.exit(f"{refused} calls are refused, and {said} lines say so\n{run.stdout}{run.stderr}")

found = {name: alike(row) for name, row in found.items()}
with open(document, encoding="utf-8") as file:
    text = file.read().splitlines()
if rewrite:
    text = [f"| {name} | {' | '.join(found[name])} |" if (name := next(iter(rows_of([line])), None)) in found else line for line in text]
    with open(document, "w", encoding="utf-8") as file:
        file.write("\n".join(text) + "\n")
told = {name: row for name, row in rows_of(text).items() if name in found or not name.startswith(("call", "word"))}
words = {name for name in told if name not in found}
wrong = [f"{name}: found {found[name]}, the document says {told.get(name)}" for name in found if told.get(name) != found[name]]
wrong += [f"no such row is found: {name}" for name in words if "(" in name]
if wrong:
    sys.exit("\n".join(wrong))
print(f"{len(found)} rows, {refused} refused")
