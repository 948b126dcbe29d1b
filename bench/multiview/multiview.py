#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sharing below a page, after the evaluation of Millipage (Figures 5 to 7, Tables 1 and 2): what views cost, faults on minipages, five applications
with pages and minipages on this machine and on more nodes in virtual time; prints tables, and writes multiview.json and multiview.html. Started by
`quire bench multiview`.
"""
import json
import re
import statistics
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
sys.path.append(str(Path(__file__).resolve().parent.parent))
import page  # noqa: E402
from comparison import Comparison, main  # noqa: E402
from processes import Failed  # noqa: E402

TRANSPORTS = ("shm", "tcp")
PAGE = 4096


class Application(NamedTuple):
    name: str
    full: tuple
    quick: tuple
    element: int  # bytes that nodes use by themselves
    size: tuple   # for the model: molecules, rows ..., in full and with --quick
    rounds: tuple


APPLICATIONS = (
    Application("sor", ("--size", "32768", "--columns", "32", "--iterations", "10"), ("--size", "2048", "--columns", "32", "--iterations", "5"), 256,
                (32768, 2048), (10, 5)),
    Application("is", ("--class", "millipage"), ("--class", "S"), 256, (512, 2048), (10, 10)),
    Application("water", (), ("--steps", "2"), 672, (512, 512), (10, 2)),
    Application("lu", ("--size", "1024"), ("--size", "256"), 8192, (1024, 256), (1, 1)),
    Application("tsp", (), ("--size", "12", "--alone", "7"), 148, (0, 0), (1, 1)),  # as many tours as the run has locked for
)
CHUNKS = range(1, 7)  # molecules; the sixth fills a page
MODEL_NODES = 8
# What one node of the paper computed in this machine's second is not published. It decides how much the prices weigh.
SLOWER = 30
SERIES = (("shared memory", ("--prices", "shm"), 1), ("TCP", ("--prices", "tcp"), 1), ("published prices", ("--prices", "paper"), SLOWER),
          ("published prices, 500 us polling", ("--prices", "paper", "--polling"), SLOWER))


def joined(rows):
    """Of several runs of one thing: the median of their medians, and the least of all."""
    return {"median": statistics.median(r["median"] for r in rows), "min": min(r["min"] for r in rows), "unit": rows[0]["unit"]}


class Evaluation(Comparison):
    def __init__(self, wanted):
        super().__init__(wanted)
        self.rounds = 1 if self.quick else 5
        self.left_out = []

    def job(self, nodes, *command, transport="shm", stats=None):
        return [self.quire, "run", "-n", nodes, "--transport", transport, *(["--stats=" + stats] if stats else []), *command]

    def several(self, command, rounds=None):
        """The same program several times over, by what it measures."""
        runs = [self.measured(command) for _ in range(rounds or self.rounds)]
        return {name: joined([r[name] for r in runs]) for name in runs[0]}

    # ---- Figure 5

    def overheads(self):
        self.say("views in one process")
        few = ["--largest", "1MB", "--views", 64, "--rounds", 2] if self.quick else ["--rounds", 9]
        found = self.measured([self.programs / "multiview_overhead", *few])
        rows = []
        for name, row in found.items():
            what, views, size, how, kind = name.split()
            if kind == "ratio":
                least = found[f"{what} {views} {size} {how} least"]["median"]
                rows.append({"what": what, "views": int(views), "bytes": int(size), "skewed": how == "skewed", "ratio": row["median"], "least": least,
                             "us": found[f"{what} {views} {size} {how} time"]["median"]})
        return rows

    # ---- Table 1

    def costs(self):
        """By transport, on two nodes; `machine`: what no transport changes; `nodes`: on more of them, each with less of a core."""
        few = ["--units", 256, "--rounds", 2] if self.quick else []
        count = ["--count", 200 if self.quick else 5000]
        found = {"by_transport": {}, "nodes": {}}
        for transport in TRANSPORTS:
            self.say(f"basic costs: {transport}")
            here = self.several(self.job(2, self.programs / "multiview_costs", *few, transport=transport))
            here.update(self.several(self.job(2, self.programs / "quire_sync", *count, transport=transport)))
            for size in (512, 1024, PAGE):
                floor = self.several([self.programs / "pair", self.programs / "floor_exchange", "--transport", transport, "--bytes", size, *count])
                here.update({"exchange": floor["exchange"], f"exchange {size}": floor["page_exchange"]})
            found["by_transport"][transport] = here
        for nodes in (3,) if self.quick else (4, 8):
            self.say(f"basic costs: {nodes} nodes")
            small = ["--units", 64, "--rounds", 2]
            here = self.several(self.job(nodes, self.programs / "multiview_costs", *small), 1)
            here.update(self.several(self.job(nodes, self.programs / "quire_sync", "--count", 100), 1))
            found["nodes"][str(nodes)] = here
        self.say("basic costs: the machine")
        faults = self.measured([self.programs / "page_update_faults", "--rounds", 1, "--pages", 2048, "--limit", 2])
        diffs = self.measured([self.programs / "quire_diff", "--rounds", 20])
        found["machine"] = {"access fault": faults["memfd userfault fault: to the handler"],
                            "set protection": faults["memfd userfault 1 page, 1 thread: none to read"], "diff": diffs["encode_64_words_cold"]}
        found["model"] = {label: {r["name"]: r["us"] for r in self.lines([self.programs / "multiview_model", *options])}
                          for label, options, _ in SERIES[:3]}
        return found

    def lines(self, command):
        return [json.loads(line) for line in self.run(command).splitlines() if line.strip()]

    # ---- Applications

    def sharings_of(self, application):
        """What --sharing of it takes: words, and the largest chunk."""
        text = self.run([self.applications / application.name, "--help"])
        line = re.search(r"--sharing TEXT\s+([^\n]*)", text)
        words = set(re.findall(r"\b(pages|minipages|composed|adaptive)\b", line.group(1))) if line else {"pages"}
        most = re.search(r"chunk=N \(N of them, 1 to (\d+)\)", line.group(1)) if line else None
        return words, int(most.group(1)) if most else 0

    def one_run(self, application, variant, nodes, sharing=None):
        """One report, with counters of the whole job."""
        arguments = ["--json", *(application.quick if self.quick else application.full)]
        path = self.applications / (application.name + variant)
        if nodes == 0:
            command = [path, *arguments, *(["--threads", 2] if variant == "_openmp" else [])]
            return {**json.loads(self.run(command).splitlines()[-1]), "counters": {}, "regions": []}
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            report = json.loads(self.run(self.job(nodes, path, *arguments, *(["--sharing", sharing] if sharing else []), stats=file.name)).splitlines()[-1])
            told = json.loads(Path(file.name).read_text())
        if report.get("matches") is False:
            raise Failed(f"{application.name} with {sharing} gives a wrong result")
        return {**report, "counters": told["total"], "regions": told["regions"]}

    def application(self, application, sharings):
        """Each way to run it in turn, round by round: a round's speed-ups are against the serial run in it."""
        ways = {"serial": ("_serial", 0, None), "OpenMP, 2 threads": ("_openmp", 0, None), "1 node": ("", 1, None)}
        ways.update({sharing: ("", 2, sharing if len(sharings) > 1 else None) for sharing in sharings})
        runs = {way: [] for way in ways}
        for i in range(self.rounds):
            self.say(f"{application.name} ({i + 1} of {self.rounds})")
            for way, how in ways.items() if i % 2 == 0 else reversed(ways.items()):
                runs[way].append(self.one_run(application, *how))
        rows = []
        for way, all_of_it in runs.items():
            speed_ups = [s["time_s"] / r["time_s"] for s, r in zip(runs["serial"], all_of_it)]
            row = {"application": application.name, "way": way, "nodes": ways[way][1], "time_s": statistics.median(r["time_s"] for r in all_of_it),
                   "min_s": min(r["time_s"] for r in all_of_it), "speed_up": statistics.median(speed_ups), "best": max(speed_ups)}
            for counter in ("messages_sent", "bytes_sent", "read_faults", "write_faults", "upgrade_faults", "competing_requests", "barriers", "locks"):
                row[counter] = statistics.median(r["counters"].get(counter, 0) for r in all_of_it)
            # What the program tells of its computation alone.
            row["computing"] = {what: statistics.median(r.get(what, 0) for r in all_of_it) for what in ("messages", "bytes", "read_faults", "write_faults")}
            row["region_bytes"] = sum(r["bytes"] for r in all_of_it[0]["regions"] if r["region"] != 0)
            row["problem"] = all_of_it[0]["problem"]
            rows.append(row)
        return rows

    def programs_of(self):
        rows = []
        for application in APPLICATIONS:
            if not (self.applications / application.name).exists():
                self.left_out.append(f"{application.name} is not built")
                continue
            words, most = self.sharings_of(application)
            sharings = [w for w in ("pages", "minipages") if w in words]
            if application.name == "water":  # Figure 7
                sharings += [f"chunk={c}" for c in CHUNKS[1:] if c <= most] + [w for w in ("composed", "adaptive") if w in words]
                refused = [str(c) for c in CHUNKS[1:-1] if c > most]
                if refused:
                    self.left_out.append(f"WATER takes no chunks of {' or '.join(refused)} molecules: a minipage has at most half a page (in virtual time they "
                                         "have one each)")
                if "adaptive" not in words:
                    self.left_out.append("WATER takes no --sharing adaptive yet")
            rows += self.application(application, sharings)
        return rows

    # ---- Virtual time

    def modelled(self, rows):
        """Speed-ups on 1 to 8 nodes; of WATER by chunk as well. What the serial program took here is what it computes there."""
        found = []
        few = 1 if self.quick else 0
        for application in APPLICATIONS:
            own = {r["way"]: r for r in rows if r["application"] == application.name}
            if not own:
                continue
            self.say(f"{application.name} in virtual time")
            size = application.size[few] or max(int(own["pages"]["locks"]), 1)
            ways = {"pages": (), "minipages": ("--sharing", "minipages")} if "minipages" in own else {"pages": ()}
            if application.name == "water":
                ways.update({f"chunk={c}": ("--sharing", "minipages", "--chunk", c) for c in CHUNKS[1:-1]})
                ways["composed"] = ("--sharing", "composed")
            for label, prices, slower in SERIES:
                for way, options in ways.items():
                    microseconds = max(round(own["serial"]["time_s"] * 1e6 * slower), 1)
                    runs = self.lines([self.programs / "multiview_model", "--app", application.name, "--nodes", MODEL_NODES, "--size", size,
                                       "--rounds", application.rounds[few], "--serial-us", microseconds, *prices, *options])
                    for r in runs:
                        found.append({"application": application.name, "prices": label, "way": way, "speed_up": runs[0]["time_s"] / r["time_s"], **r})
        return found

    # ---- False sharing, sweeps

    def shared(self):
        few = ["--mebibytes", 4, "--rounds", 2, "--increments", 100_000] if self.quick else []
        found = {}
        for transport in TRANSPORTS:
            self.say(f"false sharing and sweeps: {transport}")
            found[transport] = self.several(self.job(2, self.programs / "multiview_sharing", *few, transport=transport))
        return found


