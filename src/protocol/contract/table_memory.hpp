// SPDX-License-Identifier: BSD-3-Clause
// Tables of machines: an entry for each of a terabyte of units, zero at first. Where their memory comes from is said by
// who runs the machines, as machines make no system call.
#pragma once

#include <cstdint>

#include "model/machine.hpp"

namespace quire::protocol {

/// Zeroes that cost nothing until touched.
struct table_memory {
  /// Null, with errno, if there is no room.
  void* (*map)(std::uint64_t bytes, int& error) noexcept = nullptr;
  void (*unmap)(void* at, std::uint64_t bytes) noexcept = nullptr;
};

template <class T>
class table {
 public:
  explicit table(const table_memory& from) noexcept : from_(from) {}
  table(const table&) = delete;
  table& operator=(const table&) = delete;
  ~table() { reset(); }
  /// As if it had never been made.
  void reset() noexcept {
    if (entries_ != nullptr) from_.unmap(entries_, bytes_);
    entries_ = nullptr;
    bytes_ = 0;
  }
  /// Unless it is there already. 0 or errno.
  [[nodiscard]] int make(std::uint64_t count) noexcept {
    if (entries_ != nullptr) return 0;
    bytes_ = count * sizeof(T);
    int error = 0;
    entries_ = static_cast<T*>(from_.map(bytes_, error));
    return error;
  }
  [[nodiscard]] T* data() const noexcept { return entries_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return entries_ != nullptr ? bytes_ : 0; }

 private:
  table_memory from_;
  T* entries_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace quire::protocol
