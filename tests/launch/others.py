# SPDX-License-Identifier: BSD-3-Clause
"""Cases with launchers of others: Open MPI, Hydra, Slurm."""

import os
import re
import signal
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from namespaces import Hosts
from slurm import Slurm
from suite import ENDS_WITH_5, PAGED_OUT, REACHED, REPRESENTATIVE, SHORT, program, quire, run_stock, run_suite
from support import Job, need_program, require, run, run_well, state_of, wait_until

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


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


PASSED = ("QUIRE_ON_FAILURE", "QUIRE_PEER_TIMEOUT", "TEST_VICTIM", "TEST_LEDGER", "QUIRE_REPORT", "QUIRE_REPLICAS")  # to other hosts


ONE = ("compute", (0,), signal.SIGKILL)
WAYS = (ONE, ("acknowledged", (1,), signal.SIGKILL), ("rounds", (2,), signal.SIGKILL), ("compute", (1, 0), signal.SIGKILL),
        ("compute", (1,), signal.SIGSTOP))


def others_go_on(start, ways=WAYS, **how):
    """A launcher of others that lets survivors live: one node of three is killed or stopped, two are killed; with replicas nothing that was acknowledged
    is lost. The report names the dead, and says what they did."""
    for what, victims, number in ways:
        with tempfile.TemporaryDirectory(prefix="quire-launch-") as folder:
            ledger = os.path.join(folder, "ledger")
            with open(ledger, "wb") as file:
                file.write(bytes(4096))
            environment = {**how.get("environment", {}), "QUIRE_ON_FAILURE": "notify", "QUIRE_PEER_TIMEOUT": "3", "TEST_VICTIM": str(victims[0]),
                           "QUIRE_REPORT": f"{folder}/records"}
            if what == "acknowledged":
                environment |= {"QUIRE_REPLICAS": "1", "TEST_LEDGER": ledger}
            job = Job([*start, program("survive_program"), what, str(len(victims))], environment=environment)
            pids, said, deadline = {}, "", time.monotonic() + 30
            while len(pids) < 3 and time.monotonic() < deadline:
                said += job.process.stdout.readline()
                pids = {int(node): int(pid) for node, pid in re.findall(r"node (\d+) is (\d+)\n", said)}
            require(len(pids) == 3, f"not all nodes are at work: {said}")
            time.sleep(0.3)
            for victim in victims:
                os.kill(pids[victim], number)
            result = job.finish(60)
            for node in {0, 1, 2} - set(victims):
                require(f"node {node} ends well" in result.out, result)
                require(all(f"node {node} hears of {victim}\n" in result.out for victim in victims), result)
            wait_until(lambda: not [pid for pid in pids.values() if state_of(pid) not in ("", "Z")], 10, "nodes are left")
            if number == signal.SIGSTOP:
                require("node 1 does not answer" in result.err and "it is killed" in result.err, result)
            # The report of all three, though some were killed.
            run_well([quire(), "report", f"{folder}/records", "-o", f"{folder}/page.html"], 60)
            with open(f"{folder}/page.html") as page:
                require(f'"dead":[{",".join(map(str, sorted(victims)))}],' in page.read(), "the report does not name the dead")
            print(f"  {what}, {victims}: {result.seconds:.1f} s", flush=True)


def open_mpi(hosts, reach):
    """What Open MPI wants to know in order to use our hosts."""
    return {**AS_ROOT, "OMPI_MCA_oob_tcp_if_include": "10.77.0.0/24", "OMPI_MCA_plm_rsh_agent": reach, "OMPI_MCA_plm": "rsh",
            "OMPI_MCA_orte_tmpdir_base": hosts.folder}


def mpirun_on(hosts):
    # -x: what a program of the suite needs of its own
    return hosts.inside(1, [need_program("mpirun.openmpi", "openmpi-bin"), "-np", "4", "--bind-to", "none", "-x",
                            "QUIRE_MEMORY_LIMIT", "--host", ",".join(f"{a}:1" for a in hosts.addresses)])


