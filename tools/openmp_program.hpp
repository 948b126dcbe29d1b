// SPDX-License-Identifier: BSD-3-Clause
// What a program has to do with OpenMP, or with threads of its own, and what this Quire has for it: the libraries that
// `quire exec` preloads. Used by `quire exec`, `quire run` and `quire info`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "elf_file.hpp"
#include "program_libraries.hpp"

namespace quire::tools {

struct openmp_use {
  std::vector<std::string> runtimes;   ///< of the runtimes that Quire stands in for, those which it names itself
  std::vector<std::string> functions;  ///< of a runtime that it calls or may call, sorted
};
[[nodiscard]] openmp_use openmp_of(const elf_file& file);

/// Those of a program's own libraries that need a runtime, where the executable needs none, makes no threads, and is
/// the user's own as below. None if a library uses Quire itself.
[[nodiscard]] std::vector<own_library> openmp_libraries_of(const std::string& path, const elf_file& file);

/// Whether the file has an OpenMP runtime in itself (libgomp.a, libomp.a), by its messages: a stripped one has no
/// names.
[[nodiscard]] bool contains_runtime(const std::string& path);

/// Linked with Quire, or with its OpenMP runtime: it starts without `quire exec`.
[[nodiscard]] bool links_quire(const elf_file& file);

/// Whether a library that it needs itself has OpenMP, wherever that lies: of a program that neither has OpenMP nor
/// makes threads.
[[nodiscard]] bool calls_openmp(const std::string& path, const elf_file& file);
/// Whether it makes threads itself, by pthreads, C11 or C++.
[[nodiscard]] bool makes_threads(const elf_file& file);
/// Whether `quire run` places its threads on all nodes: it makes some, needs no OpenMP runtime, and is the user's own:
/// neither the system's (the path is as execvp() takes it), nor one that runs other programs, nor one of another system
/// of nodes (MPI).
[[nodiscard]] bool is_for_threads(const std::string& path, const elf_file& file);

/// The libraries of this Quire for programs with OpenMP.
struct openmp_libraries {
  std::vector<std::string> stand_ins;
  std::string runtime;                                      ///< libquire_omp.so
  std::string quire;                                        ///< libquire.so
  [[nodiscard]] std::vector<std::string> in_order() const;  ///< as the loader has to load them
};
/// Nothing with a sentence in `why` if one is missing.
[[nodiscard]] std::optional<openmp_libraries> find_openmp_libraries(std::string& why);

/// What of the program's needs these libraries lack.
struct openmp_lack {
  std::vector<std::string> functions;
  std::vector<std::string> versions;  ///< "GOMP_9.0 of libgomp.so.1"
};
/// Nothing with a sentence in `why` if a library cannot be read.
[[nodiscard]] std::optional<openmp_lack> lacking(const elf_file& file, const openmp_libraries& libraries,
                                                 std::string& why);

/// "a, b, c", or the first of very many and how many more.
[[nodiscard]] std::string listed(const std::vector<std::string>& words, std::size_t most);

}  // namespace quire::tools
