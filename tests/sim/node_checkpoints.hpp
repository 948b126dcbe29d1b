// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints of a simulated job: each node goes through services::checkpoint_save, holds the content of its core still
// (core/hold.hpp), and writes what it keeps, as checkpoint/lead does in a process. Another job goes on from one by
// services::checkpoint_restore: each node adopts the units that it manages.
//
// It is told as wrong: a node writes and not all nodes hold; what it writes is not what was written last; two nodes
// keep one word; what is committed is not of one moment, or lacks a word; containers come or go between their
// description and the commit; a node takes what is damaged, or a checkpoint that is older than one that is whole.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/hold.hpp"
#include "core/job_call.hpp"
#include "core/region_slot.hpp"
#include "services/checkpoint_call.hpp"
#include "sim/whole/actor.hpp"
#include "tests/sim/node_containers.hpp"
#include "tests/sim/together.hpp"

namespace quire::whole {

using words = std::map<std::uint64_t, std::uint64_t>;  ///< by address

struct saved_job {
  words content{};                                      ///< all files
  words expected{};                                     ///< written last when all held
  std::map<std::uint16_t, std::uint8_t> consistency{};  ///< of regions
  bool damaged = false;
};

/// Of the whole job.
class checkpoints {
 public:
  /// `also`: what was written last where the world does not know it (transactions): a word has one of these values.
  using other_words = std::function<bool(std::uint64_t address, std::uint64_t value)>;
  checkpoints(world& w, container_shelf& shelf, other_words also)
      : world_(w), shelf_(shelf), also_(std::move(also)), holds_(w.nodes()) {}

  /// All nodes' leaders call.
  void save(actor& a, node_containers& names) {
    using work = services::checkpoint_save::work;
    const core::job_call together(a.here.core(), sync::meeting::checkpoint, "checkpoint", static_cast<int>(a.number));
    const bool leads = a.node_number() == 0;
    services::checkpoint_save steps(leads);
    quire_status mine = QUIRE_OK;
    auto s = steps.begin();
    while (s.what != work::over && !world_.failed()) {
      quire_status why = QUIRE_OK;
      if (s.what == work::meet) {
        why = together::agree(a, std::exchange(mine, QUIRE_OK));
      } else {
        a.rest();
        why = mine = does(a, names, s.what);
      }
      s = steps.on_done(why);
    }
    if (holds_[a.node_number()]) world_.fail("a node holds content after a checkpoint");
    if (leads && shelf_.names_held) world_.fail("names are held after a checkpoint");
    if (leads && half_ && !world_.failed()) world_.fail("a half of a checkpoint stays");
    if (leads) ++(s.why == QUIRE_OK ? saved : failed);
  }

  /// The last ones that were committed, the newest behind.
  [[nodiscard]] const std::vector<saved_job>& there() const { return there_; }
  unsigned saved = 0, failed = 0;

 private:
  quire_status does(actor& a, node_containers& names, services::checkpoint_save::work what) {
    using work = services::checkpoint_save::work;
    core::core& c = a.here.core();
    const quire_status may_fail = a.draw.chance(4) ? QUIRE_SYSTEM : QUIRE_OK;
    switch (what) {
      case work::path:
      case work::identity:
      case work::gather:
        return together::agree(a, QUIRE_OK);
      case work::hold:
        return hold(a);
      case work::let_go:
        holds_[a.node_number()] = false;
        c.holding.let_go();
        a.here.expect_less(false);
        return QUIRE_OK;
      case work::hold_names:
        return names.hold_names(), QUIRE_OK;
      case work::let_names_go:
        return names.let_names_go(), QUIRE_OK;
      case work::begin:
        if (may_fail == QUIRE_OK) half_.emplace();
        return may_fail;
      case work::describe:
        described_ = shelf_.made + shelf_.gone;
        return may_fail;
      case work::write:
        if (may_fail == QUIRE_OK) write(a);
        return may_fail;
      case work::commit:
        return commit(a, may_fail);
      case work::abandon:
        return half_.reset(), QUIRE_OK;
      case work::prune:
        while (there_.size() > 2) there_.erase(there_.begin());
        return QUIRE_OK;
      default:
        return may_fail;
    }
  }