def mpirun():
    """Open MPI between namespaces, over an sshd in each: by itself, and for `quire run --launcher mpirun`."""
    need_program("mpirun.openmpi", "openmpi-bin")
    with Hosts(4) as hosts:
        reach = hosts.start_ssh()
        own = {**open_mpi(hosts, reach), "QUIRE_MEMORY_LIMIT": "0"}
        run_suite(REACHED, mpirun_on(hosts), environment=own)
        hosts.require_traffic(1_000_000)
        run_stock([*mpirun_on(hosts), "-x", "OMP_NUM_THREADS", quire(), "exec"], [ENDS_WITH_5], environment=own)
        by_quire = [quire(), "run", "--launcher", "mpirun", "--agent", reach]
        run_suite([["contract_sync_program"]], hosts.inside(1, [*by_quire, "--hosts", ",".join(hosts.addresses)]), environment=own)
        run_stock(hosts.inside(1, [*by_quire, "--hosts", ",".join(hosts.addresses)]), [ENDS_WITH_5], environment=own)
        # The order that was asked for, and two nodes on a host; mpirun by itself begins with its own host.
        told = run_well(hosts.inside(1, [*by_quire, "--hosts", "10.77.0.3:2,10.77.0.1,10.77.0.2", "sh", "-c",
                                         "echo $PMIX_RANK $(hostname)"]), 30, environment=own).out
        require(sorted(told.split("\n"))[1:] == ["0 h3", "1 h3", "2 h1", "3 h2"], told)
        wait_until(lambda: not [pid for pid in hosts.processes() if hosts.is_ours(pid)], 5, "some processes are left on the hosts")


def mpirun_long():
    """More programs, between hosts with little bandwidth."""
    with Hosts(4, limit="200mbit") as hosts:
        own = {**open_mpi(hosts, hosts.agent), "QUIRE_MEMORY_LIMIT": "0"}
        run_suite([PAGED_OUT, *REPRESENTATIVE], mpirun_on(hosts), environment=own)
        hosts.require_traffic(1_000_000)
        hosts.require_nothing_left()


def mpirun_5():
    """Open MPI 5, whose mpirun is PRRTE's. Its PMIx may complain of an older library (Debian's) in words of its own."""
    folder = os.path.join(os.path.dirname(__file__), "..", "..", ".cache", "openmpi5", "bin")
    starter = need_program("mpirun", "scripts/setup.sh launchers installs Open MPI 5", os.path.abspath(folder))
    with Hosts(3) as hosts:
        own = {**AS_ROOT, "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_MCA_plm_ssh_agent": hosts.agent,
               "PRTE_MCA_prte_tmpdir_base": hosts.folder}
        start = [starter, "-np", "3", "--bind-to", "none", "--host", ",".join(f"{a}:1" for a in hosts.addresses)]
        run_suite([["contract_pages_program"], *SHORT], hosts.inside(1, start), environment=own)
        hosts.require_traffic(1_000_000)
        run_stock(hosts.inside(1, [*start, "-x", "OMP_NUM_THREADS", quire(), "exec"]), environment=own)
        path = {"PATH": os.path.dirname(starter) + ":" + os.environ["PATH"]}
        told = run_well(hosts.inside(1, [quire(), "run", "--launcher", "mpirun", "--agent", hosts.agent, "--hosts",
                                         "10.77.0.3:2,10.77.0.1,10.77.0.2", "sh", "-c", "echo $PMIX_RANK $(hostname)"]), 30,
                        environment={**own, **path}).out
        require(sorted(told.split("\n"))[1:] == ["0 h3", "1 h3", "2 h1", "3 h2"], told)
        stopped_node(hosts.inside(1, start), environment={**own, "QUIRE_PEER_TIMEOUT": "2"})
        others_go_on(hosts.inside(1, [quire(), "run", "--launcher", "mpirun", "--agent", hosts.agent, "--hosts", ",".join(hosts.addresses),
                                      "--on-failure", "notify"]), environment={**own, **path}, ways=WAYS[:2])
        hosts.require_nothing_left()


