// SPDX-License-Identifier: BSD-3-Clause
#include "program_info.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "bootstrap/launcher/launcher.hpp"
#include "bootstrap/launcher/misspelt.hpp"
#include "exec_plan.hpp"
#include "memory_fact.hpp"

namespace quire::tools {
namespace {

using json = nlohmann::ordered_json;
using bootstrap::launcher::cannot_execute;
using bootstrap::launcher::command_not_found;

constexpr const char *by_exec = "exec", *as_threads = "threads";  ///< of start_fact: both by `quire exec`
constexpr std::size_t line_columns = 120, name_columns = 12;

const char* form_text(const elf_file& file) {
  if (file.what == elf_file::form::library) return "a library";
  if (file.what == elf_file::form::fixed_address)
    return file.is_static ? "a program at a fixed address, linked statically"
                          : "a program at a fixed address, dynamically linked";
  return file.is_static ? "a position-independent program, linked statically"
                        : "a position-independent program, dynamically linked";
}

/// Of the runtimes that it names.
std::vector<std::string> versions_of(const elf_file& file, const openmp_use& use) {
  std::vector<std::string> versions;
  for (const auto& one : file.needed_versions)
    if (std::find(use.runtimes.begin(), use.runtimes.end(), one.library) != use.runtimes.end())
      versions.push_back(one.version);
  std::sort(versions.begin(), versions.end());
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
  return versions;
}

/// How `quire run` starts it: a word for programs, a sentence for people.
struct start_fact {
  const char* word;
  std::string text;
};

start_fact start_of(const std::string& path, const elf_file& file, const openmp_use& use,
                    const std::optional<openmp_lack>& lack) {
  if (file.what == elf_file::form::library) return {"not", "not at all: it is a library"};
  if (links_quire(file)) return {"quire", "as it is: it uses Quire itself"};
  if (file.is_static && contains_runtime(path))
    return {"refused",
            "not at all: it has an OpenMP runtime in itself, in whose place Quire cannot be (link it without -static)"};
  if (file.is_static)
    return {"copies",
            "as copies that share nothing: in a program that is linked statically Quire cannot take the place of the "
            "OpenMP runtime"};
  if (use.runtimes.empty() && !is_for_threads(path, file))
    return {"copies", makes_threads(file)
                          ? "as copies that share nothing: it is the system's, or an interpreter, or MPI's (quire exec "
                            "--any places its threads on all nodes)"
                          : "as copies that share nothing: it needs no OpenMP runtime, and makes no threads"};
  if (lack && !(lack->functions.empty() && lack->versions.empty()))
    return {"refused", "not at all: it needs what this Quire lacks"};
  const auto plan = plan_exec(path, false);
  if (plan.status != 0) return {"refused", "not at all: " + plan.why};
  if (plan.has_own_malloc)
    return {"alone",
            "on one node only (-n 1), as it is: it has a malloc() of its own, whose memory nodes cannot share"};
  if (use.runtimes.empty()) return {as_threads, "by `quire exec`: the threads that it makes are placed on all nodes"};
  return {by_exec, "by `quire exec`: all nodes' threads form the team"};
}

struct program_facts {
  std::string path;
  elf_file file;
  std::vector<own_library> libraries;  ///< of its own, which need a runtime where it needs none itself; what they need
                                       ///< is in `use`, `versions` and `lack`
  openmp_use use;
  std::vector<std::string> versions;
  std::optional<openmp_lack> lack;  ///< nothing without a runtime, or where libraries are missing
  std::string unknown;              ///< then why
  start_fact start;
  std::optional<memory_fact> memory;  ///< of a program that `quire exec` starts
};

void add(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
  std::sort(to.begin(), to.end());
  to.erase(std::unique(to.begin(), to.end()), to.end());
}

void add_needs(program_facts& facts, const elf_file& file, const std::optional<openmp_libraries>& there) {
  const auto use = openmp_of(file);
  add(facts.use.runtimes, use.runtimes);
  add(facts.use.functions, use.functions);
  add(facts.versions, versions_of(file, use));
  if (use.runtimes.empty() || !there || !facts.unknown.empty()) return;
  const auto lack = lacking(file, *there, facts.unknown);
  if (!lack) return facts.lack.reset();
  if (!facts.lack) facts.lack.emplace();
  add(facts.lack->functions, lack->functions);
  add(facts.lack->versions, lack->versions);
}

program_facts facts_of(const std::string& path, elf_file file) {
  program_facts facts{path, std::move(file), {}, {}, {}, {}, {}, {}, {}};
  facts.libraries = openmp_libraries_of(path, facts.file);
  const bool any = !facts.libraries.empty() || !openmp_of(facts.file).runtimes.empty();
  const auto there = any ? find_openmp_libraries(facts.unknown) : std::nullopt;
  add_needs(facts, facts.file, there);
  for (const own_library& one : facts.libraries) add_needs(facts, one.file, there);
  facts.start = start_of(path, facts.file, facts.use, facts.lack);
  if (facts.start.word == by_exec || facts.start.word == as_threads) facts.memory = memory_for(path);
  return facts;
}

void print_row(std::string_view name, std::string_view text) {
  fmt::print("  {:<{}}  ", name, name_columns);
  constexpr std::size_t indent = name_columns + 4;
  while (text.size() + indent > line_columns) {
    const std::size_t at = text.rfind(' ', line_columns - indent);
    if (at == text.npos || at == 0) break;
    fmt::print("{}\n{:{}}", text.substr(0, at), "", indent);
    text.remove_prefix(at + 1);
  }
  fmt::print("{}\n", text);
}

std::string all_of(const std::vector<std::string>& words) {
  return words.empty() ? "none" : listed(words, words.size());
}

std::vector<std::string> paths_of(const std::vector<own_library>& libraries) {
  std::vector<std::string> paths;
  for (const auto& one : libraries) paths.push_back(one.path);
  return paths;
}

void print_text(const program_facts& facts) {
  fmt::print("{}\n", facts.path);
  print_row("form", form_text(facts.file));
  print_row("symbols",
            facts.file.has_symbol_table ? "not stripped" : "stripped: the sizes of static objects are not known");
  print_row("OpenMP", all_of(facts.use.runtimes));
  if (!facts.libraries.empty()) print_row("needed by", all_of(paths_of(facts.libraries)));
  print_row("quire run", facts.start.text);
  if (facts.memory) print_row("memory auto", facts.memory->text);
  if (facts.use.runtimes.empty()) return;
  print_row("versions", all_of(facts.versions));
  print_row("functions", all_of(facts.use.functions));
  if (!facts.lack) {
    print_row("lacking", "not known: " + facts.unknown);
    return;
  }
  std::vector<std::string> all = facts.lack->functions;
  all.insert(all.end(), facts.lack->versions.begin(), facts.lack->versions.end());
  print_row("lacking", all_of(all));
}

void print_json(const program_facts& facts) {
  json document = {
      {"path", facts.path},
      {"form", facts.file.what == elf_file::form::library         ? "library"
               : facts.file.what == elf_file::form::fixed_address ? "fixed_address"
                                                                  : "position_independent"},
      {"static", facts.file.is_static},
      {"stripped", !facts.file.has_symbol_table},
      {"needed", facts.file.needed},
      {"start", {{"how", facts.start.word}, {"text", facts.start.text}}},
      {"openmp", {{"runtimes", facts.use.runtimes}, {"versions", facts.versions}, {"functions", facts.use.functions}}}};
  if (!facts.libraries.empty()) document["openmp"]["libraries"] = paths_of(facts.libraries);
  if (facts.memory) document["memory_auto"] = {{"choice", facts.memory->word}, {"text", facts.memory->text}};
  if (facts.lack) {
    document["openmp"]["lacking"] = {{"functions", facts.lack->functions}, {"versions", facts.lack->versions}};
  } else if (!facts.unknown.empty()) {
    document["openmp"]["lacking"] = facts.unknown;
  }
  fmt::print("{}\n", document.dump(2, ' ', false, json::error_handler_t::replace));
}

}  // namespace

int program_info(const std::string& program, bool as_json) {
  const auto refuse = [](int status, const std::string& why) {
    fmt::print(stderr, "quire info: {}\n", why);
    return status;
  };
  const std::string path = program_path(program);
  if (path.empty() || ::access(path.c_str(), F_OK) != 0)
    return refuse(command_not_found, bootstrap::launcher::cannot_run_text(program, ENOENT));
  const auto answer = read_elf(path);
  if (!answer.file) return refuse(cannot_execute, path + " " + answer.why);
  const auto facts = facts_of(path, *answer.file);
  as_json ? print_json(facts) : print_text(facts);
  return 0;
}

}  // namespace quire::tools
