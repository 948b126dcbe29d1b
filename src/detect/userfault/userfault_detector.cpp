// SPDX-License-Identifier: BSD-3-Clause
// The default detector: userfaultfd on the application view, registered for missing, minor and write-protect faults. No
// mapping is ever split, so no limit on mappings is met, and threads fault in parallel.
//   permit  none -> read   CONTINUE, write-protected (1)  none -> write   CONTINUE
//           read -> write  WRITEPROTECT off               protect to read WRITEPROTECT on
//   protect to none: MADV_DONTNEED on the application view only; frame and system view keep their content.
// (1) before Linux 6.4: read_only.hpp
// The same calls do for private copies: CONTINUE maps the frame read-only in any case, the kernel copies it at the
// first write that nothing protects it from, WRITEPROTECT protects the copy, and MADV_DONTNEED drops it.
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/log.hpp"
#include "detect/detector.hpp"
#include "detect/kinds.hpp"
#include "detect/userfault/read_only.hpp"
#include "detect/userfault/trial.hpp"
#include "os/memory.hpp"
#include "os/userfault.hpp"

namespace quire::detect {
namespace {

class userfault_detector final : public detector {
 public:
  userfault_detector(int fd, os::userfault_mode mode, bool in_one_step, os::address_space& where, int usual)
      : fd_(fd), mode_(mode), in_one_step_(in_one_step), where_(where), usual_(usual) {}
  userfault_detector(const userfault_detector&) = delete;
  userfault_detector& operator=(const userfault_detector&) = delete;
  ~userfault_detector() override { os::close_descriptor(fd_); }

  int attach(std::byte* address, std::uint64_t bytes, bool) noexcept override {
    return os::userfault_register(fd_, address, bytes);
  }
  void detach(std::byte* address, std::uint64_t bytes) noexcept override {
    (void)!os::userfault_unregister(fd_, address, bytes);  // which may have ended with the mapping
    (void)!os::userfault_wake(fd_, address, bytes);
  }
  int permit(std::byte* address, std::size_t bytes, access from, access to) noexcept override {
    if (from != access::none) return os::userfault_protect(fd_, address, bytes, false);
    if (to == access::read && !in_one_step_) return permit_reading_in_steps(fd_, address, bytes, where_, usual_);
    return os::userfault_continue(fd_, address, bytes, to == access::read);
  }
  int protect(std::byte* address, std::size_t bytes, access, access to) noexcept override {
    if (to == access::none) return where_.advise(address, bytes, MADV_DONTNEED);
    return os::userfault_protect(fd_, address, bytes, true);
  }
  void wake(std::byte* address, std::size_t bytes) noexcept override {
    if (mode_ == os::userfault_mode::thread) (void)!os::userfault_wake(fd_, address, bytes);
  }
  int descriptor() const noexcept override { return mode_ == os::userfault_mode::thread ? fd_ : -1; }
  bool next(fault_event& event) noexcept override {
    os::userfault_event e;
    if (!os::userfault_read(fd_, e)) return false;
    event = {e.address, e.write};
    return true;
  }
  bool accessible() const noexcept override { return true; }
  const char* name() const noexcept override {
    return mode_ == os::userfault_mode::thread ? "userfaultfd, service thread" : "userfaultfd, faulting thread";
  }

 private:
  int fd_;
  os::userfault_mode mode_;
  bool in_one_step_;
  os::address_space& where_;
  int usual_;  ///< protection of the mappings
};

}  // namespace

namespace {

int usual_protection(kind which) noexcept {
  if (which == kind::userfault_code) return PROT_READ | PROT_EXEC;
  return PROT_READ | PROT_WRITE | (which == kind::userfault_runs ? PROT_EXEC : 0);
}

os::userfault_mode mode_of(bool thread_mode) noexcept {
  return thread_mode ? os::userfault_mode::thread : os::userfault_mode::inline_sigbus;
}

std::string in_words(const userfault_ability& able) {
  return std::string(able.step) + ": " + std::strerror(able.error);
}

std::string in_words(int error) {
  return "it cannot be opened for the program's process: " + std::string(std::strerror(error));
}

}  // namespace

std::string why_no_userfault(os::address_space& where) {
  constexpr auto mode = os::userfault_mode::inline_sigbus;
  const userfault_ability& able = try_userfault(mode);
  if (!able.all()) return in_words(able);
  if (&where == &os::this_process()) return "";
  const int fd = where.open_userfault(mode);
  os::close_descriptor(fd);
  return fd < 0 ? in_words(-fd) : "";
}

base::result<std::unique_ptr<detector>> open_userfault(kind which, bool quiet, os::address_space& where) {
  const bool thread_mode = which == kind::userfault_thread;
  const auto mode = mode_of(thread_mode);
  const userfault_ability& able = try_userfault(mode);
  const int fd = able.all() ? where.open_userfault(mode) : -able.error;
  if (fd >= 0)
    return std::unique_ptr<detector>(
        std::make_unique<userfault_detector>(fd, mode, able.in_one_step, where, usual_protection(which)));
  if (!quiet) {
    base::log(base::log_level::error, "userfaultfd cannot be used: %s%s",
              (able.all() ? in_words(-fd) : in_words(able)).c_str(),
              fd == -EPERM && thread_mode
                  ? "; mode 'thread' needs root, CAP_SYS_PTRACE, vm.unprivileged_userfaultfd=1 or /dev/userfaultfd"
                  : "");
  }
  return QUIRE_UNSUPPORTED;
}

}  // namespace quire::detect
