// What the main functions of the benchmarks share: reading the command line, and turning exceptions into an exit status.
#pragma once

#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace bench {

/// Reads the command line, and runs `work`. Returns the exit status.
template <class Work>
int run(CLI::App& app, int argc, char** argv, Work&& work) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e);
  }
  try {
    work();
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}: {}\n", argv[0], e.what());
    return 1;
  }
}

/// The option that all floors have.
inline void add_transport(CLI::App& app, std::string& transport) {
  app.add_option("--transport", transport, "how the two sides talk")->check(CLI::IsMember({"shm", "tcp"}))->capture_default_str();
}

}  // namespace bench
