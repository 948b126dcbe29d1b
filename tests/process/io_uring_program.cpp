// SPDX-License-Identifier: BSD-3-Clause
// io_uring and shared memory: what docs/limits.md says of it. A read into a unit that another node has says EFAULT, and
// so does registering it as a fixed buffer. Into a pinned unit both may read, and the other node finds what was read
// once the pin has ended; a fixed buffer is registered within the pin, and goes before its end.
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "node.hpp"

using namespace quire::test;

namespace {

using word = std::uint64_t;

/// One request at a time.
class ring {
 public:
  ring() : descriptor_(static_cast<int>(::syscall(SYS_io_uring_setup, 4, &about_))) {
    if (!works()) return;
    const std::size_t bytes = about_.sq_off.array + about_.sq_entries * sizeof(unsigned);
    rows_ = static_cast<char*>(map(bytes, IORING_OFF_SQ_RING));
    entry_ = static_cast<io_uring_sqe*>(map(about_.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES));
  }
  [[nodiscard]] bool works() const { return descriptor_ >= 0; }

  /// Reads a word of a file; what the completion says.
  int read(void* to, int file, bool fixed) {
    *entry_ = {};
    entry_->opcode = fixed ? IORING_OP_READ_FIXED : IORING_OP_READ;
    entry_->fd = file;
    entry_->addr = reinterpret_cast<std::uintptr_t>(to);
    entry_->len = sizeof(word);
    at<unsigned>(about_.sq_off.array)[turn_ & (about_.sq_entries - 1)] = 0;
    std::atomic_ref(*at<unsigned>(about_.sq_off.tail)).store(turn_ + 1);
    REQUIRE_EQUAL(::syscall(SYS_io_uring_enter, descriptor_, 1, 1, IORING_ENTER_GETEVENTS, nullptr, 0), 1);
    const int result = at<io_uring_cqe>(about_.cq_off.cqes)[turn_ & (about_.cq_entries - 1)].res;
    std::atomic_ref(*at<unsigned>(about_.cq_off.head)).store(++turn_);
    return result;
  }
  /// 0, or the error.
  int keep(void* address, std::size_t bytes) {
    const iovec buffer{address, bytes};
    return ::syscall(SYS_io_uring_register, descriptor_, IORING_REGISTER_BUFFERS, &buffer, 1) == 0 ? 0 : errno;
  }
  void let_go() {
    REQUIRE_EQUAL(::syscall(SYS_io_uring_register, descriptor_, IORING_UNREGISTER_BUFFERS, nullptr, 0), 0);
  }

 private:
  void* map(std::size_t bytes, std::uint64_t what) {
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, static_cast<off_t>(what));
    REQUIRE(at != MAP_FAILED);
    return at;
  }
  template <class T>
  T* at(unsigned offset) {
    return reinterpret_cast<T*>(rows_ + offset);
  }
  io_uring_params about_{};
  int descriptor_;
  char* rows_ = nullptr;
  io_uring_sqe* entry_ = nullptr;
  unsigned turn_ = 0;
};

/// A file of one word.
int file_of(word value) {
  const int file = ::memfd_create("word", MFD_CLOEXEC);
  REQUIRE(file >= 0);
  REQUIRE_EQUAL(::pwrite(file, &value, sizeof value, 0), static_cast<ssize_t>(sizeof value));
  return file;
}

void read_by(ring& io, const char* name, quire_consistency consistency) {
  constexpr std::size_t unit = 4096;
  auto about = region_options(unit, QUIRE_PLACE_NODE, 0);
  about.consistency = consistency;
  word* const at = shared_region<word>(name, 2 * unit, about);
  word* const beside = at + unit / sizeof(word);
  if (quire_node() == 0) *at = *beside = 1;
  barrier();
  if (quire_node() == 1) {
    const int file = file_of(7);
    REQUIRE_EQUAL(io.read(at, file, false), -EFAULT);
    REQUIRE_EQUAL(io.keep(at, unit), EFAULT);
    REQUIRE_OK(quire_pin(at, 2 * unit, -1, nullptr));
    REQUIRE_EQUAL(io.read(beside, file, false), static_cast<int>(sizeof(word)));
    REQUIRE_EQUAL(io.keep(at, unit), 0);
    REQUIRE_EQUAL(io.read(at, file, true), static_cast<int>(sizeof(word)));
    io.let_go();
    REQUIRE_OK(quire_unpin(at, 2 * unit));
    ::close(file);
  }
  barrier();
  REQUIRE_EQUAL(*at, 7);
  REQUIRE_EQUAL(*beside, 7);
  barrier();
}

}  // namespace

int main() {
  ring io;
  if (!io.works()) {
    std::printf("there is no io_uring here\n");
    return 77;
  }
  return node_main([&] {
    REQUIRE_EQUAL(quire_nodes(), 2);
    read_by(io, "io_uring sequential", QUIRE_SEQUENTIAL);
    read_by(io, "io_uring release", QUIRE_RELEASE);
  });
}
