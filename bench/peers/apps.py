#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""SOR and NAS CG on other shared memory systems beside Quire: builds these two for each, runs all in turn, checks every
result, and prints a table.

    bench/peers/apps.py --mpi --argodsm FOLDER --jiajia FOLDER [--work FOLDER] [--rounds 5] [--nodes 2] [--output FILE]

A person has installed the systems in these folders (run_argodsm.sh and run_jiajia.sh say what is expected there). A job
that gives a wrong result, fails, or does not end is counted and told, and its time left out. Variables: MPICXX and
MPIRUN choose the MPI. Exit status: 1 if Quire or OpenMP failed.
"""
import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from processes import Failed, output_of  # noqa: E402

PROBLEMS = {
    "SOR 4096": ("sor", "--size", "4096", "--iterations", "20"),
    "CG S": ("cg", "--class", "S"),
    "CG W": ("cg", "--class", "W"),
    "CG A": ("cg", "--class", "A"),
}
REFERENCE, OURS = "OpenMP", ("Quire", "Quire, release")
GIVEN_UP_AFTER = 2  # jobs without an end


class Systems:
    """How the jobs are started: by name, a function of nodes and of the problem's words."""

    def __init__(self, options, work):
        self.limit_s = options.limit
        self.build = options.build.resolve()
        programs = self.build / "bin"
        quire = (str(programs / "quire"), "run", "--timeout", str(self.limit_s), "-n")
        release = ("--consistency", "release")
        self.jobs = {
            REFERENCE: lambda nodes, app, *words: (str(programs / f"{app}_openmp"), "--threads", str(nodes), *words),
            OURS[0]: lambda nodes, app, *words: (*quire, str(nodes), str(programs / app), *words),
            OURS[1]: lambda nodes, app, *words: (*quire, str(nodes), str(programs / app), *release, *words),
        }
        if options.mpi:
            self.make_apps(work, "mpi", work)
            self.jobs["MPI"] = lambda nodes, app, *words: (
                str(HERE / "mpi_run.sh"), str(nodes), str(work / "mpi-apps" / app), *words)
        if options.argodsm:
            self.make_apps(work, "argodsm", options.argodsm)
            self.jobs["ArgoDSM"] = lambda nodes, app, *words: (
                str(HERE / "mpi_run.sh"), str(nodes), str(work / "argodsm-apps" / app), *words)
        if options.jiajia:
            self.make_apps(work, "jiajia", options.jiajia)
            self.jobs["JIAJIA"] = lambda nodes, app, *words: (
                str(HERE / "jiajia_run.sh"), str(options.jiajia), str(nodes), str(work / "jiajia-apps" / app), *words)

    def make_apps(self, work, name, installed):
        command = (HERE / "build_apps.sh", name, installed, work / f"{name}-apps")
        output_of(command, {"BUILD": str(self.build)}, limit_s=600)

    def report(self, system, nodes, problem):
        """What the application reports. ArgoDSM takes pages' homes from who touches them first."""
        environment = {"LIMIT_S": str(self.limit_s), "ARGO_ALLOCATION_POLICY": "4", "ARGO_PRINT_STATISTICS": "0"}
        out = output_of((*self.jobs[system](nodes, *PROBLEMS[problem]), "--json"), environment, self.limit_s + 30)
        for line in out.splitlines():
            if line.startswith("{"):
                return json.loads(line)
        raise Failed("it has printed no report")


class Row:
    """A system's jobs of one problem on so many nodes."""

    def __init__(self, problem, nodes, system):
        self.problem, self.nodes, self.system = problem, nodes, system
        self.times_s, self.failures = [], []

    def run(self, systems, expected):
        """One job. `expected` is the checksum of the others, if one is known already; CG knows its result itself."""
        try:
            report = systems.report(self.system, self.nodes, self.problem)
        except Failed as e:
            # Scripts end with 124 or 137 when timeout(1) has ended the job.
            ended = any(sign in str(e) for sign in ("no end after", "exit status 124", "exit status 137"))
            self.failures.append(f"no end within {systems.limit_s} s" if ended else reason(e))
            return None
        if report["matches"] is False or (expected and report["checksum"] != expected):
            self.failures.append("wrong result")
        else:
            self.times_s.append(report["time_s"])
        return report["checksum"]

    def given_up(self):
        return sum(text.startswith("no end") for text in self.failures) >= GIVEN_UP_AFTER

    def as_json(self, medians):
        median = statistics.median(self.times_s) if self.times_s else None
        ratios = {f"ratio_to_{key}": median / medians[key] if median and medians.get(key) else None
                  for key in ("sequential", "release", "openmp")}
        return {"problem": self.problem, "nodes": self.nodes, "system": self.system, "times_s": self.times_s,
                "min_s": min(self.times_s, default=None), "median_s": median, **ratios, "failures": self.failures}


