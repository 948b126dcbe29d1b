#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the applications would cost on 2 to 1,024 nodes (docs/design/model.md): runs quire_model for all of them, prints a table, and
writes model.json and model.svg; with --document also the page model-results.md. Started by `make model`. What it does not know is passed on to quire_model.
"""
import argparse
import concurrent.futures
import json
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
sys.path.append(str(Path(__file__).resolve().parent.parent))
import plot  # noqa: E402
from processes import Failed, output_of  # noqa: E402
from run import about  # noqa: E402

APPLICATIONS = ("sor", "cg", "md", "helmholtz", "ep", "raytracer")
CONSTRUCTS = ("openmp-barrier", "openmp-region", "openmp-sum-gcc", "openmp-sum-clang")
ROUNDS = 20  # of each
WITHOUT_ARRAYS = ("ep", "raytracer")  # whose memory is the heap: sequential consistency alone
CONSISTENCIES = ("sequential", "release")
LIMIT_S = 1200
COLUMNS = (("application", "application"), ("consistency", "consistency"), ("nodes", "nodes"), ("messages", "messages"),
           ("bytes", "bytes"), ("read_faults", "read faults"), ("write_faults", "write faults"), ("time_s", "time, s"),
           ("speed_up", "speed-up"), ("efficiency", "efficiency"))


def runs_of(program, nodes, options, applications=APPLICATIONS):
    """One run at a time on each core, the longest first."""
    cases = [(n, a, c) for n in sorted(nodes, reverse=True) for a in applications for c in CONSISTENCIES
             if a in APPLICATIONS and not (a in WITHOUT_ARRAYS and c == "release") or a in CONSTRUCTS and c == "sequential"]

    def run(case):
        n, application, consistency = case
        command = [program, "--json", "--app", application, "--consistency", consistency, "--nodes", n, *options]
        return json.loads(output_of(command, limit_s=LIMIT_S))

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        pending = [pool.submit(run, case) for case in cases]
        try:
            for done, _ in enumerate(concurrent.futures.as_completed(pending), 1):
                if sys.stderr.isatty():
                    print(f"\r{done} of {len(cases)} runs", end="", file=sys.stderr, flush=True)
            runs = [p.result() for p in pending]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    return sorted(runs, key=lambda r: (applications.index(r["application"]), CONSISTENCIES.index(r["consistency"]), r["nodes"]))


def table(runs):
    show = lambda v: v if isinstance(v, str) else f"{v:,}" if isinstance(v, int) else f"{v:.4g}"
    cells = [[title for _, title in COLUMNS], *([show(r[key]) for key, _ in COLUMNS] for r in runs)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    return "\n".join("  ".join([*(c.ljust(w) for c, w in zip(row[:2], widths)), *(c.rjust(w) for c, w in zip(row[2:], widths[2:]))])
                     for row in cells)


def caption(run):
    p = run["prices"]
    link = f"{p['bandwidth_mbs'] / 1000:g} GB/s links" if p["bandwidth_mbs"] else "links without limit"
    return [f"Network {run['network']}: latency {p['latency_ns'] / 1000:g} us, {link}, {p['send_ns'] / 1000:g} us to send a message, "
            f"{p['receive_ns'] / 1000:g} us to receive one, {p['wake_ns'] / 1000:g} us to wake.",
            "The same problem on all numbers of nodes, one thread each. Speed-up: against one node. By quire_model."]


def by_nodes(runs, key):
    """A table with a row for each application and consistency, and a column for each number of nodes."""
    nodes = sorted({r["nodes"] for r in runs})
    value = {(r["application"], r["consistency"], r["nodes"]): r[key] for r in runs}
    show = lambda v: "" if v is None else f"{v:.3g}" if isinstance(v, float) else f"{v:,}"
    lines = ["| nodes | " + " | ".join(f"{n:,}" for n in nodes) + " |", "| --- |" + " ---: |" * len(nodes)]
    for application, consistency in sorted({(r["application"], r["consistency"]) for r in runs}):
        cells = [show(value.get((application, consistency, n))) for n in nodes]
        lines.append(f"| {plot.TITLES.get(application, application.upper())}, {consistency} | " + " | ".join(cells) + " |")
    return lines


CONSTRUCT_TITLES = {"openmp-barrier": "barrier", "openmp-region": "empty parallel region", "openmp-sum-gcc": "region with a sum, by gcc",
                    "openmp-sum-clang": "region with a sum, by clang"}


def construct_table(constructs):
    """Microseconds of each construct of OpenMP."""
    nodes = sorted({r["nodes"] for r in constructs})
    took = {(r["application"], r["nodes"]): r["time_s"] / ROUNDS * 1e6 for r in constructs}
    return ["| nodes | " + " | ".join(f"{n:,}" for n in nodes) + " |", "| --- |" + " ---: |" * len(nodes),
            *(f"| {CONSTRUCT_TITLES[c]} | " + " | ".join(f"{took[c, n]:.3g}" for n in nodes) + " |" for c in CONSTRUCTS)]


def page(runs, constructs, commit):
    """The text of docs/design/model-results.md."""
    prices = runs[0]["prices"]
    lines = ["# What the model says", "", "Written by `make model` (bench/model/model.py); [model.md](model.md) says what is modelled. The same commit gives the same figures on",
             f"every machine. Commit {commit}, network {runs[0]['network']}.", "", "![Messages, bytes and speed-up](model.svg)"]
    for title, key in (("Speed-up against one node", "speed_up"), ("Messages", "messages"), ("Bytes", "bytes"), ("Time, seconds of virtual time", "time_s")):
        lines += ["", f"## {title}", "", *by_nodes(runs, key)]
    lines += ["", "## Constructs of OpenMP, microseconds of virtual time", "", "A thread on each node. gcc has each thread add to a word of its master's; clang joins the sums of nodes by messages.", "",
              *construct_table(constructs)]
    lines += ["", "## Prices", "", "In nanoseconds (ns), and in 10^6 bytes a second (mbs; 0: no limit).", "", "| price | value |", "| --- | ---: |"]
    lines += [f"| {name} | {value} |" for name, value in prices.items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("Started")[0], epilog="quire_model --help tells the other options")
    parser.add_argument("--build", type=Path, default=Path("build"), help="build folder (default: %(default)s)")
    parser.add_argument("--nodes", default=",".join(str(2 ** i) for i in range(11)), help="numbers of nodes (default: %(default)s)")
    parser.add_argument("--output", type=Path, help="folder for model.json and model.svg (default: bench in the build folder)")
    parser.add_argument("--document", type=Path, metavar="FOLDER", help="write model-results.md and model.svg there as well")
    wanted, options = parser.parse_known_args()
    output = wanted.output or wanted.build / "bench"
    try:
        program, nodes = wanted.build / "bench" / "quire_model", [int(n) for n in wanted.nodes.split(",")]
        runs = runs_of(program, nodes, options)
        constructs = runs_of(program, [n for n in nodes if n > 1], [*options, "--openmp-rounds", str(ROUNDS)], CONSTRUCTS)
        output.mkdir(parents=True, exist_ok=True)
        (output / "model.json").write_text(json.dumps(runs + constructs, indent=1) + "\n")
        (output / "model.svg").write_text(plot.svg(runs, caption(runs[0])))
        if wanted.document:
            facts = about()
            (wanted.document / "model-results.md").write_text(page(runs, constructs, f"{facts['commit']} of {facts['date']}"))
            (wanted.document / "model.svg").write_text(plot.svg(runs, caption(runs[0])))
    except (Failed, OSError, ValueError) as e:
        print(f"model.py: {e}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print(table(runs))
    print(f"written: {output / 'model.json'}, {output / 'model.svg'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
