# SPDX-License-Identifier: BSD-3-Clause
"""Two machines as two hosts, reached by ssh: what runs there, and what happens when one is lost."""

import re
import time

import cases
from cases import row, verdict
from virtual import HERE

# Seconds without a network, options, how long the program works, and whether the job goes on.
CUTS = {"cut-3": (3, [], 12, True), "cut-30": (30, [], 50, False), "cut-30-patient": (30, ["--peer-timeout", "90"], 60, True)}
TITLES = {"cut-3": "a link is cut for 3 s: the job goes on", "cut-30": "a link is cut for 30 s: the job ends, and names a host",
          "cut-30-patient": "a link is cut for 30 s, with `--peer-timeout 90`: the job goes on", "killed": "a machine is killed: the job ends, and names it"}
NAMES = [*(case.name for case in cases.SINGLE), *TITLES]
NAMED = r"machine[12]|10\.78\.0\.[12]"
KILLED = r"machine2|10\.78\.0\.2"


def stress(build, seconds, detector, options=()):
    """A program that writes, reads and checks for so long."""
    options = [*(["--detect", detector] if detector != "auto" else []), *options]
    return [f"{build}/bin/quire", "run", "--hosts", "machine1,machine2", "-n", "2", *options, f"{build}/tests/process/stress_program", str(seconds), "1", "1"]


class Pair:
    def __init__(self, machines, network, build, tell):
        self.machines, self.network, self.build, self.tell = machines, network, build, tell

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
                    self.tell(row(first.kernel, 2, user, case.name, case.title, detector, text, answer))

    def start(self, seconds, detector, options):
        """A job at work on both, or one that has ended before it was. Its number."""
        first, before = self.machines[0], self.network.frames
        number = first.ask(stress(self.build, seconds, detector, options), user="user", limit=240)
        while self.network.frames < before + 3000 and not first.has_ended(number):
            first.require_alive()
            time.sleep(0.1)
        time.sleep(1)
        return number

    @staticmethod
    def judged(answer, goes_on, named):
        """A job that was disturbed: goes on, or ends and names a host; whichever it has to."""
        if goes_on or answer["status"] in (0, None):
            return verdict(answer, "operations, all as they should be" if goes_on else "it should have ended, and not well")
        return "right" if re.search(named, answer["err"]) else f"status {answer['status']}, and no host is named: {cases.error_line(answer)}"

    def disturbed(self, name, detector, work, options, goes_on, disturb, named=NAMED):
        """Starts a job, has it disturbed while it works, and looks at how it ends, after which nothing may be left."""
        number = self.start(work, detector, options)
        if self.machines[0].has_ended(number):
            answer = self.machines[0].answer(number)
            text = f"it ended before it was disturbed: {verdict(answer, '$^')}"
        else:
            disturb()
            answer = self.machines[0].answer(number, 240)
            text = self.judged(answer, goes_on, named)
        left = self.left([machine for machine in self.machines if machine.process.poll() is None])
        text = "; ".join(part for part in (text if text != "right" or not left else "", left) if part)
        said = [line for line in answer["err"].splitlines() if line.startswith("quire")][:3]
        self.tell({**row(self.machines[0].kernel, 2, "user", name, TITLES[name], detector, text, answer), "said": said})

    def cut(self, seconds):
        self.network.out.add(1)
        time.sleep(seconds)
        self.network.out.discard(1)

    def all(self, names, users, detectors):
        self.programs(names, users, detectors)
        for name, (seconds, options, work, goes_on) in CUTS.items():
            if name in names:
                self.disturbed(name, detectors[0], work, options, goes_on, lambda seconds=seconds: self.cut(seconds))
        if "killed" in names:  # the last: there is one machine less
            self.disturbed("killed", detectors[0], 100, [], False, self.machines[1].kill, KILLED)
