// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/rendezvous/link.hpp"

#include <sys/epoll.h>

namespace quire::bootstrap::rendezvous {

bool watch(int epoll, int number, std::uint64_t id, bool output, bool add) noexcept {
  epoll_event event{};
  event.events = output ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.u64 = id;
  return ::epoll_ctl(epoll, add ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, number, &event) == 0;
}

base::status remote_link::open(os::descriptor socket) {
  epoll_ = os::descriptor(::epoll_create1(EPOLL_CLOEXEC));
  channel_ = local::channel(std::move(socket));
  watched_ = epoll_.open() && watch(epoll_.number(), channel_.descriptor(), 0, false, true);
  return watched_ ? QUIRE_OK : QUIRE_SYSTEM;
}

void remote_link::step() {
  channel_.send();
  channel_.receive();
  if (!watched_) return;
  if (ended()) {  // it would stay readable
    (void)::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, channel_.descriptor(), nullptr);
    watched_ = false;
  } else if (channel_.sending() != for_output_) {
    for_output_ = !for_output_;
    (void)watch(epoll_.number(), channel_.descriptor(), 0, for_output_, false);
  }
}

}  // namespace quire::bootstrap::rendezvous
