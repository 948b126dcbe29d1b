// SPDX-License-Identifier: BSD-3-Clause
#include "services/names.hpp"

#include <vector>

namespace quire::services {

names::name names::name_of(std::string_view text) noexcept {
  name made{};
  text.copy(made.data(), longest);
  return made;
}

void names::on_publish(const message& request, const name& what, answers& out) {
  const bool added = values_.emplace(what, request.a).second;
  out.push_back({request, added ? QUIRE_OK : QUIRE_EXISTS});
  if (added) tell_waiters(what, request.a, out);
}

void names::on_lookup(const message& request, const name& what, answers& out) {
  if (const auto found = values_.find(what); found != values_.end()) {
    out.push_back({request, QUIRE_OK, found->second});
  } else if (request.a == 0) {
    out.push_back({request, QUIRE_NOT_FOUND});
  } else {
    waiting_.push_back({what, request});
  }
}

void names::on_withdrawn(const message& which) {
  std::erase_if(waiting_, [&](const waiter& w) { return is_same_call(w.request, which); });
}

void names::on_death(node_id node) {
  std::erase_if(waiting_, [&](const waiter& w) { return w.request.requester == node; });
}

void names::on_gone(std::uint64_t base, std::uint64_t bytes) {
  std::erase_if(values_, [&](const auto& one) { return one.second - base < bytes; });
}

void names::on_restored(const name& what, std::uint64_t value, answers& out) {
  if (values_.emplace(what, value).second) tell_waiters(what, value, out);
}

void names::tell_waiters(const name& what, std::uint64_t value, answers& out) {
  std::erase_if(waiting_, [&](const waiter& w) {
    if (w.what != what) return false;
    out.push_back({w.request, QUIRE_OK, value});
    return true;
  });
}

}  // namespace quire::services
