#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""file_calls.py CC MAP LIBC: each function of libc's headers that takes a stream, a descriptor, a directory or the name of a file is made where that is, or refused (all of MAP),
or stands below with the reason why not. Functions that this libc lacks are passed over."""
import re
import subprocess
import sys

# Streams lead to memory that is private to their node: a thread of another one that reads it ends the job, with a line.
STREAM = "a stream of another node ends the job"
PROCESS = "of the node's process, or its host"
OF_NODE = {
    STREAM: "addmntent endmntent fgetgrent fgetgrent_r fgetpwent fgetpwent_r fgetspent fgetspent_r getmntent getmntent_r putgrent putpwent putspent __overflow",
    "opens a stream of its node, of the host's tables": "setmntent",
    PROCESS: "acct chroot execl execle execlp execv execve execvp execvpe fsconfig fsmount fsopen fspick mount mount_setattr move_mount open_tree posix_spawn posix_spawnp "
             "posix_spawn_file_actions_addchdir_np posix_spawn_file_actions_addclose posix_spawn_file_actions_addclosefrom_np posix_spawn_file_actions_addopen "
             "posix_spawn_file_actions_addtcsetpgrp_np process_madvise process_mrelease swapoff swapon umount umount2 utmpname pivot_root",
    "message queues and aio: README.md, Limits": "mq_close mq_getattr mq_notify mq_open mq_receive mq_send mq_setattr mq_timedreceive mq_timedsend mq_unlink",
    "always fails on Linux": "revoke",
    "inside of libc: README.md, What is shared": "glob glob64",
}
# Parameters that look so, and are none.
OTHERS = "__sysconf confstr sysconf getdomainname gethostname getlogin_r getenv secure_getenv getgrnam getgrnam_r getpwnam getpwnam_r getspnam getspnam_r nice setdomainname sethostname " \
         "setlogin swab ualarm aio_init"
HEADERS = "aio.h dirent.h execinfo.h fcntl.h fts.h ftw.h glob.h grp.h mntent.h mqueue.h poll.h pty.h pwd.h semaphore.h shadow.h spawn.h stdio.h stdio_ext.h stdlib.h sys/epoll.h " \
          "sys/eventfd.h sys/fanotify.h sys/file.h sys/inotify.h sys/ioctl.h sys/ipc.h sys/mman.h sys/mount.h sys/pidfd.h sys/select.h sys/sendfile.h sys/signalfd.h sys/socket.h sys/stat.h " \
          "sys/statfs.h sys/statvfs.h sys/swap.h sys/time.h sys/timerfd.h sys/uio.h sys/xattr.h termios.h unistd.h utime.h utmp.h wchar.h wordexp.h"
TAKES = re.compile(r"\bFILE \*|__FILE|\bDIR \*|\b\w*fd\b|__filedes|__fildes|\b\w*path\b|\b\w*path_\w*|\b__file\b|\b__name\b|\b\w*filename\b|__stream|__from\b|__special_file|__dir\b|__template|mqd_t|__in\b|\b\w*pathname\b")


def declared(compiler):
    source = "".join(f"#if __has_include(<{h}>)\n#include <{h}>\n#endif\n" for h in HEADERS.split())
    text = subprocess.run([compiler, "-D_GNU_SOURCE", "-E", "-P", "-x", "c", "-"], input=source, capture_output=True, text=True, check=True).stdout
    text = re.sub(r"\s+", " ", text)
    return {m[1]: m[2] for m in re.finditer(r"extern [^;{}()]*?\b(\w+) \(((?:[^()]|\([^()]*\))*)\)", text)}


def main():
    compiler, calls, libc = sys.argv[1:4]
    lines = subprocess.run(["nm", "-D", "--defined-only", libc], capture_output=True, text=True, check=True).stdout.splitlines()
    exported = {line.split()[-1].split("@")[0] for line in lines}
    with open(calls, encoding="utf-8") as f:
        made = set(re.findall(r"^(\w+):.* program$", f.read(), re.M))
    known = made | set(OTHERS.split()) | {name for names in OF_NODE.values() for name in names.split()}
    functions = declared(compiler)
    taking = sorted(name for name, parameters in functions.items() if name in exported and TAKES.search(parameters))
    # Fortified forms stand in no header.
    fortified = sorted(f"__{name}_chk" for name in taking if f"__{name}_chk" in exported and name in made)
    missing = [name for name in taking + fortified if name not in known]
    print(f"{len(taking)} functions take files, {len(fortified)} of them have fortified forms")
    for name in missing:
        print(f"{name}({functions.get(name, '')}): not in program/calls.txt, nor with a reason here")
    return 1 if missing or len(taking) < 300 else 0


if __name__ == "__main__":
    sys.exit(main())
