# SPDX-License-Identifier: BSD-3-Clause
"""Slurm with four nodes, n0 to n3: munged, slurmctld and four slurmd, all on this machine or each node on one of `Hosts`, and
all files in one temporary folder; leaving the `with` ends them and removes it."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile

from support import need_program, need_root, skip, wait_until

NODES = 4


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Slurm:
    def __init__(self, hosts=None):
        self.hosts = hosts

    def __enter__(self):
        need_root()
        programs = {name: need_program(name, package) for name, package in
                    (("munged", "munge"), ("slurmctld", "slurmctld"), ("slurmd", "slurmd"), ("srun", "slurm-client"))}
        if "pmix" not in subprocess.run([programs["srun"], "--mpi=list"], capture_output=True, text=True, timeout=20,
                                        env={**os.environ, "SLURM_CONF": "/dev/null"}).stderr + self._plugins():
            skip("Slurm has no plug-in for PMIx here (Debian: slurm-wlm-basic-plugins)")
        self.folder, self.daemons = tempfile.mkdtemp(prefix="quire-slurm-"), []
        try:
            self._start(programs)
        except BaseException:
            self.__exit__()
            raise
        return self

    @staticmethod
    def _plugins():
        folder = "/usr/lib/x86_64-linux-gnu/slurm-wlm"
        return " ".join(os.listdir(folder)) if os.path.isdir(folder) else ""

    def _place(self, i):
        """Host name and address of node i."""
        return (f"h{i + 1}", self.hosts.addresses[i]) if self.hosts else (socket.gethostname(), "127.0.0.1")

    def _inside(self, i, words):
        return self.hosts.inside(i + 1, words) if self.hosts else words

    def _start(self, programs):
        here = self.folder
        os.chmod(here, 0o755)
        ports = free_ports(NODES + 1)
        munge = os.path.join(here, "munge")
        os.mkdir(munge, 0o755)
        with open(os.open(f"{here}/munge.key", os.O_CREAT | os.O_WRONLY, 0o600), "wb") as key:
            key.write(os.urandom(128))
        for i in range(NODES):
            os.mkdir(f"{here}/tmp.n{i}")
            os.mkdir(f"{here}/spool.n{i}")
        os.mkdir(f"{here}/state")
        lines = [
            "ClusterName=quire", "SlurmctldHost={}({})".format(*self._place(0)), "SlurmUser=root", "AuthType=auth/munge",
            f"AuthInfo=socket={munge}/socket", "CredType=cred/munge", f"SlurmctldPort={ports[NODES]}",
            f"StateSaveLocation={here}/state", f"SlurmdSpoolDir={here}/spool.%n", f"SlurmctldPidFile={here}/ctld.pid",
            f"SlurmdPidFile={here}/slurmd.%n.pid", f"SlurmctldLogFile={here}/ctld.log",
            f"SlurmdLogFile={here}/slurmd.%n.log", f"TmpFS={here}/tmp.%n", "MpiDefault=pmix",
            "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "SlurmdParameters=config_overrides",
            "SelectType=select/cons_tres", "SchedulerType=sched/builtin", "ReturnToService=2", "SwitchType=switch/none",
            "JobAcctGatherType=jobacct_gather/none", "AccountingStorageType=accounting_storage/none"]
        for i in range(NODES):
            host, address = self._place(i)
            lines.append(f"NodeName=n{i} NodeHostname={host} NodeAddr={address} Port={ports[i]} CPUs=2 State=UNKNOWN")
        lines.append(f"PartitionName=all Nodes=n[0-{NODES - 1}] Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES")
        with open(f"{here}/slurm.conf", "w") as file:
            file.write("\n".join(lines) + "\n")
        if self.hosts:  # there slurmd finds no file system of control groups, by which it would choose
            with open(f"{here}/cgroup.conf", "w") as file:
                file.write("CgroupPlugin=cgroup/v1\n")
        self.environment = {"SLURM_CONF": f"{here}/slurm.conf"}
        self._daemon([programs["munged"], "-F", "--force", "--key-file", f"{here}/munge.key", "--socket",
                      f"{munge}/socket", "--pid-file", f"{munge}/pid", "--log-file", f"{munge}/log", "--seed-file",
                      f"{munge}/seed"])
        wait_until(lambda: os.path.exists(f"{munge}/socket"), 10, "munged")
        self._daemon(self._inside(0, [programs["slurmctld"], "-D", "-f", f"{here}/slurm.conf"]))
        for i in range(NODES):
            self._daemon(self._inside(i, [programs["slurmd"], "-D", "-f", f"{here}/slurm.conf", "-N", f"n{i}"]))
        wait_until(self._up, 30, "Slurm")

    def _daemon(self, words):
        self.daemons.append(subprocess.Popen(words, env={**os.environ, **getattr(self, "environment", {})},
                                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL, start_new_session=True))

    def _up(self):
        states = subprocess.run(self._inside(0, ["sinfo", "-h", "-N", "-o", "%t"]), capture_output=True, text=True, timeout=20,
                                env={**os.environ, **self.environment}).stdout.split()
        return len(states) == NODES and all(state == "idle" for state in states)

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(daemon.pid, signal.SIGKILL)
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
