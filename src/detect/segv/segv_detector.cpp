// SPDX-License-Identifier: BSD-3-Clause
// The fall-back: SIGSEGV and mprotect, for any pool and kernel. Each change of protection may split a mapping; with
// alternating protections the limit vm.max_map_count (65,530 by default: 256 MiB of single pages) is met, as ENOMEM.
#include <sys/mman.h>

#include "detect/kinds.hpp"

namespace quire::detect {
namespace {

constexpr int prot_of(access a, bool code) noexcept {
  if (a == access::none) return PROT_NONE;
  if (code) return PROT_READ | PROT_EXEC;
  return a == access::read ? PROT_READ : PROT_READ | PROT_WRITE;
}

class segv_detector final : public detector {
 public:
  segv_detector(os::address_space& where, bool code) : where_(where), code_(code) {}
  int attach(std::byte*, std::uint64_t) noexcept override { return 0; }
  void detach(std::byte*, std::uint64_t) noexcept override {}
  int permit(std::byte* address, std::size_t bytes, access, access to) noexcept override {
    return where_.protect(address, bytes, prot_of(to, code_));
  }
  int protect(std::byte* address, std::size_t bytes, access, access to) noexcept override {
    return where_.protect(address, bytes, prot_of(to, code_));
  }
  void wake(std::byte*, std::size_t) noexcept override {}
  int descriptor() const noexcept override { return -1; }
  bool next(fault_event&) noexcept override { return false; }
  bool accessible() const noexcept override { return false; }
  const char* name() const noexcept override { return "SIGSEGV and mprotect"; }

 private:
  os::address_space& where_;
  bool code_;
};

}  // namespace

std::unique_ptr<detector> open_segv(os::address_space& where, bool code) { return std::make_unique<segv_detector>(where, code); }

}  // namespace quire::detect
