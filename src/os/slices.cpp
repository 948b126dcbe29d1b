// SPDX-License-Identifier: BSD-3-Clause
#include "os/slices.hpp"

#include <linux/sched.h>
#include <sys/syscall.h>

#include <cstdint>

#include "os/raw_call.hpp"

namespace quire::os {
namespace {

/// Linux' sched_attr, its first version.
struct attributes {
  std::uint32_t size, policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime, deadline, period;
};
constexpr std::uint64_t shortest_ns = 100'000;  // the kernel makes what is less as long

}  // namespace

void prefer_short_slices() noexcept {
  attributes wish{};
  if (raw_call(SYS_sched_getattr, 0, reinterpret_cast<long>(&wish), sizeof wish, 0) != 0 || wish.policy != SCHED_NORMAL)
    return;
  wish.size = sizeof wish;
  wish.flags &= SCHED_FLAG_RESET_ON_FORK;
  wish.runtime = shortest_ns;
  wish.deadline = wish.period = 0;
  (void)raw_call(SYS_sched_setattr, 0, reinterpret_cast<long>(&wish), 0);
}

}  // namespace quire::os
