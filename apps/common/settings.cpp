// SPDX-License-Identifier: BSD-3-Clause
// Called once at the start of a run. The only place of the applications that includes CLI11.
#include "common/settings.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>

#include <CLI/CLI.hpp>

namespace apps {

command_line::command_line(const std::string& about, const std::string& variant)
    : options_(std::make_unique<CLI::App>(about + " (" + variant + ")")), variant_(variant) {}
command_line::~command_line() = default;

template <class T>
void command_line::add(const char* name, T& value, T least, T most, const char* about, bool shown) {
  auto* const option = options_->add_option(name, value, about);
  // CLI::Range lets pass what is not a number.
  option->check([](const std::string& text) { return std::isnan(std::strtod(text.c_str(), nullptr)) ? text + " is no number" : ""; }, "");
  option->check(CLI::Range(least, most));
  if (shown) option->capture_default_str();
}
template void command_line::add(const char*, int&, int, int, const char*, bool);
template void command_line::add(const char*, unsigned&, unsigned, unsigned, const char*, bool);
template void command_line::add(const char*, std::size_t&, std::size_t, std::size_t, const char*, bool);
template void command_line::add(const char*, double&, double, double, const char*, bool);

void command_line::add_text(const char* name, std::string& value, const char* about) { options_->add_option(name, value, about); }

void command_line::add_choice(const char* name, std::string& value, std::initializer_list<std::string> choices, const char* about) {
  options_->add_option(name, value, about)
      ->transform(CLI::IsMember(std::set<std::string>(choices), CLI::ignore_case))
      ->capture_default_str();
}

void command_line::parse(run_settings& wanted, const std::string& check_about, int argc, char** argv) {
  if (variant_ != "serial") add("--threads", wanted.threads, 1, 1024, is_quire() ? "threads per node" : "threads");
  if (is_quire())
    add_choice("--consistency", wanted.consistency, {"sequential", "release", "scan", "blocks"},
               "of the shared arrays; blocks: sequential, but for parallel blocks between barriers; scan: release, written pages are found by scans");
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

void command_line::add_hints(run_settings& wanted) {
  if (is_quire()) options_->add_flag("!--no-hints", wanted.hints, "no prefetching: what others wrote comes by page faults");
}

}  // namespace apps
