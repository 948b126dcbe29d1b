#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""documents_test.py SOURCE QUIRE BUILD: what documents tell one to type exists: targets and variables of make, options of scripts and of anything else, QUIRE_*
variables, programs below build/, tests; and links lead to headings. Lines that begin with `quire`, and paths, are tests/docs/manual_test.py's."""
import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
ROOT = Path(sys.argv[1]).resolve()
sys.path.append(str(ROOT / "tests" / "docs"))
import manual  # noqa: E402
import tree  # noqa: E402

# Options of programs that are none of Quire's, which documents name.
FOREIGN = {"--mpi": "srun", "--hostfile": "mpirun", "--mca": "mpirun", "--device": "docker", "--cap-add": "docker", "--no-same-owner": "tar",
           "--args": "gdb", "--recipe": "rattler-build", "--launcher": "mpirun", "--host": "mpirun", "--test-dir": "ctest",
           "--output-on-failure": "ctest", "--gtest_filter": "GoogleTest"}


def code_in(text):
    """Shell lines and code within sentences; not the programs. A comment begins with # or, in a table, with blanks."""
    lines = [line for language, block in manual.blocks(text) if language not in manual.SNIPPETS for line in block]
    rest = manual.without_blocks(text)
    lines += [line for line in rest.splitlines() if line.startswith("    ")] + re.findall(r"`([^`\n]+)`", rest)
    return [re.split(r"\s{2,}|\s#", line.strip())[0] for line in lines]


def plain(page):
    """A manual page as text."""
    return re.sub(r"\\f[BIRP]|\\f\(..", "", page.replace("\\-", "-").replace("\\(aq", "'"))


def options_in(text):
    return set(re.findall(r"(?<![\w-])(--[a-z][\w-]*)", text))


# ---- make, scripts, options ----------------------------------------------------------------------------------------------

def check_make(name, text, makefile):
    """`make soak MINUTES=60`: both are in the Makefile."""
    targets, variables = set(re.findall(r"^([a-z-]+):", makefile, flags=re.M)), set(re.findall(r"^([A-Z_]+) \?=|\$\(([A-Z_]+)\)", makefile, flags=re.M))
    known, wrong = {word for pair in variables for word in pair if word}, []
    for line in code_in(text):
        for words in re.findall(r"(?:^|[;&(])\s*(?:\w+=\S+ )*make ([^;&|)]+)", line):
            for word in words.split():
                variable = re.match(r"([A-Z_]+)=", word)
                if variable and variable.group(1) not in known:
                    wrong.append(f"{name}: the Makefile has no {variable.group(1)} (make {words})")
                elif re.fullmatch(r"[a-z][\w-]*", word) and word not in targets:
                    wrong.append(f"{name}: there is no target {word} (make {words})")
    return wrong


def check_scripts(name, text, sources):
    """`bench/run.py --only x`: the script, or one that it takes words from, has the option. `sources`: {path: text}."""
    wrong = []
    for line in code_in(text):
        found = re.match(r"\s*(?:[A-Z_]+=\S+ )*(?:python3 )?([\w./-]+\.(?:py|sh))\b(.*)", line)
        if not found or "parse_known_args" in sources.get(found.group(1), "parse_known_args"):
            continue  # none of the tree, or what it does not know is for another program
        script, rest = found.group(1), re.split(r"[|;&]| -- ", found.group(2))[0]
        folder = script.rsplit("/", 1)[0] + "/"
        near = sources[script] + "".join(text for path, text in sources.items()
                                         if path.startswith(folder) and path.endswith(".py") and re.search(rf"\bimport {Path(path).stem}\b", sources[script]))
        wrong += [f"{name}: {script} has no option {option}" for option in sorted(options_in(rest)) if not re.search(rf"(?<![\w-]){option}(?![\w-])", near)]
    return wrong


def check_options(name, text, known):
    """Any option anywhere in code is one of somebody's."""
    return [f"{name}: nothing has an option {option}" for option in sorted({o for line in code_in(text) for o in options_in(line)}) if option not in known]


def check_variables(name, text, known):
    return [f"{name}: no source names {word}" for word in sorted(set(re.findall(r"\bQUIRE_[A-Z0-9_]*[A-Z0-9]\b", text))) if word not in known]


def check_definitions(name, text, cmake):
    return [f"{name}: CMake has no option {word}" for line in code_in(text) for word in re.findall(r"(?<!\S)-D(QUIRE_\w+)", line)
            if not re.search(rf"(?:option|set)\({word}\b", cmake)]


def check_built(name, text, exists, words, made=()):
    """build/bin/x is there, or named by what makes it if it can be left out or comes of a run."""
    wrong = []
    for line in code_in(text):
        for path in re.findall(r"(?<![\w/.-])build/([\w/.-]*[\w-])", line):
            if not exists(path) and (last := path.rsplit("/", 1)[-1]) not in words and not tree.is_made(last, made, words):
                wrong.append(f"{name}: nothing makes build/{path}")
    return wrong


