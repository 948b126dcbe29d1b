// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stddef.h>
#include <string.h>

#include "program/process/private_memory.hpp"

namespace quire::program {

/// A copy in this node's own memory, of a text that libc itself hands to the system: that does not see shared memory.
class private_text {
 public:
  /// Null stays null.
  explicit private_text(const char* text) noexcept
      : own_(text != nullptr ? static_cast<char*>(take_private(strlen(text) + 1)) : nullptr) {
    if (own_ != nullptr) strcpy(own_, text);
  }
  /// Room for one.
  explicit private_text(size_t bytes) noexcept : own_(static_cast<char*>(take_private(bytes + 1))) {}
  private_text(const private_text&) = delete;
  private_text& operator=(const private_text&) = delete;
  ~private_text() { give_private(own_); }
  [[nodiscard]] char* get() const noexcept { return own_; }

 private:
  char* own_;
};

}  // namespace quire::program
