// SPDX-License-Identifier: BSD-3-Clause
// exit(3) within a region, on any node, and quick_exit(3).
#pragma once

namespace quire::program {

/// Node 0, once: a thread that waits for other nodes' threads to call exit(3).
void watch_for_exits() noexcept;
/// Before the job ends.
void stop_watching() noexcept;
[[nodiscard]] bool is_exit_watcher() noexcept;
/// A thread of another node has called it, or quick_exit(3): node 0 ends the program. What this node has written comes
/// first. Or another thread was first.
enum class exit_kind { full, quick };
[[noreturn]] void exit_on_node_0(int status, exit_kind how = exit_kind::full) noexcept;

/// Before the program registers handlers of quick_exit(3): the job is to end after them.
void end_job_by_quick_exit() noexcept;

/// Whether exit(3) is another thread's affair already; else the caller's.
[[nodiscard]] bool is_exit_begun() noexcept;

}  // namespace quire::program
