#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs of Debian with threads or OpenMP, as they are: on this machine and on nodes, whether the output is the same, how long it takes, what for.

Needs their packages: apt-get install --no-install-recommends pigz bwa minimap2 clustalo fasttree graphicsmagick mcl. Makes their inputs from
random numbers, always the same ones, in a folder of its own (--folder). Outside of CI.
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
HEAD = """# Programs of Debian, as they are

`quire run -n 2 quire exec --any pigz -p 2 text`: the program's threads, or those of its regions of OpenMP, are on all nodes.
Made by `bench/programs/stock.py` on {cores} cores. One machine and 1 node have two threads, 2 nodes one each, 4 nodes one each on {cores} cores. Seconds
are medians of {times}, with the program's start and end. Waited: of the threads' time on 2 nodes, what they waited for pages; shared: of that, for pages
which both nodes write.

| program | what it is | one machine, s | 1 node, s | 2 nodes, s | 4 nodes, s | 2 nodes / one machine | waited | shared | output |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""


@dataclass
class Program:
    what: str
    package: str
    command: str  # of `{threads}` threads in all
    openmp: bool = False


PROGRAMS = {
    "pigz": Program("compressor; threads", "pigz", "pigz -p {threads} -c text"),
    "bwa": Program("aligns short reads; threads", "bwa", "bwa mem -t {threads} genome reads"),
    "minimap2": Program("aligns long reads; threads", "minimap2", "minimap2 -t {threads} -a genome long_reads"),
    "mcl": Program("clusters a graph; threads", "mcl", "mcl graph --abc -te {threads} -o -"),
    "clustalo": Program("aligns proteins; OpenMP", "clustalo", "clustalo --threads={threads} -i proteins", openmp=True),
    "fasttree": Program("tree of sequences; OpenMP", "fasttree", "fasttreeMP -nt -quiet sequences", openmp=True),
    "gm": Program("image pipeline; OpenMP", "graphicsmagick", "gm convert image -blur 0x3 -sharpen 0x2 ppm:-", openmp=True),
}


# ---- Inputs ------------------------------------------------------------------------------------------------------------

def changed(text, letters, often, r):
    return "".join(r.choice(letters) if r.random() < often else letter for letter in text)


def related(letters, length, count, often, r):
    """Sequences that come from one another, as FASTA."""
    found = ["".join(r.choices(letters, k=length))]
    while len(found) < count:
        found.append(changed(r.choice(found), letters, often, r))
    return "".join(f">s{i}\n{text}\n" for i, text in enumerate(found))


def make_inputs(folder):
    if (folder / "made").exists():
        return
    print(f"programs: inputs into {folder}", file=sys.stderr)
    folder.mkdir(parents=True, exist_ok=True)
    r = random.Random(1)
    genome = "".join(r.choices("ACGT", k=2_000_000))
    (folder / "genome").write_text(">genome\n" + "\n".join(genome[i:i + 80] for i in range(0, len(genome), 80)) + "\n")

    def read(length, often):
        at = r.randrange(len(genome) - length)
        return changed(genome[at:at + length], "ACGT", often, r)
    (folder / "reads").write_text("".join(f"@r{i}\n{read(150, 0.01)}\n+\n{'I' * 150}\n" for i in range(10_000)))
    (folder / "long_reads").write_text("".join(f">l{i}\n{read(5000, 0.05)}\n" for i in range(1500)))
    (folder / "proteins").write_text(related("ACDEFGHIKLMNPQRSTVWY", 200, 200, 0.08, r))
    (folder / "sequences").write_text(related("ACGT", 600, 400, 0.05, r))
    width, height = 1500, 1000
    noise = r.randbytes(3 * width * height)
    (folder / "image").write_bytes(b"P6\n%d %d\n255\n" % (width, height) + bytes((i // 700 + n % 20) & 255 for i, n in enumerate(noise)))
    words = ["".join(r.choices("abcdefghij", k=r.randrange(2, 9))) for _ in range(5000)]
    (folder / "text").write_text("".join(" ".join(r.choices(words, k=8)) + "\n" for _ in range(1_500_000)))
    with open(folder / "graph", "w", encoding="ascii") as edges:
        for _ in range(60_000):
            a = r.randrange(4000)
            b = a // 20 * 20 + r.randrange(20) if r.random() < 0.8 else r.randrange(4000)
            edges.write(f"n{a}\tn{b}\t{r.random():.3f}\n")
    if shutil.which("bwa"):
        subprocess.run(["bwa", "index", "genome"], cwd=folder, check=True, capture_output=True)
    (folder / "made").touch()


# ---- Runs --------------------------------------------------------------------------------------------------------------

def run(program, threads, folder, start, limit):  # threads: of all nodes together
    """What it prints, as a checksum, and the seconds; a text that says what went wrong, and None."""
    settings = dict(os.environ, OMP_NUM_THREADS=str(threads))
    command = program.command.format(threads=threads).split()
    begin = time.monotonic()
    try:
        done = subprocess.run([*start, *command], cwd=folder, env=settings, capture_output=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return f"does not end in {limit} s", None
    seconds = time.monotonic() - begin
    if done.returncode != 0:
        return f"status {done.returncode}: {' '.join(done.stderr.decode(errors='replace').split())[-200:]}", None
    lines = [line for line in done.stdout.split(b"\n") if not line.startswith(b"@PG")]  # the command, in what aligners print
    return hashlib.sha256(b"\n".join(lines)).hexdigest(), seconds


def several(times, *what):
    all_runs = [run(*what) for _ in range(times)]
    for found in all_runs:
        if found[1] is None or found[0] != all_runs[0][0]:
            return found[0] if found[1] is None else "two runs differ", None
    return all_runs[0][0], statistics.median(seconds for _, seconds in all_runs)


def waits(path):
    """Of the threads' time, what they waited for pages, and of that for pages that several nodes write."""
    counted = json.loads(path.read_text())
    waited = counted["total"]["fault_ns"]
    of_several = sum(unit["ns"] for unit in counted["units"] if unit["writers"] > 1)
    return waited / 1e9 / counted["seconds"] / counted["nodes"], min(1, of_several / max(1, waited))


