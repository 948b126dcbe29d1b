// SPDX-License-Identifier: BSD-3-Clause
#include "pool/two_views.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include <cerrno>
#include <cstring>

#include "base/log.hpp"
#include "os/memory.hpp"
#include "os/segments.hpp"
#include "pool/host_file.hpp"

namespace quire::pool {
namespace {

/// A forked child must not see raw pages without protection (userfaultfd does not follow a fork). To write a core file
/// the kernel looks at every page of a mapping, minutes for a terabyte: the engine adds what is used.
void keep_from_others(std::byte* view, std::uint64_t bytes) noexcept {
  if (os::advise(view, bytes, MADV_DONTFORK) != 0)
    base::log(base::log_level::warning, "a forked child will see shared memory without protection: madvise failed");
  (void)!os::advise(view, bytes, MADV_DONTDUMP);
}

class two_views final : public pool {
 public:
  two_views(const request& r, std::byte* system, int fd, bool of_host)
      : name_(r.name),
        when_full_(r.when_full),
        application_(r.application()),
        system_(system),
        bytes_(r.bytes),
        fine_(r.fine),
        runs_(r.runs),
        fd_(fd),
        of_host_(of_host) {}
  two_views(const two_views&) = delete;
  two_views& operator=(const two_views&) = delete;
  ~two_views() override {
    for (unsigned view = 0; application_ != nullptr && view <= fine_.count; ++view)
      os::unmap(application_ + view * fine_.stride, bytes_);
    os::unmap(system_, bytes_);
    os::unmap(host_, bytes_);
    os::close_descriptor(fd_);
  }
  std::byte* application_view() const noexcept override { return application_; }
  std::byte* system_view() const noexcept override { return system_; }
  std::uint64_t bytes() const noexcept override { return bytes_; }
  int populate(std::uint64_t offset, std::size_t length) noexcept override {
    return os::populate(system_ + offset, length);
  }
  int give_back(std::uint64_t offset, std::size_t length) noexcept override {
    return os::advise(system_ + offset, length, MADV_REMOVE);
  }
  const char* name() const noexcept override { return name_; }
  const char* when_full() const noexcept override { return when_full_; }
  int leave() noexcept override {
    if (of_host_ && host_ == nullptr) (void)give_back(0, bytes_);  // nobody else will
    for (unsigned view = 0; view <= fine_.count; ++view) {
      if (const int error = os::reserve_again(application_ + view * fine_.stride, bytes_); error != 0) return error;
    }
    application_ = nullptr;
    os::unmap(system_, bytes_);
    system_ = nullptr;
    os::close_descriptor(std::exchange(fd_, -1));
    return 0;
  }
  bool of_host() const noexcept override { return of_host_ && host_ == nullptr; }
  int own_frames(std::byte*& host) noexcept override;
  void end_host() noexcept override {
    of_host_ = false;
    if (host_ == nullptr) return;
    (void)os::advise(host_, bytes_, MADV_REMOVE);
    os::unmap(std::exchange(host_, nullptr), bytes_);
  }
  int show(view_kind what) noexcept override {
    if (fd_ < 0) return EOPNOTSUPP;
    int error = 0;
    const auto map = what == view_kind::private_copies
                         ? static_cast<void* (*)(int, std::uint64_t, void*, bool, int&)>(os::map_private)
                         : os::map_shared;
    if (map(fd_, bytes_, application_, false, error) == nullptr) return error;
    keep_from_others(application_, bytes_);
    return 0;
  }
  int make_accessible() noexcept override {
    int error = 0;
    for (unsigned view = 0; error == 0 && view <= fine_.count; ++view)
      error = os::protect(application_ + view * fine_.stride, bytes_, PROT_READ | PROT_WRITE | (runs_ ? PROT_EXEC : 0));
    return error;
  }
  void dump(std::uint64_t offset, std::uint64_t length) noexcept override {
    os::advise_dump(application_ + offset, length);
  }

