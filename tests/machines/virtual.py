# SPDX-License-Identifier: BSD-3-Clause
"""Machines of qemu. What runs in one is asked for, and answered, by files in a folder that it shares with us (guest.py)."""

import ctypes
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = "install them by scripts/setup.sh machines"


class Failed(Exception):
    """What ends the run, or a case, with these words."""


def need(program, package):
    found = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin:/bin")
    if not found:
        raise Failed(f"{program} is missing (Debian: {package}): {PACKAGES}")
    return found


def best_accelerator():
    """kvm, or tcg and why. A device alone says little: in a machine that is itself virtual it may take no kernels but some of its own."""
    if not os.path.exists("/dev/kvm"):
        return "tcg", "there is no /dev/kvm"
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg", "/dev/kvm is not ours to open"
    with open("/proc/cpuinfo") as file:
        if not re.search(r"^flags\s*:.*\b(vmx|svm)\b", file.read(), re.MULTILINE):
            return "tcg", "the processor shows no vmx or svm, so /dev/kvm cannot take Debian's kernels"
    return "kvm", ""


def die_with_us():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Switch:
    """The network between machines: what one sends, all others get, unless a cable is out. qemu writes a frame's length before it."""

    def __init__(self, count):
        self.ours, self.theirs = zip(*(socket.socketpair() for _ in range(count)))
        self.locks = [threading.Lock() for _ in range(count)]
        self.out = set()  # of whom the cable is out
        self.frames = 0

    def start(self):
        for end in self.theirs:
            end.close()
        for i in range(len(self.ours)):
            threading.Thread(target=self._carry, args=(i,), daemon=True).start()

    def _take(self, i, size):
        data = b""
        while len(data) < size:
            more = self.ours[i].recv(size - len(data))
            if not more:
                raise OSError("its machine has gone")
            data += more
        return data

    def _carry(self, i):
        try:
            while True:
                head = self._take(i, 4)
                frame = head + self._take(i, int.from_bytes(head, "big"))
                for other in range(len(self.ours)):
                    if other != i and not {i, other} & self.out:
                        self._give(other, frame)
        except OSError:
            pass

    def _give(self, other, frame):
        try:
            with self.locks[other]:
                self.ours[other].sendall(frame)
            self.frames += 1
        except OSError:
            pass

    def close(self):
        for end in self.ours:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()


class Machine:
    """One machine, from when it is switched on. `number`: from 1, also its address and its name, machine1."""

    def __init__(self, kernel, initramfs, folder, accelerator, number=1, memory=3072, network=None):
        self.kernel, self.number, self.slow = kernel, number, 10 if accelerator == "tcg" else 1
        self.share = os.path.join(folder, f"machine{number}")
        self.serial = self.share + ".serial"
        for inner in ("todo", "out", "done"):
            os.makedirs(os.path.join(self.share, inner), exist_ok=True)
        self.asked, self.process = 0, None
        with open(os.path.join(self.share, "start"), "w") as file:
            file.write("export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root\n"
                       f"/usr/bin/python3 -B {HERE}/guest.py {number} {'network' if network else ''}\n"
                       "exec /bin/busybox poweroff -f\n")
        words = [need("qemu-system-x86_64", "qemu-system-x86"), "-machine", "q35", "-smp", "2", "-m", str(memory), "-nodefaults", "-no-user-config",
                 "-display", "none", "-no-reboot", "-serial", f"file:{self.serial}", "-kernel", kernel.image, "-initrd", initramfs,
                 "-append", "console=ttyS0 quiet loglevel=4 panic=-1 rdinit=/init"]
        # Without arch-capabilities: a machine within a machine may be refused it.
        words += ["-enable-kvm", "-cpu", "host,-arch-capabilities"] if accelerator == "kvm" else ["-accel", "tcg,thread=multi", "-cpu", "max"]
        for tag, path, more in (("host", "/", ",readonly=on"), ("share", self.share, "")):
            words += ["-fsdev", f"local,id={tag},path={path},security_model=none,multidevs=remap{more}"]
            words += ["-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
        if network:
            end = network.theirs[number - 1].fileno()
            words += ["-netdev", f"socket,id=net,fd={end}", "-device", f"virtio-net-pci,netdev=net,mac=52:54:00:00:00:{number:02x},romfile="]
        words += ["-device", "virtio-rng-pci"]
        self.errors = open(self.share + ".qemu", "w+")
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=self.errors, stderr=self.errors, preexec_fn=die_with_us,
                                        pass_fds=[network.theirs[number - 1].fileno()] if network else [])

    def tail(self):
        """What it has said last, for an error."""
        said = []
        for path in (self.share + ".qemu", self.serial):
            if os.path.exists(path):
                with open(path, errors="replace") as file:
                    said += [line.rstrip() for line in file.read().splitlines() if line.strip()]
        return "\n  ".join(said[-15:]) or "it has said nothing"

    def require_alive(self):
        if self.process.poll() is not None:
            raise Failed(f"machine {self.number} with {self.kernel.release} has ended (qemu's status {self.process.returncode}):\n  {self.tail()}")

    def wait_until_up(self):
        end = time.monotonic() + 60 * self.slow
        while not os.path.exists(os.path.join(self.share, "up")):
            self.require_alive()
            if time.monotonic() > end:
                raise Failed(f"{self.kernel.release} is not up after {60 * self.slow} s:\n  {self.tail()}")
            time.sleep(0.1)

    def ask(self, words, user="root", environment=None, limit=30):
        """Has it run a command, after what was asked before. `limit`: seconds on a fast machine. The number to wait for."""
        self.asked += 1
        order = {"words": words, "user": user, "environment": environment or {}, "limit": limit * self.slow}
        path = os.path.join(self.share, "todo", f"{self.asked:04}")
        with open(path + ".new", "w") as file:
            json.dump(order, file)
        os.rename(path + ".new", path)
        return self.asked

    def said(self, number):
        """What a command has printed up to now."""
        try:
            with open(os.path.join(self.share, "out", f"{number:04}.out"), errors="replace") as file:
                return file.read()
        except OSError:
            return ""

    def has_ended(self, number):
        return os.path.exists(os.path.join(self.share, "done", f"{number:04}"))

    def answer(self, number, limit=30):
        """{status, seconds, out, err}, as soon as it has ended."""
        end = time.monotonic() + (limit + 30) * self.slow
        while not self.has_ended(number):
            self.require_alive()
            if time.monotonic() > end:
                raise Failed(f"machine {self.number} does not answer:\n  {self.tail()}")
            time.sleep(0.05)
        with open(os.path.join(self.share, "done", f"{number:04}")) as file:
            return json.load(file)

    def run(self, words, limit=30, **how):
        return self.answer(self.ask(words, limit=limit, **how), limit)

    def kill(self):
        """As by pulling its plug."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def power_off(self):
        """As it should end, and in any case."""
        if self.process and self.process.poll() is None:
            with open(os.path.join(self.share, "todo", "end"), "w"):
                pass
            try:
                self.process.wait(timeout=10 + 2 * self.slow)
            except subprocess.TimeoutExpired:
                pass
        self.kill()
        self.errors.close()
