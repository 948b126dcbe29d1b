#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""exports_test.py SOURCE LIBRARY [--count]: names that libquire.so exports. Beside quire_* these are names of libc's only, each a row of the table of calls
(src/libc/table.hpp), and each row is exported: what stands in front of libc is in one list. --count prints how many."""
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources

LIBRARY = Path(sys.argv[2])
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


class Exports(unittest.TestCase):
    def test_each_name_is_the_librarys_or_has_a_row(self):
        wrong = of_libc(exports(LIBRARY)) - rows(LIBRARY)
        self.assertFalse(wrong, f"exported, and not in the table of calls: {', '.join(sorted(wrong))}")

    def test_each_row_is_exported(self):
        wrong = rows(LIBRARY) - exports(LIBRARY)
        self.assertFalse(wrong, f"in the table of calls, and not exported: {', '.join(sorted(wrong))}")

    def test_there_is_a_table(self):
        self.assertGreater(len(rows(LIBRARY)), 100)
        self.assertIn("read", rows(LIBRARY))
        self.assertIn("quire_start", exports(LIBRARY))


if __name__ == "__main__":
    if "--count" in sys.argv:
        print(f"{len(of_libc(exports(LIBRARY)))} names of libc exported, {len(rows(LIBRARY))} in the table")
        sys.exit()
    unittest.main(argv=sys.argv[:1])
