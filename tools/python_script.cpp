// SPDX-License-Identifier: BSD-3-Clause
#include "python_script.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

namespace quire::tools {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// The module of a name with dots, in a folder; empty if it is elsewhere.
fs::path module_in(const fs::path& folder, std::string name, const char* of_package) {
  std::replace(name.begin(), name.end(), '.', '/');
  const fs::path file = folder / (name + ".py"), package = folder / name / of_package;
  return is_file(file) ? file : is_file(package) ? package : fs::path();
}

fs::path program_of(std::span<const std::string> command) {
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string& word = command[i];
    const bool has_next = i + 1 < command.size();
    if (!word.starts_with('-')) return is_file(word) ? fs::path(word) : fs::path();
    if (word == "-") return {};
    if (word.starts_with("--")) {
      i += word == "--check-hash-based-pycs" ? 1 : 0;
      continue;
    }
    // Letters, the last of which may have a value: the rest of the word, or the next one.
    const std::size_t at = word.find_first_of("cmiWX", 1);
    if (at == word.npos) continue;
    const bool is_whole = at + 1 == word.size();
    if (word[at] == 'm' && (has_next || !is_whole))
      return module_in(".", is_whole ? command[i + 1] : word.substr(at + 1), "__main__.py");
    if (word[at] != 'W' && word[at] != 'X') return {};
    i += is_whole ? 1 : 0;
  }
  return {};
}

/// Whether a module, or one that it imports from `folder`, names a library by which processes work together, beside
/// what it says in comments.
bool names_others(const fs::path& file, const fs::path& folder, std::set<std::string>& seen) {
  static const std::regex import(R"(^\s*(?:from\s+([\w.]+)\s+import\b|import\s+([\w., \t]+)))");
  static const std::regex other(R"(\b(?:lib)?quire(?:\b|_)|\bQUIRE_|\bmpi4py\b)"), comment(R"(^\s*#)");
  static const std::regex name(R"([A-Za-z_][\w.]*)");
  if (!seen.insert(file.string()).second || seen.size() > 1000) return false;
  std::ifstream text(file);
  for (std::string line; std::getline(text, line);) {
    std::smatch found;
    if (line.size() > 1000 || std::regex_search(line, comment)) continue;
    if (std::regex_search(line, other)) return true;
    if (!std::regex_search(line, found, import)) continue;
    const std::string names = found[1].matched ? found[1].str() : found[2].str();
    for (std::sregex_iterator at(names.begin(), names.end(), name), end; at != end; ++at) {
      const std::string module = at->str(), package = module.substr(0, module.find('.'));
      for (const auto& part : {package, module}) {
        const fs::path local = module_in(folder, part, "__init__.py");
        if (!local.empty() && names_others(local, folder, seen)) return true;
      }
    }
  }
  return false;
}

}  // namespace

std::string stock_python_program(std::span<const std::string> command) {
  if (command.empty() || !fs::path(command[0]).filename().string().starts_with("python")) return {};
  const fs::path program = program_of(command);
  std::set<std::string> seen;
  if (program.empty() || names_others(program, program.parent_path(), seen)) return {};
  return program.string();
}

}  // namespace quire::tools
