// SPDX-License-Identifier: BSD-3-Clause
// What the ELF file of a program or library tells before anything of it runs: how it is linked, which libraries,
// versions and functions it needs. Nothing of the file is believed: every offset is checked against its end. Called by
// `quire exec`, `quire run` and `quire info`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quire::tools {

/// Why there is no elf_file.
enum class elf_trouble {
  none,
  unreadable,     ///< missing, not a regular file, or not to be read
  script,         ///< begins with "#!"
  other_format,   ///< not ELF
  other_machine,  ///< of another architecture
  no_program,     ///< ELF, but neither a program nor a library
  damaged         ///< cut off, or its tables lead out of it
};

struct elf_version {
  std::string library;  ///< the library that must have it
  std::string version;
};

struct elf_symbol {
  std::string name;
  bool defined = false;   ///< else it is wanted from another file
  bool weak = false;      ///< wanted, but the program starts without it, too
  std::string library{};  ///< of one that is wanted: the library that has its version; empty if it has none
};

/// A piece of code that jumps to a function of another file (x86-64: an entry of .plt, .plt.sec or .plt.got).
struct elf_stub {
  std::uint64_t address = 0, bytes = 0;  ///< as in the file's own tables
  std::string name;                      ///< of the function, as the linker has it
};

struct elf_file {
  enum class form { fixed_address, position_independent, library };
  form what = form::fixed_address;
  bool is_static = false;           ///< no loader runs: nothing can be preloaded
  std::vector<std::string> needed;  ///< libraries that it names itself (DT_NEEDED)
  std::string soname;
  std::string interpreter;  ///< the loader that it names (PT_INTERP); empty if none runs
  std::string build_id;     ///< in hexadecimal digits; empty if it has none
  bool is_go = false;       ///< with Go's run-time, as a note says
  std::vector<elf_version> needed_versions;
  std::vector<std::string> defined_versions;
  std::vector<elf_symbol> symbols;  ///< global and weak ones of the dynamic table
  std::vector<elf_stub> stubs;
  bool has_symbol_table = false;  ///< .symtab: it was not stripped
  bool checks_itself = false;     ///< has the run-time of -fsanitize=undefined, as either table of symbols says
};

struct elf_answer {
  std::optional<elf_file> file;
  elf_trouble trouble = elf_trouble::none;
  std::string why;  ///< with a trouble: what follows the name of the file in a sentence, as in "is cut off"
};

/// What of a file is read: its dynamic tables, without `stubs` and `checks_itself`, or all, which takes much longer.
enum class elf_parts { dynamic, all };
[[nodiscard]] elf_answer read_elf(const std::string& path, elf_parts parts = elf_parts::all);

/// Whether its tables are those of a program that the system refuses, or runs on another kind of machine: not a script,
/// and nothing that has no tables.
[[nodiscard]] bool is_bad_elf(elf_trouble trouble);

/// Whether one of the libraries that it names begins with `prefix`.
[[nodiscard]] bool needs(const elf_file& file, const char* prefix);

}  // namespace quire::tools
