// SPDX-License-Identifier: BSD-3-Clause
// `quire info`: what this machine offers, what Quire will choose, the tables of options and counters, what is in a
// checkpoint, and how a program is linked.
#include <fmt/core.h>
#include <quire/quire.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/options.hpp"
#include "bootstrap/launcher/launcher.hpp"
#include "checkpoint_info.hpp"
#include "commands.hpp"
#include "core/counter_table.hpp"
#include "facts.hpp"
#include "program_info.hpp"

namespace quire::tools {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t text_columns = 120;

/// Prints a long text with its lines broken at spaces and indented.
void print_wrapped(std::string_view text, std::size_t indent) {
  while (text.size() + indent > text_columns) {
    std::size_t at = text.rfind(' ', text_columns - indent);
    if (at == text.npos || at == 0) break;
    fmt::print("{}\n{:{}}", text.substr(0, at), "", indent);
    text.remove_prefix(at + 1);
  }
  fmt::print("{}\n", text);
}

void print_facts(const std::vector<fact_group>& groups) {
  std::size_t width = 0;
  for (const auto& group : groups)
    for (const auto& fact : group.facts) width = std::max(width, fact.name.size());
  fmt::print("Quire {}\n", QUIRE_VERSION_STRING);
  for (const auto& group : groups) {
    fmt::print("\n{}\n", group.title);
    for (const auto& fact : group.facts) {
      fmt::print("  {:<{}}  ", fact.name, width);
      print_wrapped(fact.text, width + 4);
    }
  }
}

void print_facts_json(const std::vector<fact_group>& groups) {
  json document = {{"version", QUIRE_VERSION_STRING}};
  for (const auto& group : groups)
    for (const auto& fact : group.facts) document[group.key][fact.key] = fact.value;
  fmt::print("{}\n", document.dump(2, ' ', false, json::error_handler_t::replace));
}

const char* type_text(base::option_type type) {
  switch (type) {
    case base::option_type::choice:
      return "choice";
    case base::option_type::flag:
      return "flag";
    case base::option_type::number:
      return "number";
    case base::option_type::bytes:
      return "bytes";
    case base::option_type::address:
      return "address";
    case base::option_type::path:
      return "path";
    case base::option_type::text:
      return "text";
  }
  return "";
}

constexpr struct {
  base::option_use what;
  const char* name;
  const char* heading;
} option_uses[] = {
    {base::option_use::programs, "programs", "What programs need at most"},
    {base::option_use::starts, "starts", "Of nodes that no launcher starts"},
    {base::option_use::experiments, "experiments",
     "For single features, measurements and tests: the defaults are good for programs"},
};

void print_options() {
  fmt::print(
      "Environment variables; an empty one means the default. `quire run --set NAME=VALUE` sets one for a job, NAME\n"
      "written as here or short (read_ahead). Bytes may end in K, M, G or T.\n");
  for (const auto& use : option_uses) {
    fmt::print("\n{}\n", use.heading);
    for (const auto& row : base::option_table()) {
      if (row.use != use.what) continue;
      fmt::print("\n  {}\n      ", row.variable);
      print_wrapped(row.meaning, 6);
      fmt::print("      {}: {}; default {}\n", type_text(row.type), row.legal, row.standard[0] ? row.standard : "none");
    }
  }
}

void print_options_json() {
  json rows = json::array();
  for (const auto& row : base::option_table())
    rows.push_back({{"variable", row.variable},
                    {"for", option_uses[static_cast<std::size_t>(row.use)].name},
                    {"type", type_text(row.type)},
                    {"default", row.standard},
                    {"legal", row.legal},
                    {"meaning", row.meaning}});
  fmt::print("{}\n", rows.dump(2));
}

void print_counters() {
  fmt::print("Counters of a node: quire_counters_read(), and `quire run --stats`.\n");
  for (const auto& row : core::counter_table) {
    fmt::print("\n{}\n    ", row.name);
    print_wrapped(row.meaning, 4);
  }
}

void print_counters_json() {
  json rows = json::array();
  for (const auto& row : core::counter_table) rows.push_back({{"name", row.name}, {"meaning", row.meaning}});
  fmt::print("{}\n", rows.dump(2));
}

struct info_arguments {
  bool as_json = false, options = false, counters = false;
  std::string checkpoint{}, program{};
};

int info(const info_arguments& asked) {
  if (!asked.checkpoint.empty() && asked.program.empty()) return checkpoint_info(asked.checkpoint, asked.as_json);
  if (!asked.program.empty() && (asked.options || asked.counters || !asked.checkpoint.empty())) {
    fmt::print(stderr, "quire info: a program, and another table: ask for one of them\n");
    return bootstrap::launcher::launcher_failed;
  }
  if (!asked.program.empty()) return program_info(asked.program, asked.as_json);
  if (asked.options) {
    asked.as_json ? print_options_json() : print_options();
    return 0;
  }
  if (asked.counters) {
    asked.as_json ? print_counters_json() : print_counters();
    return 0;
  }
  std::string why;
  const auto options = base::read_options(environ, why);
  if (!options.ok()) {
    fmt::print(stderr, "quire info: {}\n", why);
    return bootstrap::launcher::launcher_failed;
  }
  const auto left_over = left_over_facts(options.value());  // before pools are tried, which remove segments themselves
  const std::vector<fact_group> groups = {machine_facts(),
                                          limit_facts(),
                                          userfault_facts(),
                                          transport_facts(),
                                          pool_facts(options.value()),
                                          consistency_facts(),
                                          pace_facts(),
                                          choice_facts(options.value()),
                                          left_over};
  asked.as_json ? print_facts_json(groups) : print_facts(groups);
  return 0;
}

}  // namespace

void add_info(CLI::App& quire, session& about) {
  auto* command = quire.add_subcommand("info", "Tell what this machine offers, and what Quire will choose");
  command->prefix_command(false);  // a program has no arguments here
  const auto asked = std::make_shared<info_arguments>();
  command->add_flag("--json", asked->as_json, "For programs");
  command->add_flag("--options", asked->options, "The table of options (environment variables) instead");
  command->add_flag("--counters", asked->counters, "The table of counters (quire run --stats) instead");
  command
      ->add_option("--checkpoint", asked->checkpoint,
                   "What is in the checkpoints of this directory, and whether they are whole")
      ->type_name("DIRECTORY");
  command->add_option("PROGRAM", asked->program,
                      "How this program is linked, what it needs of OpenMP, and how `quire run` would start it");
  command->callback([asked, &about] { about.command = [asked] { return info(*asked); }; });
}

}  // namespace quire::tools
