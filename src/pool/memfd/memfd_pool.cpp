// The default pool: one memfd mapped twice. Sparse: a terabyte costs nothing until touched, and a crash leaves nothing.
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/log.hpp"
#include "os/memory.hpp"
#include "pool/pool.hpp"

namespace quire::pool {
namespace {

class memfd_pool final : public pool {
 public:
  memfd_pool(int fd, std::byte* application, std::byte* system, std::uint64_t bytes)
      : fd_(fd), application_(application), system_(system), bytes_(bytes) {}
  memfd_pool(const memfd_pool&) = delete;
  memfd_pool& operator=(const memfd_pool&) = delete;
  ~memfd_pool() override {
    os::unmap(application_, bytes_);
    os::unmap(system_, bytes_);
    os::close_descriptor(fd_);
  }
  std::byte* application_view() const noexcept override { return application_; }
  std::byte* system_view() const noexcept override { return system_; }
  std::uint64_t bytes() const noexcept override { return bytes_; }
  int populate(std::uint64_t offset, std::size_t length) noexcept override {
    return os::advise(system_ + offset, length, MADV_POPULATE_WRITE);
  }
  const char* name() const noexcept override { return "memfd"; }

 private:
  int fd_;
  std::byte* application_;
  std::byte* system_;
  std::uint64_t bytes_;
};

void say(const char* what, std::uint64_t address, std::uint64_t bytes, int error) {
  base::log(base::log_level::error, "cannot %s %lu MiB of shared memory at 0x%lx: %s", what,
            static_cast<unsigned long>(bytes >> 20), static_cast<unsigned long>(address), std::strerror(error));
}

}  // namespace

base::result<std::unique_ptr<pool>> make_memfd_pool(std::uint64_t address, std::uint64_t bytes, bool accessible) {
  const int fd = os::make_memfd("quire", bytes);
  if (fd < 0) {
    say("create", address, bytes, -fd);
    return QUIRE_SYSTEM;
  }
  int error = 0;
  auto* application = os::map_shared(fd, bytes, reinterpret_cast<void*>(address), accessible, error);
  void* system = application != nullptr ? os::map_shared(fd, bytes, nullptr, true, error) : nullptr;
  if (system == nullptr) {
    say("map", address, bytes, error);
    os::unmap(application, bytes);
    os::close_descriptor(fd);
    return QUIRE_SYSTEM;
  }
  // A forked child must not see raw pages without protection (userfaultfd does not follow a fork). A core file holds the pages that
  // this node may use; the system view would only double it.
  if (os::advise(application, bytes, MADV_DONTFORK) != 0 || os::advise(system, bytes, MADV_DONTFORK) != 0) {
    base::log(base::log_level::warning, "a forked child will see shared memory without protection: madvise failed");
  }
  (void)!os::advise(system, bytes, MADV_DONTDUMP);
  return std::unique_ptr<pool>(std::make_unique<memfd_pool>(fd, static_cast<std::byte*>(application),
                                                            static_cast<std::byte*>(system), bytes));
}

}  // namespace quire::pool
