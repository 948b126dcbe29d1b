// SPDX-License-Identifier: BSD-3-Clause
#include "services/containers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace quire::services {

using container::lock_kind;
using container::lock_queue;
using container::name_table;
using order = container_order;

namespace {

[[nodiscard]] order order_of(const message& request) noexcept { return static_cast<order>(request.a); }
[[nodiscard]] bool has_name(order what) noexcept {
  return what == order::open || (what >= order::look_up && what <= order::take_away);
}
[[nodiscard]] std::uint16_t number_of(const message& request) noexcept { return static_cast<std::uint16_t>(request.b); }
[[nodiscard]] std::string_view text_of(std::span<const std::byte> value) noexcept {
  return {reinterpret_cast<const char*>(value.data()), value.size()};
}

/// Whether these bytes are a container_lock: each of its enumerations and flags has a value that there is.
[[nodiscard]] bool is_lock(std::span<const std::byte> value) noexcept {
  using container::lock_owner;
  using container::range_lock;
  constexpr std::size_t owner = offsetof(container_lock, wanted) + offsetof(range_lock, owner);
  const auto at_most = [&](std::size_t at, auto last) {
    return std::to_integer<unsigned>(value[at]) <= unsigned(last);
  };
  return value.size() == sizeof(container_lock) && at_most(owner + offsetof(lock_owner, of_flock), 1) &&
         at_most(offsetof(container_lock, wanted) + offsetof(range_lock, kind), lock_kind::exclusive) &&
         at_most(offsetof(container_lock, how), container::lock_wait::withdraws);
}

}  // namespace

bool containers::is_valid(const message& request) noexcept {
  const order what = order_of(request);
  const bool has_number = !has_name(what) && what != order::heads;
  return what <= order::last && (!has_number || (request.b != 0 && request.b <= container::most_containers));
}

void containers::on_request(const message& request, std::span<const std::byte> value, answers& out) {
  const order what = order_of(request);
  if (!is_valid(request)) return out.push_back({request, QUIRE_INVALID});
  if (has_name(what)) return on_name(request, text_of(value), out);
  switch (what) {
    case order::closed:
    case order::settled:
      return on_close(request, out);
    case order::lock:
    case order::test_lock:
      return on_lock(request, value, out);
    case order::heads:
      if (request.b != 0) heads_ = request.b;
      out.push_back({request, QUIRE_OK, heads_, names_.last()});
      break;
    default:
      if (leads_ && !is_in_order(request)) return out.push_back({request, QUIRE_INVALID});
      on_change(request, text_of(value));
      out.push_back({request, QUIRE_OK});
  }
  retry(out);
}

/// Whether the asking node may say so of the number: it makes or removes that, has it open, or has changed its name.
bool containers::is_in_order(const message& request) const noexcept {
  const std::uint16_t number = number_of(request);
  const unsigned by = request.requester.value();
  switch (order_of(request)) {
    case order::made:
    case order::failed:
      return names_.is_making(number, by);
    case order::stays:
    case order::gone:
      return names_.is_going(number, by);
    case order::closed:
      return names_.is_open(number, by);
    case order::settled:
      return names_.is_unsettled(number, by);
    case order::noted:
    case order::unnoted:
      return false;  // node 0 tells others
    default:
      return true;
  }
}

void containers::on_change(const message& request, std::string_view name) {
  const std::uint16_t number = number_of(request);
  const order what = order_of(request);
  if (what == order::noted) {
    heads_ = request.c;
    names_.note(name, number);
  } else if (what == order::unnoted) {
    names_.unnote(number);
  } else if (!leads_) {
    return;
  } else if (what == order::made) {
    names_.made(number);
  } else if (what == order::failed) {
    names_.failed(number);
  } else if (what == order::stays) {
    names_.stays(number);
  } else {
    names_.gone(number);
    locks_.drop(number);
  }
}

/// Answers, or keeps it until something has changed.
void containers::on_name(const message& request, std::string_view name, answers& out) {
  using outcome = name_table::outcome;
  if (!leads_) return on_name_after_node_0(request, name, out);
  const bool waits = held_ && order_of(request) != order::look_up;
  const auto got = waits ? name_table::answer{outcome::wait} : ask_table(request, name);
  switch (got.what) {
    case outcome::found:
      return out.push_back({request, QUIRE_OK, got.number | std::uint64_t{got.replaced} << 16, heads_});
    case outcome::make:
      return out.push_back({request, QUIRE_OK, got.number | container_open::makes, heads_});
    case outcome::none:
      return out.push_back({request, QUIRE_NOT_FOUND});
    case outcome::exists:
      return out.push_back({request, QUIRE_EXISTS});
    case outcome::busy:
      return out.push_back({request, QUIRE_BUSY});
    case outcome::full:
      return out.push_back({request, QUIRE_LIMIT});
    case outcome::wait:
      keep_waiting(request, name);
  }
}

