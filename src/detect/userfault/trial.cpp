// SPDX-License-Identifier: BSD-3-Clause
#include "detect/userfault/trial.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "detect/userfault/read_only.hpp"
#include "os/address_space.hpp"
#include "os/memory.hpp"
#include "os/raw_call.hpp"

namespace quire::detect {
namespace {

/// A page of memory in two views, as a pool has it: one is watched, the frame is made by the other. It is no file
/// without a name, which limits of the size of files count, and none of the calls that tests make fail.
class sample_page {
 public:
  explicit sample_page(int& error) noexcept {
    watched_ = ::mmap(nullptr, os::page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    system_ = watched_ != MAP_FAILED ? ::mremap(watched_, 0, os::page_bytes, MREMAP_MAYMOVE) : MAP_FAILED;
    error = system_ == MAP_FAILED ? errno : 0;
    if (error == 0) *static_cast<volatile char*>(system_) = 1;
  }
  sample_page(const sample_page&) = delete;
  sample_page& operator=(const sample_page&) = delete;
  ~sample_page() {
    if (watched_ != MAP_FAILED) ::munmap(watched_, os::page_bytes);
    if (system_ != MAP_FAILED) ::munmap(system_, os::page_bytes);
  }
  [[nodiscard]] std::byte* watched() const noexcept { return static_cast<std::byte*>(watched_); }
  /// By the kernel, which gets an error where a thread would get a signal.
  [[nodiscard]] bool can_be_written() const noexcept {
    return os::raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(watched_), 0) == 0;
  }

 private:
  void* watched_ = MAP_FAILED;
  void* system_ = MAP_FAILED;
};

/// The steps of userfault_detector with their effect. The kernel's own writes wait for the service thread in mode
/// `thread`, and so are not tried there.
userfault_ability try_steps(int fd, const sample_page& page, bool writes) noexcept {
  std::byte* const at = page.watched();
  const auto is = [&](bool written) { return !writes || page.can_be_written() == written; };
  userfault_ability result;
  const auto failed = [&](int error, const char* step) {
    result.error = error;
    result.step = step;
    return result;
  };
  if (const int error = os::userfault_register(fd, at, os::page_bytes); error != 0)
    return failed(error, "UFFDIO_REGISTER for write protection of shared memory");
  int error = os::userfault_continue(fd, at, os::page_bytes, true);
  if (error == EINVAL) {
    if (!writes) return failed(error, "UFFDIO_CONTINUE_MODE_WP, which mode 'thread' needs (Linux 6.4)");
    result.in_one_step = false;
    error = permit_reading_in_steps(fd, at, os::page_bytes, os::this_process());
  }
  if (error != 0) return failed(error, "mapping a page read-only");
  if (!is(false)) return failed(EOPNOTSUPP, "a page that was mapped read-only can be written");
  error = os::userfault_protect(fd, at, os::page_bytes, false);
  if (error != 0 || !is(true)) return failed(error != 0 ? error : EOPNOTSUPP, "lifting a write protection");
  error = os::userfault_protect(fd, at, os::page_bytes, true);
  if (error != 0 || !is(false)) return failed(error != 0 ? error : EOPNOTSUPP, "protecting a mapped page");
  error = os::advise(at, os::page_bytes, MADV_DONTNEED);
  if (error != 0 || !is(false)) return failed(error != 0 ? error : EOPNOTSUPP, "taking a page away");
  return result;
}

userfault_ability try_mode(os::userfault_mode mode) noexcept {
  const int fd = os::userfault_open(mode);
  if (fd < 0) {
    return {-fd,
            fd == -EINVAL ? "userfaultfd has no write protection of shared memory (Linux 5.19)"
                          : "userfaultfd cannot be opened",
            false};
  }
  int error = 0;
  const sample_page page(error);
  const auto result = error != 0 ? userfault_ability{error, "memory to try it with", false}
                                 : try_steps(fd, page, mode != os::userfault_mode::thread);
  os::close_descriptor(fd);
  return result;
}

}  // namespace

const userfault_ability& try_userfault(os::userfault_mode mode) noexcept {
  if (mode == os::userfault_mode::thread) {
    static const userfault_ability thread = try_mode(mode);
    return thread;
  }
  static const userfault_ability in_thread = try_mode(mode);
  return in_thread;
}

}  // namespace quire::detect