def targets(costs, shared):
    """Name, what was measured, bound, limit."""
    by = costs["by_transport"]
    wanted = (("10^6 increments of counters 64 bytes apart, in minipages: time, to private memory", shared["shm"], "counter", "most", 1.05),
              ("the same: messages", shared["shm"], "counter minipages messages", "most", 8),
              ("read fault, 128 bytes, to that of a page, shared memory", by["shm"], "read 128", "most", 1.0),
              ("read fault, 128 bytes, to that of a page, TCP", by["tcp"], "read 128", "most", 0.95),
              ("sweep over minipages of 256 bytes, to pages", shared["shm"], "sweep minipages", "least", 0.25),
              ("sweep in the natural view, to pages", shared["shm"], "sweep natural", "least", 0.9))
    rows = []
    for name, found, key, bound, limit in wanted:
        ratio = key + " ratio" in found
        median, least = found[key + " ratio" * ratio]["median"], found[key + " least"]["median"] if ratio else found[key]["min"]
        meets = median <= limit if bound == "most" else median >= limit
        rows.append({"name": name, "median": median, "least": least, "bound": bound, "target": limit, "meets": meets})
    return rows


def measure(wanted):
    e = Evaluation(wanted)
    overheads, costs, shared = e.overheads(), e.costs(), e.shared()
    rows = e.programs_of()
    return {"overheads": overheads, "costs": costs, "applications": rows, "model": e.modelled(rows), "sharing": shared,
            "targets": targets(costs, shared), "elements": {a.name: a.element for a in APPLICATIONS}, "slower": SLOWER, "left_out": e.left_out}


if __name__ == "__main__":
    sys.exit(main("multiview", __doc__.split("Started")[0], measure, page))
