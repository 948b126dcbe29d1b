// SPDX-License-Identifier: BSD-3-Clause
// What the two processes of a split node share: requests of the application's threads to the engine (one mailbox a
// thread), and the engine's orders to the application's process. Mapped before the fork, at the same address in both.
//
//   application's process                     engine's process
//   thread --- mailbox: call, fault --------> its server thread --> engine
//   helper thread <--- order: protect, discard, start a thread --- engine (driver)
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "split/bell.hpp"

namespace quire::split {

/// Runs in the engine's process. The address is the same in both: they are one image, forked.
using procedure = void (*)(std::byte* arguments) noexcept;

/// Of a call: a part of an array is the largest (api/groups.cpp).
inline constexpr std::size_t argument_capacity = 4096;

/// A procedure and its arguments, which hold its results afterwards.
struct request {
  procedure what = nullptr;
  std::int32_t thread = 0;  ///< quire_thread() of the caller
  std::uint32_t bytes = 0;
  alignas(16) std::array<std::byte, argument_capacity> arguments;
};

/// One request at a time. Of the thread that has claimed it.
struct alignas(64) mailbox {
  enum : std::uint32_t { done = 0, posted = 1 };
  static bool is_done(std::uint32_t v) noexcept { return v == done; }
  static bool is_posted(std::uint32_t v) noexcept { return v == posted; }
  bell state;
  std::atomic<bool> claimed{false};
  std::atomic<bool> served{false};  ///< it has a server thread
  int sockets[2] = {-1, -1};        ///< way 'socket': the application's end and the engine's
  request content;
};

/// What only the application's process can do to itself.
struct order {
  enum : std::uint32_t { done = 0, posted = 1, taken = 2 };
  static bool is_done(std::uint32_t v) noexcept { return v == done; }
  static bool is_posted(std::uint32_t v) noexcept { return v == posted; }
  enum class kind : std::uint32_t { protect, advise, run };
  bell state;
  kind what = kind::protect;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  int argument = 0;  ///< a protection, an advice
  int result = 0;    ///< 0 or errno
  int (*procedure)(const std::byte* data) = nullptr;
  std::array<std::byte, 320> data;
};

struct board {
  static constexpr std::size_t most_threads = 1024;
  static constexpr std::size_t most_sockets = 64;

  order orders;
  bell unserved;                          ///< changes when a mailbox needs a server thread
  bell started;                           ///< 1 when the engine has started, well or not
  std::atomic<std::uint64_t> spin_ns{0};  ///< how long to look before sleeping; 0 where cores are short
  std::atomic<bool> ending{false};        ///< quire_end() has been passed: the engine's end is no accident
  std::atomic<int> exit_status{0};        ///< with which the engine ended itself
  std::atomic<bool> kernel_waits{false};  ///< detector 'thread': system calls on shared memory need no help
  int status = 0;                         ///< of the start: a quire_status
  int node = 0, nodes = 1;
  std::array<mailbox, most_threads> mailboxes;
};

}  // namespace quire::split