def check_tests(name, text, cmake):
    """`ctest -R x` and `-L x`: a test or a label begins so."""
    wrong = []
    for line in code_in(text):
        if re.search(r"\bctest\b", line):
            wrong += [f"{name}: no test and no label begins with {word} ({line.strip()})" for word in re.findall(r"-[RL] ([a-z]\w*)", line)
                      if not re.search(rf"(?:NAME|LABELS) \"?{word}\b|\b{word}\.|;{word}\b|foreach\(kind[\w ]*\b{word}\b", cmake)]
    return wrong


# ---- Links ---------------------------------------------------------------------------------------------------------------

def anchors(text):
    """What #... may be: headings as GitHub and Sphinx turn them, and labels."""
    found, times = set(re.findall(r"^\(([\w-]+)\)=$", text, flags=re.M)) | set(re.findall(r'<a (?:name|id)="([\w-]+)"', text)), {}
    for heading in re.findall(r"^#+ +(.*?)\s*#*$", manual.without_blocks(text), flags=re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        found.add(slug if slug not in times else f"{slug}-{times[slug]}")
        times[slug] = times.get(slug, 0) + 1
    return found


def check_anchors(name, text, texts):
    """`texts`: {document: text}."""
    wrong = []
    for path, anchor in re.findall(r"\]\(([^)\s#]*)#([^)\s]+)\)", manual.without_blocks(text)):
        if "://" in path:
            continue
        there = str(((ROOT / name).parent / path).resolve().relative_to(ROOT)) if path else name
        if there in texts and anchor not in anchors(texts[there]):
            wrong.append(f"{name}: {there} has no heading #{anchor}")
    return wrong


def check_chain(pages):
    """`pages`: {name: text} of the guide. From README.md on, the first link of each page's `Next:` leads to a page that was not there yet; all pages come; the
    last one leads out of the guide."""
    at, come = "README.md", []
    while at in pages:
        if at in come:
            return [f"the guide goes round in a circle: {' '.join(come)} {at}"]
        come.append(at)
        after = re.findall(r"^Next: \[[^\]]+\]\(([^)#]+)", pages[at], flags=re.M)
        if len(after) != 1:
            return [f"docs/guide/{at} has {len(after)} lines that begin with Next:, and a link, in the place of one"]
        if not pages[at].rstrip().splitlines()[-1].startswith("Next:"):
            return [f"docs/guide/{at} goes on after its Next:"]
        at = after[0]
    if not at.startswith("../"):
        return [f"docs/guide/{come[-1]} leads to {at}, which does not exist"]
    return [f"no Next: leads to docs/guide/{page}" for page in sorted(set(pages) - set(come))]


# ---- The tree ------------------------------------------------------------------------------------------------------------

def setUpModule():
    global DOCUMENTS, SOURCES, MAKEFILE, CMAKE, VARIABLES, KNOWN, WORDS, BUILD
    BUILD = Path(sys.argv[3])
    DOCUMENTS = tree.documents(ROOT)
    ends = (*tree.CPP, ".py", ".sh", ".txt", ".cmake", ".in", ".f90", "Makefile", ".ci/run", ".js")
    names = [name for name in tree.tracked(ROOT) if name.endswith(ends) and not name.startswith(("tests/fuzz/corpus/", "tests/tidy/documents_test"))]
    SOURCES = {name: (ROOT / name).read_text() for name in names}
    MAKEFILE = (ROOT / "Makefile").read_text()
    CMAKE = "\n".join(text for name, text in SOURCES.items() if name.endswith(("CMakeLists.txt", ".cmake")))
    told = subprocess.run([sys.argv[2], "info", "--options", "--json"], capture_output=True, text=True, check=True, timeout=60).stdout
    VARIABLES = {row["variable"] for row in json.loads(told)} | {word for text in SOURCES.values() for word in re.findall(r"\bQUIRE_[A-Z0-9_]+\b", text)}
    KNOWN = {option for options in manual.help_of(sys.argv[2]).values() for option in options} | set(FOREIGN) | {"--help", "--version"}
    # Programs and scripts take them as literals.
    KNOWN |= {option for name, text in SOURCES.items() if not name.startswith("tests/docs/") for option in re.findall(r'["\'|,( ](--[a-z][\w-]*)', text)}
    WORDS = {word for name, text in SOURCES.items() if not name.endswith(tree.CPP) for word in re.findall(r"[\w.-]+", text)}


class Documents(unittest.TestCase):
    def over(self, check, *rest):
        wrong = [line for name, text in DOCUMENTS.items() for line in check(name, text, *rest)]
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_there_is_something_to_check(self):
        self.assertGreater(len(DOCUMENTS), 50)
        lines = [line for text in DOCUMENTS.values() for line in code_in(text)]
        for wanted, least in ((r"\bmake \w", 15), (r"--\w", 50), (r"\bbuild/", 10), (r"\.(?:py|sh) --", 5)):
            self.assertGreater(sum(bool(re.search(wanted, line)) for line in lines), least, wanted)

    def test_make(self):
        self.over(check_make, MAKEFILE)

    def test_scripts(self):
        self.over(check_scripts, SOURCES)

    def test_options(self):
        self.over(check_options, KNOWN)
        wrong = [f"quire.{n}: nothing has an option {o}" for n in "17" for o in sorted(options_in(plain((ROOT / "docs" / f"quire.{n}").read_text())) - KNOWN)]
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_variables(self):
        self.over(check_variables, VARIABLES)
        for n in "17":
            page = plain((ROOT / "docs" / f"quire.{n}").read_text())
            self.assertFalse(check_variables(f"quire.{n}", page, VARIABLES))

    def test_definitions(self):
        self.over(check_definitions, CMAKE)

    def test_programs_are_built(self):
        self.over(check_built, lambda path: (BUILD / path).exists(), WORDS, tree.made(CMAKE))

    def test_tests(self):
        self.over(check_tests, CMAKE)

    def test_anchors(self):
        self.over(check_anchors, DOCUMENTS)

    def test_the_guide_leads_on(self):
        pages = {name.removeprefix("docs/guide/"): text for name, text in DOCUMENTS.items() if name.startswith("docs/guide/")}
        self.assertGreater(len(pages), 15)
        wrong = check_chain(pages)
        self.assertFalse(wrong, "\n" + "\n".join(wrong))


class Mistakes(unittest.TestCase):
    """The checks see what they are for."""

    def each(self, check, good, bad, *rest):
        for text in good:
            self.assertEqual(check("x.md", text, *rest), [], text)
        for text in bad:
            self.assertEqual(len(check("x.md", text, *rest)), 1, text)

    def test_make(self):
        makefile = "MINUTES ?= 10\nsoak: build ## x\n\t$(FLAGS)\nbuild:\n"
        self.each(check_make, ("`make soak MINUTES=3`", "    cd a && make build FLAGS=-x  # make the rest", "make haste"),
                  ("`make sock`", "```sh\nmake soak HOURS=3\n```"), makefile)

    def test_scripts_and_options(self):
        sources = {"a/run.py": "import more\nadd('--only')", "a/more.py": "'--less'", "a/other.py": "'--other'"}
        self.each(check_scripts, ("`a/run.py --only x --less`", "    X=1 python3 a/run.py --only | a --other"),
                  ("`a/run.py --other`", "`a/run.py --onl`"), sources)
        self.each(check_options, ("`--only`", "--nothing in prose"), ("`p --onyl`", "```\n--x\n```"), {"--only"})

    def test_names(self):
        self.each(check_variables, ("QUIRE_A",), ("QUIRE_B",), {"QUIRE_A"})
        self.each(check_definitions, ("`cmake -DQUIRE_A=ON -DCMAKE_B=x`",), ("`cmake -DQUIRE_B=ON`",), "option(QUIRE_A x)")
        self.each(check_built, ("`build/bin/a`", "`build/b.json`", "`x/build/c`", "`build/d_e`"), ("    build/bin/c 1 2",),
                  lambda path: path == "bin/a", {"b.json", "d"}, tree.made("${app}_e"))
        self.each(check_tests, ("`ctest -R docs`", "`ctest -L unit -V`", "`ctest -R PATTERN`"), ("`ctest -R dogs`",), "add_test(NAME docs.a)\nLABELS unit")

    def test_anchors(self):
        page = "# One\n## Two, `three()`: [four](x.md)\n## One\n```sh\n# none\n```\n"
        self.assertEqual(anchors(page), {"one", "two-three-four", "one-1"})
        texts = {"docs/a.md": page, "docs/b.md": ""}
        self.assertEqual(check_anchors("docs/b.md", "[x](a.md#one) [y](https://a.org/#z) [z](a.md)", texts), [])
        self.assertEqual(len(check_anchors("docs/b.md", "[x](a.md#none) [y](#one)", texts)), 2)

    def test_chain(self):
        pages = {"README.md": "Next: [a](a.md).\n", "a.md": "x\n\nNext: [b](b.md#x), or [out](../x.md).\n", "b.md": "Next: [out](../limits.md).\n"}
        self.assertEqual(check_chain(pages), [])
        for change, say in (({"c.md": ""}, "no Next: leads to docs/guide/c.md"), ({"b.md": "Next: [a](a.md)"}, "circle"), ({"a.md": "none"}, "has 0 lines"),
                            ({"a.md": pages["a.md"] + "More."}, "goes on after"), ({"b.md": "Next: [d](d.md)"}, "does not exist")):
            wrong = check_chain({**pages, **change})
            self.assertEqual(len(wrong), 1, wrong)
            self.assertIn(say, wrong[0])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
