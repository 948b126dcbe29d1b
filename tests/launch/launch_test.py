#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Quire's programs under every launcher that it knows, by TCP between network namespaces as hosts and on one machine.

    launch_test.py CASE BUILD_FOLDER

A case makes what it needs, and removes it. It is skipped (status 77) without root or without the launcher's package.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import sys
import time

import mounts
import networks
import others
import rendezvous
import suite
from namespaces import Hosts
from suite import ENDS_WITH_5, LONG, PASSED_ON, REPRESENTATIVE, WHOLE, program, quire, run_stock, run_suite
from support import Failed, Job, adopt_orphans, end_children, name_of, require, run, run_well, wait_until

LIMIT = 220  # seconds for a case


def quire_run(hosts, *options, agent=None):
    return [quire(), "run", "--hosts", ",".join(hosts.addresses), "--agent", agent or hosts.agent, "--timeout", "50", *options]


def own_starter():
    with Hosts(4) as hosts:
        run_suite(PASSED_ON, quire_run(hosts, "--tag"))
        hosts.require_traffic(1_000_000)
        told = run_well([*quire_run(hosts, "-n", "6", "--tag"), program("launcher_program"), "exchange", "4000"], 30).out
        require(sorted(told.split("\n"))[1:] == [f"[{i}] node {i} of 6, {2 if i < 4 else 1} here" for i in range(6)], told)
        run_stock(quire_run(hosts))
        hosts.require_nothing_left()


def several_on_a_host():
    """Two nodes on each of two hosts: through shared memory where they can, else by TCP; with secrecy, and when one is killed."""
    with Hosts(2) as hosts:
        file = os.path.join(hosts.folder, "counters.json")
        for options, shared in (([], True), (["--encrypt"], True), (["--transport", "tcp"], False)):
            for name in ("contract_sync_program", "contract_pages_program"):
                run_well([*quire_run(hosts, "-n", "4", f"--stats={file}", *options), program(name)], 60)
                with open(file) as told:
                    why = json.load(told)["transport"]["why"]
                require(("by shm on a host, ucx tcp" in why) == shared, f"{options}: {why}")
        said = run_well([*quire_run(hosts, "-n", "4", "--set=log=info", "--set=host_frames=auto"), program("contract_pages_program")], 60).err
        require(said.count("frames are shared by 2 nodes of this host") == 4, f"not the two nodes of each host share frames: {said}")
        alone = run([*quire_run(hosts, "-n", "3", f"--stats={file}"), program("contract_sync_program")], 60)
        require(alone.status == 0, alone)
        job, pids = start_job(hosts, [*quire_run(hosts, "-n", "4"), program("death_program"), "compute"], nodes=4)
        os.kill(pids[2], signal.SIGKILL)
        result = job.finish(20)
        require(result.status == 128 + 9 and f"node 2 (pid {pids[2]} on 10.77.0.2) was killed by signal 9" in result.err, result)
        hosts.require_nothing_left()


def own_starter_long():
    with Hosts(4) as hosts:
        run_suite([*WHOLE, *LONG], quire_run(hosts))
        hosts.require_traffic(1_000_000)
        hosts.require_nothing_left()


def limited_bandwidth():
    with Hosts(4, limit="200mbit") as hosts:
        run_suite(REPRESENTATIVE, quire_run(hosts))
        hosts.require_traffic(1_000_000)


