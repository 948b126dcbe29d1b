// SPDX-License-Identifier: BSD-3-Clause
#include "program/process/watch/code_changes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/raw_call.hpp"
#include "program/process/fail.hpp"
#include "program/sites/changed_code.hpp"

namespace quire::program::watch {
namespace {
constexpr std::uint64_t code_page = 4096;

/// Past libraries of the program's that have such a function: its page may be the one that cannot run meanwhile.
bool protect(std::uint64_t first, int how) noexcept {
  return os::raw_call(SYS_mprotect, static_cast<long>(first), code_page, how) == 0;
}
}  // namespace

std::uint8_t code_changes::byte_at(std::uint64_t at) const {
  const auto planned = bytes_.find(at);
  return planned != bytes_.end() ? planned->second.after : *reinterpret_cast<const std::uint8_t*>(at);
}

void code_changes::set(std::uint64_t at, std::span<const std::uint8_t> bytes) {
  for (const std::uint8_t b : bytes) {
    bytes_[at] = {b, *reinterpret_cast<const std::uint8_t*>(at)};
    ++at;
  }
}

bool code_changes::perform() {
  const auto done = write(bytes_.end());
  if (done == bytes_.end()) {
    for (const auto& [at, b] : bytes_) sites::remember_code(at, b.before);
    return true;
  }
  for (auto b = bytes_.begin(); b != done; ++b) b->second = b->second.other();
  if (write(done) != done) fail("the system does not let the program's code run again that was changed", QUIRE_SYSTEM);
  return false;
}

code_changes::changes::iterator code_changes::write(changes::iterator end) {
  for (auto b = bytes_.begin(); b != end;) {
    const std::uint64_t first = b->first / code_page * code_page;
    if (!protect(first, PROT_READ | PROT_WRITE)) return b;
    for (; b != end && b->first - first < code_page; ++b) *reinterpret_cast<std::uint8_t*>(b->first) = b->second.after;
    if (!protect(first, PROT_READ | PROT_EXEC)) return b;
  }
  return end;
}

bool may_change_code() noexcept {
  const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  void* const at = ::mmap(nullptr, code_page, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  ::close(file);
  if (at == MAP_FAILED) return false;
  bool may = ::mprotect(at, code_page, PROT_READ | PROT_WRITE) == 0;
  if (may) *static_cast<volatile char*>(at) = 0;
  may = may && ::mprotect(at, code_page, PROT_READ | PROT_EXEC) == 0;
  ::munmap(at, code_page);
  return may;
}

}  // namespace quire::program::watch
