// SPDX-License-Identifier: BSD-3-Clause
#include "copies.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "bootstrap/launcher/installed.hpp"
#include "elf_file.hpp"
#include "openmp_program.hpp"
#include "os/program_file.hpp"

namespace quire::tools {
namespace {

namespace fs = std::filesystem;

bool is_script(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;  // to read a pipe waits
  std::string begin(2, ' ');
  std::ifstream(path).read(begin.data(), 2);
  return begin == "#!";
}

/// Most libraries can make threads, and few programs have them do it: of liblzma these calls say so.
bool has_library_make_threads(const elf_file& file) {
  return std::any_of(file.symbols.begin(), file.symbols.end(), [](const elf_symbol& s) {
    return !s.defined && (s.name == "lzma_stream_encoder_mt" || s.name == "lzma_stream_decoder_mt");
  });
}

/// pigz, xz and the like, whose threads somebody may have meant to be on all nodes.
bool has_threads(const fs::path& path) {
  const auto answer = read_elf(path, elf_parts::dynamic);
  return answer.file && !answer.file->is_static &&
         (makes_threads(*answer.file) || has_library_make_threads(*answer.file));
}

}  // namespace

bool is_of_the_system(const std::string& path) {
  constexpr std::array folders = {"/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/"};
  return !path.starts_with("/usr/local/") &&
         std::any_of(folders.begin(), folders.end(), [&](const char* folder) { return path.starts_with(folder); });
}

bool is_interpreter(const std::string& path) {
  constexpr std::array<std::string_view, 15> known = {"sh",   "bash", "dash",    "zsh",    "ksh",
                                                      "fish", "tcsh", "busybox", "python", "pypy",
                                                      "perl", "ruby", "lua",     "node",   "julia"};
  const std::string name = fs::path(path).filename();
  const std::string plain = name.substr(0, name.find_last_not_of("0123456789.-") + 1);
  return std::find(known.begin(), known.end(), plain) != known.end();
}

std::optional<std::string> copies_warning(const std::string& program, int nodes) {
  const std::string file = program.find('/') == program.npos ? bootstrap::launcher::find_program(program) : program;
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  if (error || nodes < 2 || is_interpreter(real)) return std::nullopt;
  if (is_of_the_system(real)) {
    if (!has_threads(real)) return std::nullopt;
    return fmt::format(
        "{} ran as {} independent copies, as programs of the system do: for the threads that it makes on all nodes "
        "write `quire exec --any` before it (--copies or QUIRE_LOG=error silences this)",
        program, nodes);
  }
  constexpr const char* end = "(`quire config` prints the flags; QUIRE_LOG=error silences this)";
  if (is_script(real))
    return fmt::format(
        "{} ran as {} independent copies: nothing in it is linked with libquire, or started by `quire exec`, which a "
        "script writes before a program with OpenMP or with threads {}",
        program, nodes, end);
  const auto linkage = os::linkage_of(real);
  if (!linkage) return std::nullopt;
  for (const auto& library : linkage->needed)
    if (library.starts_with("libquire.so")) return std::nullopt;
  return fmt::format("{} ran as {} independent copies: it is not linked with libquire {}", program, nodes, end);
}

}  // namespace quire::tools
