// SPDX-License-Identifier: BSD-3-Clause
#include "openmp_program.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "copies.hpp"
#include "os/process.hpp"
#include "other_run_times.hpp"
#include "own_tree.hpp"

namespace quire::tools {
namespace {

namespace fs = std::filesystem;

/// The runtimes that Quire stands in for: gcc's; LLVM's as Debian calls it, and as LLVM does; Intel's.
constexpr std::array<const char*, 4> known_runtimes = {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so"};
/// How functions of a runtime begin, where versions do not tell whose they are.
constexpr std::array<const char*, 5> beginnings = {"GOMP_", "GOACC_", "__kmpc_", "kmp_", "omp_"};
constexpr const char* runtime_name = "libquire_omp.so";
/// As the dynamic linker asks for them; the names without a number are for linking, and may be linkers' scripts.
constexpr const char* runtime_file = "libquire_omp.so." QUIRE_SOVERSION;
constexpr const char* library_file = "libquire.so." QUIRE_SOVERSION;

bool is_runtime(std::string_view library) {
  return std::find(known_runtimes.begin(), known_runtimes.end(), library) != known_runtimes.end();
}

bool begins_as_runtime(const std::string& name) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](const char* begin) { return name.starts_with(begin); });
}

bool is_of_runtime(const elf_symbol& symbol) {
  return !symbol.defined && (symbol.library.empty() ? begins_as_runtime(symbol.name) : is_runtime(symbol.library));
}

std::optional<elf_file> read_library(const std::string& path, std::string& why) {
  auto answer = read_elf(path, elf_parts::dynamic);
  if (!answer.file) why = path + " " + answer.why;
  return std::move(answer.file);
}

/// Neither the system's, nor one that runs other programs, nor one of another system of nodes.
bool is_users_own(const std::string& path, const elf_file& file) {
  constexpr std::array<const char*, 6> others = {"libmpi", "libmpich", "libpmi", "liboshmem", "libpython", "libjli"};
  if (file.is_static || links_quire(file) ||
      std::any_of(others.begin(), others.end(), [&](const char* library) { return needs(file, library); }))
    return false;
  std::error_code error;
  const std::string real = fs::canonical(path, error);
  return !error && !is_of_the_system(real) && !is_interpreter(real);
}

}  // namespace

bool links_quire(const elf_file& file) { return needs(file, "libquire.so") || needs(file, runtime_name); }

openmp_use openmp_of(const elf_file& file) {
  openmp_use found;
  std::copy_if(file.needed.begin(), file.needed.end(), std::back_inserter(found.runtimes), is_runtime);
  for (const auto& symbol : file.symbols)
    if (is_of_runtime(symbol)) found.functions.push_back(symbol.name);
  std::sort(found.functions.begin(), found.functions.end());
  found.functions.erase(std::unique(found.functions.begin(), found.functions.end()), found.functions.end());
  return found;
}

std::vector<own_library> openmp_libraries_of(const std::string& path, const elf_file& file) {
  if (!openmp_of(file).runtimes.empty() || makes_threads(file) || !is_users_own(path, file)) return {};
  auto found = own_libraries_of(path);
  if (std::any_of(found.begin(), found.end(), [](const own_library& one) { return links_quire(one.file); })) return {};
  std::erase_if(found, [](const own_library& one) { return openmp_of(one.file).runtimes.empty(); });
  return found;
}

bool calls_openmp(const std::string& path, const elf_file& file) {
  std::vector<std::string> all;
  if (!openmp_of(file).runtimes.empty() || makes_threads(file) || !libraries_of(path, all)) return false;
  return std::any_of(all.begin(), all.end(), [&file](const std::string& library) {
    const std::string name = library.substr(library.rfind('/') + 1);
    if (std::find(file.needed.begin(), file.needed.end(), name) == file.needed.end()) return false;
    const auto answer = read_elf(library, elf_parts::dynamic);
    return answer.file && !openmp_of(*answer.file).runtimes.empty();
  });
}

