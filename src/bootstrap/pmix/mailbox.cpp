// SPDX-License-Identifier: BSD-3-Clause
// See mailbox.hpp. Empty in a build without PMIx.
#ifdef QUIRE_HAVE_PMIX
#include "bootstrap/pmix/mailbox.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

namespace quire::bootstrap::pmix {
namespace {

/// What an event means to the job; nothing for those that mean nothing.
std::optional<news> meaning_of(pmix_status_t event, int node) {
  const std::string who = "node " + std::to_string(node);
  const auto died = [&](const char* how) { return news{news::kind::node_died, node, who + how}; };
  switch (event) {
    case PMIX_ERR_LOST_CONNECTION:
    case PMIX_ERR_LOST_CONNECTION_TO_SERVER:
      return news{news::kind::job_ends, -1, "the launcher is gone"};
    case PMIX_ERR_PROC_ABORTED:
    case PMIX_ERR_PROC_ABORTED_BY_SIG:
      return died(" was killed by a signal, says the launcher");
    case PMIX_ERR_PROC_REQUESTED_ABORT:
    case PMIX_ERR_PROC_KILLED_BY_CMD:
      return died(" was ended by the launcher");
    case PMIX_ERR_PROC_TERM_WO_SYNC:
      return died(" ended without quire_end(), says the launcher");
    case PMIX_ERR_JOB_ABORTED:
    case PMIX_ERR_JOB_ABORTED_BY_SIG:
    case PMIX_ERR_JOB_CANCELED:
    case PMIX_ERR_JOB_TERM_WO_SYNC:
    case PMIX_ERR_JOB_NON_ZERO_TERM:
      return news{news::kind::job_ends, -1, "the launcher ends the job"};
    default:
      return std::nullopt;
  }
}

}  // namespace

mailbox& mailbox::instance() {
  static mailbox* const only = new mailbox;  // for good: PMIx's thread may outlive static objects
  return *only;
}

base::status mailbox::open() {
  doorbell_ = os::descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return doorbell_.open() ? QUIRE_OK : QUIRE_SYSTEM;
}

std::optional<news> mailbox::take_news() {
  const std::scoped_lock lock(mutex_);
  std::uint64_t rings;
  [[maybe_unused]] const auto heard = ::read(doorbell_.number(), &rings, sizeof rings);
  if (news_.empty()) return std::nullopt;
  news first = std::move(news_.front());
  news_.pop_front();
  const std::uint64_t more = 1;
  if (!news_.empty()) [[maybe_unused]]
    const auto rung = ::write(doorbell_.number(), &more, sizeof more);
  return first;
}

std::uintptr_t mailbox::begin_fence() {
  const std::scoped_lock lock(mutex_);
  fence_ended_.reset();
  return ++fence_;
}

base::status mailbox::wait_for_fence(int limit_ms) {
  std::unique_lock lock(mutex_);
  const auto over = [this] { return fence_ended_.has_value() || !news_.empty(); };
  if (!changed_.wait_for(lock, std::chrono::milliseconds(limit_ms), over)) return QUIRE_TIMED_OUT;
  if (!news_.empty()) return QUIRE_PEER_LOST;
  if (*fence_ended_ == PMIX_ERR_TIMEOUT) return QUIRE_TIMED_OUT;
  return *fence_ended_ == PMIX_SUCCESS ? QUIRE_OK : QUIRE_SYSTEM;
}

void mailbox::on_fence(pmix_status_t status, void* number) noexcept {
  mailbox& box = instance();
  const std::scoped_lock lock(box.mutex_);
  if (reinterpret_cast<std::uintptr_t>(number) != box.fence_) return;  // one that was given up
  box.fence_ended_ = status;
  box.changed_.notify_all();
}

void mailbox::on_event(std::size_t, pmix_status_t status, const pmix_proc_t* source, pmix_info_t info[],
                       std::size_t infos, pmix_info_t*, std::size_t, pmix_event_notification_cbfunc_fn_t done,
                       void* data) noexcept {
  int node = source != nullptr && source->rank <= PMIX_RANK_VALID ? static_cast<int>(source->rank) : -1;
  for (std::size_t i = 0; i < infos; ++i) {
    if (std::strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC) == 0 && info[i].value.type == PMIX_PROC)
      node = static_cast<int>(info[i].value.data.proc->rank);
  }
  if (auto what = meaning_of(status, node)) {
    mailbox& box = instance();
    const std::scoped_lock lock(box.mutex_);
    box.news_.push_back(std::move(*what));
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto rung = ::write(box.doorbell_.number(), &one, sizeof one);
    box.changed_.notify_all();
  }
  if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, data);
}

}  // namespace quire::bootstrap::pmix
#endif
