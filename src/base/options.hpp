// SPDX-License-Identifier: BSD-3-Clause
// The options of Quire: one table of environment variables with type, default, meaning and legal values. The runtime
// reads it once at the start, the `quire` command before it starts anything and for `quire info --options`.
// Not for fault context: messages are strings.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace quire::base {

enum class option : int {
  transport,
  net_devices,
  encrypt,
  ucx,
  detect,
  pool,
  pool_dir,
  pool_fill,
  pool_link,
  host_frames,
  crash_dir,
  fault_trace,
  range,
  base,
  spin_us,
  peer_timeout,
  on_failure,
  read_ahead,
  learn_writes,
  pin_limit,
  replicas,
  memory_limit,
  cache_limit,
  page_out_dir,
  write_back,
  io_timeout,
  checkpoint_keep,
  consistency,
  commit,
  restart_every,
  orders,
  move_homes,
  updates,
  migratory,
  plans,
  lock_plans,
  read_lines,
  write_ahead,
  twin_limit,
  unit,
  heap_views,
  heap_grouping,
  free_batch,
  sharing,
  report,
  events,
  delay,
  mount,
  mount_cache,
  check,
  log,
  nodes,
  tag,
  rendezvous,
  rank,
  size,
  secret,
  secret_file,
  rendezvous_timeout
};
inline constexpr std::size_t option_count = 59;

enum class option_type : int { choice, flag, number, bytes, address, path, text };

/// What an option is for: programs that people run, starts without a launcher, or single features, measurements and
/// tests, where the defaults are good for programs.
enum class option_use : int { programs, starts, experiments };

/// The number behind the word "auto".
inline constexpr std::int64_t automatic_value = -1;

struct option_bounds {
  std::int64_t least = 0, most = 0;
  std::int64_t multiple = 1;  ///< the value must be a multiple of this
  bool power_of_two = false;
  std::optional<std::int64_t> besides{};  ///< one more value, beside those: automatic_value, or 0
};

/// One row of the table. The value of a choice is the position of its word in `legal`.
struct option_row {
  option id;
  const char* variable;  ///< as in the environment: QUIRE_READ_AHEAD
  option_use use;
  option_type type;
  const char* standard;  ///< the default, as one would write it
  const char* legal;     ///< for people; for a choice the words, separated by '|'
  const char* meaning;   ///< one line
  option_bounds bounds;
};

// What the choices mean, in the order of the words of their rows.
enum class transport_choice : int { automatic, shm, tcp };
enum class ucx_choice : int { automatic, system };
enum class detect_choice : int { automatic, userfault, thread, segv };
enum class pool_choice : int { memfd, file, posix, sysv, mdup, fork };
enum class consistency_choice : int { sequential, release, transactional };
enum class commit_choice : int { owners, token };
enum class fill_choice : int { truncate, write };
enum class failure_choice : int { end, notify };
enum class check_choice : int { none, pointers, minipages, races, all_races };
enum class link_choice : int { ring, socket };
inline constexpr std::int64_t spin_automatic = -1;

/// A value for every option: the defaults, until read_options() finds others.
class option_values {
 public:
  option_values() noexcept;
  [[nodiscard]] std::int64_t number(option which) const noexcept { return value_[index(which)]; }
  [[nodiscard]] bool flag(option which) const noexcept { return number(which) != 0; }
  /// For choices: transport_choice, detect_choice, pool_choice, log_level.
  template <class Choice>
  [[nodiscard]] Choice choice(option which) const noexcept {
    return static_cast<Choice>(number(which));
  }
  /// For paths and texts; the default if it was not given.
  [[nodiscard]] const std::string& text(option which) const noexcept { return text_[index(which)]; }
  /// Whether the user asked for it, so that it wins over what the program says.
  [[nodiscard]] bool given(option which) const noexcept { return given_[index(which)]; }
  void set(option which, std::int64_t value) noexcept {
    value_[index(which)] = value;
    given_[index(which)] = true;
  }
  void set(option which, std::string_view text) {
    text_[index(which)] = text;
    given_[index(which)] = true;
  }

 private:
  static std::size_t index(option which) noexcept { return static_cast<std::size_t>(which); }
  std::array<std::int64_t, option_count> value_{};
  std::array<std::string, option_count> text_{};
  std::array<bool, option_count> given_{};
};

[[nodiscard]] std::span<const option_row> option_table() noexcept;
[[nodiscard]] const option_row& row_of(option which) noexcept;

/// Whether a number may be the value of an option.
[[nodiscard]] bool is_legal(const option_row& row, std::int64_t value) noexcept;

/// The row for a name written in any of the ways QUIRE_READ_AHEAD, read_ahead, read-ahead; nullptr if there is none.
[[nodiscard]] const option_row* find_option(std::string_view name);
/// The one of `words` that is nearest to a mistyped one; empty if none resembles it.
[[nodiscard]] std::string_view nearest_word(std::string_view mistyped, std::span<const std::string_view> words);
/// "QUIRE_X is not an option of Quire; did you mean ...": the same sentence wherever a name is refused.
[[nodiscard]] std::string unknown_option_text(std::string_view name);

/// The value that a text stands for. QUIRE_BAD_OPTION with a sentence in `why`, and the nearest right value, if it is
/// not allowed.
[[nodiscard]] result<std::int64_t> parse_option(const option_row& row, std::string_view text, std::string& why);

/// All options from an environment ("NAME=value" strings, ended by a null pointer). An empty value means the default.
/// QUIRE_BAD_OPTION with a sentence in `why` for a bad value or an unknown QUIRE_ variable.
[[nodiscard]] result<option_values> read_options(const char* const* environment, std::string& why);

/// Variables that are no options: by these `quire run` tells a node its place, and QUIRE_FAIL serves the fault tests.
inline constexpr const char* job_descriptor_variable = "QUIRE_JOB_FD";
inline constexpr const char* job_node_variable = "QUIRE_JOB_NODE";
inline constexpr const char* job_nodes_variable = "QUIRE_JOB_NODES";
inline constexpr const char* job_local_variable = "QUIRE_JOB_LOCAL";  ///< nodes on the host of this one
inline constexpr std::array<const char*, 4> job_variables = {job_descriptor_variable, job_node_variable,
                                                             job_nodes_variable, job_local_variable};
/// The `quire run`, or its agent, that has started the process (os::own_mark); stays for what the process starts.
inline constexpr const char* launcher_variable = "QUIRE_RUN";
inline constexpr std::array<std::string_view, 6> internal_variables = {job_descriptor_variable, job_node_variable,
                                                                       job_nodes_variable,      job_local_variable,
                                                                       launcher_variable,       "QUIRE_FAIL"};
/// The most nodes of a job.
inline constexpr int most_nodes = 1024;

}  // namespace quire::base
