# SPDX-License-Identifier: BSD-3-Clause
"""SOR and the ray tracer on up to 12 nodes, as Kerrighed and Plurix were compared ("A Comparison of Kerrighed and Plurix", section 4): in virtual time by
quire_model, and on two nodes of this machine. plurix.py and kerrighed.py say which ways of sharing are measured, and what is published of their system.
"""
import concurrent.futures
import json
import os
import statistics
from typing import NamedTuple

from comparison import Comparison
from processes import Failed
from tables import Table, lines, number

SOR_NODES, RAY_NODES = (1, 2, 4, 8, 12), (1, 2, 3, 4, 6, 8, 10, 12)
SOR_SIZES = (2048, 3584, 4096, 5068, 6144, 7168)
RAY_SIZES = ((2048, 1536), (4096, 3072), (5792, 4344))
# What the serial programs take here; fixed, so that the same commit gives the same figures on every machine.
CELL_NS, PIXEL_NS = 2, 1343
# How much faster than an Athlon XP 2500+ a core of today computes is assumed: no times are in the paper.
SLOWER = 4
MODEL_ITERATIONS = 3  # of SOR: each is like the others
ENOUGH_S = 15  # a program that has run so long is not run again


class Prices(NamedTuple):
    key: str
    title: str
    options: tuple
    slower: int  # processors, than those of today


PRICES = (Prices("paper", f"Fast Ethernet, processors {SLOWER} times slower than today's", ("--network", "ethernet100"), SLOWER),
          Prices("gigabit", "gigabit Ethernet, the same processors", ("--network", "gigabit"), SLOWER),
          Prices("today", "100 Gbit/s, processors of today", ("--network", "ib"), 1))


class Way(NamedTuple):
    """How the arrays are shared: in the model, and by the programs (None: not measured)."""
    key: str
    title: str
    model: tuple
    program: tuple = None
    job: tuple = ()
    environment: tuple = ()  # NAME=VALUE of the job


SEQUENTIAL = Way("sequential", "sequential", ("--consistency", "sequential"), ("--consistency", "sequential"))
# What the paper's systems have: all comes by page faults, one by one.
PLAIN = Way("plain", "sequential, by faults alone", ("--consistency", "sequential", "--no-hints", "--no-read-ahead"))


class Application(NamedTuple):
    name: str
    title: str
    nodes: tuple
    sizes: tuple  # of the paper
    few: tuple    # with --quick
    reference: tuple  # the size that bench/run.py looks at, by its place, in full and with --quick

    def label(self, size):
        return f"{size[0]} x {size[1]}" if isinstance(size, tuple) else f"{size} x {size}"

    def modelled(self, size, slower):
        if self.name == "sor":
            return ("--app", "sor", "--sor-size", size, "--sor-cell-bytes", 4, "--sor-iterations", MODEL_ITERATIONS, "--sor-cell-ns", CELL_NS * slower)
        return ("--app", "raytracer", "--raytracer-papers-scene", "--raytracer-width", size[0], "--raytracer-height", size[1],
                "--raytracer-pixel-ns", PIXEL_NS * slower)

    def arguments(self, size):
        if self.name == "sor":
            return ("--cell", "float", "--size", size, "--iterations", 10)
        return ("--scene", "paper", "--samples", 1, "--width", size[0], "--height", size[1])


SOR = Application("sor", "SOR", SOR_NODES, SOR_SIZES, (512,), (2, 0))
RAY = Application("raytracer", "ray tracer", RAY_NODES, RAY_SIZES, ((256, 192),), (0, 0))
APPLICATIONS = (SOR, RAY)


class Published(NamedTuple):
    system: str
    figure: int
    best: float  # speed-up on 12 nodes


