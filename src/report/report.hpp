// SPDX-License-Identifier: BSD-3-Clause
// The record of this node for the report (QUIRE_REPORT): where calls of the API tell it what they waited for, and where
// it is written.
#pragma once

#include "runtime/runtime.hpp"
#include "base/clock.hpp"
#include "core/core.hpp"
#include "core/thread_state.hpp"
#include "record/recorder.hpp"

namespace quire::api {

/// A thread has waited in a call. Application threads.
inline void record_wait(runtime& r, record::wait kind, std::uint64_t begin_ns, std::uint64_t end_ns) noexcept {
  if (r.core->recorder == nullptr) return;
  core::thread_state& here = core::this_thread();
  r.core->recorder->on_wait(here.recorded, here.wants.thread, kind, begin_ns, end_ns);
}

/// From its construction to its destruction the thread waits. Reads the clock only where somebody wants the report.
class recorded_wait {
 public:
  recorded_wait(runtime& r, record::wait kind) noexcept
      : runtime_(r), kind_(kind), begin_ns_(r.core->recorder != nullptr ? base::now_ns() : 0) {}
  ~recorded_wait() {
    if (begin_ns_ != 0) record_wait(runtime_, kind_, begin_ns_, base::now_ns());
  }
  recorded_wait(const recorded_wait&) = delete;
  recorded_wait& operator=(const recorded_wait&) = delete;

 private:
  runtime& runtime_;
  record::wait kind_;
  std::uint64_t begin_ns_;
};

/// Begins the record, if the environment names a directory for it, which is made if it is not there. Whether the file
/// can be written is found out now.
[[nodiscard]] base::status begin_record(runtime& r);
/// The same of what happens, in order (QUIRE_EVENTS).
[[nodiscard]] base::status begin_events(runtime& r);
/// The calling thread's last event. Application thread.
void end_events(runtime& r);
/// Ends the record and writes it, once. All of the runtime is still there.
void write_record(runtime& r);

}  // namespace quire::api
