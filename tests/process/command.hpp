// SPDX-License-Identifier: BSD-3-Clause
// A command under test: started with its output captured, never waited for without a limit, and followed by a search
// for what it has left behind. Used by the tests of this folder.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace quire::test {

struct command_result {
  int status = -1;  ///< exit status, or 128 + signal
  std::string out, err;
  double seconds = 0;
  bool timed_out = false;
};

class command {
 public:
  using settings = std::vector<std::pair<std::string, std::string>>;
  /// Starts it, with `input` as standard input. Every process that comes of it carries a mark in its environment.
  explicit command(const std::vector<std::string>& arguments, const settings& environment = {},
                   const std::string& input = "");
  ~command();
  command(const command&) = delete;
  command& operator=(const command&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void signal(int number) const;
  /// Reads output until standard output holds `text`; false after `limit_seconds` or at its end.
  [[nodiscard]] bool wait_for(const std::string& text, double limit_seconds);
  /// The same, until `there` says so of the output.
  [[nodiscard]] bool wait_until(const std::function<bool(const std::string& out)>& there, double limit_seconds);
  /// Waits for its end; kills it after `limit_seconds`.
  [[nodiscard]] command_result finish(double limit_seconds);
  [[nodiscard]] const std::string& out() const noexcept { return out_; }

  /// Pids of processes that carry the mark, zombies excluded. Waits up to `limit_seconds` for there to be none.
  [[nodiscard]] std::vector<pid_t> left_behind(double limit_seconds) const;

 private:
  bool read_output(int timeout_ms);
  pid_t pid_ = -1;
  int out_pipe_ = -1, err_pipe_ = -1;
  std::string out_, err_, mark_;
  double begin_ = 0;
};

/// Each part of `text` that matches `pattern`, with its groups: [0] is the part. Here, as std::regex takes a second to
/// compile.
[[nodiscard]] std::vector<std::vector<std::string>> matches_of(const std::string& text, const std::string& pattern);

/// The whole of the above: start, finish, and check that nothing is left behind.
[[nodiscard]] command_result run(const std::vector<std::string>& arguments, const command::settings& environment = {},
                                 const std::string& input = "", double limit_seconds = 60);

}  // namespace quire::test
