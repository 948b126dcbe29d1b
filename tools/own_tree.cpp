// SPDX-License-Identifier: BSD-3-Clause
#include "own_tree.hpp"

#include <quire/quire.h>

#include <fstream>
#include <string_view>

namespace quire::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* header = "quire/quire.h";
constexpr const char* library = "libquire.so." QUIRE_SOVERSION;

/// Without ".." where there is such a path; links stay as they are.
fs::path joined(const fs::path& folder, const fs::path& rest) { return (folder / rest).lexically_normal(); }

/// The command lies in `bin` of the build folder.
std::optional<own_tree> as_built(const fs::path& bin) {
  std::error_code ignored;
  const fs::path build = bin.parent_path(), folder = build / "src";
  if (!fs::exists(build / "CMakeCache.txt", ignored) || !fs::exists(folder / library, ignored)) return std::nullopt;
  fs::path include = joined(build, QUIRE_BUILD_TO_SOURCE "/include");
  if (!fs::exists(include / header, ignored))
    include = sources_of(build) / "include";  // the build folder was moved alone
  return own_tree{build, include, folder, folder, build / "program", build / "program" / "stand_ins", build / "python",
                  false};
}

}  // namespace

fs::path sources_of(const fs::path& build) {
  constexpr std::string_view entry = "CMAKE_HOME_DIRECTORY:INTERNAL=";
  std::ifstream cache(build / "CMakeCache.txt");
  for (std::string line; std::getline(cache, line);)
    if (line.starts_with(entry)) return line.substr(entry.size());
  return {};
}

std::optional<own_tree> find_own_tree(std::string& why) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    why = "cannot read /proc/self/exe: " + error.message();
    return std::nullopt;
  }
  const fs::path bin = self.parent_path();
  std::optional<own_tree> found = as_built(bin);
  if (!found) {
    fs::path prefix = joined(bin, QUIRE_BIN_TO_PREFIX);
    if (!prefix.has_filename()) prefix = prefix.parent_path();  // lexically_normal() leaves a slash at the end
    const fs::path folder = joined(prefix, QUIRE_LIBDIR);
    found = own_tree{prefix,
                     joined(prefix, QUIRE_INCLUDEDIR),
                     folder,
                     folder / "quire",
                     folder,
                     folder / "quire" / "openmp",
                     folder / "quire" / "python",
                     true};
  }
  if (fs::exists(found->library / library, error)) return found;
  why = (found->library / library).string() + " is missing; " + self.string() +
        " should lie in the tree where Quire was built or installed";
  return std::nullopt;
}

bool has_package(const own_tree& tree) {
  std::error_code ignored;
  return fs::exists(tree.python / "quire" / "_native.abi3.so", ignored);
}

std::string lacking_for_programs(const own_tree& tree) {
  std::error_code ignored;
  for (const auto& needed : {tree.library / "libquire.so", tree.include / header})
    if (!fs::exists(needed, ignored)) return needed.string() + " is missing (Debian: it is in libquire-dev)";
  return {};
}

}  // namespace quire::tools