 private:
  const char* name_;
  const char* when_full_;
  std::byte* application_;
  std::byte* system_;
  std::uint64_t bytes_;
  fine_views fine_;
  bool runs_;
  int fd_;
  bool of_host_;
  std::byte* host_ = nullptr;  ///< after own_frames(): the system view from before
};

/// Views are mapped in place, each in one step: no thread gets to the host's frames any more, or to anything without
/// protection.
int two_views::own_frames(std::byte*& host) noexcept {
  if (!of_host_ || host_ != nullptr) return EOPNOTSUPP;
  const int fd = os::make_memfd("quire", bytes_);
  if (fd < 0) return -fd;
  int error = 0;
  void* const system = os::map_shared(fd, bytes_, nullptr, true, error);
  for (unsigned view = 0; error == 0 && view <= fine_.count; ++view) {
    std::byte* const at = application_ + view * fine_.stride;
    if (os::map_shared(fd, bytes_, at, false, error) != nullptr) keep_from_others(at, bytes_);
  }
  os::close_descriptor(fd);
  if (system == nullptr) return error;
  host = host_ = std::exchange(system_, static_cast<std::byte*>(system));
  keep_from_others(system_, bytes_);
  return error;
}

/// Code cannot be written by who runs it. Tried whether it is accessible now or later: memory of a file system
/// that is mounted noexec cannot be run. 0 or errno.
int make_code(const request& r) noexcept {
  int error = 0;
  for (unsigned view = 0; error == 0 && view <= r.fine.count; ++view) {
    std::byte* const at = r.application() + view * r.fine.stride;
    error = os::protect(at, r.bytes, PROT_READ | PROT_EXEC | (r.runs ? PROT_WRITE : 0));
    if (error == 0 && !r.accessible) error = os::protect(at, r.bytes, PROT_NONE);
  }
  return error;
}

base::status no_code(const request& r, int error) {
  if (error != EACCES && error != EPERM) return failed(r, "make executable", error);
  base::log(base::log_level::error,
            "pool '%s' cannot have code here, as its memory is of a file system that is mounted noexec, or the system "
            "forbids it (%s): "
            "%s, or mount that with exec",
            r.name, std::strerror(error),
            r.runs ? "the program runs what it writes to its stack: set QUIRE_POOL=memfd"
                   : "take another pool for it (quire_code_options.pool)");
  return QUIRE_UNSUPPORTED;
}

/// Fine views are copies of the system view's mapping, whatever that is made of. 0 or errno.
int add_fine_views(const request& r, std::byte* system) noexcept {
  for (unsigned view = 1; view <= r.fine.count; ++view) {
    int error = 0;
    void* const made = os::mdup(system, r.bytes, r.application() + view * r.fine.stride, error);
    if (made != nullptr && !r.accessible) error = os::protect(made, r.bytes, PROT_NONE);
    if (error != 0) return error;
  }
  return 0;
}

}  // namespace

base::status failed(const request& r, const char* what, int error) {
  base::log(base::log_level::error, "cannot %s %lu MiB of shared memory at 0x%lx (pool '%s'): %s", what,
            static_cast<unsigned long>(r.bytes >> 20), static_cast<unsigned long>(r.address), r.name,
            std::strerror(error));
  return error == ENOMEM || error == ENOSPC ? QUIRE_NO_MEMORY : QUIRE_SYSTEM;
}

base::result<std::unique_ptr<pool>> own_views(const request& r, std::byte* system, int fd, bool of_host) {
  keep_from_others(r.application(), r.bytes);
  keep_from_others(system, r.bytes);  // in a core file it would only double what is used
  std::unique_ptr<pool> made = std::make_unique<two_views>(r, system, fd, of_host);
  if (const int error = add_fine_views(r, system); error != 0) {
    (void)made->leave();
    return failed(r, "map the fine views of", error);
  }
  if (const int error = r.code || r.runs ? make_code(r) : 0; error != 0) {
    (void)made->leave();
    return no_code(r, error);
  }
  return made;
}

base::result<std::unique_ptr<pool>> make_of_host(const request& r, const settings& how) {
  const std::uint64_t offset = position_in_host_file(r.address, how.host_base);
  int error = 0;
  void* const application = os::map_shared_part(how.host_file, offset, r.bytes, r.application(), r.accessible, error);
  void* const system =
      application != nullptr ? os::map_shared_part(how.host_file, offset, r.bytes, nullptr, true, error) : nullptr;
  if (system != nullptr) return own_views(r, static_cast<std::byte*>(system), -1, true);
  os::unmap(application, r.bytes);
  return failed(r, "map the host's", error);
}

base::result<std::unique_ptr<pool>> map_twice(const request& r, int fd) {
  int error = 0;
  const bool copies = r.view == view_kind::private_copies;
  void* const application = copies ? os::map_private(fd, r.bytes, r.application(), r.accessible, error)
                                   : os::map_shared(fd, r.bytes, r.application(), r.accessible, error);
  void* const system = application != nullptr ? os::map_shared(fd, r.bytes, nullptr, true, error) : nullptr;
  if (!copies || system == nullptr) os::close_descriptor(std::exchange(fd, -1));
  if (system != nullptr) return own_views(r, static_cast<std::byte*>(system), fd);
  os::unmap(application, r.bytes);
  if (copies && error == ENOMEM) {
    base::log(base::log_level::error,
              "with vm.overcommit_memory=2 the system counts all pages of private views as if they were written: set "
              "it to 0 or 1, "
              "or make the region smaller");
  }
  return failed(r, "map", error);
}

}  // namespace quire::pool
