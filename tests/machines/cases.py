# SPDX-License-Identifier: BSD-3-Clause
"""What runs in a machine: command lines, and what they must print."""

import os
import re

from virtual import HERE, Failed

SOURCE = os.path.dirname(os.path.dirname(HERE))
USERS = ("root", "user")
DETECTORS = ("auto", "segv")


class Case:
    """`words`: after `quire run -n 2 --detect ...`; names in braces are folders. `wanted`: what the output has."""

    def __init__(self, name, title, words, wanted, environment=None, limit=30):
        self.name, self.title, self.words, self.wanted, self.environment, self.limit = name, title, words, wanted, environment or {}, limit

    def line(self, build, detector):
        run = [f"{build}/bin/quire", "run", "-n", "2", *(["--detect", detector] if detector != "auto" else [])]
        return run + filled(self.words, build)

    def variables(self, build):
        return dict(zip(self.environment, filled(self.environment.values(), build)))


def filled(words, build):
    return [word.format(build=build, source=SOURCE) for word in words]


SINGLE = (
    Case("example", "the library: hello, the first example", ["{build}/examples/hello"], r"node 1 of 2: hello, I hear 2 of 2"),
    Case("sor", "the library: SOR, bit by bit as the serial run", ["{build}/bin/sor", "--size", "256", "--iterations", "4", "--check"],
         r"2 nodes x 1 thread, .* equal to the serial run"),
    Case("openmp", "OpenMP: SOR with 4 threads, bit by bit as the serial run",
         ["{build}/bin/sor_openmp", "--size", "256", "--iterations", "4", "--threads", "4", "--check"], r"equal to the serial run"),
    Case("pthreads", "pthreads: primes by 4 threads", ["{build}/examples/example_primes", "200000", "4"], r"17984 primes below 200000"),
    Case("python", "Python: heat in a rod, with numpy", ["/usr/bin/python3", "-B", "{source}/examples/port/heat_numpy_quire.py"],
         r"200 steps, the sum is 849\.379504", {"PYTHONPATH": "{build}/python"}, limit=60),
)
# What `quire info` says of how faults are noticed: section, and beginnings of its rows.
INFO_ROWS = (("userfaultfd", ("",)), ("Page pools", ("memfd",)), ("What Quire chooses", ("detector",)))


def require_build(build):
    for path in ("bin/quire", "bin/sor"):
        if not os.path.exists(os.path.join(build, path)):
            raise Failed(f"{build} has no {path}: build first, or give another folder by --build")
    for hidden in ("/dev/", "/proc/", "/sys/", "/run/"):
        for folder in (build, SOURCE):
            if (folder + "/").startswith(hidden):
                raise Failed(f"{folder} cannot be seen in a machine, which has a {hidden} of its own")


def info_rows(text):
    """[[name, value]] of the rows that count."""
    found, wanted, open_row = [], (), False
    for line in text.splitlines():
        row = re.match(r"  (\S.*?)\s{2,}(\S.*)$", line)
        if line and not line.startswith(" "):
            wanted = next((rows for section, rows in INFO_ROWS if line.startswith(section)), ())
        elif row:
            open_row = any(row.group(1).startswith(begin) for begin in wanted)
            if open_row:
                found.append([row.group(1), row.group(2)])
        elif open_row and line.strip():
            found[-1][1] += " " + line.strip()
        elif not line.strip():
            open_row = False
    return found


def error_line(answer):
    """The line that says best why it failed."""
    lines = [line.strip() for line in (answer["err"] + "\n" + answer["out"]).splitlines() if line.strip()]
    said = [line for line in lines if re.match(r"(quire|FAILED|left)\b", line) and "threads that" not in line]
    # The last words of a job are about its end; the first tell the reason, unless they only warn.
    said.sort(key=lambda line: "warning:" in line)
    return (said or lines[-1:] or ["it has said nothing"])[0][:300]


def verdict(answer, wanted):
    """`right`, or what was wrong."""
    if answer["status"] is None:
        return f"no end in time; {error_line(answer)}"
    if answer["status"] != 0:
        return f"status {answer['status']}: {error_line(answer)}"
    if not re.search(wanted, answer["out"]):
        return f"status 0, but the output lacks what it must have; {error_line(answer)}"
    return "right"


def row(kernel, hosts, user, name, title, detector, text, answer):
    return {"kernel": kernel.name, "release": kernel.release, "hosts": hosts, "user": user, "case": name, "title": title, "detector": detector, "verdict": text,
            "seconds": answer["seconds"] if answer else 0}


def run_single(machine, build, names, users, detectors, tell):
    """All cases with these names on a machine."""
    def note(user, name, title, detector, text, answer, **more):
        tell({**row(machine.kernel, 1, user, name, title, detector, text, answer), **more})

    for user in users:
        if "info" in names:
            answer = machine.run([f"{build}/bin/quire", "info"], user=user)
            note(user, "info", "`quire info` names a detector", "auto", verdict(answer, r"  detector  "), answer, info=info_rows(answer["out"]))
        for case in SINGLE:
            for detector in detectors if case.name in names else ():
                answer = machine.run(case.line(build, detector), user=user, environment=case.variables(build), limit=case.limit)
                note(user, case.name, case.title, detector, verdict(answer, case.wanted), answer)
    if "left" in names:
        answer = machine.run(["/usr/bin/python3", "-B", f"{HERE}/guest.py", "left", str(3 * machine.slow)])
        note("root", "left", "no process and no shared memory is left after all these", "auto", verdict(answer, ""), answer)
