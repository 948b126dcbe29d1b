#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""site_test.py SOURCE: what docs/site.py makes of headers and links. scripts/site.sh builds the whole, with Sphinx."""
import ast
import importlib.util
import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
ROOT = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "docs"))
spec = importlib.util.spec_from_file_location("quire_site", ROOT / "docs" / "site.py")
site = importlib.util.module_from_spec(spec)
spec.loader.exec_module(site)


class Site(unittest.TestCase):
    def synopsis(self, text):
        return "\n".join(line.strip() for line in site.synopsis(text) if line.strip())

    def test_bodies_are_left_out(self):
        self.assertEqual(self.synopsis("int f(int a) {\n  if (a) { return 1; }\n  return '}';  // {\n}\nint g();"), "int f(int a);\nint g();")
        self.assertEqual(self.synopsis("struct a {\n  int b = 1;\n  int c() const { return b; }\n};"), "struct a {\nint b = 1;\nint c() const;\n};")

    def test_constructors_have_no_initialisers(self):
        self.assertEqual(self.synopsis("class a {\n public:\n  explicit a(int b) : b_(f(b)), c_{b} { go(); }\n  int d;\n};"), "class a {\npublic:\nexplicit a(int b);\nint d;\n};")

    def test_inner_parts_are_left_out(self):
        self.assertEqual(self.synopsis("namespace detail {\nint a() { return 1; }\n}  // namespace detail\nint b;"), "int b;")
        self.assertEqual(self.synopsis("class a {\n public:\n  int b;\n\n private:\n  int c;\n  struct d {\n    int e;\n  };\n};\nint f;"), "class a {\npublic:\nint b;\n};\nint f;")

    def test_functions_of_c(self):
        header = "/* ---- One ---------- */\n\n/** Does it.\n *  Or not. */\nQUIRE_API int quire_f(int a,\n                      int b);\ntypedef struct quire_h { int id; } quire_h;\n"
        self.assertEqual(site.c_functions(header), [("One", "QUIRE_API int quire_f(int a,\n                      int b);", "Does it.\nOr not."),
                                                    ("One", "typedef struct quire_h { int id; } quire_h;", "")])

    def test_links_that_leave_the_documents(self):
        page = site.DOCS / "guide" / "a.md"
        known = {page, site.DOCS / "limits.md"}
        for link in ("[x](../limits.md#y)", "[x](#y)", "[x](a.md)"):
            self.assertEqual(site.with_inner_links(link, page, known), link)
        self.assertEqual(site.with_inner_links("see [the file](../../src/a.cpp).", page, known), "see the file (`src/a.cpp`).")

    def all_on(self, names, page):
        text = "\n".join(page).replace("\\_", "_")
        self.assertGreater(len(names), 10)
        missing = [name for name in names if not re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text)]
        self.assertEqual(missing, [], "the reference lacks these")

    def test_all_of_c_is_in_the_reference(self):
        headers = "\n".join(path.read_text() for path in (ROOT / "include" / "quire").glob("*.h"))
        names = re.findall(r"^QUIRE_API[^;{]*?\b(quire_\w+)\(", headers, flags=re.M) + re.findall(r"^} (quire_\w+);", headers, flags=re.M)
        names += re.findall(r"^\s*(QUIRE_[A-Z0-9_]+) = \d+", headers, flags=re.M)
        self.all_on(names, site.c_page())

    def test_all_of_cpp_is_in_the_reference(self):
        names = []
        for path in (ROOT / "include" / "quire").glob("*.hpp"):
            shown = re.sub(r"^namespace detail \{.*?^\}  // namespace detail$", "", path.read_text(), flags=re.M | re.S)
            names += re.findall(r"^(?:class|struct|enum class) (?:\[\[\w+\]\] )?(\w+)", shown, flags=re.M)
            names += re.findall(r"^(?:\[\[nodiscard\]\] )?(?:inline|constexpr|auto|void|bool|T|template)[^;{}=()]*?\b(\w+)\(", shown, flags=re.M)
        self.all_on(sorted(set(names)), site.cpp_page())

    def test_all_of_python_is_in_the_reference(self):
        package = ROOT / "python" / "quire"
        names, initial = ["node, nodes"], ast.parse((package / "__init__.py").read_text())
        for node in initial.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                names.append(node.name)
            if isinstance(node, ast.ImportFrom) and node.module not in (None, "_native"):
                there = {n.name: n for n in ast.parse((package / f"{node.module}.py").read_text()).body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
                for name in (alias.name for alias in node.names):
                    names.append(name)
                    names += [f"{name}.{m.name}" for m in getattr(there.get(name), "body", []) if isinstance(there[name], ast.ClassDef)
                              and isinstance(m, ast.FunctionDef) and not m.name.startswith("_")]
        page = site.python_page()
        without = [line for line, words in zip(page[1:], page[7:] + [""] * 6) if line.startswith("#") and line != "## node, nodes" and not words]
        self.assertEqual(without, [], "these have no docstring")
        self.all_on(names + ["Lock.destroy", "Lock.acquire", "File.size"], [f"x {line}" for line in page if line.startswith("#")])

    def test_all_of_fortran_is_in_the_reference(self):
        text = (ROOT / "include" / "quire" / "quire.f90").read_text()
        names = [name.strip() for line in re.findall(r"public :: (.*)", text) for name in re.sub(r" = .*", "", line).split(",")]
        self.all_on(names, site.fortran_page())

    def test_every_page_has_its_place(self):
        docs = ROOT / "docs"
        listed = (docs / "index.md").read_text().splitlines()
        pages = [str(page.relative_to(docs).with_suffix("")) for page in docs.rglob("*.md") if page.name != "index.md"]
        self.assertGreater(len(pages), 40)
        missing = [page for page in pages if page not in listed]
        self.assertEqual(missing, [], "docs/index.md does not list these")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