def own_starter_streams():
    """Input, output, statistics, exit statuses: as with nodes on this machine."""
    with Hosts(2) as hosts:
        text = "a line\n" * 40_000
        require(run_well([*quire_run(hosts), "cat"], 30, data=text).out == text, "input has not come back whole")
        script = "hostname; echo to error >&2; sleep 1; exit $((7 * QUIRE_JOB_NODE))"
        result = run([*quire_run(hosts), "sh", "-c", script], 30)
        require(result.status == 7 and sorted(result.out.split()) == ["h1", "h2"], result)
        require(result.err.count("to error\n") == 2 and re.search(r"node 1 \(pid \d+ on 10.77.0.2\) exited with status 7",
                                                                  result.err), result)
        result = run([*quire_run(hosts), "./no-such-program"], 30)
        require(result.status == 127 and "cannot run ./no-such-program: No such file" in result.err, result)
        counters = os.path.join(hosts.folder, "counters.json")
        run_well([*quire_run(hosts, f"--stats={counters}"), program("contract_sync_program")], 60)
        with open(counters) as file:
            require(all(node["messages_sent"] > 0 for node in json.load(file)["by_node"]), "no counters")
        result = run([*quire_run(hosts, agent="/bin/false"), "true"], 30)
        require(result.status == 125 and "cannot start nodes on host 10.77.0." in result.err, result)
        hosts.require_nothing_left()


def readers():
    """Who reads the output goes, or is slow, or is a full disk."""
    with Hosts(3) as hosts:
        for options in ([], ["--tag"]):
            begin = " ".join(quire_run(hosts, *options))
            result = run(["bash", "-c", f"{begin} yes | head -n 3; exit ${{PIPESTATUS[0]}}"], 30)
            require(result.status == 128 + signal.SIGPIPE and result.out.count("y\n") == 3 and result.err == "", result)
            hosts.require_nothing_left()
        result = run(["bash", "-c", f"{begin} {program('death_program')} printing | head -n 1; exit ${{PIPESTATUS[0]}}"], 30)
        require(result.status == 128 + signal.SIGPIPE and result.err == "", result)
        hosts.require_nothing_left()
        result = run(["bash", "-c", f"{begin} yes > /dev/full"], 30)
        require(result.status == 125 and "cannot write standard output: No space left on device" in result.err, result)
        hosts.require_nothing_left()

        # A node dies while its neighbour's output waits for us. The job ends; the launcher waits for us to take the rest.
        script = "test $QUIRE_JOB_NODE = 1 || exec yes; sleep 2; exit 7"
        job = Job([*quire_run(hosts), "sh", "-c", script])
        time.sleep(1)
        require(hosts.processes(), "the job has not begun")
        wait_until(lambda: not hosts.processes(), 20, "the job goes on, although a node has died")
        require(job.process.poll() is None, "the launcher has not waited for its reader")
        result = job.finish(20)
        require(result.status == 7 and "exited with status 7; ending the job" in result.err, result.err)


def many_hosts():
    """So many connections at a time; who waits is told how far it is; names that nobody knows."""
    with Hosts(1) as hosts:
        # It runs the agent here, and counts how many of its kind are on their way.
        agent = os.path.join(hosts.folder, "count")
        with open(agent, "w") as script:
            script.write(f"#!/bin/sh\ncd {hosts.folder}\n: > on_its_way.$$\nset -- \"$2\" on_its_way.*\necho $(($# - 1)) >> counts\n"
                         "sleep 1.5\nrm on_its_way.$$\nexec sh -c \"$1\"\n")
        os.chmod(agent, 0o755)
        names = ",".join(f"host{i}" for i in range(40))
        start = [quire(), "run", "--agent", agent, "--hosts", names]
        result = run([*start, "sh", "-c", "echo $QUIRE_JOB_NODE"], 60)
        require(result.status == 0 and sorted(map(int, result.out.split())) == list(range(40)), result)
        require(re.search(r"^quire: \d+ of 40 hosts have answered$", result.err, re.MULTILINE), result)
        with open(os.path.join(hosts.folder, "counts")) as counts:
            most = max(map(int, counts))
        require(8 < most <= 32, f"{most} connections at a time")

        # Interrupted while it connects: at once, and nothing is left.
        job = Job([*start, "true"])
        time.sleep(0.7)
        job.kill(signal.SIGINT)
        result = job.finish(20)
        require(result.status == 128 + signal.SIGINT and "the job ends by signal 2" in result.err, result)
        require(result.seconds < 5, result)

        if shutil.which("ssh"):  # no name server is to be reached from there
            result = run(hosts.inside(1, [quire(), "run", "--hosts", names.replace("host", "no-such-host-"), "true"]), 60)
            require(result.status == 125 and re.search(r"quire: cannot start nodes on host no-such-host-\d+: ssh to host", result.err), result)
        hosts.require_nothing_left()


