// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/channel.hpp"

#include <array>

namespace quire::bootstrap::local {

using outcome = os::transfer::outcome;

void channel::send() {
  while (!out_.empty() && socket_.open()) {
    const std::string& first = *out_.front();
    const auto moved = os::write_some(socket_.number(), std::span(first).subspan(sent_));
    if (moved.what == outcome::would_block) return;
    if (moved.what != outcome::moved) break;
    sent_ += moved.bytes;
    if (sent_ < first.size()) continue;
    out_.pop_front();
    sent_ = 0;
  }
  out_.clear();
  sent_ = 0;
}

void channel::receive() {
  std::array<char, 16384> buffer;
  while (socket_.open() && !ended_) {
    const auto moved = os::read_some(socket_.number(), buffer);
    if (moved.what == outcome::would_block) return;
    if (moved.what == outcome::moved)
      reader_.append({buffer.data(), moved.bytes});
    else
      ended_ = true;
  }
}

}  // namespace quire::bootstrap::local
