// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/lines/kill_switch.hpp"

#include <fcntl.h>
#include <linux/filter.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace quire::bootstrap {
namespace {

constexpr std::uint32_t header_bytes = 8;  ///< of UDP: the filter sees it
using quarters = std::array<std::uint32_t, 4>;

quarters quarters_of(const base::secret& word) {
  return {static_cast<std::uint32_t>(word.first >> 32), static_cast<std::uint32_t>(word.first),
          static_cast<std::uint32_t>(word.second >> 32), static_cast<std::uint32_t>(word.second)};
}

/// Lets datagrams through that are just the word.
bool set_filter(int number, const base::secret& word) noexcept {
  constexpr std::uint8_t drop = 9;  ///< steps from the first comparison to the last line
  const quarters text = quarters_of(word);
  std::array<sock_filter, 12> lines{};
  std::size_t n = 0;
  lines[n++] = BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0);
  lines[n++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, header_bytes + sizeof text, 0, drop);
  for (std::uint32_t i = 0; i < text.size(); ++i) {
    lines[n++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, header_bytes + 4 * i);
    lines[n++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, text[i], 0, static_cast<std::uint8_t>(drop - 2 * (i + 1)));
  }
  lines[n++] = BPF_STMT(BPF_RET | BPF_K, 0xffff);
  lines[n++] = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog program{static_cast<unsigned short>(n), lines.data()};
  const int yes = 1;
  return ::setsockopt(number, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0 &&
         ::setsockopt(number, SOL_SOCKET, SO_LOCK_FILTER, &yes, sizeof yes) == 0;
}

}  // namespace

/// The filter is there before anything can arrive, and what has arrived is looked at by nobody.
bool kill_switch::open(const base::secret& word) noexcept {
  os::descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in here{};
  here.sin_family = AF_INET;
  socklen_t bytes = sizeof here;
  if (!socket.open() || !set_filter(socket.number(), word) || ::fcntl(socket.number(), F_SETOWN, ::getpid()) != 0 ||
      ::fcntl(socket.number(), F_SETSIG, SIGKILL) != 0 ||
      ::fcntl(socket.number(), F_SETFL, ::fcntl(socket.number(), F_GETFL) | O_ASYNC) != 0 ||
      ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0 ||
      ::getsockname(socket.number(), reinterpret_cast<sockaddr*>(&here), &bytes) != 0)
    return false;
  port_ = ntohs(here.sin_port);
  socket_ = std::move(socket);
  return true;
}

void kill_switch::close_in_child() noexcept { socket_.reset(); }

void kill_switch::send(const sockaddr_in& host, std::uint16_t port, const base::secret& word) noexcept {
  const os::descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in there = host;
  there.sin_port = htons(port);
  quarters text = quarters_of(word);
  for (auto& quarter : text) quarter = htonl(quarter);
  if (socket.open())
    (void)::sendto(socket.number(), text.data(), sizeof text, MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&there),
                   sizeof there);
}

}  // namespace quire::bootstrap
