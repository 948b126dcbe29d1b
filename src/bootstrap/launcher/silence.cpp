// SPDX-License-Identifier: BSD-3-Clause
// Nodes and hosts of which nothing is heard any more, and jobs that are stopped as a whole. The nodes watch each other
// (src/watch) and accuse; here it is judged. Launcher and agents watch their links themselves, by a frame now and then.
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "bootstrap/launcher/job.hpp"

namespace quire::bootstrap::launcher {
namespace {

using local::frame_kind;

using base::ms;
using base::second;
/// For other accusations to come, and for news of the death that explains them all.
constexpr std::uint64_t start_beat_ns = 5 * second;
constexpr int most_put_offs = 11;
constexpr std::uint64_t least_hearing_ns = 250 * ms, hearing_of_lost_ns = 500 * ms;

}  // namespace

std::uint64_t job::peer_limit_ns() const { return static_cast<std::uint64_t>(plan_.peer_timeout_s) * second; }

void job::on_accusation(int by, const local::frame& frame) {
  local::loss what;
  if (frame.payload.size() == sizeof what) std::memcpy(&what, frame.payload.data(), sizeof what);
  if (frame.payload.size() != sizeof what || what.node >= static_cast<std::uint64_t>(plan_.nodes))
    return fail(by, "sent nonsense to `quire run`", 1);
  const accusation one{by, static_cast<int>(what.node), what.silent_ms};
  inquest_.on_word_of_loss(by);
  const auto& accused = at(one.whom);
  if (phase_ != phase::running || !accused.alive || accused.left) return;  // that explains it
  accusations_.add(one);
  const std::uint64_t hearing =
      one.silent_ms == 0 ? hearing_of_lost_ns : std::max(least_hearing_ns, peer_limit_ns() / watch::parts);
  if (judge_ns_ == 0) judge_ns_ = base::now_ns() + hearing;
}

/// The accused has been heard again.
void job::on_withdrawal(int by, const local::frame& frame) {
  local::loss what;
  if (frame.payload.size() != sizeof what) return fail(by, "sent nonsense to `quire run`", 1);
  std::memcpy(&what, frame.payload.data(), sizeof what);
  accusations_.withdraw(by, static_cast<int>(what.node));
  if (!accusations_.speaks(by)) inquest_.on_word_withdrawn(by);
  if (accusations_.empty()) put_off_ns_ = 0;
}

/// A node of which others hear nothing is stopped, hangs, is cut off, or has no core. The kernel says the first, and
/// then those that are not stopped are not judged beside it. To the others the limit is given once more: who gets a
/// core again is heard, and those who have accused it say so. One that has none all the while, on a machine with much
/// else to do, is given more of them, and at most `most_put_offs`. So it is to one whose connections are gone because
/// it is ending: the kernel closes them first, and says last why; to give much memory back takes a while.
bool job::puts_off(std::uint64_t now) {
  for (int node = 0; node < plan_.nodes; ++node) {
    if (at(node).host < 0) stops_.saw(node, at(node).alive && is_stopped(node));
  }
  const auto stopped = [this](int node) { return stops_.is_stopped(node); };
  accusations_.narrow(stopped);
  const accusation worst = accusations_.worst();
  if (stopped(worst.whom) || (worst.silent_ms == 0 && !is_ending(worst.whom))) return false;
  if (put_off_ns_ == 0) {
    put_offs_ = 0;
    put_off_node_ = worst.whom;
    put_off_from_ = service_times(worst.whom);
    put_off_ns_ = now + peer_limit_ns();
  }
  if (now >= put_off_ns_) {
    if (put_offs_ == most_put_offs || !lacks_core(worst.whom)) return false;
    ++put_offs_;
    put_off_ns_ = now + peer_limit_ns();
  }
  judge_ns_ = std::min(put_off_ns_, now + peer_limit_ns() / watch::parts);
  return true;
}

os::thread_times job::service_times(int node) const {
  const auto& record = at(node);
  if (record.host >= 0) return {};
  const auto found = os::times_of_thread(record.pid, "quire-service");
  return found.known || record.member_pid <= 0 ? found : os::times_of_thread(record.member_pid, "quire-service");
}

/// Since judgment was put off, the thread of the node that would answer. What is found is where the next time begins.
bool job::lacks_core(int node) {
  const os::thread_times before = std::exchange(put_off_from_, service_times(node));
  return std::exchange(put_off_node_, node) == node && os::lacked_core(before, put_off_from_, peer_limit_ns());
}

void job::judge() {
  if (judge_ns_ == 0 || base::now_ns() < judge_ns_) return;
  judge_ns_ = 0;
  for (int node = 0; node < plan_.nodes; ++node)
    if (!at(node).alive || at(node).left) accusations_.drop(node);
  if (accusations_.empty()) put_off_ns_ = 0;
  if (phase_ != phase::running || accusations_.empty() || puts_off(base::now_ns())) return;
  put_off_ns_ = 0;
  const accusation worst = accusations_.worst(), rival = accusations_.rival();
  const std::int64_t now = ::time(nullptr);
  std::string what = text_of(worst, now).substr(1);
  if (stops_.is_stopped(worst.whom)) what += "; it is stopped by a signal";
  if (rival.by >= 0) {
    what += "; and " + name_of(rival.whom) + text_of(rival, now);
    if (accusations_.speaks(worst.whom) || accusations_.speaks(rival.whom))
      what += ": is the network between them broken?";
  }
  const bool both = rival.by >= 0 && !accusations_.speaks(rival.whom);
  if (can_go_on()) {  // who is told of it hears when it has ended
    kill_for(worst.whom, what);
    if (both) kill_for(rival.whom, text_of(rival, now).substr(1));
    return;
  }
  end(128 + SIGKILL, frame_kind::node_died, worst.whom, name_of(worst.whom) + " " + what);
  kill_node(worst.whom);
  if (both) kill_node(rival.whom);
}

/// A node that is to be dead before anybody hears of it.
void job::kill_for(int node, const std::string& why) {
  if (at(node).why.empty()) at(node).why = why;
  kill_node(node);
}

/// One that does not answer would not hear what the others are told. SIGKILL reaches it also when it is stopped.
void job::kill_node(int node) {
  const auto& record = at(node);
  if (!record.alive) return;
  if (record.host >= 0) {
    const int number = SIGKILL;
    auto& link = hosts_[static_cast<std::size_t>(record.host)].link;
    link.queue(local::make_frame(frame_kind::signal, node, {reinterpret_cast<const char*>(&number), sizeof number}));
    link.send();
  } else if (!record.own_group || ::kill(-record.pid, SIGKILL) != 0) {
    ::kill(record.pid, SIGKILL);
  }
}

bool job::is_stopped(int node) const {
  const auto& record = at(node);
  return os::is_stopped(record.pid) || (record.member_pid > 0 && os::is_stopped(record.member_pid));
}

bool job::is_ending(int node) const {
  const auto& record = at(node);
  return record.host < 0 && (os::is_ending(record.pid) || (record.member_pid > 0 && os::is_ending(record.member_pid)));
}

/// Stopped nodes in every phase of the job, also where nobody hears a node, or has to.
void job::watch_stops() {
  const std::uint64_t now = base::now_ns();
  if (phase_ != phase::running || now < stops_.next_look()) return;
  for (int node = 0; node < plan_.nodes; ++node) {
    if (at(node).host < 0 || !at(node).alive) stops_.saw(node, at(node).alive && is_stopped(node));
  }
  const int node = stops_.look(now);
  if (node < 0) return;
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f", static_cast<double>(stops_.stopped_ns(node)) / 1e9);
  const std::string what = "does not go on: it has been stopped by a signal for " + std::string(seconds) + " s";
  if (!at(node).left && can_go_on()) return kill_for(node, what);
  end(128 + SIGKILL, frame_kind::node_died, node, name_of(node) + " " + what);
  kill_node(node);
}

void job::watch_links() {
  const bool starting = start_ns_ != 0;
  if (hosts_.empty() || (plan_.peer_timeout_s == 0 && !starting)) return;
  const std::uint64_t now = base::now_ns();
  const bool beat = now >= next_beat_ns_;
  // Agents that wait for their start want to hear of us now and then, too.
  if (beat)
    next_beat_ns_ =
        now + (plan_.peer_timeout_s != 0 ? std::min(peer_limit_ns() / watch::parts, start_beat_ns) : start_beat_ns);
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    auto& host = hosts_[i];
    if (!host.alive) continue;
    if (beat && !host.link.sending()) {
      host.link.queue(local::make_frame(frame_kind::alive, -1, {}));
      host.link.send();
    }
    if (starting) host.life.heard(1);  // that has a limit of its own
    const auto found = host.life.look(now);
    if (found.lost) host.silent_since_ns = now - found.silent_ns;
    if (found.backs != 0) host.silent_since_ns = 0;
    // As a node, it is given the limit once more: it may lack a core, and a link may come back.
    if (host.silent_since_ns == 0 || now < host.silent_since_ns + 2 * peer_limit_ns()) continue;
    const auto& where = plan_.hosts[i];
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.1f", static_cast<double>(now - host.silent_since_ns) / 1e9);
    const std::string silence = "does not answer: nothing was heard from it for " + std::string(seconds) + " s";
    const std::string text = "host " + where.name + ", with " + std::to_string(where.nodes) +
                             (where.nodes == 1 ? " node" : " nodes") + " from node " + std::to_string(where.first) +
                             " on, " + silence;
    if (can_go_on())
      host.why = "its host " + where.name + " " + silence;
    else
      end(launcher_failed, frame_kind::node_died, where.first, text);
    ::kill(host.pid, SIGKILL);  // the way there; the agent ends its nodes when it hears nothing of us
  }
}

/// Ctrl-Z: all nodes stop, wherever they are, then we do; and go on together.
void job::pause() {
  const std::uint64_t before = base::now_ns();
  signal_all(SIGSTOP, false);
  for (auto& host : hosts_) {
    while (host.alive && host.link.sending() && base::now_ns() < before + second) {
      pollfd entry{host.link.descriptor(), POLLOUT, 0};
      os::wait_ready({&entry, 1}, 100);
      host.link.send();
    }
  }
  ::raise(SIGSTOP);
  const std::uint64_t away = base::now_ns() - before;
  for (std::uint64_t* deadline : {&timeout_ns_, &judge_ns_, &start_ns_, &next_phase_ns_})
    if (*deadline != 0) *deadline += away;
  if (put_off_ns_ != 0) put_off_ns_ += away;
  for (auto& host : hosts_)
    if (host.silent_since_ns != 0) host.silent_since_ns += away;
  stops_.begin(base::now_ns());
  signal_all(SIGCONT, false);
}

}  // namespace quire::bootstrap::launcher
