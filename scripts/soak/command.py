# SPDX-License-Identifier: BSD-3-Clause
"""One command of a soak: run in a folder of its own, never longer than its limit, and followed by a search for what it left behind.

A command carries a mark in its environment, and so does all that comes of it: that is how processes are found, and ended.
"""
import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

MARK = "SOAK_RUN"
SHARED = Path("/dev/shm")
OURS = ("ucx_shm_posix", "quire")  # how names there begin that jobs make; other programs of the machine have theirs
TAIL_BYTES = 64 << 10
OVERDUE_S = 20.0  # who is as late as that when the soak ends hangs as well
_numbers = itertools.count()


@dataclass
class Result:
    """What became of a command: its exit status (-N: killed by signal N), output, and what is wrong with the way it ended."""
    status: int
    output: str
    seconds: float
    over_time: bool = False   # it was still running at its limit
    cut_off: bool = False     # the soak ended first
    stacks: str = ""          # where its processes were then
    left: list = field(default_factory=list)


def words_of(path):
    try:
        return path.read_bytes().split(b"\0")
    except OSError:  # it has ended, or is somebody else's
        return []


def marked(mark):
    """Pids of the living processes that carry the mark; the environment of a zombie is empty."""
    wanted = f"{MARK}={mark}".encode()
    return [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit() and wanted in words_of(p / "environ")]


def kill_all(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def stacks_of(pids):
    """What the threads of these processes are doing: by gdb, or what /proc tells without it."""
    texts = []
    for pid in pids:
        try:
            name = (Path("/proc") / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        texts.append(f"-- process {pid}: {name}\n{gdb_stacks(pid) or kernel_stacks(pid)}")
    return "\n".join(texts)


def gdb_stacks(pid):
    if shutil.which("gdb") is None:
        return ""
    command = ["gdb", "-batch", "-nx", "-iex", "set debuginfod enabled off", "-p", str(pid), "-ex", "thread apply all backtrace 30"]
    try:
        found = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return "gdb took more than 60 s\n"
    return "\n".join(line for line in found.stdout.splitlines() if re.match(r"Thread |#", line)) + "\n" if "#0" in found.stdout else ""


def kernel_stacks(pid):
    lines = []
    for task in sorted(Path(f"/proc/{pid}/task").glob("*"), key=lambda p: int(p.name)):
        for what in ("comm", "wchan", "syscall", "stack"):
            try:
                lines.append(f"thread {task.name} {what}: {(task / what).read_text().strip()}")
            except OSError:
                pass
    return "\n".join(lines) + "\n"


class SharedFiles:
    """Finds files of shared memory that are of no use to any process. Other jobs of this machine make such files too."""

    def __init__(self):
        self.lock = threading.Lock()
        self.known = self.names()

    @staticmethod
    def names():
        return {p.name for p in SHARED.iterdir() if p.name.startswith(OURS)} if SHARED.is_dir() else set()

    @staticmethod
    def in_use(names):
        """Those that a process maps or has open."""
        found = set()
        for process in Path("/proc").glob("[0-9]*"):
            try:
                text = (process / "maps").read_text()
                text += "\n".join(os.readlink(p) for p in (process / "fd").iterdir())
            except OSError:
                continue
            found |= {name for name in names if f"{SHARED}/{name}" in text}
        return found

    def left_behind(self, patience_s=5.0):
        """New ones that stay unused. Told once, and removed."""
        until = time.monotonic() + patience_s
        left = self.unused(self.names() - self.known)
        while left and time.monotonic() < until:
            time.sleep(0.2)
            left = self.unused(left & self.names())
        with self.lock:
            left -= self.known
            self.known |= left
        for name in left:
            (SHARED / name).unlink(missing_ok=True)
        return sorted(left)

    def unused(self, names):
        return names - self.in_use(names) if names else names


class Command:
    """`words` with more `environment`; `limit_s`: when it counts as hanging; `expected_s`: how long it takes on a machine of its own;
    `files`: names and content of what lies in its working folder."""

    def __init__(self, words, environment=None, limit_s=60.0, files=None, expected_s=None):
        self.words = [str(word) for word in words]
        self.environment = dict(environment or {})
        self.limit_s = limit_s
        self.expected_s = limit_s if expected_s is None else expected_s
        self.files = files or {}
        self.mark = f"{os.getpid()}.{next(_numbers)}"
        self.folder = None
        self.process = None
        self.begin = 0.0

    def text(self):
        """The command line by which somebody else starts it."""
        return " ".join([*(f"{k}={shlex.quote(str(v))}" for k, v in self.environment.items()), shlex.join(self.words)])

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="quire-soak-"))
        self.folder.chmod(0o755)  # tests become other users
        (self.folder / "work").mkdir()
        (self.folder / "work").chmod(0o1777)
        for name, content in self.files.items():
            (self.folder / "work" / name).write_bytes(content)
        variables = {k: v for k, v in os.environ.items() if not k.startswith("QUIRE_")}
        variables.update({k: str(v) for k, v in self.environment.items()}, TMPDIR=str(self.folder / "work"))
        variables[MARK] = self.mark
        with open(self.folder / "output", "wb") as output:
            self.begin = time.monotonic()
            self.process = subprocess.Popen(self.words, env=variables, cwd=self.folder / "work", stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=subprocess.STDOUT, process_group=0)
        return self

    def __exit__(self, *_):
        kill_all(marked(self.mark))
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def output(self):
        with open(self.folder / "output", "rb") as file:
            file.seek(max(0, os.path.getsize(file.name) - TAIL_BYTES))
            return file.read().decode(errors="replace")

    def seconds(self):
        return time.monotonic() - self.begin

    def finish(self, stop, shared=None, may_leave=()):
        """Waits for its end, its limit, or `stop`. `may_leave`: names in its folder that are no surprise."""
        while self.process.poll() is None and not stop.is_set() and self.seconds() < self.limit_s:
            time.sleep(0.02)
        result = Result(0, "", self.seconds())
        if self.process.poll() is None:
            result.over_time = self.seconds() >= self.limit_s or self.seconds() > self.expected_s + OVERDUE_S
            result.cut_off = not result.over_time
            if result.over_time:
                result.stacks = stacks_of(marked(self.mark))
                self.process.send_signal(signal.SIGQUIT)  # who can tell more does so now
                self.wait(3)
            kill_all(marked(self.mark))
            self.process.kill()
        result.status = self.process.wait()
        result.output = self.output()
        if not result.over_time and not result.cut_off:
            result.left = self.left_behind(shared, may_leave)
        return result

    def wait(self, limit_s):
        try:
            self.process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            pass

    def left_behind(self, shared, may_leave):
        until = time.monotonic() + 5
        pids = marked(self.mark)
        while pids and time.monotonic() < until:
            time.sleep(0.05)
            pids = marked(self.mark)
        left = [f"process {pid}" for pid in pids]
        left += [f"file {p.name} in its TMPDIR" for p in (self.folder / "work").iterdir() if p.name not in may_leave and p.name not in self.files]
        if shared is not None:
            left += [f"{SHARED}/{name}" for name in shared.left_behind()]
        return left
