# SPDX-License-Identifier: BSD-3-Clause
"""Two machines as two hosts, reached by ssh: what runs there, and what happens when one is lost."""

import re
import time

import cases
from cases import row, verdict
from virtual import HERE, Failed

# Seconds without a network, options, how long the program works, and whether the job goes on.
CUTS = {"cut-3": (3, [], 12, True), "cut-30": (30, [], 50, False), "cut-30-patient": (30, ["--peer-timeout", "90"], 60, True)}
TITLES = {"cut-3": "a link is cut for 3 s: the job goes on", "cut-30": "a link is cut for 30 s: the job ends, and names a host",
          "cut-30-patient": "a link is cut for 30 s, with `--peer-timeout 90`: the job goes on", "killed": "a machine is killed: the job ends, and names it"}
NAMES = [*(case.name for case in cases.SINGLE), *TITLES]
NAMED = r"machine[12]|10\.78\.0\.[12]"


def stress(build, seconds, options=()):
    """A program that writes, reads and checks for so long."""
    return [f"{build}/bin/quire", "run", "--hosts", "machine1,machine2", "-n", "2", *options, f"{build}/tests/process/stress_program", str(seconds), "1", "1"]


class Pair:
    def __init__(self, machines, network, build, tell):
        self.machines, self.network, self.build, self.tell = machines, network, build, tell

    def note(self, user, name, title, detector, text, answer, **more):
        self.tell({**row(self.machines[0].kernel, 2, user, name, title, detector, text, answer), **more})

    def left(self, machines):
        """What is left on these; nothing is best. Nodes of a lost host end when they notice, so there is time."""
        told = [m.run(["/usr/bin/python3", "-B", f"{HERE}/guest.py", "left", "60"], limit=90) for m in machines]
        return "; ".join(f"machine{m.number}: {answer['err'].strip()}" for m, answer in zip(machines, told) if answer["status"] != 0)

    def programs(self, names, users, detectors):
        first = self.machines[0]
        for case in (case for case in cases.SINGLE if case.name in names):
            for user in users:
                for detector in detectors:
                    words = case.line(self.build, detector)
                    words[2:2] = ["--hosts", "machine1,machine2"]
                    frames = self.network.frames
                    answer = first.run(words, user=user, environment=case.variables(self.build), limit=case.limit)
                    text = verdict(answer, case.wanted)
                    if text == "right" and self.network.frames - frames < 20:
                        text = "the network has carried nothing"
                    self.note(user, case.name, case.title, detector, text, answer)

    def start(self, seconds, options):
        """A job at work on both. Its number."""
        number = self.machines[0].ask(stress(self.build, seconds, options), user="user", limit=240)
        before, end = self.network.frames, time.monotonic() + 30 * self.machines[0].slow
        while self.network.frames < before + 3000:
            if time.monotonic() > end:
                raise Failed(f"the job is not at work: {self.machines[0].said(number)}")
            time.sleep(0.1)
        time.sleep(1)
        return number

    def judged(self, answer, goes_on, seconds):
        """A job that was disturbed: goes on, or ends with a host's name; whichever it has to."""
        if goes_on:
            return verdict(answer, r"operations|\d")
        if answer["status"] in (0, None):
            return verdict(answer, "$^")
        told = answer["err"]
        return "right" if re.search(NAMED, told) else f"no host is named: {cases.error_line(answer)}"

    def cut(self, name):
        seconds, options, work, goes_on = CUTS[name]
        number = self.start(work, options)
        self.network.out.add(1)
        time.sleep(seconds)
        self.network.out.discard(1)
        answer = self.machines[0].answer(number, 240)
        text = self.judged(answer, goes_on, seconds)
        self.finish(name, text, answer, self.machines)

    def killed(self):
        number = self.start(100, [])
        begin = time.monotonic()
        self.machines[1].kill()
        answer = self.machines[0].answer(number, 240)
        text = self.judged(answer, False, 0)
        answer["seconds"] = round(time.monotonic() - begin, 1)
        self.finish("killed", text, answer, self.machines[:1])

    def finish(self, name, text, answer, alive):
        left = self.left(alive)
        if left:
            text = left if text == "right" else f"{text}; {left}"
        said = [line for line in answer["err"].splitlines() if line.startswith("quire")][:3]
        self.note("user", name, TITLES[name], "auto", text, answer, said=said)

    def all(self, names, users, detectors):
        self.programs(names, users, detectors)
        for name in CUTS:
            if name in names:
                self.cut(name)
        if "killed" in names:  # the last: there is one machine less
            self.killed()
