// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/node.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/check.hpp"
#include "core/fault.hpp"
#include "core/frames.hpp"
#include "core/held_units.hpp"
#include "core/inbox.hpp"
#include "core/protocol_set.hpp"
#include "core/region_slot.hpp"
#include "core/store_status.hpp"
#include "core/thread_state.hpp"
#include "protocol/transaction/domain.hpp"
#include "sim/whole/world.hpp"

namespace quire::whole {
namespace {

constexpr sim::time_ns a_moment = 100, a_while = 5'000;  // what goes on by itself takes time
constexpr std::uint64_t for_ever = std::numeric_limits<std::uint64_t>::max();

std::unique_ptr<wire> make_wire(world& w, node_id self) { return std::make_unique<wire>(w.net(), self); }

}  // namespace

node::node(world& w, const core::configuration& c) : node(w, c, make_wire(w, c.self)) {}

node::node(world& w, const core::configuration& c, std::unique_ptr<wire> own)
    : world_(w),
      job_(c.self.value(), c.nodes),
      wire_(*own),
      crew_(w, *this),
      core_(c, std::move(own), job_, *this, *this) {
  wire_.attach(core_.in);
  wire_.on_departure([this] { meanwhile(); });
  wire_.on_question([this](node_id n) { return world_.at(n.value()).is_dead(); });
  CHECK(core_.open().ok());
  keeper_.open(base_address + first_kept * (std::uint64_t{2} << 20), first_kept);
  core_.begin();
}

void node::arrive(const message& m, std::span<const std::byte> payload) {
  if (dead_) return;
  wire_.arrive(m, payload);
  turn_soon();
}

void node::turn_soon(sim::time_ns least) noexcept {
  if (std::exchange(turn_due_, true)) return;
  world_.net().after(least + world_.net().rng().below(world_.options().drive + 1), [this] {
    turn_due_ = false;
    if (!dead_) turn();
  });
}

void node::turn() {
  CHECK(!std::exchange(in_turn_, true));
  execute_queued();
  (void)core_.round();
  (void)core_.faults.drain_kernel_faults();
  execute_queued();
  in_turn_ = false;
  world_.after_turn(*this);
  if (core_.is_restless() || wire_.has_arrivals()) turn_soon(wire_.has_arrivals() ? 0 : next_look());
}

/// Units that other nodes were asked to take may be a while: nobody polls for them.
sim::time_ns node::next_look() const noexcept { return core_.held.empty() ? a_while : a_moment; }

void node::execute_queued() noexcept {
  while (!queued_.empty()) {
    core::op& next = *queued_.front();
    queued_.erase(queued_.begin());
    core_.execute(next);
  }
}

std::uint64_t node::now() const noexcept { return world_.net().now(); }

bool node::run(core::op& o, std::int64_t timeout_ms, bool in_fault) noexcept {
  if (world_.net().rng().chance(world_.options().queued_percent)) {
    queued_.push_back(&o);
    turn_soon();
  } else {
    CHECK(!std::exchange(in_turn_, true));
    execute_queued();
    core_.execute(o);
    in_turn_ = false;
    world_.after_turn(*this);
    if (core_.is_restless()) turn_soon(next_look());
  }
  return wait_for(o, timeout_ms, in_fault);
}

bool node::wait_for(core::op& o, std::int64_t timeout_ms, bool) noexcept {
  if (o.done()) return true;
  return world_.wait(o, timeout_ms < 0 ? for_ever : now() + static_cast<std::uint64_t>(timeout_ms) * 1'000'000);
}

void node::pause(std::uint64_t ns) noexcept { world_.sleep(ns); }

/// Every second time it looks now and then, and comes later than it is told.
void node::call_at(std::uint64_t ns) noexcept {
  constexpr std::uint64_t longest_tick_ns = 400'000;
  auto& rng = world_.net().rng();
  const std::uint64_t late = rng.chance(50) ? rng.below(longest_tick_ns) : 0;
  world_.net().after((ns > now() ? ns - now() : 0) + late, [this] {
    if (!dead_) turn();
  });
}

base::result<std::unique_ptr<pool::pool>> node::make_pool(const pool::settings& how, std::uint64_t address,
                                                          std::uint64_t bytes, bool, const pool::fine_views& fine,
                                                          pool::view_kind view) {
  if (view != pool::view_kind::shared && fine.count != 0) return QUIRE_UNSUPPORTED;
  if (how.host_file >= 0) {
    auto host = world_.host_memory_of(self(), address, bytes);
    next_frames_ = &host->frames;
    return std::unique_ptr<pool::pool>(std::make_unique<array_pool>(bytes, next_frames_, fine, std::move(host)));
  }
  next_frames_ = frames_.emplace_back(std::make_unique<frame_map>(bytes / os::page_bytes, view)).get();
  return std::unique_ptr<pool::pool>(std::make_unique<array_pool>(bytes, next_frames_, fine));
}

base::result<std::unique_ptr<detect::detector>> node::open_detector(detect::kind which) {
  auto made =
      std::make_unique<table_detector>(which, next_frames_, [this](const std::string& what) { world_.fail(what); });
  made->on_change([this] { meanwhile(); });
  detectors_.push_back(made.get());
  return std::unique_ptr<detect::detector>(std::move(made));
}

namespace {
/// The kernel takes some page of some view away.
void unmap_one(const core::region_slot& r, table_detector& from, sim::random& rng) {
  const auto view = static_cast<unsigned>(rng.below(r.views.fine() + std::uint64_t{1}));
  from.unmap(r.memory->application_view() + r.views.distance({view, rng.below(r.about.bytes)}));
}
}  // namespace

std::byte* node::content_of(const core::region_slot& r, std::uint64_t address) noexcept {
  return static_cast<const array_pool&>(*r.memory).content(address - r.about.base, r.offset_of(address));
}

std::byte* node::reach(std::uint64_t address, access want) {
  constexpr std::uint64_t many = 1000;
  const core::region_ref r = core_.regions.find(address);
  CHECK(r != nullptr && address % sizeof(std::uint64_t) == 0);
  const std::byte* const at = r->memory->application_view() + (address - r->about.base);
  auto& detector = static_cast<table_detector&>(*r->detector);
  const access enough = detector.scans() ? access::read : want;
  auto& rng = world_.net().rng();
  if (rng.below(1000) < world_.options().unmapped_permille) unmap_one(*r, detector, rng);
  const std::uint64_t begin = now();
  std::uint64_t tries = 0;
  for (; detector.right_at(at) < enough; ++tries) {
    if (tries == many) world_.fail("a thread faults a thousand times on one access");
    const auto why = detector.holds_threads() ? wait_in_kernel(detector, at, address, want)
                                              : core_.faults.fault(address, want == access::write, now());
    if (why.code() == QUIRE_LOST || why.code() == core::store_status::unreadable || why.code() == QUIRE_BEYOND)
      return nullptr;
    if (why.code() == QUIRE_CONFLICT) throw restart{};
    if (!why.ok()) world_.fail("a fault ends with status " + std::to_string(why.code()));
    if (world_.failed()) world_.sleep(for_ever);
  }
  if (want == access::write) detector.note_write(at);
  world_.count_access(tries, now() - begin);
  return content_of(*r, address);
}

base::status node::wait_in_kernel(table_detector& kernel, const std::byte* at, std::uint64_t address, access want) {
  core::op until([](core::core&, core::op&) noexcept {}, core::op::type::fault);
  kernel.hold_thread(at, address, want == access::write, until);
  turn_soon();
  (void)world_.wait(until, for_ever);
  return {};
}

bool node::waits_with(intent& i) {
  auto& rng = world_.net().rng();
  if (const unsigned often = world_.options().intruding_percent; often == 0 || !rng.chance(often)) return false;
  intents_.push_back(&i);
  world_.sleep(rng.below(world_.options().think + 1));
  std::erase(intents_, &i);
  return i.done;
}

void node::meanwhile() noexcept {
  for (intent* const i : intents_) {
    if (!i->done && world_.net().rng().chance(50)) i->done = access_if_mapped(*i);
  }
}

bool node::access_if_mapped(intent& i) noexcept {
  core::region_slot* const r = core_.regions.find(i.address);
  const std::byte* const at = r->memory->application_view() + (i.address - r->about.base);
  std::byte* const content = content_of(*r, i.address);
  auto& detector = static_cast<table_detector&>(*r->detector);
  if (detector.right_at(at) < (detector.scans() ? access::read : i.want)) return false;
  if (i.began != nullptr &&
      !static_cast<transaction::domain&>(core_.protocols.domain(transaction::id)).word().try_begin())
    return false;
  if (i.want == access::write) {
    detector.note_write(at);
    std::memcpy(content, &i.value, sizeof i.value);
  } else {
    std::memcpy(&i.value, content, sizeof i.value);
    i.latest = world_.latest(r->natural(i.address));
  }
  note_access(i);
  if (i.began != nullptr) (*i.began)(i.value);
  return true;
}

bool node::begin_meanwhile(std::uint64_t address, const std::function<void(std::uint64_t)>& began) {
  intent i{.address = address, .began = &began};
  if (!waits_with(i)) return false;
  core::this_thread().inside_transaction = true;
  return true;
}

void node::note_access(const intent& i) {
  const bool writes = i.want == access::write;
  world_.net().note(self(), writes ? "writes" : "reads", (i.address - base_address) / sizeof i.value, i.value);
  const core::region_ref r = core_.regions.find(i.address);
  if (writes && !static_cast<const array_pool&>(*r->memory).has_copies())
    world_.wrote(r->natural(i.address), i.value, self());
}

bool node::try_load(std::uint64_t address, std::uint64_t& value) {
  const std::byte* const at = reach(address, access::read);
  if (at == nullptr) return false;
  std::memcpy(&value, at, sizeof value);
  note_access({.address = address, .value = value});
  return true;
}

bool node::try_store(std::uint64_t address, std::uint64_t value) {
  intent i{.address = address, .want = access::write, .value = value};
  if (waits_with(i)) return true;
  std::byte* const at = reach(address, access::write);
  if (at == nullptr) return false;
  std::memcpy(at, &value, sizeof value);
  note_access(i);
  return true;
}

std::uint64_t node::load(std::uint64_t address) {
  std::uint64_t value = 0;
  if (!try_load(address, value)) world_.fail("nobody has a word that is read");
  return value;
}

std::uint64_t node::load(std::uint64_t address, std::uint64_t& latest) {
  intent i{.address = address};
  if (!waits_with(i)) {
    i.value = load(address);
    i.latest = world_.latest(core_.regions.find(address)->natural(address));
  }
  latest = i.latest;
  return i.value;
}

void node::store(std::uint64_t address, std::uint64_t value) {
  if (!try_store(address, value)) world_.fail("nobody has a word that is written");
}

std::uint64_t node::peek(std::uint64_t address) noexcept {
  const core::region_ref r = core_.regions.find(address);
  std::uint64_t value = 0;
  std::memcpy(&value, r->memory->system_view() + r->offset_of(address), sizeof value);
  return value;
}

bool node::has_frame(std::uint64_t address) noexcept {
  const core::region_ref r = core_.regions.find(address);
  const std::uint64_t frame = r->layout.frame_of(r->layout.unit_of(r->offset_of(address)));
  return !r->tracks_frames() || r->frames.data()[frame].resident != 0;
}

}  // namespace quire::whole
