# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of launchers share: commands with a limit, skipping, what must be there."""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time

SKIPPED = 77  # ctest: SKIP_RETURN_CODE


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def need_root():
    if os.geteuid() != 0:
        skip("making network namespaces takes root")


def need_program(name, package, folder=None):
    """Its path, in `folder` or anywhere. scripts/setup.sh installs the package where it can."""
    found = shutil.which(name, path=folder or os.environ["PATH"] + ":/usr/sbin:/sbin")
    if found is None:
        skip(f"{name} is not installed ({'' if folder else 'Debian: '}{package})")
    return found


def state_of(pid):
    """The letter of its state; nothing if there is no such process. Z: it has ended, and nobody has asked for its status yet."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""


def adopt_orphans():
    """What the processes that we start leave behind comes to us (PR_SET_CHILD_SUBREAPER)."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


def children():
    found = []
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/stat") as stat:
                if int(stat.read().rsplit(")", 1)[1].split()[1]) == os.getpid():
                    found.append(int(entry))
        except (OSError, ValueError):
            pass
    return found


def end_children():
    """Kills what is left of what we have started."""
    for _ in range(100):
        left = children()
        for pid in left:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        if not left:
            return


class Failed(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Failed(text)


class Result:
    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds

    def __str__(self):
        return f"status {self.status} after {self.seconds:.1f} s\n--- output\n{self.out}--- errors\n{self.err}---"


class Job:
    """A command in a session of its own, so that what it leaves can be found and ended."""

    def __init__(self, words, environment=None, cwd=None, data=None):
        print("+", " ".join(words), flush=True)
        self.begin = time.monotonic()
        variables = {k: v for k, v in os.environ.items() if not k.startswith(("QUIRE_", "UCX_", "SLURM_", "PMI"))}
        variables.update(environment or {})
        self.data = data
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE if data is not None else subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=variables, cwd=cwd, start_new_session=True)

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)

    def finish(self, limit):
        try:
            out, err = self.process.communicate(self.data, timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            out, err = self.process.communicate()
            result = Result("none: it hung", out, err, time.monotonic() - self.begin)
            raise Failed(f"no end within {limit} s: {result}") from None
        return Result(self.process.returncode, out, err, time.monotonic() - self.begin)


def run(words, limit, **how):
    return Job(words, **how).finish(limit)


def run_well(words, limit, **how):
    """Runs it, and requires that it succeeds."""
    result = run(words, limit, **how)
    require(result.status == 0, f"{words[0]} failed: {result}")
    print(f"  {result.seconds:.1f} s", flush=True)
    return result


def quietly(*words, check=True):
    """A step of setting up or removing."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=30)
    if check and done.returncode != 0:
        raise Failed(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def wait_until(condition, limit, what):
    end = time.monotonic() + limit
    while not condition():
        require(time.monotonic() < end, f"{what}: not within {limit} s")
        time.sleep(0.05)
