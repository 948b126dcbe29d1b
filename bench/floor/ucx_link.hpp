// SPDX-License-Identifier: BSD-3-Clause
// Two processes and UCX between them, with the settings of Quire's transport (src/transport/ucx) and nothing on top:
// both sides poll. Used by the floors of exchange, bandwidth and start.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <span>
#include <string>

#include "floor/peer.hpp"

namespace bench {

/// What arrives. Called from within progress().
class ucx_receiver {
 public:
  /// A message whose payload stands in a buffer that is UCX's own.
  virtual void on_message(std::span<const std::byte> header, std::span<const std::byte> payload) = 0;
  /// Where an announced payload goes; on_message() follows when it is there.
  virtual std::byte* place(std::span<const std::byte> header) = 0;

 protected:
  ~ucx_receiver() = default;
};

class ucx_link {
 public:
  /// Opens UCX, exchanges addresses with the other side, and connects. `transport` is "shm" or "tcp".
  ucx_link(const peer& other, const std::string& transport);
  ~ucx_link();
  ucx_link(const ucx_link&) = delete;
  ucx_link& operator=(const ucx_link&) = delete;

  void receive_with(ucx_receiver& receiver) noexcept { receiver_ = &receiver; }
  /// Header and payload must stay as they are until pending() is 0 again.
  void send(std::span<const std::byte> header, std::span<const std::byte> payload);
  [[nodiscard]] std::size_t pending() const noexcept { return pending_; }
  void progress() noexcept { ucp_worker_progress(worker_); }
  /// Waits until all that was sent has left.
  void flush();

 private:
  static constexpr std::size_t most_header_bytes = 64;
  struct arrival {
    ucx_link* owner;
    std::byte header[most_header_bytes];
    std::size_t header_bytes;
    std::byte* place;
    std::size_t bytes;
  };

  static ucs_status_t on_active_message(void* self, const void* header, std::size_t header_bytes, void* data,
                                        std::size_t bytes, const ucp_am_recv_param_t* how);
  static void on_sent(void* request, ucs_status_t status, void* self);
  static void on_payload(void* request, ucs_status_t status, std::size_t bytes, void* arrived);
  void open(const std::string& transport);
  void connect(const peer& other, bool reports_losses);

  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_ep_h endpoint_ = nullptr;
  ucx_receiver* receiver_ = nullptr;
  std::size_t pending_ = 0;
};

}  // namespace bench
