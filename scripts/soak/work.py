# SPDX-License-Identifier: BSD-3-Clause
"""What a soak does: each kind of work makes one round from a number, and tells what was wrong with it.

A round is a function of its seed, so that `run.py --replay KIND:SEED` does the same again, as far as the machine's timing allows.
"""
import os
import random
import re
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

from command import Command
from settings import SCAN, SCANNED, Settings

# The simulators, and which of their tests take seeds: the sources of those that are missing here are named by soak_test.py.
SIMULATORS = {
    "history_test": "history.of_a_store*:history.is_refused_if*",
    "whole_test": "*whole.*:*whole_atomics.*:whole_patches.*",
    "whole_group_test": "*whole_groups.*",
    "whole_hosts_test": "*whole_hosts.*:*whole_hosts_limits.*",
    "whole_races_test": "whole_races.none_*",
    "whole_kinds_test": "whole_kinds.*",
    "whole_protocol_test": "*other_protocol.*",
    "whole_stored_test": "*whole_stored.*",
    "whole_stored_ends_test": "*whole_stored_ends.*",
    "whole_stored_deaths_test": "*whole_stored_deaths.*",
    "whole_store_test": "*other_store.*:parked_messages.of_one*",
    "whole_region_test": "*whole_regions.*:*whole_region_deaths.*:whole_region_misuse.*:whole_region_holds.*",
    "whole_layout_test": "*other_layout.*",
    "whole_announcements_test": "whole_announcements.*",
    "whole_minipages_test": "*minipages_in_order*:*minipages_released*:minipages.are_pushed*",
    "whole_minipages_phases_test": "*minipages_phased*",
    "whole_minipages_limit_test": "*minipages_limited*",
    "whole_transactions_test": "*node_transactions_job*:whole_transactions.under_a_lock*",
    "whole_litmus_generated_test": "*whole_litmus_generated.*",
    "whole_waits_test": "*whole_waits.*:whole_livelock.*:whole_replay.survival*",
    "whole_death_test": "*whole_deaths*",
    "services_names_test": "*services_names.*",
    "services_threads_test": "*services_threads.*",
    "services_containers_test": "*services_containers.*",
    "services_code_test": "*services_code.*",
    "services_making_test": "*services_making.*",
    "services_checkpoint_test": "*services_checkpoint.*",
    "services_adoption_test": "*services_adoption.*",
    "services_collection_test": "*services_collection.*",
    "sync_random_locks_test": "mutex.*:condition.*:rwlock.*",
    "sync_random_objects_test": "semaphore.*:event.*:barrier.*:collective.*:everything.*",
}
NOT_SOAKED = {"whole_litmus_test": "it looks for rare outcomes, which some ranges of seeds do not have",
              "litmus_exhaustive_test": "it tries orders one after the other: seeds only say how many"}


@dataclass
class Outcome:
    """A round that has ended. `done`: figures for the summary; `wrong`: a sentence, or nothing; `log`: what to keep of a failure; `seed`: of a simulator's
    test, with its name, to be tried from now on (tests/sim/found_seeds.txt)."""
    name: str
    replay: str
    done: dict = field(default_factory=dict)
    wrong: str = ""
    log: str = ""
    cut_off: bool = False
    seed: str = ""


def judge(name, command, result, replay=None):
    """The outcome of a command that should have ended well."""
    wrong = []
    if result.over_time:
        wrong.append(f"it did not end within {result.seconds:.0f} s")
    elif result.status != 0 and not result.cut_off:
        wrong.append(f"exit status {result.status}")
    return outcome(name, command, result, wrong, replay)


def outcome(name, command, result, wrong, replay=None):
    wrong = wrong + ([f"it left behind: {', '.join(result.left)}"] if result.left else [])
    said = [line for line in result.output.splitlines() if "FAILED" in line or "Failure" in line or line.startswith("quire: ")]
    if wrong and said and not result.over_time:
        wrong.append(said[0].strip())
    log = f"{command.text()}\n\n{result.output}\n{result.stacks}"
    return Outcome(name, replay or command.text(), wrong="; ".join(wrong), log=log, cut_off=result.cut_off)


