#!/usr/bin/env python3
"""Quire's programs under every launcher that it knows, by TCP between network namespaces as hosts and on one machine.

    launch_test.py CASE BUILD_FOLDER

A case makes what it needs, and removes it. It is skipped (status 77) without root or without the launcher's package.
"""

import json
import os
import re
import signal
import sys
import time

from namespaces import Hosts
from slurm import Slurm
from support import Failed, Job, adopt_orphans, end_children, need_program, require, run, run_well, wait_until

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
BUILD = ""
LIMIT = 150  # seconds for a case


def program(name):
    return os.path.join(BUILD, "tests", "litmus" if name.startswith("litmus") else "process", name)


# The core's process suite, as far as it fits in the time; each with its arguments.
SUITE = [["contract_pages_program"], ["contract_sync_program"], ["contract_atomics_program"], ["contract_heap_program"],
         ["contract_names_program"], ["contract_release_program"], ["stress_program", "2"],
         ["litmus_program", "message_passing", "256"]]
SHORT = [["contract_sync_program"], ["contract_release_program"], ["stress_program", "1"]]


def run_suite(suite, start, limit=60, **how):
    for name, *arguments in suite:
        run_well([*start, program(name), *arguments], limit, **how)


def quire_run(hosts, *options, agent=None):
    return [os.path.join(BUILD, "bin", "quire"), "run", "--hosts", ",".join(hosts.addresses), "--launcher", "ssh",
            "--agent", agent or hosts.agent, "--timeout", "50", *options]


def own_starter():
    with Hosts(4) as hosts:
        run_suite(SUITE, quire_run(hosts, "--tag"))
        hosts.require_traffic(1_000_000)
        told = run_well([*quire_run(hosts, "-n", "6", "--tag"), program("launcher_program"), "exchange", "4000"], 30).out
        require(sorted(told.split("\n"))[1:] == [f"[{i}] node {i} of 6, {2 if i < 4 else 1} here" for i in range(6)], told)
        hosts.require_nothing_left()


def limited_bandwidth():
    with Hosts(4, limit="200mbit") as hosts:
        run_suite([["contract_pages_program"], ["contract_sync_program"], ["stress_program", "1"]], quire_run(hosts))
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


