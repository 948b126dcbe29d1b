#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mount_hosts_test.py QUIRE PROGRAM RANDOM: `quire run --mount` as on two hosts: a rename is one step, locks hold, databases stay whole.
Skipped where this process may not mount."""
import fcntl
import mmap
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import unittest

from mount_jobs import QUIRE, PROGRAM, MountCase, main, mounted, stop, waits_for_fuse, within


class Mount(MountCase):
    def test_a_rename_is_one_step_on_all_hosts(self):
        job, (a, b) = self.two()
        (a / "file").write_bytes(b"0" * 70_000)
        old = open(b / "file", "rb")
        stop = threading.Event()
        seen = []

        def look():
            last = 0
            while not stop.is_set():
                content = (b / "file").read_bytes()  # never: no such file
                if len(content) != 70_000 or len(set(content)) != 1 or content[0] < last:
                    seen.append(content[:10] + content[-10:])
                    return
                last = content[0]

        looks = threading.Thread(target=look)
        looks.start()
        try:
            for i in range(1, 100):
                (a / "new").write_bytes(bytes([48 + i]) * 70_000)
                os.rename(a / "new", a / "file")
        finally:
            stop.set()
            looks.join()
        self.assertEqual(seen, [])
        self.assertEqual((b / "file").read_bytes(), bytes([48 + 99]) * 70_000)
        self.assertEqual(old.read(), b"0" * 70_000)
        self.assertEqual(os.fstat(old.fileno()).st_size, 70_000)
        old.close()
        os.rename(b / "file", b / "moved")
        self.assertEqual(sorted(os.listdir(a)), ["constant", "data", "memory", "moved"])
        self.end(job)

    HOLDER = """import fcntl, sys
f = open(sys.argv[1], "r+b")
getattr(fcntl, sys.argv[2])(f, fcntl.LOCK_EX)
print("has", flush=True)
sys.stdin.read()
"""

    def test_locks_hold_between_hosts_and_go_with_their_holder(self):
        job, (a, b) = self.two()
        (a / "file").write_bytes(bytes(100))

        def holder(place, how):
            return subprocess.Popen([sys.executable, "-c", self.HOLDER, str(place / "file"), how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        for how in ("flock", "lockf"):
            for first, second in ((a, b), (b, a), (a, a)):
                has = holder(first, how)
                self.assertEqual(has.stdout.readline(), "has\n")
                with open(second / "file", "r+b") as file, self.assertRaises(BlockingIOError):
                    getattr(fcntl, how)(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                waits = holder(second, how)
                self.assertTrue(within(20, lambda: waits_for_fuse(waits.pid)))
                has.kill()
                self.assertEqual(waits.stdout.readline(), "has\n")
                waits.stdin.close()
                for done in (has, waits):
                    done.wait(20)
                    done.stdout.close()
                has.stdin.close()
        self.end(job)

    WAITER = """import errno, fcntl, sys
f = open(sys.argv[1], "r+b")
mine, other = (int(word) for word in sys.argv[2:])
fcntl.lockf(f, fcntl.LOCK_EX, 10, mine)
print("has", flush=True)
sys.stdin.readline()
try:
    fcntl.lockf(f, fcntl.LOCK_EX, 10, other)
    print("both", flush=True)
except OSError as why:
    print("circle" if why.errno == errno.EDEADLK else why, flush=True)
"""

    def test_circles_between_hosts_are_told(self):
        job, (a, b) = self.two()
        (a / "file").write_bytes(bytes(100))
        both = [subprocess.Popen([sys.executable, "-c", self.WAITER, str(place / "file"), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                for place, words in ((a, ("0", "10")), (b, ("10", "0")))]
        for one in both:
            self.assertEqual(one.stdout.readline(), "has\n")
        both[0].stdin.write("\n")
        both[0].stdin.flush()
        self.assertTrue(within(20, lambda: waits_for_fuse(both[0].pid)))
        both[1].stdin.write("\n")
        both[1].stdin.flush()
        self.assertEqual([one.stdout.readline() for one in reversed(both)], ["circle\n", "both\n"])
        for one in both:
            one.stdin.close()
            one.stdout.close()
            one.wait(20)
        self.end(job)

    @unittest.skipUnless(shutil.which("sqlite3"), "no sqlite3")
    def test_databases_between_hosts(self):
        job, places = self.two()
        base = sqlite3.connect(places[0] / "base.db", timeout=60)
        base.execute("create table t (writer integer, k integer, primary key (writer, k))")
        base.execute("create table sum (n integer)")
        with base:
            base.execute("insert into sum values (0)")
        code = """import sqlite3, sys
