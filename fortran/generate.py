#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""generate.py: writes include/quire/quire.f90, the module `quire`, from module.f90.in, from the table of calls below, and from the constants and options of
quire.h and container.h beside it. With --check it writes nothing, and fails where the file differs. Fortran has no templates: what takes an array has one
procedure for each type and rank.
"""
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEADER = HERE.parent / "include" / "quire" / "quire.h"
ENUMS = ("status", "consistency", "placement", "pool", "detector", "grouping", "operation", "block_flag", "container_flag")
HANDLES = ("region", "mutex", "rwlock", "condition", "barrier", "event", "semaphore", "group", "remote_thread")
OWN_HANDLES = ("container",)  # of this node alone: they have no names, and are not sent
# suffix, declaration
KINDS = (("r4", "real(real32)"), ("r8", "real(real64)"), ("i4", "integer(int32)"), ("i8", "integer(int64)"), ("c8", "complex(real64)"))
RANKS = (1, 2, 3, 4)
SIZES = (("", "int32"), ("_64", "int64"))  # of the numbers in a shape

# Calls that are C's: what it does, name, arguments. An argument is: `in` or `out`, its type, its name. ms: milliseconds; n4, n8: a number that C takes with 32 or 64
# bits; word: a handle by value.
CALLS = """
Destroys a region: its content and its addresses go on all nodes. One thread of any node calls, when nobody uses it any more.
quire_region_destroy: in region region
Changes what threads of different nodes see of each other's writes to a region. One thread of each node calls; a barrier of the job.
quire_region_set_consistency: in region region, in enum consistency

Makes a mutex, for threads of all nodes.
quire_mutex_create: out mutex mutex
Waits until the calling thread has the mutex.
quire_mutex_lock: in mutex mutex
The same for at most so many milliseconds: QUIRE_TIMED_OUT. 0 does not wait: QUIRE_BUSY.
quire_mutex_timed_lock: in mutex mutex, in ms timeout_ms
Gives the mutex back: QUIRE_NOT_OWNER if the calling thread does not have it.
quire_mutex_unlock: in mutex mutex
Ends a mutex.
quire_mutex_destroy: in mutex mutex

Makes a lock for many readers or one writer.
quire_rwlock_create: out rwlock lock
Waits for the lock, to read. timeout_ms: negative waits for ever, 0 not at all (QUIRE_BUSY), else QUIRE_TIMED_OUT after that time.
quire_rwlock_read_lock: in rwlock lock, in ms timeout_ms
The same, to write.
quire_rwlock_write_lock: in rwlock lock, in ms timeout_ms
Gives the lock back.
quire_rwlock_unlock: in rwlock lock
Ends a lock.
quire_rwlock_destroy: in rwlock lock

Makes a condition.
quire_condition_create: out condition condition
Gives the mutex back, waits until it is notified, and has the mutex again, also after a time-out.
quire_condition_wait: in condition condition, in mutex mutex, in ms timeout_ms
Wakes one thread that waits.
quire_condition_notify_one: in condition condition
Wakes all threads that wait.
quire_condition_notify_all: in condition condition
Ends a condition.
quire_condition_destroy: in condition condition

Makes a barrier for so many threads of whichever nodes.
quire_barrier_create: in n4 participants, out barrier barrier
Ends a barrier.
quire_barrier_destroy: in barrier barrier

Makes an event: once set it lets all pass, until it is reset.
quire_event_create: out event event
Sets the event.
quire_event_set: in event event
Resets the event.
quire_event_reset: in event event
Waits for the event. Times as of quire_rwlock_read_lock().
quire_event_wait: in event event, in ms timeout_ms
Ends an event.
quire_event_destroy: in event event

Makes a semaphore that counts from `initial` on.
quire_semaphore_create: in n8 initial, out semaphore semaphore
Takes one. Times as of quire_rwlock_read_lock().
quire_semaphore_acquire: in semaphore semaphore, in ms timeout_ms
Gives `count` back.
quire_semaphore_release: in semaphore semaphore, in n8 count
Ends a semaphore.
quire_semaphore_destroy: in semaphore semaphore

Makes a group with `threads` threads of this node. One thread of each node calls; a barrier of the job.
quire_group_create: in n4 threads, out group group
Makes the calling thread a member, at a place of its node, from 0 on.
quire_group_join: in group group, in n4 place
The calling thread is no member any more.
quire_group_leave: in group group
A barrier of all members.
quire_group_wait: in group group
Ends a group. One thread of each node calls; a barrier of the job.
quire_group_destroy: in group group