bool contains_runtime(const std::string& path) {
  const os::descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about;
  if (!file.open() || ::fstat(file.number(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_size == 0)
    return false;
  const auto bytes = static_cast<std::size_t>(about.st_size);
  void* const at = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (at == MAP_FAILED) return false;
  const bool found =
      ::memmem(at, bytes, "libgomp: ", 9) != nullptr || ::memmem(at, bytes, "KMP_AFFINITY", 12) != nullptr;
  ::munmap(at, bytes);
  return found;
}

/// A sanitizer's run-time that is linked into the program has pthread_create() there, too, which the program calls:
/// that cannot be seen.
bool makes_threads(const elf_file& file) {
  const bool has_checks = !other_run_time(file).empty();
  return std::any_of(file.symbols.begin(), file.symbols.end(), [=](const elf_symbol& s) {
    if (s.defined) return has_checks && s.name == "pthread_create";
    return s.name == "pthread_create" || s.name == "thrd_create" || s.name.starts_with("_ZNSt6thread15_M_start_thread");
  });
}

bool is_for_threads(const std::string& path, const elf_file& file) {
  return makes_threads(file) && openmp_of(file).runtimes.empty() && is_users_own(path, file);
}

std::vector<std::string> openmp_libraries::in_order() const {
  std::vector<std::string> all = stand_ins;
  all.push_back(runtime);
  all.push_back(quire);
  return all;
}

std::optional<openmp_libraries> find_openmp_libraries(std::string& why) {
  const auto tree = find_own_tree(why);
  if (!tree) return std::nullopt;
  openmp_libraries found;
  for (const char* name : known_runtimes) found.stand_ins.push_back(tree->stand_ins / name);
  found.runtime = tree->openmp_runtime / runtime_file;
  found.quire = tree->library / library_file;
  std::error_code ignored;
  for (const auto& path : found.in_order()) {
    if (fs::exists(path, ignored)) continue;
    why = path + " is missing: this Quire was built without its OpenMP runtime";
    return std::nullopt;
  }
  return found;
}

std::optional<openmp_lack> lacking(const elf_file& file, const openmp_libraries& libraries, std::string& why) {
  openmp_lack lack;
  for (const auto& symbol : file.symbols)
    if (is_of_runtime(symbol) && !symbol.library.empty() && !symbol.weak) lack.functions.push_back(symbol.name);
  std::sort(lack.functions.begin(), lack.functions.end());
  if (!lack.functions.empty()) {
    const auto runtime = read_library(libraries.runtime, why);
    if (!runtime) return std::nullopt;
    for (const auto& symbol : runtime->symbols) {
      if (!symbol.defined) continue;
      const auto [first, last] = std::equal_range(lack.functions.begin(), lack.functions.end(), symbol.name);
      lack.functions.erase(first, last);
    }
  }
  const auto names = [&file](const std::string& library) {
    return std::any_of(file.needed_versions.begin(), file.needed_versions.end(),
                       [&](const elf_version& wanted) { return wanted.library == library; });
  };
  for (const auto& path : libraries.stand_ins) {
    const std::string library = fs::path(path).filename();
    if (!names(library)) continue;
    const auto stand_in = read_library(path, why);
    if (!stand_in) return std::nullopt;
    for (const auto& wanted : file.needed_versions) {
      const auto& has = stand_in->defined_versions;
      if (wanted.library == library && std::find(has.begin(), has.end(), wanted.version) == has.end())
        lack.versions.push_back(wanted.version + " of " + library);
    }
  }
  return lack;
}

std::string listed(const std::vector<std::string>& words, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(words.size(), most); ++i) text += (i == 0 ? "" : ", ") + words[i];
  return words.size() > most ? text + " and " + std::to_string(words.size() - most) + " more" : text;
}

}  // namespace quire::tools
