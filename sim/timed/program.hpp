// SPDX-License-Identifier: BSD-3-Clause
// Programs of the model: what the application thread of a node does, as a sequence of steps. Each is a coroutine:
//
//   program reader(unsigned node) {
//     co_yield write(0, node * 4096, 4096);  // bytes of region 0
//     co_yield barrier();
//     co_yield begin_measuring();
//     co_yield read(0, 0, 8192);
//     co_yield compute(50'000);
//     co_yield end_measuring();
//   }
//
// Reads and writes take no time by themselves, but for what they have to wait for: compute() says how long the work
// takes.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>

#include "sim/timed/prices.hpp"

namespace quire::timed {

enum class step_kind : std::uint8_t {
  compute,
  read,
  write,
  prefetch_read,  ///< quire_prefetch: asks, does not wait
  prefetch_write,
  barrier,  ///< the job's
  reduce,   ///< quire_reduce of `count` doubles
  begin,    ///< what counts begins here,
  end,      ///< and ends here
};

struct step {
  step_kind what = step_kind::compute;
  unsigned region = 0;
  std::uint64_t first = 0;  ///< byte of the region
  std::uint64_t bytes = 0;
  std::uint64_t stride = 8;  ///< write: the first 8 of each so many bytes change; a multiple of 8
  time_ns ns = 0;
  unsigned count = 0;
};

[[nodiscard]] inline step compute(time_ns ns) { return {.what = step_kind::compute, .ns = ns}; }
[[nodiscard]] inline step read(unsigned region, std::uint64_t first, std::uint64_t bytes) {
  return {.what = step_kind::read, .region = region, .first = first, .bytes = bytes};
}
[[nodiscard]] inline step write(unsigned region, std::uint64_t first, std::uint64_t bytes, std::uint64_t stride = 8) {
  return {.what = step_kind::write, .region = region, .first = first, .bytes = bytes, .stride = stride};
}
[[nodiscard]] inline step prefetch(unsigned region, std::uint64_t first, std::uint64_t bytes, bool to_write = false) {
  return {.what = to_write ? step_kind::prefetch_write : step_kind::prefetch_read,
          .region = region,
          .first = first,
          .bytes = bytes};
}
[[nodiscard]] inline step barrier() { return {.what = step_kind::barrier}; }
[[nodiscard]] inline step reduce(unsigned doubles) { return {.what = step_kind::reduce, .count = doubles}; }
[[nodiscard]] inline step begin_measuring() { return {.what = step_kind::begin}; }
[[nodiscard]] inline step end_measuring() { return {.what = step_kind::end}; }

class program {
 public:
  struct promise_type {
    step now{};
    program get_return_object() noexcept { return program(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(const step& s) noexcept {
      now = s;
      return {};
    }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };

  program() noexcept = default;
  explicit program(std::coroutine_handle<promise_type> h) noexcept : handle_(h) {}
  program(program&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  program& operator=(program&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~program() {
    if (handle_) handle_.destroy();
  }

  /// The next step. False at the end.
  [[nodiscard]] bool next(step& s) {
    handle_.resume();
    if (handle_.done()) return false;
    s = handle_.promise().now;
    return true;
  }

 private:
  std::coroutine_handle<promise_type> handle_{};
};

}  // namespace quire::timed
