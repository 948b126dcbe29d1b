#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""functions_test.py SOURCE [--rewrite]: no function is longer than 70 lines. functions.txt has those that were when this test came, with their lines: they may
not grow. --rewrite records that one shrank or went."""
import ast
import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import tree  # noqa: E402

ROOT = Path(sys.argv[1]).resolve()
LIST = Path(__file__).resolve().with_name("functions.txt")
LIMIT = 70


def without_directives(code):
    """Lines of the preprocessor are empty, and so is what stands after #else: braces of both would count twice."""
    out, skipped, goes_on = [], [], False
    for line in code.split("\n"):
        directive = re.match(r"\s*#\s*(\w+)", line)
        word = directive.group(1) if directive and not goes_on else ""
        if word in ("if", "ifdef", "ifndef"):
            skipped.append(False)
        elif word in ("else", "elif") and skipped:
            skipped[-1] = True
        elif word == "endif" and skipped:
            skipped.pop()
        is_directive = goes_on or bool(directive)
        goes_on = is_directive and line.endswith("\\")
        out.append("" if is_directive or any(skipped) else line)
    return "\n".join(out)


def is_function(head):
    """Whether `head {` outside of functions begins one: no namespace, type or value."""
    head = re.sub(r"^(?:\s*(?:public|private|protected)\s*:)+", "", head)
    head = re.sub(r"^\s*template\s*<.*?>\s*(?=[\w\[])", "", head, flags=re.S)
    if re.match(r'\s*(?:(?:inline\s+)?namespace\b|extern\s+0\s*$|export\b|enum\b)', head) or "(" not in head:
        return False
    if re.match(r"\s*(?:class|struct|union)\b(?:\s*(?:alignas\s*\([^)]*\)|\[\[.*?\]\]))*\s*\w+(?:<.*>)?\s*(?:final\s*)?(?::[^:].*)?$", head, flags=re.S):
        return False
    value = re.sub(r"operator\s*[=!<>+*/|&^%~-]+=?", "operator", head)
    while re.search(r"\([^()]*\)", value):  # defaults of parameters
        value = re.sub(r"\([^()]*\)", "", value)
    equals = re.search(r"(?<![<>=!])=(?!=)(.*)", value, flags=re.S)
    return equals is None or bool(re.match(r"\s*\[", equals.group(1)))  # a lambda with a name


def without_calls(head):
    """Calls of macros before a function, which end without a semicolon, are none of its lines."""
    while before := re.match(r"\s*[A-Z][A-Z0-9_]+(?=\()", head):
        at, depth = before.end(), 0
        while at < len(head):
            depth += {"(": 1, ")": -1}.get(head[at], 0)
            at += 1
            if depth == 0:
                break
        if not re.match(r"[ \t]*\n\s*\w", head[at:]):
            break
        head = head[at:]
    return head


def name_of(head):
    if test := re.search(r"\b(TEST(?:_[FP])?)\s*\(\s*(\w+)\s*,\s*(\w+)", head):
        return f"{test.group(2)}.{test.group(3)}"
    if value := re.search(r"(\w+)\s*=\s*\[", head):
        return value.group(1)
    head = re.sub(r"^\s*template\s*<.*?>\s*(?=[\w\[])", "", head, flags=re.S)
    head = re.sub(r"__attribute__\s*\(\(.*?\)\)|\b(?:noexcept|alignas|requires|decltype)\s*\(", "", head, flags=re.S)
    names = re.findall(r"((?:\w+::)*(?:operator\s*[^\s\w(]+|operator\(\)|~?\w+))\s*\(", head)
    return names[0] if names else "?"