def start_death(hosts, options, environment=None):
    """A job whose nodes compute until somebody dies; its pids, by node, once all are at work."""
    return start_job(hosts, [*quire_run(hosts, *options), program("death_program"), "compute"], environment)


def start_job(hosts, command, environment=None, nodes=None):
    nodes = nodes or hosts.count
    job = Job(command, environment)
    deadline, text = time.monotonic() + 30, ""
    while text.count(" is ") < nodes and time.monotonic() < deadline:
        text += job.process.stdout.readline()
    pids = {int(node): int(pid) for node, pid in re.findall(r"node (\d+) is (\d+)", text)}
    require(len(pids) == nodes, f"not all nodes are at work: {text}")
    return job, pids


def deaths():
    """kill -9 of a node, of an agent, of the launcher; an interrupt: the job ends, and nothing is left."""
    with Hosts(3) as hosts:
        job, pids = start_death(hosts, [])
        os.kill(pids[1], signal.SIGKILL)
        result = job.finish(20)
        require(result.status == 128 + 9 and re.fullmatch(
            rf"quire: node 1 \(pid {pids[1]} on 10.77.0.2\) was killed by signal 9 \(Killed\); ending the job\n", result.err), result)
        hosts.require_nothing_left()

        job, pids = start_death(hosts, [])
        with open(f"/proc/{pids[2]}/stat") as stat:
            agent = int(stat.read().rsplit(")", 1)[1].split()[1])
        os.kill(agent, signal.SIGKILL)
        result = job.finish(20)
        require(result.status == 125 and "the connection to its nodes is lost" in result.err, result)
        hosts.require_nothing_left()

        job, pids = start_death(hosts, [])
        job.kill()
        job.finish(20)
        hosts.require_nothing_left()

        job, pids = start_death(hosts, [])
        job.kill(signal.SIGINT)
        result = job.finish(20)
        require(result.status == 128 + signal.SIGINT, result)
        hosts.require_nothing_left()


def containers():
    """Nodes of one machine whose containers share no memory: one line says so, and the job is right."""
    with Hosts(2) as hosts:
        apart = 'test "$QUIRE_JOB_NODE" = 1 && exec unshare -i "$@"; exec "$@"'
        result = run([*quire_run(hosts), "sh", "-c", apart, "sh", program("contract_pages_program")], 50)
        require(result.status == 0 and result.err.count("are on one machine, in other IPC namespaces") == 1, result)
        require("quire run -n 2" in result.err and "nodes 0 (" in result.err, result)
        info = run(["unshare", "-i", quire(), "info"], 20)
        require(info.status == 0 and "one of its own, as a container has" in " ".join(info.out.split()), info)
        hosts.require_nothing_left()


def silence():
    """A node that is stopped, and a cable that is pulled: noticed in time, told who it was, and nothing is left."""
    with Hosts(3) as hosts:
        job, pids = start_death(hosts, ["--peer-timeout", "2"])
        os.kill(pids[1], signal.SIGSTOP)
        result = job.finish(20)
        require(result.status == 128 + 9 and re.search(
            rf"quire: node 1 \(pid {pids[1]} on 10.77.0.2\) does not (answer: at [0-9:]+ node [02] had heard nothing|go on: it has been stopped)", result.err), result)
        hosts.require_nothing_left()

        # The way of the messages alone is cut: the agents are reached otherwise. Node 1 hears nothing from the others, and may say so first.
        job, pids = start_death(hosts, ["--peer-timeout", "2"])
        hosts.pull_cable(2)
        result = job.finish(20)
        require(result.status == 128 + 9 and f"node 1 (pid {pids[1]} on 10.77.0.2) does not answer" in result.err, result)
        hosts.require_nothing_left()
        hosts.plug_cable(2)


