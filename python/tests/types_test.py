# SPDX-License-Identifier: BSD-3-Clause
"""The types that the package tells editors (quire/__init__.pyi): they are of all that it has, with the parameters that it has, and mypy finds what they say."""
import ast
import importlib.util
import inspect
import os
import re
import subprocess
import sys
import tempfile
import types
import unittest

import quire as q

PACKAGE = os.path.dirname(os.path.abspath(q.__file__))
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "types_program.py")


def names_of(body):
    """What a stub has in a module or a class, name: its definitions, of which functions with several types have several."""
    found = {}
    for one in body:
        if isinstance(one, (ast.FunctionDef, ast.ClassDef)):
            found.setdefault(one.name, []).append(one)
        elif isinstance(one, ast.AnnAssign):
            found.setdefault(one.target.id, []).append(one)
        elif isinstance(one, ast.Assign):
            found.setdefault(one.targets[0].id, []).append(one)
    return found


def public(names):
    return {name for name in names if not name.startswith("_")}


def parameters_of(definition):
    """[(name, kind, whether it may be left out)]"""
    a, kinds = definition.args, inspect.Parameter
    plain = a.posonlyargs + a.args
    if plain and plain[0].arg == "self":
        plain, a.posonlyargs = plain[1:], a.posonlyargs[1:] if a.posonlyargs else []
    found = [(one.arg, kinds.POSITIONAL_ONLY if i < len(a.posonlyargs) else kinds.POSITIONAL_OR_KEYWORD, i >= len(plain) - len(a.defaults))
             for i, one in enumerate(plain)]
    if a.vararg:
        found.append((a.vararg.arg, kinds.VAR_POSITIONAL, False))
    found += [(one.arg, kinds.KEYWORD_ONLY, default is not None) for one, default in zip(a.kwonlyargs, a.kw_defaults)]
    if a.kwarg:
        found.append((a.kwarg.arg, kinds.VAR_KEYWORD, False))
    return found


class Types(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(PACKAGE, "__init__.pyi")) as file:
            self.stub = names_of(ast.parse(file.read()).body)

    def same_parameters(self, what, real, definitions):
        """The last definition of several takes all that there is; where the real one passes on what it does not know, more are allowed."""
        there = [(p.name, p.kind, p.default is not p.empty) for p in inspect.signature(real).parameters.values() if p.name != "self"]
        kind = inspect.Parameter
        told = parameters_of(definitions[-1])
        if any(k is kind.VAR_KEYWORD for _, k, _ in there) and not any(k is kind.VAR_KEYWORD for _, k, _ in told):
            there = [p for p in there if p[1] is not kind.VAR_KEYWORD]
            known = [p[0] for p in there] + [p[0] for p in parameters_of(self.stub["zeros"][-1])]
            self.assertLessEqual({p[0] for p in told}, set(known), what)
            told = [p for p in told if p[0] in {name for name, *_ in there}]
        self.assertEqual(told, there, what)
        for other in definitions[:-1]:
            self.assertLessEqual({p[0] for p in parameters_of(other)}, {p[0] for p in parameters_of(definitions[-1]) + there}, what)

    def test_all_that_is_public_has_a_type(self):
        real = {name for name in public(dir(q)) if not isinstance(getattr(q, name, None), types.ModuleType)}
        self.assertEqual(real, public(self.stub))

    def test_parameters(self):
        for name in public(self.stub):
            real, definitions = getattr(q, name), self.stub[name]
            if isinstance(definitions[0], ast.FunctionDef):
                self.same_parameters(name, real, definitions)
            elif isinstance(definitions[0], ast.ClassDef):
                self.methods(name, real, definitions[0])
            else:
                self.assertFalse(inspect.isclass(real), name)

    def all_of(self, definition):
        """With what it inherits within the stub."""
        found = {}
        for base in definition.bases:
            if isinstance(base, ast.Name) and base.id in self.stub:
                found |= self.all_of(self.stub[base.id][0])
        return found | names_of(definition.body)

    def methods(self, name, real, definition):
        self.assertTrue(inspect.isclass(real), name)
        told = self.all_of(definition)
        mine = set()
        for one in real.__mro__:
            if one.__module__.split(".")[0] == "quire":
                mine |= public(vars(one))
        inherited = {n for one in real.__mro__ if one.__module__.split(".")[0] != "quire" for n in vars(one)}
        # What a standard class has already, with the same parameters, needs no other type.
        self.assertLessEqual(mine - inherited, set(told), name)
        for method, definitions in told.items():
            if not isinstance(definitions[0], ast.FunctionDef):
                continue
            there = getattr(real, method)
            if isinstance(inspect.getattr_static(real, method), property):
                self.assertEqual(definitions[0].decorator_list[0].id, "property", (name, method))
            else:
                self.same_parameters(f"{name}.{method}", there, definitions)

    def test_the_package_says_that_it_has_types(self):
        self.assertTrue(os.path.exists(os.path.join(PACKAGE, "py.typed")))

    @unittest.skipIf(importlib.util.find_spec("mypy") is None, "mypy is not installed")
    def test_mypy(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder, "--no-error-summary", PROGRAM], capture_output=True, text=True,
                                  cwd=folder, env={**os.environ, "MYPYPATH": os.path.dirname(PACKAGE)}, timeout=250)
        told = set()
        for line in done.stdout.splitlines():
            found = re.match(r".*types_program\.py:(\d+): (error|note): ", line)
            self.assertTrue(found, done.stdout + done.stderr)
            if found[2] == "error":
                told.add(int(found[1]))
        with open(PROGRAM) as file:
            wrong = {number for number, line in enumerate(file, 1) if line.endswith("  # wrong\n")}
        self.assertEqual(told, wrong, done.stdout + done.stderr)
        self.assertEqual(len(wrong), 9)


if __name__ == "__main__":
    unittest.main(verbosity=2)
