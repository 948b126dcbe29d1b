// SPDX-License-Identifier: BSD-3-Clause
// A node of a job that no launcher of Quire's, and none that speaks PMI, has started: Dask's and Ray's workers,
// torchrun, Kubernetes. All ranks meet at rank 0, which also is the hub between them (hub.hpp) until the end.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/peers.hpp"
#include "bootstrap/rendezvous/hub.hpp"
#include "bootstrap/rendezvous/link.hpp"
#include "bootstrap/rendezvous/place.hpp"

namespace quire::bootstrap::rendezvous {

class server;

/// Start and end by one application thread, descriptor and poll_news by the service thread in between; leave() may meet
/// those in another thread.
class member final : public bootstrap {
 public:
  explicit member(place where) : place_(std::move(where)) {}
  ~member() override;
  /// Meets all others. TIMED_OUT, PEER_LOST, BAD_OPTION, SYSTEM, INVALID; the reason is logged.
  [[nodiscard]] base::status open();

  [[nodiscard]] int node() const noexcept override { return place_.rank; }
  [[nodiscard]] int nodes() const noexcept override { return place_.size; }
  [[nodiscard]] int local_nodes() const noexcept override { return local_nodes_; }
  [[nodiscard]] base::secret known_secret() const noexcept override { return place_.secret; }
  [[nodiscard]] base::result<std::vector<std::vector<std::byte>>> exchange(std::span<const std::byte> mine) override;
  [[nodiscard]] bool accuse(int node, std::uint64_t silent_ms) noexcept override;
  void withdraw(int node) noexcept override;
  void bereaved() noexcept override;
  [[nodiscard]] bool see_deaths() override;
  void kill(int node) noexcept override;
  void abort(int exit_status, const std::string& why) noexcept override;
  void leave(std::string_view statistics_json) noexcept override;
  [[nodiscard]] int descriptor() const noexcept override {
    return epoll_.open() ? epoll_.number() : link_->descriptor();
  }
  [[nodiscard]] news poll_news() noexcept override;

 private:
  [[nodiscard]] base::status meet(server* hub);
  [[nodiscard]] base::status take_members(std::string_view packed);
  void say(local::frame_kind kind, int node, std::string_view payload);
  /// Moves what can be moved, and sorts what has arrived.
  void step();
  void take(const local::frame& frame);
  /// Waits until something can be moved.
  void wait(std::uint64_t deadline_ns) const;
  void flush(std::uint64_t limit_ns);
  /// Ends the process of a node that hangs, if it is on this host.
  void end_process_of(int node) noexcept;

  const place place_;
  int local_nodes_ = 1;
  std::mutex mutex_;  ///< for all below
  std::unique_ptr<link> link_;
  std::vector<introduction> members_;
  std::optional<std::string> met_, gathered_;  ///< what came with `members`, `addresses`
  std::deque<news> news_;
  int accused_ = -1;
  bool leaves_ = false;    ///< leave() was called
  bool left_ = false;      ///< the hub knows it
  bool hub_left_ = false;  ///< rank 0 has left; nobody tells of deaths any more
  bool cut_off_ = false;   ///< the connection has ended
  os::descriptor epoll_;   ///< after see_deaths(): the link's, and those of the processes of others
  peer_watch peers_;
};

/// The job that the environment tells of: QUIRE_RENDEZVOUS and its like, which it clears. NOT_FOUND without it; what is
/// wrong is logged.
[[nodiscard]] base::result<std::unique_ptr<bootstrap>> join_launched();
/// Clears the environment: another process joins, or this one has another launcher.
void forget_launched() noexcept;

}  // namespace quire::bootstrap::rendezvous
