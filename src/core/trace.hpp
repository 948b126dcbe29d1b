// SPDX-License-Identifier: BSD-3-Clause
// When a fetch was where: time stamps on a fault's way, for ParADE's Figure 10. Off unless QUIRE_FAULT_TRACE names a
// directory; then each node writes its stamps there at the end: "quire.NODE.faults", a line a stamp.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace quire::core {

class fault_trace {
 public:
  enum class point : std::uint8_t {
    entered,   ///< the fault has come to its handler
    asked,     ///< the machine has decided; the request is handed to the transport next
    received,  ///< a message for the unit has arrived, its content included
    decided,   ///< the machine has decided what follows from it
    replied,   ///< permissions are changed; the content is handed to the transport next
    woken,     ///< the permission is given; the thread goes on
  };
  static constexpr std::uint64_t capacity = std::uint64_t{1} << 21;  ///< stamps; later ones are dropped

  fault_trace() = default;
  ~fault_trace();
  fault_trace(const fault_trace&) = delete;
  fault_trace& operator=(const fault_trace&) = delete;

  /// From now on stamps are kept, for a file in `directory`.
  [[nodiscard]] base::status open(const std::string& directory, unsigned node);
  [[nodiscard]] bool is_open() const noexcept { return stamps_ != nullptr; }
  /// Any thread, fault context.
  void add(point where, unsigned region, std::uint64_t unit, std::uint64_t ns) noexcept {
    if (stamps_ == nullptr) return;
    if (const std::uint64_t at = count_.fetch_add(1, std::memory_order_relaxed); at < capacity) {
      stamps_[at] = {ns, unit, static_cast<std::uint32_t>(region), where};
    }
  }
  /// Writes the file. Application thread, when no faults come any more.
  void write() noexcept;

 private:
  struct stamp {
    std::uint64_t ns;
    std::uint64_t unit;
    std::uint32_t region;
    point where;
  };
  stamp* stamps_ = nullptr;
  std::atomic<std::uint64_t> count_{0};
  std::string path_;
};

}  // namespace quire::core
