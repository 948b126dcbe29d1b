// SPDX-License-Identifier: BSD-3-Clause
// What a thread of a random program does on its own.
#include <algorithm>

#include "core/fault.hpp"
#include "core/fault_ranges.hpp"
#include "core/pins.hpp"
#include "core/unit_calls.hpp"
#include "sim/whole/job.hpp"

namespace quire::whole {

using sync::operation;

namespace {
constexpr std::uint64_t words_of_lock = 4;  ///< in each page

bool gave_up(const base::status& why, std::int64_t timeout_ms) {
  return timeout_ms >= 0 && (why.code() == QUIRE_TIMED_OUT || why.code() == QUIRE_BUSY);
}
std::int64_t draw_timeout(sim::random& draw) { return draw.chance(80) ? -1 : static_cast<std::int64_t>(draw.below(2)); }
}  // namespace

void job::step(thread& t, unsigned phase) {
  const job_bias& often = options_.often;
  if (comings_->any() && t.draw.chance(std::max(often.comings, 15u))) return comings_->use(t, t.place, phase);
  if (options_.races_only || t.draw.chance(often.races)) return races_->step(t, t.place, may_write(t, phase));
  if (turns_->any() && t.draw.chance(40)) return turns_->step(t, t.place);
  if (t.draw.chance(often.pins)) return use_pinned(t);
  if (t.draw.chance(often.phased)) return use_phased(t, phase);
  if (t.draw.chance(often.pushes)) return push(t);
  switch (t.draw.below(11)) {
    case 0:
    case 1:
    case 2:
      return use_free(t);
    case 3:
    case 4:
    case 5:
      return use_locked(t);
    case 6:
      return use_pinned(t);
    case 7:
      return use_counted(t);
    case 8:
      return use_phased(t, phase);
    case 9:
      return races_->step(t, t.place, may_write(t, phase));
    default:
      return hint(t);
  }
}

void job::use_free(thread& t) {
  const std::uint64_t at = address(free_words, t.draw.below(pages_), t.draw.below(8) * 61);
  t.draw.chance(40) ? t.write(at) : (void)t.read(at);
}

void job::use_locked(thread& t) {
  const std::uint64_t number = t.draw.below(locks_.size());
  lock& l = locks_[number];
  const bool reads = l.kind == sync::object_kind::rwlock && t.draw.chance(50);
  const auto take = l.kind == sync::object_kind::mutex ? operation::mutex_lock
                    : l.kind == sync::object_kind::rwlock
                        ? (reads ? operation::rwlock_read_lock : operation::rwlock_write_lock)
                        : operation::semaphore_acquire;
  const auto leave = l.kind == sync::object_kind::mutex    ? operation::mutex_unlock
                     : l.kind == sync::object_kind::rwlock ? operation::rwlock_unlock
                                                           : operation::semaphore_release;
  const std::int64_t timeout_ms = draw_timeout(t.draw);
  const auto why = t.call(take, l.object, 0, timeout_ms);
  if (gave_up(why, timeout_ms)) return void(++done_["locks given up"]);
  t.must(why, "a lock");
  for (std::uint64_t i = t.draw.below(6); i != 0 && !world_.failed(); --i) {
    // Beside what homes move for, and go away with.
    const std::uint64_t word = t.draw.below(words_of_lock) * locks_.size() + number;
    const std::uint64_t at = options_.rotates ? address(phased, t.draw.below(pages_), 32 + word)
                                              : address(locked, t.draw.below(pages_), word);
    reads || t.draw.chance(50) ? (void)t.read(at) : t.write(at);
    if (t.draw.chance(30)) t.rest();
  }
  t.must_call(leave, l.object, 1);
}

void job::use_pinned(thread& t) {
  const std::uint64_t page = t.draw.below(pages_), count = 1 + t.draw.below(std::min<std::uint64_t>(2, pages_ - page));
  const std::uint64_t first = address(pinned, page, 0);
  int holder = -1;
  const std::int64_t timeout_ms = draw_timeout(t.draw);
  const auto why = t.here.core().pins.acquire(first, count * page_bytes(), timeout_ms, holder);
  if (gave_up(why, timeout_ms)) return void(++done_["pins given up"]);
  t.must(why, "a pin");
  ++done_["pins"];
  hold_pinned(t, page, count);
  t.must(t.here.core().pins.release(first, count * page_bytes()), "the end of a pin");
}

void job::hold_pinned(thread& t, std::uint64_t page, std::uint64_t count) {
  const unsigned me = t.node_number();
  for (std::uint64_t p = page; p < page + count; ++p) {
    auto& by = pinned_by_[p];
    if (by.second != 0 && by.first != me) world_.fail("two nodes have a page pinned");
    by = {me, by.second + 1};
  }
  for (std::uint64_t i = t.draw.below(5); i != 0 && !world_.failed(); --i) {
    const std::uint64_t at = address(pinned, page + t.draw.below(count), t.draw.below(8));
    t.draw.chance(50) ? t.write(at) : (void)t.read(at);
    if (t.draw.chance(30)) t.rest();
  }
  for (std::uint64_t p = page; p < page + count; ++p) --pinned_by_[p].second;
}

void job::use_counted(thread& t) {
  const std::uint64_t at = address(counted, t.draw.below(pages_), t.draw.below(3));
  const std::uint64_t before = t.operate(at, model::atomic_operation::add, 1);
  if (!before_[at].insert(before).second)
    world_.fail("two atomic additions found " + std::to_string(before) + " in a counter");
  world_.wrote(at, before_[at].size(), t.here.self());
  ++done_["atomics"];
}

void job::use_phased(thread& t, unsigned phase) {
  if (!may_write(t, phase)) return t.rest();
  for (std::uint64_t i = t.draw.below(6); i != 0; --i) {
    const std::uint64_t page = t.draw.below(pages_), word = t.draw.below(16);
    if ((page * 16 + word + phase * 7) % all_threads_ != t.place) continue;
    const std::uint64_t at = address(phased, page, word);
    t.draw.chance(50) ? t.write(at) : (void)t.read(at);
  }
}

void job::hint(thread& t) {
  const std::uint64_t page = t.draw.below(pages_), bytes = page_bytes() * (1 + t.draw.below(pages_ - page));
  const std::uint64_t at = address(static_cast<unsigned>(t.draw.below(regions)), page, 0);
  switch (t.draw.below(4)) {
    case 0:
      return prefetch_range(t.here.core(), at, bytes, t.draw.chance(50) ? access::write : access::read);
    case 1:
      return advise_range(t.here.core(), at, bytes, t.draw.chance(50));
    case 2:
      return void(touch_range(t.here.core(), at, bytes, t.draw.chance(50) ? access::write : access::read));
    default:
      return push(t);
  }
}

void job::push(thread& t) {
  const std::uint64_t page = t.draw.below(pages_), bytes = page_bytes() * (1 + t.draw.below(pages_ - page));
  const auto why = t.here.core().calls.push(address(static_cast<unsigned>(t.draw.below(regions)), page, 0), bytes);
  if (why.ok()) ++done_["pushes"];
  if (why.code() != QUIRE_UNSUPPORTED) t.must(why, "a push", QUIRE_BUSY);
}

}  // namespace quire::whole
