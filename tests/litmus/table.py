#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""table.py BUILD [--logs FOLDER] [--seconds N] [--check]: what the models allow against what is seen, for all generated tests: docs/litmus.md.

Runs the explorers of the simulator and litmus_program on processes (an hour of a core; QUIRE_SIM_SOAK=1: some minutes, with an eighth of the seeds), in
pieces of a minute or so, and keeps what each prints in FOLDER; what is there is not run again. With --seconds it begins none after that time, and
ends with status 3 if some are left: the next call goes on. An outcome that is seen and not allowed ends it with status 1.
With --check it runs nothing: docs/litmus.md has a row for each test, what it says of models is what they say, and each outcome that nobody has seen has
a reason, or is said to be open."""
import argparse
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import generate  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "litmus.md"
# Columns of the page: what the model is called in models/, and what the program does.
COLUMNS = {
    "tso": ("tso", "a sequential region, plain accesses"),
    "sequential": ("sequential", "atomic operations of Quire"),
    "release": ("release", "a region with release consistency, plain accesses"),
    "locked": ("locked", "the same, each thread's accesses under one lock"),
    "barriers": ("barriers", "the same, and all threads meet after each access"),
    "mixed": ("mixed", "the same, but the last location is in a sequential region that orders (a flag)"),
    "owners": ("transactional", "each thread's accesses are one transaction"),
    "token": ("transactional", "the same, where commits go round with a token"),
}
# Who looks: a letter in the table, and what it stands for.
LOOKERS = {"b": "machines alone, in all orders (`sim/bare`)", "w": "whole nodes, by chance (`sim/whole`)",
           "1": "one process", "2": "two processes", "4": "four processes"}
PROCESSES = [(nodes, transport) for nodes in (2, 4) for transport in ("shm", "tcp")]
ROUNDS = 128
# The simulators' tests: of whole nodes each has so many seeds (litmus.whole_litmus_generated), and as many more for each further piece.
WHOLE = ("plain", "atomics", "release", "release_atomics", "locked", "barriers", "mixed", "owners", "token")
BARE = ("plain", "atomics", "release", "release_atomics", "locked", "barriers")
SEEDS = 300
# Why an outcome that a model allows is never seen: a number, and for which column and outcome.
REASONS = {}


def reason(number, text):
    def add(applies):
        REASONS[number] = (text, applies)
        return applies
    return add


@reason(1, "No order of all accesses explains it: a store would have to wait in its processor while a later load goes ahead. The simulators "
        "have no such buffers; between processes a right is taken away by a change of page tables that interrupts the processor, which completes its "
        "stores before it answers; two threads of one process need to meet within nanoseconds.")
def in_a_store_buffer(column, program, outcome, complete):
    return column == "tso" and not is_interleaving(program, outcome)


@reason(2, "Machines alone have been tried in all orders, and never give it: the protocol is stronger than the model.")
def stronger(column, program, outcome, complete):
    return complete


@reason(3, "Open: nobody has seen it, and nothing is known that forbids it. More seeds and rounds may show it.")
def is_open(column, program, outcome, complete):
    return True


def is_interleaving(program, outcome):
    return outcome in generate.outcomes(program, "sequential")


def programs():
    """By name: the threads, the outcome that the cycle is."""
    return {generate.name_of(c): generate.program_of(c) for c in generate.cycles()}


def digits(outcome):
    return ".".join(map(str, outcome[0] + outcome[1]))


def text_of(program, outcome):
    values = iter(outcome[0])
    threads = []
    for thread in program:
        threads.append("; ".join(f"{'xyzw'[a.location]} = {a.value}" if a.kind == "W" else f"{'xyzw'[a.location]} is {next(values)}" for a in thread))
    last = ", ".join(f"{'xyzw'[l]} = {v}" for l, v in enumerate(outcome[1]))
    return " \\|\\| ".join(threads) + f"; last {last}"


@dataclass
class Piece:
    """A command whose output is one log. `seeds`: what it has to say that it has tried."""
    name: str
    words: list
    environment: dict
    seeds: str = ""


def simulators(build):
    program, soak = str(build / "tests" / "sim_tests"), int(os.environ.get("QUIRE_SIM_SOAK", 8))
    for threads in (2, 3, 4):
        for how in BARE:
            yield Piece(f"bare-{how}-{threads}", [program, f"--gtest_filter=cycles/litmus_exhaustive.*/{how}_of_{threads}_threads"],
                        {"QUIRE_SIM_SOAK": str(soak)})
    for how in WHOLE:
        for first in range(1, 1 + soak * SEEDS, SEEDS):
            yield Piece(f"whole-{how}-{first}", [program, f"--gtest_filter=ways/whole_litmus_generated.*/{how}"],
                        {"QUIRE_SIM_FIRST": str(first), "QUIRE_SIM_SOAK": "1"}, f"seeds {first} to {first + SEEDS - 1}\n")


def processes(build):
    for how in ("sequential", "release", "mixed", "owners", "token"):
        for nodes, transport in [(1, "shm")] * (how == "sequential") + PROCESSES:
            words = [str(build / "bin" / "quire"), "run", "-n", str(nodes), "--transport", transport, "--timeout", "600",
                     *(["--set=commit=token"] if how == "token" else []), str(build / "tests" / "litmus" / "litmus_program"), "generated", str(ROUNDS)]
            kind = {"sequential": [], "owners": ["transactional"], "token": ["transactional"]}.get(how, [how])
            yield Piece(f"{how}-{nodes}-{transport}", words + kind, {})


def logs(build, folder, seconds):
    """Name and text of each; None where the time was up before all had been made."""
    folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + seconds
    clean = {k: v for k, v in os.environ.items() if not k.startswith("QUIRE_")}
    made = []
    for piece in (*simulators(build), *processes(build)):
        file = folder / f"{piece.name}.log"
        if not file.exists():
            if time.monotonic() >= end:
                return None
            begin = time.monotonic()
            done = subprocess.run(piece.words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env=clean | piece.environment)
            print(f"{piece.name}: {time.monotonic() - begin:.0f} s", flush=True)
            if done.returncode != 0 or piece.seeds not in done.stdout or "Running 0 tests" in done.stdout:
                sys.exit(f"{' '.join(piece.words)}: status {done.returncode}\n{done.stdout[-2000:]}")
            file.write_text(done.stdout)
        made.append((piece.name, file.read_text()))
    return made


def read(lines_of):
    """seen[column][test]: by outcome, the letters of those who saw it; complete[column][test]: whether machines alone were tried in all orders."""
    seen = defaultdict(lambda: defaultdict(lambda: defaultdict(set)))
    complete = defaultdict(dict)
    for log, text in lines_of:
        for column, who, how_much, test, nodes, outcomes in re.findall(r"litmus (\w+) (\w+) (\w+) (\S+) nodes (\d+)((?: [\d.]+)*)$", text, re.MULTILINE):
            column = log.split("-")[0] if column == "transactional" else column
            letter = {"bare": "b", "whole": "w"}.get(who, nodes)
            for outcome in outcomes.split():
                seen[column][test][outcome].add(letter)
            if who == "bare":
                complete[column][test] = complete[column].get(test, True) and how_much == "all"
    return seen, complete


def cell(seen, complete, column, test, program, cycle, problems):
    allowed = {digits(o): o for o in generate.outcomes(program, COLUMNS[column][0])}
    found = seen[column][test]
    for outcome in sorted(set(found) - set(allowed)):
        problems.append(f"{test}, {column}: {outcome} was seen by {''.join(sorted(found[outcome]))}, and the model forbids it")
    why = set()
    for text in sorted(set(allowed) - set(found)):
        numbers = [n for n, (_, applies) in REASONS.items() if applies(column, program, allowed[text], complete[column].get(test, False))]
        if not numbers:
            problems.append(f"{test}, {column}: {text} is allowed, and nobody has seen it")
        why.update(numbers[:1])
    counts = f"{len(set(found) & set(allowed))}/{len(allowed)}" + "".join(f" ({n})" for n in sorted(why))
    if digits(cycle) not in allowed:
        return f"no, {counts}"
    letters = "".join(sorted(found.get(digits(cycle), ())))
    return f"**{letters or '-'}**, {counts}"


def page(seen, complete, problems):
    lines = ["# Litmus tests", "",
             "What programs may see of each other's stores: what the models (`tests/litmus/models`) allow, and what is seen. The tests are all critical",
             "cycles of two to four threads (`tests/litmus/generate.py`), the programs around them and their outcomes are made by scripts, "
             "and so is this page: `tests/litmus/table.py BUILD`.", "",
             "| column | model, in `tests/litmus/models` | what a test does |", "| --- | --- | --- |"]
    for column, (model, text) in COLUMNS.items():
        lines.append(f"| {column} | `{model if model in generate.MODELS else 'release'}.cat` | {text} |")
    lines += ["", "A cell says first of the outcome in the second column: `no`, the model forbids it, and nobody has seen it; or who has seen it, "
              + ", ".join(f"**{k}** {v}" for k, v in LOOKERS.items()) + " (over shared memory and TCP);",
              "then how many of all outcomes that the model allows of that program have been seen. No outcome that a model forbids was seen by anybody. "
              "A number in brackets says what is known of those that",
              "are missing:", ""]
    used = set()
    rows = []
    for test, (program, cycle) in programs().items():
        cells = [cell(seen, complete, column, test, program, cycle, problems) for column in COLUMNS]
        used.update(int(n) for c in cells for n in re.findall(r"\((\d+)\)", c))
        rows.append(f"| {test} | {text_of(program, cycle)} | " + " | ".join(cells) + " |")
    lines += [f"- ({n}) {REASONS[n][0]}" for n in sorted(used)] + [""]
    lines += ["| test | the cycle | " + " | ".join(COLUMNS) + " |", "| --- | --- |" + " --- |" * len(COLUMNS)]
    return "\n".join(lines + rows) + "\n"


def check():
    """What can be told without running anything."""
    text = PAGE.read_text()
    wrong = []
    for test, (program, cycle) in programs().items():
        found = re.search(rf"^\| {re.escape(test)} \|(.*)\|$", text, re.MULTILINE)
        if not found:
            wrong.append(f"{test} has no row")
            continue
        cells = [c.strip() for c in re.split(r"(?<!\\)\|(?!\|)(?<!\|\|)", found[1].replace("\\|\\|", "&"))]
        if cells[0] != text_of(program, cycle).replace("\\|\\|", "&"):
            wrong.append(f"{test} is another program")
        for column, said in zip(COLUMNS, cells[1:], strict=True):
            allowed = {digits(o) for o in generate.outcomes(program, COLUMNS[column][0])}
            shape = re.fullmatch(r"(no|\*\*[-bw124]+\*\*), (\d+)/(\d+)((?: \(\d+\))*)", said)
            if not shape:
                wrong.append(f"{test}, {column}: what is {said!r}?")
                continue
            who, seen, of, reasons = shape[1], int(shape[2]), int(shape[3]), re.findall(r"\d+", shape[4])
            if (who == "no") != (digits(cycle) not in allowed) or of != len(allowed):
                wrong.append(f"{test}, {column}: the model says otherwise than {said!r}")
            if (seen < of or who == "**-**") != bool(reasons) or seen > of:
                wrong.append(f"{test}, {column}: {said!r} has outcomes that nobody has seen, and no reason, or a reason for nothing")
            wrong += [f"{test}, {column}: there is no reason {n}" for n in reasons if not re.search(rf"^- \({n}\) \w", text, re.MULTILINE)]
    print("\n".join(wrong or [f"{len(programs())} tests, all accounted for"]))
    return 1 if wrong else 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("build", type=Path, nargs="?")
    arguments.add_argument("--logs", type=Path)
    arguments.add_argument("--seconds", type=float, default=float("inf"))
    arguments.add_argument("--check", action="store_true")
    given = arguments.parse_args()
    if given.check:
        return check()
    if given.build is None:
        arguments.error("which build?")
    build = given.build.resolve()
    problems = []
    made = logs(build, given.logs or build / "litmus", given.seconds)
    if made is None:
        return 3
    text = page(*read(made), problems)
    print("\n".join(problems))
    if problems:
        return 1
    PAGE.write_text(text)
    return check()


if __name__ == "__main__":
    sys.exit(main())
