#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""figures.py [--tree FOLDER] [--build FOLDER]: how the house stands, in figures that the tree itself tells. `--tree`: another checkout, to compare with.

Folders of src/ are rows of layers.txt, and so are those of program/; the same tree before it had that file is looked at by its folders.
"""
import argparse
import collections
import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
HERE = Path(__file__).resolve().parent
TIDY = HERE.parent.parent / "tests" / "tidy"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"\n]+)"', re.M)
OURS = "## Quire's own words"  # of the glossary, src/model/README.md


def files(root, *endings):
    told = subprocess.run(["git", "-C", root, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    return [name for name in told.split("\0") if name.endswith(endings) and (root / name).is_file()]


def circles(graph):
    """Sets of nodes that reach each other: {node: nodes} -> [nodes]."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for after in sorted(graph.get(node, ())):
            if after not in order:
                visit(after)
            if after in stack:
                low[node] = min(low[node], low[after])
        if low[node] == order[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return found


def includes(root, folder, prefix):
    """{file: files}, of one folder, by their paths in it."""
    names = {name.removeprefix(folder + "/") for name in files(root, ".cpp", ".hpp") if name.startswith(folder + "/")}
    found = {}
    for name in names:
        all_of_it = INCLUDE.findall((root / folder / name).read_text())
        found[name] = {path.removeprefix(prefix) for path in all_of_it if path.startswith(prefix) and path.removeprefix(prefix) in names}
    return found


def rows(root, folder, known):
    """Folders with an order, lower ones first; without layers.txt those that there are, and no order."""
    try:
        lines = (root / folder / "layers.txt").read_text().splitlines()
    except FileNotFoundError:
        return sorted({str(Path(name).parent) for name in known}), False
    return [line.split(":")[0] for line in lines if line and line[0] != "#"], True


def units_of(graph):
    """A header and its source are one."""
    units = collections.defaultdict(set)
    for name, lowers in graph.items():
        units[Path(name).with_suffix("")] |= {Path(lower).with_suffix("") for lower in lowers} - {Path(name).with_suffix("")}
    return units


def print_structure(root, folder, prefix):
    known = includes(root, folder, prefix)
    order, ordered = rows(root, folder, known)

    def row_of(name):
        return max((row for row in order if name.startswith(row + "/")), key=len, default=".")

    graph, back = collections.defaultdict(set), 0
    for name, lowers in known.items():
        for lower in lowers:
            one, other = row_of(name), row_of(lower)
            if one != other and "." not in (one, other):
                graph[one].add(other)
                back += ordered and order.index(other) > order.index(one)
    found = circles(graph)
    largest = max(map(len, circles(units_of(known))), default=0)
    print(f"{folder}: {len(order)} folders, {len(found)} circles of folders{''.join(f' ({len(c)})' for c in found)}, "
          f"{back if ordered else 'no order, so no'} includes that go back; the largest circle of files has {largest}")


def print_core(root):
    """The rooms that issue by issue come into being: what ties the core's files."""
    known = {name: lowers for name, lowers in includes(root, "src", "").items() if name.startswith("core/")}
    headers = {name: {lower for lower in lowers if lower.startswith("core/")} for name, lowers in known.items() if name.endswith(".hpp")}
    largest = max(circles(units_of({name: {lower for lower in lowers if lower.startswith("core/")} for name, lowers in known.items()})), key=len, default=[])
    print(f"src/core: {len(known)} files; {len(circles(headers))} circles of headers; {len(largest)} files with their headers in the largest circle")


def lines_of(root, names):
    return sum((root / name).read_text(errors="replace").count("\n") for name in names)


def own_words(root):
    text = (root / "src/model/README.md").read_text()
    ours = text[text.index(OURS):].split("\n## ")[0] if OURS in text else ""
    found = []
    for line in ours.split("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 2 and cells[1] not in ("word", "folder", "---") and not cells[1].startswith(("-", "`src")):
            found += cells[1].split(", ")
    return found


def ways():
    found = collections.defaultdict(list)
    for line in (HERE / "ways.txt").read_text().splitlines():
        if line and line[0] != "#":
            way, name, inside = (part.strip() for part in line.split("|"))
            found[way].append((name, inside))
    return found


def tidy(root, test, *arguments):
    return subprocess.run([sys.executable, TIDY / f"{test}_test.py", root, *arguments], check=True, capture_output=True, text=True).stdout.strip()


def most_dependents(root):
    code = (f"import sys; sys.argv = ['x', {str(root)!r}]; sys.path.insert(0, {str(TIDY)!r}); import dependents_test as d; "
            "m = {n: c for n, c in d.measured().items() if n not in d.SEEN_BY_MANY}; n = max(m, key=m.get); print(n, m[n], len(d.SEEN_BY_MANY))")
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tree", type=Path, default=HERE.parent.parent)
    options.add_argument("--build", type=Path, help="a build of this tree, for what libraries export")
    asked = options.parse_args()
    root = asked.tree.resolve()
    print_structure(root, "src", "")
    front = "program" if (root / "program").is_dir() else "openmp"
    print_structure(root, front, front + "/")
    print_core(root)
    print(tidy(root, "callbacks", "--count").splitlines()[0])
    api = [name for name in files(root, ".cpp", ".hpp") if name.startswith("src/api/")]
    print(f"src/api: {lines_of(root, api)} lines")
    name, count, seen = most_dependents(root)
    print(f"an edit of core/{name}.hpp compiles {count} sources, the most of any part; {seen} headers are no parts")
    if asked.build:
        print("libquire.so:", tidy(root, "exports", asked.build / "src/libquire.so", asked.build / "program/libquire_omp.so", "--count"))
    print(f"glossary: {len(own_words(root))} words of our own")
    for way, steps in ways().items():
        passed = [step for step, _ in steps if (root / step).is_file()]
        print(f"way of a {way}: {len(steps)} files, {len(steps) - len({step for step, _ in steps})} twice" if len(passed) == len(steps) else
              f"way of a {way}: {len(steps) - len(passed)} of its files have other names there")
    print(f"C++ and C: {lines_of(root, files(root, '.cpp', '.hpp', '.c', '.h'))} lines in all, "
          f"{lines_of(root, [n for n in files(root, '.cpp', '.hpp') if n.startswith('src/')])} in src, "
          f"{lines_of(root, [n for n in files(root, '.cpp', '.hpp') if n.startswith(front + '/')])} in {front}")


if __name__ == "__main__":
    main()
