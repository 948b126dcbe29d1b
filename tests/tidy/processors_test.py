#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""processors_test.py SOURCE: a file with code for x86-64 (instructions, registers, relocations, headers of the compiler) has a branch for AArch64, or stands in
processors.txt with what others have instead; and what stands there still has such code. scripts/aarch64.sh compiles the lower layers for AArch64."""
import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import tree  # noqa: E402

ROOT = Path(sys.argv[1]).resolve()
LIST = Path(__file__).resolve().with_name("processors.txt")
KINDS = ("x86-64", "fallback")
WORDS = re.compile(r"\b__x86_64__\b|\b__(?:builtin_ia32|get_cpuid)\w*|\bR_X86_64_\w+|\bEM_X86_64\b|\bREG_(?:R[A-Z0-9]+|EFL|ERR)\b"
                   r"|#\s*include\s*<(?:\w*intrin\.h|cpuid\.h|Zydis/[^>]*)>")
# Not empty, and not only the name that a function or a register has in assembly.
INSTRUCTIONS = re.compile(r'\b(?:__asm__|asm)\s*(?:(?:__volatile__|volatile)\s*\(\s*R?"[^"]|\(\s*(?:R"|"[^"]*[\s%$]))')
OTHERS = re.compile(r"\b__aarch64__\b|\b__ARM_\w+")


def for_x86_only(text):
    """Whether this source in C or C++ has code for x86-64, and no branch for AArch64."""
    code = tree.code_of(text)
    return bool(WORDS.search(code) or (re.search(r"\basm\b|__asm__", code) and INSTRUCTIONS.search(text))) and not OTHERS.search(code)


def read_rows(text):
    """{file: (kind, what it is)} of lines `kind file: what it is`."""
    rows = (re.fullmatch(r"(\S+) (\S+): (.+)", line) for line in text.splitlines() if line and not line.startswith("#"))
    return {row.group(2): (row.group(1), row.group(3)) for row in rows}


def complaints(found, rows):
    wrong = [f"{name}: for x86-64 only: give it a branch for __aarch64__, or a row in {LIST.name}" for name in sorted(found - set(rows))]
    wrong += [f"{name}: not for x86-64 only any more: take its row out of {LIST.name}" for name in sorted(set(rows) - found)]
    return wrong + [f"{name}: {kind} is none of {', '.join(KINDS)}" for name, (kind, _) in sorted(rows.items()) if kind not in KINDS]


class Processors(unittest.TestCase):
    def test_what_is_for_one_processor_is_listed(self):
        found = {name for name in tree.tracked(ROOT) if name.endswith(tree.CPP) and for_x86_only((ROOT / name).read_text())}
        self.assertGreater(len(found), 10)
        wrong = complaints(found, read_rows(LIST.read_text()))
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_the_check_sees_what_is_for_one_processor(self):
        for text in ("#if defined(__x86_64__)\n#endif", "#include <immintrin.h>", 'asm volatile("syscall" : "+a"(r));', 'asm(R"(\n.text\n)");',
                     'asm("mov %rsp, %rax");', "__builtin_ia32_pause();", "switch (k) { case R_X86_64_64: }", "of.gregs[REG_RIP]"):
            self.assertTrue(for_x86_only(text), text)
        for text in ('int f() asm("g");', 'asm volatile("" ::: "memory");', "// __x86_64__", 'auto a = "__x86_64__";',
                     "#if defined(__x86_64__)\n__builtin_ia32_pause();\n#elif defined(__aarch64__)\n#endif"):
            self.assertFalse(for_x86_only(text), text)
        self.assertEqual(read_rows("# a\nx86-64 a/b.cpp: it jumps\n"), {"a/b.cpp": ("x86-64", "it jumps")})
        self.assertEqual(len(complaints({"a"}, {"b": ("fallback", "x"), "a": ("other", "x")})), 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
