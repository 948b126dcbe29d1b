// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/fibre.hpp"

#include <sys/mman.h>

#include <utility>

#include "base/check.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace quire::whole {
namespace {
fibre* g_running = nullptr;
}

fibre::fibre(std::function<void()> what) : what_(std::move(what)) {
  void* const memory =
      ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(memory != MAP_FAILED);
  stack_ = static_cast<std::byte*>(memory);
}

fibre::~fibre() { ::munmap(stack_, stack_bytes); }

bool fibre::is_in_one() noexcept { return g_running != nullptr; }

/// `into`: the fibre; else out of it. `ends`: its stack is not used again.
void fibre::switch_to(ucontext_t& from, ucontext_t& to, bool into, [[maybe_unused]] bool ends) {
#if defined(__SANITIZE_ADDRESS__)
  if (into) {
    __sanitizer_start_switch_fiber(&fake_back_, stack_, stack_bytes);
  } else {
    __sanitizer_start_switch_fiber(ends ? nullptr : &fake_, bottom_back_, size_back_);
  }
#endif
  ::swapcontext(&from, &to);
#if defined(__SANITIZE_ADDRESS__)
  if (into) {
    __sanitizer_finish_switch_fiber(fake_back_, nullptr, nullptr);
  } else {
    __sanitizer_finish_switch_fiber(fake_, &bottom_back_, &size_back_);
  }
#else
  (void)into;
#endif
}

void fibre::enter() noexcept {
  fibre& self = *g_running;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &self.bottom_back_, &self.size_back_);
#endif
  self.what_();
  self.finished_ = true;
  self.switch_to(self.own_, self.back_, false, true);
}

void fibre::resume() {
  CHECK(g_running == nullptr && !finished_);
  if (!std::exchange(started_, true)) {
    ::getcontext(&own_);
    own_.uc_stack.ss_sp = stack_;
    own_.uc_stack.ss_size = stack_bytes;
    own_.uc_link = nullptr;
    ::makecontext(&own_, enter, 0);
  }
  g_running = this;
  core::t_simulated = &state_;
  switch_to(back_, own_, true, false);
  core::t_simulated = nullptr;
  g_running = nullptr;
}

void fibre::yield() {
  fibre& self = *g_running;
  self.switch_to(self.own_, self.back_, false, false);
}

}  // namespace quire::whole