def state_of(pid):
    """The letter of its state; nothing if there is no such process. Z: it has ended, and nobody has asked for its status yet."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


def stopped_node(start, **how):
    """A launcher of others: a node that is stopped ends the job there, too, and does not stay."""
    job = Job([*start, program("death_program"), "compute"], **how)
    deadline, text = time.monotonic() + 30, ""
    while text.count(" is ") < 3 and time.monotonic() < deadline:
        text += job.process.stdout.readline()
    victim = re.search(r"node 1 is (\d+)", text)
    require(victim, f"not all nodes are at work: {text}")
    time.sleep(0.5)
    os.kill(int(victim.group(1)), signal.SIGSTOP)
    result = job.finish(30)
    require(result.status != 0 and f"node 1 (pid {victim.group(1)} on " in result.err and "does not answer: nothing was heard"
            in result.err, result)
    wait_until(lambda: state_of(int(victim.group(1))) in ("", "Z"), 10, "the node that was stopped is left")
    print(f"  {result.seconds:.1f} s", flush=True)


def start_death(hosts, options, environment=None):
    """A job whose nodes compute until somebody dies; its pids, by node, once all are at work."""
    job = Job([*quire_run(hosts, *options), program("death_program"), "compute"], environment)
    deadline, text = time.monotonic() + 30, ""
    while text.count(" is ") < hosts.count and time.monotonic() < deadline:
        text += job.process.stdout.readline()
    pids = {int(node): int(pid) for node, pid in re.findall(r"node (\d+) is (\d+)", text)}
    require(len(pids) == hosts.count, f"not all nodes are at work: {text}")
    return job, pids


def deaths():
    """kill -9 of a node, of an agent, of the launcher; an interrupt: the job ends, and nothing is left."""
    with Hosts(3) as hosts:
        job, pids = start_death(hosts, [])
        os.kill(pids[1], signal.SIGKILL)
        result = job.finish(20)
        require(result.status == 128 + 9 and "on 10.77.0.2) was killed by signal 9" in result.err, result)
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


def silence():
    """A node that is stopped, and a cable that is pulled: noticed in time, told who it was, and nothing is left."""
    with Hosts(3) as hosts:
        job, pids = start_death(hosts, ["--peer-timeout", "2"])
        os.kill(pids[1], signal.SIGSTOP)
        result = job.finish(20)
        require(result.status == 128 + 9 and re.search(
            rf"quire: node 1 \(pid {pids[1]} on 10.77.0.2\) does not answer: at [0-9:]+ node [02] had heard nothing", result.err), result)
        hosts.require_nothing_left()

        # The way of the messages alone is cut: the agents are reached otherwise.
        job, pids = start_death(hosts, ["--peer-timeout", "2"])
        hosts.pull_cable(2)
        result = job.finish(20)
        require(result.status == 128 + 9 and f"quire: node 1 (pid {pids[1]} on 10.77.0.2) does not answer" in result.err, result)
        hosts.require_nothing_left()
        hosts.plug_cable(2)


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


def ssh():
    with Hosts(3) as hosts:
        reach = hosts.start_ssh()
        # On a host itself: its sshd is reached over the network.
        inside = [*hosts.inside(1, quire_run(hosts, "--tag", agent=reach))]
        run_suite([["contract_sync_program"], ["stress_program", "1"]], inside)
        hosts.require_traffic(100_000)
        job = Job([*inside, "sleep", "60"])
        wait_until(lambda: len([pid for pid in hosts.processes() if name_of(pid) == "sleep"]) == 3, 20, "the nodes")
        job.kill()
        job.finish(10)
        wait_until(lambda: not [pid for pid in hosts.processes() if name_of(pid) in ("sleep", "quire")], 10,
                   "processes are left")


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""


def mpirun():
    """Open MPI between namespaces, started by itself and by `quire run --launcher mpirun`; and on this machine."""
    starter = need_program("mpirun.openmpi", "openmpi-bin")
    with Hosts(4) as hosts:
        own = {**AS_ROOT, "OMPI_MCA_oob_tcp_if_include": "10.77.0.0/24", "OMPI_MCA_plm_rsh_agent": hosts.agent,
               "OMPI_MCA_plm": "rsh", "OMPI_MCA_orte_tmpdir_base": hosts.folder}
        start = [starter, "-np", "4", "--bind-to", "none", "--host", ",".join(f"{a}:1" for a in hosts.addresses)]
        run_suite([["contract_pages_program"], *SHORT], hosts.inside(1, start), environment=own)
        hosts.require_traffic(1_000_000)
        by_quire = [os.path.join(BUILD, "bin", "quire"), "run", "--hosts", ",".join(hosts.addresses), "--launcher",
                    "mpirun", "--agent", hosts.agent, "--set", "log=info"]
        run_suite([["contract_sync_program"]], hosts.inside(1, by_quire), environment=own)
        hosts.require_nothing_left()


def mpirun_local():
    starter = need_program("mpirun.openmpi", "openmpi-bin")
    start = [starter, "--oversubscribe", "--bind-to", "none"]
    run_suite(SHORT, [*start, "-np", "3"], environment=AS_ROOT)
    run_well([*start, "-np", "2", program("contract_sync_program")], 60, environment={**AS_ROOT, "QUIRE_POOL": "fork"})
    stopped_node([*start, "-np", "3"], environment={**AS_ROOT, "QUIRE_PEER_TIMEOUT": "2"})
    # Survivors are told of a death, as long as the launcher lets them live.
    result = run([*start, "--enable-recovery", "-np", "3", program("launcher_program"), "killed", "1"], 30,
                 environment=AS_ROOT)
    require(result.out.count('news: node_died 1 "node 1 ') == 2, result)


def hydra():
    starter = need_program("mpiexec.hydra", "mpich")
    start = [starter, "-n", "4"]
    told = run_well([*start, program("launcher_program"), "exchange", "20000"], 30).out
    require(sorted(told.split("\n"))[1:] == [f"node {i} of 4, 4 here" for i in range(4)], told)
    run_suite(SHORT, start)
    stopped_node([starter, "-n", "3"], environment={"QUIRE_PEER_TIMEOUT": "2"})
    result = run([*start, program("launcher_program"), "killed", "1"], 30)
    require(result.status != 0, result)


def slurm():
    with Slurm() as cluster:
        start = ["srun", "-N", "4", "-n", "4", "--cpu-bind=none", "--mpi=pmix"]
        own = {**cluster.environment, "QUIRE_TRANSPORT": "tcp"}
        run_suite([["contract_pages_program"], *SHORT], start, environment=own)
        by_quire = [os.path.join(BUILD, "bin", "quire"), "run", "--launcher", "srun", "-n", "4"]
        run_suite([["contract_sync_program"]], by_quire, environment=cluster.environment)
        result = run(["srun", "-n", "4", "--mpi=none", program("contract_sync_program")], 30,
                     environment=cluster.environment)
        require(result.status != 0 and "use srun --mpi=pmix" in result.err, result)
        stopped_node(["srun", "-u", "-N", "3", "-n", "3", "--cpu-bind=none", "--mpi=pmix"],
                     environment={**own, "QUIRE_PEER_TIMEOUT": "2"})
        result = run(["srun", "-N", "4", "-n", "4", "--mpi=pmix", program("death_program"), "exit_with_5"], 40,
                     environment=cluster.environment)
        require(result.status != 0 and result.seconds < 30, result)
        require(re.search(r"node 1 (\(pid \d+ on .*\) cannot be reached any more|has ended)", result.err), result)


def alone():
    """Without a launcher: a job of one node, also with variables of a launcher that is no longer there."""
    told = run_well([program("launcher_program"), "exchange", "10"], 10).out
    require(told == "node 0 of 1, 1 here\n", told)
    result = run([program("launcher_program"), "exchange", "10"], 20,
                 environment={"PMIX_NAMESPACE": "gone", "PMIX_RANK": "0"})
    require(result.status == 43 and "unset PMIX_NAMESPACE" in result.err, result)


CASES = {case.__name__: case for case in (own_starter, own_starter_streams, limited_bandwidth, deaths, silence, cut_off, ssh, mpirun,
                                          mpirun_local, hydra, slurm, alone)}


def give_up(*_):
    raise Failed("it has taken too long")


def main():
    global BUILD
    case, BUILD = sys.argv[1], os.path.abspath(sys.argv[2])
    adopt_orphans()
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
