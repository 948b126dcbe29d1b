// SPDX-License-Identifier: BSD-3-Clause
#include "transport/hosts/hosts.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/log.hpp"
#include "os/limits.hpp"
#include "os/process.hpp"

namespace quire::transport::hosts {
namespace {

using model::message;
using model::node_id;
using bytes_view = std::span<const std::byte>;

/// What stands before the addresses of the two; that of the one within has no bytes if there is none.
struct address_prefix {
  std::array<char, 8> mark{'h', 'o', 's', 't', 's', ' ', '1', 0};
  std::uint64_t host = 0;
  std::uint64_t within_bytes = 0;
};

/// An address, taken apart.
struct parts {
  address_prefix prefix{};
  bytes_view within{}, across{};
  [[nodiscard]] bool read(bytes_view address) noexcept {
    if (address.size() <= sizeof prefix) return false;
    std::memcpy(&prefix, address.data(), sizeof prefix);
    address = address.subspan(sizeof prefix);
    if (prefix.mark != address_prefix{}.mark || prefix.within_bytes >= address.size()) return false;
    within = address.first(prefix.within_bytes);
    across = address.subspan(prefix.within_bytes);
    return true;
  }
};

class hosts_transport final : public transport {
 public:
  hosts_transport(std::unique_ptr<transport> within, std::unique_ptr<transport> across)
      : within_(std::move(within)), across_(std::move(across)) {}
  [[nodiscard]] base::status open(std::uint64_t host);

  [[nodiscard]] bytes_view address() const noexcept override { return address_; }
  [[nodiscard]] base::status connect(node_id self, std::span<const bytes_view> addresses,
                                     sink& receiver) noexcept override;
  void send(node_id to, const message& m, bytes_view payload, urgency how, lasting lasts) noexcept override {
    way_to(to).send(to, m, payload, how, lasts);
  }
  void abandon(node_id peer) noexcept override { way_to(peer).abandon(peer); }
  [[nodiscard]] bool stuck() const noexcept override { return across_->stuck() || (has_both_ && within_->stuck()); }
  bool progress() noexcept override {
    const bool here = has_both_ && within_->progress();
    return across_->progress() || here;
  }
  [[nodiscard]] bool sends_pending() const noexcept override {
    return across_->sends_pending() || (has_both_ && within_->sends_pending());
  }
  [[nodiscard]] bool turn_period() noexcept override;
  [[nodiscard]] int descriptor() const noexcept override { return both_.number(); }
  [[nodiscard]] bool arm(urgency least) noexcept override;
  void disarm() noexcept override {
    across_->disarm();
    if (has_both_) within_->disarm();
  }
  void signal() noexcept override { across_->signal(); }
  base::status flush(int timeout_ms) noexcept override;
  [[nodiscard]] const traffic& counters() const noexcept override;
  [[nodiscard]] const char* name() const noexcept override { return name_.c_str(); }

 private:
  [[nodiscard]] transport& way_to(node_id peer) noexcept {
    CHECK(peer.value() < is_here_.size());
    return is_here_[peer.value()] ? *within_ : *across_;
  }

