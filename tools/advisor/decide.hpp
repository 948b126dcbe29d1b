// SPDX-License-Identifier: BSD-3-Clause
// What `quire run --auto` tries, keeps and takes back: only settings that leave the meaning of a program as it is, one
// at a time, judged by the time of whole runs. Pure: what has been recorded and how long runs took are inputs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quire::tools::advisor {

/// What the records of a run say.
struct evidence {
  std::uint64_t threads_ns = 0;               ///< how long threads were there, all together
  std::uint64_t fault_ns = 0, waited_ns = 0;  ///< in faults; in all waits
  std::uint64_t false_small_ns = 0;  ///< for units of the heap that nodes share falsely and that hold small allocations
  std::uint64_t false_other_ns = 0;  ///< the same elsewhere: within arrays, in static data
  std::uint64_t heap_fault_ns = 0;
  std::uint64_t heap_units = 0;  ///< that threads waited for
  /// Pieces of this size of them, and how many of them have been written by several nodes: as units they would move
  /// between these.
  struct pieces {
    std::uint64_t bytes = 0, used = 0, contended = 0;
  };
  std::vector<pieces> heap_pieces{};
  std::uint64_t heap_unit_bytes = 0;
  bool stock = false;           ///< the program knows nothing of Quire, and can call nothing of it
  bool places_threads = false;  ///< it makes threads itself, which begin where --place says
  unsigned nodes = 1;
  unsigned threads = 0;        ///< that wait for pages
  std::uint64_t nodes_ns = 0;  ///< how long nodes were there, all together
  std::uint64_t read_ahead_units = 0, read_ahead_wasted = 0;
  std::uint64_t exclusive_reads = 0, exclusive_wasted = 0, double_faults = 0;
};

/// Options that may be tried: none of them changes what a program computes.
inline constexpr const char* tuned_options[] = {"unit", "heap_views", "read_ahead", "learn_writes"};
/// What else may be: options of `quire run` itself, of programs that know nothing of nodes.
inline constexpr const char *tuned_memory = "memory", *tuned_place = "place", *tuned_nodes = "nodes";

/// An option of Quire and its value, as `--set` takes them, or one of `quire run` itself.
struct setting {
  std::string option, value;
  bool operator==(const setting&) const = default;
};
/// As `quire run` takes it: --set unit=64K, --memory auto, -n 2.
[[nodiscard]] std::vector<std::string> words_of(const setting& s);
struct proposal {
  setting what;
  std::string why;  ///< "because ..."
};
/// Those that are worth a try, the most promising first. Options of `closed` are left alone: the user has set them.
[[nodiscard]] std::vector<proposal> propose(const evidence& from, std::span<const std::string> closed);

/// A setting that was tried, is being tried, or will be.
struct trial {
  setting what;
  std::string why;
  enum class end { planned, open, kept, taken_back } how = end::planned;
  std::vector<double> seconds{};  ///< of each run with it
};
/// All that is known of a program on so many nodes.
struct history {
  std::string job;              ///< which program, arguments and nodes
  double first_seconds = 0;     ///< as the program is: the fastest run; 0: none yet
  std::vector<double> base{};   ///< runs with what is kept
  std::vector<trial> trials{};  ///< those that have ended, at most one that is open, those that are planned
};

/// What the next run is to have: what is kept, and what is being tried.
[[nodiscard]] std::vector<setting> next_run(const history& of);
/// The user has set the options of `closed` since: trials of theirs go. What was measured with one that was kept is of
/// no use any more: then it begins anew. A sentence if another trial is open now, or if it begins anew; else empty.
[[nodiscard]] std::string leave_alone(history& of, std::span<const std::string> closed);
/// Whether the next run would find out nothing new.
[[nodiscard]] bool is_done(const history& of);
/// A run with next_run() has ended well. Sentences for people.
[[nodiscard]] std::vector<std::string> on_run(history& of, double seconds, const evidence& told,
                                              std::span<const std::string> closed);
/// It has failed: a setting that was tried is taken back.
[[nodiscard]] std::vector<std::string> on_failure(history& of, int exit_status);
/// No job can have next_run(): a setting that was tried is taken back. None: nothing is being tried.
[[nodiscard]] std::vector<std::string> on_refused(history& of);
/// How long a run may take that tries something, so that what is hopeless ends. 0: it tries nothing.
[[nodiscard]] double most_seconds(const history& of);
/// A run that tried something had not ended by then.
[[nodiscard]] std::vector<std::string> on_slow(history& of, double seconds);
/// Words of the user's after "quire run", as a shell takes them, each part with a space before it.
struct own_words {
  std::string nodes{}, rest{};  ///< -n; other options, program and arguments
};
/// How to have what is kept without --auto; none if nothing is. `stock`: as in `evidence`.
[[nodiscard]] std::vector<std::string> how_to_write(const history& of, bool stock, const own_words& own);

/// What no setting can do, and the program could.
[[nodiscard]] std::vector<std::string> hints(const evidence& from);

/// As a text, and back; nothing if it is none.
[[nodiscard]] std::string write(const history& of);
[[nodiscard]] std::optional<history> read(const std::string& text);

}  // namespace quire::tools::advisor
