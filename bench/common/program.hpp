// SPDX-License-Identifier: BSD-3-Clause
// What the main functions of the benchmarks share: reading the command line, and turning exceptions into an exit
// status.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>

namespace CLI {
class App;
}

namespace bench {

class program {
 public:
  explicit program(const std::string& about);
  ~program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  /// Options: what `value` holds before is the default.
  void add_number(const char* name, std::uint64_t& value, std::uint64_t least, std::uint64_t most, const char* about);
  void add_seconds(const char* name, double& value, const char* about);
  void add_size(const char* name, std::uint64_t& value, const char* about);
  void add_choice(const char* name, std::string& value, std::initializer_list<std::string> choices, const char* about);
  void add_text(const char* name, std::string& value, const char* about);
  void add_flag(const char* name, bool& value, const char* about);
  /// The option that all floors have: shm or tcp.
  void add_transport(std::string& value);

  /// Reads the command line, and does the work. Returns the exit status.
  int run(int argc, char** argv, const std::function<void()>& work);

 private:
  std::unique_ptr<CLI::App> options_;
};

}  // namespace bench
