// SPDX-License-Identifier: BSD-3-Clause
#include "drive/leave_wish.hpp"

#include <string>
#include <utility>

#include "core/host.hpp"
#include "core/leaving.hpp"

namespace quire::drive {

using bootstrap::leave_word;
using what = leave_word::what;

namespace {

constexpr const char* at_its_end = "its program is in quire_end(), where it waits for the others";

}  // namespace

void leave_wish::look_for_obstacle(core::core& c, core::op& self) noexcept {
  leave_wish& wish = static_cast<task&>(self).wish;
  wish.obstacle_ = core::why_node_stays(c);
  self.complete();
  wish.state_.store(state::taken, std::memory_order_release);
  wish.threads_.call();
}

core::op* leave_wish::begin() noexcept {
  if (state_.load(std::memory_order_acquire) != state::idle) return nullptr;
  state_.store(state::asked, std::memory_order_relaxed);
  return &task_.emplace(*this);
}

/// Who asks again hears how far it is, unless all was refused.
void leave_wish::take_answer() noexcept {
  const std::lock_guard guard(mutex_);
  wanted_.store(obstacle_ == nullptr, std::memory_order_relaxed);
  if (obstacle_ != nullptr) return say_locked({what::never, 0, obstacle_});
  if (ends_) return say_locked({what::never, 0, at_its_end});
  if (word_.state == what::never) word_ = {noticed_.load() ? what::noticed : what::asked};
  untold_.store(true, std::memory_order_relaxed);
}

void leave_wish::look() noexcept {
  if (state_.load(std::memory_order_acquire) == state::taken) {
    take_answer();
    state_.store(state::idle, std::memory_order_relaxed);
  }
  if (!untold_.load(std::memory_order_relaxed) || !untold_.exchange(false)) return;
  std::string packed;
  {
    const std::lock_guard guard(mutex_);
    packed = pack(word_);
  }
  job_.tell_leaving(packed);
}

bool leave_wish::is_there() noexcept {
  if (!wanted_.load(std::memory_order_relaxed)) return false;
  if (!noticed_.load(std::memory_order_relaxed) && !noticed_.exchange(true)) say({what::noticed});
  return true;
}

void leave_wish::on_refusal(bool for_good, std::string_view why) noexcept {
  say({for_good ? what::never : what::not_now, 0, std::string(why)});
  if (for_good) wanted_.store(false, std::memory_order_relaxed);  // until somebody asks again
}

void leave_wish::set_ending(bool ends) noexcept {
  const std::lock_guard guard(mutex_);
  ends_ = ends;
  if (ends && wanted_.load(std::memory_order_relaxed)) say_locked({what::never, 0, at_its_end});
}

void leave_wish::say(leave_word word) noexcept {
  if (!wanted_.load(std::memory_order_relaxed)) return;
  const std::lock_guard guard(mutex_);
  say_locked(std::move(word));
}

void leave_wish::say_locked(leave_word word) noexcept {
  word_ = std::move(word);
  untold_.store(true, std::memory_order_relaxed);
  threads_.call();
}

}  // namespace quire::drive
