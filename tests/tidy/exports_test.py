#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""exports_test.py SOURCE LIBRARY PROGRAM [--count]: names that libquire.so and libquire_omp.so export. Beside quire_*, and names of OpenMP, C++ and
Fortran, these are calls of libc, each a row of program/calls.txt, and each row is exported: what stands in front of libc is in one list. In libquire.so each
has a row of the table of calls, too (src/libc/table.hpp). libquire_omp.so's variables of threads take no more than they may. --count prints how many."""
import fnmatch
import re
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources

ROOT = Path(sys.argv[1]).resolve()
LIBRARY, PROGRAM = (Path(name) for name in sys.argv[2:4])
RELATIVE = (8, 1027)  # R_X86_64_RELATIVE, R_AARCH64_RELATIVE
ROW = 24  # of the table: a name, a function, what is behind it


class Elf:
    """Sections of a 64-bit file, and what its relative relocations put where."""

    def __init__(self, data):
        self.data = data
        at, = struct.unpack_from("<Q", data, 40)
        size, count, names = struct.unpack_from("<HHH", data, 58)
        heads = [struct.unpack_from("<IIQQQQIIQQ", data, at + i * size) for i in range(count)]
        self.sections = {self.text(heads[names][4] + h[0]): h for h in heads}

    def text(self, offset):
        return self.data[offset:self.data.index(b"\0", offset)].decode()

    def text_at(self, address):
        """What is loaded there."""
        for h in self.sections.values():
            if h[1] == 1 and h[3] <= address < h[3] + h[5]:
                return self.text(h[4] + address - h[3])
        raise KeyError(address)

    def pointers(self):
        """{address: the address that is put there}."""
        head = self.sections[".rela.dyn"]
        found = {}
        for at in range(head[4], head[4] + head[5], 24):
            where, what, addend = struct.unpack_from("<QQq", self.data, at)
            if what & 0xffffffff in RELATIVE:
                found[where] = addend
        return found


def rows(library):
    """Names in the table of calls."""
    elf = Elf(library.read_bytes())
    head, pointers = elf.sections["quire_calls"], elf.pointers()
    return {elf.text_at(pointers[at]) for at in range(head[3], head[3] + head[5], ROW)}


def exports(library):
    """Names that other libraries find, but for the library's own."""
    told = subprocess.run(["nm", "-D", "--defined-only", "--format=posix", library], check=True, capture_output=True, text=True).stdout
    words = [line.split() for line in told.splitlines()]
    return {name.split("@")[0] for name, kind, *_ in words if kind != "A"}  # which is the name of a version


def of_libc(names):
    return {name for name in names if not name.startswith(("quire_", "QUIRE_"))}


def calls(of):
    """Rows of program/calls.txt that have a library."""
    pairs = (line.split(":") for line in (ROOT / "program/calls.txt").read_text().splitlines() if line and line[0] != "#")
    return {name for name, libraries in pairs if of in libraries.split()}


def of_others():
    """Patterns of what libquire_omp.so exports beside calls of libc."""
    return re.findall(r"[\w*]+(?=;)", re.sub(r"#.*", "", (ROOT / "program/omp.map.in").read_text()).split("local:")[0])


def of_programs():
    """What libquire_omp.so exports of the rest."""
    return {name for name in exports(PROGRAM) if not any(fnmatch.fnmatchcase(name, pattern) for pattern in of_others())}


class Exports(unittest.TestCase):
    def same(self, found, wanted, where):
        self.assertFalse(found - wanted, f"exported, and not in {where}: {', '.join(sorted(found - wanted))}")
        self.assertFalse(wanted - found, f"in {where}, and not exported: {', '.join(sorted(wanted - found))}")

    def test_names_of_the_library_are_rows(self):
        self.same(of_libc(exports(LIBRARY)), rows(LIBRARY), "the table of src/libc")
        self.same(of_libc(exports(LIBRARY)), calls("library"), "program/calls.txt")

    @unittest.skipIf(not PROGRAM.is_file(), "libquire_omp.so is not built")
    def test_names_of_programs_are_rows(self):
        self.same(of_programs(), calls("program"), "program/calls.txt")

    @unittest.skipIf(not PROGRAM.is_file(), "libquire_omp.so is not built")
    def test_thread_data_of_programs_library_leaves_room(self):
        told = subprocess.run(["readelf", "-lW", PROGRAM], check=True, capture_output=True, text=True).stdout
        in_memory = int(re.search(r"^ *TLS +(?:0x\w+ +){4}(0x\w+)", told, re.MULTILINE)[1], 16)
        self.assertLessEqual(in_memory, 0x2800, "program/posix/memory/thread_data.cpp says why")

    def test_rows_are_sorted_and_each_has_a_library(self):
        lines = [line for line in (ROOT / "program/calls.txt").read_text().splitlines() if line[0] != "#"]
        self.assertEqual(lines, sorted(lines, key=lambda line: line.split(":")[0]))
        wrong = [line for line in lines if not re.fullmatch(r"\w+:( library)?( program)?", line) or line.endswith(":")]
        self.assertFalse(wrong)
        self.assertEqual(len(lines), len({line.split(":")[0] for line in lines}))

    def test_there_is_a_table(self):
        self.assertGreater(len(rows(LIBRARY)), 100)
        self.assertIn("read", rows(LIBRARY))
        self.assertIn("quire_start", exports(LIBRARY))


if __name__ == "__main__":
    if "--count" in sys.argv:
        print(f"{len(of_libc(exports(LIBRARY)))} names of libc exported, {len(calls('library'))} in the table; libquire_omp.so: "
              f"{len(of_programs())}, {len(calls('program'))}; both: {len(calls('library') & calls('program'))}")
        sys.exit()
    unittest.main(argv=sys.argv[:1])