Ends an opening, and has the linker keep what was written. The container stays until it is removed.
quire_container_close: in container container
The region of a container, for hints and pins.
quire_container_region: in container container, out region region
It has so many bytes from now on; what it gains is zero. quire_container_truncate() of C, whose name is that of a flag where case is nothing.
quire_container_resize=quire_container_truncate: in container container, in n8 bytes
When it returns the file has what all nodes had written to these bytes, from byte `at` on, which is 0 for the first. `bytes` 0: to the end.
quire_container_sync: in container container, in n8 at, in n8 bytes
Forgets on all nodes what is in memory of these bytes: for when others have written the file. `bytes` 0: to the end.
quire_container_drop: in container container, in n8 at, in n8 bytes
"""


def constants(header):
    """The enumerators of ENUMS: [(name, value)]."""
    found = []
    for enum in ENUMS:
        body = re.search(rf"enum quire_{enum} {{(.*?)}}", header, flags=re.S).group(1)
        body = re.sub(r"/\*.*?\*/|//[^\n]*", "", body, flags=re.S)
        found += [(name, value) for name, value in re.findall(r"\b(QUIRE_\w+)\s*=\s*(\d+)", body)]
    return found


def option_fields(header):
    """The fields of quire_region_options: [(name, kind)]."""
    body = re.search(r"typedef struct quire_region_options {(.*?)} quire_region_options;", header, flags=re.S).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    return [(name, "c_size_t" if kind == "size_t" else "c_int") for kind, name in re.findall(r"(\w+) (\w+);", body)]


def table():
    """CALLS as [(sentence, name, name in C, [(intent, type, name)])]."""
    rows, lines = [], [line for line in CALLS.splitlines() if line]
    for sentence, call in zip(lines[::2], lines[1::2]):
        name, _, arguments = call.partition(": ")
        name, _, of_c = name.partition("=")
        rows.append((sentence, name, of_c or name, [tuple(argument.split()) for argument in arguments.split(", ")]))
    return rows


def c_name(name):
    return "c_" + name.removeprefix("quire_")


def in_c(intent, kind, name):
    """(declaration in the interface of C, what is passed)"""
    if intent == "out":
        return f"type(quire_{kind}), intent(out) :: {name}", name
    number = {"ms": "c_int64_t", "n4": "c_int32_t", "n8": "c_int64_t", "enum": "c_int"}.get(kind)
    if number:
        return f"integer({number}), value :: {name}", f"int({name}, {number})"
    return f"type(quire_{kind}), value :: {name}", name


def declared(intent, kind, name):
    kind = "integer(int64)" if kind == "n8" else "integer" if kind in ("ms", "n4", "enum") else f"type(quire_{kind})"
    return f"{kind}, intent({intent}) :: {name}"


def interface_of(name, of_c, arguments):
    names = ", ".join(argument[2] for argument in arguments)
    lines = [f"integer(c_int) function {c_name(name)}({names}) bind(c, name='{of_c}')", "  import"]
    lines += ["  " + in_c(*argument)[0] for argument in arguments]
    return lines + ["end function"]


def wrapper_of(sentence, name, _, arguments):
    names = ", ".join(argument[2] for argument in arguments)
    lines = [f"!> {sentence}", f"subroutine {name}({names}, ierror)"]
    lines += ["  " + declared(*argument) for argument in arguments]
    passed = ", ".join(in_c(*argument)[1] for argument in arguments)
    return lines + ["  integer, intent(out), optional :: ierror", f"  call conclude('{name}', {c_name(name)}({passed}), ierror)", "end subroutine", ""]


def dimensions(rank):
    return f"({', '.join(':' * rank)})" if rank else ""


def arrays():
    """What differs by type and rank: {generic: [(specific, lines)]}."""
    generics = {name: [] for name in ("quire_shared", "quire_find", "quire_free", "quire_reduce", "quire_broadcast")}
    for number, (kind, declaration) in enumerate(KINDS, 1):
        for rank in RANKS:
            at = dimensions(rank)
            of = f"{kind}_{rank}"
            sizes = f"storage_size(a) / 8, {number}, {rank}"
            for suffix, size in SIZES:
                generics["quire_shared"].append((f"shared_{of}{suffix}", [
                    "(a, shape, name, options, ierror)",
                    f"  {declaration}, pointer, intent(out) :: a{at}", f"  integer({size}), intent(in) :: shape(:)", "  character(*), intent(in), optional :: name",
                    "  type(quire_region_options), intent(in), optional :: options", "  integer, intent(out), optional :: ierror",
                    "  type(c_ptr) :: address", "  nullify(a)",
                    f"  if (shared(address, int(shape, int64), {sizes}, name, options, ierror)) call c_f_pointer(address, a, shape)"]))
                generics["quire_find"].append((f"find_{of}{suffix}", [
                    "(a, shape, name, timeout_ms, ierror)",
                    f"  {declaration}, pointer, intent(out) :: a{at}", f"  integer({size}), intent(in) :: shape(:)", "  character(*), intent(in) :: name",
                    "  integer, intent(in) :: timeout_ms", "  integer, intent(out), optional :: ierror", "  type(c_ptr) :: address", "  nullify(a)",
                    f"  if (found(address, int(shape, int64), storage_size(a) / 8, {rank}, name, timeout_ms, ierror)) call c_f_pointer(address, a, shape)"]))
            generics["quire_free"].append((f"free_{of}", [
                "(a, ierror)", f"  {declaration}, pointer, intent(inout) :: a{at}", "  integer, intent(out), optional :: ierror", "  type(c_ptr) :: address",
                "  address = c_null_ptr", "  if (associated(a)) address = first_of(a)", "  if (freed(address, ierror)) nullify(a)"]))
        for rank in (0, *RANKS):
            of = f"{kind}_{rank}"
            count = "size(values, kind=c_size_t)" if rank else "1_c_size_t"
            values = f"  {declaration}, target, intent(inout){', contiguous' if rank else ''} :: values{dimensions(rank)}"
            rest = ["  type(quire_group), intent(in), optional :: group", "  integer, intent(out), optional :: ierror"]
            generics["quire_reduce"].append((f"reduce_{of}", [
                "(values, operation, group, ierror)", values, "  integer, intent(in) :: operation", *rest,
                *([f"  if (met_for_nothing({count}, group, ierror)) return"] if rank else []),
                f"  call reduce_{kind}(c_loc(values), {count}, operation, group, ierror)"]))
            generics["quire_broadcast"].append((f"broadcast_{of}", [
                "(values, root, group, ierror)", values, "  integer, intent(in) :: root", *rest,
                f"  call broadcast(c_loc(values), {count} * (storage_size(values) / 8), root, group, ierror)"]))
    for handle in HANDLES:
        generics["quire_broadcast"].append((f"broadcast_{handle}", [
            "(values, root, group, ierror)", f"  type(quire_{handle}), target, intent(inout) :: values", "  integer, intent(in) :: root",
            "  type(quire_group), intent(in), optional :: group", "  integer, intent(out), optional :: ierror",
            "  call broadcast(c_loc(values), 8_c_size_t, root, group, ierror)"]))
    generics["quire_broadcast"].append(("broadcast_text", [
        "(values, root, group, ierror)", "  character(*), target, intent(inout) :: values", "  integer, intent(in) :: root",
        "  type(quire_group), intent(in), optional :: group", "  integer, intent(out), optional :: ierror",
        "  call broadcast(c_loc(values), len(values, kind=c_size_t), root, group, ierror)"]))
    return generics


def contents():
    """Content of containers: as arrays, and by calls, for each type and rank, and for text."""
    generics = {f"quire_container_{name}": [] for name in ("map", "read", "write", "append")}
    opening, ierror = "  type(quire_container), intent(in) :: container", "  integer, intent(out), optional :: ierror"
    for kind, declaration in KINDS:
        for rank in RANKS:
            for suffix, size in SIZES:
                generics["quire_container_map"].append((f"map_{kind}_{rank}{suffix}", [
                    "(container, a, shape, at, ierror)", opening, f"  {declaration}, pointer, intent(out) :: a{dimensions(rank)}",
                    f"  integer({size}), intent(in) :: shape(:)", "  integer(int64), intent(in), optional :: at", ierror,
                    "  type(c_ptr) :: address", "  nullify(a)",
                    f"  if (mapped(container, address, int(shape, int64), storage_size(a) / 8, {rank}, at, ierror)) &",
                    "    call c_f_pointer(address, a, shape)"]))
    values = [(f"{kind}_{rank}", f"{declaration}, target", f"{', contiguous' if rank else ''} :: values{dimensions(rank)}",
               f"{'size(values, kind=c_size_t)' if rank else '1_c_size_t'} * (storage_size(values) / 8)")
              for kind, declaration in KINDS for rank in (0, *RANKS)]
    values.append(("text", "character(*), target", " :: values", "len(values, kind=c_size_t)"))
    for of, declaration, name, length in values:
        generics["quire_container_read"].append((f"read_{of}", [
            "(container, at, values, done, ierror)", opening, "  integer(int64), intent(in) :: at", f"  {declaration}, intent(inout){name}",
            "  integer(int64), intent(out), optional :: done", ierror, f"  call read_content(container, at, c_loc(values), {length}, done, ierror)"]))
        generics["quire_container_write"].append((f"write_{of}", [
            "(container, at, values, ierror)", opening, "  integer(int64), intent(in) :: at", f"  {declaration}, intent(in){name}", ierror,
            f"  call write_content(container, at, c_loc(values), {length}, ierror)"]))
        generics["quire_container_append"].append((f"append_{of}", [
            "(container, values, at, ierror)", opening, f"  {declaration}, intent(in){name}", "  integer(int64), intent(out), optional :: at", ierror,
            f"  call append_content(container, c_loc(values), {length}, at, ierror)"]))
    return generics


def names_of_handles():
    """quire_publish() and quire_lookup() of handles."""
    generics = {"quire_publish": [], "quire_lookup": []}
    for handle in HANDLES:
        generics["quire_publish"].append((f"publish_{handle}", [
            "(name, handle, ierror)", "  character(*), intent(in) :: name", f"  type(quire_{handle}), intent(in) :: handle",
            "  integer, intent(out), optional :: ierror", "  call publish_word(name, handle%id, ierror)"]))
        generics["quire_lookup"].append((f"lookup_{handle}", [
            "(name, timeout_ms, handle, ierror)", "  character(*), intent(in) :: name", "  integer, intent(in) :: timeout_ms",
            f"  type(quire_{handle}), intent(out) :: handle", "  integer, intent(out), optional :: ierror",
            "  call lookup_word(name, timeout_ms, handle%id, ierror)"]))
    return generics


def indented(lines, by=2):
    return "\n".join((" " * by + line).rstrip() for line in lines)


def module():
    header = HEADER.read_text() + HEADER.with_name("container.h").read_text()
    rows, generics = table(), {**arrays(), **names_of_handles(), **contents()}
    types = [line for handle in (*HANDLES, *OWN_HANDLES)
             for line in (f"type, bind(c), public :: quire_{handle}", "  integer(c_int64_t) :: id = 0", "end type")]
    options = [f"  integer({kind}) :: {name} = 0" for name, kind in option_fields(header)]
    interfaces = [line for name, specifics in generics.items()
                  for line in (f"interface {name}", *(f"  module procedure {specific}" for specific, _ in specifics), "end interface")]
    procedures = [line for specifics in generics.values() for specific, lines in specifics
                  for line in (f"subroutine {specific}{lines[0]}", *lines[1:], "end subroutine", "")]
    parts = {
        "CONSTANTS": indented(f"integer, parameter, public :: {name} = {value}" for name, value in constants(header)),
        "HANDLES": indented(types),
        "OPTIONS": indented(options),
        "PUBLIC": indented(f"public :: {name}" for name in (*generics, *(name for _, name, _, _ in rows))),
        "GENERICS": indented(interfaces),
        "INTERFACES": indented((line for _, name, of_c, arguments in rows for line in interface_of(name, of_c, arguments)), 4),
        "CALLS": indented(line for row in rows for line in wrapper_of(*row)),
        "PROCEDURES": indented(procedures),
    }
    text = (HERE / "module.f90.in").read_text()
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    longest = max(len(line) for line in text.splitlines() if not line.lstrip().startswith("!"))
    if longest > 132:
        sys.exit(f"a line of code has {longest} columns, and Fortran's have 132")
    return re.sub(r"\n{3,}", "\n\n", text)


def main():
    target, text = HEADER.with_name("quire.f90"), module()
    if "--check" not in sys.argv[1:]:
        target.write_text(text)
    elif not target.exists() or target.read_text() != text:
        sys.exit("include/quire/quire.f90 is not what fortran/generate.py makes: run it")


main()
