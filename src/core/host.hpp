// SPDX-License-Identifier: BSD-3-Clause
// What a core runs on. In a process: the threads of src/drive, and the machine's memory (src/engine). In the simulator:
// fibres that take turns, memory that is an array, and a clock that it moves itself (sim/whole).
#pragma once

#include <cstdint>
#include <memory>

#include "base/status.hpp"
#include "core/op.hpp"
#include "detect/detector.hpp"
#include "pool/pool.hpp"
#include "store/io.hpp"

namespace quire::core {

/// Gets operations done, and tells the time. One of them drives the core at a time: core::round() and core::execute().
class host {
 public:
  /// Nanoseconds, from whenever. Any thread.
  [[nodiscard]] virtual std::uint64_t now() const noexcept = 0;
  /// Has `o` executed, and waits until it is done. `timeout_ms` < 0: for ever. False when the time ran out: the op is
  /// still pending. `in_fault`: the thread is in a fault. Application thread.
  [[nodiscard]] virtual bool run(op& o, std::int64_t timeout_ms, bool in_fault) noexcept = 0;
  /// The same of an op that runs already.
  [[nodiscard]] virtual bool wait_for(op& o, std::int64_t timeout_ms, bool in_fault) noexcept = 0;
  /// The calling application thread has nothing to do for so long.
  virtual void pause(std::uint64_t ns) noexcept = 0;
  /// A thread is about to meet those of all other nodes: it will wait for what has been sent to it. Driver's thread.
  virtual void prepare_to_meet() noexcept = 0;
  /// Somebody is to drive although no thread asks for anything. Any thread.
  virtual void call() noexcept = 0;
  /// The same at a time; of several the latest counts. A host that looks now and then may leave it, until it calls
  /// core::set_clock(). Driver's thread.
  virtual void call_at(std::uint64_t ns) noexcept = 0;
  /// Whether there is anything that call_at() can set.
  [[nodiscard]] virtual bool has_timer() const noexcept = 0;
  /// Reads and writes for the node's stores.
  [[nodiscard]] virtual store::crew& crew() noexcept = 0;
  /// It will have something to do, if it has not yet: a region has a store of its own. Application thread.
  virtual void start_crew() noexcept {}
  /// This store gets threads of the crew for itself. Application thread.
  virtual void hire(store::store&) {}
  /// Faults come from this detector's descriptor from now on. Application thread.
  virtual void watch_faults(const detect::detector& from) noexcept = 0;

 protected:
  ~host() = default;
};

/// Memory and the protection of pages. Application thread, not in fault context.
class mechanisms {
 public:
  /// As pool::make().
  [[nodiscard]] virtual base::result<std::unique_ptr<pool::pool>> make_pool(
      const pool::settings& how, std::uint64_t address, std::uint64_t bytes, bool accessible,
      const pool::fine_views& fine, pool::view_kind view = pool::view_kind::shared) = 0;
  /// As detect::open().
  [[nodiscard]] virtual base::result<std::unique_ptr<detect::detector>> open_detector(detect::kind which) = 0;

 protected:
  ~mechanisms() = default;
};

}  // namespace quire::core
