// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher/misspelt.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "base/options.hpp"
#include "os/process.hpp"

namespace quire::bootstrap::launcher {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

/// The name of the program of a folder that a mistyped name resembles most; empty if it resembles none.
std::string nearest_program(const fs::path& folder, const std::string& mistyped) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename();
    const std::string_view one[] = {name};
    if (name != mistyped && !base::nearest_word(mistyped, one).empty() && is_program(entry->path()))
      names.push_back(std::move(name));
  }
  const std::vector<std::string_view> words(names.begin(), names.end());
  return std::string(base::nearest_word(mistyped, words));
}

/// For a name with a folder, which is kept as it was written.
std::string similar_in_folder(const std::string& program) {
  const std::size_t slash = program.rfind('/') + 1;
  const std::string folder = program.substr(0, slash), name = program.substr(slash);
  // A source for its program: ./heat.cpp for ./heat
  const std::string stem = fs::path(name).stem();
  if (stem != name && is_program(folder + stem)) return folder + stem;
  const std::string nearest = nearest_program(folder, name);
  return nearest.empty() ? "" : folder + nearest;
}

/// For a name that was looked for in PATH. The working directory seldom is part of that.
std::string similar_in_path(const std::string& program) {
  if (is_program("./" + program)) return "./" + program;
  if (const std::string here = nearest_program(".", program); !here.empty()) return "./" + here;
  const char* const path = std::getenv("PATH");
  std::vector<std::string> names;
  for (std::string_view rest = path != nullptr ? path : ""; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (std::string name = nearest_program(rest.substr(0, end), program); !name.empty())
      names.push_back(std::move(name));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const std::vector<std::string_view> words(names.begin(), names.end());
  return std::string(base::nearest_word(program, words));
}

/// The file is there, but not what it has to be run by.
std::string missing_interpreter(const std::string& program) {
  std::ifstream file(program);
  std::string line;
  if (!std::getline(file, line) || !line.starts_with("#!"))
    return "; the file is there, but not the loader that it names";
  const std::size_t begin = line.find_first_not_of(" \t", 2), end = line.find_first_of(" \t", begin);
  return begin == line.npos ? "" : "; the file is there, but not its interpreter " + line.substr(begin, end - begin);
}

std::string hint(const std::string& program, int error) {
  std::error_code ignored;
  const bool named_folder = program.find('/') != program.npos;
  if (named_folder && fs::is_directory(program, ignored)) return "; it is a folder";
  if (named_folder && error == ENOENT && fs::exists(program, ignored)) return missing_interpreter(program);
  if (named_folder && !fs::exists(program.substr(0, program.rfind('/') + 1), ignored))
    return "; there is no folder " + fs::path(program).parent_path().string();
  const std::string similar = named_folder ? similar_in_folder(program) : similar_in_path(program);
  return similar.empty() ? "" : "; did you mean " + similar + "?";
}

}  // namespace

std::string cannot_run_text(const std::string& program, int error) {
  const bool wrong_name = error == ENOENT || error == EACCES || error == ENOTDIR;
  return "cannot run " + program + ": " + os::error_text(error) + (wrong_name ? hint(program, error) : "");
}

}  // namespace quire::bootstrap::launcher