base = sqlite3.connect(sys.argv[1] + "/base.db", timeout=60, isolation_level=None)
for k in range(int(sys.argv[3])):
    base.execute("begin immediate")
    base.execute("insert into t values (?, ?)", (sys.argv[2], k))
    base.execute("update sum set n = n + 1")
    base.execute("commit")
    print(k, flush=True)
"""

        def writer(place, number, rows):
            return subprocess.Popen([sys.executable, "-c", code, str(place), str(number), str(rows)], stdout=subprocess.PIPE, text=True)

        killed = [writer(places[n % 2], 100 + n, 1_000_000) for n in range(2)]  # within transactions, as often as not
        for program in killed:
            self.assertEqual(program.stdout.readline(), "0\n")
        writers = [writer(places[n % 2], n, 12) for n in range(4)]
        for program in killed:
            program.kill()
            program.communicate()
        for program in writers:
            out, _ = program.communicate(timeout=60)
            self.assertEqual((program.returncode, len(out.split())), (0, 12))
        for place in places:
            look = sqlite3.connect(place / "base.db", timeout=60)
            self.assertEqual(look.execute("pragma integrity_check").fetchone(), ("ok",))
            self.assertEqual(look.execute("select count(*) from t where writer < 100").fetchone(), (48,))
            self.assertEqual(look.execute("select count(*) - (select n from sum) from t").fetchone(), (0,))
            look.close()
        base.close()
        self.end(job)

    def test_cached_files(self):
        job, _ = self.served(options=["--mount-cache"])
        right = bytes(i * 7 // 5 % 256 for i in range(1 << 20))
        with open(self.where / "memory", "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            self.assertEqual(file.read(), right)
            self.assertEqual(mapped[:], right)
            self.shell("printf changed | dd of=memory conv=notrunc status=none")
            self.assertEqual((self.where / "memory").read_bytes()[:7], b"changed")
            self.assertTrue(within(10, lambda: mapped[:7] == b"changed"))
        self.end(job)
        # Over hosts: who opens a file sees it as it is, and who has it open a moment later.
        job, (a, b) = self.two(QUIRE_MOUNT_CACHE="1")
        with open(a / "data", "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            for i in range(1, 5):
                self.assertEqual(len(mapped[:]), len(self.content))
                with open(b / "data", "r+b") as other:
                    other.write(b"%d" % i)
                with open(a / "data", "rb") as again:
                    self.assertEqual(again.read(1), b"%d" % i)
                self.assertTrue(within(10, lambda: mapped[:1] == b"%d" % i))
        self.end(job)

    def test_agents_of_one_host_mount_once(self):
        agent = self.folder / "agent"
        agent.write_text('#!/bin/sh\nshift\nexec sh -c "$*"\n')
        agent.chmod(0o755)
        (self.folder / "data").write_bytes(bytes(400_000))
        hosts = ["--hosts", "127.0.0.1,localhost", "--agent", str(agent)]
        self.well(self.run_job("programs", self.folder / "data", options=hosts))
        done = subprocess.run([QUIRE, "run", *hosts, "--timeout", "30", "--mount", str(self.folder / "none"), PROGRAM, "late"], text=True,
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("make it: mkdir -p", done.stderr)
        job, pid = self.served(options=hosts)
        os.kill(pid, signal.SIGKILL)
        self.assertNotEqual(job.wait(30), 0)
        self.assertTrue(within(10, lambda: not mounted(self.where)))


if __name__ == "__main__":
    main()
