// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher/inquest.hpp"

#include <quire/quire.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <utility>

namespace quire::bootstrap::launcher {

manner manner_of(int wait_status) noexcept {
  if (!WIFSIGNALED(wait_status)) return WEXITSTATUS(wait_status) == QUIRE_PEER_LOST ? manner::bereaved : manner::failed;
  switch (WTERMSIG(wait_status)) {
    case SIGABRT:
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGSYS:
    case SIGTRAP:
    case SIGPIPE:
      return manner::crashed;
    default:
      return manner::killed;
  }
}

void inquest::on_end(ending e, std::uint64_t now) {
  // A library that aborts when a peer is gone, a program that gives up on an error: both after the loss.
  if (e.how != manner::killed && bereaved_.contains(e.node)) e.how = manner::bereaved;
  if (e.how == manner::killed && due_ != 0) due_ = std::min(due_, now);
  if (due_ == 0) due_ = e.how == manner::killed ? now : now + hearing_ns;
  endings_.push_back(std::move(e));
}

std::optional<ending> inquest::decide(std::uint64_t now) {
  if (due_ == 0 || now < due_) return std::nullopt;
  due_ = 0;
  const auto all = std::exchange(endings_, {});
  return *std::max_element(all.begin(), all.end(),
                           [](const ending& a, const ending& b) { return a.how < b.how; });  // the first of equals
}

}  // namespace quire::bootstrap::launcher
