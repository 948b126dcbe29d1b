#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""guest.py NUMBER [network] runs within a machine, as its only service. Takes commands from files in /run/machine/todo, one after the other, and writes what
came of each to /run/machine/done; until there is a file todo/end. guest.py left SECONDS: fails if commands have left something behind for so long."""

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time

SHARE = "/run/machine"
USER, USER_ID = "ordinary", 61234
NETWORK = "10.78.0"
BUSYBOX = "/bin/busybox"


def make_user():
    """An ordinary user. The files of /etc are the machine's own by now."""
    with open("/etc/passwd", "a") as file:
        file.write(f"{USER}:x:{USER_ID}:{USER_ID}::/home/{USER}:/bin/sh\n")
    with open("/etc/group", "a") as file:
        file.write(f"{USER}:x:{USER_ID}:\n")
    if os.path.exists("/etc/shadow"):
        os.unlink("/etc/shadow")  # which qemu may not read if it is not root's
    with open("/etc/shadow", "w") as file:
        os.chmod("/etc/shadow", 0o600)
        file.write("".join(f"{name}:*:19000:0:99999:7:::\n" for name in ("root", "sshd", USER)))
    home = f"/home/{USER}"
    os.makedirs(home, exist_ok=True)
    os.chown(home, USER_ID, USER_ID)


def join_network(number):
    """An address, names for all machines, and sshd for who has the key that all were given."""
    subprocess.run([BUSYBOX, "ip", "address", "add", f"{NETWORK}.{number}/24", "dev", "eth0"], check=True)
    subprocess.run([BUSYBOX, "ip", "link", "set", "eth0", "up"], check=True)
    with open("/etc/hosts", "w") as file:
        file.write("127.0.0.1 localhost\n" + "".join(f"{NETWORK}.{i} machine{i}\n" for i in range(1, 9)))
    for name in ("root", USER):
        who = pwd.getpwnam(name)
        folder = os.path.join(who.pw_dir, ".ssh")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder, mode=0o700)
        for source, target in (("key", "id_ed25519"), ("key.pub", "authorized_keys")):
            shutil.copyfile(f"{SHARE}/{source}", f"{folder}/{target}")
        with open(f"{folder}/config", "w") as file:
            file.write(f"Host *\n  IdentityFile {folder}/id_ed25519\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n")
        for path in (folder, *(os.path.join(folder, each) for each in os.listdir(folder))):
            os.chown(path, who.pw_uid, who.pw_gid)
            os.chmod(path, 0o700 if path == folder else 0o600)
    with open("/run/sshd_config", "w") as file:
        file.write("HostKey /root/.ssh/id_ed25519\nPermitRootLogin yes\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPidFile none\nMaxStartups 100\n"
                   "SetEnv SHLVL=2\n")  # as no first shell, bash leaves the user's start files alone
    subprocess.Popen(["/usr/sbin/sshd", "-D", "-e", "-f", "/run/sshd_config"], stdin=subprocess.DEVNULL)
    for _ in range(600):
        try:
            with socket.create_connection((f"{NETWORK}.{number}", 22), timeout=30) as connection:
                connection.recv(4)  # it answers
            return
        except OSError:
            time.sleep(0.1)
    print("machine: sshd does not answer", flush=True)


def of_session(leader):
    """Whoever is still in the session of a command."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getsid(int(entry)) == leader:
                found.append(int(entry))
        except OSError:
            pass
    return found


def perform(number, order):
    """Runs a command. What it prints can be read while it runs."""
    who = pwd.getpwnam(USER if order["user"] != "root" else "root")
    variables = {"PATH": os.environ["PATH"], "HOME": who.pw_dir, "USER": who.pw_name, "LOGNAME": who.pw_name, "LANG": "C.UTF-8", **order["environment"]}
    paths = [f"{SHARE}/out/{number}.{kind}" for kind in ("out", "err")]
    begin = time.monotonic()
    with open(paths[0], "w") as out, open(paths[1], "w") as err:
        how = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
        job = subprocess.Popen(order["words"], stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=variables, cwd=who.pw_dir, start_new_session=True, **how)
        try:
            status = job.wait(timeout=order["limit"])
        except subprocess.TimeoutExpired:
            status = None
            for pid in of_session(job.pid):
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            job.wait()
    texts = []
    for path in paths:
        with open(path, errors="replace") as file:
            texts.append(file.read())
    return {"status": status, "seconds": round(time.monotonic() - begin, 1), "out": texts[0], "err": texts[1]}


def left():
    """What commands have left behind: nothing but us, the kernel and sshd has a reason to run here."""
    found = [f"/dev/shm/{name}" for name in os.listdir("/dev/shm")]
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline") as file:
                words = file.read().rstrip("\0").split("\0")
        except OSError:
            continue
        if words[0] and int(pid) not in (1, os.getpid()) and not words[0].startswith(("sshd", "/usr/sbin/sshd")) and __file__ not in words:
            found.append(f"process {pid}: {' '.join(words)}")
    return found


def require_nothing_left(seconds):
    """Processes that have been told to end take a moment."""
    end = time.monotonic() + seconds
    while left() and time.monotonic() < end:
        time.sleep(0.2)
    print("".join(f"left: {what}\n" for what in left()), end="", file=sys.stderr)
    return 1 if left() else 0


def main():
    if sys.argv[1] == "left":
        sys.exit(require_nothing_left(float(sys.argv[2])))
    number = sys.argv[1]
    subprocess.run([BUSYBOX, "ip", "link", "set", "lo", "up"], check=True)
    subprocess.run([BUSYBOX, "hostname", f"machine{number}"], check=True)
    make_user()
    if "network" in sys.argv[2:]:
        join_network(number)
    with open(f"{SHARE}/up", "w"):
        pass
    while True:
        waiting = sorted(name for name in os.listdir(f"{SHARE}/todo") if name.isdigit())
        if not waiting:
            if os.path.exists(f"{SHARE}/todo/end"):
                return
            time.sleep(0.1)
            continue
        with open(f"{SHARE}/todo/{waiting[0]}") as file:
            order = json.load(file)
        os.unlink(f"{SHARE}/todo/{waiting[0]}")
        try:
            answer = perform(waiting[0], order)
        except OSError as why:
            answer = {"status": 127, "seconds": 0, "out": "", "err": str(why)}
        path = f"{SHARE}/done/{waiting[0]}"
        with open(path + ".new", "w") as file:
            json.dump(answer, file)
        os.rename(path + ".new", path)


if __name__ == "__main__":
    main()
