# SPDX-License-Identifier: BSD-3-Clause
"""Hosts for tests: network namespaces on one bridge, which is in a namespace of its own. The names carry our process
number; whatever happens, leaving the `with` removes all."""

import json
import os
import shutil
import signal
import subprocess
import tempfile

from support import name_of, need_program, need_root, quietly, require, skip, wait_until

NETWORK = "10.77.0"


class Hosts:
    """host i (from 1) has the address 10.77.0.i, its name for every launcher. `limit`: a rate for tbf, "200mbit". `own_cores`: nodes of a host
    have one core, each host another one, as far as there are so many."""

    def __init__(self, count, limit=None, own_cores=False):
        need_root()
        need_program("ip", "iproute2")
        self.count, self.limit = count, limit
        self.cores = sorted(os.sched_getaffinity(0)) if own_cores else []
        self.bridge = f"quire{os.getpid()}b"
        self.addresses = [f"{NETWORK}.{i}" for i in range(1, count + 1)]
        self.servers = []

    def namespace(self, i):
        return f"quire{os.getpid()}h{i}"

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="quire-hosts-")
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _make(self):
        try:
            quietly("ip", "netns", "add", self.bridge)
        except Exception as why:  # a container without the right to
            shutil.rmtree(self.folder)
            skip(f"network namespaces cannot be made here: {why}")
        self.make_links()
        wait_until(lambda: all(self.is_running(i) for i in range(1, self.count + 1)), 20, "the links of the hosts do not come up")
        self.agent = os.path.join(self.folder, "agent")
        with open(self.agent, "w") as script:
            script.write("#!/bin/sh\nhost=${1##*.}\nshift\n" +
                         "".join(f"on{i}='taskset -c {self.cores[(i - 1) % len(self.cores)]}'\n" for i in range(1, self.count + 1) if self.cores) +
                         f"eval \"on=\\$on$host\"\nexec $on ip netns exec quire{os.getpid()}h$host unshare -u -- "
                         'sh -c "hostname h$host; $*"\n')
        os.chmod(self.agent, 0o755)

    def make_links(self):
        in_bridge = ("ip", "-n", self.bridge)
        quietly(*in_bridge, "link", "add", "bridge", "type", "bridge")
        quietly(*in_bridge, "link", "set", "bridge", "up")
        for i in range(1, self.count + 1):
            name = self.namespace(i)
            quietly("ip", "netns", "add", name)
            quietly(*in_bridge, "link", "add", f"to{i}", "type", "veth", "peer", "name", "eth0", "netns", name)
            quietly(*in_bridge, "link", "set", f"to{i}", "master", "bridge", "up")
            quietly("ip", "-n", name, "addr", "add", f"{NETWORK}.{i}/24", "dev", "eth0")
            quietly("ip", "-n", name, "link", "set", "eth0", "up")
            quietly("ip", "-n", name, "link", "set", "lo", "up")
            self.limit_rate(i)

    def is_running(self, i):
        """As UCX wants an interface. On a busy machine the kernel takes a second to say so (IFF_RUNNING)."""
        shown = json.loads(quietly("ip", "-n", self.namespace(i), "-j", "link", "show", "eth0"))
        return shown[0]["operstate"] in ("UP", "UNKNOWN")

    def limit_rate(self, i):
        if self.limit:
            quietly("tc", "-n", self.namespace(i), "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", self.limit, "burst", "64kb", "latency",
                    "100ms")

    def start_ssh(self):
        """An sshd in each, for root by key. The words that reach a host by it."""
        sshd, keygen = need_program("sshd", "openssh-server"), need_program("ssh-keygen", "openssh-client")
        key = os.path.join(self.folder, "key")
        quietly(keygen, "-q", "-t", "ed25519", "-N", "", "-f", key)
        os.makedirs("/run/sshd", exist_ok=True)
        with open(os.path.join(self.folder, "sshd_config"), "w") as file:
            file.write(f"HostKey {key}\nAuthorizedKeysFile {key}.pub\nPermitRootLogin yes\nStrictModes no\nUsePAM no\n"
                       "PasswordAuthentication no\nPidFile none\nMaxStartups 100\n"
                       "SetEnv SHLVL=2\n")  # as no first shell, bash leaves the user's start files alone, which may take a minute
        with open(os.path.join(self.folder, "ssh_config"), "w") as file:
            file.write(f"Host *\nIdentityFile {key}\nStrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n"
                       "LogLevel ERROR\nBatchMode yes\n")
        for i in range(1, self.count + 1):
            self.servers.append(subprocess.Popen(self.inside(i, [sshd, "-D", "-e", "-f", f"{self.folder}/sshd_config"]),
                                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                                 stderr=subprocess.DEVNULL))
        words = ["ssh", "-F", f"{self.folder}/ssh_config"]
        for address in self.addresses:
            wait_until(lambda: subprocess.run(self.inside(1, [*words, address, "true"]), stdin=subprocess.DEVNULL,
                                              capture_output=True, timeout=20).returncode == 0, 20, f"sshd of {address}")
        return " ".join(words)

    def inside(self, i, words):
        """The command line that runs words on host i."""
        return ["ip", "netns", "exec", self.namespace(i), "unshare", "-u", "--", "sh", "-c",
                'hostname "$0"; exec "$@"', f"h{i}", *words]

    def pull_cable(self, i):
        quietly("ip", "-n", self.bridge, "link", "set", f"to{i}", "down")

    def plug_cable(self, i):
        quietly("ip", "-n", self.bridge, "link", "set", f"to{i}", "up")

    def processes(self):
        """What runs on the hosts, beside their sshd."""
        return [pid for i in range(1, self.count + 1) for pid in self.processes_of(i)]

    def processes_of(self, i):
        servers = {server.pid for server in self.servers}
        found = [int(pid) for pid in quietly("ip", "netns", "pids", self.namespace(i), check=False).split()]
        return [pid for pid in found if pid not in servers]

    @staticmethod
    def is_ours(pid):
        """Not one of the processes that sshd has for each connection, and that outlive it a little."""
        return name_of(pid) not in ("sshd", "sshd-session", "")

    def require_nothing_left(self, limit=5):
        wait_until(lambda: not self.processes(), limit, "some processes are left on the hosts")

    def sent_bytes(self, i):
        link = json.loads(quietly("ip", "-n", self.namespace(i), "-s", "-j", "link", "show", "eth0"))
        return link[0]["stats64"]["tx"]["bytes"]

    def require_traffic(self, least):
        for i in range(1, self.count + 1):
            require(self.sent_bytes(i) >= least, f"host {i} has sent {self.sent_bytes(i)} bytes: not by TCP?")

    def __exit__(self, *_):
        for server in self.servers:
            server.kill()
            server.wait()
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for i in range(1, self.count + 1):
            quietly("ip", "netns", "delete", self.namespace(i), check=False)
        quietly("ip", "netns", "delete", self.bridge, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)
