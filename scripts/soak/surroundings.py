# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of work in which what is around a job is drawn: another launcher, small limits, links that are slow, or cut for a while or for good."""
import os
import random
import shutil
import sys
import threading
from pathlib import Path

from command import Command
from settings import Settings
from work import Outcome, Work, judge, outcome, replay_command

# What a job is right under (docs/limits.md): options of prlimit(1).
LIMITS = ("--stack=65536", "--stack=unlimited", "--nofile=12:", "--nofile=256", "--memlock=0", "--sigpending=0", "--msgqueue=0", "--data=536870912",
          "--core=0", "--nice=0", "--rtprio=0")


class Limits(Work):
    """stress_program under limits that it should not feel."""

    SECONDS = 3.0

    def round(self, seed):
        draw = random.Random(seed)
        settings = Settings(draw)
        settings.nodes = draw.choice((2, 2, 3, 4))
        under = ["prlimit", *draw.sample(LIMITS, draw.choice((1, 2, 3)))]
        words = under + self.quire(settings, "process/stress_program", 2, draw.randrange(1, 1 << 32), draw.choice((1, 2)))
        found, _ = self.run(f"stress_program under {' '.join(under[1:])}", words, seconds=2, replay=f"{replay_command(self.build)} limits:{seed}")
        found.done = {"processes": settings.nodes, "jobs": 1}
        return found


class Launchers(Work):
    """stress_program, started by each launcher that is here."""

    SECONDS = 4.0

    def round(self, seed):
        draw = random.Random(seed)
        settings = Settings(draw)
        settings.nodes = draw.choice((2, 2, 3, 4))
        if settings.pool == "fork":
            settings.pool, settings.detector = "memfd", "userfault"
        here = [how for how in ("mpirun", "mpiexec.hydra") if shutil.which(how)]
        how = draw.choice([*here, "quire"])
        program = [str(self.build / "tests" / "process" / "stress_program"), "2", str(draw.randrange(1, 1 << 32)), "1"]
        environment = {"QUIRE_TRANSPORT": settings.transport, "QUIRE_POOL": settings.pool, "QUIRE_DETECT": settings.detector} | {
            f"QUIRE_{name.upper()}": value for name, value in settings.sets.items()}
        if how == "quire":
            words = [str(self.build / "bin" / "quire"), "run", "-n", str(settings.nodes), "--timeout", "600", *program]
        elif how == "mpirun":
            words = [how, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", str(settings.nodes), *program]
        else:
            words = [how, "-n", str(settings.nodes), *program]
        found, _ = self.run(f"stress_program by {how}", words, environment, seconds=3, replay=f"{replay_command(self.build)} launchers:{seed}")
        found.done = {"processes": settings.nodes, "jobs": 1}
        return found


class Links(Work):
    """Two or three hosts, each a network namespace: links that are slow, and one that is cut for less than the limit, so that the job goes on, or for good,
    so that it ends and names the host."""

    SECONDS = 12.0
    one_at_a_time = threading.Lock()  # the names of namespaces have the number of this process
    LIMIT_S = 4                       # of silence

    def round(self, seed):
        draw = random.Random(seed)
        count, rate = draw.choice((2, 2, 3)), draw.choice((None, None, "1gbit", "200mbit", "50mbit"))
        cut = draw.choice(("never", "for a while", "for good"))
        far, delay_s, away_s = draw.randrange(2, count + 1), draw.uniform(0.5, 2.0), draw.uniform(0.2, self.LIMIT_S * 0.6)
        numbers = [str(draw.randrange(1, 1 << 32)), str(draw.choice((1, 2)))]
        name = f"stress_program on {count} hosts, rate {rate}, link of host {far} cut {cut}"
        with self.one_at_a_time:
            try:
                hosts = hosts_of(count, rate)
            except (ImportError, SystemExit) as why:
                return judge_nothing(name, why)
            with hosts:
                words = [str(self.build / "bin" / "quire"), "run", "--hosts", ",".join(hosts.addresses), "--agent", hosts.agent, "--peer-timeout",
                         str(self.LIMIT_S), "--timeout", "300", str(self.build / "tests" / "process" / "stress_program"), "60" if cut == "for good" else "6",
                         *numbers]
                with Command(words, None, 60 + self.patience_s, expected_s=10) as command:
                    self.stop.wait(delay_s + 1)
                    if cut != "never":
                        hosts.pull_cable(far)
                    if cut == "for a while":
                        self.stop.wait(away_s)
                        hosts.plug_cable(far)
                    result = command.finish(self.stop, self.shared)
                    found = self.verdict(name, command, result, cut, hosts.addresses[far - 1], seed)
                left = [pid for pid in hosts.processes() if hosts.is_ours(pid)]
                if left and not found.wrong and not found.cut_off:
                    found.wrong = f"{len(left)} processes are left on the hosts"
        found.done = {} if found.cut_off else {"jobs": 1, "processes": count}
        return found

    def verdict(self, name, command, result, cut, address, seed):
        replay = f"{replay_command(self.build)} links:{seed}"
        if cut != "for good" or result.cut_off or result.over_time:
            return judge(name, command, result, replay)
        wrong = [] if result.status != 0 else ["it ended well, though a host was cut off"]
        if address not in result.output:
            wrong.append(f"the host {address} is not named")
        return outcome(name, command, result, wrong, replay)


def hosts_of(count, rate):
    folder = str(Path(__file__).resolve().parents[2] / "tests" / "launch")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    from namespaces import Hosts
    if os.geteuid() != 0 or shutil.which("ip", path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
        raise ImportError("network namespaces take root, and iproute2")
    return Hosts(count, rate)


def judge_nothing(name, why):
    return Outcome(f"{name}: {why}", "", cut_off=True)
