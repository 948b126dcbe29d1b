#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""host_frames_table.py --build BUILD [--mebibytes N] [--rounds N] [--jobs 2,4,8,2x2] [--keep FILE] [--output docs/host_frames.md]: memory and time of
bench/python/host_frames.py, whose nodes read one big array and write their own parts of another, with pages of a host and with pages of each node's own: on 2,
4 and 8 nodes of this host, and on two hosts with two nodes each (network namespaces; takes root, else that row is left out). Of the rounds the median, and the
least in brackets. With --keep what is measured is added to what that file has of the same array, and the page is made of all: a machine that others use, too,
can be had in pieces."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/launch"))
sys.path.insert(0, str(ROOT / "bench"))
import results  # noqa: E402
from namespaces import Hosts  # noqa: E402
from processes import output_of  # noqa: E402

PROGRAM = ROOT / "bench/python/host_frames.py"
KINDS = {"of each node": "0", "of the host": "1"}  # what QUIRE_HOST_FRAMES is


def run(build, asked, consistency, frames, nodes, hosts=None):
    """{"time": s, "frames": MB}"""
    options = ["-n", str(nodes), "--timeout", "100"]
    if hosts is not None:
        options += ["--hosts", ",".join(f"{one}:{nodes // hosts.count}" for one in hosts.addresses), "--agent", hosts.agent]
    command = [f"{build}/bin/quire", "run", *options, sys.executable, "-B", PROGRAM, "--mebibytes", str(asked.mebibytes), "--consistency", consistency]
    words = [str(word) for word in command]
    told = output_of(words if hosts is None else hosts.inside(1, words), {"QUIRE_HOST_FRAMES": frames, "PYTHONPATH": f"{build}/python"}, 120)
    found = [json.loads(line) for line in told.splitlines()]
    return {one["name"].split()[0]: one["median"] for one in found}


def measure(build, asked, where, nodes, hosts=None):
    """Rows: (where, nodes, consistency, {kind: {"time": [...], "frames": [...]}})."""
    for consistency in ("sequential", "release"):
        found = {kind: {"time": [], "frames": []} for kind in KINDS}
        for _ in range(asked.rounds):  # in turn: both see the same machine
            for kind, frames in KINDS.items():
                for name, value in run(build, asked, consistency, frames, nodes, hosts).items():
                    found[kind][name].append(value)
        print(where, nodes, consistency, found, file=sys.stderr, flush=True)
        yield where, nodes, consistency, found


def rows_of(job, build, asked):
    if "x" not in job:
        yield from measure(build, asked, "one host", int(job))
    elif os.geteuid() == 0:
        hosts, each = map(int, job.split("x"))
        with Hosts(hosts) as made:
            yield from measure(build, asked, f"{hosts} hosts", hosts * each, made)


def rounds_of(rows):
    return min(len(values) for *_, found in rows for figures in found.values() for values in figures.values())


def add(to, found):
    for kind, figures in found.items():
        for name, values in figures.items():
            to.setdefault(kind, {}).setdefault(name, []).extend(values)


def page(rows, asked, commit):
    def figure(values, digits):
        return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f})"
    lines = ["# Nodes of a host that read one array", "",
             f"Made by `bench/python/host_frames_table.py` on {os.cpu_count()} cores, {rounds_of(rows)} rounds, commit {commit}. All nodes sum the columns of",
             f"an array of {asked.mebibytes} MiB, twice, and write their own rows of another one, as `bench/python/host_frames.py` says.",
             "Pages of shared memory of all nodes, each counted once; median, and the least in brackets. Hosts are network namespaces of one machine.", "",
             "| where | nodes | consistency | MB, pages of each node | MB, pages of the host | s, pages of each node | s, pages of the host |",
             "| --- | ---: | --- | ---: | ---: | ---: | ---: |"]
    for where, nodes, consistency, found in rows:
        cells = [figure(found[kind][name], digits) for name, digits in (("frames", 0), ("time", 2)) for kind in KINDS]
        lines.append("| " + " | ".join((where, str(nodes), consistency, *cells)) + " |")
    measured = [row for file in asked.results for row in json.loads(file.read_text())["rows"] if row["group"].startswith("host-frames")]
    if measured:
        lines += ["", "## Faults and sweeps", "", "`bench/run.py --only host-frames` on the same machine: the ratio is median / baseline, which is the size of",
                  "the memory, or the same with pages of each node.", "", *results.table(measured)]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[2])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--mebibytes", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", default="2,4,8,2x2", help="so many nodes of this host, or hosts and nodes of each; '': none (default: %(default)s)")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--results", action="append", default=[], type=pathlib.Path, metavar="FILE",
                        help="of `bench/run.py --only host-frames`: its rows are added to the page; may be repeated")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs/host_frames.md")
    asked = parser.parse_args()
    build = asked.build.resolve()
    kept = json.loads(asked.keep.read_text()) if asked.keep is not None and asked.keep.exists() else {}
    for job in filter(None, asked.jobs.split(",")):
        for where, nodes, consistency, found in rows_of(job, build, asked):
            add(kept.setdefault(f"{asked.mebibytes} MiB, {where}, {nodes:2}, {consistency}", [where, nodes, consistency, {}])[3], found)
            if asked.keep is not None:
                asked.keep.write_text(json.dumps(kept) + "\n")
    rows = [row for key, row in sorted(kept.items(), key=lambda one: (one[1][0] != "one host", one[1][1], one[1][2] != "sequential"))
            if key.startswith(f"{asked.mebibytes} MiB,")]
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False).stdout.strip() or "unknown"
    asked.output.write_text(page(rows, asked, commit))
    print(f"written: {asked.output}")


if __name__ == "__main__":
    main()
