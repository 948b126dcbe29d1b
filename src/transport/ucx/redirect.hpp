// Calls of one loaded library to another go through a table of addresses; this exchanges addresses in the table of UCX
// (libucs), and of no other library. Used by gate.cpp once, before UCX opens anything.
#pragma once

#include <span>

namespace quire::transport::ucx {

struct redirection {
  const char* function;  ///< of libc, such as "connect"
  void* instead;
};

/// Makes every loaded library whose file name begins with `library` call these instead. How many of the redirections it
/// has found; none are undone.
[[nodiscard]] unsigned redirect(const char* library, std::span<const redirection> calls) noexcept;

}  // namespace quire::transport::ucx