  quire_status hold(actor& a) {
    a.here.expect_less(true);
    const auto why = a.here.core().holding.hold();
    a.must(why, "the hold of a checkpoint", QUIRE_BUSY);
    holds_[a.node_number()] = why.ok();
    if (!why.ok()) a.here.expect_less(false);
    return why.code();
  }

  void write(actor& a) {
    if (!std::all_of(holds_.begin(), holds_.end(), [](bool h) { return h; }))
      return world_.fail("a node writes a checkpoint, and not all hold content");
    core::core& c = a.here.core();
    std::vector<core::kept_run> all = c.holding.kept();
    c.as_driver([&] {
      c.regions.for_each([&](core::region_slot& r) { half_->consistency[r.about.id] = r.about.consistency; });
    });
    for (const auto& [id, consistency] : half_->consistency) {
      core::region_slot* const r = c.regions.slot(model::region_id{id});
      half_->consistency[id] = static_cast<std::uint8_t>(r->consistency());
      if (r->about.backing == 0) continue;
      const auto more = c.holding.kept_in_backing(*r, r->about.bytes);
      all.insert(all.end(), more.begin(), more.end());
    }
    for (const core::kept_run& run : all) {
      for (std::uint64_t unit = run.first; unit < run.first + run.count && !world_.failed(); ++unit)
        write(a, *run.region, unit, run.in_memory);
    }
    for (const auto& [address, value] : world_.all_written()) half_->expected[address] = value;
  }
  void write(actor& a, core::region_slot& r, std::uint64_t unit, bool in_memory) {
    std::vector<std::byte> content(r.bytes_of(unit));
    if (in_memory) {
      std::memcpy(content.data(), r.system(unit), content.size());
    } else if (a.here.core().holding.read_paged_out(r, unit, content) != 0) {
      return world_.fail("content that is held cannot be read");
    }
    for (std::uint64_t at = 0; at < content.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t value = 0;
      std::memcpy(&value, content.data() + at, sizeof value);
      const std::uint64_t address = r.about.base + r.layout.offset_of(unit) + at;
      if (r.can().transactions ? !also_(address, value)
                               : !world_.is_unknown(address) && value != world_.latest(address))
        return world_.fail("a checkpoint gets " + std::to_string(value) + " of " + world_.name_of(address) +
                           ", where " + std::to_string(world_.latest(address)) + " was written last");
      if (!half_->content.emplace(address, value).second)
        return world_.fail("two nodes keep " + world_.name_of(address));
    }
  }

  quire_status commit(actor& a, quire_status may_fail) {
    if (described_ != shelf_.made + shelf_.gone) world_.fail("containers come or go while a checkpoint is written");
    if (may_fail != QUIRE_OK) return may_fail;
    for (const auto& [address, value] : half_->expected) {
      const auto found = half_->content.find(address);
      if (value != (found == half_->content.end() ? 0 : found->second))
        world_.fail("what a checkpoint has of " + world_.name_of(address) + " is not what was written last");
    }
    half_->damaged = a.draw.chance(30);
    there_.push_back(std::move(*half_));
    half_.reset();
    return QUIRE_OK;
  }

  world& world_;
  container_shelf& shelf_;
  other_words also_;
  std::vector<bool> holds_;
  std::optional<saved_job> half_{};
  std::vector<saved_job> there_{};
  std::uint64_t described_ = 0;
};

/// What a node reads from a checkpoint.
class saved_words final : public store::store {
 public:
  saved_words(const words& from, std::uint64_t base, std::uint64_t position)
      : from_(from), base_(base), position_(position) {}
  [[nodiscard]] int fill(std::uint64_t at, std::span<std::byte> into) noexcept override {
    for (std::uint64_t done = 0; done < into.size(); done += sizeof(std::uint64_t)) {
      const auto found = from_.find(base_ + (at - position_) + done);
      const std::uint64_t value = found == from_.end() ? 0 : found->second;
      std::memcpy(into.data() + done, &value, sizeof value);
    }
    return 0;
  }
  [[nodiscard]] int flush(std::uint64_t, std::span<const std::byte>) noexcept override { return -1; }
  [[nodiscard]] int try_fill(std::uint64_t at, std::span<std::byte> into) noexcept override { return fill(at, into); }
  [[nodiscard]] std::size_t grain() const noexcept override { return sizeof(std::uint64_t); }
  [[nodiscard]] const char* name() const noexcept override { return "checkpoint"; }
  [[nodiscard]] const char* where() const noexcept override { return "a test"; }

