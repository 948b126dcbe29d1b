// SPDX-License-Identifier: BSD-3-Clause
#include "transport/rings/bells.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <new>

#include "base/clock.hpp"
#include "os/futex.hpp"
#include "os/process_file.hpp"

namespace quire::transport::rings {

bool bells::open(void* memory) noexcept {
  auto pipe = os::make_pipe();
  if (!pipe.ok()) return false;
  for (const int end : {pipe.value().first.number(), pipe.value().second.number()}) {
    if (!os::set_blocking(end, false).ok()) return false;
  }
  page_ = new (memory) page{};
  pipe_ = std::move(pipe.value());
  own_ = {base::now_ns() | 1, ::getpid(), pipe_.second.number()};
  page_->mark = own_.mark;
  return true;
}

/// The numbers may mean something else here, if the other node lives in another PID namespace.
bool bells::meet(std::size_t node, const address& theirs, void* memory) noexcept {
  auto* const shown = static_cast<page*>(memory);
  if (theirs.mark == 0 || shown->mark != theirs.mark) return false;
  os::descriptor pipe(os::open_of_process(theirs.process, theirs.pipe, S_IFIFO, 0));
  if (!pipe.open()) return false;
  peers_[node].shown = shown;
  peers_[node].pipe = std::move(pipe);
  return true;
}

bool bells::arm_for(state what) noexcept {
  bool woken = false;
  while (read_ != page_->written.load(std::memory_order_relaxed)) {
    char bytes[64];
    const auto got = ::read(pipe_.first.number(), bytes, sizeof bytes);
    if (got <= 0) break;  // it is about to be written
    read_ += static_cast<std::uint32_t>(got);
    woken = true;
  }
  if (woken) return false;
  page_->state.store(what, std::memory_order_seq_cst);
  __sync_synchronize();  // what the caller looks at are plain loads
  return true;
}

/// Others read that line whenever they send something: it is theirs, too, until it is written.
void bells::disarm() noexcept {
  if (page_->state.load(std::memory_order_relaxed) != awake) page_->state.store(awake, std::memory_order_relaxed);
}

void bells::wake(std::size_t node, urgency how) noexcept {
  if (node >= peers_.size() || peers_[node].shown == nullptr) return;
  page& theirs = *peers_[node].shown;
  // Either they see the message when they look after arm(), or it is seen here that they sleep. (The thread sanitizer
  // knows no std::atomic_thread_fence.)
  __sync_synchronize();
  if (theirs.state.load(std::memory_order_relaxed) < (how == urgency::now ? for_urgent : for_all)) return;
  const std::uint32_t slept = theirs.state.exchange(awake, std::memory_order_seq_cst);
  if (slept == for_thread) {
    os::futex_wake_shared(theirs.state, 1);
  } else if (slept != awake) {
    ring(theirs, peers_[node].pipe.number());
  }
}

void bells::ring(page& shown, int pipe) noexcept {
  shown.written.fetch_add(1, std::memory_order_relaxed);
  const char one = 1;
  // A full pipe is readable anyway. That nobody reads it any more raises no SIGPIPE: whoever writes has it open to
  // read, too.
  if (::write(pipe, &one, 1) != 1) shown.written.fetch_sub(1, std::memory_order_relaxed);
}

void bells::signal() noexcept {
  if (page_ != nullptr) ring(*page_, pipe_.second.number());
}

}  // namespace quire::transport::rings
