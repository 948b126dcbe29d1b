// How an access without permission is noticed, and how permission is given and taken: one folder a body. Addresses are
// those of the application view; lengths are multiples of the page. All calls but attach() run in fault context on the
// driver's thread: no heap, no lock. What cannot be done comes back as an errno, and is decided by the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/status.hpp"
#include "model/ids.hpp"
#include "os/address_space.hpp"

namespace quire::detect {

using model::access;

/// A fault as the kernel tells it.
struct fault_event {
  std::uint64_t address = 0;
  bool write = false;
};

class detector {
 public:
  virtual ~detector() = default;
  /// Starts to watch a range, in which nothing is permitted. Application thread, before the range is used.
  [[nodiscard]] virtual int attach(std::byte* address, std::uint64_t bytes) noexcept = 0;
  /// Raises the permission of a range from `from` to `to` (read or write); frames exist, else EFAULT. Wakes kernel waiters.
  [[nodiscard]] virtual int permit(std::byte* address, std::size_t bytes, access from, access to) noexcept = 0;
  /// Lowers the permission of a range from `from` to `to` (none or read). On return no thread uses the old one.
  [[nodiscard]] virtual int protect(std::byte* address, std::size_t bytes, access from, access to) noexcept = 0;
  /// Lets threads that the kernel holds try again (thread mode); nothing elsewhere.
  virtual void wake(std::byte* address, std::size_t bytes) noexcept = 0;
  /// Descriptor to read faults from, -1 where the faulting thread comes by itself.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  [[nodiscard]] virtual bool next(fault_event& event) noexcept = 0;
  /// Whether the application view is mapped read-write from the start (the detector keeps pages away).
  [[nodiscard]] virtual bool accessible() const noexcept = 0;
  [[nodiscard]] virtual const char* name() const noexcept = 0;
};

enum class kind { userfault_inline, userfault_thread, segv };

/// Opens a detector for the pages of `where`; a status and a line that says why when this machine cannot. `quiet` leaves
/// the line out.
[[nodiscard]] base::result<std::unique_ptr<detector>> open(kind which, bool quiet,
                                                           os::address_space& where = os::this_process());

/// What a fault handler does with an address: true if it was a shared one and the access may be tried again.
using fault_handler = bool (*)(std::uint64_t address, bool write) noexcept;

/// Routes SIGSEGV and SIGBUS to `handler`. What it does not take goes to the handler that was there before, or
/// ends the process by the signal's own default (with its core). Keeps what is installed later in the chain untouched.
[[nodiscard]] base::status install_signals(fault_handler handler) noexcept;
/// Puts the earlier handlers back, if nobody has replaced ours.
void remove_signals() noexcept;

}  // namespace quire::detect
