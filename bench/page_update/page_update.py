#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the ways to update a page atomically (ParADE, Table 1, Figures 10 to 15) on this machine: prints tables, and
writes page-update.json and page-update.html. Started by `quire bench page-update`.
"""
import json
import math
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
sys.path.append(str(Path(__file__).resolve().parent.parent))
import fetch  # noqa: E402
import page  # noqa: E402
from comparison import Comparison, main  # noqa: E402
from processes import Failed  # noqa: E402

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
# What a report of an application tells beside its result.
NOT_RESULTS = ("bytes", "messages", "read_faults", "write_faults", "set_up_s", "time_s", "nodes", "threads", "program",
               "variant", "problem")
ENOUGH_S = 20  # an application that has run so long is not run again


class PageUpdates(Comparison):
    def job(self, pool, detector, nodes, *command, stats=None):
        pool, _, link = pool.partition(", ")
        options = ["--pool", pool, "--detect", detector, *(["--set", "pool_link=" + link] if link else []),
                   *(["--stats=" + stats] if stats else [])]
        return [self.quire, "run", "-n", nodes, *options, *command]

    def costs(self):
        self.say("basic operations")
        return self.measured([self.programs / "page_update_costs", "--rounds", 10 if self.quick else 100])

    def faults(self):
        self.say("faults and permissions by pool and detector")
        few = ["--rounds", 1] if self.quick else []
        return self.measured([self.programs / "page_update_faults", *few])

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
                    accesses = self.run(command).splitlines()
                    nodes = [(Path(traces) / f"quire.{n}.faults").read_text().splitlines() for n in (0, 1)]
                found[pool, detector].append(fetch.medians(accesses, *nodes))
        default = found[FETCH_PAIRS[0]]
        return [{"pool": pool, "detector": detector, "parts": [statistics.median(parts) for parts in zip(*(r[0] for r in rows))],
                 "total": statistics.median(r[1] for r in rows),
                 "ratio": statistics.median(r[1] / d[1] for r, d in zip(rows, default))} for (pool, detector), rows in found.items()]

    def properties(self):
        self.say("properties of the pools")
        return list(self.measured([self.programs / "page_update_properties"]).values())

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
                    self.run(command)
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
                report = json.loads(self.run(command).splitlines()[-1])
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


def measure(wanted):
    c = PageUpdates(wanted)
    found = {"costs": c.costs(), "faults": c.faults(), "properties": c.properties(), "fetches": c.fetches(), "starts": c.starts()}
    rows, not_built = c.programs_of()
    return {**found, "applications": rows, "left_out": [name + " is not built" for name in not_built]}


if __name__ == "__main__":
    sys.exit(main("page-update", __doc__.split("Started")[0], measure, page))
