#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""manual_test.py SOURCE QUIRE: applies the checks of manual.py to the documents, and to texts with mistakes in them."""
import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import manual  # noqa: E402

ROOT, QUIRE = Path(sys.argv[1]).resolve(), sys.argv[2]
sys.path.append(str(ROOT / "docs"))
import manual_tables  # noqa: E402


def table(which):
    rows = subprocess.run([QUIRE, "info", which, "--json"], capture_output=True, text=True, check=True, timeout=60).stdout
    return json.loads(rows)


def setUpModule():
    global DOCUMENTS, HELPS, PROGRAMS, VARIABLES, COUNTERS, HEADERS
    DOCUMENTS = manual.documents(ROOT)
    HELPS = manual.help_of(QUIRE)
    PROGRAMS = {p.name: p.read_text() for p in sorted((ROOT / "examples" / "guide").iterdir()) if p.suffix in (".c", ".cpp", ".py")}
    PROGRAMS.update({p.name: p.read_text() for p in sorted((ROOT / "examples" / "fortran").iterdir())})
    PROGRAMS["heat_numpy_quire.py"] = (ROOT / "examples" / "port" / "heat_numpy_quire.py").read_text()
    VARIABLES = {row["variable"] for row in table("--options")}
    COUNTERS = table("--counters")
    HEADERS = "\n".join(p.read_text() for p in (ROOT / "include" / "quire").iterdir())


class Tree(unittest.TestCase):
    def none(self, complaints):
        self.assertFalse(complaints, "\n" + "\n".join(complaints))

    def over(self, check, which=lambda name: True):
        self.none([wrong for name, text in DOCUMENTS if which(name) for wrong in check(name, text)])

    def test_there_is_something_to_check(self):
        names = [name for name, _ in DOCUMENTS]
        for wanted in ("README.md", "docs/guide/README.md", "docs/limits.md", "docs/design/README.md"):
            self.assertIn(wanted, names)
        snippets = [1 for name, text in DOCUMENTS if manual.for_users(name) for language, _ in manual.blocks(text) if language in ("cpp", "c")]
        self.assertGreater(len(snippets), 10)
        self.assertGreater(sum(len(manual.commands_in(text)) for _, text in DOCUMENTS), 30)
        self.assertGreater(len(HELPS["run"]), 10)

    def test_snippets_are_regions_of_programs(self):
        self.over(lambda name, text: manual.check_snippets(name, text, PROGRAMS), manual.for_users)
        self.none(manual.check_regions_are_shown(PROGRAMS, [text for name, text in DOCUMENTS if manual.for_users(name)]))

    def test_programs_are_run(self):
        rows = (ROOT / "examples" / "CMakeLists.txt").read_text()
        scripts = (ROOT / "python" / "tests" / "CMakeLists.txt").read_text()
        fortran = (ROOT / "fortran" / "CMakeLists.txt").read_text()
        for name in PROGRAMS:
            if name.endswith(".f90"):
                self.assertIn(f"examples/fortran/{name}", fortran, f"{name} needs a row in fortran/CMakeLists.txt")
                continue
            if name.endswith(".py"):
                self.assertRegex(scripts, f"examples/(guide|port)/{name}", f"{name} needs a row in python/tests/CMakeLists.txt")
                continue
            program = name.removesuffix(".cpp").replace(".c", "_c")
            self.assertRegex(rows, rf"guide_test\(\S+ {program} |add_test\([^)]*<TARGET_FILE:example_guide_{program}>", f"{name} needs a row in examples/CMakeLists.txt")

    def test_commands_exist(self):
        settings = {v.removeprefix("QUIRE_") for v in VARIABLES}
        self.over(lambda name, text: manual.check_commands(name, text, HELPS, settings))

    def test_all_commands_are_checked(self):
        self.assertEqual(manual.commands_of(QUIRE) - {command.split()[0] for command in manual.COMMANDS}, set())

    def test_manual_page_has_all_options(self):
        self.none(manual.check_manual((ROOT / "docs" / "quire.1").read_text(), HELPS))
        self.none(manual.check_few((ROOT / "docs" / "quire.1").read_text(), manual.options_for_people(QUIRE)))

    def test_manual_page_and_struct_have_all_counters(self):
        self.none(manual.check_counters((ROOT / "docs" / "quire.7").read_text(), COUNTERS, HEADERS))

    def test_statistics_tell_of_counters(self):
        self.over(lambda name, text: manual.check_counter_names(name, text, {row["name"] for row in COUNTERS}), lambda name: name.endswith("statistics.md"))

    def test_invariants_are_those_of_the_sources(self):
        for protocol in ("sequential", "release"):
            folder = ROOT / "src" / "protocol" / protocol
            sources = {str(p.relative_to(ROOT)): p.read_text() for p in folder.iterdir() if p.suffix in (".cpp", ".hpp")}
            self.none(manual.check_invariants(f"src/protocol/{protocol}/README.md", (folder / "README.md").read_text(), sources))

    def test_names_are_those_of_the_headers(self):
        self.over(lambda name, text: manual.check_names(name, text, VARIABLES, HEADERS),
                  lambda name: name == "README.md" or name.startswith("docs/"))

    def test_links_and_paths_lead_somewhere(self):
        self.over(lambda name, text: manual.check_links(ROOT, name, text))

    def test_sections_of_the_manual_exist(self):
        pages = {n: (ROOT / "docs" / f"quire.{n}").read_text() for n in "17"}
        self.over(lambda name, text: manual.check_sections(name, text, pages))

    def test_figures_are_generated(self):
        self.over(manual.check_figures)

    def test_guide_and_design_have_an_index(self):
        for folder in ("guide", "design"):
            index = (ROOT / "docs" / folder / "README.md").read_text()
            for page in (ROOT / "docs" / folder).glob("*.md"):
                if page.name != "README.md" and f"docs/{folder}/{page.name}" not in manual.GENERATED:
                    self.assertIn(f"({page.name})", index)

    def test_guide_is_one_story(self):
        pages = {page.name: page.read_text() for page in (ROOT / "docs" / "guide").glob("*.md")}
        order, wrong = manual.chain(pages | {"../limits.md": "Next: [x](../mappings.md)"})
        self.none(wrong)
        self.assertEqual(order[-1], "../limits.md")
        listed = re.findall(r"^guide/(\S+)$", (ROOT / "docs" / "index.md").read_text(), flags=re.M)
        self.assertEqual([page for page in order if page in pages], [f"{name}.md" for name in listed], "the site has another order")

    def test_words_of_the_guide_are_explained(self):
        pages = {page.name: page.read_text() for page in (ROOT / "docs" / "guide").glob("*.md") if f"docs/guide/{page.name}" not in manual.GENERATED}
        self.none(manual.check_words(pages, pages["README.md"]))

    def test_two_machines_are_one_click_away(self):
        for word in ("x86-64", "release consistency", "sequential consistency", "transactions"):
            self.assertIn(word, (ROOT / "README.md").read_text())
        self.assertRegex((ROOT / "README.md").read_text(), r"\[my OpenMP program on two machines\]\(docs/guide/openmp\.md\)")