def comes_back():
    """All ways to a host are cut for more than the limit, and less than twice: the job goes on. TCP asks again after 6.2 s."""
    with Hosts(2) as hosts:
        reach = hosts.start_ssh()
        job = Job(hosts.inside(1, [*quire_run(hosts, "--peer-timeout", "4", agent=reach), program("stress_program"), "9"]))
        wait_until(lambda: len([pid for pid in hosts.processes() if name_of(pid) == "stress_program"]) == 2, 30, "the nodes")
        time.sleep(1)
        hosts.pull_cable(2)
        time.sleep(5)
        hosts.plug_cable(2)
        result = job.finish(40)
        require(result.status == 0, result)
        hosts.require_nothing_left()


def cut_off():
    """All ways to a host are cut, in the middle of a job started by ssh: both sides end what is theirs."""
    with Hosts(3) as hosts:
        reach = hosts.start_ssh()
        inside = hosts.inside(1, [*quire_run(hosts, "-n", "6", "--peer-timeout", "2", agent=reach), program("death_program"), "compute"])
        for cut in (2, 3):
            job = Job(inside)
            wait_until(lambda: len([pid for pid in hosts.processes() if name_of(pid) == "death_program"]) == 6, 30, "the nodes")
            time.sleep(1.5)
            begin = time.monotonic()
            hosts.pull_cable(cut)
            result = job.finish(30)
            told = [line for line in result.err.split("\n") if line.startswith("quire: ") and "does not answer" in line]
            require(result.status != 0 and len(told) == 1 and f"10.77.0.{cut}" in told[0], result)
            print(f"  told after {time.monotonic() - begin:.1f} s", flush=True)
            wait_until(lambda: not [pid for pid in hosts.processes() if name_of(pid) in ("death_program", "quire")], 20,
                       "processes are left")
            hosts.plug_cable(cut)


def survivors():
    """With --on-failure notify a node is killed, the agent of a host, and a cable is pulled: the others go on, and end well."""
    with Hosts(3) as hosts:
        reach = hosts.start_ssh()
        options = ["--on-failure", "notify", "--peer-timeout", "2"]
        program_words = [program("survive_program"), "compute"]

        def lose(victim, how, told, command=None):
            job, pids = start_job(hosts, [*(command or quire_run(hosts, *options)), *program_words], {"TEST_VICTIM": str(victim)})
            begin = time.monotonic()
            how(pids[victim])
            result = job.finish(40)
            require(result.status == 0 and re.search(told.format(victim), result.err) and "; the others go on" in result.err, result)
            for node in {0, 1, 2} - {victim}:
                require(f"node {node} hears of {victim}\n" in result.out and f"node {node} ends well" in result.out, result)
            print(f"  ended after {time.monotonic() - begin:.1f} s", flush=True)
            wait_until(lambda: not [pid for pid in hosts.processes() if name_of(pid) in ("survive_program", "quire")], 20,
                       "processes are left")

        def kill_agent(pid):
            with open(f"/proc/{pid}/stat") as stat:
                os.kill(int(stat.read().rsplit(")", 1)[1].split()[1]), signal.SIGKILL)

        lose(1, lambda pid: os.kill(pid, signal.SIGKILL), r"quire: node {} \(pid \d+ on 10.77.0.2\) was killed by signal 9")
        lose(0, lambda pid: os.kill(pid, signal.SIGKILL), r"quire: node {} \(pid \d+ on 10.77.0.1\) was killed by signal 9")
        lose(2, kill_agent, r"node {}.*10.77.0.3")
        # The way of the messages alone, then that of the launcher too.
        lose(1, lambda _: hosts.pull_cable(2), r"node {} .*10.77.0.2\) does not answer")
        hosts.plug_cable(2)
        inside = hosts.inside(1, quire_run(hosts, *options, agent=reach))
        lose(2, lambda _: hosts.pull_cable(3), r"10.77.0.3", inside)
        hosts.plug_cable(3)
        hosts.require_nothing_left()


