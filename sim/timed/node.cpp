// SPDX-License-Identifier: BSD-3-Clause
#include "sim/timed/node.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <utility>

#include "base/check.hpp"
#include "core/counters.hpp"
#include "core/diffs.hpp"
#include "core/fault.hpp"
#include "core/fault_ranges.hpp"
#include "core/inbox.hpp"
#include "core/known_machines.hpp"
#include "core/minipages/minipages.hpp"
#include "core/region_builder.hpp"
#include "core/region_slot.hpp"
#include "core/sync_calls.hpp"
#include "core/transactions.hpp"
#include "core/unit_calls.hpp"
#include "model/atomic_operation.hpp"
#include "protocol/release/node.hpp"
#include "sim/random.hpp"
#include "sync/call.hpp"

namespace quire::timed {
namespace {

constexpr std::uint64_t granule = std::uint64_t{2} << 20;
/// Of all that programs write: numbers change in their other bytes.
constexpr std::uint64_t sign_and_exponent = 0x3fe0'0000'0000'0000;

/// Whole units, and whole pages.
std::uint64_t bytes_of(const region_size& size) {
  const std::uint64_t grain = size.minipage_bytes != 0 ? page_bytes : size.unit_bytes;
  return std::max<std::uint64_t>((size.bytes + grain - 1) / grain, 1) * grain;
}
std::uint16_t views_of(const region_size& size) {
  return static_cast<std::uint16_t>(size.minipage_bytes != 0 ? page_bytes / size.minipage_bytes : 0);
}
std::uint64_t room_for(const region_size& size) {
  return (core::view_map(bytes_of(size), views_of(size)).span() / granule + 1) * granule;
}

core::configuration configure(const node_options& options, std::span<const region_size> regions, node_id self) {
  core::configuration c;
  c.self = self;
  c.nodes = options.nodes;
  c.base = node::base_address;
  for (const region_size& size : regions) c.bytes += room_for(size);
  c.read_ahead = options.read_ahead;
  c.learn_writes = options.learn_writes;
  c.updates = options.updates;
  options.commit->choose(c);
  return c;
}

/// Thrown out of the body of a transaction that is doomed.
struct restart {};

void complain(const std::string& what) {
  std::fprintf(stderr, "the model: %s\n", what.c_str());
  std::abort();
}

}  // namespace

/// A table of rights whose changes have a price.
class node::priced_detector final : public whole::table_detector {
 public:
  priced_detector(detect::kind which, whole::frame_map* const& next_frames, node& here)
      : table_detector(which, next_frames, complain), costs_(here.options_.costs), here_(here) {}
  [[nodiscard]] int attach(std::byte* address, std::uint64_t bytes, bool private_copies) noexcept override {
    if (private_copies) copied_[address].resize(bytes / page_bytes);
    return table_detector::attach(address, bytes, private_copies);
  }
  [[nodiscard]] int permit(std::byte* address, std::size_t bytes, access from, access to) noexcept override {
    const int error = table_detector::permit(address, bytes, from, to);
    if (error == 0) here_.spend(costs_.permit_ns + bytes / page_bytes * costs_.permit_page_ns);
    if (error == 0 && to == access::write) here_.spend(set_copied(address, bytes, true) * costs_.copy_page_ns);
    return error;
  }
  [[nodiscard]] int protect(std::byte* address, std::size_t bytes, access from, access to) noexcept override {
    here_.spend(costs_.protect_ns + bytes / page_bytes * costs_.protect_page_ns);
    if (to == access::none) here_.spend(set_copied(address, bytes, false) * costs_.drop_page_ns);
    const int error = table_detector::protect(address, bytes, from, to);
    here_.on_loss();
    return error;
  }

 private:
  /// Which of these pages have private copies, where threads write such. How many had not, or had.
  std::size_t set_copied(const std::byte* address, std::size_t bytes, bool copied) noexcept {
    const auto next = copied_.upper_bound(address);
    if (next == copied_.begin()) return 0;
    auto& [base, pages] = *std::prev(next);
    const std::size_t first = static_cast<std::size_t>(address - base) / page_bytes;
    if (first >= pages.size()) return 0;
    std::size_t changed = 0;
    for (std::size_t page = first; page < first + bytes / page_bytes; ++page) {
      changed += pages[page] != copied ? 1 : 0;
      pages[page] = copied;
    }
    return changed;
  }

