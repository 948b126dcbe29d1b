// SPDX-License-Identifier: BSD-3-Clause
#include "transport/common/bells.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <new>

#include "base/clock.hpp"
#include "os/file_size.hpp"
#include "os/memory.hpp"
#include "os/process_file.hpp"

namespace quire::transport {

void bells::unmapping::operator()(page* p) const noexcept { os::unmap(p, os::page_bytes); }

bool bells::open() noexcept {
  auto pipe = os::make_pipe();
  // Not os::make_memfd(), which tests make fail: here that would mean no more than that UCX wakes.
  memory_ = os::descriptor(::memfd_create("quire-bells", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const os::file_size_scope scope(os::file_size_scope::limit::raised);
  if (!pipe.ok() || !memory_.open() || ::fchmod(memory_.number(), 0600) != 0 ||
      ::ftruncate(memory_.number(), os::page_bytes) != 0)
    return false;
  (void)::fcntl(memory_.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  for (const int end : {pipe.value().first.number(), pipe.value().second.number()}) {
    if (!os::set_blocking(end, false).ok()) return false;
  }
  int error = 0;
  void* const memory = os::map_shared(memory_.number(), os::page_bytes, nullptr, true, error);
  if (memory == nullptr) return false;
  page_.reset(new (memory) page{});
  pipe_ = std::move(pipe.value());
  own_ = {base::now_ns() | 1, ::getpid(), memory_.number(), pipe_.second.number()};
  page_->mark = own_.mark;
  return true;
}

/// The numbers may mean something else here, if the other node lives in another PID namespace.
bells::peer bells::find(const address& a) {
  if (a.mark == 0) return {};
  peer p;
  const os::descriptor memory(os::open_of_process(a.process, a.page, S_IFREG, os::page_bytes));
  p.pipe = os::descriptor(os::open_of_process(a.process, a.pipe, S_IFIFO, 0));
  if (!memory.open() || !p.pipe.open()) return {};
  int error = 0;
  void* const shown = os::map_shared(memory.number(), os::page_bytes, nullptr, true, error);
  if (shown == nullptr) return {};
  p.shown.reset(static_cast<page*>(shown));
  if (p.shown->mark != a.mark) return {};
  return p;
}

void bells::meet(std::size_t self, const std::vector<address>& others) {
  peers_.resize(others.size());
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (i == self) continue;
    peers_[i] = find(others[i]);
    if (peers_[i].shown != nullptr) peers_[i].shown->met.fetch_add(1, std::memory_order_release);
  }
}

bool bells::met_by_all() const noexcept {
  return page_ != nullptr && !peers_.empty() && page_->met.load(std::memory_order_acquire) == peers_.size() - 1;
}

bool bells::arm(urgency least) noexcept {
  bool woken = false;
  while (read_ != page_->written.load(std::memory_order_relaxed)) {
    char bytes[64];
    const auto got = ::read(pipe_.first.number(), bytes, sizeof bytes);
    if (got <= 0) break;  // it is about to be written
    read_ += static_cast<std::uint32_t>(got);
    woken = true;
  }
  if (woken) return false;
  page_->state.store(least == urgency::now ? for_urgent : for_all, std::memory_order_seq_cst);
  __sync_synchronize();  // what the caller looks at are plain loads
  if (page_->begun.load(std::memory_order_seq_cst) != 0) page_->state.store(for_all, std::memory_order_seq_cst);
  return true;
}

void bells::disarm() noexcept {
  if (page_ != nullptr) page_->state.store(awake, std::memory_order_relaxed);
}

/// With two nodes there is one who writes to a receiver, and nothing to count.
bells::page* bells::counted(std::size_t node, urgency how) noexcept {
  return how == urgency::later && peers_.size() > 2 ? peers_[node].shown.get() : nullptr;
}

void bells::begin(std::size_t node, urgency how) noexcept {
  if (page* const theirs = counted(node, how)) theirs->begun.fetch_add(1, std::memory_order_seq_cst);
}

void bells::end(std::size_t node, urgency how) noexcept {
  if (page* const theirs = counted(node, how)) theirs->begun.fetch_sub(1, std::memory_order_seq_cst);
}

void bells::wake(std::size_t node, urgency how) noexcept {
  if (node >= peers_.size() || peers_[node].shown == nullptr) return;
  page& theirs = *peers_[node].shown;
  // Either they see the message when they look after arm(), or it is seen here that they sleep. (The thread sanitizer
  // knows no std::atomic_thread_fence.)
  __sync_synchronize();
  if (theirs.state.load(std::memory_order_relaxed) < (how == urgency::now ? for_urgent : for_all)) return;
  if (theirs.state.exchange(awake, std::memory_order_seq_cst) != awake) ring(theirs, peers_[node].pipe.number());
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

}  // namespace quire::transport
