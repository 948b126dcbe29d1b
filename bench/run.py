#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the benchmarks, prints a table, and writes bench/results.json in the build folder, from which bench/results.py makes
docs/results.md.

results.json: about (machine, cores, memory, kernel, commit, date of the commit, load, complete: all groups that `make bench` or `make bench-all` measure, at full length), failures, rows.
A row: group, name, unit, median, min (over all that was measured), baseline (the other side's median, or a fixed
number), ratio (median / baseline), target (of the ratio), bound ("most" or "least"), meets. Rows without a target tell
something, and promise nothing. Exit status: 0 if all programs ran, whether targets are met or not; 1 if a program failed.
"""
import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
from processes import Failed, output_of  # noqa: E402
from suite import GROUPS  # noqa: E402


class Runner:
    """Where the programs are, how to start them, and what they have measured so far."""

    def __init__(self, build, quick):
        self.build = build
        self.quick = quick
        self.measured = {}  # "key:name" -> {"unit", "medians", "mins"}

    def command(self, program):
        name, *arguments = program.command
        if program.kind == "comparison":
            places = ("--programs", self.build / "bench", "--applications", self.build / "bin", "--quire", self.build / "bin" / "quire")
            more = program.quick if self.quick else program.full
            return [sys.executable, Path(__file__).resolve().parent / name, *places, "--output", self.build / "bench", *more]
        path = next((p for p in (self.build / "bench" / name, self.build / "bin" / name, self.build / name) if p.exists()), None)
        if path is None:
            raise Failed("it has not been built")
        command = [str(path), *arguments, *(program.quick if self.quick else program.full)]
        if program.kind == "pair":
            return [str(self.build / "bench" / "pair"), *command]
        if program.kind == "job":
            return [str(self.build / "bin" / "quire"), "run", "-n", str(program.nodes), *program.job_options, *command]
        return command

    def run(self, program):
        crowd = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(program.crowd)]
        start = time.perf_counter()
        try:
            out = output_of(self.command(program), program.environment, program.limit_s)
        finally:
            for busy in crowd:
                busy.kill()
                busy.wait()
        took_ms = (time.perf_counter() - start) * 1000
        if program.wall:
            self.note(program.key, {"name": "wall", "unit": "ms", "median": took_ms, "min": took_ms})
        if program.kind == "comparison":
            for found in json.loads((self.build / "bench" / f"{program.key}.json").read_text())["measured"]:
                self.note(program.key, found)
            return
        if program.told_by:
            self.note(program.key, seconds_in(out, program.told_by))
            return
        for line in filter(str.strip, out.splitlines()):
            try:
                found = json.loads(line)
            except ValueError as e:
                raise Failed(f"unexpected output: {line}") from e
            if "time_s" in found:  # an application's report
                report, found = found, {"name": "time_s", "unit": "s", "median": found["time_s"], "min": found["time_s"]}
                for key in ("messages", "bytes", "read_faults", "write_faults"):
                    if key in report:
                        self.note(program.key, {"name": key, "unit": key, "median": report[key], "min": report[key]})
            self.note(program.key, found)

    def note(self, key, found):
        name, unit, median, least = (found[k] for k in ("name", "unit", "median", "min"))
        entry = self.measured.setdefault(f"{key}:{name}", {"unit": unit, "medians": [], "mins": []})
        entry["medians"].append(median)
        entry["mins"].append(least)

    def row(self, wanted):
        value = self.measured[wanted.value]
        median, least = statistics.median(value["medians"]), min(value["mins"])
        if wanted.minus:
            taken_off = self.measured[wanted.minus]
            median, least = median - statistics.median(taken_off["medians"]), least - min(taken_off["mins"])
        baseline = wanted.baseline
        if isinstance(baseline, str):
            baseline = statistics.median(self.measured[baseline]["medians"]) * wanted.times
        ratio = median / baseline if baseline else None  # against nothing there is no ratio
        meets = None
        if wanted.target is not None and ratio is not None:
            meets = ratio <= wanted.target if wanted.bound == "most" else ratio >= wanted.target
        return {"name": wanted.name, "unit": value["unit"], "median": median, "min": least,
                "baseline": baseline, "ratio": ratio, "target": wanted.target, "bound": wanted.bound, "meets": meets}


def seconds_in(out, pattern):
    """The time that a program says its work took."""
    found = re.findall(pattern, out, flags=re.M)
    if len(found) != 1:
        raise Failed(f"one line with seconds was expected: {out}")
    return {"name": "time_s", "unit": "s", "median": float(found[0]), "min": float(found[0])}


def first_line(path, key):
    for line in Path(path).read_text().splitlines():
        if line.startswith(key):
            return line.split(":", 1)[1].strip()
    return "unknown"


def about():
    """The machine, and the commit that was measured."""
    root = Path(__file__).resolve().parent.parent
    git = lambda *a: subprocess.run(["git", "-C", root, *a], capture_output=True, text=True, check=False).stdout.strip()
    commit = git("rev-parse", "--short=12", "HEAD") or "unknown"
    if git("status", "--porcelain", "--", ".", ":!docs/results.md", ":!docs/design/model-results.md", ":!docs/design/model.svg"):
        commit += ", with changes"
    return {"machine": first_line("/proc/cpuinfo", "model name"), "cores": len(os.sched_getaffinity(0)),
            "memory": f"{int(first_line('/proc/meminfo', 'MemTotal').split()[0]) >> 20} GiB", "kernel": platform.release(),
            "commit": commit, "date": git("show", "-s", "--format=%cs", "HEAD") or "unknown",
            "load": f"{os.getloadavg()[0]:.1f} at the start"}


def number(value):
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def print_table(rows):
    titles = ("what", "unit", "median", "min", "baseline", "ratio", "target", "meets")
    sign = {"most": "<=", "least": ">="}
    cells = [(r["name"], r["unit"], number(r["median"]), number(r["min"]), number(r["baseline"]), number(r["ratio"]),
              "-" if r["target"] is None else f"{sign[r['bound']]} {r['target']:g}",
              {True: "yes", False: "NO", None: "-"}[r["meets"]]) for r in rows]
    widths = [max(map(len, column)) for column in zip(titles, *cells)]
    for line in (titles, tuple("-" * w for w in widths), *cells):
        left = [text.ljust(w) for text, w in zip(line[:2], widths)]
        right = [text.rjust(w) for text, w in zip(line[2:], widths[2:])]
        print("  ".join(left + right))


def show_progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
    elif text:
        print(text, file=sys.stderr, flush=True)


def run_group(group, build, quick, rows, failures):
    runner = Runner(build, quick)
    rounds = 1 if quick else group.rounds
    for turn in range(rounds):
        for program in group.programs:
            show_progress(f"{group.name}: {' '.join(program.command)} ({turn + 1} of {rounds})")
            try:
                runner.run(program)
            except Failed as e:
                failures.append(f"{group.name}: {' '.join(program.command)}: {e}")
                return
    try:
        rows.extend({"group": group.name, **runner.row(wanted)} for wanted in group.rows)
    except KeyError as e:
        failures.append(f"{group.name}: nothing was measured as {e}")


def arguments():
    parser = argparse.ArgumentParser(description="Runs the benchmarks; groups: " + ", ".join(g.name for g in GROUPS))
    parser.add_argument("--build", type=Path, default=Path("build"), help="build folder (default: %(default)s)")
    parser.add_argument("--only", action="append", metavar="NAME",
                        help="only groups whose name contains NAME; may be repeated")
    parser.add_argument("--all", action="store_true", help="all rows, in all rounds; else those that have a target or that a reader needs")
    parser.add_argument("--list", action="store_true", help="only tell what would be measured")
    parser.add_argument("--quick", action="store_true", help="each program once and short: shows that all works")
    wanted = parser.parse_args()
    groups = [g for g in GROUPS if not wanted.only or any(name in g.name for name in wanted.only)]
    if not groups:
        parser.error(f"no group is named {', '.join(wanted.only)}; there are: " + ", ".join(g.name for g in GROUPS))
    if not (wanted.all or wanted.only or wanted.quick):
        groups = [short for group in groups if (short := group.in_short())]
    if wanted.list:
        for group in groups:
            print(f"{group.name}: {len(group.programs)} programs, {group.rounds} rounds, {len(group.rows)} rows")
        parser.exit()
    if not (wanted.build / "bench").is_dir():
        parser.error(f"{wanted.build} holds no benchmarks; `make build` makes them")
    return wanted, groups


def main():
    wanted, groups = arguments()
    os.environ.setdefault("QUIRE_HOST_FRAMES", "0")  # nodes stand for hosts; a program of the suite that is about one host says so
    facts = about()
    facts["complete"] = not wanted.only and not wanted.quick
    for key in ("machine", "cores", "memory", "kernel", "commit", "date", "load"):
        print(f"{key:<8} {facts[key]}", flush=True)
    if wanted.quick:
        print("quick    once and short: the figures show little")
    rows, failures = [], []
    for group in groups:
        run_group(group, wanted.build.resolve(), wanted.quick, rows, failures)
    show_progress("")
    print()
    if rows:
        print_table(rows)
    results = wanted.build / "bench" / "results.json"
    results.write_text(json.dumps({"about": facts, "failures": failures, "rows": rows}, indent=1) + "\n")
    missed = [r["name"] for r in rows if r["meets"] is False]
    promised = sum(r["target"] is not None for r in rows)
    print(f"\n{promised - len(missed)} of {promised} targets are met; written to {results}")
    for name in missed:
        print(f"  missed: {name}")
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
