#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""site.py QUIRE FOLDER [MERMAID]: lays out in FOLDER what Sphinx reads: the documents of this folder, and a reference that is written here: C and C++ from
the headers, Python from the package's docstrings, Fortran from the module, the command from its manual pages, options and counters from the command QUIRE
itself. Links that leave the documents become names of files, and drawings of Mermaid pictures, if MERMAID is its script and there is a browser to draw them
(drawings.py). Needs groff."""
import ast
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import drawings

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
HEADERS = ROOT / "include" / "quire"


# ---- Documents ---------------------------------------------------------------------------------------------------------

def with_inner_links(text, page, known):
    """Links to what is no page of the site, such as a source, as the name of the file."""
    def link(found):
        name, target = found.group(1), found.group(2)
        path = Path(os.path.normpath(page.parent / target.partition("#")[0]))
        inside = "://" in target or target.startswith("#") or path in known
        return found.group(0) if inside else f"{name} (`{os.path.relpath(path, ROOT)}`)"
    return re.sub(r"(?<!!)\[([^\]\n]+)\]\(([^)\s]+)\)", link, text)


DRAWING = re.compile(r"^```mermaid\n(.*?)^```$", flags=re.M | re.S)


def place_drawings(folder, mermaid):
    """Pictures in the place of drawings, on all pages; without Mermaid as they are written."""
    pages = [page for page in sorted(folder.rglob("*.md")) if DRAWING.search(page.read_text())]
    sources = [source for page in pages for source in DRAWING.findall(page.read_text())]
    if mermaid is None:
        for page in pages:
            page.write_text(page.read_text().replace("```mermaid\n", "```text\n"))
        return
    pictures = iter(drawings.draw(sources, mermaid))
    for page in pages:
        def place(found, page=page, number=itertools.count(1)):
            name = f"{page.stem}-{next(number)}.svg"
            (page.parent / name).write_text(next(pictures))
            words = ", ".join(dict.fromkeys(re.findall(r"\[+\(?([^\]\[()]+)\)?\]+", found.group(1))))
            return f"![A drawing of: {words}]({name})"
        page.write_text(DRAWING.sub(place, page.read_text()))


def copy_documents(folder):
    pages = list(DOCS.rglob("*.md"))
    known = set(pages)
    for page in pages:
        target = folder / page.relative_to(DOCS)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(with_inner_links(page.read_text(), page, known))
    for picture in DOCS.rglob("*.svg"):
        shutil.copy(picture, folder / picture.relative_to(DOCS))
    shutil.copy(DOCS / "conf.py", folder)


# ---- C and C++ ---------------------------------------------------------------------------------------------------------

SECTION = re.compile(r"^/\* -{4} (.+?) -{4,}[-\s*/]*$")


def comment_text(lines):
    """The text of a comment in C, without its marks."""
    text = "\n".join(re.sub(r"^\s*(/\*\*?|\*(?!/)|\*/) *", "", line) for line in lines)
    return text.replace("*/", "").strip()


def paragraphs(text):
    """As Markdown: what is no prose stands as it is, and what stands between two backticks is code."""
    text = re.sub(r"`[^`\n]+`|[<>*_`\[\]{}#$\\]", lambda mark: mark.group(0) if len(mark.group(0)) > 1 else "\\" + mark.group(0), text)
    return "\n".join(line.strip() for line in text.splitlines())


def c_functions(text):
    """Of a header: [(section, declaration or block, comment)]; a block is a type as it stands."""
    section, rows, lines, at = "", [], text.splitlines(), 0
    while at < len(lines):
        title = SECTION.match(lines[at])
        comment = []
        if title:
            section = title.group(1)
        elif lines[at].startswith("/**"):
            while "*/" not in lines[at]:
                comment.append(lines[at])
                at += 1
            comment.append(lines[at])
            at += 1
        if at < len(lines) and re.match(r"QUIRE_API|typedef|enum|struct", lines[at]):
            block = [lines[at]]
            while not re.search(r";\s*(/\*.*\*/)?$" if "{" not in block[0] or "}" in block[0] else r"^}", block[-1]):
                at += 1
                block.append(lines[at])
            rows.append((section, "\n".join(block), comment_text(comment)))
        at += 1
    return rows


def c_page():
    page = ["# C", "", "`#include <quire/quire.h>`, and the headers for parts of their own. A call returns a `quire_status`; its text says more."]
    for header in sorted(HEADERS.glob("*.h"), key=lambda path: path.name != "quire.h"):
        page += ["", f"## {header.name}"]
        before, rows = "", c_functions(header.read_text())
        if sum(block.startswith("QUIRE_API") for _, block, _ in rows) != len(re.findall(r"^QUIRE_API", header.read_text(), flags=re.M)):
            sys.exit(f"site.py does not find all functions of {header}")
        for section, block, comment in rows:
            if section != before:
                page += ["", f"### {section}"]
                before = section
            declaration = re.sub(r"\b(QUIRE_API|QUIRE_NODISCARD)\s*", "", block)
            if block.startswith("QUIRE_API"):
                declaration = " ".join(re.sub(r"__attribute__\(\(\w+\)\)|/\*.*?\*/|;", "", declaration).split())
                page += ["", f"::::{{c:function}} {declaration}", paragraphs(comment), "::::"]
            else:
                page += ["", paragraphs(comment), "", "```c", declaration.replace("/**<", "/*"), "```"]
    return page


SKIPPED = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)'", flags=re.S)


def closing(code, at):
    """Where the brace that opens at `at` closes; in code without comments and strings."""
    depth = 0
    for place in range(at, len(code)):
        depth += {"{": 1, "}": -1}.get(code[place], 0)
        if depth == 0:
            return place
    sys.exit("site.py: a brace of a header does not close")


def synopsis(text):
    """A header without bodies of functions, private parts and namespace `detail`."""
    code = SKIPPED.sub(lambda found: re.sub(r"[^\n]", " ", found.group(0)), text)  # of the same length
    kept, at, since = [], 0, 0
    while (brace := code.find("{", at)) >= 0:
        before = code[max(since, max(code.rfind(mark, 0, brace) for mark in ";{}") + 1):brace]
        is_type = re.search(r"\b(class|struct|enum|union|namespace|extern)\b(?![^<]*>)", before)
        if re.search(r"namespace detail\s*$", before):
            end = closing(code, brace)
            kept.append(re.sub(r"\s*namespace detail\s*$", "\n", text[at:brace]))
            at = since = end + 1
        elif ")" in before and not is_type:
            initialisers = re.search(r"\)[^():]*(:)\s+\w", before)
            stop = brace - len(before) + initialisers.start(1) if initialisers else brace
            kept.append(text[at:stop].rstrip() + ";")
            end = brace
            while True:  # initialisers may have braces themselves
                end = closing(code, end)
                rest = re.match(r"\s*(,[^{};]*)?\{", code[end + 1:])
                if initialisers is None or rest is None:
                    break
                end += rest.end()
            at = since = end + 1
        else:
            kept.append(text[at:brace + 1])
            at = since = brace + 1
    kept.append(text[at:])
    lines, hidden = [], None
    for line in "".join(kept).splitlines():
        indent = len(line) - len(line.lstrip())
        if re.match(r"\s*(private|protected):", line):
            hidden = indent
        elif hidden is not None and (line.lstrip().startswith("}") and indent < hidden or line.strip() == "public:"):
            hidden = None
        if hidden is None and line.strip() != "// namespace detail" and (line.strip() or (lines and lines[-1].strip())):
            lines.append(line)
    return lines


def cpp_page():
    page = ["# C++", "", "`#include <quire/quire.hpp>` brings all of it but `code.hpp`, `containers.hpp`, `gc.hpp` and `transaction.hpp`. Errors are exceptions (`quire::error`)."]
    for header in sorted(HEADERS.glob("*.hpp")):
        introduction, _, code = header.read_text().partition("#pragma once\n")
        words = [line.removeprefix("//").removeprefix(" ") for line in introduction.splitlines()[1:]]
        code = re.sub(r"^#include [^\n]*\n", "", code, flags=re.M)
        page += ["", f"## {header.name}", "", *(line if line.startswith("    ") else paragraphs(line) for line in words), "", "````cpp", *synopsis(code.strip()), "````"]
    return page


# ---- Python and Fortran ------------------------------------------------------------------------------------------------

def python_methods(node, module):
    """The public methods and properties of a class, and those of its bases in the module that are no names for users."""
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id.startswith("_") and base.id in module:
            yield from python_methods(module[base.id], module)
    yield from (method for method in node.body if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"))


def python_entry(node, level, name, module):
    if not isinstance(node, ast.ClassDef):
        called = "" if any(getattr(d, "id", "") == "property" for d in node.decorator_list) else f"({ast.unparse(node.args)})"
        return ["", f"{level} {name}", "", "```python", name + called, "```", "", ast.get_docstring(node) or ""]
    bases = ", ".join(ast.unparse(base) for base in node.bases if not ast.unparse(base).startswith("_"))
    made = next((method for method in node.body if isinstance(method, ast.FunctionDef) and method.name == "__init__"), None)
    arguments = ast.unparse(made.args).removeprefix("self").removeprefix(", ") if made is not None else ""
    lines = ["", f"{level} {name}", "", "```python", f"class {name}({bases})" if bases else f"{name}({arguments})", "```", "", ast.get_docstring(node) or ""]
    methods = {method.name: method for method in python_methods(node, module)}  # of two, the one that is nearer
    for method in methods.values():
        lines += python_entry(method, level + "#", f"{name}.{method.name}", module)
    return lines


def python_page():
    package = ROOT / "python" / "quire"
    page = ["# Python", "", "`import quire as q`. [The guide](../guide/python.md) shows how to use it."]
    initial = ast.parse((package / "__init__.py").read_text())
    for node in initial.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            page += python_entry(node, "##", node.name, {})
        if isinstance(node, ast.ImportFrom) and node.module and node.module != "_native":
            body = ast.parse((package / f"{node.module}.py").read_text()).body
            module = {n.name: n for n in body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
            module |= {n.targets[0].id: module[n.value.id] for n in body
                       if isinstance(n, ast.Assign) and isinstance(n.value, ast.Name) and n.value.id in module}  # another name
            for name in (alias.name for alias in node.names):
                page += python_entry(module[name], "##", name, module)
    page += ["", "## quire.joblib", "", ast.get_docstring(ast.parse((package / "joblib.py").read_text()))]
    values = next(node for node in initial.body if isinstance(node, ast.FunctionDef) and node.name == "__getattr__")
    return [*page, "", "## node, nodes", "", ast.get_docstring(values)]


def fortran_page():
    """The public subroutines and functions; those of arrays once, whatever the type and the rank."""
    text = (HEADERS / "quire.f90").read_text()
    page = ["# Fortran", "", "`use quire`. [The guide](../guide/fortran.md) shows how to use it.", "",
            "Generic for arrays of `real(real32)`, `real(real64)`, `integer(int32)`, `integer(int64)` and `complex(real64)`:", "", "```text"]
    for generic in ("shared", "find", "free", "reduce", "broadcast", "publish", "lookup", "container_map", "container_read", "container_write",
                    "container_append"):
        first = re.search(rf"interface quire_{generic}\n\s+module procedure (\w+)", text).group(1)
        page.append("call " + re.search(rf"subroutine {first}(\(.*\))", text).group(1).join((f"quire_{generic}", "")))
    page += ["```", "", "Constants:", "", "```fortran"]
    page += [f"{name} = {value}" for name, value in re.findall(r"integer, parameter, public :: (\w+) = (\S+)", text)]
    page += ["```", "", "Types:", "", "```fortran"]
    page += [line.strip() for kind in re.findall(r"^ *(type, bind\(c\), public :: .*?end type)$", text, flags=re.M | re.S) for line in kind.splitlines()]
    page += ["```", "", "What procedures look like that a call takes:", "", "```fortran"]
    page += [line[4:] for line in re.search(r"abstract interface\n(.*?)  end interface", text, flags=re.S).group(1).splitlines()]
    page += ["```"]
    for comment, kind, signature in re.findall(r"((?:^ *!> .*\n)+) *(subroutine|\w* ?(?:\(\w+\) )?function) (quire_\w+\([^)]*\)[^\n]*)", text, flags=re.M):
        words = " ".join(line.strip().removeprefix("!> ") for line in comment.splitlines())
        page += ["", f"## {signature.partition('(')[0]}", "", "```text", f"{kind} {signature}".strip(), "```", "", paragraphs(words)]
    return page


# ---- The command -------------------------------------------------------------------------------------------------------

def manual_page(section, title):
    """A manual page as a terminal shows it, with a heading for each section."""
    shown = subprocess.run(["groff", "-man", "-t", "-Tutf8", "-rLL=110n", "-P-cbou", DOCS / f"quire.{section}"], check=True, capture_output=True, text=True).stdout
    page, block = [f"# {title}"], []
    for line in shown.splitlines()[1:-1] + ["END"]:
        if line[:1].strip():
            if any(block):
                page += ["", "```text", *"\n".join(block).strip("\n").splitlines(), "```"]
            block = []
            page += ["", f"## {line.capitalize()}"] if line != "END" else []
        else:
            block.append(line)
    return page


def table_page(quire, which, title, columns, introduction):
    rows = json.loads(subprocess.run([quire, "info", which, "--json"], check=True, capture_output=True, text=True).stdout)
    cell = lambda row, column: paragraphs(str(row[column])).replace("|", "\\|") if column not in ("variable", "name") else f"`{row[column]}`"
    return [f"# {title}", "", introduction, "", "| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns),
            *("| " + " | ".join(cell(row, column) for column in columns) + " |" for row in rows)]


def main():
    quire, folder = sys.argv[1], Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    copy_documents(folder)
    place_drawings(folder, sys.argv[3] if len(sys.argv) > 3 else None)
    (folder / "reference").mkdir()
    pages = {
        "c": c_page(), "cpp": cpp_page(), "python": python_page(), "fortran": fortran_page(),
        "command": manual_page(1, "The command"), "quire7": manual_page(7, "Behaviour: quire(7)"),
        "options": table_page(quire, "--options", "Options", ("variable", "default", "legal", "meaning"),
                              "Of the environment, or of `quire run --set NAME=VALUE`; `quire info --options` prints them."),
        "counters": table_page(quire, "--counters", "Counters", ("name", "meaning"), "What `quire run --stats` prints, and `quire_counters_read()` gives."),
    }
    for name, lines in pages.items():
        (folder / "reference" / f"{name}.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
