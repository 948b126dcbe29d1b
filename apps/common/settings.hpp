// SPDX-License-Identifier: BSD-3-Clause
// The command line of an application. Its settings derive from run_settings; it adds its own options to a command_line
// and lets parse() do the rest. CLI11 takes long to compile and is included by settings.cpp alone.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>

namespace CLI {
class App;
}

namespace apps {

/// How the elements of an array are shared: pages of them, or, if `chunk` is not 0, minipages with so many.
struct sharing {
  std::size_t chunk = 0;
  bool adaptive = false;  ///< a fault on one brings those of its page along that are used with it
  bool composed = false;  ///< where all elements are read in turn they come by pages all the same: in the natural view
                          ///< of the minipages
};

struct run_settings {
  int threads = 1;  ///< per node
  std::string consistency =
      "sequential";   ///< Quire only: of the arrays, "sequential", "release", "scan", "blocks" or "transactional"
  bool hints = true;  ///< Quire only: say beforehand what will be read and written
  bool check = false;
  bool progress = false;
  bool json = false;
};

class command_line {
 public:
  /// `variant`: "serial", "openmp" or "quire".
  command_line(const std::string& about, const std::string& variant);
  ~command_line();
  command_line(const command_line&) = delete;
  command_line& operator=(const command_line&) = delete;

  /// A number from `least` to `most` (int, unsigned, std::size_t, double). What `value` holds before is the default,
  /// and shown if `shown`.
  template <class T>
  void add(const char* name, T& value, T least, T most, const char* about, bool shown = true);
  void add_text(const char* name, std::string& value, const char* about);
  void add_choice(const char* name, std::string& value, std::initializer_list<std::string> choices, const char* about);

  /// Adds --unit, the sharing unit in KiB, to a "quire" variant; `standard` says what 0 stands for.
  void add_unit(std::size_t& unit_kib, const std::string& standard);
  /// Adds --sharing to a "quire" variant. `element`: its name; `bytes`: of one.
  void add_sharing(sharing& value, const std::string& element, std::size_t bytes, bool can_compose);
  /// Adds --no-hints to a "quire" variant.
  void add_hints(run_settings& wanted);
  /// The program has locks: it refuses --consistency blocks, within which threads of different nodes do not meet.
  void has_locks() { locks_ = true; }
  /// The program writes its arrays in transactions, if so wanted: it takes --consistency transactional.
  void has_transactions() { transactions_ = true; }
  [[nodiscard]] bool is_quire() const { return variant_ == "quire"; }

  /// Adds --threads (not to a "serial" variant), --consistency (to a "quire" variant), --check with the given
  /// description, --progress and
  /// --json, and reads the command line. Prints and exits on --help and on errors.
  void parse(run_settings& wanted, const std::string& check_about, int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> options_;
  std::string variant_;
  bool locks_ = false, transactions_ = false;
};

}  // namespace apps
