#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check.py NAME DIRECT [QUIRE PROGRAM]: content for the linker NAME in a new folder, the program that calls its functions (direct.cpp), then the job on 2 nodes
(job.cpp); and what other programs find there afterwards."""
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def write_npy(path, numbers):
    """A file as numpy.save() writes it, of 8-byte floats."""
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }" % len(numbers)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(numbers)}d", *numbers))
    return struct.pack(f"<{len(numbers)}d", *numbers)


class Server:
    def __init__(self, content):
        self.process = subprocess.Popen([sys.executable, "-B", HERE / "range_server.py", content], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def order(self, words):
        """Requests and bytes so far."""
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()
        return [int(word) for word in self.process.stdout.readline().split()]

    def end(self):
        self.process.stdin.close()
        self.process.wait(10)


def contents(name, folder):
    """The words WHAT and EXPECTED of the programs, made anew; and what to check at the end."""
    if name == "zstd":
        shutil.rmtree(folder / "z", ignore_errors=True)
        return [folder / "z"]
    if name == "sqlite":
        return [f"{folder}/pages.db#one"]
    if name == "npy":
        (folder / "expected").write_bytes(write_npy(folder / "array.npy", [i / 7 for i in range(50_000)]))
        return [folder / "array.npy", folder / "expected"]
    (folder / "expected").write_bytes(bytes((i * i // 7) % 256 for i in range(1_000_003)))
    return None


def run(words, expected=0):
    done = subprocess.run([str(word) for word in words], text=True, capture_output=True, timeout=100)
    print(done.stdout, done.stderr, sep="", end="", flush=True)
    if (done.returncode == 0) != (expected == 0):
        sys.exit(f"{words[0]} ended with {done.returncode}")
    return done


def check_http(folder, direct, job):
    contents("http", folder)
    server = Server(folder / "expected")
    url = f"http://127.0.0.1:{server.port}/object"
    try:
        server.order("fail 2")  # a third attempt is made
        run([*direct, url, folder / "expected"])
        run([*direct, f"http://127.0.0.1:{server.port}/none", folder / "expected"], expected=1)
        if job:
            before = server.order("count")[1]
            run([*job, url, folder / "expected"])
            fetched = server.order("count")[1] - before
            size = (folder / "expected").stat().st_size
            print(f"{fetched} bytes were fetched of {size}")
            if fetched != size:
                sys.exit("each byte should come once, whichever node reads it")
    finally:
        server.end()


def check_left(name, folder):
    """What the job has left is what other programs expect."""
    if name == "npy":
        try:
            import numpy
            array = numpy.load(folder / "array.npy")
        except ImportError:
            print("no numpy: the file was not loaded by it")
            return
        if array.shape != (50_000,):
            sys.exit(f"numpy finds an array of {array.shape}")
    if name == "sqlite":
        with sqlite3.connect(folder / "pages.db") as base:
            if base.execute("pragma integrity_check").fetchone() != ("ok",):
                sys.exit("the database is damaged")
            print("pages in the database:", *base.execute("select container, count(*) from pages group by container").fetchall())
    if name == "zstd" and not list((folder / "z").glob("*.zst")):
        sys.exit("there are no compressed files")


def main():
    name, direct, job = sys.argv[1], [sys.argv[2]], []
    if len(sys.argv) > 3:
        job = [sys.argv[3], "run", "-n", "2", "--timeout", "60", sys.argv[4]]
    folder = Path(tempfile.mkdtemp(prefix="quire-linker-"))
    try:
        if name == "http":
            return check_http(folder, direct, job)
        run([*direct, *contents(name, folder)])
        if job:
            run([*job, *contents(name, folder)])
            check_left(name, folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    os.environ.setdefault("no_proxy", "127.0.0.1")
    main()
