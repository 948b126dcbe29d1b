# SPDX-License-Identifier: BSD-3-Clause
"""What the tidy tests share: the files of the tree, sources without comments and literals, and lists that only get shorter."""
import re
import subprocess
import sys

CPP = (".cpp", ".hpp", ".c", ".h")


def tracked(root):
    """The files of the repository; of a tree without one, all but builds."""
    git = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True)
    if git.returncode == 0 and git.stdout:
        return sorted(name for name in git.stdout.split("\0") if name and (root / name).is_file())
    files = (str(p.relative_to(root)) for p in root.rglob("*") if p.is_file())
    return sorted(f for f in files if not f.startswith((".git/", "build", ".cache/")) and "__pycache__" not in f)


def documents(root):
    """All documents that tell what holds: {name: text}. CHANGELOG.md is history."""
    return {name: (root / name).read_text() for name in tracked(root) if name.endswith(".md") and name != "CHANGELOG.md"}


# In this order: what begins first in the text is what it is.
_ASIDE = re.compile(r'//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/|R"([^()\\ \n]*)\(.*?\)\1"|"(?:[^"\\\n]|\\.|\\\n)*"|(?<![0-9a-fA-F])\'(?:[^\'\\\n]|\\.)+\'', re.S)


def code_of(text):
    """C or C++ with as many lines: comments are empty, literals `0`."""
    def put(found):
        return ("0" if found.group(0)[0] in "R\"'" else "") + "\n" * found.group(0).count("\n")
    return _ASIDE.sub(put, text)


# ---- Names that are put together ---------------------------------------------------------------------------------------

def made(text):
    """{(begin, end)} of names with a variable in them in CMake or a shell: `linker_${name}`, `${app}_openmp`, `$app.cpp`."""
    return {pair for pair in re.findall(r"([\w-]*)\$\{?\w+\}?([\w.-]*)", text) if any(pair)}


def is_made(word, pairs, words):
    """Whether `word` is one of them, with one of `words` in the middle."""
    return any(word.startswith(begin) and word.endswith(end) and word[len(begin):len(word) - len(end)] in words for begin, end in pairs)


# ---- Lists of what is tolerated ----------------------------------------------------------------------------------------

def read_list(path):
    """{key: number} of lines `number key`."""
    rows = (line.split(None, 1) for line in path.read_text().splitlines() if line and not line.startswith("#"))
    return {key: int(number) for number, key in rows}


def compare(measured, listed, what, path):
    """Complaints: what grew or is new has to be mended; what shrank has to be recorded."""
    wrong = [f"{key}: {number} {what}" + (f", and {listed[key]} are tolerated" if key in listed else "") for key, number in sorted(measured.items())
             if number > listed.get(key, 0)]
    better = [f"{key}: {measured.get(key, 0)} {what}, no longer {number}" for key, number in sorted(listed.items()) if measured.get(key, 0) < number]
    if better:
        better.append(f"Well done. Record it in {path.name}: python3 {sys.argv[0]} {sys.argv[1]} --rewrite")
    return wrong + better


def rewrite(measured, path):
    """Records what shrank. What grew stays as it was: whoever wants that edits the list by hand."""
    listed = read_list(path)
    head = [line for line in path.read_text().splitlines() if line.startswith("#")]
    rows = [f"{min(number, listed[key])} {key}" for key, number in sorted(measured.items()) if key in listed]
    path.write_text("\n".join(head + rows) + "\n")