  std::unique_ptr<transport> within_, across_;
  std::vector<std::byte> address_{};
  std::vector<std::uint8_t> is_here_{};  ///< by node: on this host, and reached through the one within
  bool has_both_ = false;                ///< some node is
  os::descriptor both_{};                ///< readable when one of them is
  unsigned turns_within_ = 0, turns_across_ = 0;
  std::string name_{};
  mutable traffic traffic_{};
};

base::status hosts_transport::open(std::uint64_t host) {
  const bytes_view within = within_ != nullptr ? within_->address() : bytes_view{}, across = across_->address();
  address_prefix prefix;
  prefix.host = host;
  prefix.within_bytes = within.size();
  address_.resize(sizeof prefix);
  std::memcpy(address_.data(), &prefix, sizeof prefix);
  address_.insert(address_.end(), within.begin(), within.end());
  address_.insert(address_.end(), across.begin(), across.end());
  both_ = os::descriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!both_.open()) return QUIRE_SYSTEM;
  for (const transport* const one : {within_.get(), across_.get()}) {
    epoll_event readable{};
    readable.events = EPOLLIN;
    if (one != nullptr && ::epoll_ctl(both_.number(), EPOLL_CTL_ADD, one->descriptor(), &readable) != 0)
      return QUIRE_SYSTEM;
  }
  name_ = across_->name();
  return {};
}

base::status hosts_transport::connect(node_id self, std::span<const bytes_view> addresses, sink& receiver) noexcept {
  std::vector<parts> all(addresses.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (all[i].read(addresses[i])) continue;
    base::log(base::log_level::error, "node %zu has another transport than this one, or another version of Quire", i);
    return QUIRE_INVALID;
  }
  // Both of a pair come to the same.
  is_here_.resize(addresses.size());
  const parts& own = all[self.value()];
  for (std::size_t i = 0; i < all.size(); ++i) {
    is_here_[i] = !own.within.empty() && !all[i].within.empty() && all[i].prefix.host == own.prefix.host;
    if (is_here_[i] && i != self.value()) has_both_ = true;
  }
  std::vector<bytes_view> within(all.size()), across(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_here_[i]) within[i] = all[i].within;
    if (!is_here_[i] || i == self.value()) across[i] = all[i].across;
  }
  if (has_both_) {
    if (const auto why = within_->connect(self, within, receiver); !why.ok()) return why;
    name_ = std::string(within_->name()) + " on a host, " + across_->name();
  } else {
    within_.reset();
    std::fill(is_here_.begin(), is_here_.end(), std::uint8_t{0});
  }
  return across_->connect(self, across, receiver);
}

/// Their periods do not begin at the same time. One that has been turned twice since the last turn has handed over what
/// was sent before the first of the two, and so before that last turn.
bool hosts_transport::turn_period() noexcept {
  if (!has_both_) return across_->turn_period();
  constexpr unsigned enough = 2;
  while (turns_within_ < enough && within_->turn_period()) ++turns_within_;
  while (turns_across_ < enough && across_->turn_period()) ++turns_across_;
  if (turns_within_ < enough || turns_across_ < enough) return false;
  turns_within_ = turns_across_ = 0;
  return true;
}

bool hosts_transport::arm(urgency least) noexcept {
  if (!has_both_) return across_->arm(least);
  if (!within_->arm(least)) return false;
  if (across_->arm(least)) return true;
  within_->disarm();
  return false;
}

base::status hosts_transport::flush(int timeout_ms) noexcept {
  if (!has_both_) return across_->flush(timeout_ms);
  const base::status here = within_->flush(timeout_ms / 2), there = across_->flush(timeout_ms - timeout_ms / 2);
  return here.ok() ? there : here;
}

const traffic& hosts_transport::counters() const noexcept {
  traffic_ = across_->counters();
  if (!has_both_) return traffic_;
  const traffic& here = within_->counters();
  traffic_.messages_sent += here.messages_sent;
  traffic_.bytes_sent += here.bytes_sent;
  traffic_.messages_received += here.messages_received;
  traffic_.bytes_received += here.bytes_received;
  traffic_.dropped += here.dropped;
  traffic_.refused += here.refused;
  traffic_.connections_refused += here.connections_refused;
  return traffic_;
}

}  // namespace

base::result<std::unique_ptr<transport>> join(std::unique_ptr<transport> within, std::unique_ptr<transport> across,
                                              std::uint64_t host) {
  auto made = std::make_unique<hosts_transport>(std::move(within), std::move(across));
  if (const auto why = made->open(host); !why.ok()) {
    base::log(base::log_level::error, "no descriptor for messages%s", os::explain_if_no_descriptor().text);
    return why;
  }
  return std::unique_ptr<transport>(std::move(made));
}

}  // namespace quire::transport::hosts
