# SPDX-License-Identifier: BSD-3-Clause
"""Cases with mounted containers (`quire run --mount`, QUIRE_MOUNT) on several hosts, each of which has mounts of its own: programs on all hosts see one
content, and whoever dies, nothing stays mounted on any."""

import os
import signal
import subprocess

from namespaces import Hosts
from others import mpirun_on, open_mpi
from slurm import Slurm
from suite import program, quire
from support import Job, need_program, require, run_well, skip, wait_until


class Files:
    """What a job needs in a folder of its own: where it mounts, and a file."""

    def __init__(self, folder):
        if not os.access("/dev/fuse", os.R_OK | os.W_OK):
            skip("/dev/fuse cannot be opened")
        self.where, self.data = os.path.join(folder, "shown"), os.path.join(folder, "data")
        os.mkdir(self.where)

    def exchange(self):
        """A program that leaves the content right only if all nodes' programs see what the others write."""
        with open(self.data, "wb") as file:
            file.truncate(400_000)
        return [program("mount_program"), "programs", self.data]

    def check(self):
        require(os.path.getsize(self.data) == 100_000, "the file is not what programs have made of it")


class Held:
    """A job in which calls on the files are held, and what its hosts have mounted, also when it has ended."""

    def __init__(self, command, files, count, environment=None):
        with open(files.data, "wb") as file:
            file.truncate(400_000)
        self.where = files.where
        self.job = Job([*command, program("mount_program"), "held", files.data], environment)
        line = self.job.process.stdout.readline()
        self.pids = [int(pid) for pid in line.split()[1:]]
        require(len(self.pids) == count, f"not all nodes are at work: {line}")
        self.spaces = [os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY) for pid in self.pids]
        require(all(self.mounted()), f"not on all hosts: {self.mounted()}")

    def mounted(self):
        tables = [subprocess.run(["nsenter", f"--mount=/proc/{os.getpid()}/fd/{space}", "cat", "/proc/self/mounts"], capture_output=True, text=True,
                                 check=True).stdout for space in self.spaces]
        return [f" {self.where} fuse.quire " in table for table in tables]

    def die(self, pid, limit=40):
        """Kills a process; the job ends, and nothing is mounted then."""
        os.kill(pid, signal.SIGKILL)
        result = self.job.finish(limit)
        require(result.status != 0, result)
        wait_until(lambda: not any(self.mounted()), 20, "something stays mounted")
        for space in self.spaces:
            os.close(space)
        require(not os.listdir(self.where), "something is left in the directory")


def parent_of(pid):
    with open(f"/proc/{pid}/stat") as facts:
        return int(facts.read().rsplit(")", 1)[1].split()[1])


def mount_hosts():
    """By our own starter."""
    with Hosts(3) as hosts:
        files = Files(hosts.folder)
        start = [quire(), "run", "--hosts", ",".join(hosts.addresses), "--agent", hosts.agent, "--timeout", "50", "--mount", files.where]
        run_well([*start, *files.exchange()], 60)
        files.check()
        hosts.require_traffic(10_000)
        run_well([*start, program("mount_program"), "names"], 60)
        for victim in (lambda held: held.pids[0], lambda held: held.pids[1], lambda held: parent_of(held.pids[2]), lambda held: held.job.process.pid):
            held = Held(start, files, 3)
            held.die(victim(held))
            hosts.require_nothing_left()


def mount_mpirun():
    """By Open MPI, which knows nothing of mounts."""
    need_program("mpirun.openmpi", "openmpi-bin")
    with Hosts(4) as hosts:
        files = Files(hosts.folder)
        own = {**open_mpi(hosts, hosts.start_ssh()), "QUIRE_MEMORY_LIMIT": "0", "QUIRE_MOUNT": files.where}
        start = mpirun_on(hosts)
        start += ["-x", "QUIRE_MOUNT"]
        run_well([*start, *files.exchange()], 90, environment=own)
        files.check()
        hosts.require_traffic(10_000)
        for victim in (lambda held: held.pids[0], lambda held: held.pids[1], lambda held: held.job.process.pid):
            held = Held(start, files, 4, own)
            held.die(victim(held))
            wait_until(lambda: not [pid for pid in hosts.processes() if hosts.is_ours(pid)], 20, "some processes are left on the hosts")


def mount_slurm():
    """By srun, with a node of Slurm's on each host."""
    with Hosts(4) as hosts, Slurm(hosts) as cluster:
        files = Files(hosts.folder)
        own = {**cluster.environment, "QUIRE_MOUNT": files.where}
        start = hosts.inside(1, ["srun", "-u", "-N", "4", "-n", "4", "--cpu-bind=none", "--mpi=pmix"])
        run_well([*start, *files.exchange()], 90, environment=own)
        files.check()
        for victim in (lambda held: held.pids[0], lambda held: held.pids[1], lambda held: held.job.process.pid):
            held = Held(start, files, 4, own)
            held.die(victim(held), 60)


CASES = (mount_hosts, mount_mpirun, mount_slurm)
