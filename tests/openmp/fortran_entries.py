#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fortran_entries.py CXX PROJECT OMP_LIB...: each function that a compiler's omp_lib (source text of the module, or of the include file) declares is here
under the name that the compiler calls, and takes and returns what the compiler passes: addresses or values, of the same size. Sources of PROJECT are
preprocessed and read."""
import os
import re
import subprocess
import sys

KINDS = {"c_int": 4, "c_size_t": 8, "c_intptr_t": 8, "c_double": 8, "int_ptr_kind()": 8}
BYTES = {"int": 4, "unsigned": 4, "std::int32_t": 4, "std::uint32_t": 4, "std::int64_t": 8, "std::uint64_t": 8, "std::size_t": 8, "std::uintptr_t": 8,
         "double": 8, "char": 1, "unsigned long long": 8, "long": 8}
DEFINITION = re.compile(r'extern "C" __attribute__\(\(visibility\("default"\)\)\) ([\w:]+ ?\*?) ?(\w+) ?\(([^()]*)\) ?(?:noexcept )?{')
ANY = 0  # bytes that nobody can tell from the declaration
POINTER = -8  # an address that is a value: c_ptr, kmp_pointer_kind


def kind_of(words, kinds):
    """Bytes that a type of Fortran has."""
    if words.startswith("double"):
        return 8
    if words.startswith("character"):
        return 1
    if words.startswith("type"):
        return POINTER if "c_ptr" in words else ANY
    m = re.search(r"\( *(?:kind *= *)?([\w()]+?) *\)$", words)
    if not m:
        return 4
    return int(m[1]) if m[1].isdigit() else kinds[m[1]]


def statements(path):
    with open(path, encoding="utf-8") as f:
        lines = [line.split("!")[0].rstrip() for line in f if not re.match(r"[!cC*]", line)]
    text = "\n".join(lines).lower()
    text = re.sub(r"&\s*\n\s*&?", " ", text)  # of free form; below: of fixed form
    text = re.sub(r"\n     [^ \n0]", " ", text)
    return [re.sub(r"\s+", " ", line).strip() for line in text.splitlines() if line.strip()]


def find_kinds(all_statements):
    kinds = dict(KINDS)
    for line in all_statements:
        for name, value in re.findall(r"(\w+_kind) *= *(\w+(?:\(\))?)", line) if "parameter" in line else []:
            kinds[name] = POINTER if "pointer" in name else int(value) if value.isdigit() else kinds.get(value, 4)
    return kinds


def declared(path):
    """Name that is called -> (result, arguments): bytes, and for arguments whether the address is passed."""
    lines, found, now = statements(path), {}, None
    kinds = find_kinds(lines)
    for line in lines:
        m = re.match(r"(subroutine|function) (\w+) ?\(([^)]*)\) ?(bind ?\(c.*)?$", line)
        if m:
            order = [a.strip() for a in m[3].split(",") if a.strip()]
            now = {"name": m[2] if m[4] else m[2] + "_", "plain": m[2], "order": order, "types": {}, "is_function": m[1] == "function"}
            if m[4] and "name" in m[4]:
                now["name"] = re.search(r"name *= *[\"'](\w+)", m[4])[1]
            continue
        if now is None:
            continue
        if line.startswith("end"):
            arguments = [now["types"][a] for a in now["order"]]
            lengths = [(8, False) for bytes_, _ in arguments if bytes_ == 1]
            found[now["name"]] = (now["types"][now["plain"]][0] if now["is_function"] else None, arguments + lengths)
            now = None
            continue
        m = re.match(r"((?:integer|logical|double precision|real|character|type) ?(?:\((?:[^()]|\([^()]*\))*\))?)(.*)$", line)
        if not m:
            continue
        for name in now["order"] + [now["plain"]]:
            if re.search(rf"\b{name}\b", m[2].split("::")[-1]):
                now["types"][name] = (kind_of(m[1].replace(" ", ""), kinds), "value" not in m[2].split("::")[0])
    return found


def defined(compiler, project):
    """The same of what is here; an address of bytes that the type does not tell is one of ANY."""
    found = {}
    for folder in ("api", "gomp", "kmp"):
        for file in sorted(os.listdir(f"{project}/program/omp/{folder}")):
            path = f"{project}/program/omp/{folder}/{file}"
            if not file.endswith(".cpp") or not re.search(r"\b(omp|kmp)_\w+\(|\(k?omp_\w+\)", open(path, encoding="utf-8").read()):
                continue
            command = [compiler, "-std=c++20", "-E", "-P", f"-I{project}", f"-I{project}/include", f"-I{project}/src", path]
            text = re.sub(r"\s+", " ", subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            for result, name, arguments in DEFINITION.findall(text):
                found[name] = (size(result) if result.strip() != "void" else None, [size(a) for a in arguments.split(",") if a.strip()])
    return found


def size(parameter):
    """Of what a parameter, with or without a name, is or leads to."""
    if "**" in parameter.replace(" ", ""):
        return 8, True
    address = "*" in parameter
    words = [w for w in re.sub(r"[*]", " ", parameter).split() if w != "const"]
    for length in range(len(words), 0, -1):
        if " ".join(words[:length]) in BYTES:
            return (8 if address and not words else BYTES[" ".join(words[:length])]), address
    return ANY, address


def agree(theirs, ours, is_lock):
    """Of a lock fewer bytes are used here than some have."""
    (bytes_, address), (own_bytes, own_address) = theirs, ours
    if bytes_ == POINTER and not address:
        return own_address or own_bytes == 8
    return address == own_address and (bytes_ == own_bytes or ANY in (bytes_, own_bytes) or (is_lock and address and own_bytes <= bytes_))


def agree_on_result(theirs, ours):
    """A wider number has what is asked for in its lower bytes."""
    if theirs is None or ours is None:
        return theirs is ours
    bytes_, address = ours
    return address or bytes_ == 8 if theirs == POINTER else not address and bytes_ >= theirs


def main():
    compiler, project, *libraries = sys.argv[1:]
    here = defined(compiler, project)
    wrong = 0
    for library in libraries:
        entries = declared(library)
        print(f"{library}: {len(entries)} functions")
        wrong += len(entries) < 50
        for name, (result, arguments) in sorted(entries.items()):
            if name not in here:
                print(f"{name} is not here")
            elif len(arguments) != len(here[name][1]) or not all(map(lambda a, b, lock="lock" in name: agree(a, b, lock), arguments, here[name][1])):
                print(f"{name} has arguments (bytes, whether by address) {arguments}, here {here[name][1]}")
            elif not agree_on_result(result, here[name][0]):
                print(f"{name} returns {result} bytes, here {here[name][0]}")
            else:
                continue
            wrong += 1
    return 1 if wrong or not libraries else 0


if __name__ == "__main__":
    sys.exit(main())
