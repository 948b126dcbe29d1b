# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of `quire run --mount` share: TEST QUIRE PROGRAM RANDOM [NAME...]. Skipped where this process may not mount."""
import ctypes
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

QUIRE, PROGRAM, RANDOM = map(os.path.abspath, sys.argv[1:4])
del sys.argv[1:4]


def may_mount():
    return os.access("/dev/fuse", os.R_OK | os.W_OK) and (os.geteuid() == 0 or shutil.which("fusermount3") is not None)


def mounted(where):
    with open("/proc/self/mounts") as table:
        return any(line.split()[1:3] == [str(where), "fuse.quire"] for line in table)


def ended(pid):
    try:
        with open(f"/proc/{pid}/stat") as facts:
            return facts.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def waits_for_fuse(pid):
    """Whether its first thread waits for the answer of a file system such as ours."""
    with open(f"/proc/{pid}/wchan") as place:
        return place.read() in ("request_wait_answer", "fuse_get_req")


def stop(pid):
    """Stops a process, and waits until the last of its threads stands still: until then it may still answer."""
    os.kill(pid, signal.SIGSTOP)
    for thread in os.listdir(f"/proc/{pid}/task"):
        while True:
            with open(f"/proc/{pid}/task/{thread}/stat") as facts:
                if facts.read().rsplit(")", 1)[1].split()[0] == "T":
                    break
            time.sleep(0.002)


def within(seconds, holds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return holds()


@unittest.skipUnless(may_mount(), "this process may not mount")
class MountCase(unittest.TestCase):
    """A directory, and jobs whose containers it shows; nothing stays mounted."""
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="quire-mount-")).resolve()
        self.where = self.folder / "shown"
        self.where.mkdir()
        self.jobs = []
        random.seed(1)
        self.content = random.randbytes(300_001)
        (self.folder / "data").write_bytes(self.content)
        (self.folder / "constant").write_bytes(self.content)

    def tearDown(self):
        for job in self.jobs:
            if job.poll() is None:
                job.kill()
                job.wait(20)
            for pipe in (job.stdin, job.stdout, job.stderr):
                pipe.close()
        self.assertTrue(within(10, lambda: not mounted(self.where)), "something stays mounted")
        shutil.rmtree(self.folder)

    def command(self, *words, nodes=2, options=(), program=PROGRAM):
        return [QUIRE, "run", "-n", str(nodes), "--timeout", "80", "--mount", str(self.where), *options, program, *map(str, words)]

    def run_job(self, *words, **how):
        return subprocess.run(self.command(*words, **how), text=True, capture_output=True, timeout=100, cwd=self.folder)

    def well(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertFalse(mounted(self.where))
        self.assertEqual(os.listdir(self.where), [])
        return done

    def served(self, **how):
        """A job that serves until its standard input ends, and the pid of node 0, which serves the files."""
        job = subprocess.Popen(self.command("serve", self.folder / "data", self.folder / "constant", **how), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.jobs.append(job)
        line = job.stdout.readline()
        if not line.startswith("ready"):
            self.fail(line + job.stderr.read())
        return job, int(line.split()[1])

    def end(self, job):
        job.stdin.close()
        self.assertEqual(job.wait(60), 0, job.stderr.read())
        self.assertFalse(mounted(self.where))

    def shell(self, words):
        done = subprocess.run(["sh", "-c", words], text=True, capture_output=True, timeout=60, cwd=self.where)
        self.assertEqual(done.returncode, 0, words + "\n" + done.stderr)
        return done.stdout

    def two(self, **variables):
        """Two nodes, each with a mount of its own."""
        for place in (self.where / "0", self.where / "1"):
            place.mkdir()
        script = 'QUIRE_MOUNT="$0/$QUIRE_JOB_NODE" exec "$@"'
        job = subprocess.Popen([QUIRE, "run", "-n", "2", "--timeout", "80", "sh", "-c", script, str(self.where), PROGRAM, "serve", str(self.folder / "data"),
                                str(self.folder / "constant")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, **variables})
        self.jobs.append(job)
        line = job.stdout.readline()
        if not line.startswith("ready"):
            self.fail(line + job.stderr.read())
        places = [self.where / "0", self.where / "1"]
        for place in places:
            self.addCleanup(lambda place=place: self.assertTrue(within(10, lambda: not mounted(place)), "something stays mounted"))
            self.assertTrue(mounted(place))
        return job, places


def main():
    ctypes.CDLL(None).prctl(36, 1)  # orphans of jobs that are killed come here, not to a process that knows nothing of them
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has its background jobs ignore it, and all that they start
    unittest.main(module="__main__")