def mpirun_local():
    starter = need_program("mpirun.openmpi", "openmpi-bin")
    start = [starter, "--oversubscribe", "--bind-to", "none"]
    run_suite(SHORT, [*start, "-np", "3"], environment=AS_ROOT)
    run_stock([*start, "-np", "3", quire(), "exec"], environment=AS_ROOT)
    run_well([*start, "-np", "2", program("contract_sync_program")], 60, environment={**AS_ROOT, "QUIRE_POOL": "fork"})
    stopped_node([*start, "-np", "3"], environment={**AS_ROOT, "QUIRE_PEER_TIMEOUT": "2"})
    # Survivors are told of a death, as long as the launcher lets them live.
    result = run([*start, "--enable-recovery", "-np", "3", program("launcher_program"), "killed", "1"], 30,
                 environment=AS_ROOT)
    require(result.out.count('news: node_died 1 "node 1 ') == 2, result)
    others_go_on([*start, "--enable-recovery", "-np", "3"], environment=AS_ROOT)


def hydra():
    starter = need_program("mpiexec.hydra", "mpich")
    start = [starter, "-n", "4"]
    told = run_well([*start, program("launcher_program"), "exchange", "20000"], 30).out
    require(sorted(told.split("\n"))[1:] == [f"node {i} of 4, 4 here" for i in range(4)], told)
    run_suite(SHORT, start)
    run_stock([*start, quire(), "exec"])
    # Several at once: Hydra, when a node tells it to end all, drops what it has not read, on a busy machine often the very message.
    with ThreadPoolExecutor(6) as at_once:
        list(at_once.map(lambda _: stopped_node([starter, "-n", "3"], environment={"QUIRE_PEER_TIMEOUT": "2"}), range(6)))
    result = run([*start, program("launcher_program"), "killed", "1"], 30)
    require(result.status != 0, result)
    result = run([*start, program("survive_program")], 30, environment={"QUIRE_ON_FAILURE": "notify"})
    require(result.status != 0 and "MPICH's Hydra ends all processes when one that it has started is killed" in result.err, result)
    others_go_on([starter, "-disable-auto-cleanup", "-n", "3", "sh", "-c", '"$0" "$@"; exit $?'])


SRUN = ["srun", "-N", "4", "-n", "4", "--cpu-bind=none"]


def slurm():
    """Slurm with four nodes on this machine, by PMIx."""
    with Slurm() as cluster:
        start = [*SRUN, "--mpi=pmix"]
        own = {**cluster.environment, "QUIRE_TRANSPORT": "tcp"}
        run_suite(REACHED, start, environment=own)
        run_stock([*start, quire(), "exec"], environment=own)
        stopped_node(["srun", "-u", "-N", "3", "-n", "3", "--cpu-bind=none", "--mpi=pmix"],
                     environment={**own, "QUIRE_PEER_TIMEOUT": "2"})
        result = run([*start, program("death_program"), "exit_with_5"], 40, environment=cluster.environment)
        require(result.status != 0 and result.seconds < 30, result)
        require(re.search(r"node 1 (\(pid \d+ on .*\) cannot be reached any more|has ended)", result.err), result)
        for how in ("pmix", "pmi2"):
            others_go_on(["srun", "-u", "-N", "1", "-n", "3", "-O", "--cpu-bind=none", "--kill-on-bad-exit=0", f"--mpi={how}"],
                         environment=cluster.environment)


