#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mount_programs_test.py QUIRE PROGRAM RANDOM: programs of this machine on containers as files (`quire run --mount`).
Skipped where this process may not mount."""
import errno
import os
import shutil
import sqlite3
import struct
import subprocess
import unittest

from mount_jobs import RANDOM, MountCase, main


class Mount(MountCase):
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
            writers = [subprocess.Popen(["sqlite3", "-cmd", ".timeout 30000", "base.db", f"insert into t select k + {n}000, v from t where k < 1000"],
                                        cwd=self.where) for n in (1, 2, 3)]
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


if __name__ == "__main__":
    main()