 private:
  const words& from_;
  std::uint64_t base_, position_;
};

/// A job goes on from the newest one that is whole.
class job_restart {
 public:
  job_restart(world& w, const std::vector<saved_job>& from) : world_(w), from_(from), checked_(w.nodes()) {}

  /// All nodes' leaders call, before anything else.
  void run(actor& a) {
    using work = services::checkpoint_restore::work;
    const core::job_call together(a.here.core(), sync::meeting::restore, "restore", static_cast<int>(a.number));
    services::checkpoint_restore steps(a.node_number() == 0);
    quire_status mine = QUIRE_OK;
    std::size_t chosen = from_.size();
    auto s = steps.begin();
    while (s.what != work::over && !world_.failed()) {
      quire_status why = QUIRE_OK;
      if (s.what == work::meet) {
        why = together::agree(a, std::exchange(mine, QUIRE_OK));
      } else {
        a.rest();
        why = mine = does(a, s.what, chosen);
      }
      s = steps.on_done(why);
    }
    if (s.why == QUIRE_OK) taken = &from_[chosen];
    const auto whole = std::find_if(from_.rbegin(), from_.rend(), [](const saved_job& j) { return !j.damaged; });
    if (s.why == QUIRE_OK ? whole == from_.rend() || &*whole != taken : whole != from_.rend())
      world_.fail("what a job goes on from is not the newest that is whole");
  }
  const saved_job* taken = nullptr;

 private:
  quire_status does(actor& a, services::checkpoint_restore::work what, std::size_t& chosen) {
    using work = services::checkpoint_restore::work;
    switch (what) {
      case work::path:
      case work::link:
      case work::load:
        return together::agree(a, QUIRE_OK);
      case work::choose:
        checked_[a.node_number()] = false;
        return together::agree(a, chosen-- != 0 ? QUIRE_OK : QUIRE_NOT_FOUND);
      case work::check:
        checked_[a.node_number()] = true;
        return from_[chosen].damaged && a.node_number() == chosen % world_.nodes() ? QUIRE_DAMAGED : QUIRE_OK;
      case work::content:
        return adopt(a, from_[chosen]);
      default:
        return QUIRE_OK;
    }
  }
  quire_status adopt(actor& a, const saved_job& from) {
    if (from.damaged) world_.fail("a node takes a checkpoint that is damaged");
    if (!std::all_of(checked_.begin(), checked_.end(), [](bool c) { return c; }))
      world_.fail("a node takes what not all nodes have checked");
    core::core& c = a.here.core();
    for (const std::uint16_t id : world_.regions()) {
      core::region_slot& r = *c.regions.slot(model::region_id{id});
      if (r.about.backing != 0) continue;  // its file has it
      saved_words content(from.content, r.about.base, r.position);
      for (std::uint64_t unit = 0; unit < r.layout.units() && !world_.failed(); ++unit) {
        const std::uint64_t first = r.about.base + r.layout.offset_of(unit);
        const auto any = from.content.lower_bound(first);
        const bool is_there = any != from.content.end() && any->first < first + r.bytes_of(unit);
        if (is_there && r.machine->authority_of(unit) == a.here.self())
          a.must(c.holding.adopt(r, unit, 1, content), "to take content from a checkpoint");
      }
    }
    return QUIRE_OK;
  }

  world& world_;
  const std::vector<saved_job>& from_;
  std::vector<bool> checked_;
};

}  // namespace quire::whole
