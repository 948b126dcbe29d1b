// SPDX-License-Identifier: BSD-3-Clause
// Where a stream or a descriptor of the program is. What the program opens, on whatever node, is opened on node 0: so
// its descriptors are numbers of node 0. A stream tells its node by its address; streams in the program's own memory
// (open_memstream, fopencookie) are of the node that has made them.
#pragma once

#include <dirent.h>
#include <stdio.h>

#include "program/posix/memory/callers.hpp"
#include "program/process/interpose.hpp"

extern "C" {
extern FILE _IO_2_1_stdout_, _IO_2_1_stderr_;
}

namespace quire::program {

/// Where the caller is.
constexpr int here = -1;

namespace files {
/// Not in a child of vfork(2), which has a node's memory but descriptors and a state of its own.
[[nodiscard]] bool is_node() noexcept;
/// Several nodes, and the program runs.
__attribute__((visibility("hidden"))) extern bool apart;
[[nodiscard]] int find_stream(const void* handle, const void* caller) noexcept;
[[nodiscard]] int find_descriptor(const void* caller) noexcept;
}  // namespace files

/// Collective: from now on.
void open_files() noexcept;
/// Before the job ends: what is called now, is called here.
void close_files() noexcept;

/// Standard output and error, as libc has them. The variables `stdout` and `stderr` may lie in the program's static
/// data, which is shared: what a transport calls while it serves a fault must not look there.
[[nodiscard]] inline bool is_standard_output(const FILE* stream) noexcept {
  return stream == &_IO_2_1_stdout_ || stream == &_IO_2_1_stderr_;
}

/// The node of a stream that `caller`, a return address, uses; `here`. Standard output is each node's own.
[[nodiscard]] inline int node_of(const FILE* stream, const void* caller) noexcept {
  return !files::apart || is_standard_output(stream) ? here : files::find_stream(stream, caller);
}
/// The same for what has no descriptor yet, or is a name: node 0.
struct new_one {};
[[nodiscard]] inline int node_of(new_one, const void* caller) noexcept {
  return files::apart ? files::find_descriptor(caller) : here;
}
[[nodiscard]] inline int node_of(int descriptor, const void* caller) noexcept {
  return !files::apart || descriptor < 0 || descriptor == 1 || descriptor == 2 ? here : files::find_descriptor(caller);
}

/// Directories are handles of libc's as streams are.
[[nodiscard]] inline int node_of(const DIR* directory, const void* caller) noexcept {
  return files::apart ? files::find_stream(directory, caller) : here;
}

/// A call on another node than node 0 that only node 0 could make: says so. errno becomes ENOTSUP.
void refuse(const char* call) noexcept;

/// Whether the program has made a call: its own code, or that of a library which works for it on a shared stack.
[[nodiscard]] bool is_of_program(const void* caller) noexcept;

}  // namespace quire::program
