// SPDX-License-Identifier: BSD-3-Clause
#include "starters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "copies.hpp"
#include "exec_plan.hpp"

namespace quire::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_script_bytes = 64 << 10, most_looked_at = 1000;

/// A program that becomes, or starts, the one that its last words name.
struct starter {
  std::string_view name;
  std::string_view letters;                      ///< short options that take a value
  std::array<std::string_view, 9> long_names{};  ///< the same of long ones, which may stand in the next word
  std::string_view no_program{};                 ///< short options with which it starts none, or not simply so
  std::size_t operands = 0;                      ///< words between the options and the program
};

constexpr starter starters[] = {
    {"nice", "n", {"adjustment"}},
    {"time", "fo", {"format", "output"}},
    {"env", "uC", {"unset", "chdir"}, "S"},
    {"nohup", "", {}},
    {"setsid", "", {}},
    {"setarch", "", {}},
    {"x86_64", "", {}},
    {"linux64", "", {}},
    {"stdbuf", "ioe", {"input", "output", "error"}},
    {"timeout", "sk", {"signal", "kill-after"}, "", 1},
    {"taskset", "", {}, "p", 1},
    {"chrt", "TPD", {"sched-runtime", "sched-period", "sched-deadline"}, "pm", 1},
    {"ionice", "cn", {"class", "classdata"}, "pPu"},
    {"numactl",
     "iNCmpPw",
     {"interleave", "cpunodebind", "physcpubind", "membind", "preferred", "preferred-many", "cpubind",
      "weighted-interleave"},
     "sH"},
};

/// As it is written, and in a folder of the system.
const starter* starter_of(const std::string& word) {
  const std::string name = fs::path(word).filename();
  const auto* const found =
      std::find_if(std::begin(starters), std::end(starters), [&](const starter& s) { return s.name == name; });
  if (found == std::end(starters)) return nullptr;
  std::error_code error;
  const auto path = fs::canonical(program_path(word), error);
  return !error && is_of_the_system(path) ? found : nullptr;
}

bool is_assignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  return equals != word.npos && equals != 0;
}

/// The first word after the options from `at` on. Nothing if one of them says that no program comes.
std::optional<std::size_t> after_options(const std::vector<std::string>& words, std::size_t at, const starter& s) {
  for (; at < words.size() && words[at].size() > 1 && words[at][0] == '-'; ++at) {
    const std::string_view word = words[at];
    if (word == "--") return at + 1;
    if (word.starts_with("--")) {
      const bool takes = std::find(s.long_names.begin(), s.long_names.end(), word.substr(2)) != s.long_names.end();
      if (takes) ++at;
      continue;
    }
    for (std::size_t i = 1; i < word.size(); ++i) {
      if (s.no_program.find(word[i]) != s.no_program.npos) return std::nullopt;
      if (s.letters.find(word[i]) == s.letters.npos) continue;
      if (i + 1 == word.size()) ++at;
      break;
    }
  }
  return at;
}

/// env -i: the nodes would hear of no job.
bool clears_environment(const std::vector<std::string>& words, std::size_t first, std::size_t end) {
  return std::any_of(words.begin() + static_cast<std::ptrdiff_t>(first),
                     words.begin() + static_cast<std::ptrdiff_t>(end), [](const std::string& word) {
                       return word == "-" || word == "--ignore-environment" ||
                              (word.size() > 1 && word[0] == '-' && word[1] != '-' && word[1] != 'u' &&
                               word[1] != 'C' && word.find('i') != word.npos);
                     });
}

/// setsid --wait
bool waits(const std::vector<std::string>& words, std::size_t first, std::size_t end) {
  return std::any_of(words.begin() + static_cast<std::ptrdiff_t>(first),
                     words.begin() + static_cast<std::ptrdiff_t>(end), [](const std::string& word) {
                       return word == "--wait" || (word[0] == '-' && word[1] != '-' && word.find('w') != word.npos);
                     });
}

/// Where the program stands behind the starter at `at`; nothing if that cannot be seen.
std::optional<std::size_t> behind(const std::vector<std::string>& words, std::size_t at, const starter& s,
                                  std::string& why_not) {
  std::size_t from = at + 1;
  if (s.name == "setarch" && from < words.size() && words[from][0] != '-') ++from;  // the name of an architecture
  auto next = after_options(words, from, s);
  if (!next) return next;
  std::size_t to = *next;
  if (s.name == "env") {
    if (to < words.size() && words[to] == "-") ++to;
    while (to < words.size() && is_assignment(words[to])) ++to;
    if (to < words.size() && clears_environment(words, from, to) && is_for_exec(words[to]))
      why_not = "env -i takes away what tells the nodes of their job: name what is to go (env -u NAME)";
  }
  to += s.operands;
  if (s.name == "setsid" && to < words.size() && !waits(words, from, to) &&
      (is_for_exec(words[to]) || uses_quire(words[to])))
    why_not = "setsid does not wait for what it starts, and a node ends with what was started on it: give it --wait";
  return to < words.size() ? std::optional(to) : std::nullopt;
}