def slurm_starts():
    """By PMI-2, by `quire run`, and not at all."""
    with Slurm() as cluster:
        own = {**cluster.environment, "QUIRE_TRANSPORT": "tcp"}
        start = [*SRUN, "--mpi=pmi2"]
        told = run_well([*start, program("launcher_program"), "exchange", "20000"], 30, environment=own).out
        require(sorted(told.split("\n"))[1:] == [f"node {i} of 4, 1 here" for i in range(4)], told)
        told = run_well(["srun", "-O", "-N", "2", "-n", "4", "-m", "arbitrary", "-w", "n1,n0,n0,n0", "--mpi=pmi2",
                         program("launcher_program"), "exchange", "10"], 30, environment=own).out
        require(sorted(told.split("\n"))[1:] == ["node 0 of 4, 1 here"] + [f"node {i} of 4, 3 here" for i in (1, 2, 3)], told)
        run_suite(SHORT, start, environment=own)
        run_stock([*start, quire(), "exec"], [ENDS_WITH_5], environment=own)
        stopped_node(["srun", "-u", "-N", "3", "-n", "3", "--cpu-bind=none", "--mpi=pmi2"],
                     environment={**own, "QUIRE_PEER_TIMEOUT": "2"})
        # This plug-in tells nobody of a death, and lets the others live; they notice.
        result = run([*start, program("death_program"), "exit_with_5"], 40, environment=own)
        require(result.status != 0 and result.seconds < 30, result)

        result = run(["srun", "-n", "4", "--mpi=none", program("contract_sync_program")], 30, environment=cluster.environment)
        require(result.status != 0 and "use srun --mpi=pmix or --mpi=pmi2" in result.err, result)

        by_quire = [quire(), "run", "--launcher", "srun"]
        run_suite([["contract_sync_program"]], [*by_quire, "-n", "4"], environment=cluster.environment)
        run_stock([*by_quire, "-n", "4"], [ENDS_WITH_5], environment=cluster.environment)
        # The order that was asked for, and two nodes on a host that has one core in the allocation.
        run_well(["salloc", "-N4", "--no-shell"], 20, environment=cluster.environment)
        job = run_well(["squeue", "-h", "-o", "%i"], 20, environment=cluster.environment).out.strip()
        inside = {**cluster.environment, "SLURM_JOB_ID": job}
        told = run_well([*by_quire, "--hosts", "n3,n1:2,n0", "sh", "-c", "echo $PMIX_RANK $SLURMD_NODENAME"], 30, environment=inside).out
        require(sorted(told.split("\n"))[1:] == ["0 n3", "1 n1", "2 n1", "3 n0"], told)
        run_suite([["contract_sync_program"]], [*by_quire, "--hosts", "n3,n1:2,n0"], environment=inside)
        result = run([*by_quire, "--hosts", "n3,n9", "true"], 30, environment=inside)
        require(result.status != 0 and "srun: error:" in result.err, result)


def slurm_limited(programs=SHORT):
    """Slurm with a node in each of four namespaces, and little bandwidth between them."""
    with Hosts(4, limit="200mbit") as hosts, Slurm(hosts) as cluster:
        run_suite(programs, hosts.inside(1, [*SRUN, "--mpi=pmix"]), environment=cluster.environment)
        hosts.require_traffic(1_000_000)


def slurm_long():
    slurm_limited([PAGED_OUT, *REPRESENTATIVE])


def survivors_mpirun():
    """Deaths on other hosts, of which Open MPI says nothing that is certain."""
    with Hosts(3) as hosts:
        start = hosts.inside(1, [need_program("mpirun.openmpi", "openmpi-bin"), "--enable-recovery", "-np", "3", "--bind-to", "none",
                                 *[word for name in PASSED for word in ("-x", name)], "--host", ",".join(f"{a}:1" for a in hosts.addresses)])
        others_go_on(start, environment=open_mpi(hosts, hosts.agent))
        others_go_on(hosts.inside(1, [quire(), "run", "--launcher", "mpirun", "--agent", hosts.agent, "--hosts", ",".join(hosts.addresses),
                                      "--on-failure", "notify"]), environment=open_mpi(hosts, hosts.agent), ways=(ONE,))
        hosts.require_traffic(20_000)
        hosts.require_nothing_left()


def survivors_hydra():
    with Hosts(3) as hosts:
        start = [need_program("mpiexec.hydra", "mpich"), "-disable-auto-cleanup", "-launcher", "rsh", "-launcher-exec", hosts.agent, "-hosts",
                 ",".join(hosts.addresses), "-n", "3", "sh", "-c", '"$0" "$@"; exit $?']
        others_go_on(hosts.inside(1, start))
        hosts.require_traffic(20_000)
        hosts.require_nothing_left()


def survivors_slurm():
    with Hosts(4) as hosts, Slurm(hosts) as cluster:
        for how in ("pmix", "pmi2"):
            others_go_on(hosts.inside(1, ["srun", "-u", "-N", "3", "-n", "3", "--cpu-bind=none", "--kill-on-bad-exit=0", f"--mpi={how}"]),
                         environment=cluster.environment)
        others_go_on(hosts.inside(1, [quire(), "run", "--launcher", "srun", "-n", "3", "--on-failure", "notify"]), environment=cluster.environment, ways=(ONE,))
        require(all(hosts.sent_bytes(i) >= 20_000 for i in (1, 2, 3)), "messages have not gone by TCP")


CASES = (mpirun, mpirun_long, mpirun_5, mpirun_local, hydra, slurm, slurm_starts, slurm_limited, slurm_long, survivors_mpirun, survivors_hydra,
         survivors_slurm)
