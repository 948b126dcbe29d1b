// SPDX-License-Identifier: BSD-3-Clause
// What the dynamic linker maps in a call of dlopen(3) goes where Quire says. Its system calls are its own, which
// nothing can stand in front of: the kernel hands those of one thread to a signal handler (syscall user dispatch,
// Linux 5.11), which makes them, with another address where a file of code is mapped.
#pragma once

#include <cstdint>

namespace quire::program {

/// Where a file of so many bytes goes; 0: wherever the kernel likes. Called in a signal handler.
using place_function = std::uint64_t (*)(std::uint64_t name, std::uint64_t bytes);

/// As long as this lives, in the calling thread, which has no other signals meanwhile. One at a time in a process.
class linker_calls {
 public:
  explicit linker_calls(place_function place) noexcept;
  linker_calls(const linker_calls&) = delete;
  linker_calls& operator=(const linker_calls&) = delete;
  ~linker_calls();
  /// Whether the kernel can do it.
  [[nodiscard]] bool works() const noexcept { return works_; }

 private:
  bool works_ = false;
};

}  // namespace quire::program