/// This command, wherever it lies, or another Quire's.
bool is_quire(const std::string& word) {
  const std::string path = program_path(word);
  std::error_code error;
  return fs::path(word).filename() == "quire" || (!path.empty() && fs::equivalent(path, "/proc/self/exe", error));
}

/// Behind `quire exec`: its own options, of which few take no value.
std::size_t behind_exec(const std::vector<std::string>& words, std::size_t at) {
  for (; at < words.size() && words[at].starts_with("--"); ++at) {
    if (words[at] == "--") return at + 1;
    const auto& word = words[at];
    if (word != "--any" && word != "--openmp" && word != "--help" && word.find('=') == std::string::npos) ++at;
  }
  return at;
}

bool is_exec(const std::vector<std::string>& words, std::size_t at) {
  return at + 1 < words.size() && words[at + 1] == "exec" && is_quire(words[at]);
}

/// The first bytes of a script; nothing of a program.
std::string script_of(const std::string& word) {
  const std::string path = program_path(word);
  std::error_code error;
  if (path.empty() || !fs::is_regular_file(path, error)) return {};
  std::string text(most_script_bytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text.find('\0') == text.npos ? text : std::string();
}

void add_words_of(std::string_view text, std::vector<std::string>& into) {
  constexpr std::string_view between = " \t\r\n\"'`;|&()<>{}";
  while (into.size() < most_looked_at) {
    const std::size_t first = text.find_first_not_of(between);
    if (first == text.npos) return;
    const std::size_t end = std::min(text.find_first_of(between, first), text.size());
    into.emplace_back(text.substr(first, end - first));
    text.remove_prefix(end);
  }
}

/// In the working folder, or where the word says.
std::string script_at(const std::string& word) { return script_of(word.find('/') != word.npos ? word : "./" + word); }

/// A shell, or an interpreter of another language, runs the first file among its arguments; make(1) its own.
void add_words_of_scripts(const std::vector<std::string>& words, std::vector<std::string>& into) {
  constexpr std::string_view interpreters[] = {"sh", "bash", "dash", "ksh", "zsh", "perl", "ruby", "python"};
  if (words.empty()) return;
  const std::string name = fs::path(words[0]).filename(), language = name.substr(0, name.find_first_of("0123456789."));
  std::vector<std::string> files;
  if (std::find(std::begin(interpreters), std::end(interpreters), language) != std::end(interpreters))
    files.assign(words.begin() + 1, words.end());
  if (name == "make") files = {"GNUmakefile", "makefile", "Makefile"};
  for (const auto& file : files)
    if (const std::string text = script_at(file); !text.empty()) return add_words_of(text, into);
}

}  // namespace

found_program find_program_in(const std::vector<std::string>& words) {
  found_program found;
  while (found.why_not.empty()) {
    if (is_exec(words, found.at)) {
      const std::size_t at = behind_exec(words, found.at + 2);
      if (at < words.size()) found = {at, true, found.at, {}};
      if (is_exec(words, at)) found.why_not = "quire exec stands there twice: leave one out";
      break;  // that is the program, whatever it is
    }
    if (found.at + 1 < words.size() && words[found.at + 1] == "run" && is_quire(words[found.at])) {
      found.why_not = "quire run stands there twice, and each node would start a job of its own: leave one out";
      break;
    }
    const starter* const s = starter_of(words[found.at]);
    const auto next = s != nullptr ? behind(words, found.at, *s, found.why_not) : std::nullopt;
    if (!next) break;
    found.at = *next;
  }
  return found;
}

std::string hidden_program(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  if (!words.empty()) add_words_of(script_of(words[0]), all);
  for (std::size_t i = 1; i < words.size(); ++i) add_words_of(words[i], all);
  add_words_of_scripts(words, all);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (is_exec(all, i)) return {};
  const auto found = std::find_if(all.begin(), all.end(), [](const std::string& word) {
    return word.find('/') != word.npos && word[0] != '-' && is_for_exec(word);
  });
  return found == all.end() ? std::string() : *found;
}

}  // namespace quire::tools