def measure(name, asked):
    """The row of a program, and whether all of its runs were right."""
    program = PROGRAMS[name]
    if shutil.which(program.command.split()[0]) is None:
        return f"| {name} | {program.what} | - | - | - | - | - | - | - | apt-get install {program.package} |\n", True
    wanted, alone = several(asked.times, program, 2, asked.folder, [], asked.limit)
    counters = asked.folder / "counters.json"
    cells, wrong, two, share = [], [wanted] if alone is None else [], None, ("-", "-")
    for nodes in (1, 2, 4):
        start = [asked.quire, "run", "-n", str(nodes), f"--stats={counters}", asked.quire, "exec", "--any"]
        found, seconds = several(asked.times, program, max(2, nodes), asked.folder, start, asked.limit)
        cells.append("-" if seconds is None else f"{seconds:.2f}")
        if alone is not None and found != wanted:
            wrong.append(f"{nodes} nodes: {found if seconds is None else 'another one'}")
        if nodes == 2 and seconds is not None:
            two, share = seconds, tuple(f"{part:.0%}" for part in waits(counters))
    ratio = "-" if two is None or alone is None else f"{two / alone:.2f}"
    version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", program.package], capture_output=True, text=True, check=False).stdout
    return (f"| {name} {version} | {program.what} | {'-' if alone is None else f'{alone:.2f}'} | {' | '.join(cells)} | {ratio} | {' | '.join(share)} | "
            f"{'; '.join(wrong) or 'the same'} |\n"), not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quire", default=HERE.parents[1] / "build" / "bin" / "quire", type=pathlib.Path, help="default: that of build")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "quire-stock",
                        help="where the inputs are (default: %(default)s)")
    parser.add_argument("--times", type=int, default=3, help="runs of each (default: 3)")
    parser.add_argument("--limit", type=int, default=300, help="seconds that a run may take (default: 300)")
    parser.add_argument("--only", nargs="+", choices=sorted(PROGRAMS), default=list(PROGRAMS), help="these programs")
    parser.add_argument("--document", type=pathlib.Path, help="the table goes there, too")
    asked = parser.parse_args()
    make_inputs(asked.folder)
    table, all_right = HEAD.format(cores=os.cpu_count(), times=asked.times), True
    for name in asked.only:
        print(f"programs: {name}", file=sys.stderr)
        row, right = measure(name, asked)
        table += row
        all_right = all_right and right
    print(table)
    if asked.document:
        asked.document.write_text(table)
    return 0 if all_right else 1


if __name__ == "__main__":
    sys.exit(main())
