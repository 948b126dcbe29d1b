#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mount_ends_test.py QUIRE PROGRAM RANDOM: `quire run --mount`: nothing stays mounted, whoever dies; and what is refused.
Skipped where this process may not mount."""
import errno
import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from mount_jobs import QUIRE, PROGRAM, MountCase, ended, main, mounted, stop, waits_for_fuse, within


class Mount(MountCase):
    def test_kill_of_the_node_that_serves(self):
        job, pid = self.served()
        holder = subprocess.Popen(["tail", "-f", "memory"], cwd=self.where, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.kill(pid, signal.SIGKILL)
        self.assertEqual(job.wait(30), 128 + signal.SIGKILL)
        self.assertFalse(mounted(self.where), "the launcher leaves nothing")
        holder.kill()
        holder.wait(10)
        # The directory is as good as new.
        (self.folder / "data").write_bytes(bytes(400_000))
        self.well(self.run_job("programs", self.folder / "data"))

    HELD = {  # what a program waits in, and with which file
        "read": ("slow", "os.read(f, 10)"),
        "write": ("slow", "os.pwrite(f, b'x', 5000)"),
        "sync": ("slow", "os.pwrite(f, bytes(4096), 400 * 4096), os.fsync(f)"),
        "stat": ("memory", "os.fstat(f)"),
    }

    def held_job(self, *words, **how):
        job = subprocess.Popen(self.command("held", self.folder / "data", *words, **how), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
        job.stdin = open(os.devnull)
        self.jobs.append(job)
        line = job.stdout.readline()
        if not line.startswith("ready"):
            self.fail(line + job.stderr.read())
        return job, [int(pid) for pid in line.split()[1:]]

    def test_kill_while_a_program_is_in_a_call(self):
        for what, (name, call) in self.HELD.items():
            job, pids = self.held_job()
            code = f"""import os, sys
f = os.open({str(self.where / name)!r}, os.O_RDWR)
print("begins", flush=True)
sys.stdin.readline()
try:
    {call}
except OSError as e:
    print(e.errno, flush=True)
else:
    print("nothing", flush=True)
"""
            program = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.assertEqual(program.stdout.readline(), "begins\n")
            if what == "stat":
                os.kill(pids[-1], signal.SIGUSR1)
                self.assertEqual(job.stdout.readline(), "appended\n")
                stop(pids[-1])  # it alone has the length
            program.stdin.write("\n")
            program.stdin.flush()
            self.assertTrue(within(20, lambda: waits_for_fuse(program.pid)), what)
            os.kill(pids[0], signal.SIGKILL)
            out, _ = program.communicate(timeout=30)
            self.assertIn(int(out), (errno.ENOTCONN, errno.ECONNABORTED, errno.EIO), what)
            self.assertEqual(job.wait(30), 128 + signal.SIGKILL, what)
            self.assertFalse(mounted(self.where), what)
            self.assertTrue(within(10, lambda: all(map(ended, pids))), what)

    def test_kill_of_a_node_that_waits_for_its_own_file(self):
        for nodes in (2, 1):
            job, pids = self.held_job("self", nodes=nodes)
            self.assertTrue(within(20, lambda: waits_for_fuse(pids[0])))
            os.kill(pids[0], signal.SIGKILL)
            self.assertEqual(job.wait(30), 128 + signal.SIGKILL)
            self.assertFalse(mounted(self.where))
            self.assertTrue(within(10, lambda: all(map(ended, pids))))

    def test_kill_of_the_launcher(self):
        job, pid = self.served()
        holder = open(self.where / "memory", "rb")
        job.kill()
        job.wait(10)
        self.assertTrue(within(10, lambda: not mounted(self.where)), "nobody has unmounted it")
        self.assertTrue(within(10, lambda: ended(pid)))
        with self.assertRaises(OSError):
            holder.read()
        with self.assertRaises(OSError):  # it would have told the end of locks
            holder.close()

    def test_kill_of_both(self):
        job, pid = self.served()
        job.send_signal(signal.SIGSTOP)
        os.kill(pid, signal.SIGKILL)
        job.kill()
        job.wait(10)
        self.assertTrue(within(10, lambda: not mounted(self.where)))

    def test_interrupt(self):
        job, _ = self.served()
        job.send_signal(signal.SIGINT)
        self.assertNotEqual(job.wait(30), 0)
        self.assertFalse(mounted(self.where))

    def test_node_that_ends_with_a_file_open(self):
        done = self.run_job("leave")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("exited without quire_end()", done.stderr)
        self.assertFalse(mounted(self.where))

    def test_what_a_dead_job_has_left_is_taken_away(self):
        # As when the shell that waits for the end of the node was killed with it.
        job, pid = self.served()
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    with open(f"/proc/{name}/cmdline") as words:
                        line = words.read()
                except OSError:
                    continue
                if "quire-unmount" in line and str(self.where) in line:
                    os.kill(int(name), signal.SIGKILL)
        job.kill()
        job.wait(10)
        self.assertTrue(within(10, lambda: ended(pid)))
        self.assertTrue(mounted(self.where), "nobody was there to take it away")
        (self.folder / "data").write_bytes(bytes(400_000))
        self.well(self.run_job("programs", self.folder / "data"))

    def refused(self, text, *options, program="late", status=125, where=None, prefix=()):
        done = subprocess.run([*prefix, QUIRE, "run", "-n", "2", "--timeout", "30", "--mount", str(where or self.where), *options, PROGRAM, program], text=True,
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertIn(text, done.stderr)
        self.assertFalse(mounted(self.where))
        return done.stderr

    def test_directories_that_will_not_do(self):
        said = self.refused("make it: mkdir -p", where=self.folder / "none")
        self.assertEqual(said.count("\n"), 1, said)
        self.refused("Not a directory", where=self.folder / "data")
        self.refused("is not empty", where=self.folder)
        job, _ = self.served()
        done = subprocess.run(self.command("late"), text=True, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("another job is mounted", done.stderr)
        self.assertTrue(mounted(self.where), "it is the other job's")
        self.end(job)

    def test_jobs_without_containers(self):
        self.refused("there are none where survivors", "--on-failure", "notify", status=1)
        self.refused("there are none where the pool is 'fork'", "--pool", "fork", status=1)

    @unittest.skipUnless(os.geteuid() == 0, "hides things from a job, as root")
    def test_without_libfuse_and_without_the_device(self):
        try:
            library = os.path.realpath(next(Path("/").glob("usr/lib/*/libfuse3.so.3")))
        except StopIteration:
            self.skipTest("libfuse3 is elsewhere")
        hide = f"mount --bind /dev/null {library} && exec \"$@\""
        self.refused("apt install libfuse3-3", prefix=["unshare", "-m", "sh", "-c", hide, "sh"], status=1)
        dev = "mkdir d && mount -t tmpfs none d && for x in null zero random urandom shm userfaultfd; do test ! -e /dev/$x || { " \
              "test -d /dev/$x && mkdir d/$x || touch d/$x; mount --bind /dev/$x d/$x; }; done && mount --rbind d /dev && exec \"$@\""
        self.refused("/dev/fuse cannot be opened", prefix=["unshare", "-m", "sh", "-c", f"cd {self.folder} && " + dev, "sh"])


if __name__ == "__main__":
    main()
