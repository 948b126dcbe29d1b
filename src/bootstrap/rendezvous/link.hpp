// SPDX-License-Identifier: BSD-3-Clause
// A member's way to the hub: a connection to rank 0 (remote_link), or, on rank 0 itself, the hub with the connections
// of all others (server.hpp). Nothing here blocks; one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bootstrap/local/channel.hpp"
#include "bootstrap/local/frame.hpp"

namespace quire::bootstrap::rendezvous {

class link {
 public:
  virtual ~link() = default;
  /// An encoded frame to the hub; step() sends it.
  virtual void queue(std::shared_ptr<const std::string> bytes) = 0;
  /// Moves what can be moved.
  virtual void step() = 0;
  [[nodiscard]] virtual std::optional<local::frame> next() = 0;
  /// Nothing more comes.
  [[nodiscard]] virtual bool ended() const noexcept = 0;
  /// Some of what was queued has not gone yet.
  [[nodiscard]] virtual bool sending() const noexcept = 0;
  /// Nobody needs this end any more, once this node has left.
  [[nodiscard]] virtual bool may_close() const noexcept = 0;
  /// Readable when step() has something to do.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
};

class remote_link final : public link {
 public:
  /// Of a connection that has been accepted, and does not block. SYSTEM.
  [[nodiscard]] base::status open(os::descriptor socket);
  void queue(std::shared_ptr<const std::string> bytes) override { channel_.queue(std::move(bytes)); }
  void step() override;
  [[nodiscard]] std::optional<local::frame> next() override { return channel_.next(); }
  [[nodiscard]] bool ended() const noexcept override { return channel_.ended() || channel_.broken(); }
  [[nodiscard]] bool sending() const noexcept override { return channel_.sending(); }
  [[nodiscard]] bool may_close() const noexcept override { return true; }
  [[nodiscard]] int descriptor() const noexcept override { return epoll_.number(); }

 private:
  os::descriptor epoll_;
  local::channel channel_;
  bool watched_ = false, for_output_ = false;
};

/// Tells an epoll set what to wait for with a descriptor: input, and output if `output`; with `add` for the first time.
bool watch(int epoll, int number, std::uint64_t id, bool output, bool add) noexcept;

}  // namespace quire::bootstrap::rendezvous
