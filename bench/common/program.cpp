// SPDX-License-Identifier: BSD-3-Clause
// The only place that includes CLI11, which takes long to compile.
#include "common/program.hpp"

#include <cstdio>
#include <exception>
#include <set>

#include <CLI/CLI.hpp>

namespace bench {

program::program(const std::string& about) : options_(std::make_unique<CLI::App>(about)) {}
program::~program() = default;

void program::add_number(const char* name, std::uint64_t& value, std::uint64_t least, std::uint64_t most,
                         const char* about) {
  options_->add_option(name, value, about)->check(CLI::Range(least, most))->capture_default_str();
}

void program::add_seconds(const char* name, double& value, const char* about) {
  options_->add_option(name, value, about)->check(CLI::Range(0.1, 3600.0))->capture_default_str();
}

void program::add_size(const char* name, std::uint64_t& value, const char* about) {
  options_->add_option(name, value, about)->transform(CLI::AsSizeValue(false))->capture_default_str();
}

void program::add_choice(const char* name, std::string& value, std::initializer_list<std::string> choices,
                         const char* about) {
  options_->add_option(name, value, about)->check(CLI::IsMember(std::set<std::string>(choices)))->capture_default_str();
}

void program::add_text(const char* name, std::string& value, const char* about) {
  options_->add_option(name, value, about)->capture_default_str();
}

void program::add_flag(const char* name, bool& value, const char* about) { options_->add_flag(name, value, about); }

void program::add_transport(std::string& value) {
  add_choice("--transport", value, {"shm", "tcp"}, "how the two sides talk");
}

int program::run(int argc, char** argv, const std::function<void()>& work) {
  try {
    options_->parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return options_->exit(e);
  }
  try {
    work();
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 1;
  }
}

}  // namespace bench
