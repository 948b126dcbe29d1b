// SPDX-License-Identifier: BSD-3-Clause
// Which transport a node opens, and what all take where one has no memory for it. Application thread, in quire_start().
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/log.hpp"
#include "base/options.hpp"
#include "base/status.hpp"
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/secret.hpp"
#include "os/own_thread.hpp"
#include "transport/loopback/loopback.hpp"
#include "transport/open.hpp"
#include "transport/transport.hpp"

namespace quire::api {

/// The transport of this node, until all nodes have one of the same kind.
class wire_choice {
 public:
  wire_choice(const base::option_values& options, bootstrap::bootstrap& job) : options_(options), job_(job) {}

  base::status open() {
    if (job_.nodes() == 1) {
      opened_ = transport::loopback::open(std::make_shared<transport::loopback::hub>(1), model::node_id{0});
      return {};
    }
    // Before anything listens.
    os::thread_reserve threads;
    if (!threads.take()) return QUIRE_NO_MEMORY;
    const auto secret = bootstrap::agree_on_secret(job_);
    if (!secret.ok()) return secret.why();
    threads.release();
    secret_ = secret.value();
    const auto why = open(kind());
    // The others have to hear of it: they may have what this node has not.
    return can_be_tcp() ? base::status{} : why;
  }
  /// Some node has none: all nodes take TCP, or none goes on.
  base::status open_instead(std::size_t node) {
    if (!can_be_tcp()) {
      base::log(base::log_level::error,
                "node %zu has no shared memory for messages, and transport %s was asked for here", node, kind().data());
      return QUIRE_UNSUPPORTED;
    }
    if (job_.node() == 0) {
      base::log(base::log_level::warning,
                "node %zu has no shared memory for messages: all nodes use TCP, which is slower", node);
    }
    return open("tcp");
  }
  /// Nothing, if this node has none.
  [[nodiscard]] std::span<const std::byte> address() const noexcept {
    return opened_ != nullptr ? opened_->address() : std::span<const std::byte>{};
  }
  [[nodiscard]] std::unique_ptr<transport::transport> take() noexcept { return std::move(opened_); }

 private:
  base::status open(std::string_view kind) {
    opened_.reset();
    const bool system_ucx = options_.choice<base::ucx_choice>(base::option::ucx) == base::ucx_choice::system;
    auto got =
        transport::open(kind, all_local(), options_.text(base::option::net_devices), secret_, outlives(), system_ucx);
    if (!got.ok()) return got.why();
    opened_ = std::move(got.value());
    return {};
  }
  [[nodiscard]] std::string_view kind() const noexcept {
    static constexpr std::string_view kinds[] = {"auto", "shm", "tcp"};
    return kinds[options_.number(base::option::transport)];
  }
  [[nodiscard]] bool can_be_tcp() const { return transport::can_be_tcp_instead(kind(), all_local(), outlives()); }
  [[nodiscard]] bool all_local() const noexcept { return job_.local_nodes() == job_.nodes(); }
  [[nodiscard]] bool outlives() const {
    return options_.choice<base::failure_choice>(base::option::on_failure) == base::failure_choice::notify;
  }

  const base::option_values& options_;
  bootstrap::bootstrap& job_;
  base::secret secret_{};
  std::unique_ptr<transport::transport> opened_{};
};

}  // namespace quire::api
