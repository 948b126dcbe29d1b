#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mount_test.py QUIRE PROGRAM RANDOM: `quire run --mount`: programs of this machine on containers as files; what is refused; and that nothing stays mounted, whoever dies.
Skipped where this process may not mount."""
import ctypes
import errno
import fcntl
import mmap
import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
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
class Mount(unittest.TestCase):
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

    # ---- Programs

    def test_nodes_and_programs_see_what_the_others_write(self):
        for nodes in (1, 2, 3):
            (self.folder / "data").write_bytes(bytes(400_000))
            self.well(self.run_job("programs", self.folder / "data", nodes=nodes))
            self.assertEqual((self.folder / "data").stat().st_size, 100_000)

    def test_over_tcp_and_by_the_other_detector(self):
        for options in (["--transport", "tcp"], ["--detect", "segv"]):
            (self.folder / "data").write_bytes(bytes(400_000))
            self.well(self.run_job("programs", self.folder / "data", options=options))

    def test_random_calls(self):
        for nodes, options in ((1, []), (2, ["--memory-limit", "1M"]), (3, ["--transport", "tcp", "--detect", "segv"])):
            self.well(self.run_job(nodes, 200, nodes=nodes, options=options, program=RANDOM))

    def test_files_are_there_until_all_nodes_end(self):
        self.well(self.run_job("late"))

    def test_stock_programs(self):
        job, _ = self.served()
        self.assertEqual(sorted(os.listdir(self.where)), ["constant", "data", "memory"])
        self.assertEqual((self.where / "data").read_bytes(), self.content)
        self.assertEqual((self.where / "memory").read_bytes(), bytes(i * 7 // 5 % 256 for i in range(1 << 20)))
        self.assertEqual(oct((self.where / "constant").stat().st_mode & 0o777), "0o444")
        self.shell("cp data copy && cmp data copy && cat memory memory > twice && test $(stat -c %s twice) = 2097152")
        self.shell("dd if=/dev/urandom of=new bs=65536 count=40 status=none && cp new ../new && cmp new ../new && md5sum new > sums && md5sum -c sums")
        self.shell("gzip -c data > data.gz && gunzip -c data.gz | cmp - data && tar cf ../all.tar . && tar tf ../all.tar | grep -q memory")
        self.shell("sort -R data > /dev/null; grep -c . data > count; tail -c 10 memory | wc -c | grep -q 10; df . | grep -q quire; mv count moved && rm moved")
        with self.assertRaises(PermissionError):
            open(self.where / "constant", "r+b")
        with self.assertRaises(PermissionError):
            (self.where / "folder").mkdir()
        self.shell("rm memory && test ! -e memory && printf new > memory && test $(cat memory) = new")  # nodes have the old one
        self.shell("printf changed | dd of=data conv=notrunc,fsync status=none")
        self.assertEqual((self.folder / "data").read_bytes()[:7], b"changed")  # fsync has written it
        self.end(job)

    def test_sqlite(self):
        job, _ = self.served()
        base = sqlite3.connect(self.where / "base.db", timeout=30)
        base.execute("create table t (k integer primary key, v text)")
        for i in range(10):
            with base:
                base.executemany("insert into t values (?, ?)", [(i * 100 + k, "x" * k) for k in range(100)])
        if shutil.which("sqlite3"):
            self.assertEqual(self.shell("sqlite3 base.db 'select count(*), sum(length(v)) from t; pragma integrity_check'"), "1000|49500\nok\n")
            writers = [subprocess.Popen(["sqlite3", "-cmd", ".timeout 30000", "base.db", f"insert into t select k + {n}000, v from t where k < 1000"], cwd=self.where)
                       for n in (1, 2, 3)]
            self.assertEqual([writer.wait(60) for writer in writers], [0, 0, 0])
            self.assertEqual(base.execute("select count(*) from t").fetchone(), (4000,))
        self.assertEqual(base.execute("pragma integrity_check").fetchone(), ("ok",))
        base.close()
        self.end(job)

    def test_numpy_maps_what_is_read_only(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no numpy")
        job, _ = self.served()
        right = numpy.frombuffer(self.content, dtype=numpy.uint8)
        mapped = numpy.memmap(self.where / "constant", dtype=numpy.uint8, mode="r")
        self.assertTrue((mapped == right).all())
        self.assertTrue((numpy.fromfile(self.where / "data", dtype=numpy.uint8) == right).all())
        with self.assertRaises(OSError):  # what others write cannot be mapped
            numpy.memmap(self.where / "data", dtype=numpy.uint8, mode="r+")
        del mapped
        self.end(job)

    @unittest.skipUnless(all(map(shutil.which, ("h5import", "h5dump", "h5repack", "h5diff"))), "no hdf5-tools")
    def test_hdf5_tools(self):
        job, _ = self.served()
        (self.folder / "text").write_text("1 2 3 4\n5 6 7 8\n9 10 11 12\n")
        numbers = struct.pack("<150000d", *(i * 0.5 for i in range(150_000)))
        (self.folder / "binary").write_bytes(numbers)
        self.shell("h5import ../text -d 3,4 -p grid/text -t TEXTIN -s 32 ../binary -d 300,500 -p binary -t FP -s 64 -o all.h5 && test -s all.h5")
        dumped = self.shell("h5dump -y -w 0 -d /grid/text all.h5")
        self.assertIn("1, 2, 3, 4,\n      5, 6, 7, 8,\n      9, 10, 11, 12\n", dumped)
        self.shell("h5dump -d /binary -b LE -o written all.h5 > dumped")  # from a file of the mount to others of the mount
        self.assertEqual((self.where / "written").read_bytes(), numbers)
        self.shell("h5repack -f GZIP=6 all.h5 packed.h5 && h5diff all.h5 packed.h5 && h5repack packed.h5 ../outside.h5 && h5diff ../outside.h5 all.h5")
        self.assertLess((self.where / "packed.h5").stat().st_size, (self.where / "all.h5").stat().st_size)
        changed = bytearray((self.where / "all.h5").read_bytes())
        at = changed.index(numbers)
        changed[at + 8 * 77777:at + 8 * 77777 + 8] = struct.pack("<d", -1.0)
        (self.where / "other.h5").write_bytes(changed)
        told = subprocess.run(["h5diff", "all.h5", "other.h5"], text=True, capture_output=True, timeout=60, cwd=self.where)
        self.assertEqual(told.returncode, 1, told.stderr)
        self.assertIn("1 differences found", told.stdout)
        self.end(job)

    def test_h5py(self):
        try:
            import h5py
            import numpy
        except ImportError:
            self.skipTest("no h5py")
        job, (a, b) = self.two()
        right = numpy.arange(120_000, dtype=numpy.float64).reshape(300, 400)
        with h5py.File(a / "all.h5", "w") as file:
            file.create_dataset("plain", data=right)
            file.create_dataset("packed", data=right, chunks=(64, 64), compression="gzip")
            grows = file.create_dataset("grows", shape=(0,), maxshape=(None,), dtype="i4")
            for i in range(20):
                grows.resize((grows.shape[0] + 1000,))
                grows[-1000:] = i
            file["plain"].attrs["unit"] = "m"
            with self.assertRaises(BlockingIOError):  # HDF5 locks its files, here for all hosts
                h5py.File(b / "all.h5", "r")
        with h5py.File(b / "all.h5", "r+") as file:
            self.assertTrue((file["plain"][:] == right).all())
            self.assertTrue((file["packed"][:] == right).all())
            self.assertTrue((file["grows"][:] == numpy.repeat(numpy.arange(20), 1000)).all())
            self.assertEqual(file["plain"].attrs["unit"], "m")
            file["plain"][17, :] = -1
        with h5py.File(a / "all.h5", "r") as file, h5py.File(b / "all.h5", "r") as same:
            right[17, :] = -1
            for one in (file, same):
                self.assertTrue((one["plain"][:] == right).all())
        self.end(job)

    def test_names_of_open_containers(self):
        for nodes, options in ((1, []), (2, []), (3, ["--transport", "tcp", "--detect", "segv"])):
            self.well(self.run_job("names", nodes=nodes, options=options))

    def test_names_in_checkpoints(self):
        for nodes in (1, 2):
            state = self.folder / f"state{nodes}"
            for _ in range(2):
                self.well(self.run_job("saved", state, self.folder / "data", nodes=nodes))
            self.assertEqual((self.folder / "data").read_bytes()[1000:1001], b"l", "the restart has put it back")

    def test_stock_programs_rename(self):
        job, _ = self.served()
        self.shell("printf 'a\\nb\\n' > text && sed -i s/b/c/ text && test \"$(tr -d '\\n' < text)\" = ac")
        self.shell("mv text other && test ! -e text && mv -n other data; test -e other")
        self.shell("cp data ../data.1 && sort -o other other && cp data copied && mv -f copied other && cmp other data")
        with self.assertRaises(OSError) as refused:
            os.rename(self.where / "other", self.folder / "outside")
        self.assertEqual(refused.exception.errno, errno.EXDEV)
        self.end(job)

    def test_stock_programs_with_modes_and_times(self):
        job, _ = self.served()
        source = self.folder / "source"
        source.mkdir(0o700)
        for name, mode in (("tool", 0o755), ("own", 0o600), ("plain", 0o640)):
            (source / name).write_text(name + "\n")
            (source / name).chmod(mode)
            os.utime(source / name, (1e9, 1e9))

        def same(name):
            there, here = (self.where / name).stat(), (source / name).stat()
            self.assertEqual((oct(there.st_mode), there.st_mtime, there.st_size), (oct(here.st_mode), here.st_mtime, here.st_size), name)

        def quietly(words):
            done = subprocess.run(["sh", "-c", words], text=True, capture_output=True, timeout=60, cwd=self.where)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
            return done.stdout

        for words in ("cp -p ../source/* .", "cp -a ../source/* .", "tar -C ../source -cf - . | tar xpf -", "tar -C ../source -cf - tool own plain | tar xf -"):
            quietly(words + " && cmp tool ../source/tool")
            for name in ("tool", "own", "plain"):
                same(name)
            quietly("rm tool own plain")
        if shutil.which("rsync"):
            quietly("rsync -a ../source/ .")
            for name in ("tool", "own", "plain"):
                same(name)
            self.assertEqual(quietly("rsync -ai ../source/ ."), "", "there is nothing to do")
            quietly("rm tool own plain")
        quietly("install ../source/plain tool && test -x tool && touch -r ../source/own tool && test ! tool -nt ../source/own")
        quietly("touch tool && test tool -nt ../source/own")
        quietly("sed -i s/plain/word/ tool && test -x tool && ./tool 2> /dev/null; test $(cat tool) = word")
        quietly("cp -p ../source/own ../source/moved && mv ../source/moved . && test $(stat -c %a moved) = 600")
        quietly("printf '#!/bin/sh\necho ran\n' > script && chmod +x script && test $(./script) = ran")
        if shutil.which("make"):
            (self.where / "Makefile").write_text("result: input\n\tcat input > result\n")
            quietly("echo 1 > input && make -s && make -q")
            self.shell("sleep 0.02 && echo 2 > input && ! make -q && make -s && make -q && test $(cat result) = 2")
        if os.geteuid() == 0:  # there are no owners: programs say so, and go on
            os.chown(source / "plain", 1000, 1000)
            for words, status in (("cp -p ../source/plain plain", 1), ("tar -C ../source -cf - plain | tar xf -", 2),
                                  ("cp -p ../source/plain ../moved && mv ../moved plain", 0)):
                done = subprocess.run(["sh", "-c", words], text=True, capture_output=True, timeout=60, cwd=self.where)
                self.assertEqual(done.returncode, status, words)
                self.assertIn("Operation not permitted", done.stderr, words)
                self.assertEqual((self.where / "plain").stat().st_mtime, 1e9, words)
                quietly("cmp plain ../source/plain && rm plain")
            quietly("tar -C ../source -cf - plain | tar xf - --no-same-owner && cp --preserve=mode,timestamps ../source/plain plain")
        self.end(job)

    # ---- Two mounts, as of two hosts

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

    # ---- Ends

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
        job = subprocess.Popen(self.command("held", self.folder / "data", *words, **how), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True)
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

    # ---- On hosts

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

    # ---- Refusals

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
    ctypes.CDLL(None).prctl(36, 1)  # orphans of jobs that are killed come here, not to a process that knows nothing of them
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has its background jobs ignore it, and all that they start
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
