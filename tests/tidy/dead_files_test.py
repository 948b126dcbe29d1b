#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""dead_files_test.py SOURCE BUILD: every file is there for something. A source is compiled, a header is included, what is run or read is named by a file that
is not itself, a document or picture is linked. BUILD has compile_commands.json; without what an optional part needs, being named is enough."""
import json
import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import tree  # noqa: E402

ROOT = Path(sys.argv[1]).resolve()
BUILD = Path(sys.argv[2]) if sys.argv[2:] else None
# What is read by folder, or is where others look for it: and who does.
BY_PLACE = {
    r"scripts/mutations/patches/.*\.patch": "scripts/mutations/run.py",
    r"tests/fuzz/corpus/[^/]+/.*": "tests/fuzz/CMakeLists.txt",
    r"\.ci/run|\.gitignore|\.git-blame-ignore-revs|(.*/)?\.clang-format|LICENSE|Makefile|README\.md|CHANGELOG\.md|CMakeLists\.txt": "people and tools",
    r".*/README\.md|CONTRIBUTING\.md": "whoever opens the folder",
}
NAMING = (".md", ".py", ".sh", ".txt", ".cmake", ".in", ".toml", ".yaml", "Makefile", ".ci/run", ".c", ".cpp", ".h", ".hpp", ".html", ".1", ".7")


def included(texts):
    """What #include names, as it stands there: {name: files that name it}."""
    found = {}
    for name, text in texts.items():
        for path in re.findall(r'#\s*include\s*[<"]([^>"\n]+)[>"]', text):
            found.setdefault(path, set()).add(name)
    return found


def words_of(texts):
    """Names that stand anywhere: {word: files}. A word has dots and dashes; parts of it count, too."""
    found = {}
    for name, text in texts.items():
        for word in set(re.findall(r"[\w.-]+", text)):
            for part in {word, word.rstrip("."), word.split(".")[0], *word.split(".")}:
                found.setdefault(part, set()).add(name)
    return found


def is_included(name, includes):
    parts = name.split("/")
    return any(includes.get("/".join(parts[at:]), set()) - {name} for at in range(len(parts)))


def is_named(name, words, others=lambda by: True):
    """By its last part, or by that without the end, as CMake, Python and toctrees name files. Common words are not enough."""
    last = name.rsplit("/", 1)[-1]
    stem = last.split(".")[0] if not last.startswith(".") else last
    return any(by != name and others(by) for word in (last, stem) for by in words.get(word, ()))


def made_by(texts):
    """What CMake and shells put together, and the words that may be the rest: one pair a file."""
    return [(tree.made(text), set(re.findall(r"\w+", text))) for name, text in texts.items() if name.endswith((".txt", ".cmake", ".sh"))]


def is_made(name, made):
    last = name.rsplit("/", 1)[-1]
    return any(tree.is_made(last, pairs, words) for pairs, words in made)


def dead(names, texts, compiled):
    """Complaints. `texts`: of the files that may name others; `compiled`: paths of sources that the build compiles."""
    includes, words, made, wrong = included(texts), words_of(texts), made_by(texts), []
    for name in names:
        if any(re.fullmatch(place, name) for place in BY_PLACE) or is_made(name, made):
            continue
        if name.endswith((".hpp", ".h")):
            if not is_included(name, includes):
                wrong.append(f"{name}: nobody includes it")
        elif name.endswith((".cpp", ".c")):
            by_builds = lambda by: by.endswith((".txt", ".cmake", ".py", ".sh", ".in", ".toml"))
            if name not in compiled and not is_included(name, includes) and not is_named(name, words, by_builds):
                wrong.append(f"{name}: nobody compiles it")
        elif name.endswith((".md", ".svg", ".png")):
            if not is_named(name, words, lambda by: by.endswith((".md", ".py"))):
                wrong.append(f"{name}: nobody links it")
        elif name.endswith("CMakeLists.txt"):
            if not is_named(name.rsplit("/", 1)[0], words, lambda by: by.endswith("CMakeLists.txt")):
                wrong.append(f"{name}: no CMakeLists.txt adds its folder")
        elif not is_named(name, words):
            wrong.append(f"{name}: nobody names it")
    return wrong


def compiled_by(build):
    """What the build compiles, also where it compiles several sources together: paths."""
    rows = json.loads((build / "compile_commands.json").read_text())
    files = [Path(row["directory"], row["file"]) for row in rows]
    together = (path.read_text() for path in files if "Unity" in path.parts and path.exists())
    return files + [Path(path) for text in together for path in re.findall(r'#include "(/[^"]+)"', text)]


class DeadFiles(unittest.TestCase):
    def test_every_file_is_there_for_something(self):
        names = tree.tracked(ROOT)
        texts = {name: (ROOT / name).read_text() for name in names if name.endswith(NAMING) and not name.startswith("tests/fuzz/corpus/")}
        texts.pop("CHANGELOG.md", None)
        compiled = {str(path.relative_to(ROOT)) for path in compiled_by(BUILD) if path.is_relative_to(ROOT)}
        self.assertGreater(len(compiled), 300)
        wrong = dead(names, texts, compiled)
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_every_corpus_has_its_fuzzer(self):
        fuzz = ROOT / "tests" / "fuzz"
        for folder in (fuzz / "corpus").iterdir():
            self.assertTrue((fuzz / f"{folder.name}_fuzz.cpp").is_file(), f"no fuzzer reads {folder}")

    def test_the_check_sees_what_is_dead(self):
        rows = "add_executable(a a.cpp b/c.c)\nadd_test(run.py)\nadd_subdirectory(x)\nforeach(name one)\n f(${name}_test.py)"
        texts = {"CMakeLists.txt": rows, "b/a.cpp": '#include "in/one.hpp"\nint main() {}\n',
                 "in/two.hpp": "", "run.py": "import helper", "README.md": "[x](a.md) ![y](b/y.svg)", "in/self.hpp": '#include "in/self.hpp"'}
        alive = ["src/in/one.hpp", "a.cpp", "b/c.c", "run.py", "tests/helper.py", "docs/a.md", "b/y.svg", "x/CMakeLists.txt", "d.cpp",
                 "one_test.py", "README.md", "LICENSE"]
        self.assertEqual(dead(alive, texts, {"d.cpp"}), [])
        for name in ("in/two.hpp", "in/self.hpp", "src/one.hpp", "e.cpp", "walk.py", "two_test.py", "docs/z.md", "b/z.svg", "y/CMakeLists.txt", "d.sh"):
            self.assertEqual(len(dead([name], texts, {"d.cpp"})), 1, name)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
