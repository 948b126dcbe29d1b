// SPDX-License-Identifier: BSD-3-Clause
// One end of a control socket: queues frames to send, collects frames that arrive, never blocks. Used by the node
// (member) and by the launcher. One thread at a time.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "bootstrap/local/frame.hpp"
#include "os/process.hpp"

namespace quire::bootstrap::local {

class channel {
 public:
  channel() = default;
  /// The socket must not block.
  explicit channel(os::descriptor socket) noexcept : socket_(std::move(socket)) {}

  /// Puts an encoded frame behind those that wait; one buffer may be queued on many channels.
  void queue(std::shared_ptr<const std::string> bytes) { out_.push_back(std::move(bytes)); }
  /// Sends what the socket takes. What cannot be sent any more, because the other end is gone, is dropped.
  void send();
  [[nodiscard]] bool sending() const noexcept { return !out_.empty(); }

  /// Takes in what has arrived.
  void receive();
  [[nodiscard]] std::optional<frame> next() { return reader_.next(); }
  /// The other end is gone (frames that it sent before may still be there), or speaks nonsense.
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  [[nodiscard]] bool broken() const noexcept { return reader_.broken(); }

  [[nodiscard]] int descriptor() const noexcept { return socket_.number(); }
  void close() noexcept { socket_.reset(); }

 private:
  os::descriptor socket_;
  std::deque<std::shared_ptr<const std::string>> out_;
  std::size_t sent_ = 0;  ///< bytes of the first in `out_`
  frame_reader reader_;
  bool ended_ = false;
};

}  // namespace quire::bootstrap::local
