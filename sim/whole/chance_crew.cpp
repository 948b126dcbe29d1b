// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/chance_crew.hpp"

#include <algorithm>
#include <cerrno>

#include "sim/whole/kept_store.hpp"
#include "sim/whole/world.hpp"

namespace quire::whole {

void chance_crew::begin(store::io& o) noexcept {
  complain_if_beside(o);
  o.error = 0;
  const std::uint64_t number = ++last_number_;
  tasks_.push_back({&o, number});
  ++(o.what == store::io::kind::fill ? count_.fills : count_.flushes);
  later(early_ ? &chance_crew::tell : &chance_crew::perform, number, world_.options().store_delay);
}

/// What is being written is looked at by nobody else, and written by nobody else: else which of the two comes first
/// would be a matter of luck.
void chance_crew::complain_if_beside(const store::io& o) {
  if (o.what != store::io::kind::fill && o.what != store::io::kind::flush) return;
  for (const task& t : tasks_) {
    const store::io& other = *t.what;
    if (other.what != store::io::kind::fill && other.what != store::io::kind::flush) continue;
    const bool same = other.of == o.of && other.at < o.at + o.bytes && o.at < other.at + other.bytes;
    if (same && (o.what == store::io::kind::flush || other.what == store::io::kind::flush))
      world_.fail("content is read or written while it is on its way to its store");
    if (same && o.what == other.what && o.what == store::io::kind::fill)
      world_.fail("content is brought twice from its store");
  }
}

chance_crew::task* chance_crew::find(std::uint64_t number) noexcept {
  const auto found = std::find_if(tasks_.begin(), tasks_.end(), [&](const task& t) { return t.number == number; });
  return found == tasks_.end() ? nullptr : &*found;
}

void chance_crew::later(void (chance_crew::*step)(task&), std::uint64_t number, sim::time_ns longest) {
  world_.net().after(world_.net().rng().below(longest + 1), [this, step, number] {
    if (task* const t = find(number); t != nullptr) (this->*step)(*t);
  });
}

void chance_crew::perform(task& t) {
  if (std::exchange(t.performed, true)) return;
  store::io& o = *t.what;
  auto* const kept = dynamic_cast<kept_store*>(o.of);
  if (o.what == store::io::kind::flush && world_.net().rng().chance(world_.options().store_fails_percent)) {
    if (kept != nullptr) kept->spoil(o.at, o.bytes);
    o.error = ENOSPC;
    ++count_.failed;
  } else if (o.what == store::io::kind::fill && kept == nullptr && world_.options().fills_fail_percent != 0 &&
             world_.net().rng().chance(world_.options().fills_fail_percent)) {
    o.error = EIO;
    ++count_.failed;
  } else if (o.what == store::io::kind::sync && world_.net().rng().chance(world_.options().syncs_fail_percent)) {
    if (auto* const one = dynamic_cast<losing*>(o.of); one != nullptr) one->lose();
    o.error = EIO;
    ++count_.failed;
  } else {
    o.perform();
  }
  if (t.told) return void(std::erase_if(tasks_, [&](const task& other) { return other.number == t.number; }));
  later(&chance_crew::tell, t.number, world_.options().store_delay / 4);
}

void chance_crew::tell(task& t) {
  if (std::exchange(t.told, true)) return;
  store::io& o = *t.what;
  o.next = nullptr;
  (last_ != nullptr ? last_->next : first_) = &o;
  last_ = &o;
  if (t.performed) {
    std::erase_if(tasks_, [&](const task& other) { return other.number == t.number; });
  } else {
    later(&chance_crew::perform, t.number, world_.options().store_delay / 4);
  }
  node_.call();
}

store::io* chance_crew::take_done() noexcept {
  store::io* const all = first_;
  first_ = last_ = nullptr;
  return all;
}

void chance_crew::finish(store::io& o) noexcept {
  const auto found = std::find_if(tasks_.begin(), tasks_.end(), [&](const task& t) { return t.what == &o; });
  if (found == tasks_.end()) return;  // done, and not taken yet
  ++count_.awaited;
  const std::uint64_t number = found->number;
  if (early_) {
    if (!found->told) tell(*found);
    return;
  }
  perform(*found);
  if (task* const t = find(number); t != nullptr) tell(*t);
}

}  // namespace quire::whole