HELP = """  -h,--help                   Print this help message and exit
  -n,--nodes N                How many
  --stats{-}                  Counters
  --pool memfd|file
                              What
  --set NAME=VALUE ...        Set any"""


class Mistakes(unittest.TestCase):
    """The checks see what they are for."""

    def setUp(self):
        self.helps = {"run": manual.options_in_help(HELP), "exec": {"--stack": True, "--any": False}, "info": {"--json": False},
                      "top": {"--once": False}}

    def command(self, text):
        return manual.check_commands("x.md", text, self.helps, {"UNIT"})

    def test_options_of_a_help(self):
        self.assertEqual(self.helps["run"], {"-h": False, "--help": False, "-n": True, "--nodes": True, "--stats": False,
                                             "--pool": True, "--set": True})

    def test_commands(self):
        for good in ("```sh\nquire run -n 2 --pool file --stats ./program --its own\n```", "```\nbuild/bin/quire info --json  # quire run -x\n```",
                     "say `quire run --set unit=64K ./p`", "    quire run --stats=FILE p\n", "```cpp\nquire run --nonsense\n```", "`quire info program`",
                     "    srun quire exec --stack 64M ./p --its own\n", "`quire top 4711 --once`", "    import quire as q"):
            self.assertEqual(self.command(good), [], good)
        for bad in ("```sh\nquire run --nods 2 ./program\n```", "```\nbuild/bin/quire info --jason\n```", "say `quire run --set units=64K ./p`",
                    "    quire run --pool file --tags ./p\n", "`quire info program more`", "say `quire exec --sack 1M ./p`",
                    "`quire tip`", "`quire top 4711 --twice`"):
            self.assertEqual(len(self.command(bad)), 1, bad)

    def test_snippets(self):
        programs = {"a.cpp": "int main() {\n  // [one]\n  int a = 1;\n    // [two]\n  int b = 2;\n  // [/two]\n  // [/one]\n}\n"}
        check = lambda text: manual.check_snippets("x.md", text, programs)
        for good in ("```cpp\nint b = 2;\n```", "```cpp\nint a = 1;\nint b = 2;\n```", "```\nno code\n```"):
            self.assertEqual(check(good), [], good)
        self.assertEqual(manual.check_snippets("x.md", "```fortran\nb = 2\n```", {"a.f90": "! [two]\nb = 2\n! [/two]\n"}), [])
        self.assertEqual(len(check("```fortran\nb = 2\n```")), 1)
        for bad in ("```cpp\nint b = 3;\n```", "```cpp\nint a = 1;\n```", "```\nint b = 2;\n```", "```c\nint b = 2;  // more\n```"):
            self.assertEqual(len(check(bad)), 1, bad)
        self.assertEqual(len(check("```diff\n-int a = 1;\n```")), 1)
        self.assertEqual(manual.check_snippets(manual.GENERATED[-1], "```diff\n-int a = 1;\n```", programs), [])
        self.assertEqual(len(manual.check_regions_are_shown(programs, ["```cpp\nint b = 2;\n```"])), 1)
        self.assertRaises(ValueError, manual.regions, "// [open]\nint a;\n")

    def test_invariants(self):
        table = "| (I1) | one |\n| (I2) | two (I1) |\n"
        self.assertEqual(manual.check_invariants("R", table, {"a.cpp": "// (I1)", "b.cpp": "// README.md, I2"}), [])
        for text, source in ((table, "// (I1)"), (table, "// (I1) (I2) (I3)"), (table + "| (I4) | four |\n", "(I1) (I2) (I4)"), ("", "")):
            self.assertEqual(len(manual.check_invariants("R", text, {"a.cpp": source})), 1, source)

    def test_manual_page(self):
        helps = {"run": {"-n": True, "--nodes": True, "--tag": False, "--help": False}}
        page = '.SH "OPTIONS OF QUIRE RUN"\n.TP\n.BR \\-n , \\-\\-nodes " N"\nmany, as --stats tells\n.TP\n.B \\-\\-tag\nwho\n.SH NEXT\n.TP\n.B \\-\\-other\n'
        self.assertEqual(manual.check_manual(page, helps), [])
        self.assertEqual(len(manual.check_manual(page, {"run": {**helps["run"], "--more": False}})), 1)
        self.assertEqual(len(manual.check_manual(page.replace("tag", "tog"), helps)), 2)
        self.assertEqual(len(manual.check_manual(page.replace("RUN", "WALK"), helps)), 1)
        few = ".SS What users set\n.TP\n.BR \\-a , \\-\\-all\nx --no\n.TP\n.B \\-\\-b\\-c WORD\ny\n.SS Rest\n.TP\n.B \\-\\-d\n"
        self.assertEqual(manual.check_few(few, {"--all", "--b-c"}), [])
        self.assertEqual(len(manual.check_few(few, {"--all", "--d"})), 2)
        self.assertEqual(len(manual.check_few("", {f"--{n}" for n in range(16)})), 17)

    def test_counters(self):
        rows = [{"name": "a", "meaning": "Faults --of one"}, {"name": "b_ns", "meaning": "Waits"}, {"name": "c", "meaning": "Rest"}]
        page = ".SH X\n.TP\n.B x\ny.\n.SH COUNTERS\nAll.\n.TP\n.B a\nFaults \\-\\-of one.\n.TP\n.B b_ns\nWaits.\n.TP\n.B c\nRest.\n.SH NEXT\n.TP\n.B d\nNo.\n"
        header = "typedef struct quire_counters {\n  size_t size;\n  uint64_t a, /* of, all; */ b_ns;\n  uint64_t c; /**< d */\n} quire_counters;"
        self.assertEqual(manual.check_counters(page, rows, header), [])
        self.assertEqual(len(manual.check_counters(page.replace("Rest", "All"), rows, header)), 2)
        self.assertEqual(len(manual.check_counters(page.replace(".TP\n.B c\nRest.\n", ""), rows, header)), 1)
        self.assertEqual(len(manual.check_counters(page, rows, header.replace("a, /* of, all; */ b_ns", "b_ns, a"))), 1)
        self.assertEqual(len(manual.check_counters(page, rows[:2], header)), 2)
        page = ".SH COUNTERS\nAll.\n.TP\n.B old\nx\n.SH ENVIRONMENT\nMost.\n.TP\n.B B\nx.\n.br\ny\n.SH ENVIRONMENT WITHOUT A LAUNCHER\nStarts.\n" \
               ".SH ENVIRONMENT FOR EXPERIMENTS\nRest.\n.SH SEE ALSO\nz\n"
        options = [{"variable": name, "for": use, "meaning": f"is {name}", "legal": "0-1", "default": ""}
                   for name, use in (("B", "experiments"), ("A", "programs"), ("C", "starts"))]
        self.assertEqual(manual_tables.with_tables(page, rows[:1], options),
                         ".SH COUNTERS\nAll.\n.TP\n.B a\nFaults \\-\\-of one.\n.SH ENVIRONMENT\nMost.\n.TP\n.B A\nis A.\n.br\n0\\-1; default none.\n"
                         ".SH ENVIRONMENT WITHOUT A LAUNCHER\nStarts.\n.TP\n.B C\nis C.\n.br\n0\\-1; default none.\n"
                         ".SH ENVIRONMENT FOR EXPERIMENTS\nRest.\n.TP\n.B B\nis B.\n.br\n0\\-1; default none.\n.SH SEE ALSO\nz\n")
        self.assertEqual(manual.check_counter_names("x.md", "| many `a`, few `b_ns` | `z` |\n| --- | --- |\n| text | `y` |", {"a", "b_ns"}), [])
        self.assertEqual(len(manual.check_counter_names("x.md", "| many `a`, few `b` | `z` |", {"a", "b_ns"})), 1)

    def test_story_and_words(self):
        a, b, c = "Next: [b](b.md).", "Next: [c](c.md)", "Next: [d](d.md)."
        self.assertEqual(manual.chain({"a.md": a, "b.md": b, "c.md": c}, "a.md"), (["a.md", "b.md", "c.md"], []))
        for pages in ({"a.md": a, "b.md": "none"}, {"a.md": a, "b.md": "Next: [a](a.md)"}, {"a.md": a, "b.md": c, "c.md": c}):
            self.assertEqual(len(manual.chain(pages, "a.md")[1]), 1, pages)
        glossary = "## Words\n\n| word | meaning |\n| --- | --- |\n| job, home | x |\n"
        self.assertEqual(manual.check_words({"a.md": "A home of `pool` is [here](frame.md).\n```\nunit\n```\n"}, glossary), [])
        self.assertEqual(len(manual.check_words({"a.md": "The homes of Units: a clerk."}, glossary)), 2)

    def test_names_links_figures(self):
        self.assertEqual(manual.check_names("x.md", "QUIRE_POOL, QUIRE_OK, quire::mutex, quire_end()", {"QUIRE_POOL"}, "QUIRE_OK mutex quire_end"), [])
        self.assertEqual(len(manual.check_names("x.md", "QUIRE_POOLS, quire::mutexes, quire_ends()", {"QUIRE_POOL"}, "mutex quire_end")), 3)
        self.assertEqual(manual.check_links(ROOT, "README.md", "[a](docs/limits.md#x) [b](https://x.org/y) `src/core/fault.cpp`"), [])
        self.assertEqual(len(manual.check_links(ROOT, "README.md", "[a](docs/limit.md) `src/core/default.cpp`")), 2)
        pages = {"7": ".SH PARALLEL BLOCKS\n.SH DEATHS\n"}
        self.assertEqual(manual.check_sections("x.md", "quire(7), PARALLEL\nBLOCKS, and (quire(7), DEATHS)", pages), [])
        self.assertEqual(len(manual.check_sections("x.md", "quire(7), DEATH, says", pages)), 1)
        self.assertEqual(manual.check_figures("x.md", "a limit of 60 seconds, 4 KiB\n```cpp\nwait(50ms);\n```\n"), [])
        self.assertEqual(len(manual.check_figures("x.md", "a fault takes 5.6 us, or 2 GB/s")), 2)
        self.assertEqual(len(manual.check_figures("x.md", "some tens of microseconds, a tenth of a millisecond, several times faster, 20 % slower")), 4)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
