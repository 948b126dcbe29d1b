// SPDX-License-Identifier: BSD-3-Clause
// What a launcher may answer over PMI-1: all of it lies ready, then the line is dead.
#include <sys/socket.h>

#include "base/log.hpp"
#include "bootstrap/pmi1/member.hpp"
#include "input.hpp"

using namespace quire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  fuzz::input in(data, std::min<std::size_t>(bytes, 32 << 10));  // what a socket keeps
  const int nodes = 1 + in.take<std::uint8_t>() % 4;
  auto ends = os::make_socket_pair();
  MUST(ends.ok());
  const int launcher = ends.value().second.number();
  MUST(os::set_blocking(ends.value().first.number(), false).ok());
  const auto said = in.rest();
  MUST(::send(launcher, said.data(), said.size(), MSG_DONTWAIT) == static_cast<ssize_t>(said.size()));
  ::shutdown(launcher, SHUT_WR);
  bootstrap::pmi1::member member(std::move(ends.value().first), 0, nodes, 1, 1'000);
  if (!member.open().ok()) return 0;
  const auto all = member.exchange(said.first(std::min<std::size_t>(said.size(), 200)));
  if (all.ok()) MUST(all.value().size() == static_cast<std::size_t>(nodes));
  (void)member.poll_news();
  return 0;
}
