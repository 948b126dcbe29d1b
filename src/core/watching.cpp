// SPDX-License-Identifier: BSD-3-Clause
// Peers that are silent or gone. src/watch decides which peer to ask, and when silence is a loss. Here its questions
// and answers travel, and the launcher is told of a loss: it judges, as it hears all. This node ends when it is told
// so, or hears nothing.
//
// The service thread sleeps until the next look is due. While application threads drive it may miss its turn; then
// whoever drives looks.
#include "core/watching.hpp"

#include <cstdio>
#include <string>
#include <utility>

#include "base/nanoseconds.hpp"
#include "base/log.hpp"
#include "bootstrap/bootstrap.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/host.hpp"
#include "core/outbox.hpp"
#include "core/survival.hpp"

namespace quire::core {

using model::message;
using model::message_kind;
using model::node_id;

namespace {

using base::ms;
using base::second;

/// What a message of the kind `watch` says, in its `operation`.
enum word : std::uint32_t {
  ping = 1,
  here,
  leaving,  ///< the sender ends well, and says nothing more
  lost,     ///< the sender has lost node `a`, which was silent for `b` ms; where no launcher tells all
  passed,   ///< the sender has passed the last barrier of the job
};

}  // namespace

void peer_watch::send_word(unsigned to, std::uint32_t what, std::uint64_t a, std::uint64_t b) noexcept {
  message m;
  m.kind = message_kind::watch;
  m.operation = what;
  m.from = m.requester = core_.config.self;
  m.a = a;
  m.b = b;
  count_.sent.fetch_add(1, std::memory_order_relaxed);
  core_.out.post(node_id{static_cast<std::uint16_t>(to)}, m, {});
}

void peer_watch::on_message(const message& m) noexcept {
  count_.received.fetch_add(1, std::memory_order_relaxed);
  switch (m.operation) {
    case ping:
      // A program that is stopped does not answer, whatever the process of its engine could say.
      if (core_.config.program_stopped == nullptr || !core_.config.program_stopped()) send_word(m.from.value(), here);
      return;
    case leaving:
      return watch_.leaves(m.from.value());
    case word::passed:
      return parting_.on_gone(m.from.value());
    case word::lost:
      if (m.a < core_.config.nodes) lose(static_cast<unsigned>(m.a), m.b, 100 * ms, false);
      return;
    default:
      return;  // that it came is all
  }
}

void peer_watch::look_at_peers(std::uint64_t now) noexcept {
  look_due_.store(false, std::memory_order_relaxed);
  if (!watch_.active()) return;
  if (core_.config.program_stopped != nullptr && now >= watch_.next_look() && core_.config.program_stopped()) {
    watch_.pause(now);
  } else {
    const auto found = watch_.look(now);
    for (unsigned i = 0; i < found.pings; ++i) send_word(found.ping[i], ping);
    for (unsigned i = 0; i < found.backs; ++i) regain(found.back[i]);
    if (found.lost) lose(found.peer, found.silent_ns / ms, patience_with_silence(), true);
  }
  next_look_.store(watch_.next_look(), std::memory_order_relaxed);
}

void peer_watch::say_goodbye() noexcept {
  core_.as_driver([this] {
    if (!watch_.active()) return;
    for (const unsigned watcher : watch_.watchers()) send_word(watcher, leaving);
  });
}

void peer_watch::tell_parent(node_id parent) noexcept { send_word(parent.value(), word::passed); }

void peer_watch::lost(node_id peer) noexcept {
  // A dying process closes its connections before anybody can tell why. The launcher will know in a moment, and name
  // it. At the end it may have passed the last barrier; then this node is about to end as well.
  const bool ending = core_.ending.load(std::memory_order_relaxed);
  const std::uint64_t patience = ending ? end_patience_ns : core_.job.descriptor() >= 0 ? second : 0;
  lose(peer.value(), 0, patience, !ending);
}

/// A launcher that judges hears all, and gives the accused the limit once more unless it is stopped. Who hears nothing
/// of that is cut off from the launcher, or that hangs.
std::uint64_t peer_watch::patience_with_silence() const noexcept {
  return core_.job.announces_deaths() ? 2 * core_.config.peer_limit_ns + 20 * second
                                      : core_.config.peer_limit_ns / watch::parts + second;
}

void peer_watch::leave_by(std::uint64_t until_ns, int status) noexcept {
  leave_status_.store(status, std::memory_order_relaxed);
  lost_until_ns_.store(until_ns, std::memory_order_release);  // before: an earlier time is of a loss
  leaves_.store(true, std::memory_order_release);
  core_.host.call();
}

/// `patience_ns`: how long this node waits for the launcher's word.
void peer_watch::lose(unsigned peer, std::uint64_t silent_ms, std::uint64_t patience_ns, bool tells) noexcept {
  parting_.on_gone(peer);
  if (leaves() || parting_.begun()) return;
  if (core_.config.survives) return core_.survival.suspect(peer, silent_ms, tells);
  if (tells) tell({peer, silent_ms, false});
  const std::uint64_t until = core_.now() + patience_ns, before = lost_until_ns_.load(std::memory_order_relaxed);
  if (before == 0 || (lost_silent_ms_ != 0 && silent_ms == 0)) {
    lost_peer_ = peer;
    lost_silent_ms_ = silent_ms;
    lost_until_ns_.store(until, std::memory_order_release);
  }
  core_.host.call();
}

/// A peer that was silent for too long is heard again.
void peer_watch::regain(unsigned peer) noexcept {
  if (leaves()) return;
  tell({peer, 0, true});
  const bool others = core_.config.survives && core_.survival.is_back(peer);
  if (lost_silent_ms_ != 0 && lost_peer_ == peer && !others) lost_until_ns_.store(0, std::memory_order_release);
}

/// Driver's thread; the service thread tells.
void peer_watch::tell(const word_of_loss& what) noexcept {
  if (untold_count_ < untold_.size()) untold_[untold_count_++] = what;
  loss_untold_.store(true, std::memory_order_relaxed);
}

void peer_watch::tell_launcher() noexcept {
  if (loss_untold_.load(std::memory_order_relaxed)) tell_loss();
  if (core_.survival.has_suspects_to_tell()) core_.survival.tell_suspects();
}

/// Where nobody judges, all are told, and the launcher is asked to end them.
void peer_watch::tell_loss() noexcept {
  loss_untold_.store(false, std::memory_order_relaxed);
  const unsigned count = std::exchange(untold_count_, 0);
  bool judged = true;
  for (unsigned i = 0; i < count; ++i) {
    const auto& what = untold_[i];
    if (what.back) {
      core_.job.withdraw(static_cast<int>(what.peer));
    } else {
      judged = core_.job.accuse(static_cast<int>(what.peer), what.silent_ms) && judged;
    }
  }
  if (judged || lost_silent_ms_ == 0 || lost_until_ns_.load(std::memory_order_relaxed) == 0) return;
  const std::string text = loss_text();
  base::log(base::log_level::error, "%s; ending the job", text.c_str());
  for (unsigned node = 0; node < core_.config.nodes; ++node) {
    if (node != core_.config.self.value()) send_word(node, word::lost, lost_peer_, lost_silent_ms_);
  }
  core_.job.abort(QUIRE_PEER_LOST, text);
}

void peer_watch::doubt(unsigned peer, std::uint64_t silent_ms, std::uint64_t until_ns) noexcept {
  if (lost_until_ns_.load(std::memory_order_relaxed) != 0) return;
  lost_peer_ = peer;
  lost_silent_ms_ = silent_ms;
  lost_until_ns_.store(until_ns, std::memory_order_release);
}

std::string peer_watch::loss_text() const {
  std::string who = "node " + std::to_string(lost_peer_);
  if (lost_peer_ < peer_names_.size()) who += " (" + peer_names_[lost_peer_] + ")";
  if (lost_silent_ms_ == 0) return who + " cannot be reached any more";
  if (lost_peer_ == core_.config.self.value()) return "others hear nothing of this node any more";
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f", static_cast<double>(lost_silent_ms_) / 1000);
  return who + " does not answer: nothing was heard from it for " + seconds + " s";
}

}  // namespace quire::core
