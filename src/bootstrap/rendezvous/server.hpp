// SPDX-License-Identifier: BSD-3-Clause
// Rank 0's port, and the connections of all others: bytes on them become what the hub hears, what the hub says becomes
// bytes. Who does not prove that it knows the secret gets no further.
#pragma once

#include <array>
#include <map>

#include "bootstrap/rendezvous/hub.hpp"
#include "bootstrap/rendezvous/link.hpp"
#include "bootstrap/rendezvous/place.hpp"
#include "bootstrap/proof.hpp"

namespace quire::bootstrap::rendezvous {

class server final : public link {
 public:
  explicit server(const place& where) : place_(where), hub_(where.size) { hub_.on_open(0, 0); }
  /// Listens. SYSTEM, with a sentence in `why`.
  [[nodiscard]] base::status open(std::string& why);
  [[nodiscard]] hub& decides() noexcept { return hub_; }

  void queue(std::shared_ptr<const std::string> bytes) override { mine_.append(*bytes); }
  void step() override;
  [[nodiscard]] std::optional<local::frame> next() override { return for_me_.next(); }
  [[nodiscard]] bool ended() const noexcept override { return false; }
  [[nodiscard]] bool sending() const noexcept override;
  [[nodiscard]] bool may_close() const noexcept override { return hub_.all_left() && !sending(); }
  [[nodiscard]] int descriptor() const noexcept override { return epoll_.number(); }

 private:
  struct connection {
    os::descriptor socket;  ///< until it has proved that it belongs to us
    local::channel channel;
    challenge asked{};
    std::array<char, sizeof(answer)> told{};
    std::size_t told_bytes = 0;
    std::string where;
    std::uint64_t since_ns = 0;
    bool proved = false, closes = false, for_output = false;
  };

  void take_connections();
  void add(os::descriptor socket, std::string where);
  void make_room();
  void on_ready(int id);
  /// False: it is to be closed.
  [[nodiscard]] bool hear_proof(int id, connection& one);
  void hear_frames(int id, connection& one);
  void close(int id);
  void hear_own();
  void deliver();

  const place place_;
  hub hub_;
  os::descriptor listener_, epoll_;
  std::map<int, connection> connections_;
  int next_id_ = 1;
  local::frame_reader mine_, for_me_;  ///< of rank 0 itself: what it says, and what it hears
  bool told_stranger_ = false;
};

}  // namespace quire::bootstrap::rendezvous
