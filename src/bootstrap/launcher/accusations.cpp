// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher/accusations.hpp"

#include <time.h>

#include <algorithm>
#include <cstdio>

namespace quire::bootstrap::launcher {

void accusations::add(const accusation& one) {
  const bool known =
      std::any_of(all_.begin(), all_.end(), [&](const auto& a) { return a.by == one.by && a.whom == one.whom; });
  if (!known) all_.push_back(one);
}

void accusations::withdraw(int by, int whom) {
  std::erase_if(all_, [&](const auto& a) { return a.by == by && a.whom == whom; });
}

void accusations::narrow(const std::function<bool(int)>& guilty) {
  if (std::none_of(all_.begin(), all_.end(), [&](const auto& a) { return guilty(a.whom); })) return;
  std::erase_if(all_, [&](const auto& a) { return !guilty(a.whom); });
}

void accusations::drop(int whom) {
  std::erase_if(all_, [whom](const auto& a) { return a.whom == whom || a.by == whom; });
}

int accusations::count(int whom) const {
  return static_cast<int>(std::count_if(all_.begin(), all_.end(), [whom](const auto& a) { return a.whom == whom; }));
}

accusation accusations::worst() const {
  return *std::max_element(all_.begin(), all_.end(),
                           [this](const auto& a, const auto& b) { return count(a.whom) < count(b.whom); });
}

accusation accusations::rival() const {
  const int first = worst().whom;
  const auto other = std::find_if(all_.begin(), all_.end(),
                                  [&](const auto& a) { return a.whom != first && count(a.whom) == count(first); });
  return other != all_.end() ? *other : accusation{};
}

bool accusations::speaks(int node) const {
  return std::any_of(all_.begin(), all_.end(), [node](const auto& a) { return a.by == node; });
}

std::string text_of(const accusation& about, std::int64_t now_s) {
  const std::string by = "node " + std::to_string(about.by);
  if (about.silent_ms == 0) return " cannot be reached any more: " + by + " has lost its connection to it";
  const auto clock = [](std::int64_t at) {
    const time_t seconds = static_cast<time_t>(at);
    tm parts{};
    ::localtime_r(&seconds, &parts);
    char text[16];
    std::snprintf(text, sizeof text, "%02d:%02d:%02d", parts.tm_hour % 24, parts.tm_min % 60, parts.tm_sec % 61);
    return std::string(text);
  };
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f", static_cast<double>(about.silent_ms) / 1000);
  return " does not answer: at " + clock(now_s) + " " + by + " had heard nothing from it for " + seconds +
         " s, since " + clock(now_s - static_cast<std::int64_t>(about.silent_ms / 1000));
}

}  // namespace quire::bootstrap::launcher
