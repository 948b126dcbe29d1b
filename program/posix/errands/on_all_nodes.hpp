// SPDX-License-Identifier: BSD-3-Clause
// What a process has once, and here each node has: a call that changes it is made on all nodes, one after the other
// from node 0 on, before it returns. One such call at a time in the job.
#pragma once

#include "os/signals_held.hpp"
#include "program/job/shared_state.hpp"
#include "program/posix/errands/errand.hpp"
#include "program/posix/errands/locks.hpp"
#include "program/posix/errands/where.hpp"

namespace quire::program {

/// Whether a call of the program changes what other nodes have, too.
[[nodiscard]] inline bool is_for_all_nodes(const void* caller) noexcept {
  return files::apart && is_of_program(caller) && files::is_node();
}

/// The caller alone changes what all nodes have, as long as this lives. A handler that comes meanwhile would wait for
/// its own thread.
class process_turn {
 public:
  process_turn() noexcept {
    const int saved = errno;
    lock(shared().process);
    errno = saved;
  }
  process_turn(const process_turn&) = delete;
  process_turn& operator=(const process_turn&) = delete;
  ~process_turn() {
    const int saved = errno;
    unlock(shared().process);
    errno = saved;
  }

 private:
  os::signals_held none_;
};

/// call(texts...) on a node, to which the texts travel. Null stays null.
template <class Call, class... Text>
auto call_with_texts(int node, const Call& call, Text... texts) noexcept {
  if (node == job().node) return call(texts...);
  errand e(node);
  return [&e, &call](auto... there) { return e.run([=] { return call(there...); }); }(e.take(texts)...);
}

/// A node has failed where others have not: says so, on standard error. `consequence`: what comes of it.
void tell_difference(int node, const char* call, int error, const char* consequence) noexcept;

[[nodiscard]] inline bool has_failed(int result) noexcept { return result != 0; }

/// The same on all nodes; what it gives on this one. Where node 0 fails, others are not asked. Where another one does,
/// a line says so, and the call fails with its reason.
template <class Call, class... Text>
auto call_on_all(const char* name, const Call& call, Text... texts) noexcept {
  auto own = call_with_texts(0, call, texts...);
  int error = errno;
  bool failed = has_failed(own);
  for (int node = 1; node < job().nodes && !failed; ++node) {
    const auto result = call_with_texts(node, call, texts...);
    failed = has_failed(result);
    if (failed) tell_difference(node, name, errno, "the nodes differ now");
    if (!failed && node != job().node) continue;
    own = result;
    error = errno;
  }
  errno = error;
  return own;
}

}  // namespace quire::program