class Work:
    """Common to all kinds: where the build is, when all must stop, what is left in shared memory."""

    def __init__(self, build, stop, shared, patience_s):
        self.build, self.stop, self.shared, self.patience_s = build, stop, shared, patience_s

    def quire(self, settings, program, *words, more=(), guard_s=600):
        return [str(self.build / "bin" / "quire"), "run", *settings.options(), *more, "--timeout", str(guard_s),
                str(self.build / "tests" / program), *map(str, words)]

    def run(self, name, words, environment=None, seconds=0.0, may_leave=(), replay=None):
        with Command(words, environment, seconds + self.patience_s, expected_s=seconds) as command:
            result = command.finish(self.stop, self.shared, may_leave)
            return judge(name, command, result, replay), result


class Simulators(Work):
    """One test of a simulator with seeds that nobody has tried: whichever has had the least time."""

    SECONDS = 1.0

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.spent = {}
        path = self.build / "tests" / "sim_tests"
        for pattern in SIMULATORS.values():
            for test in self.tests_of(path, pattern):
                self.spent[path, test] = random.random() / 1000

    @staticmethod
    def tests_of(path, pattern):
        names, suite = [], ""
        with Command([path, "--gtest_list_tests", f"--gtest_filter={pattern}"]) as command:
            command.wait(30)
            for line in command.output().splitlines():
                word = line.split("#")[0].rstrip()
                if line.startswith(" "):
                    names.append(suite + word.strip())
                elif word.endswith("."):
                    suite = word
        return names

    def round(self, seed):
        path, test = min(self.spent, key=self.spent.get)
        self.spent[path, test] += 1  # the other threads choose another one meanwhile
        environment = {"QUIRE_SIM_FIRST": seed % (1 << 40) << 16, "QUIRE_SIM_SOAK": 2}
        found, result = self.run(f"simulator {test}", [path, f"--gtest_filter={test}"], environment, seconds=240)
        self.spent[path, test] += result.seconds - 1
        tried = sum(int(last) - int(first) + 1 for first, last in re.findall(r"^seeds (\d+) to (\d+)$", result.output, re.MULTILINE))
        steps = sum(map(int, re.findall(r"^steps (\d+)$", result.output, re.MULTILINE)))
        if failing := re.search(r"QUIRE_SIM_SEED=(\d+)", result.output):
            found.replay = f"QUIRE_SIM_SEED={failing.group(1)} {path} --gtest_filter={test}"
            found.seed = f"{failing.group(1)} {test}"
        elif not found.wrong and not found.cut_off and tried == 0:
            del self.spent[path, test]  # it is no test of seeds
        found.done = {"steps": steps, "seeds": 0 if found.wrong or found.cut_off else tried, "simulator": self.simulator_of(test)}
        return found

    @staticmethod
    def simulator_of(test):
        """The name of a program, or else of the suite."""
        parts = test.split("/")
        return parts[-2 if re.fullmatch(r"of_\d+|\d+", parts[-1]) else -1].split(".")[0]


