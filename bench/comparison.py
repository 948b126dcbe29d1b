# SPDX-License-Identifier: BSD-3-Clause
"""What the commands of `quire bench` have in common: their options, starting programs, telling what goes on, and the three outputs: tables on the
screen, JSON, and one HTML page.
"""
import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import tables
from processes import Failed, output_of

LIMIT_S = 600


class Comparison:
    """Where the programs are, and whether each thing is done once and short."""

    def __init__(self, wanted):
        self.programs, self.quire, self.applications, self.quick = wanted.programs, wanted.quire, wanted.applications, wanted.quick
        self.began = time.monotonic()

    def say(self, text):
        print(f"[{time.monotonic() - self.began:4.0f} s] {text}", file=sys.stderr, flush=True)

    def run(self, command):
        return output_of(command, limit_s=LIMIT_S)

    def measured(self, command):
        """The lines of JSON of a program, by name."""
        return {row["name"]: row for row in map(json.loads, filter(str.strip, self.run(command).splitlines()))}


def machine():
    name = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                 if line.startswith("model name")), "unknown")
    root = Path(__file__).resolve().parent
    commit = subprocess.run(["git", "-C", root, "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return {"processor": name, "cores": len(os.sched_getaffinity(0)), "kernel": platform.release(),
            "commit": commit.stdout.strip() or "installed", "load": os.getloadavg()[0], "date": time.strftime("%Y-%m-%d")}


def main(name, about, measure, page):
    """The command `quire bench NAME`. measure(wanted) gives all that was found, by name; `page` has TITLE, HEADING, ABOUT and tables(found)."""
    parser = argparse.ArgumentParser(prog=f"quire bench {name}", description=about)
    parser.add_argument("--quick", action="store_true", help="each thing once and short, in about two minutes")
    parser.add_argument("--output", type=Path, default=Path.cwd(), help=f"folder for {name}.json and .html (default: here)")
    for hidden in ("--programs", "--applications", "--quire"):
        parser.add_argument(hidden, type=Path, required=True, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    try:
        wanted.output.mkdir(parents=True, exist_ok=True)
        found = {"machine": machine(), "quick": wanted.quick, **measure(wanted)}
    except (Failed, OSError, ValueError) as e:
        print(f"quire bench {name}: {e}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    all_tables = list(page.tables(found))
    (wanted.output / f"{name}.json").write_text(json.dumps(found, indent=1))
    (wanted.output / f"{name}.html").write_text(tables.html(found, page.TITLE, page.HEADING, page.ABOUT, all_tables))
    print(tables.text(found, all_tables))
    print(f"written: {wanted.output / f'{name}.json'}, {wanted.output / f'{name}.html'}")
    return 0
