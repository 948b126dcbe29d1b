// SPDX-License-Identifier: BSD-3-Clause
// ParADE's fork(): the second access path is another process. Before it is split (src/split), the whole shared range
// becomes shared anonymous memory; afterwards each process has its own page table for it, at the same addresses. This
// is the engine's: always readable and writable. A pool is a part of the range, and costs the application no further
// addresses.
#include <sys/mman.h>

#include "base/log.hpp"
#include "os/memory.hpp"
#include "pool/two_views.hpp"

namespace quire::pool {
namespace {

class fork_pool final : public pool {
 public:
  fork_pool(const request& r, os::address_space& there) : at_(r.application()), bytes_(r.bytes), there_(there) {}
  std::byte* application_view() const noexcept override { return at_; }
  std::byte* system_view() const noexcept override { return at_; }
  std::uint64_t bytes() const noexcept override { return bytes_; }
  int populate(std::uint64_t offset, std::size_t length) noexcept override {
    return os::populate(at_ + offset, length);
  }
  int give_back(std::uint64_t offset, std::size_t length) noexcept override {
    return os::advise(at_ + offset, length, MADV_REMOVE);
  }
  const char* name() const noexcept override { return "fork"; }
  const char* when_full() const noexcept override { return ::quire::pool::when_full(kind::fork); }
  int leave() noexcept override {
    if (const int error = there_.protect(at_, bytes_, PROT_NONE); error != 0) return error;
    return os::advise(at_, bytes_, MADV_REMOVE);
  }
  void dump(std::uint64_t offset, std::uint64_t length) noexcept override {
    (void)there_.advise(at_ + offset, length, MADV_DODUMP);
  }

 private:
  std::byte* at_;
  std::uint64_t bytes_;
  os::address_space& there_;
};

}  // namespace

base::result<std::unique_ptr<pool>> make_fork(const request& r, const settings& how) {
  if (how.application == &os::this_process()) {
    base::log(base::log_level::error,
              "pool 'fork' is of a whole job, not of a region: set QUIRE_POOL=fork for its start");
    return QUIRE_UNSUPPORTED;
  }
  if (r.code || r.runs) {
    base::log(base::log_level::error,
              "pool 'fork' has no code in shared memory, as the engine's process cannot make it ready in the "
              "application's: set QUIRE_POOL to memfd");
    return QUIRE_UNSUPPORTED;
  }
  if (r.fine.count != 0) {
    base::log(base::log_level::error,
              "pool 'fork' has no fine views, as the engine's process cannot map them in the application's: set "
              "QUIRE_POOL to memfd");
    return QUIRE_UNSUPPORTED;
  }
  if (r.accessible) {
    const int error = how.application->protect(r.application(), r.bytes, PROT_READ | PROT_WRITE);
    if (error != 0) return failed(r, "open", error);
  }
  return std::unique_ptr<pool>(std::make_unique<fork_pool>(r, *how.application));
}

}  // namespace quire::pool
