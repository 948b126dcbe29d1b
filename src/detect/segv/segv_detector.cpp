// SPDX-License-Identifier: BSD-3-Clause
// The fall-back: SIGSEGV and mprotect, for any pool and kernel. Each change of protection may split a mapping; with
// alternating protections the limit vm.max_map_count (65,530 by default: 256 MiB of single pages) is met, as ENOMEM.
#include <sys/mman.h>

#include <atomic>
#include <new>
#include <utility>

#include "detect/kinds.hpp"

namespace quire::detect {
namespace {

constexpr int prot_of(access a, kind which) noexcept {
  if (a == access::none) return PROT_NONE;
  if (which == kind::segv_code) return PROT_READ | PROT_EXEC;
  const int prot = a == access::read ? PROT_READ : PROT_READ | PROT_WRITE;
  return which == kind::segv_runs ? prot | PROT_EXEC : prot;
}

/// Ranges of addresses, few, found without a lock.
class range_list {
 public:
  range_list() = default;
  range_list(const range_list&) = delete;
  range_list& operator=(const range_list&) = delete;
  ~range_list() {
    for (range* r = first_.load(); r != nullptr;) delete std::exchange(r, r->next);
  }
  /// Any application thread. 0 or ENOMEM.
  [[nodiscard]] int add(std::uint64_t begin, std::uint64_t bytes) noexcept {
    range* r = first_.load(std::memory_order_acquire);
    while (r != nullptr && r->taken.exchange(true)) r = r->next;
    const bool is_new = r == nullptr;
    if (is_new) r = new (std::nothrow) range;
    if (r == nullptr) return ENOMEM;
    r->begin.store(begin, std::memory_order_relaxed);
    r->end.store(begin + bytes, std::memory_order_release);
    if (is_new) {
      r->next = first_.load();
      while (!first_.compare_exchange_weak(r->next, r)) continue;
    }
    return 0;
  }
  void remove(std::uint64_t begin) noexcept {
    for (range* r = first_.load(std::memory_order_acquire); r != nullptr; r = r->next) {
      if (r->end.load(std::memory_order_acquire) == 0 || r->begin.load(std::memory_order_relaxed) != begin) continue;
      r->end.store(0, std::memory_order_relaxed);
      r->taken.store(false);
      return;
    }
  }
  /// Of a range that is neither added nor removed meanwhile.
  [[nodiscard]] bool has(std::uint64_t address) const noexcept {
    for (const range* r = first_.load(std::memory_order_acquire); r != nullptr; r = r->next) {
      if (address < r->end.load(std::memory_order_acquire) && address >= r->begin.load(std::memory_order_relaxed))
        return true;
    }
    return false;
  }

 private:
  struct range {
    std::atomic<bool> taken{true};
    std::atomic<std::uint64_t> begin{0}, end{0};
    range* next = nullptr;
  };
  std::atomic<range*> first_{nullptr};
};

class segv_detector final : public detector {
 public:
  segv_detector(os::address_space& where, kind which) : where_(where), which_(which) {}
  int attach(std::byte* address, std::uint64_t bytes, bool private_copies) noexcept override {
    return private_copies ? copies_.add(number_of(address), bytes) : 0;
  }
  void detach(std::byte* address, std::uint64_t) noexcept override { copies_.remove(number_of(address)); }
  int permit(std::byte* address, std::size_t bytes, access, access to) noexcept override {
    return where_.protect(address, bytes, prot_of(to, which_));
  }
  int protect(std::byte* address, std::size_t bytes, access, access to) noexcept override {
    const int error = where_.protect(address, bytes, prot_of(to, which_));
    if (error != 0 || to != access::none || !copies_.has(number_of(address))) return error;
    return where_.advise(address, bytes, MADV_DONTNEED);  // mprotect() leaves copies
  }
  void wake(std::byte*, std::size_t) noexcept override {}
  int descriptor() const noexcept override { return -1; }
  bool next(fault_event&) noexcept override { return false; }
  bool accessible() const noexcept override { return false; }
  const char* name() const noexcept override { return "SIGSEGV and mprotect"; }

 private:
  os::address_space& where_;
  range_list copies_;  ///< ranges with private copies
  kind which_;
};

}  // namespace

std::unique_ptr<detector> open_segv(os::address_space& where, kind which) {
  return std::make_unique<segv_detector>(where, which);
}

}  // namespace quire::detect