class Probes(Work):
    """A program that checks what it reads, under random settings."""

    SECONDS = 1.0

    def round(self, seed):
        draw = random.Random(seed)
        kind = draw.choice((self.history, self.history, self.task_graph, self.task_graph, self.phases))
        settings = Settings(draw)
        program, numbers, seconds = kind(draw, settings)
        words = [word for name, value in numbers.items() for word in (f"--{name}", value)]
        found, result = self.run(program, self.quire(settings, f"soak/{program}", *words), seconds=seconds, may_leave=("checkpoint",))
        checked = re.search(r"checked (\d+) reads", result.output)
        if not found.wrong and not found.cut_off and checked is None:
            found.wrong = "it ended well and did not say what it had checked"
        found.done = {"processes": settings.nodes, "jobs": 1, "reads": int(checked.group(1)) if checked else 0}
        return found

    def history(self, draw, settings):
        if draw.random() < 0.15:
            settings.with_replicas()
        pool, detector = settings.region_of_its_own(draw)
        threads = draw.choice((1, 1, 2, 2, 3))
        ballast = draw.choice((200, 600, 2400)) if settings.memory_limit else draw.choice((0, 0, 100))
        if settings.replicas:
            pool, detector = 0, 0
        return "history_program", {
            "milliseconds": 800, "seed": draw.randrange(1 << 32), "unit": settings.unit, "pages": draw.choice((2, 4, 9, 33)), "threads": threads,
            "hints": draw.choice((255, 255, 0, draw.randrange(256))), "ballast": ballast, "placement": draw.randrange(3), "pool": pool,
            "detector": detector}, 0.8

    def task_graph(self, draw, settings):
        pool, detector = settings.region_of_its_own(draw)
        release = int(draw.random() < 0.85)
        heap = int(draw.random() < 0.15)
        changes = int(not heap and draw.random() < 0.4)
        if release and not changes and not heap and settings.pool in SCANNED and draw.random() < 0.2:
            pool, detector = 0, SCAN
        if heap:
            pool, detector = 0, 0
            settings.sets["consistency"] = "release" if release else "sequential"
        return "task_graph_program", {
            "milliseconds": 1000, "seed": draw.randrange(1 << 32), "unit": settings.unit, "chunk": draw.choice((8, 17, 301, 1000, 4096, 5000)),
            "chunks": draw.choice((20, 60, 100)), "threads": draw.choice((1, 2, 3)), "tasks": draw.choice((40, 100, 160)),
            "kinds": draw.choice((6, 6, 1 + draw.randrange(6))), "release": release, "changes": changes, "hints": draw.randrange(2), "heap": heap,
            "detector": detector, "placement": draw.randrange(4), "pool": pool}, 1.0

    def phases(self, draw, settings):
        pool, detector = settings.region_of_its_own(draw)
        return "phases_program", {
            "seed": draw.randrange(1 << 32), "unit": settings.unit, "phases": draw.choice((2, 6)), "rounds": draw.choice((1, 10, 30)),
            "call": draw.randrange(3), "mutex": draw.randrange(2), "release": int(draw.random() < 0.7), "checked": draw.randrange(2),
            "detector": detector, "placement": draw.randrange(4), "pool": pool}, 2.0


class Stress(Work):
    """stress_program: every kind of operation at once, by more threads than there are cores."""

    SECONDS = 3.0

    def round(self, seed):
        draw = random.Random(seed)
        settings = Settings(draw)
        settings.nodes = draw.choice((2, 3, 4, 8, 16))
        if draw.random() < 0.15:
            settings.with_replicas()
        words = self.quire(settings, "process/stress_program", 3, draw.randrange(1, 1 << 32), draw.choice((1, 2, 4)))
        found, _ = self.run("stress_program", words, seconds=3)
        found.done = {"processes": settings.nodes, "jobs": 1}
        return found


