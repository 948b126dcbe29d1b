#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""pack.py [--links] TREE: puts the libraries that a machine may lack into an installed Quire: UCX in lib/quire/ucx, with names that no other UCX in the process
has, and what the command needs in lib; their licenses in share/doc/quire/libraries, where Debian's packages tell them. --links: the tree keeps its links, and
`quire bench`, which a wheel has not. Needs patchelf. Used for the wheel, and by scripts/release.sh."""
import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

# What every Linux has, or the wheel's tag asks for.
SYSTEM = re.compile(r"lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)\.so|ld-linux")
UCX = ("libucm.so.0", "libucs.so.0", "libuct.so.0", "libucp.so.0")
MODULES = ("libuct_cma.so.0",)  # fast paths for InfiniBand need a library of the machine: build from source
DECODER = "libZydis.so.4.0"  # of program/sites, loaded where a program is looked at
copied = []


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def find(name):
    for line in run("/sbin/ldconfig", "-p").splitlines():
        if line.split()[:1] == [name] and "x86-64" in line:
            return Path(line.split("=>")[1].strip()).resolve()
    sys.exit(f"pack.py: this machine has no {name}")


def needed(path):
    return run("patchelf", "--print-needed", str(path)).split()


def own_name(name):
    return name.replace(".so", "-quire.so", 1)


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    os.chmod(target, 0o755)
    copied.append(source)
    subprocess.run(["strip", "--strip-unneeded", str(target)], check=True)


def pack_ucx(folder):
    others = set()
    for name in UCX + MODULES:
        source = find(name) if name in UCX else find(UCX[0]).parent / "ucx" / name
        target = folder / own_name(name) if name in UCX else folder / "ucx" / name
        if not source.exists():
            continue
        copy(source, target)
        changes = [("--set-soname", target.name), ("--set-rpath", "$ORIGIN" if name in UCX else "$ORIGIN/..")]
        for other in needed(target):
            if other in UCX:
                changes.append(("--replace-needed", other, own_name(other)))
            elif not SYSTEM.match(other):
                others.add(other)
        for change in changes:
            run("patchelf", *change, str(target))
    for name in others:  # libnuma
        copy(find(name), folder / name)


def pack_command(tree):
    command = tree / "bin" / "quire"
    subprocess.run(["strip", "--strip-unneeded", str(command)], check=True)
    for name in needed(command):
        if not SYSTEM.match(name):
            copy(find(name), tree / "lib" / name)
    run("patchelf", "--set-rpath", "$ORIGIN/../lib", str(command))


def pack_decoder(tree):
    command, runtime = tree / "bin" / "quire", (tree / "lib" / "libquire_omp.so.0").resolve()
    if not any(DECODER.encode() in path.read_bytes() for path in (command, runtime)):
        return  # it was built without
    names = [DECODER]
    for name in names:
        if not SYSTEM.match(name):
            target = tree / "lib" / name
            copy(find(name), target)
            run("patchelf", "--set-rpath", "$ORIGIN", str(target))
            names += needed(target)
    run("patchelf", "--set-rpath", "$ORIGIN", str(runtime))


def pack_licenses(folder):
    if not shutil.which("dpkg-query"):
        print("pack.py: no dpkg: licenses of the libraries are not known", file=sys.stderr)
        return
    folder.mkdir(parents=True, exist_ok=True)
    for source in copied:
        package = run("dpkg-query", "-S", str(source)).split(":")[0]
        text = Path("/usr/share/doc", package, "copyright").read_text()
        (folder / f"{package}.txt").write_text(text)
        for name in re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])", text):
            shutil.copyfile(f"/usr/share/common-licenses/{name}", folder / f"{name}.txt")


def flatten(tree):
    """A wheel has no links: each library is one file, with the name that programs ask for, and a line for linkers."""
    for name in ("libquire", "libquire_omp"):
        library = (tree / "lib" / f"{name}.so.0").resolve()
        for link in (tree / "lib").glob(f"{name}.so*"):
            if link.is_symlink():
                link.unlink()
        os.replace(library, tree / "lib" / f"{name}.so.0")
        (tree / "lib" / f"{name}.so").write_text(f"/* GNU ld script */\nINPUT({name}.so.0)\n")
        for path in (tree / "lib" / "cmake" / "quire").glob("*.cmake"):
            path.write_text(path.read_text().replace(library.name, f"{name}.so.0"))
    (tree / "lib" / "quire" / "libquire.so.0").unlink(missing_ok=True)
    for unused in ("libexec", "share/quire", "share/doc"):  # of `quire bench`
        shutil.rmtree(tree / unused, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--links", action="store_true")
    parser.add_argument("tree", type=Path)
    arguments = parser.parse_args()
    tree = arguments.tree
    if not tree.is_dir():
        sys.exit(f"pack.py: {tree} is no directory")
    if not arguments.links:
        flatten(tree)
    for library in (tree / "lib").glob("libquire*.so.0"):
        subprocess.run(["strip", "--strip-unneeded", str(library.resolve())], check=True)
    pack_ucx(tree / "lib" / "quire" / "ucx")
    pack_command(tree)
    pack_decoder(tree)
    pack_licenses(tree / "share" / "doc" / "quire" / "libraries")


main()
