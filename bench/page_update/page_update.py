#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the ways to update a page atomically (ParADE, Table 1, Figures 10 to 15) on this machine: prints tables, and
writes page-update.json and page-update.html. Started by `quire bench page-update`.
"""
import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
sys.path.append(str(Path(__file__).resolve().parent.parent))  # installed, all stand in one folder
import fetch  # noqa: E402
import page  # noqa: E402
from processes import Failed, output_of  # noqa: E402

POOLS = ("memfd", "posix", "mdup", "file", "sysv", "fork")
PAIRS = tuple((p, d) for d in ("userfault", "segv") for p in POOLS if d == "segv" or p not in ("file", "sysv"))
# Fetches are also measured where the service thread takes the faults, and where requests to the engine go as in ParADE.
FETCH_PAIRS = (*PAIRS, ("memfd", "thread"), ("fork", "thread"), ("fork, socket", "userfault"), ("fork, socket", "segv"))
# Name, arguments in full, arguments with --quick (None: left out there). Those that are not built are left out, and said.
APPLICATIONS = (
    ("cg", ("--class", "S"), ("--class", "S")),
    ("cg", ("--class", "W"), None),
    ("cg", ("--class", "A"), None),
    ("ep", ("--class", "W"), ("--class", "S")),
    ("helmholtz", (), ("--iterations", "20")),
    ("md", (), ("--steps", "2")),
    ("sor", ("--size", "2048", "--iterations", "20"), ("--size", "1024", "--iterations", "5")),
)
LIMIT_S = 600
# What a report of an application tells beside its result.
NOT_RESULTS = ("bytes", "messages", "read_faults", "write_faults", "set_up_s", "time_s", "nodes", "threads", "program",
               "variant", "problem")
ENOUGH_S = 20  # an application that has run so long is not run again


def run(command):
    return output_of(command, limit_s=LIMIT_S)


def measured(command):
    return {row["name"]: row for row in map(json.loads, filter(str.strip, run(command).splitlines()))}


class Comparison:
    def __init__(self, programs, quire, applications, quick):
        self.programs, self.quire, self.applications, self.quick = programs, quire, applications, quick
        self.began = time.monotonic()

    def say(self, text):
        print(f"[{time.monotonic() - self.began:4.0f} s] {text}", file=sys.stderr, flush=True)

    def job(self, pool, detector, nodes, *command, stats=None):
        pool, _, link = pool.partition(", ")
        options = ["--pool", pool, "--detect", detector, *(["--set", "pool_link=" + link] if link else []),
                   *(["--stats=" + stats] if stats else [])]
        return [self.quire, "run", "-n", nodes, *options, *command]

    def costs(self):
        self.say("basic operations")
        return measured([self.programs / "page_update_costs", "--rounds", 10 if self.quick else 100])

    def faults(self):
        self.say("faults and permissions by pool and detector")
        few = ["--rounds", 1] if self.quick else []
        return measured([self.programs / "page_update_faults", *few])

    def fetches(self):
        """Figure 10: remote page fetches in parts, by the time stamps of both nodes: medians over rounds of each round's
        medians. The ratio is to the default in the same round, as machines change their speed in between."""
        few = ["--pages", 512, "--rounds", 2] if self.quick else []
        rounds = 2 if self.quick else 7
        found = {pair: [] for pair in FETCH_PAIRS}
        for i in range(rounds):
            for pool, detector in FETCH_PAIRS if i % 2 == 0 else reversed(FETCH_PAIRS):  # nobody is always first
                self.say(f"page fetch: {pool}, {detector} ({i + 1} of {rounds})")
                with tempfile.TemporaryDirectory() as traces:
                    command = self.job(pool, detector, 2, "--set", "read_ahead=0", "--set", f"fault_trace={traces}",
                                       self.programs / "page_update_fetch", *few)
                    accesses = run(command).splitlines()
                    nodes = [(Path(traces) / f"quire.{n}.faults").read_text().splitlines() for n in (0, 1)]
                found[pool, detector].append(fetch.medians(accesses, *nodes))
        default = found[FETCH_PAIRS[0]]
        return [{"pool": pool, "detector": detector, "parts": [statistics.median(parts) for parts in zip(*(r[0] for r in rows))],
                 "total": statistics.median(r[1] for r in rows),
                 "ratio": statistics.median(r[1] / d[1] for r, d in zip(rows, default))} for (pool, detector), rows in found.items()]

    def properties(self):
        self.say("properties of the pools")
        return list(measured([self.programs / "page_update_properties"]).values())

    def starts(self):
        """Seconds to start and end a job of one node with a region, beyond the same without."""
        result = {}
        for pool in POOLS:
            self.say(f"start: {pool}")
            times = {}
            for size in ("4KB", "64MB"):
                command = self.job(pool, "auto", 1, self.programs / "quire_start", "--region", size)
                times[size] = []
                for _ in range(3 if self.quick else 15):
                    start = time.perf_counter()
                    run(command)
                    times[size].append((time.perf_counter() - start) * 1000)
            result[pool] = {size: statistics.median(t) for size, t in times.items()}
        return result

    def programs_of(self):
        """Times of the applications by pool and number of nodes. A program checks its result itself where there is an official
        one; and all pools and detectors must give the same."""
        rows, left_out = [], []
        for name, full, quick in APPLICATIONS:
            path = self.applications / name
            arguments = quick if self.quick else full
            if arguments is None:
                continue
            if not path.exists():
                left_out.append(name)
                continue
            if arguments[:1] == ("--class",):
                name = f"{name} {arguments[1]}"
            for nodes in (1, 2) if self.quick else (1, 2, 4):
                expected = None
                for pool, detector in PAIRS:
                    self.say(f"{name} on {nodes} nodes: {pool}, {detector}")
                    row = self.application(name, path, arguments, pool, detector, nodes)
                    expected = expected or row["result"]
                    if not same_results(row["result"], expected):
                        raise Failed(f"{name} on {nodes} nodes under {pool}, {detector} gives {row['result']} instead of {expected}")
                    rows.append(row)
        return rows, left_out

    def application(self, name, path, arguments, pool, detector, nodes):
        times, starts, counters, result = [], [], {}, None
        while not times or (not self.quick and len(times) < 3 and sum(times) < ENOUGH_S):
            with tempfile.NamedTemporaryFile(suffix=".json") as file:
                command = self.job(pool, detector, nodes, path, "--json", "--threads", 2, *arguments, stats=file.name)
                began = time.perf_counter()
                report = json.loads(run(command).splitlines()[-1])
                whole = time.perf_counter() - began
                counters = json.loads(Path(file.name).read_text() or "{}")
            if report.get("matches") is False:
                raise Failed(f"{name} on {nodes} nodes under {pool}, {detector} gives a wrong result: {report}")
            result = {k: v for k, v in report.items() if k not in NOT_RESULTS}
            times.append(report["time_s"])
            starts.append(whole - report["time_s"])
        total = counters.get("total", {})
        reads = total.get("read_faults", 0)
        return {"application": name, "pool": pool, "detector": detector, "nodes": nodes, "threads": 2,
                "time_s": statistics.median(times), "start_s": statistics.median(starts), "result": result, "read_faults": reads,
                "racing_faults": total.get("racing_faults", 0), "racing_ratio": total.get("racing_faults", 0) / reads if reads else None}


def same_results(a, b):
    """Numbers may differ in their last digits: threads add up in any order."""
    close = lambda x, y: math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-12) if isinstance(x, float) and isinstance(y, float) else x == y
    return a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)


def machine():
    name = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                 if line.startswith("model name")), "unknown")
    root = Path(__file__).resolve().parent
    commit = subprocess.run(["git", "-C", root, "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return {"processor": name, "cores": len(os.sched_getaffinity(0)), "kernel": platform.release(),
            "commit": commit.stdout.strip() or "installed", "load": os.getloadavg()[0], "date": time.strftime("%Y-%m-%d")}


def main():
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(prog="quire bench page-update", description=__doc__.split("Started")[0])
    parser.add_argument("--quick", action="store_true", help="each thing once and short, in about two minutes")
    parser.add_argument("--output", type=Path, default=Path.cwd(), help="folder for page-update.json and .html (default: here)")
    parser.add_argument("--programs", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--applications", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--quire", type=Path, required=True, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    try:
        wanted.output.mkdir(parents=True, exist_ok=True)
        c = Comparison(wanted.programs, wanted.quire, wanted.applications, wanted.quick)
        found = {"machine": machine(), "quick": wanted.quick, "costs": c.costs(), "faults": c.faults(), "properties": c.properties(),
                 "fetches": c.fetches()}
        found["starts"] = c.starts()
        found["applications"], found["left_out"] = c.programs_of()
    except (Failed, OSError, ValueError) as e:
        print(f"quire bench page-update: {e}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    (wanted.output / "page-update.json").write_text(json.dumps(found, indent=1))
    (wanted.output / "page-update.html").write_text(page.html(found, (here / "page.css").read_text()))
    print(page.text(found))
    print(f"written: {wanted.output / 'page-update.json'}, {wanted.output / 'page-update.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