class Evaluation(Comparison):
    def __init__(self, wanted, ways):
        super().__init__(wanted)
        self.ways = ways
        self.left_out = []

    def sizes(self, application):
        return application.few if self.quick else application.sizes

    # ---- In virtual time

    def one_model(self, application, size, prices, way):
        nodes = ",".join(map(str, application.nodes))
        out = self.run([self.programs / "quire_model", "--json", *application.modelled(size, prices.slower), *prices.options, *way.model, "--nodes", nodes])
        return [{"application": application.name, "size": application.label(size), "prices": prices.key, "way": way.key, "nodes": r["nodes"],
                 "time_s": r["time_s"], "speed_up": r["speed_up"], "messages": r["messages"], "bytes": r["bytes"], "dooms": r["counters"]["dooms"]}
                for r in map(json.loads, out.splitlines())]

    def modelled(self):
        """A run at a time on each core, the longest first."""
        cases = [(a, s, p, w) for a in APPLICATIONS for s in reversed(self.sizes(a)) for p in PRICES for w in self.ways]
        rows = []
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            pending = [pool.submit(self.one_model, *case) for case in cases]
            try:
                for i, done in enumerate(pending):
                    rows += done.result()
                    if i % 6 == 0:
                        self.say(f"in virtual time: {i + 1} of {len(cases)}")
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return rows

    # ---- On this machine

    def times_of(self, command, checksum):
        """Seconds of some runs: median and least. All must have the same result."""
        times, first = [], None
        while not times or (not self.quick and len(times) < 3 and sum(times) < ENOUGH_S):
            report = json.loads(self.run(command).splitlines()[-1])
            first = first or report
            if report["checksum"] != (checksum or first["checksum"]):
                raise Failed(f"{' '.join(map(str, command))} gives {report['checksum']} instead of {checksum or first['checksum']}")
            times.append(report["time_s"])
        return {"time_s": statistics.median(times), "least_s": min(times), "checksum": first["checksum"]}

    def real(self):
        """Serial, and each way on one node and on two; all results are those of the serial program."""
        rows = []
        for application in APPLICATIONS:
            program = self.applications / application.name
            if not program.exists():
                self.left_out.append(f"{application.title} on this machine")
                continue
            for size in self.sizes(application):
                arguments = ["--json", *application.arguments(size)]
                about = {"application": application.name, "size": application.label(size)}
                self.say(f"{application.title} {application.label(size)} on this machine")
                serial = self.times_of([f"{program}_serial", *arguments], None)
                rows.append({**about, "way": "serial", "nodes": 0, **serial})
                for way in self.ways:
                    if way.program is None:
                        continue
                    for nodes in (1, 2):
                        command = [*(("env", *way.environment) if way.environment else ()), self.quire, "run", "-n", nodes, *way.job, program, *arguments, *way.program]
                        rows.append({**about, "way": way.key, "nodes": nodes, **self.times_of(command, serial["checksum"])})
        return rows


def to_sequential(rows, application, size, prices, way):
    """How much faster the most nodes are than one that shares nothing by transactions."""
    times = {(r["way"], r["nodes"]): r["time_s"] for r in rows if (r["application"], r["size"], r["prices"]) == (application, size, prices)}
    return times[SEQUENTIAL.key, 1] / times[way, max(n for _, n in times)]


def curves(rows):
    """Of rows of the model: (nodes, speed-up) by application, size, prices, way."""
    found = {}
    for r in rows:
        found.setdefault((r["application"], r["size"], r["prices"], r["way"]), []).append((r["nodes"], r["speed_up"]))
    return found


def turns_back(curve):
    """The number of nodes after which more of them are slower; None if more are always faster."""
    best = max(curve, key=lambda p: p[1])[0]
    return best if best != curve[-1][0] else None


def best_of(rows, application, prices, way):
    """The best speed-up on the most nodes, over all sizes; and the size."""
    last = [(curve[-1][1], size) for (a, size, p, w), curve in curves(rows).items() if (a, p, w) == (application, prices, way)]
    return max(last)


def measured(found):
    """What bench/run.py takes for its rows."""
    rows = []

    def add(name, unit, value):
        rows.append({"name": name, "unit": unit, "median": value, "min": value})

    for application in APPLICATIONS:
        for prices in PRICES:
            for way in found["ways"]:
                add(f"{application.name} {prices.key} {way}", "speed-up", best_of(found["model"], application.name, prices.key, way)[0])
    for r in found["real"]:
        if r["size"] == found["reference"][r["application"]]:
            rows.append({"name": f"{r['application']} {r['way']} {r['nodes']}", "unit": "s", "median": r["time_s"], "min": r["least_s"]})
    return rows