  std::map<const std::byte*, std::vector<bool>> copied_{};
  const prices& costs_;
  node& here_;
};

node::node(const node_options& options, std::span<const region_size> regions, node_id self, fabric& net, cores& machine)
    : node(options, regions, self, net, machine, std::make_unique<wire>(net, options.costs, self, *this)) {}

node::node(const node_options& options, std::span<const region_size> regions, node_id self, fabric& net, cores& machine,
           std::unique_ptr<wire> own)
    : options_(options),
      self_(self),
      net_(net),
      machine_(machine),
      job_(self.value(), options.nodes),
      wire_(*own),
      core_(configure(options, regions, self), std::move(own), job_, *this, *this) {
  wire_.attach(core_.in);
  CHECK(core_.open().ok());
  core_.begin();
  for (const region_size& size : regions) add_region(size);
}

void node::add_region(const region_size& size) {
  core::region_description about;
  about.id = static_cast<std::uint16_t>(bases_.size());
  about.base = next_base_;
  next_base_ += room_for(size);
  about.unit_bytes = static_cast<std::uint32_t>(size.minipage_bytes != 0 ? size.minipage_bytes : size.unit_bytes);
  about.bytes = bytes_of(size);
  about.views = views_of(size);
  if (about.views != 0) about.layout = core::layouts::divided.id;
  about.placement = size.home < 0 ? QUIRE_PLACE_BLOCK : QUIRE_PLACE_NODE;
  about.home = static_cast<std::uint16_t>(std::max(size.home, 0));
  about.consistency = static_cast<std::uint8_t>(size.transactional ? QUIRE_TRANSACTIONAL
                                                : options_.relaxed ? QUIRE_RELEASE
                                                                   : QUIRE_SEQUENTIAL);
  if (size.transactional) pages_of_commit_ = std::max<std::uint64_t>(about.unit_bytes / page_bytes, 1);
  CHECK(core_.builder.add(about).ok());
  bases_.push_back(about.base);
}

/// What private copies hold matters to nobody here: threads write frames, and only the price of copies is theirs
/// (priced_detector).
base::result<std::unique_ptr<pool::pool>> node::make_pool(const pool::settings&, std::uint64_t, std::uint64_t bytes,
                                                          bool, const pool::fine_views& fine, pool::view_kind) {
  next_frames_ = frames_.emplace_back(std::make_unique<whole::frame_map>(bytes / page_bytes)).get();
  return std::unique_ptr<pool::pool>(std::make_unique<whole::array_pool>(bytes, next_frames_, fine));
}

base::result<std::unique_ptr<detect::detector>> node::open_detector(detect::kind which) {
  auto made = std::make_unique<priced_detector>(which, next_frames_, *this);
  detector_ = made.get();
  return std::unique_ptr<detect::detector>(std::move(made));
}

// ---- The thread

void node::start(program p) {
  thread_ = std::make_unique<whole::fibre>([this, p = std::move(p)] {
    p(*this);
    machine_.leave(self_, net_.now());
  });
  go_on_at(net_.now());
}

void node::sleep(time_ns ns) {
  go_on_at(net_.now() + ns);
  whole::fibre::yield();
}

void node::begin_phase() noexcept {
  const std::uint64_t draw = sim::mix(options_.seed << 40 ^ std::uint64_t{self_.value()} << 24 ^ ++phases_);
  speed_ = 1 + options_.unevenness * (2 * static_cast<double>(draw >> 11) * 0x1p-53 - 1);
}

void node::compute(time_ns asked) {
  const time_ns ns = at_speed(asked);
  for (time_ns done = 0; done < ns;) done += use_core(ns - done);
}

/// Computes for so long at most: until it loses its core or, in work(), something else. For how long it has.
time_ns node::use_core(time_ns ns) {
  machine_.want(self_, net_.now());
  while (!machine_.has(self_)) whole::fibre::yield();
  const time_ns began = net_.now(), most = std::min(ns, machine_.end_of_slice(self_) - began);
  stolen_ = 0;
  has_lost_ = false;
  sleep(most);
  // It has to have in addition what its core did for others meanwhile.
  for (time_ns had = 0; stolen_ > had && !has_lost_ && machine_.has(self_);)
    sleep(stolen_ - std::exchange(had, stolen_));
  machine_.look_at_slice(self_, net_.now());
  const time_ns passed = net_.now() - began;
  return std::min(passed - std::min(passed, stolen_), ns);
}

core::region_slot& node::slot_of(unsigned region) const {
  return *core_.regions.slot(model::region_id{static_cast<std::uint16_t>(region)});
}

std::byte* node::reach(unsigned region, std::uint64_t byte, access want, bool natural) {
  core::region_slot& r = slot_of(region);
  const std::uint64_t distance = natural || r.views.fine() == 0 ? byte : r.fine(r.about.base + byte) - r.about.base;
  const std::byte* const at = r.memory->application_view() + distance;
  while (detector_->right_at(at) < want) {
    const auto why = core_.faults.fault(r.about.base + distance, want == access::write, now());
    if (why.code() == QUIRE_CONFLICT) throw restart{};
    CHECK(why.ok());
  }
  return r.memory->system_view() + byte;
}

/// Of the page, where that is not divided.
std::uint64_t node::end_of_unit(unsigned region, std::uint64_t byte) const {
  const core::region_slot& r = slot_of(region);
  const std::uint64_t end = (byte / page_bytes + 1) * page_bytes;
  return r.views.fine() == 0 ? end : std::min(end, r.layout.offset_of(r.layout.unit_of(byte) + 1));
}

void node::read(unsigned region, std::uint64_t first, std::uint64_t bytes) {
  for (std::uint64_t at = first; at < first + bytes; at = end_of_unit(region, at))
    (void)reach(region, at, access::read);
}

void node::read_natural(unsigned region, std::uint64_t first, std::uint64_t bytes) {
  for (std::uint64_t at = first; at < first + bytes; at = (at / page_bytes + 1) * page_bytes)
    (void)reach(region, at, access::read, true);
}

void node::write(unsigned region, std::uint64_t first, std::uint64_t bytes, std::uint64_t stride) {
  std::uint64_t end = 0;
  std::byte* place = nullptr;
  for (std::uint64_t at = first; at < first + bytes; at += stride, place += stride) {
    if (at >= end) place = reach(region, at, access::write), end = end_of_unit(region, at);
    const std::uint64_t value = sign_and_exponent | sim::mix(++written_) >> 16;
    std::memcpy(place, &value, sizeof value);
  }
}

void node::work(time_ns asked, std::span<const use> what) {
  const time_ns ns = std::max<time_ns>(at_speed(asked), 1);
  std::vector<std::uint64_t> written(what.size());  // bytes of each that have their new content
  for (time_ns done = 0; done < ns;) {
    for (const use& u : what) (void)reach(u.region, u.place(done, ns), u.want);
    // Up to where the next page of something is missing. What another access has taken away again was used once.
    time_ns until = ns;
    for (std::size_t i = 0; i < what.size(); ++i) {
      const use& u = what[i];
      std::uint64_t at = u.place(done, ns);
      const std::uint64_t once = at - u.first + u.stride;
      while (at < u.first + u.bytes && may(u, at)) at = (at / page_bytes + 1) * page_bytes;
      const std::uint64_t reached = std::min(std::max(at - u.first, once), u.bytes);
      if (reached < u.bytes)
        until = std::min(until, std::max<time_ns>((reached * ns + u.bytes - 1) / u.bytes, done + 1));
      if (u.want != access::write || reached <= written[i]) continue;
      const std::uint64_t from = (written[i] + u.stride - 1) / u.stride * u.stride;
      if (from < reached && at > u.first + from)
        write(u.region, u.first + from, std::min(at - u.first, u.bytes) - from, u.stride);
      written[i] = reached;
    }
    works_ = true;
    done += use_core(until - done);
    works_ = false;
  }
}

bool node::may(const use& u, std::uint64_t at) const {
  return detector_->right_at(slot_of(u.region).memory->application_view() + at) >= u.want;
}

/// A thread that computes with what has gone notices it at once.
void node::on_loss() noexcept {
  if (!works_) return;
  has_lost_ = true;
  go_on_at(std::max(clock_, net_.now()));
}

void node::prefetch(unsigned region, std::uint64_t first, std::uint64_t bytes, access want) {
  prefetch_range(core_, bases_[region] + first, bytes, want);
}

std::uint64_t node::count_up(unsigned region, std::uint64_t at) {
  std::uint64_t before = 0;
  CHECK(core_.calls.atomic(bases_[region] + at, static_cast<std::uint32_t>(model::atomic_operation::add), 1, 0, before)
            .ok());
  begin_phase();
  return before;
}

// As in api/transactions.cpp.
void node::atomically(const std::function<void()>& body) {
  constexpr unsigned attempts_before_turn = 4;
  constexpr time_ns shortest_ns = 2'000;
  for (unsigned begun = 1; !attempt(body, begun > attempts_before_turn); ++begun) {
    sleep(sim::mix(options_.seed << 32 ^ std::uint64_t{self_.value()} << 24 ^ ++pauses_) %
          (shortest_ns << (begun + 1)));
  }
}

/// False: it is undone.
bool node::attempt(const std::function<void()>& body, bool turn) {
  sleep(options_.costs.begin_ns);
  CHECK(core_.transactions.begin(turn).ok());
  bool doomed = false;
  try {
    body();
  } catch (const restart&) {
    doomed = true;
  }
  if (!doomed) return core_.transactions.commit().ok();
  (void)core_.transactions.abort();
  return false;
}

std::uint64_t node::make_mutex() {
  sync::call c;
  c.what = sync::operation::mutex_create;
  synchronise(c);
  return c.object;
}

void node::call_mutex(sync::operation what, std::uint64_t mutex) {
  sync::call c;
  c.what = what;
  c.object = mutex;
  CHECK(core_.objects.synchronise(c, -1).ok());
}
void node::lock(std::uint64_t mutex) { call_mutex(sync::operation::mutex_lock, mutex); }
void node::unlock(std::uint64_t mutex) { call_mutex(sync::operation::mutex_unlock, mutex); }

void node::barrier() {
  sync::call c;
  c.what = sync::operation::barrier_wait;
  synchronise(c);
}

void node::reduce(unsigned doubles) {
  static constexpr std::array<std::byte, sync::value::capacity> numbers{};
  sync::call c;
  c.what = sync::operation::reduce_f64;
  c.count = doubles;
  c.combine = QUIRE_SUM;
  c.values = sync::value(std::span(numbers).first(doubles * sizeof(double)));
  synchronise(c);
}

void node::broadcast(unsigned bytes, unsigned root) {
  static constexpr std::array<std::byte, sync::value::capacity> some{};
  sync::call c;
  c.what = sync::operation::broadcast;
  c.count = bytes;
  c.operand = root;
  if (self_.value() == root) c.values = sync::value(std::span(some).first(bytes));
  synchronise(c);
}

void node::synchronise(sync::call& c) {
  CHECK(core_.objects.synchronise(c, -1).ok());
  begin_phase();
}

// As in api/groups.cpp and quire::team.
void node::make_team() {
  reduce(1);
  std::vector<std::uint32_t> threads(options_.nodes, 1);
  sync::call c;
  c.what = sync::operation::group_create;
  c.data = std::as_writable_bytes(std::span(threads));
  synchronise(c);
  team_ = c.object;
  barrier();
  call_team(sync::operation::group_join);
  wait();
}

void node::call_team(sync::operation what, std::uint64_t operand) {
  sync::call c;
  c.what = what;
  c.object = team_;
  c.operand = operand;
  synchronise(c);
}

void node::wait() { call_team(sync::operation::group_wait); }

void node::sum(unsigned doubles) {
  std::vector<double> numbers(doubles);
  const auto bytes = std::as_writable_bytes(std::span(numbers));
  sync::call c;
  c.what = sync::operation::group_reduce_f64;
  c.object = team_;
  c.count = doubles;
  c.combine = QUIRE_SUM;
  sync::is_array(c.what, c.count) ? void(c.data = bytes) : void(c.values = sync::value(bytes));
  synchronise(c);
}

tally node::count() noexcept {
  const core::counter_sources all = core::sources_of(core_);
  tally now{.at = net_.now()};
  for (std::size_t i = 0; i < now.counters.size(); ++i) now.counters[i] = core::counter_table[i].value(all);
  return now;
}

// ---- The processor

/// What is not urgent wakes nobody while the thread computes: it lies until somebody comes (drive/threads.cpp, arm()).
void node::on_arrival(fabric::number parcel) {
  wire_.on_arrival(parcel);
  const bool polls = turn_set_ || waits_for_ != nullptr || net_.now() < clock_ + options_.costs.follow_up_ns;
  if (!polls && net_.at(parcel).how == transport::urgency::later) {
    ++lying_;
    return;
  }
  take_what_lies();
  add(nullptr);
}

void node::take_what_lies() {
  for (; lying_ != 0; --lying_) add(nullptr);
}

void node::on_timer(std::uint32_t what, std::uint64_t data) {
  switch (static_cast<timer>(what)) {
    case resumes:
      if (data != sleeps_ || thread_->finished()) return;
      ++sleeps_;
      return thread_->resume();
    case asks:
      return add(reinterpret_cast<core::op*>(data));
    case gives_way:
      if (data == sleeps_ && waits_for_ != nullptr) machine_.leave(self_, net_.now());
      return;
    case turn:
      return take_turn();
    case looks:
      look_set_ = false;
      return add(nullptr);
  }
}

/// A processor that has had nothing to do for a while sleeps; a thread that asks is awake, and does the work itself.
void node::add(core::op* asked) {
  inbox_.push_back(asked);
  if (std::exchange(turn_set_, true)) return;
  time_ns at = std::max(net_.now(), clock_);
  woken_ = asked == nullptr && waits_for_ == nullptr;
  if (woken_ && options_.costs.poll_ns != 0 && !thread_->finished())
    at += options_.costs.poll_ns;
  else if (asked == nullptr && at - clock_ > options_.costs.spin_ns)
    at += options_.costs.wake_ns + (machine_.any_free() ? 0 : options_.costs.wake_late_ns);
  net_.after(at, self_, turn);
}

void node::take_turn() {
  core::op* const asked = inbox_.front();
  inbox_.pop_front();
  const time_ns began = clock_ = net_.now();
  in_turn_ = true;
  if (asked != nullptr) {
    core_.execute(*asked);
  } else {
    wire_.let(1);
    (void)core_.round();
  }
  clock_ = settle_up();
  in_turn_ = false;
  // A thread that waits works itself, if it has a core.
  if (asked == nullptr && !(waits_for_ != nullptr && machine_.has(self_)))
    machine_.work(self_, clock_ - began + (woken_ ? options_.costs.steal_ns : 0));
  woken_ = false;
  if (asked != nullptr && !asked->done()) take_what_lies();
  if (waits_for_ != nullptr && waits_for_->done()) {
    waits_for_ = nullptr;
    go_on_at(clock_ + way_back_);
  }
  if (core_.is_restless()) look_later();
  turn_set_ = !inbox_.empty();
  if (turn_set_) net_.after(clock_, self_, turn);
}

/// As a driver that goes on polling.
void node::look_later() {
  constexpr time_ns poll_ns = 1000;
  if (!std::exchange(look_set_, true)) net_.after(clock_ + poll_ns, self_, looks);
}

void node::prepare_to_meet() noexcept {
  wire_.let(wire_.waiting());
  (void)wire_.progress();
}

/// Of all twins, diffs, notices, and what was published, until now.
time_ns node::price_of_work() noexcept {
  const prices& cost = options_.costs;
  time_ns all =
      pages_of_commit_ == 0 ? 0 : core_.transactions.count().published * pages_of_commit_ * cost.publish_page_ns;
  if (!core_.relaxed()) return all;
  core_.regions.for_each([&](const core::region_slot& r) {
    if (const auto* const m = core::release_made(r); m != nullptr)
      all += m->count().twins * (r.layout.most_bytes() / page_bytes) * cost.twin_page_ns;
  });
  const auto& diffs = core_.diffs.count();
  const auto& told = core_.consistency.count();
  return all + diffs.compared * cost.diff_page_ns + diffs.applied * cost.apply_page_ns +
         (told.notices_sent + told.notices_heard) * cost.notice_ns;
}

time_ns node::settle_up() noexcept {
  const time_ns all = price_of_work();
  clock_ += all - std::exchange(paid_, all);
  return clock_;
}

// ---- core::host

bool node::run(core::op& o, std::int64_t timeout_ms, bool in_fault) noexcept {
  net_.after(net_.now() + (in_fault ? options_.costs.fault_ns : 0), self_, asks, reinterpret_cast<std::uint64_t>(&o));
  return wait_for(o, timeout_ms, in_fault);
}

bool node::wait_for(core::op& o, std::int64_t timeout_ms, bool in_fault) noexcept {
  CHECK(timeout_ms < 0);
  constexpr time_ns patience_ns = 3'000;
  if (!machine_.unlimited()) net_.after(net_.now() + patience_ns, self_, gives_way, sleeps_);
  while (!o.done()) {
    waits_for_ = &o;
    way_back_ = in_fault ? options_.costs.resume_ns : 0;
    whole::fibre::yield();
  }
  return true;
}

}  // namespace quire::timed