class Kills(Work):
    """kill -9 of a node, of two, or of the launcher, at any time: the job ends, says who died, and leaves nothing behind."""

    SECONDS = 3.0
    PATIENCE_S = 30.0  # two seconds as a rule; the machine is in use

    def round(self, seed):
        draw = random.Random(seed)
        settings = Settings(draw)
        settings.nodes = draw.choice((2, 3, 3, 4, 8))
        victim = draw.choice(("node", "node", "node", "nodes", "launcher"))
        # Early: while the nodes are still starting.
        delay_s = draw.uniform(0, 0.3) if draw.random() < 0.5 else draw.uniform(0.3, 2.5)
        words = self.quire(settings, "process/stress_program", 60, draw.randrange(1, 1 << 32), 2, guard_s=120)
        with Command(words, limit_s=100) as command:
            chosen = self.kill(command, draw, victim, settings, delay_s)
            command.limit_s = command.seconds() + self.PATIENCE_S
            result = command.finish(self.stop, self.shared)
            wrong = self.wrong(result, victim, settings, chosen)
            told = outcome(f"kill of {victim} {', '.join(map(str, chosen))}", command, result, wrong, f"{replay_command(self.build)} kills:{seed}")
        told.log = f"after {delay_s:.3f} s: {told.name}\n{told.log}"
        told.done = {} if told.cut_off else {"kills": len(chosen), "jobs": 1, "processes": settings.nodes}
        return told

    def kill(self, command, draw, victim, settings, delay_s):
        """The pids that were killed, `delay_s` after the first node was there."""
        until = time.monotonic() + 20
        while not children_of(command.process.pid) and time.monotonic() < until and not self.stop.is_set():
            time.sleep(0.001)
        self.stop.wait(delay_s)
        nodes = sorted(children_of(command.process.pid))
        if victim == "launcher":
            chosen = [command.process.pid]
        else:
            chosen = draw.sample(nodes, min(len(nodes), 1 if victim == "node" else 2))
        for pid in chosen:
            os.kill(pid, signal.SIGKILL)
        return chosen

    @staticmethod
    def wrong(result, victim, settings, chosen):
        if result.cut_off:
            return []
        if result.over_time:
            return [f"it did not end within {Kills.PATIENCE_S:.0f} s of the death"]
        if not chosen:
            return ["there was no node to kill"]
        if victim == "launcher":
            return [] if result.status == -signal.SIGKILL else [f"exit status {result.status}"]
        wrong = [] if result.status == 128 + signal.SIGKILL else [f"exit status {result.status}, not {128 + signal.SIGKILL}"]
        # Of two deaths, the first that is seen is named.
        if settings.pool != "fork" and not any(f"(pid {pid}) was killed by signal 9" in result.output for pid in chosen):
            wrong.append("the node that died is not named")
        return wrong


class Survivals(Work):
    """kill -9 of one node, or of two, where the others go on: they do, and with replicas nothing is lost that one death at a time may not take."""

    SECONDS = 3.0
    WAYS = ("idle", "compute", "rounds")

    def round(self, seed):
        draw = random.Random(seed)
        nodes, replicas = draw.choice((3, 3, 4)), draw.random() < 0.5
        way = draw.choice(("idle", "compute", "acknowledged") if replicas else self.WAYS)
        victims = draw.sample(range(nodes), 2 if nodes == 4 and draw.random() < 0.5 else 1)
        # Content is on two nodes again a moment after a death.
        pause_s = draw.uniform(1, 1.5) if replicas else draw.choice((0, draw.uniform(0, 0.05), draw.uniform(0, 0.5)))
        words = [self.build / "bin" / "quire", "run", "-n", nodes, "--detect", draw.choice(("userfault", "segv")), "--on-failure", "notify",
                 "--transport", draw.choice(("shm", "shm", "tcp")), *(("--replicas", "1") if replicas else ()), "--timeout", "120",
                 self.build / "tests" / "process" / "survive_program", way, len(victims)]
        delay_s = draw.uniform(0.05, 1.2)
        environment = {"TEST_VICTIM": victims[0]} | ({"TEST_LEDGER": "ledger"} if replicas else {})
        with Command(words, environment, 120, {"ledger": bytes(4096)}) as command:
            killed = False
            until = time.monotonic() + 60
            while not killed and time.monotonic() < until and not self.stop.is_set() and command.process.poll() is None:
                told = dict(re.findall(r"node (\d+) is (\d+)\n", command.output()))
                if len(told) == nodes:
                    self.stop.wait(delay_s)
                    for i, victim in enumerate(victims):
                        self.stop.wait(pause_s if i != 0 else 0)
                        os.kill(int(told[str(victim)]), signal.SIGKILL)
                    killed = True
                time.sleep(0.02)
            command.limit_s = command.seconds() + self.patience_s
            result = command.finish(self.stop, self.shared)
            found = judge(f"death of {victims}, others go on ({way})", command, result, f"{replay_command(self.build)} survivals:{seed}")
            if not found.wrong and not found.cut_off and result.output.count(" ends well") != nodes - len(victims):
                found.wrong = "not all survivors ended well"
        found.done = {} if found.cut_off else {"kills": len(victims), "jobs": 1, "processes": nodes}
        return found


def replay_command(build):
    return f"{Path(__file__).with_name('run.py')} --build {build} --replay"


def children_of(pid):
    try:
        return [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]
    except OSError:
        return []
