// SPDX-License-Identifier: BSD-3-Clause
#include "pool/host_holds.hpp"

#include <sched.h>

#include "base/check.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "os/memory.hpp"
#include "pool/host_file.hpp"

namespace quire::pool {

namespace {
constexpr std::uint64_t longest_wait_ns = 10'000'000'000;
}  // namespace

void host_holds::open(std::byte* table, std::uint64_t limit) noexcept {
  static_assert(sizeof(entry) == host_table_entry && sizeof(head) <= host_table_head);
  static_assert(entry::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);
  head_ = reinterpret_cast<head*>(table);
  if (head_ != nullptr) head_->limit.fetch_add(limit, std::memory_order_relaxed);
}

host_holds::entry& host_holds::at(std::uint64_t position) const noexcept {
  return reinterpret_cast<entry*>(reinterpret_cast<std::byte*>(head_) + host_table_head)[position / os::page_bytes];
}

void host_holds::enter(std::uint64_t position, std::uint64_t bytes) noexcept {
  entry& e = at(position);
  std::uint16_t now = e.load(std::memory_order_acquire);
  for (std::uint64_t until = 0;;) {
    if (now == going) {
      if (until == 0) until = base::now_ns() + longest_wait_ns;
      if (base::now_ns() > until) {
        base::die(QUIRE_SYSTEM,
                  "a node of this host, which gives a page back to the system that this one needs, has not done so for "
                  "10 s: it has ended, or is stopped");
      }
      ::sched_yield();
      now = e.load(std::memory_order_acquire);
    } else if (e.compare_exchange_weak(now, static_cast<std::uint16_t>(now + 1), std::memory_order_acq_rel)) {
      break;
    }
  }
  if (now == 0) head_->used.fetch_add(bytes, std::memory_order_relaxed);
}

bool host_holds::leave(std::uint64_t position) noexcept {
  entry& e = at(position);
  std::uint16_t now = e.load(std::memory_order_acquire);
  std::uint16_t next = 0;
  do {
    CHECK(now != 0 && now != going);
    next = now == 1 ? going : static_cast<std::uint16_t>(now - 1);
  } while (!e.compare_exchange_weak(now, next, std::memory_order_acq_rel));
  return next == going;
}

void host_holds::gone(std::uint64_t position, std::uint64_t bytes) noexcept {
  head_->used.fetch_sub(bytes, std::memory_order_relaxed);
  at(position).store(0, std::memory_order_release);
}

unsigned host_holds::count(std::uint64_t position) const noexcept {
  return at(position).load(std::memory_order_acquire);
}

}  // namespace quire::pool
