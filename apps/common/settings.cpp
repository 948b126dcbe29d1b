// SPDX-License-Identifier: BSD-3-Clause
// Called once at the start of a run. The only place of the applications that includes CLI11.
#include "common/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "common/partition.hpp"

namespace apps {

command_line::command_line(const std::string& about, const std::string& variant)
    : options_(std::make_unique<CLI::App>(about + " (" + variant + ")")), variant_(variant) {}
command_line::~command_line() = default;

template <class T>
void command_line::add(const char* name, T& value, T least, T most, const char* about, bool shown) {
  auto* const option = options_->add_option(name, value, about);
  // CLI::Range lets pass what is not a number.
  option->check(
      [](const std::string& text) {
        return std::isnan(std::strtod(text.c_str(), nullptr)) ? text + " is no number" : "";
      },
      "");
  option->check(CLI::Range(least, most));
  if (shown) option->capture_default_str();
}
template void command_line::add(const char*, int&, int, int, const char*, bool);
template void command_line::add(const char*, unsigned&, unsigned, unsigned, const char*, bool);
template void command_line::add(const char*, std::size_t&, std::size_t, std::size_t, const char*, bool);
template void command_line::add(const char*, double&, double, double, const char*, bool);

void command_line::add_text(const char* name, std::string& value, const char* about) {
  options_->add_option(name, value, about);
}

void command_line::add_choice(const char* name, std::string& value, std::initializer_list<std::string> choices,
                              const char* about) {
  options_->add_option(name, value, about)
      ->transform(CLI::IsMember(std::set<std::string>(choices), CLI::ignore_case))
      ->capture_default_str();
}

void command_line::parse(run_settings& wanted, const std::string& check_about, int argc, char** argv) {
  if (variant_ != "serial") add("--threads", wanted.threads, 1, 1024, is_quire() ? "threads per node" : "threads");
  if (is_quire()) {
    const std::string about =
        "of the shared arrays; blocks: sequential, but for parallel blocks between barriers; scan: release, "
        "written pages are found by scans";
    if (transactions_) {
      add_choice("--consistency", wanted.consistency, {"sequential", "release", "scan", "blocks", "transactional"},
                 (about + "; transactional: they are written in transactions").c_str());
    } else {
      add_choice("--consistency", wanted.consistency, {"sequential", "release", "scan", "blocks"}, about.c_str());
    }
  }
  options_->add_flag("--check", wanted.check, check_about);
  options_->add_flag("--progress", wanted.progress, "show progress on standard error");
  options_->add_flag("--json", wanted.json, "print the result as JSON");
  try {
    options_->parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::exit(options_->exit(e));
  }
  if (!locks_ || wanted.consistency != "blocks") return;
  std::fputs("--consistency blocks: parallel blocks are between barriers, not in a program with locks\n", stderr);
  std::exit(1);
}

void command_line::add_unit(std::size_t& unit_kib, const std::string& standard) {
  if (is_quire())
    options_->add_option("--unit", unit_kib, "sharing unit in KiB; 0: " + standard)
        ->check(CLI::IsMember(std::set<std::size_t>{0, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048}));
}

void command_line::add_sharing(sharing& value, const std::string& element, std::size_t bytes, bool can_compose) {
  if (!is_quire()) return;
  const std::size_t most = most_minipage_bytes / bytes;
  const auto take = [&value, most, can_compose](const std::string& text) {
    constexpr std::string_view chunk = "chunk=";
    value = {};
    if (text == "pages") return true;
    value = {.chunk = 1, .adaptive = text == "adaptive", .composed = text == "composed"};
    if (text == "minipages" || value.adaptive || (value.composed && can_compose)) return true;
    const auto [end, error] =
        std::from_chars(text.data() + std::min(chunk.size(), text.size()), text.data() + text.size(), value.chunk);
    return text.starts_with(chunk) && error == std::errc() && end == text.data() + text.size() && value.chunk >= 1 &&
           value.chunk <= most;
  };
  options_->add_option_function<std::string>(
      "--sharing",
      [take](const std::string& text) {
        if (!take(text)) throw CLI::ValidationError("--sharing", text + " is none of its choices");
      },
      fmt::format(
          "what moves between nodes: pages (the default), minipages (each {0}), adaptive (each {0}, and with it those "
          "that are used together), "
          "chunk=N (N of them, 1 to {1}){2}",
          element, most,
          can_compose ? fmt::format(", composed (each {0}, but pages where all are read in turn)", element) : ""));
}

void command_line::add_hints(run_settings& wanted) {
  if (is_quire())
    options_->add_flag("!--no-hints", wanted.hints, "no prefetching: what others wrote comes by page faults");
}

}  // namespace apps
