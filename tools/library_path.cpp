// SPDX-License-Identifier: BSD-3-Clause
#include "library_path.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "bootstrap/launcher/installed.hpp"
#include "os/program_file.hpp"
#include "own_tree.hpp"

namespace quire::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* variable = "LD_LIBRARY_PATH";

/// A folder as the loader takes it. Nothing if it holds a word that only the loader knows ($LIB, $PLATFORM).
std::optional<fs::path> expanded(std::string folder, const fs::path& origin) {
  for (const std::string_view word : {"${ORIGIN}", "$ORIGIN"})
    if (const auto at = folder.find(word); at != folder.npos) folder.replace(at, word.size(), origin.string());
  if (folder.find('$') != folder.npos) return std::nullopt;
  return folder.empty() ? fs::path(".") : fs::path(folder);
}

/// Whether the loader may find `library` in one of these folders.
bool may_find(const std::string& library, std::string_view folders, std::string_view separators,
              const fs::path& origin) {
  std::error_code ignored;
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find_first_of(separators), folders.size());
    const auto folder = expanded(std::string(folders.substr(0, end)), origin);
    if (!folder || fs::exists(*folder / library, ignored)) return true;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return false;
}

std::string file_of(const std::string& program) {
  return program.find('/') == program.npos ? bootstrap::launcher::find_program(program) : program;
}

/// An interpreter, or a script for it.
bool is_python(const std::string& file) {
  if (fs::path(file).filename().string().starts_with("python")) return true;
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return false;  // to read a pipe waits
  std::ifstream script(file);
  std::string line(128, 0);
  script.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(std::min(static_cast<std::size_t>(script.gcount()), line.find('\n')));
  return line.starts_with("#!") && line.find("python") != line.npos;
}

}  // namespace

std::optional<std::string> python_path_for(const std::string& program) {
  const std::string file = file_of(program);
  if (!is_python(file)) return std::nullopt;
  std::string why;
  const auto tree = find_own_tree(why);
  if (!tree || !has_package(*tree)) return std::nullopt;
  const char* const set = std::getenv("PYTHONPATH");
  if (set == nullptr || *set == 0) return tree->python.string();
  if ((":" + std::string(set) + ":").find(":" + tree->python.string() + ":") != std::string::npos) return std::nullopt;
  return std::string(set) + ":" + tree->python.string();
}

std::optional<std::string> library_path_for(const std::string& program) {
  const std::string file = file_of(program);
  const auto linkage = os::linkage_of(file);
  if (!linkage) return std::nullopt;
  const auto library = std::find_if(linkage->needed.begin(), linkage->needed.end(),
                                    [](const auto& name) { return name.starts_with("libquire.so"); });
  if (library == linkage->needed.end()) return std::nullopt;
  std::error_code error;
  const fs::path origin = fs::canonical(file, error).parent_path();
  const char* const set = std::getenv(variable);
  const std::string chosen = set != nullptr ? set : "";
  if (may_find(*library, linkage->runpath.empty() ? linkage->rpath : linkage->runpath, ":", origin) ||
      may_find(*library, chosen, ":;", origin))
    return std::nullopt;
  std::string why;
  const auto tree = find_own_tree(why);
  if (!tree || !fs::exists(tree->library_alone / *library, error)) return std::nullopt;
  return chosen.empty() ? tree->library_alone.string() : chosen + ":" + tree->library_alone.string();
}

}  // namespace quire::tools
