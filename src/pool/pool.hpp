// A page pool: one physical page, two access paths. The application view is what programs use and carries the
// protections; the system view is always readable and writable and only the runtime uses it (ParADE: create the global
// heap, prepare the application area, prepare the system area; Millipage's privileged view). One folder a body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/status.hpp"

namespace quire::pool {

class pool {
 public:
  virtual ~pool() = default;
  [[nodiscard]] virtual std::byte* application_view() const noexcept = 0;
  [[nodiscard]] virtual std::byte* system_view() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const noexcept = 0;
  /// Makes sure that frames exist for a page range (offset and length in bytes), zero if new. 0 or errno. Fault context.
  [[nodiscard]] virtual int populate(std::uint64_t offset, std::size_t bytes) noexcept = 0;
  [[nodiscard]] virtual const char* name() const noexcept = 0;
};

/// A pool of `bytes` whose application view stands at `address` exactly, which the caller has reserved. `accessible`: the application view's initial
/// protection is read-write (userfaultfd keeps pages away) or none (mprotect). Says why when it fails.
[[nodiscard]] base::result<std::unique_ptr<pool>> make_memfd_pool(std::uint64_t address, std::uint64_t bytes, bool accessible);

}  // namespace quire::pool
