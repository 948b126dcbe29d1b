// SPDX-License-Identifier: BSD-3-Clause
// Somebody asks what the job waits for: by SIGQUIT, or because its time is over. All nodes that run are asked, their
// answers are put together (src/waits), and written as whole lines. A job that was asked by SIGQUIT goes on.
#include <signal.h>

#include <algorithm>

#include "base/clock.hpp"
#include "bootstrap/launcher/job.hpp"
#include "waits/report.hpp"

namespace quire::bootstrap::launcher {
namespace {

constexpr std::uint64_t answers_ns = 1'500'000'000;  // with nodes that do not answer

}  // namespace

/// Whether it is a program of Quire's that is running, and can be asked.
bool job::can_tell_waits(int node) const {
  const auto& record = at(node);
  return record.alive && record.ready && !record.left;
}

/// False if there is nobody to ask.
bool job::ask_waits(bool then_end) {
  waits_.then_end = waits_.then_end || then_end;
  if (waits_.until_ns != 0) return true;
  waits_.answers.assign(nodes_.size(), std::nullopt);
  const auto frame = std::make_shared<const std::string>(encode(local::frame_kind::show_waits, -1, ""));
  bool any = false;
  for (int node = 0; node < plan_.nodes; ++node) {
    if (!can_tell_waits(node)) continue;
    any = true;
    give(node, frame);
  }
  if (any) waits_.until_ns = base::now_ns() + answers_ns;
  return any;
}

void job::on_waits(int node, const std::string& payload) {
  if (waits_.until_ns != 0) waits_.answers[static_cast<std::size_t>(node)] = payload;
}

/// When all have answered, or those who do not never will.
void job::check_waits() {
  if (waits_.until_ns == 0) return;
  bool all = true;
  for (int node = 0; node < plan_.nodes; ++node)
    all = all && (!can_tell_waits(node) || waits_.answers[static_cast<std::size_t>(node)]);
  if (!all && base::now_ns() < waits_.until_ns) return;
  waits_.until_ns = 0;
  std::vector<waits::node_report> nodes(nodes_.size());
  for (int node = 0; node < plan_.nodes; ++node) {
    auto& to = nodes[static_cast<std::size_t>(node)];
    const auto& answer = waits_.answers[static_cast<std::size_t>(node)];
    to.name = name_of(node);
    to.dead = !at(node).alive && plan_.survivors_go_on;
    if (answer) {
      to.records = waits::unpack(*answer);
    } else {
      to.state = state_of(node);
    }
  }
  say("what the job waits for:");
  for (const std::string& line : waits::describe(nodes, true)) say(line);
  say("end of what the job waits for");
  waits_.answers.clear();
}

std::string job::state_of(int node) const {
  const auto& record = at(node);
  if (!record.alive) return record.left ? "has ended, after quire_end()" : "has ended";
  if (record.left) return "has left quire_end(), and runs on";
  if (!record.joined) return "has not called quire_start()";
  if (record.waiting) return "waits in quire_start() for all nodes to come to it";
  if (!record.ready) return "is in quire_start()";
  return "does not answer";
}

}  // namespace quire::bootstrap::launcher
