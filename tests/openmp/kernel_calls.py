#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kernel_calls.py LIBC LIBRARY...: the functions of a libc (x86-64) that hand an address to the kernel by a system call in their own code, or in code
without a name that they call, each with its system calls. The kernel does not see shared memory whose page is elsewhere, and nobody can stand in
front of such a system call. So a LIBRARY (libquire, libquire_omp) has to export the function, or it stands below with the reason why not."""
import bisect
import re
import subprocess
import sys

# System calls whose arguments are numbers, or addresses that are not followed.
NUMBERS = set("""close lseek mmap mprotect munmap brk sched_yield mremap msync mincore madvise shmget shmat dup dup2 pause alarm getpid socket shutdown
    listen clone fork vfork exit kill semget shmdt msgget flock fsync fdatasync ftruncate fchdir fchmod fchown umask getuid getgid setuid
    setgid geteuid getegid setpgid getppid getpgrp setsid setreuid setregid setresuid setresgid getpgid setfsuid setfsgid getsid getpriority
    setpriority sched_setscheduler sched_getscheduler sched_get_priority_max sched_get_priority_min mlock munlock mlockall munlockall
    vhangup personality iopl ioperm gettid readahead tkill tgkill epoll_create epoll_create1 fadvise64 exit_group timer_getoverrun
    timer_delete inotify_init inotify_init1 inotify_rm_watch unshare sync_file_range timerfd_create eventfd eventfd2 fallocate dup3
    fanotify_init syncfs setns pkey_mprotect pkey_alloc pkey_free memfd_secret pidfd_open pidfd_getfd close_range sync remap_file_pages
    process_mrelease membarrier mlock2 userfaultfd fsmount fspick""".split())
# Of threads themselves, and of futexes.
OF_THREADS = {"set_tid_address", "set_robust_list", "futex", "clone3", "rseq", "arch_prctl", "rt_sigreturn"}
# Libc's own files, streams and terminals, where a function without a name is called for them.
OWN_FILES = {"read", "write", "writev", "openat", "fcntl", "pread64"}
OTHERS = {
    "of the administrator: private arguments (quire(7))":
        "acct create_module delete_module fsconfig fsopen get_kernel_syms init_module modify_ldt mount mount_setattr move_mount nfsservctl "
        "open_tree pivot_root process_madvise ptrace query_module quotactl reboot swapoff swapon umount umount2 uselib ustat",
    "the kernel's structure is libc's, in its own data or where the caller's stack is in use":
        "abort aio_suspend aio_suspend64 clock_getcpuclockid gai_suspend __longjmp_chk pthread_barrier_destroy "
        "pthread_barrier_wait pthread_cond_broadcast pthread_cond_destroy pthread_mutex_setprioceiling psiginfo psignal herror profil "
        "_IO_file_stat _mcleanup mcount _mcount monstartup __monstartup __fentry__ sigqueue",
    "stores in the caller's code where the kernel has it in user space": "getcpu sched_getcpu",
    "obsolete; sigaltstack has the same": "sigstack",
}
NAMES = re.compile(r"#define __NR_(\w+) (\d+)")
LINE = re.compile(r"^\s+([0-9a-f]+):\t(\S+)(?:\s+(.*))?$")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def exported(library):
    """{address: names} of functions."""
    found = {}
    for line in run("nm", "-D", "--defined-only", library).splitlines():
        parts = line.split()
        if len(parts) == 3 and parts[1] in "TWi" and "GLIBC_PRIVATE" not in parts[2]:
            found.setdefault(int(parts[0], 16), set()).add(parts[2].split("@")[0])
    return found


def starts_of(libc):
    """Where functions begin, named or not."""
    frames = re.findall(r"pc=([0-9a-f]+)\.\.", run("readelf", "--debug-dump=frames", libc))
    return sorted({int(one, 16) for one in frames})


def look(libc, starts):
    """{start of a function: ({numbers of system calls, None: one is not known}, {functions that it calls}, {those that it ends with})}"""
    found = {one: (set(), set(), set()) for one in starts}
    number, zero, current = None, 0, None
    for line in run("objdump", "-d", "--no-show-raw-insn", libc).splitlines():
        match = LINE.match(line)
        if match is None:
            continue
        at, operation, rest = int(match[1], 16), match[2], match[3] or ""
        index = bisect.bisect_right(starts, at) - 1
        if index < 0:
            continue
        if starts[index] != current:
            current, number = starts[index], None
        if operation == "mov" and (given := re.match(r"\$0x([0-9a-f]+),%[er]ax$", rest)):
            number = int(given[1], 16)
        elif operation == "xor" and rest.startswith("%eax,%eax"):
            number, zero = 0, at
        elif operation == "syscall":
            found[current][0].add(None if number == 0 and at - zero > 16 else number)
        elif operation in ("call", "jmp") and (target := re.match(r"([0-9a-f]+)\b", rest)):
            other = starts[max(bisect.bisect_right(starts, int(target[1], 16)) - 1, 0)]
            found[current][1].add(other)
            if operation == "jmp" and other != current:
                found[current][2].add(other)
    return found


def reached(start, code, named):
    """System calls of functions without a name that a function calls, and of those that it ends with, which may have a name."""
    seen, todo, numbers = {start}, [start], set()
    while todo:
        _, calls, ends = code[todo.pop()]
        targets = ({one for one in calls if one not in named} | ends) - seen
        seen |= targets
        todo += targets
        numbers |= {number for one in targets for number in code[one][0]}
    return numbers


def main():
    libc, libraries = sys.argv[1], sys.argv[2:]
    own = {name for library in libraries for names in exported(library).values() for name in names}
    reasons = {name for names in OTHERS.values() for name in names.split()}
    header = run("cc", "-E", "-dM", "-x", "c", "-include", "sys/syscall.h", "/dev/null")
    names = {int(number): name for name, number in NAMES.findall(header)}
    named, starts = exported(libc), starts_of(libc)
    code = look(libc, starts)
    looked_at = missing = 0
    for address in sorted(set(named) & set(code), key=lambda one: sorted(named[one])[0]):
        calls = {"?" if one is None else names.get(one, str(one)) for one in code[address][0] if one is None or one < 1000}
        calls |= {names.get(one, str(one)) for one in reached(address, code, named) if one is not None and one < 1000} - OWN_FILES
        calls -= NUMBERS | OF_THREADS
        looked_at += bool(calls)
        if not calls or named[address] & (own | reasons):
            continue
        missing += 1
        print(f"{' '.join(sorted(named[address]))}: {', '.join(sorted(calls))}")
    print(f"{looked_at} functions hand addresses to the kernel, {missing} of them with nothing in front of them")
    return 1 if missing or looked_at < 150 else 0


if __name__ == "__main__":
    sys.exit(main())
