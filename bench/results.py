#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/results.md from what bench/run.py has measured (build/bench/results.json): machine, date and hash of the commit, and
a table for each group. Started by `make bench`; nobody edits the page by hand. A run that was --quick or --only is refused, unless
--partial is given; then the page says so.
"""
import argparse
import json
import sys
from pathlib import Path

ABOUT = ("machine", "cores", "memory", "kernel", "commit", "date", "load")
SIGN = {"most": "≤", "least": "≥"}
MEETS = {True: "yes", False: "**no**", None: ""}


class Refused(Exception):
    pass


def number(value):
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def cell(text):
    return text.replace("|", "\\|")


def table(rows):
    lines = ["| what | unit | median | min | baseline | ratio | target | meets |",
             "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |"]
    for r in rows:
        target = "" if r["target"] is None else f"{SIGN[r['bound']]} {r['target']:g}"
        cells = (cell(r["name"]), r["unit"], number(r["median"]), number(r["min"]), number(r["baseline"]), number(r["ratio"]), target,
                 MEETS[r["meets"]])
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def by_group(rows):
    groups = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row)
    return groups


def page(results, partial=False):
    """The text of docs/results.md."""
    about, rows, failures = results["about"], results["rows"], results["failures"]
    if failures and not partial:
        raise Refused("a program failed: " + "; ".join(failures))
    if not about["complete"] and not partial:
        raise Refused("this was a run of some groups, or --quick; run bench/run.py without options")
    if not rows:
        raise Refused("nothing was measured")
    promised = [r for r in rows if r["target"] is not None]
    missed = [r for r in promised if not r["meets"]]
    lines = ["# Results", "", "Written by `make bench` (bench/results.py). bench/README.md says what each group measures and against what; the ratio is",
             "median / baseline, and min is the smallest value of all. Nodes are kept apart as if on several hosts (QUIRE_HOST_FRAMES=0), but in the groups",
             "host-frames. The figures are those of one machine and one commit:", "",
             "| | |", "| --- | --- |"]
    lines += [f"| {key} | {cell(str(about[key]))} |" for key in ABOUT]
    if not about["complete"]:
        lines += ["", "**Not a whole run: some groups, or each program once and short. These figures show little.**"]
    lines += ["", f"{len(promised) - len(missed)} of {len(promised)} targets are met."]
    lines += [f"- missed: {cell(r['name'])}" for r in missed]
    lines += [f"- failed: {cell(text)}" for text in failures]
    for group, members in by_group(rows).items():
        lines += ["", f"## {group}", "", *table(members)]
    return "\n".join(lines) + "\n"


def main():
    root = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--build", type=Path, default=Path("build"), help="build folder (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=root / "docs" / "results.md", help="the page (default: docs/results.md)")
    parser.add_argument("--partial", action="store_true", help="also from a run of some groups, or with failures")
    wanted = parser.parse_args()
    measured = wanted.build / "bench" / "results.json"
    try:
        text = page(json.loads(measured.read_text()), wanted.partial)
    except (OSError, ValueError, KeyError, TypeError) as e:
        print(f"results.py: {measured} cannot be used ({e!r}); bench/run.py writes it", file=sys.stderr)
        return 1
    except Refused as e:
        print(f"results.py: {e}; {wanted.output} stays as it is", file=sys.stderr)
        return 1
    wanted.output.write_text(text)
    print(f"written: {wanted.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