name_table::answer containers::ask_table(const message& request, std::string_view name) {
  const unsigned by = request.requester.value();
  switch (order_of(request)) {
    case order::open:
      return names_.open(name, (request.b & container_open::creates) != 0, (request.b & container_open::excludes) != 0,
                         heads_ == 0, by);
    case order::look_up:
      return names_.look_up(name);
    case order::unlink:
      return names_.unlink(name, by);
    case order::rename: {
      const std::size_t end = std::min(name.find('\0'), name.size() - 1);
      return names_.rename(name.substr(0, end), name.substr(end + 1), request.b != 0, by);
    }
    default:
      return names_.take_away(name, by);
  }
}

void containers::on_name_after_node_0(const message& request, std::string_view name, answers& out) const {
  const auto got = names_.look_up(name);
  const bool there = got.what == name_table::outcome::found, opens = order_of(request) == order::open;
  if (opens && there && (request.b & container_open::excludes) != 0) return out.push_back({request, QUIRE_EXISTS});
  if (there && (opens || order_of(request) == order::look_up))
    return out.push_back({request, QUIRE_OK, got.number, heads_});
  const bool makes = opens && (request.b & container_open::creates) != 0;
  if (!there && !makes) return out.push_back({request, QUIRE_NOT_FOUND});
  out.push_back({request, QUIRE_LOST, for_good});
}

/// One that goes would change what a checkpoint has told.
void containers::on_close(const message& request, answers& out) {
  if (!leads_) return out.push_back({request, QUIRE_OK});
  if (!is_in_order(request)) return out.push_back({request, QUIRE_INVALID});
  const std::uint16_t number = number_of(request);
  const unsigned by = request.requester.value();
  const bool settles = order_of(request) == order::settled;
  if (held_ && !settles && names_.goes_when_closed(number)) return keep_waiting(request, {});
  const bool goes = settles ? names_.settled(number, by) : names_.closed(number, by);
  out.push_back({request, QUIRE_OK, goes ? number : std::uint64_t{0}});
  retry(out);
}

void containers::on_lock(const message& request, std::span<const std::byte> value, answers& out) {
  if (!is_lock(value)) return out.push_back({request, QUIRE_INVALID});
  container_lock asked;
  std::memcpy(&asked, value.data(), sizeof asked);
  const std::uint16_t number = number_of(request);
  if (order_of(request) == order::test_lock) {
    const container::range_lock* const other = locks_.conflict(number, asked.wanted);
    if (other == nullptr) return out.push_back({request, QUIRE_NOT_FOUND});
    const std::uint64_t kind = other->kind == lock_kind::exclusive ? container_lock::exclusive : 0;
    return out.push_back({request, QUIRE_OK, other->first | kind, other->last});
  }
  switch (locks_.set(number, asked.wanted, asked.how)) {
    case lock_queue::outcome::done:
      return out.push_back({request, QUIRE_OK});
    case lock_queue::outcome::in_the_way:
      return out.push_back({request, QUIRE_BUSY});
    case lock_queue::outcome::full:
      return out.push_back({request, QUIRE_LIMIT});
    case lock_queue::outcome::deadlock:
      return out.push_back({request, QUIRE_CONFLICT});
  }
}

/// Who waits for what the dead node was making asks anew.
void containers::on_death(node_id node, answers& out) {
  std::erase_if(waiting_, [&](const waiter& w) { return w.request.requester == node; });
  locks_.lost(node.value());
  if (leads_) names_.lost(node.value());
  retry(out);
}

bool containers::hold() noexcept {
  held_ = true;
  return !names_.is_changing();
}

void containers::let_go(answers& out) {
  held_ = false;
  retry(out);
}

void containers::keep_waiting(const message& request, std::string_view text) {
  waiter w{request, {}, 0};
  w.bytes = text.copy(w.text.data(), w.text.size());
  waiting_.push_back(w);
}

void containers::retry(answers& out) {
  if (waiting_.empty()) return;
  for (const waiter& w : std::exchange(waiting_, {})) {
    if (order_of(w.request) == order::closed) {
      on_close(w.request, out);
    } else {
      on_name(w.request, {w.text.data(), w.bytes}, out);
    }
  }
}

}  // namespace quire::services