def survivors_host():
    """With --replicas 1 all nodes of a host are killed at once, and then a host as a whole, its agent too: what was acknowledged is on the other host."""
    with Hosts(2) as hosts:
        folder = hosts.folder
        for round_, (lost, whole) in enumerate(((2, False), (1, False), (2, True))):
            ledger = os.path.join(folder, f"ledger{round_}")
            with open(ledger, "wb") as file:
                file.write(bytes(4096))
            dead = {1: (0, 1), 2: (2, 3)}[lost]
            words = quire_run(hosts, "-n", "4", "--replicas", "1", "--peer-timeout", "5")
            job, pids = start_job(hosts, [*words, program("survive_program"), "acknowledged", "2"],
                                  {"TEST_VICTIM": str(dead[0]), "TEST_LEDGER": ledger}, nodes=4)
            time.sleep(0.5)
            here = hosts.processes_of(lost)
            require(all(pids[node] in here for node in dead), f"nodes {dead} do not run on host {lost}")
            for pid in here if whole else [pids[node] for node in dead]:
                with contextlib.suppress(ProcessLookupError):  # some go with those before them
                    os.kill(pid, signal.SIGKILL)
            result = job.finish(60)
            require(result.status == 0, result)
            for node in {0, 1, 2, 3} - set(dead):
                require(f"node {node} ends well" in result.out, result)
                require(all(f"node {node} hears of {one}\n" in result.out for one in dead), result)
            print(f"  host {lost}, {'all of it' if whole else 'its nodes'}: {result.seconds:.1f} s", flush=True)
            wait_until(lambda: not [pid for pid in hosts.processes() if name_of(pid) in ("survive_program", "quire")], 20, "processes are left")


def ssh():
    with Hosts(3) as hosts:
        reach = hosts.start_ssh()
        # On a host itself: its sshd is reached over the network.
        inside = [*hosts.inside(1, quire_run(hosts, "--tag", agent=reach))]
        run_suite([["contract_sync_program"], ["stress_program", "1"]], inside)
        run_stock(hosts.inside(1, quire_run(hosts, agent=reach)), [ENDS_WITH_5])
        hosts.require_traffic(100_000)
        job = Job([*inside, "sleep", "60"])
        wait_until(lambda: len([pid for pid in hosts.processes() if name_of(pid) == "sleep"]) == 3, 20, "the nodes")
        job.kill()
        job.finish(10)
        wait_until(lambda: not [pid for pid in hosts.processes() if name_of(pid) in ("sleep", "quire")], 10,
                   "processes are left")


def alone():
    """Without a launcher: a job of one node, also with variables of a launcher that is no longer there."""
    told = run_well([program("launcher_program"), "exchange", "10"], 10).out
    require(told == "node 0 of 1, 1 here\n", told)
    result = run([program("launcher_program"), "exchange", "10"], 20,
                 environment={"PMIX_NAMESPACE": "gone", "PMIX_RANK": "0"})
    require(result.status == 43 and "unset PMIX_NAMESPACE" in result.err, result)


CASES = {case.__name__: case for case in (own_starter, several_on_a_host, own_starter_long, own_starter_streams, readers, many_hosts, limited_bandwidth,
                                          deaths, containers, silence, comes_back, cut_off, survivors, survivors_host, ssh, alone, *others.CASES, *mounts.CASES,
                                          *rendezvous.CASES, *networks.CASES)}


def give_up(*_):
    raise Failed("it has taken too long")


def main():
    case, suite.build = sys.argv[1], os.path.abspath(sys.argv[2])
    adopt_orphans()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has its background jobs ignore it, and all that they start
    signal.signal(signal.SIGALRM, give_up)
    signal.signal(signal.SIGTERM, give_up)
    signal.alarm(LIMIT)
    try:
        CASES[case]()
    except Failed as why:
        print(f"FAILED {case}: {why}", file=sys.stderr)
        return 1
    finally:
        signal.alarm(0)
        end_children()
    return 0


if __name__ == "__main__":
    sys.exit(main())
