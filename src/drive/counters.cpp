// SPDX-License-Identifier: BSD-3-Clause
#include "drive/counters.hpp"

#include <time.h>

#include <cstdint>
#include <string>

#include "core/counter_table.hpp"
#include "core/host.hpp"

namespace quire::drive {
namespace {

std::uint64_t cpu_ns() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

void add(std::string& json, const char* name, std::uint64_t value) {
  json += json.empty() ? "{\"" : ",\"";
  json += name;
  json += "\":" + std::to_string(value);
}

}  // namespace

counters_told::counters_told(core::core& of, core::host& threads, const core::wait_board& shown,
                             bootstrap::bootstrap& job)
    : core_(of), threads_(threads), shown_(shown), job_(job), numbers_(std::make_unique<core::counter_sources>()) {}

counters_told::~counters_told() = default;

void counters_told::take(core::core& c, core::op& self) noexcept {
  counters_told& told = static_cast<task&>(self).told;
  *told.numbers_ = core::sources_of(c);
  self.complete();
  told.state_.store(state::taken, std::memory_order_release);
  told.threads_.call();
}

core::op* counters_told::begin() noexcept {
  if (state_.load(std::memory_order_acquire) != state::idle) return nullptr;
  state_.store(state::asked, std::memory_order_relaxed);
  return &task_.emplace(*this);
}

void counters_told::look() noexcept {
  if (state_.load(std::memory_order_acquire) != state::taken) return;
  unsigned waiting = 0;
  shown_.for_each([&](const core::wait_note&) { ++waiting; });
  std::string json;
  add(json, "now_ns", threads_.now());
  add(json, "cpu_ns", cpu_ns());
  add(json, "waiting", waiting);
  for (const core::counter_row& row : core::counter_table) add(json, row.name, row.value(*numbers_));
  state_.store(state::idle, std::memory_order_relaxed);
  job_.tell_counters(json + "}");
}

}  // namespace quire::drive