def reason(failure):
    """The first line that says something, of a program that has failed."""
    _, *lines = str(failure).splitlines()
    signs = ("error", "assert", "fail", "terminat", "killed")
    telling = [line.strip() for line in lines if any(sign in line.lower() for sign in signs)]
    return (telling or ["failed"])[0][:160]


def wait_for_quiet(limit_s):
    """Until nobody else used the cores for a second, or the time is over."""
    def idle_ticks():
        with open("/proc/stat", encoding="ascii") as file:
            return int(file.readline().split()[4])

    wanted = 0.9 * os.cpu_count() * os.sysconf("SC_CLK_TCK")
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        before = idle_ticks()
        time.sleep(1)
        if idle_ticks() - before >= wanted:
            return


def measure(systems, nodes, problem, options):
    rows = [Row(problem, nodes, system) for system in systems.jobs]
    checksum = None
    for number in range(options.rounds):
        load = os.getloadavg()[0]
        print(f"{problem}, {nodes} nodes: round {number + 1} of {options.rounds}, load {load:.1f}", file=sys.stderr)
        for row in rows:
            if not row.given_up():
                wait_for_quiet(options.patience)
                found = row.run(systems, checksum)
                if row.system == REFERENCE:
                    checksum = found
    keys = zip(rows, ("openmp", "sequential", "release"))
    medians = {key: statistics.median(row.times_s) for row, key in keys if row.times_s}
    return [row.as_json(medians) for row in rows]


def print_table(rows):
    def number(value, form):
        return format(value, form) if value is not None else "-"

    widths = "{:<9} {:>5}  {:<15} {:>8} {:>8}  {:>7} {:>8} {:>7}  {}"
    print(widths.format("problem", "nodes", "system", "min s", "median s", "/Quire", "/release", "/OpenMP", "right"))
    for row in rows:
        right, wrong = len(row["times_s"]), len(row["failures"])
        note = "; ".join(f"{row['failures'].count(text)} x {text}" for text in dict.fromkeys(row["failures"]))
        times = (number(row[key], ".3f") for key in ("min_s", "median_s"))
        ratios = (number(row[f"ratio_to_{key}"], ".2f") for key in ("sequential", "release", "openmp"))
        right = f"{right}/{right + wrong} {note}".strip()
        print(widths.format(row["problem"], row["nodes"], row["system"], *times, *ratios, right))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=HERE.parent.parent / "build", help="Quire's build folder")
    parser.add_argument("--argodsm", type=Path, help="where ArgoDSM is installed")
    parser.add_argument("--jiajia", type=Path, help="where JIAJIA is installed")
    parser.add_argument("--mpi", action="store_true", help="the same with messages, too")
    parser.add_argument("--work", type=Path, help="where SOR and CG are built; not given: a temporary folder")
    parser.add_argument("--only", default="", help="problems whose name contains this")
    parser.add_argument("--nodes", type=int, nargs="+", default=[2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--patience", type=int, default=0, help="seconds to wait before each job for a quiet machine")
    parser.add_argument("--limit", type=int, default=120, help="seconds, for each job")
    parser.add_argument("--output", type=Path, help="where the results are written as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = (options.work or Path(temporary)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        systems = Systems(options, work)
        rows = []
        for nodes in options.nodes:
            for problem in (name for name in PROBLEMS if options.only.lower() in name.lower()):
                rows += measure(systems, nodes, problem, options)
                if options.output:
                    about = {"machine": platform.machine(), "kernel": platform.release(), "cores": os.cpu_count()}
                    text = json.dumps({"about": about, "rows": rows}, indent=1)
                    options.output.write_text(text + "\n", encoding="utf-8")
    print_table(rows)
    sys.exit(any(row["failures"] for row in rows if row["system"] in (REFERENCE, *OURS)))


if __name__ == "__main__":
    try:
        main()
    except Failed as e:
        sys.exit(f"apps.py: {e}")
