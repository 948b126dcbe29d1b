// SPDX-License-Identifier: BSD-3-Clause
// The process's one runtime: what stands between the C API and the layers. Every body of the API begins with `enter()`.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/range.hpp"
#include "start/wire_choice.hpp"
#include "base/detail.hpp"
#include "base/options.hpp"
#include "bootstrap/bootstrap.hpp"
#include "engine/engine.hpp"
#include "region/registry.hpp"

namespace quire::api {

class code_service;
class container_service;
class exit_service;
class failure_service;
class gc_service;
class mounting;
class name_service;
class pointer_check;
class thread_service;

struct runtime {
  base::option_values options;
  std::uint64_t base = 0, bytes = 0;  ///< the shared range
  std::unique_ptr<bootstrap::bootstrap> job;
  std::unique_ptr<engine::engine> node;
  quire::core::core* core = nullptr;  ///< of `node`
  std::unique_ptr<region::registry> regions;
  std::unique_ptr<name_service> names;
  std::unique_ptr<thread_service> threads;
  std::unique_ptr<code_service> code;
  std::unique_ptr<exit_service> exits;
  std::unique_ptr<failure_service> failures;
  std::unique_ptr<gc_service> gc;
  std::unique_ptr<container_service> containers;
  std::unique_ptr<pointer_check> pointers;      ///< null: not asked for
  std::unique_ptr<mounting> mounts;             ///< containers as files
  wire_account messages{};                      ///< how they go
  std::vector<heap::allocation> allocations{};  ///< on units that moved often: report/sharing.cpp

  runtime();
  ~runtime();
};

/// The running runtime; null with the reason before the start, after the end, and in a forked child.
[[nodiscard]] runtime* enter(base::status& why) noexcept;

/// The running runtime or null, for contexts that must not fail (interposed calls, counters).
[[nodiscard]] runtime* current() noexcept;

/// At the start, and at the end.
void set_current(runtime* r) noexcept;
/// From now on a child of fork(2) has no runtime: is_forked() there.
void watch_forks() noexcept;
[[nodiscard]] bool is_forked() noexcept;

/// Whether the caller's stack lies in shared memory. What the driver, or the kernel, is to write must not lie there.
[[nodiscard]] inline bool on_shared_stack() noexcept { return calls::is_shared(__builtin_frame_address(0)); }
/// Of a call that is not made from there: why not.
[[nodiscard]] quire_status refuse_shared_stack() noexcept;

}  // namespace quire::api

/// Opens the body of an API call: `r` is the runtime, or the call returns why there is none.
#define QUIRE_ENTER(r)                              \
  ::quire::base::clear_detail();                    \
  ::quire::base::status r##_why;                    \
  auto* const r = ::quire::api::enter(r##_why);     \
  if (r == nullptr) return r##_why.code();          \
  if (::quire::api::on_shared_stack()) [[unlikely]] \
  return ::quire::api::refuse_shared_stack()
