// SPDX-License-Identifier: BSD-3-Clause
// Which transport a node opens, and what all take where one has no memory for it, or cannot share it with another.
// Application thread, in quire_start().
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "start/introductions.hpp"
#include "base/options.hpp"
#include "base/status.hpp"
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/secret.hpp"
#include "transport/transport.hpp"

namespace quire::api {

/// How messages go between the nodes of the job, for `quire run --stats`.
struct wire_account {
  std::string kind;  ///< "shm", "tcp", "ucx": as UCX chooses; empty: there is one node
  std::string why;   ///< not through shared memory, with what helps; empty where they do
};

/// The transport of this node, until all nodes have one of the same kind.
class wire_choice {
 public:
  wire_choice(const base::option_values& options, bootstrap::bootstrap& job) : options_(options), job_(job) {}

  base::status open();
  /// Collective: nodes tell each other what they are, with the addresses of their transports. Where some node of a job
  /// on one host has no shared memory, or cannot share it, all take TCP, or none goes on.
  base::status meet(introductions& others, const introduction& mine);
  [[nodiscard]] std::unique_ptr<transport::transport> take() noexcept { return std::move(opened_); }
  [[nodiscard]] wire_account account() const;
  /// Whether nodes of a host are to talk through shared memory, if they can: nobody has asked for anything else.
  [[nodiscard]] bool is_by_memory() const noexcept;

 private:
  base::status open(std::string_view kind);
  base::status open_instead(const std::string& why, const std::string& help);
  /// Nothing, if this node has none.
  [[nodiscard]] std::span<const std::byte> address() const noexcept {
    return opened_ != nullptr ? opened_->address() : std::span<const std::byte>{};
  }
  [[nodiscard]] std::string_view kind() const noexcept;
  [[nodiscard]] bool is_memory() const noexcept { return now_ == "shm" || (now_ == "auto" && all_local_); }
  [[nodiscard]] bool can_be_tcp() const;
  [[nodiscard]] bool outlives() const {
    return options_.choice<base::failure_choice>(base::option::on_failure) == base::failure_choice::notify;
  }

  const base::option_values& options_;
  bootstrap::bootstrap& job_;
  const bool all_local_ = job_.local_nodes() == job_.nodes();
  bool by_loopback_ = all_local_;
  base::secret secret_{};
  std::unique_ptr<transport::transport> opened_{};
  std::string_view now_{};  ///< of `opened_`: "auto", "shm", "tcp"
  std::string why_tcp_{};   ///< found out with the others
};

}  // namespace quire::api
