// SPDX-License-Identifier: BSD-3-Clause
// Where the parts of the Quire that this command belongs to lie: the build folder, or an installed tree, wherever it
// was moved.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace quire::tools {

struct own_tree {
  std::filesystem::path prefix;          ///< where it is installed; of a build, the build folder
  std::filesystem::path include;         ///< holds quire/quire.h
  std::filesystem::path library;         ///< holds libquire.so, and may hold libraries of others
  std::filesystem::path library_alone;   ///< holds libquire.so.N, and no other shared library
  std::filesystem::path openmp_runtime;  ///< holds libquire_omp.so, if that was built
  std::filesystem::path stand_ins;       ///< holds what stands in for libgomp and others: program/stand_ins/README.md
  std::filesystem::path python;          ///< holds the Python package, if that was built
  bool installed = false;
};

/// The tree of this command. Nothing if the library is missing, with a sentence in `why`.
[[nodiscard]] std::optional<own_tree> find_own_tree(std::string& why);

/// Whether the tree has the Python package.
[[nodiscard]] bool has_package(const own_tree& tree);

/// Where the sources of a build folder lie, even if that was moved alone: its cache tells. Empty if it does not.
[[nodiscard]] std::filesystem::path sources_of(const std::filesystem::path& build);

/// What a tree lacks for programs to be compiled with it, in a sentence: some packages bring the library alone. Empty
/// if nothing.
[[nodiscard]] std::string lacking_for_programs(const own_tree& tree);

}  // namespace quire::tools
