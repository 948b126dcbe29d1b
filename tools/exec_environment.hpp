// SPDX-License-Identifier: BSD-3-Clause
// What `quire exec` leaves in the environment for libquire_omp, which restores what was changed and removes these: a
// program that the user's program starts is no node. program/stand_ins/README.md says the same.
#pragma once

namespace quire::tools {

/// What LD_PRELOAD and LD_BIND_NOW were. Empty: they were not set, or empty, which is the same to the loader.
inline constexpr const char* exec_preload_variable = "QUIRE_EXEC_LD_PRELOAD";
inline constexpr const char* exec_bind_now_variable = "QUIRE_EXEC_LD_BIND_NOW";
/// LD_LIBRARY_PATH, only where that was changed (loader_room.hpp).
inline constexpr const char* exec_library_path_variable = "QUIRE_EXEC_LD_LIBRARY_PATH";
/// The soft limit of the stack before, in bytes, or "unlimited".
inline constexpr const char* exec_stack_variable = "QUIRE_EXEC_STACK";
/// Which consistency the program's memory is to have (program/process/memory_mode.hpp): "sequential", "mixed" or
/// "auto".
inline constexpr const char* exec_memory_variable = "QUIRE_EXEC_MEMORY";

/// How threads that the program makes itself are placed on nodes (program/posix/threads/placement.hpp); not set for a
/// program with OpenMP.
inline constexpr const char* exec_place_variable = "QUIRE_EXEC_PLACE";
/// Set where memory that threads have written may be run (`quire exec --openmp`): libraries compile as they run.
inline constexpr const char* exec_code_variable = "QUIRE_EXEC_CODE";
/// The program's file, where `quire exec` has mapped it itself (place_program.hpp): /proc/self/exe is `quire` then.
inline constexpr const char* exec_file_variable = "QUIRE_EXEC_FILE";

}  // namespace quire::tools
