#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs Quire on other kernels: makes virtual machines with Debian's kernels, in which this machine's files are seen but cannot be changed, and runs programs of
a build there, as root and as an ordinary user, with the default detector and with --detect segv. Two machines are two hosts. Nothing is left behind but the
results and the kernels (in ${XDG_CACHE_HOME:-~/.cache}/quire-machines).

    tests/machines/run.py                                  all cases of one machine, with Debian's 6.1 and 6.12
    tests/machines/run.py --kernel 6.1 sor python          some cases, with one kernel
    tests/machines/run.py --kernel 6.1 --hosts 2           two machines: jobs by ssh, links that are cut, a machine that is killed
    tests/machines/run.py --kernel 6.1 --shell 'COMMAND'   any command in a machine
    tests/machines/run.py --kernel-deb linux-image-5.15.0-100-generic.deb --document docs/machines.md

Packages: scripts/setup.sh machines. Exit status: 0 if all was right, 1 if not, 2 if it cannot be tried."""

import argparse
import datetime
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # no __pycache__ beside the sources
import cases  # noqa: E402
import hosts  # noqa: E402
import initramfs  # noqa: E402
import kernels  # noqa: E402
import page  # noqa: E402
from virtual import Failed, Machine, Switch, best_accelerator, need  # noqa: E402

g_rows = []  # what has come out with the kernel that is under test, also if it ends early
STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
SINGLE = ["info", *(case.name for case in cases.SINGLE), "left"]


def say(text):
    print(f"machines: {text}", flush=True)


def tell(row):
    g_rows.append(row)
    print(f"  {row['kernel']:<8} {row['user']:<5} {row['case']:<15} {row['detector']:<8} {row['seconds']:>6.1f} s  {row['verdict']}", flush=True)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"one machine: {', '.join(SINGLE)}; two: {', '.join(hosts.NAMES)} (default: all)")
    parser.add_argument("--kernel", action="append", metavar="SERIES", help="6.1, 6.12, 5.10, ...: fetched by apt; may be given several times")
    parser.add_argument("--kernel-deb", action="append", default=[], metavar="FILE", help="a kernel's package that is here; FILE,FILE: image and modules")
    parser.add_argument("--kernel-tree", action="append", default=[], metavar="DIR", help="a folder with boot/vmlinuz-* and lib/modules")
    parser.add_argument("--update", action="store_true", help="fetch the newest kernel of the series, although there is one in the cache")
    parser.add_argument("--build", default=os.path.join(cases.SOURCE, "build"), metavar="DIR", help="whose programs run (default: build)")
    parser.add_argument("--hosts", choices=("1", "2", "both"), default="1", help="how many machines are a cluster (default: 1)")
    parser.add_argument("--users", default=",".join(cases.USERS), metavar="A,B", help="root, user, or both (default)")
    parser.add_argument("--detectors", default=",".join(cases.DETECTORS), metavar="A,B", help="auto, segv, thread, userfault (default: auto,segv)")
    parser.add_argument("--accel", choices=("kvm", "tcg"), help="kvm: the processor's; tcg: emulated, ten times slower (default: what works)")
    parser.add_argument("--memory", type=int, default=2048, metavar="MIB", help="of each machine (default: 2048)")
    parser.add_argument("--shell", metavar="COMMAND", help="run only this in a machine, by sh, as the first of --users, and show what it prints")
    parser.add_argument("--results", default=os.path.join(cases.SOURCE, "build", "machines", "results.json"), metavar="FILE",
                        help="where rows are kept, also those of earlier runs (default: build/machines/results.json)")
    parser.add_argument("--document", metavar="FILE", help="write the page from all rows that are kept")
    parser.add_argument("--no-run", action="store_true", help="run nothing: only --document")
    parser.add_argument("--keep", action="store_true", help="keep the folder of the run, with what the machines said")
    wanted = parser.parse_args()
    known = list(dict.fromkeys((SINGLE if wanted.hosts != "2" else []) + (hosts.NAMES if wanted.hosts != "1" else [])))
    for name in wanted.cases:
        if name not in known:
            parser.error(f"there is no case {name} with --hosts {wanted.hosts}: {', '.join(known)}")
    wanted.cases = wanted.cases or known
    wanted.users, wanted.detectors = wanted.users.split(","), wanted.detectors.split(",")
    if set(wanted.users) - set(cases.USERS):
        parser.error(f"users are {' and '.join(cases.USERS)}")
    if set(wanted.detectors) - {"auto", "segv", "thread", "userfault"}:
        parser.error("detectors are auto, segv, thread and userfault")
    wanted.build = os.path.abspath(wanted.build)
    return wanted


def wanted_kernels(wanted):
    series = wanted.kernel or ([] if wanted.kernel_deb or wanted.kernel_tree else ["6.1", "6.12"])
    return ([kernels.of_series(name, say, wanted.update) for name in series] + [kernels.of_files(path) for path in wanted.kernel_deb]
            + [kernels.of_tree(path) for path in wanted.kernel_tree])


def with_machines(kernel, count, wanted, accelerator, folder, use):
    """Switches on so many machines, calls use(machines, network), and switches them off whatever happens."""
    archive = os.path.join(folder, "initramfs")
    initramfs.write(kernel.tree, archive)
    machines, network = [], Switch(count) if count > 1 else None
    begin = time.monotonic()
    try:
        for number in range(1, count + 1):
            machines.append(Machine(kernel, archive, folder, accelerator, number, wanted.memory, network))
            if network:
                for name in ("key", "key.pub"):
                    shutil.copyfile(os.path.join(folder, name), os.path.join(machines[-1].share, name))
        if network:
            network.start()
        for machine in machines:
            machine.wait_until_up()
        say(f"Linux {kernel.release} is up after {time.monotonic() - begin:.0f} s")
        return use(machines, network)
    except BaseException:  # also an interrupt: nobody waits for them
        for machine in machines:
            machine.kill()
        raise
    finally:
        for machine in machines:
            machine.power_off()
        if network:
            network.close()


def run_kernel(kernel, count, wanted, accelerator, folder):
    """Runs what is wanted with one kernel; what comes out is told. False: a command of --shell failed."""
    def use(machines, network):
        if wanted.shell:
            answer = machines[0].run(["/bin/sh", "-c", wanted.shell], user=wanted.users[0], limit=60)
            print(answer["out"] + answer["err"], end="", flush=True)
            return answer["status"] == 0
        if network:
            hosts.Pair(machines, network, wanted.build, tell).all(wanted.cases, wanted.users, wanted.detectors)
        else:
            cases.run_single(machines[0], wanted.build, wanted.cases, wanted.users, wanted.detectors, tell)
        return True

    os.makedirs(folder)
    if count > 1:
        need("sshd", "openssh-server")
        subprocess.run([need("ssh-keygen", "openssh-client"), "-q", "-t", "ed25519", "-N", "", "-f", os.path.join(folder, "key")], check=True)
    return with_machines(kernel, count, wanted, accelerator, folder, use)


def read_results(path):
    if not os.path.exists(path):
        return {"rows": []}
    with open(path) as file:
        return json.load(file)


def keep(path, rows, accelerator):
    """Adds rows, in the place of earlier ones for the same."""
    commit = subprocess.run(["git", "-C", cases.SOURCE, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True).stdout.strip()
    about = {"accelerator": accelerator, "date": datetime.date.today().isoformat(), "commit": commit or "unknown"}

    def key(row):
        return tuple(row[name] for name in ("release", "hosts", "user", "case", "detector"))

    new, parts = {key(row) for row in rows}, {key(row)[:2] for row in rows}
    kept = [row for row in read_results(path)["rows"] if key(row) not in new and not (row["case"] == "machine" and key(row)[:2] in parts)]
    kept += [{**row, "about": about} for row in rows]
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path + ".new", "w") as file:
        json.dump({"rows": kept}, file, indent=1)
    os.replace(path + ".new", path)


def try_kernel(kernel, count, wanted, accelerator, folder):
    """Runs what is wanted, and keeps what has come out, even if the machine fails. Whether all was right."""
    g_rows.clear()
    try:
        well = run_kernel(kernel, count, wanted, accelerator, folder)
    except Failed as wrong:
        text = str(wrong)
        say(f"with {kernel.release}: {text}")
        tell(cases.row(kernel, count, "root", "machine", "the machines start, and stay", "auto", text.splitlines()[0], None))
        well = False
    right = sum(row["verdict"] == "right" for row in g_rows)
    if g_rows:
        say(f"Linux {kernel.release}, {count} machine{'s' if count > 1 else ''}: {right} of {len(g_rows)} right")
        keep(wanted.results, g_rows, accelerator)
    return well and right == len(g_rows)


def run_all(wanted):
    """Whether all was right."""
    need("qemu-system-x86_64", "qemu-system-x86")
    need("busybox", "busybox-static")
    if not wanted.shell:
        cases.require_build(wanted.build)
    accelerator, why = best_accelerator()
    if wanted.accel:
        accelerator = wanted.accel
    elif why:
        say(f"emulated, ten times slower, as {why}")
    folder, well = tempfile.mkdtemp(prefix="quire-machines-"), True
    try:
        for kernel in wanted_kernels(wanted):
            for count in (1, 2) if wanted.hosts == "both" else (int(wanted.hosts),):
                well = try_kernel(kernel, count, wanted, accelerator, os.path.join(folder, f"{kernel.release}-{count}")) and well
    finally:
        if wanted.keep:
            say(f"what the machines said is in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return well


def stop(number, _):
    for each in STOPPING:
        signal.signal(each, signal.SIG_IGN)  # once is enough
    raise KeyboardInterrupt(number)


def main():
    wanted = options()
    for number in STOPPING:
        signal.signal(number, stop)
    try:
        well = wanted.no_run or run_all(wanted)
        if wanted.document:
            results = read_results(wanted.results)
            if not results["rows"]:
                raise Failed(f"{wanted.results} has no rows: nothing has been run yet")
            with open(wanted.document, "w") as file:
                file.write(page.page(results, ["machine", *SINGLE, *hosts.NAMES]))
            say(f"{wanted.document} is written")
    except Failed as why:
        say(str(why))
        return 2
    except KeyboardInterrupt as why:
        say("interrupted")
        return 128 + why.args[0]
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
