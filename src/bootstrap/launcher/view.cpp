// SPDX-License-Identifier: BSD-3-Clause
// Somebody looks at the job (`quire top`): twice a second all nodes that run are asked for their counters, and what has
// come is shown. Nodes that do not answer in time are shown as they were.
#include <algorithm>

#include "base/clock.hpp"
#include "bootstrap/launcher/job.hpp"

namespace quire::bootstrap::launcher {
namespace {

constexpr std::uint64_t period_ns = 500'000'000, counters_ns = 400'000'000;

std::string words_of(const std::vector<std::string>& command) {
  std::string all;
  for (const auto& word : command) all += (all.empty() ? "" : " ") + word;
  return all;
}

}  // namespace

void job::on_counters(int node, const std::string& payload) {
  at(node).counters = payload;
  at(node).asked = false;
}

void job::look() {
  if (!viewers_.any()) {
    look_.next_ns = look_.until_ns = 0;
    return;
  }
  const std::uint64_t now = base::now_ns();
  if (viewers_.take_arrival() && look_.until_ns == 0) look_.next_ns = now;
  if (now >= look_.next_ns) {
    look_.next_ns = now + period_ns;
    look_.until_ns = now + counters_ns;
    const auto frame = std::make_shared<const std::string>(encode(local::frame_kind::show_counters, -1, ""));
    for (int node = 0; node < plan_.nodes; ++node) {
      if (at(node).asked || !can_tell_waits(node)) continue;  // it owes an answer, or cannot give one
      at(node).asked = true;
      give(node, frame);
    }
  }
  const bool all =
      std::none_of(nodes_.begin(), nodes_.end(), [](const auto& n) { return n.asked && n.alive && !n.left; });
  if (look_.until_ns == 0 || (!all && now < look_.until_ns)) return;
  look_.until_ns = 0;
  show_view();
}

void job::show_view() {
  job_view view{words_of(plan_.command), static_cast<double>(base::now_ns() - begin_ns_) / 1e9, {}};
  for (int node = 0; node < plan_.nodes; ++node) {
    const auto& record = at(node);
    const bool runs = can_tell_waits(node), stopped = record.host < 0 ? is_stopped(node) : stops_.is_stopped(node);
    view.nodes.push_back({record.host < 0 ? std::string() : plan_.hosts[static_cast<std::size_t>(record.host)].name,
                          !runs                     ? state_of(node)
                          : record.counters.empty() ? "does not answer"
                          : stopped                 ? "is stopped"
                                                    : "runs",
                          runs ? record.counters : std::string()});
  }
  viewers_.show(pack(view));
}

}  // namespace quire::bootstrap::launcher
