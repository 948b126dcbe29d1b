// SPDX-License-Identifier: BSD-3-Clause
#include "services/threads.hpp"

#include "base/check.hpp"

namespace quire::services {

std::uint64_t threads::on_started(const message& request, quire_status why, answers& out) {
  if (why != QUIRE_OK) return out.push_back({request, why}), 0;
  const std::uint64_t number = std::uint64_t{self_.value()} << 48 | ++last_;
  all_.emplace(number, thread{});
  out.push_back({request, QUIRE_OK, number});
  return number;
}

void threads::on_finished(std::uint64_t number, std::uint64_t result, answers& out) {
  const auto found = all_.find(number);
  CHECK(found != all_.end() && !found->second.finished);
  thread& t = found->second;
  t.finished = true;
  t.result = result;
  if (!t.awaited) return;
  out.push_back({t.join, QUIRE_OK, result});
  all_.erase(found);
}

void threads::on_join(const message& request, answers& out) {
  const auto found = all_.find(request.a);
  if (found == all_.end() || found->second.awaited) return out.push_back({request, QUIRE_NOT_FOUND});
  thread& t = found->second;
  if (t.finished) {
    out.push_back({request, QUIRE_OK, t.result});
    all_.erase(found);
    return;
  }
  t.awaited = true;
  t.join = request;
}

void threads::on_death(node_id node) {
  for (auto& [number, t] : all_) {
    if (t.awaited && t.join.requester == node) t.awaited = false;
  }
}

}  // namespace quire::services
