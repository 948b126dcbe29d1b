// SPDX-License-Identifier: BSD-3-Clause
// The thread, and the turns of the processor.
#include "sim/timed/node.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/check.hpp"
#include "sync/edges.hpp"

namespace quire::timed {

node::node(const node_options& options, std::span<const region_size> regions, node_id self, fabric& net)
    : options_(options),
      self_(self),
      net_(net),
      sync_(self, options.nodes),
      consistency_(self, options.nodes, *this, options.twin_pages),
      diffs_(*this, self, options.nodes) {
  for (const region_size& size : regions) {
    region& r = regions_.emplace_back();
    r.id = model::region_id{static_cast<std::uint16_t>(regions_.size() - 1)};
    r.unit_shift = static_cast<unsigned>(std::countr_zero(size.unit_bytes));
    const std::uint64_t units = (size.bytes + size.unit_bytes - 1) / size.unit_bytes;
    const auto managers = directory::manager_map::make(model::placement::block, options.nodes, units, {});
    const auto geometry = model::geometry::of(options.nodes);
    if (options.relaxed) {
      release::region_shape shape{
          .region = r.id, .self = self, .nodes = geometry, .managers = managers, .units = units};
      shape.update = options.update;
      shape.twin_pages = static_cast<std::uint32_t>(r.pages_of(1));
      r.copies.make(units);
      r.release = std::make_unique<release::machine>(shape, r.copies.data(), consistency_.open());
      r.machine = r.release.get();
    } else {
      sequential::region_shape shape{
          .region = r.id, .self = self, .nodes = geometry, .managers = managers, .units = units};
      shape.learns = options.learn_writes;
      r.units.make(units);
      r.entries.make(units);
      r.sequential = std::make_unique<sequential::machine>(shape, r.units.data(), r.entries.data(), requests_, pins_);
      r.machine = r.sequential.get();
    }
  }
}

// ---- The thread

void node::start(program p) {
  program_ = std::move(p);
  resume_at(net_.now());
}

void node::resume_at(time_ns when) { net_.after(when, self_, goes_on); }

void node::run_thread() {
  for (;;) {
    if (!in_step_) {
      if (!program_.next(step_)) {
        finished_ = true;
        return;
      }
      in_step_ = true;
      if (step_.bytes != 0) unit_ = regions_[step_.region].unit_of(step_.first);
    }
    if (!take_step()) return;
    in_step_ = false;
  }
}

bool node::take_step() {
  switch (step_.what) {
    case step_kind::compute:
      if (step_.ns == 0) return true;
      resume_at(net_.now() + step_.ns);
      in_step_ = false;
      return false;
    case step_kind::read:
      return access_all(access::read);
    case step_kind::write:
      return access_all(access::write);
    case step_kind::prefetch_read:
    case step_kind::prefetch_write:
    case step_kind::barrier:
    case step_kind::reduce:
      add({job::kind::request, 0});
      return false;
    case step_kind::begin:
      begun_ = count();
      return true;
    case step_kind::end:
      ended_ = count();
      return true;
  }
  return true;
}

/// Units of the step one after the other, until one faults.
bool node::access_all(access want) {
  region& r = regions_[step_.region];
  const std::uint64_t last = step_.bytes == 0 ? 0 : r.unit_of(step_.first + step_.bytes - 1);
  for (; step_.bytes != 0 && unit_ <= last; ++unit_) {
    if (r.machine->mapped(unit_) < want) {
      wants_ = want;
      net_.after(net_.now() + options_.costs.fault_ns, self_, asks);
      return false;
    }
    if (want == access::write) mark_written(r, unit_);
  }
  return true;
}

/// The node has a twin of the unit: its diff will hold these words.
void node::mark_written(region& r, std::uint64_t unit) {
  const auto found = r.twins.find(unit);
  if (found == r.twins.end()) return;
  const std::uint64_t begin = unit << r.unit_shift, end = begin + r.bytes_of(1);
  std::uint64_t first = step_.first;
  if (first < begin) first += (begin - first + step_.stride - 1) / step_.stride * step_.stride;
  const std::uint64_t stop = std::min(step_.first + step_.bytes, end);
  if (first < stop) found->second.add((first - begin) / 8, (stop - begin + 7) / 8, step_.stride / 8);
}

tally node::count() const {
  tally now = sent_;
  now.at = net_.now();
  for (const region& r : regions_) {
    if (r.release != nullptr) {
      now.read_faults += r.release->count().read_faults;
      now.write_faults += r.release->count().write_faults;
    } else {
      now.read_faults += r.sequential->count().read_faults;
      now.write_faults += r.sequential->count().write_faults + r.sequential->count().upgrade_faults;
    }
  }
  return now;
}

// ---- The processor

void node::on_arrival(fabric::number parcel) { add({job::kind::parcel, parcel}); }

void node::on_timer(std::uint32_t what, std::uint64_t data) {
  switch (what) {
    case goes_on:
      return run_thread();
    case asks:
      return add({job::kind::request, 0});
    case turn:
      return take_turn();
    case hold_over:
      return add({job::kind::hold_over, data});
    default:
      CHECK(!"a timer of this node");
  }
}

void node::add(const job& j) {
  inbox_.push_back(j);
  if (std::exchange(turn_set_, true)) return;
  time_ns at = std::max(net_.now(), clock_);
  // The thread itself drives at once; for a message somebody has to be awake.
  if (j.what == job::kind::parcel && at - clock_ > options_.costs.spin_ns) at += options_.costs.wake_ns;
  net_.after(at, self_, turn);
}

void node::take_turn() {
  const job j = inbox_.front();
  inbox_.pop_front();
  clock_ = net_.now();
  switch (j.what) {
    case job::kind::request:
      serve_thread();
      break;
    case job::kind::hold_over: {
      region& r = regions_[j.data >> 48];
      actions_.clear();
      r.sequential->on_hold_over(j.data & ((std::uint64_t{1} << 48) - 1), actions_);
      take(r, actions_);
      flush();
      break;
    }
    case job::kind::parcel: {
      const auto number = static_cast<fabric::number>(j.data);
      const parcel& p = net_.at(number);
      spend(options_.costs.receive_ns + time_for(p.m.payload_bytes, options_.costs.copy_in_mbs));
      handle(p.m, p.payload);
      net_.release(number);
      break;
    }
  }
  settle();
  spend_on_notices();
  turn_set_ = !inbox_.empty();
  if (turn_set_) net_.after(clock_, self_, turn);
}

/// What the thread asks the runtime for.
void node::serve_thread() {
  switch (step_.what) {
    case step_kind::read:
    case step_kind::write:
      return fault();
    case step_kind::prefetch_read:
    case step_kind::prefetch_write:
      return prefetch();
    default:
      return call();
  }
}

/// As core::begin_fault().
void node::fault() {
  region& r = regions_[step_.region];
  const std::uint64_t max_window = std::max<std::uint64_t>(core::read_ahead::max_window_bytes >> r.unit_shift, 1);
  const unsigned lost = thread_.count_losses(&r, unit_, wants_, net_.now());
  actions_.clear();
  const auto outcome = r.machine->on_fault(unit_, wants_, actions_, lost);
  waits_for_unit_ = outcome != model::fault_outcome::local;
  const auto plan = thread_.stream.on_fault(r.id, unit_, r.machine->units(), max_window, wants_ == access::write, !waits_for_unit_);
  take(r, actions_);
  if (!waits_for_unit_) map_around(r, unit_);
  flush();
  if (!waits_for_unit_) {
    thread_.granted_ns = clock_;
    resume_at(clock_ + options_.costs.resume_ns);
  }
  if (options_.read_ahead) read_on(r, plan, wants_);
  if (options_.relaxed) consistency_.relieve();
}

void node::map_around(region& r, std::uint64_t unit) {
  const std::uint64_t count = thread_.stream.around(r.id, unit);
  std::uint64_t next = unit + 1;
  for (; next < r.machine->units() && next <= unit + count; ++next) {
    actions_.clear();
    if (!r.machine->on_fault_around(next, actions_)) break;
    take(r, actions_);
  }
  if (next > unit + 1) thread_.stream.on_mapped_up_to(r.id, unit, next);
}

void node::read_on(region& r, const core::read_ahead_plan& plan, access want) {
  if (plan.count == 0) return;
  bool asked = false;
  for (std::uint64_t i = 0; i < plan.count; ++i) {
    actions_.clear();
    const bool guessed = plan.will_write && want == access::read && options_.learn_writes;
    if (!r.machine->on_read_ahead(plan.first + i, want, i == 0 || plan.withhold_all, actions_, guessed)) continue;
    asked = true;
    take(r, actions_);
  }
  if (!asked) return thread_.stream.on_nothing_asked(r.id, plan);
  flush();
}

void node::prefetch() {
  region& r = regions_[step_.region];
  const access want = step_.what == step_kind::prefetch_write ? access::write : access::read;
  for (std::uint64_t unit = unit_; unit <= r.unit_of(step_.first + step_.bytes - 1); ++unit) {
    actions_.clear();
    if (r.machine->on_hint(unit, want, actions_)) take(r, actions_);
  }
  flush();
  in_step_ = false;
  resume_at(clock_);
}

/// As core::synchronise(): diffs travel while the others are waited for.
void node::call() {
  sync::call c;
  c.token = 1;
  if (step_.what == step_kind::barrier) {
    c.what = sync::operation::barrier_wait;
  } else {
    static constexpr std::array<std::byte, sync::value::capacity> numbers{};
    c.what = sync::operation::reduce_f64;
    c.count = step_.count;
    c.combine = QUIRE_SUM;
    c.values = sync::value(std::span(numbers).first(step_.count * sizeof(double)));
  }
  if (options_.relaxed) consistency_.release();
  sync_actions_.clear();
  sync_.on_call(c, sync_actions_);
  perform_sync();
}

void node::settle() {
  while (!local_.empty()) {
    const local_message next = std::move(local_.front());
    local_.pop_front();
    handle(next.m, next.value);
  }
}

void node::handle(const message& m, std::span<const std::byte> payload) {
  using model::message_kind;
  switch (m.kind) {
    case message_kind::diffs:
      return diffs_.on_diffs(regions_[m.region.value()], m, payload);
    case message_kind::diffs_ack:
      return diffs_.on_ack(m);
    case message_kind::notices:
      CHECK(consistency_.on_notices(m.from, payload));
      return;
    default:
      break;
  }
  if (m.kind < message_kind::sync_first) return handle_units(m);
  CHECK(m.kind <= message_kind::sync_last);
  handle_sync(m, payload);
}

void node::handle_units(const message& m) {
  region& r = regions_[m.region.value()];
  message one = m;
  one.count = 1;
  for (std::uint32_t i = 0; i < m.count; ++i) {
    one.unit = m.unit + i;
    actions_.clear();
    r.machine->on_message(one, actions_);
    take(r, actions_);
  }
  flush();
}

// ---- Synchronisation, as engine/sync_calls.cpp

void node::handle_sync(const message& m, std::span<const std::byte> value) {
  if (sync::kind_of(m.kind) == sync::kind::spread && options_.relaxed) on_round_end(m);
  sync_actions_.clear();
  sync_.on_message(m, value, sync_actions_);
  perform_sync();
}

/// A round that was refused is no epoch: some nodes may not have been in it.
void node::on_round_end(const message& m) {
  m.operation == QUIRE_OK ? consistency_.on_epoch() : consistency_.on_round_refused();
}

/// Rounds of the job barrier are epochs. The root's ends when it tells its first child.
void node::note_round(const message& m) {
  const auto kind = sync::kind_of(m.kind);
  if (kind == sync::kind::gather) return consistency_.on_gathered();
  if (kind != sync::kind::spread || self_ != node_id{0} || m.b + 1 == rounds_) return;
  rounds_ = m.b + 1;
  consistency_.on_gathered();
  on_round_end(m);
}

void node::perform_sync() {
  for (const sync::action& a : sync_actions_) {
    if (a.kind == sync::action_kind::complete) {
      CHECK(a.status == QUIRE_OK);
      if (options_.relaxed) consistency_.acquire();
      in_step_ = false;
      resume_at(clock_);
    } else if (options_.relaxed) {
      note_round(a.m);
      consistency_.send(a.to, a.m, a.values.bytes(), sync::edge_of(a.m));
    } else {
      post(a.to, a.m, a.values.bytes());
    }
  }
}

}  // namespace quire::timed
