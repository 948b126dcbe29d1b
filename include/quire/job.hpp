// SPDX-License-Identifier: BSD-3-Clause
// The job: joining and leaving it, who am I, values by messages between all nodes, and the counters of this node.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <quire/error.hpp>
#include <quire/memory.hpp>
#include <quire/system.h>

namespace quire {

/// Number of this node, 0 ..; 0 outside a session.
[[nodiscard]] inline int node() noexcept { return quire_node(); }
/// Number of nodes in the job; 1 outside a session.
[[nodiscard]] inline int nodes() noexcept { return quire_nodes(); }

/// Where the survivors of a death go on (quire run --on-failure notify): has `handler` called for each node that is
/// lost, see quire_on_failure(). errc::unsupported where deaths end the job.
inline void on_failure(quire_failure_handler handler, void* context = nullptr) {
  detail::check(quire_on_failure(handler, context), "on_failure");
}
/// Whether a node is not known to be dead.
[[nodiscard]] inline bool alive(int node) noexcept { return quire_alive(node) != 0; }
/// How many are not known to be dead.
[[nodiscard]] inline int nodes_alive() noexcept { return quire_nodes_alive(); }

/// quire_end_at_exit(), for a handler of atexit(3): leaves the job though threads of this process may go on, which stay
/// where they are from then on. A session that is still there does nothing more.
inline void end_at_exit() { detail::check(quire_end_at_exit(), "end_at_exit"); }

namespace this_thread {
/// Number of the calling thread on its node: 0 for the one that started, then in order of first use.
[[nodiscard]] inline int number() noexcept { return quire_thread(); }
}  // namespace this_thread

/// What a program may choose at the start; the environment (QUIRE_*, see `quire info --options`) wins.
struct session_options {
  std::uint64_t range_bytes = 0;  ///< shared address range to reserve; 0: 1 TiB. Costs nothing until touched
  std::uint64_t base = 0;         ///< first shared address, the same on all nodes; 0: the default
  quire::detector detector = quire::detector::standard;
};

/// Membership in the job, from construction to destruction; one per process, made by the main thread before anything
/// else of Quire. The destructor waits until all nodes leave. When it runs because of an exception it does not: this
/// node cannot know what the others wait for, so it stays a member, and its exit ends the job for all with an error.
class session {
 public:
  explicit session(const session_options& options = {}) {
    const quire_options wanted{.size = sizeof(quire_options),
                               .range_bytes = options.range_bytes,
                               .base = options.base,
                               .detector = static_cast<int>(options.detector)};
    detail::check(quire_start(&wanted), "session");
  }
  ~session() {
    if (std::uncaught_exceptions() == exceptions_) quire_end();
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  [[nodiscard]] int node() const noexcept { return quire_node(); }
  [[nodiscard]] int nodes() const noexcept { return quire_nodes(); }

 private:
  int exceptions_ = std::uncaught_exceptions();
};

// ---- Values by messages: one thread of each node calls, in the same order -------------------------------------------

enum class operation { sum = QUIRE_SUM, min = QUIRE_MIN, max = QUIRE_MAX, product = QUIRE_PRODUCT };

/// What all_reduce() takes: numbers that the messages carry without loss.
template <class T>
concept reducible = std::same_as<T, double> || std::same_as<T, float> || std::signed_integral<T> ||
    (std::unsigned_integral<T> && sizeof(T) < sizeof(std::int64_t));

namespace detail {

/// Arrays of doubles and of std::int64_t as they are, others converted, some at a time.
template <reducible T>
void reduce(quire_group all, std::span<T> values, operation how) {
  const auto combine = [&](auto* data, std::size_t count) -> quire_status {
    const auto combined = static_cast<quire_operation>(how);
    const bool few = all.id == 0 && count <= 8;
    if constexpr (std::floating_point<T>)
      return few ? quire_reduce_f64(data, static_cast<std::uint32_t>(count), combined)
                 : quire_group_reduce_f64(all, data, count, combined);
    else
      return few ? quire_reduce_i64(data, static_cast<std::uint32_t>(count), combined)
                 : quire_group_reduce_i64(all, data, count, combined);
  };
  using carried = std::conditional_t<std::floating_point<T>, double, std::int64_t>;
  if constexpr (std::same_as<T, carried>) {
    check(combine(values.data(), values.size()), "reduce");
  } else {
    constexpr std::size_t most = 8192;
    std::vector<carried> buffer(std::min(most, values.size()));
    std::size_t done = 0;
    quire_status worst = QUIRE_OK;  // a part that a death has taken from this thread is no reason to leave the others
                                    // alone with the rest
    do {
      const auto part = values.subspan(done, std::min(most, values.size() - done));
      std::copy(part.begin(), part.end(), buffer.begin());
      const quire_status why = combine(buffer.data(), part.size());
      if (why != QUIRE_LOST) check(why, "reduce");
      if (worst == QUIRE_OK) worst = why;
      std::transform(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(part.size()), part.begin(),
                     [](carried value) { return static_cast<T>(value); });
      done += part.size();
    } while (done < values.size());
    check(worst, "reduce");
  }
}

}  // namespace detail

/// Combines the values of all nodes, element by element; afterwards every node has the result in `values`. Of any size;
/// the same number of elements on all nodes.
template <reducible T>
void all_reduce(std::span<T> values, operation how) {
  detail::reduce(quire_group{0}, values, how);
}

/// The same for one value: `const double slowest = quire::all_reduce(seconds, quire::operation::max)`.
template <reducible T>
[[nodiscard]] T all_reduce(T value, operation how) {
  all_reduce(std::span<T>(&value, 1), how);
  return value;
}

/// True on all nodes if `value` is true on all nodes.
[[nodiscard]] inline bool all_agree(bool value) { return all_reduce<int>(value ? 1 : 0, operation::min) != 0; }

/// Gives the elements of an array of node `root` to all nodes; as many on all.
template <class T>
void broadcast_values(std::span<T> values, int root = 0) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr std::size_t few = 192;  // what quire_broadcast() takes
  const auto from = static_cast<unsigned>(root);
  const std::size_t bytes = values.size_bytes();
  detail::check(bytes <= few ? quire_broadcast(values.data(), static_cast<std::uint32_t>(bytes), root)
                             : quire_group_broadcast({0}, values.data(), bytes, from),
                "broadcast");
}

/// Gives the value of node `root` to all nodes. Handles, pointers and spans travel well; pointers to private memory do
/// not.
template <class T>
[[nodiscard]] T broadcast(T value, int root = 0) {
  broadcast_values(std::span<T>(&value, 1), root);
  return value;
}

/// Lets one node make something and gives it to all:
///     auto grid = quire::from_node(0, [] { return quire::make_shared_array<double>(1000); });
///     auto lock = quire::from_node(0, quire::mutex::create);
template <class Make>
[[nodiscard]] auto from_node(int root, Make&& make) {
  std::invoke_result_t<Make> made{};
  if (quire_node() == root) made = std::forward<Make>(make)();
  return broadcast(made, root);
}

// ---- Checkpoint and restart
// -------------------------------------------------------------------------------------------

/// Writes a checkpoint of the shared memory to a directory: a barrier of the job, see quire_checkpoint(). What was
/// there before stays until this one is complete; an error leaves it, and the job, as they were.
inline void checkpoint(const std::string& path) { detail::check(quire_checkpoint(path.c_str()), "checkpoint"); }

/// Goes on from the newest checkpoint in a directory, see quire_restore(); false if there is none. All nodes call it,
/// right after the session has begun.
[[nodiscard]] inline bool restore(const std::string& path) {
  const quire_status status = quire_restore(path.c_str());
  if (status == QUIRE_NOT_FOUND) return false;
  detail::check(status, "restore");
  return true;
}

// ---- Numbers --------------------------------------------------------------------------------------------------------

/// The counters of this node since the start.
[[nodiscard]] inline quire_counters counters() {
  quire_counters now{};
  now.size = sizeof now;
  detail::check(quire_counters_read(&now), "counters");
  return now;
}

}  // namespace quire
