// SPDX-License-Identifier: BSD-3-Clause
// Whether `quire exec` can start a program, and with what: asked by it, and beforehand, once for all nodes, by `quire
// run`.
#pragma once

#include <sys/resource.h>

#include <string>
#include <vector>

#include "openmp_program.hpp"

namespace quire::tools {

/// The kernel leaves room for the stack's limit above all mappings: it must be the same on all nodes. Up to 128 MiB
/// makes no difference, so that a lower hard limit does no harm.
inline constexpr rlim_t standard_stack_bytes = rlim_t{8} << 20;

struct exec_plan {
  int status = 0;    ///< 0, else the exit status of a refusal
  std::string why;   ///< of a refusal
  std::string path;  ///< of the program, as execv() takes it
  std::vector<std::string> preload;
  bool places_threads = false;  ///< no OpenMP: the threads that it makes itself are on all nodes
  bool has_own_malloc = false;  ///< on one node it runs without Quire, on more it is refused
};

/// `program`: as execvp() takes it. `any`: also one without OpenMP, and one that needs what Quire lacks.
[[nodiscard]] exec_plan plan_exec(const std::string& program, bool any);

/// The file that execvp() would run: as it is written if it has a slash, else the first executable in PATH; else the
/// first file of that name there; empty if there is none.
[[nodiscard]] std::string program_path(const std::string& program);

/// Whether `quire run` starts the nodes by `quire exec`: a program with OpenMP, or with threads, that is not linked
/// with Quire.
[[nodiscard]] bool is_for_exec(const std::string& program);

/// Whether it is linked with Quire, or with its OpenMP runtime.
[[nodiscard]] bool uses_quire(const std::string& program);

/// Why `quire run` does not start copies of one that is not for `quire exec`: it is meant to be, and cannot, or its ELF
/// file is one of another machine, or damaged (a shell would read it). Empty for all others.
[[nodiscard]] std::string why_no_copies(const std::string& program);

/// Why `quire run` does not start a program that may be executed and not read: nothing could tell whether it would run
/// as copies that share nothing. Empty for all others.
[[nodiscard]] std::string why_unreadable(const std::string& program);

/// What `--memory` can be: program/process/memory_mode.hpp.
inline constexpr const char *sequential_memory = "sequential", *mixed_memory = "mixed", *automatic_memory = "auto";
inline constexpr const char* memory_help =
    "Of a program with OpenMP, or with threads of its own. mixed: static arrays and heap blocks of 64 KiB and more "
    "have release consistency, which is faster, and right if no atomic operation or plain "
    "flag of the program lies in one. auto: mixed, if the code of the program shows no fences, flushes or loops that "
    "wait, and its atomic operations can be watched; else sequential (quire info PROGRAM says which, and why)";

/// What `--place` can be: program/posix/threads/placement.hpp.
inline constexpr const char* usual_place = "least";
inline constexpr const char* place_help =
    "On which node a thread begins that a program without OpenMP makes. least: where the fewest run; round: on one "
    "after the other; blocks:N: N on each in turn; here: where it is made";
/// Refuses another one.
[[nodiscard]] std::string wrong_place(const std::string& text);

/// The words to start it by, on this host or another one: this command, `exec`, the limit of the stack where the
/// user's is not the usual one, and `memory` and `place` unless they are empty.
[[nodiscard]] std::vector<std::string> exec_words(const std::string& memory, const std::string& place);

}  // namespace quire::tools
