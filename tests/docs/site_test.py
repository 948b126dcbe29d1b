#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""site_test.py SOURCE: what docs/site.py makes of headers and links. scripts/site.sh builds the whole, with Sphinx."""
import importlib.util
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

    def test_every_page_of_the_guide_has_its_place(self):
        listed = (ROOT / "docs" / "index.md").read_text().splitlines()
        missing = [page.stem for page in (ROOT / "docs" / "guide").glob("*.md") if f"guide/{page.stem}" not in listed]
        self.assertEqual(missing, [], "docs/index.md does not list these")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
