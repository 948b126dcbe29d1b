# SPDX-License-Identifier: BSD-3-Clause
"""Cells of a notebook on all nodes of a job: `%load_ext quire`, then `%%quire`. The kernel is no node: if the job dies, the next cell starts another one."""
import argparse
import ast
import atexit
import linecache
import shlex
import sys
import types

_NAME = "quire_cells"  # the module in which cells run, on each node


def run_cell(source, title, given):
    """On a node: runs a cell in the module that all cells share there. The value of its last expression, or None."""
    module = sys.modules.get(_NAME)
    if module is None:
        module = sys.modules[_NAME] = types.ModuleType(_NAME)
        exec("import numpy as np\nimport quire as q", module.__dict__)
    module.__dict__.update(given)
    linecache.cache[title] = (len(source), None, source.splitlines(keepends=True), title)  # for tracebacks
    tree = ast.parse(source, title)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, title, "exec"), module.__dict__)
    return eval(compile(last, title, "eval"), module.__dict__) if last is not None else None


class _Words(argparse.ArgumentParser):
    """A notebook does not end because of a wrong word."""

    def error(self, message):
        raise ValueError(f"%quire: {message}\n{self.format_usage()}")


def _asked(line):
    words = _Words(prog="%%quire", add_help=False, description="Runs the cell on all nodes of a job, which lives until %quire --stop or the kernel's end.")
    words.add_argument("-n", "--nodes", type=int, help="how many nodes; another number than before starts another job")
    words.add_argument("--hosts", help="a,b: there, by ssh")
    words.add_argument("--send", default="", help="a,b: variables of the notebook that all nodes get")
    words.add_argument("-o", "--output", help="the notebook's variable that gets the list of what the nodes' last expressions give")
    words.add_argument("--stop", action="store_true", help="ends the job")
    return words.parse_args(shlex.split(line))


class Cells:
    """The job of a notebook."""

    def __init__(self, shell):
        self._shell, self._pool, self._how, self._count = shell, None, None, 0
        atexit.register(self.stop)

    def stop(self):
        """Ends the job, if there is one."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown()

    def _job(self, asked):
        from ._jobs import Pool
        how = (asked.nodes, asked.hosts)
        if self._pool is not None and how not in ((None, None), self._how):
            self.stop()
        if self._pool is None:
            self._how = how if how != (None, None) else self._how or how
            self._pool = Pool(*self._how)
        return self._pool

    def _values(self, names):
        found = {}
        for name in filter(None, names.split(",")):
            if name not in self._shell.user_ns:
                raise NameError(f"%%quire --send: the notebook has no variable {name!r}")
            found[name] = self._shell.user_ns[name]
        return found

    def magic(self, line, cell=None):
        """%%quire [-n NODES] [--hosts A,B] [--send NAMES] [-o NAME]: runs the cell on all nodes. %quire -n 4 starts the job; %quire --stop ends it."""
        asked = _asked(line)
        if asked.stop:
            self.stop()
            return None
        given = self._values(asked.send)
        pool = self._job(asked)
        if cell is None:
            return None
        self._count += 1
        try:
            results = pool.run(run_cell, cell, f"<cell {self._count} on all nodes>", given)
        except BaseException as error:
            if pool.broken or isinstance(error, KeyboardInterrupt):  # what ran there is over: the next cell starts anew
                self._pool = None
                pool.kill()
            raise
        if asked.output:
            self._shell.user_ns[asked.output] = results
            return None
        return results if any(result is not None for result in results) else None


def load(shell):
    """%load_ext quire"""
    shell.register_magic_function(Cells(shell).magic, "line_cell", "quire")