def measure(wanted, ways, published):
    e = Evaluation(wanted, ways)
    found = {"ways": {w.key: w.title for w in ways}, "published": {a: [p._asdict() for p in of] for a, of in published.items()}, "slower": SLOWER,
             "reference": {a.name: a.label(e.sizes(a)[a.reference[1 if e.quick else 0]]) for a in APPLICATIONS},
             "model": e.modelled(), "real": e.real(), "left_out": e.left_out}
    return {**found, "measured": measured(found)}


# ---- Tables

def figures(found, application, prices):
    """Speed-ups by nodes, a row for each way and size; a picture for each way."""
    by = {key: curve for key, curve in curves(found["model"]).items() if key[0] == application.name and key[2] == prices.key}
    sizes = list(dict.fromkeys(size for _, size, _, _ in by))[::-1]
    rows, pictures = [], []
    for way, title in found["ways"].items():
        for size in sizes:
            curve = by[application.name, size, prices.key, way]
            turn = turns_back(curve)
            rows.append([f"{title}, {size}", *(number(s) for _, s in curve), "no" if turn is None else f"after {turn}",
                         number(to_sequential(found["model"], application.name, size, prices.key, way))])
        pictures.append((title, lines({size: by[application.name, size, prices.key, way] for size in sizes}, "nodes", "speed-up")))
    theirs = ", ".join(f"{p['system']} {p['best']} (Figure {p['figure']})" for p in found["published"][application.name])
    most = application.nodes[-1]
    return Table(f"{application.title}: {prices.title}", f"speed-up against one node of its own, in virtual time. Published, the best on {most} nodes: {theirs}",
                 ["way, size", *map(str, application.nodes), "turns back", f"{most} nodes to 1 sequential"], rows, pictures)


def bests(found):
    rows = []
    for application in APPLICATIONS:
        theirs = ", ".join(f"{p['best']} ({p['system']})" for p in found["published"][application.name])
        for way, title in found["ways"].items():
            best = [best_of(found["model"], application.name, p.key, way) for p in PRICES]
            rows.append([f"{application.title}, {title}", *(f"{number(s)} ({size})" for s, size in best), theirs])
    return Table("Best speed-ups", "on 12 nodes, over all sizes (which of them)", ["application, way", *(p.title for p in PRICES), "published"], rows)


def two_nodes(found):
    by = {(r["application"], r["size"], r["way"], r["nodes"]): r for r in found["real"]}
    model = {(r["application"], r["size"], r["way"], r["prices"], r["nodes"]): r["speed_up"] for r in found["model"]}
    rows = []
    for application in APPLICATIONS:
        for size in dict.fromkeys(r["size"] for r in found["real"] if r["application"] == application.name):
            serial = by[application.name, size, "serial", 0]
            for way, title in found["ways"].items():
                if (application.name, size, way, 2) not in by:
                    continue
                one, two = (by[application.name, size, way, n]["time_s"] for n in (1, 2))
                first = by[application.name, size, SEQUENTIAL.key, 2]["time_s"]
                rows.append([f"{application.title}, {size}, {title}", number(serial["time_s"]), number(one), number(two), number(one / two),
                             number(model[application.name, size, way, "today", 2]), number(two / first)])
    return Table("Two nodes of this machine", "seconds: median. Each result is that of the serial program. Speed-up: against one node; last but one: the model's at 100 "
                 "Gbit/s",
                 ["application, size, way", "serial", "1 node", "2 nodes", "speed-up", "the model's", "to sequential"], rows)


def tables(found):
    for application in APPLICATIONS:
        for prices in PRICES:
            yield figures(found, application, prices)
    yield bests(found)
    if found["real"]:  # an installed tree has no applications
        yield two_nodes(found)