def functions_of_cpp(text):
    """[(name, first line, lines)] of the outermost functions."""
    code = without_directives(tree.code_of(text))
    found, scopes, round_ones, head_at = [], [], 0, 0
    function = None  # (depth, name, line)
    line_of = [0] * (len(code) + 1)
    for at, char in enumerate(code):
        line_of[at + 1] = line_of[at] + (char == "\n")
    for at, char in enumerate(code):
        if char in "([":
            round_ones += 1
        elif char in ")]":
            round_ones -= 1
        elif round_ones > 0 and function is None:
            continue
        elif char == ";" and function is None and "initialiser" not in scopes:
            head_at = at + 1
        elif char == "{":
            if function is not None:
                scopes.append("inner")
            elif "initialiser" in scopes or (at and (code[at - 1].isalnum() or code[at - 1] in "_>") and "(" in code[head_at:at]):
                scopes.append("initialiser")
            elif is_function(head := without_calls(code[head_at:at])):
                scopes.append("function")
                begin = at - len(head.lstrip())
                function = (len(scopes), name_of(head), line_of[begin])
            else:
                value = re.search(r"(?<![<>=!])=\s*$", head) or head.rstrip().endswith((",", "return"))
                scopes.append("initialiser" if value else "scope")
                head_at = head_at if value else at + 1
        elif char == "}" and scopes:
            kind = scopes.pop()
            if kind == "function":
                found.append((function[1], function[2] + 1, line_of[at] - function[2] + 1))
                function = None
            if kind in ("function", "scope"):
                head_at = at + 1
    return found


def functions_of_python(text):
    """The same, of all functions but what stands within others."""
    found = []

    def look(node, prefix):
        for inner in node.body:
            if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.append((prefix + inner.name, inner.lineno, inner.end_lineno - inner.lineno + 1))
            elif isinstance(inner, ast.ClassDef):
                look(inner, prefix + inner.name + ".")
    look(ast.parse(text), "")
    return found


def functions_of(name, text):
    return functions_of_cpp(text) if name.endswith(tree.CPP) else functions_of_python(text) if name.endswith(".py") else []


def measured():
    """{file and function: lines} of what is too long, and how many functions there are."""
    found, count = {}, 0
    for name in tree.tracked(ROOT):
        if name.endswith((*tree.CPP, ".py")):
            for function, _, lines in functions_of(name, (ROOT / name).read_text()):
                count += 1
                if lines > LIMIT:
                    key = f"{name} {function}"
                    found[key] = max(lines, found.get(key, 0))
    return found, count


CODE = """
#define MACRO(x) void f() {
namespace a {
template <class T>
struct b : c<d(1)> {
  int x = 1, y{2};
  explicit b(int p = {}, std::vector<int> q = {1}) : x{p}, y_(q) {  // {
    if (x) { go("}"); }
  }
  bool operator==(const b&) const {
    return '}' != x;
  }
  enum class kind { one, two };
  std::array<int, 2> list = {{
      f(1), 2
  }};
};
#ifdef A
int g() {
#else
int g(int a) {
#endif
  return 1'000 + [] { return 2; }();
}
const auto lambda = [](int a) {
  return a;
};
extern "C" {
unsigned
h(
  int a) noexcept(true) { return 1; }
}
TEST(of_this, says_that) {
}
MACRO(one, (x))
MACRO(two)
QUIRE_API int last() {
}
MACRO(three)
namespace {
int inner() { return 1; }
}
}  // namespace a
"""


class Functions(unittest.TestCase):
    def test_no_function_is_long_or_grows(self):
        found, count = measured()
        self.assertGreater(count, 5000)
        wrong = tree.compare(found, tree.read_list(LIST), "lines", LIST)
        self.assertFalse(wrong, "\n" + "\n".join(wrong) + f"\nA function of more than {LIMIT} lines does several things")

    def test_functions_are_found(self):
        self.assertEqual([(name, lines) for name, _, lines in functions_of_cpp(CODE)],
                         [("b", 3), ("operator==", 3), ("g", 6), ("lambda", 3), ("h", 3), ("of_this.says_that", 2), ("last", 2), ("inner", 1)])
        long = "int f() {\n" + "  g();\n" * 70 + "}\n"
        self.assertEqual(functions_of_cpp("int a;\n\n" + long), [("f", 3, 72)])
        script = "class a:\n    def b(self):\n        return 1\n\n\ndef c():\n    def d(): pass\n    d()\n"
        self.assertEqual(functions_of_python(script), [("a.b", 2, 2), ("c", 6, 3)])


if __name__ == "__main__":
    if sys.argv[2:] == ["--rewrite"]:
        tree.rewrite(measured()[0], LIST)
    else:
        unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
