// SPDX-License-Identifier: BSD-3-Clause
// Frees of memory that another node owns. Nobody waits for them: they are gathered (heap/remote_frees.hpp) and leave
// together when a batch is full, at barriers and other calls of all nodes, when the service thread finds that they have
// waited, when some node has no memory left, and at the end. The message is one that releases: who is handed the memory
// again hears of it after all that was written to it before, as with any free.
//
// A word of a message is an address, and above its 48 bits the life of its region: memory that has gone with its
// region, whose free is still on its way, is not another region's at the same address.
//
// What is wrong with a free is told at once as far as it is known here (no shared address, not aligned as allocations
// are, a second free while the first one waits). Else the owner finds out, and this node says so in its log and counts
// it.
#include <array>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/region_slot.hpp"
#include "core/services.hpp"
#include "heap/size_classes.hpp"
#include "model/membership.hpp"
#include "region/registry.hpp"

namespace quire::region {

using heap::remote_frees;
using model::message;
using model::node_id;

namespace {

node_id node_of(unsigned number) noexcept { return node_id{static_cast<std::uint16_t>(number)}; }

template <class F>
void for_each_address(std::span<const std::byte> value, F f) {
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= value.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t address = 0;
    std::memcpy(&address, value.data() + at, sizeof address);
    f(address);
  }
}

constexpr unsigned address_bits = 48;
constexpr std::uint64_t address_mask = (std::uint64_t{1} << address_bits) - 1;

std::uint64_t word(std::uint64_t address, std::uint32_t life) noexcept {
  return address | std::uint64_t{life & 0xffff} << address_bits;
}

}  // namespace

std::uint64_t registry::word_of(std::uint64_t address) const noexcept {
  const core::region_ref r = core_.regions.find(address);
  return word(address, r != nullptr ? r->about.life : 0);
}

void registry::open_frees(std::size_t batch) {
  free_batch_ = batch;
  frees_ = std::make_unique<remote_frees>(core_.config.nodes, batch);
  using value = std::span<const std::byte>;
  const auto serve = [this](service s, core::service_table::handler h) {
    core_.services.set(static_cast<std::uint32_t>(s), h, this);
  };
  serve(service::release_many, [](void* self, core::core&, const message& m, value v) noexcept {
    static_cast<registry*>(self)->on_release_many(m, v);
  });
  serve(service::release_refused, [](void* self, core::core&, const message& m, value v) noexcept {
    static_cast<registry*>(self)->on_release_refused(m, v);
  });
  serve(service::flush_frees, [](void* self, core::core& e, const message& m, value) noexcept {
    e.answer(m, {}, static_cast<registry*>(self)->send_all_frees(UINT64_MAX));
  });
  core_.on_idle(
      [](void* self) noexcept {
        auto& r = *static_cast<registry*>(self);
        return r.frees_waiting_.load(std::memory_order_relaxed) != 0 && r.send_all_frees(base::now_ns()) != 0;
      },
      this);
}

base::status registry::release_elsewhere(const slice& where, std::uint64_t address) {
  const unsigned node = where.node.value();
  if (node < 64 && (dead_.load(std::memory_order_relaxed) >> node & 1) != 0) return QUIRE_LOST;
  if (address % heap::smallest_object_bytes != 0) return QUIRE_BAD_ADDRESS;
  if (free_batch_ == 1) {
    message m;
    m.a = address;
    return ask(where.node, service::release, m);
  }
  std::vector<std::uint64_t> leaves;
  {
    const std::lock_guard guard(frees_mutex_);
    const auto outcome = frees_->add(node, word_of(address), base::now_ns());
    if (outcome == remote_frees::outcome::twice) return QUIRE_BAD_ADDRESS;
    if (outcome == remote_frees::outcome::full) leaves = frees_->take(node);
    frees_waiting_.store(frees_->waiting(), std::memory_order_relaxed);
  }
  if (!leaves.empty()) core_.as_driver([&] { send_frees(node, leaves); });
  return {};
}

