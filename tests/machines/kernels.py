# SPDX-License-Identifier: BSD-3-Clause
"""Kernels for machines: Debian's packages, fetched by apt and unpacked into a folder outside the tree; or what the user has."""

import glob
import os
import re
import shutil
import subprocess

from virtual import Failed

# Where Debian has a series that the installed one lacks: the same mirror, another name.
SUITES = {"5.10": ("bullseye",), "6.1": ("bookworm",), "6.12": ("trixie", "bookworm-backports")}


class Kernel:
    """A tree with an image and its modules. `name`: as results call it."""

    def __init__(self, name, tree):
        self.name, self.tree = name, tree
        images = sorted(glob.glob(os.path.join(tree, "boot", "vmlinuz-*")))
        if not images:
            raise Failed(f"{tree} has no boot/vmlinuz-*")
        self.image = images[-1]
        self.release = os.path.basename(self.image).removeprefix("vmlinuz-")


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.path.join(base, "quire-machines")
    os.makedirs(folder, exist_ok=True)
    return folder


def unpack(*debs):
    """The tree of a package, or of several that belong together; unpacked once."""
    tree = os.path.join(cache_folder(), os.path.basename(debs[0]).removesuffix(".deb"))
    if not os.path.isdir(tree):
        shutil.rmtree(tree + ".new", ignore_errors=True)
        for deb in debs:
            done = subprocess.run(["dpkg-deb", "-x", deb, tree + ".new"], capture_output=True, text=True)
            if done.returncode != 0:
                shutil.rmtree(tree + ".new", ignore_errors=True)
                raise Failed(f"{deb} cannot be unpacked: {done.stderr.strip()}")
        if not os.path.isdir(os.path.join(tree + ".new", "lib")) and os.path.isdir(os.path.join(tree + ".new", "usr", "lib")):
            os.symlink("usr/lib", os.path.join(tree + ".new", "lib"))
        os.rename(tree + ".new", tree)
    return tree


def version_key(name):
    return [int(number) for number in re.findall(r"\d+", name)]


def is_of_series(name, series):
    return re.fullmatch(rf"linux-image-{re.escape(series)}\.\d[\d.]*[-+][\w.+-]*amd64", name) is not None and not re.search(r"-(rt|cloud)-", name)


def apt(words, options, **how):
    return subprocess.run([words[0], *options, *words[1:]], capture_output=True, text=True, **how)


def newest(series, options):
    """Names of the series' packages that apt knows, the newest first."""
    told = apt(["apt-cache", "pkgnames", f"linux-image-{series}."], options).stdout.split()
    return sorted((name for name in told if is_of_series(name, series)), key=version_key, reverse=True)


def mirrors():
    """The archives with Debian's own name that this machine's apt takes packages from."""
    told = apt(["apt-get", "indextargets", "--format", "$(SITE) $(REPO_URI) $(ORIGIN) $(LABEL)", "Created-By: Packages"], []).stdout
    found = []
    for line in told.splitlines():
        words = line.split()
        if words[2:] == ["Debian", "Debian"] and words[1] not in found:
            found.append(words[1])
    return found


def other_suite(suite, say):
    """Options of apt that show it another release of Debian, in lists of our own; the machine's are left as they are."""
    folder = os.path.join(cache_folder(), f"apt-{suite}")
    for inner in ("lists/partial", "archives/partial"):
        os.makedirs(os.path.join(folder, inner), exist_ok=True)
    keys = sorted(glob.glob("/usr/share/keyrings/debian-archive-keyring.*")) or ["/etc/apt/trusted.gpg.d"]
    with open(os.path.join(folder, "sources.list"), "w") as file:
        for mirror in mirrors():
            file.write(f"deb [arch=amd64 signed-by={keys[0]}] {mirror} {suite} main\n")
    options = [word for name, value in (("Dir::Etc::sourcelist", f"{folder}/sources.list"), ("Dir::Etc::sourceparts", "/dev/null"),
                                        ("Dir::State::lists", f"{folder}/lists"), ("Dir::Cache", folder), ("APT::Sandbox::User", "root"),
                                        ("Acquire::Languages", "none")) for word in ("-o", f"{name}={value}")]
    say(f"asking apt about {suite}")
    done = apt(["apt-get", "update", "-qq"], options)
    return options if done.returncode == 0 else None


def download(series, say):
    """A package of the series, in the cache."""
    tried = []

    def fetch(options):
        for name in newest(series, options)[:3]:
            say(f"fetching {name}")
            done = apt(["apt-get", "download", "-qq", name], options, cwd=cache_folder())
            found = sorted(glob.glob(os.path.join(cache_folder(), f"{name}_*.deb")))
            if done.returncode == 0 and found:
                return found[-1]
            tried.append(f"{name}: {done.stderr.strip()[-200:]}")
        return None

    found = fetch([])
    for suite in SUITES.get(series, ()) if not found else ():
        options = other_suite(suite, say)
        found = found or (fetch(options) if options else None)
    if not found:
        raise Failed(f"apt has no kernel {series} ({'; '.join(tried) or 'it knows of none'}): give a package by --kernel-deb FILE, or by --kernel-tree DIR a "
                     "folder with boot/vmlinuz-* and lib/modules")
    return found


def of_series(series, say, update=False):
    """The newest kernel of a series: what is in the cache, unless it is to be looked for again."""
    there = [path for path in glob.glob(os.path.join(cache_folder(), "linux-image-*")) if os.path.isdir(path)
             and is_of_series(os.path.basename(path).split("_")[0], series)]
    if there and not update:
        return Kernel(series, max(there, key=version_key))
    for tool in ("apt-get", "apt-cache", "dpkg-deb"):
        if not shutil.which(tool):
            raise Failed(f"there is no {tool} to fetch Debian's kernels with: give a package by --kernel-deb, or a tree by --kernel-tree")
    deb = download(series, say)
    tree = unpack(deb)
    os.unlink(deb)
    return Kernel(series, tree)


def of_files(debs):
    """A kernel of packages that are here: one of Debian's, or, with commas between them, Ubuntu's image and modules."""
    for deb in debs.split(","):
        if not os.path.isfile(deb):
            raise Failed(f"there is no file {deb}")
    kernel = Kernel("", unpack(*map(os.path.abspath, debs.split(","))))
    kernel.name = kernel.release
    return kernel


def of_tree(tree):
    kernel = Kernel("", os.path.abspath(tree))
    kernel.name = kernel.release
    return kernel
