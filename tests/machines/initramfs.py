# SPDX-License-Identifier: BSD-3-Clause
"""The first file system of a machine: busybox, the modules that lead to the host's files, and a script that goes on from there."""

import lzma
import os
import re
import shutil
import subprocess

# What a machine needs before it sees the host's files, and its network. What a kernel has built in is left out.
MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_net", "virtio_rng")

# The host's files are below; what is written stays in memory. /dev/shm and /run are new, as on a machine that starts.
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /host /memory /root
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs dev /dev
for module in $(/bin/busybox cat /modules/order); do
  /bin/busybox insmod /modules/$module || echo "machine: the module $module is refused"
done
options=trans=virtio,version=9p2000.L,msize=512000,cache=loose
/bin/busybox mount -t 9p -o ro,$options host /host || echo "machine: the host's files cannot be mounted"
/bin/busybox mount -t tmpfs -o size=75% memory /memory
/bin/busybox mkdir /memory/upper /memory/work
/bin/busybox mount -t overlay -o lowerdir=/host,upperdir=/memory/upper,workdir=/memory/work overlay /root ||
  echo "machine: no overlay over the host's files"
for folder in proc sys dev; do /bin/busybox mount --move /$folder /root/$folder; done
/bin/busybox mount -t tmpfs run /root/run
/bin/busybox mkdir -p /root/dev/shm /root/dev/pts /root/run/machine /root/run/sshd /root/run/lock
/bin/busybox mount -t tmpfs shm /root/dev/shm
# If qemu is not root's, this may be closed to it.
/bin/busybox ls /root/root > /dev/null 2>&1 || /bin/busybox mount -t tmpfs -o mode=700 home /root/root
/bin/busybox mount -t devpts devpts /root/dev/pts
/bin/busybox mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000 share /root/run/machine ||
  echo "machine: the shared folder cannot be mounted"
exec /bin/busybox switch_root /root /bin/sh /run/machine/start
echo "machine: no way on"
/bin/busybox poweroff -f
"""


def unpacked_modules(tree):
    """Name -> path of each module below a kernel's tree."""
    found = {}
    for folder, _, names in os.walk(os.path.join(tree, "lib/modules")):
        for name in names:
            stem, dot, end = name.partition(".ko")
            if dot and end in ("", ".xz", ".zst", ".gz"):
                found[stem.replace("-", "_")] = os.path.join(folder, name)
    return found


def content(path):
    if path.endswith(".xz"):
        with lzma.open(path) as file:
            return file.read()
    for end, words in ((".gz", ("gzip", "-dc")), (".zst", ("zstd", "-dcq"))):
        if path.endswith(end):
            return subprocess.run((*words, path), check=True, stdout=subprocess.PIPE).stdout
    with open(path, "rb") as file:
        return file.read()


def load_order(tree):
    """The wanted modules and what they need, in the order in which they go in: (name, bytes) each."""
    known, order, seen = unpacked_modules(tree), [], set()

    def add(name):
        if name in seen or name not in known:  # not there: built in
            return
        seen.add(name)
        data = content(known[name])
        said = re.search(rb"\0depends=([^\0]*)\0", data)
        for other in (said.group(1).decode().split(",") if said else ()):
            if other:
                add(other.replace("-", "_"))
        order.append((name, data))

    for name in MODULES:
        add(name)
    return order


class Archive:
    """A cpio archive as the kernel unpacks it."""

    def __init__(self):
        self.parts, self.number = [], 0

    def add(self, name, mode, data=b"", device=(0, 0)):
        self.number += 1
        raw = name.encode() + b"\0"
        numbers = (self.number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(raw), 0)
        head = b"070701" + b"".join(b"%08X" % n for n in numbers) + raw
        self.parts += [head, bytes(-len(head) % 4), data, bytes(-len(data) % 4)]

    def bytes(self):
        self.add("TRAILER!!!", 0)
        return b"".join(self.parts)


def write(tree, path):
    """Writes the archive for the kernel of that tree."""
    busybox = shutil.which("busybox", path="/bin:/usr/bin:/usr/local/bin")
    archive = Archive()
    for folder in ("bin", "dev", "modules"):
        archive.add(folder, 0o040755)
    archive.add("dev/console", 0o020600, device=(5, 1))
    archive.add("bin/busybox", 0o100755, content(busybox))
    archive.add("init", 0o100755, INIT.encode())
    order = load_order(tree)
    for name, data in order:
        archive.add(f"modules/{name}.ko", 0o100644, data)
    archive.add("modules/order", 0o100644, "".join(f"{name}.ko\n" for name, _ in order).encode())
    with open(path + ".new", "wb") as file:
        file.write(archive.bytes())
    os.replace(path + ".new", path)