bool registry::waits_to_be_free(const slice& where, std::uint64_t address) {
  if (frees_waiting_.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard guard(frees_mutex_);
  return frees_->contains(where.node.value(), word_of(address));
}

/// Driver's thread.
void registry::send_frees(unsigned node, const std::vector<std::uint64_t>& addresses) {
  if (core_.members.is_dead(node_of(node))) return;
  core_.notify(node_of(node), static_cast<std::uint32_t>(service::release_many), 0, 0, 0,
               std::as_bytes(std::span(addresses)));
}

/// Driver's thread: those that have waited long enough at `now_ns`, or all. How many. The driver does not wait for the
/// mutex: it may be a thread that a signal has interrupted while it held it. Then there will be another time.
std::uint64_t registry::send_all_frees(std::uint64_t now_ns) {
  std::vector<std::pair<unsigned, std::vector<std::uint64_t>>> all;
  {
    const std::unique_lock guard(frees_mutex_, std::try_to_lock);
    if (!guard.owns_lock()) return 0;
    frees_->for_each([&](unsigned node) { all.emplace_back(node, frees_->take(node)); }, now_ns);
    frees_waiting_.store(frees_->waiting(), std::memory_order_relaxed);
  }
  std::uint64_t sent = 0;
  for (const auto& [node, addresses] : all) {
    sent += addresses.size();
    send_frees(node, addresses);
  }
  return sent;
}

void registry::flush_frees() {
  if (frees_waiting_.load(std::memory_order_relaxed) == 0) return;
  core_.as_driver([this] { (void)send_all_frees(UINT64_MAX); });
}

void registry::settle_frees() {
  flush_frees();
  std::vector<unsigned> told;
  {
    const std::lock_guard guard(frees_mutex_);
    told = frees_->take_unconfirmed();
  }
  for (const unsigned node : told) {
    message m;  // behind all that was sent there
    (void)ask(node_of(node), service::release_many, m);
  }
}

/// Has all nodes send what they have gathered; how many frees that were.
std::uint64_t registry::collect_frees() {
  std::uint64_t freed = 0;
  for (unsigned node = 0; node < core_.config.nodes; ++node) {
    message m;
    if (ask(node_of(node), service::flush_frees, m).ok()) freed += m.a;
  }
  return freed;
}

void registry::on_release_many(const message& m, std::span<const std::byte> value) noexcept {
  std::array<std::uint64_t, remote_frees::most> bad;
  std::size_t count = 0;
  for_each_address(value, [&](std::uint64_t sent) {
    const std::uint64_t address = sent & address_mask;
    core::region_ref in;
    shared_heap* const of = heap_of(address, &in);
    if (in == nullptr || word(address, in->about.life) != sent) return;  // it went with its region
    if ((of == nullptr || !of->release_here(address).ok()) && count < bad.size()) bad[count++] = address;
  });
  if (count != 0) {
    core_.notify(m.from, static_cast<std::uint32_t>(service::release_refused), 0, 0, 0,
                 std::as_bytes(std::span(bad).first(count)));
  }
  if (m.kind == model::message_kind::service_request) core_.answer(m, {});
}

void registry::on_release_refused(const message& m, std::span<const std::byte> value) noexcept {
  constexpr std::uint64_t most_lines = 10;
  for_each_address(value, [&](std::uint64_t address) {
    const std::uint64_t before = bad_frees_.fetch_add(1, std::memory_order_relaxed);
    if (before < most_lines) {
      base::log(base::log_level::error,
                "a quire_free(0x%lx) of this node, some time ago, gave nothing back: no live allocation of node %u "
                "starts there; it was "
                "freed twice, or never allocated (QUIRE_FREE_BATCH=1 has the call itself say so)",
                static_cast<unsigned long>(address), static_cast<unsigned>(m.from.value()));
    }
  });
}

}  // namespace quire::region
