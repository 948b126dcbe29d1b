// SPDX-License-Identifier: BSD-3-Clause
// Peers that are silent or gone. src/watch decides whom to ask and when silence is a loss; here its questions and
// answers travel, the launcher is told of a loss (it judges, as it hears all), and this node ends when it is told so,
// or hears nothing.
//
// The service thread sleeps until the next look is due. While application threads drive it may miss its turn; then
// whoever drives looks.
#include <cstdio>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "core/core.hpp"

namespace quire::core {

using model::message;
using model::message_kind;
using model::node_id;

namespace {

constexpr std::uint64_t ms = 1'000'000, second = 1000 * ms;

/// What a message of the kind `watch` says, in its `operation`.
enum word : std::uint32_t {
  ping = 1,
  here,
  leaving,  ///< the sender ends well, and says nothing more
  lost,     ///< the sender has lost node `a`, which was silent for `b` ms; where no launcher tells all
};

}  // namespace

void core::send_watch(unsigned to, std::uint32_t what, std::uint64_t a, std::uint64_t b) noexcept {
  message m;
  m.kind = message_kind::watch;
  m.operation = what;
  m.from = m.requester = config_.self;
  m.a = a;
  m.b = b;
  watching_.sent.fetch_add(1, std::memory_order_relaxed);
  post(node_id{static_cast<std::uint16_t>(to)}, m, {});
}

void core::handle_watch(const message& m) noexcept {
  watching_.received.fetch_add(1, std::memory_order_relaxed);
  switch (m.operation) {
    case ping:
      // A program that is stopped does not answer, whatever the process of its engine could say.
      if (config_.program_stopped == nullptr || !config_.program_stopped()) send_watch(m.from.value(), here);
      return;
    case leaving:
      return watch_.leaves(m.from.value());
    case lost:
      if (m.a < config_.nodes) lose(static_cast<unsigned>(m.a), m.b, 100 * ms, false);
      return;
    default:
      return;  // that it came is all
  }
}

/// Driver's thread, after what has arrived was taken in.
void core::look_at_peers(std::uint64_t now) noexcept {
  look_due_.store(false, std::memory_order_relaxed);
  if (!watch_.active()) return;
  if (config_.program_stopped != nullptr && now >= watch_.next_look() && config_.program_stopped()) {
    watch_.pause(now);
  } else {
    const auto found = watch_.look(now);
    for (unsigned i = 0; i < found.pings; ++i) send_watch(found.ping[i], ping);
    for (unsigned i = 0; i < found.backs; ++i) regain(found.back[i]);
    if (found.lost) lose(found.peer, found.silent_ns / ms, patience_with_silence(), true);
  }
  next_look_.store(watch_.next_look(), std::memory_order_relaxed);
}

/// Before this node stops to answer.
void core::say_goodbye() noexcept {
  op o(
      [](core& e, op& self) noexcept {
        if (e.watch_.active()) {
          for (const unsigned watcher : e.watch_.watchers()) e.send_watch(watcher, leaving);
        }
        self.complete();
      },
      op::type::call);
  (void)run(o);
}

void core::peer_lost(node_id peer) noexcept {
  // A dying process closes its connections before anybody can tell why. The launcher will know in a moment, and name
  // it. At the end it may have passed the last barrier; then this node is about to end as well.
  const bool ending = ending_.load(std::memory_order_relaxed);
  const std::uint64_t patience = ending ? 10 * second : job_.descriptor() >= 0 ? second : 0;
  lose(peer.value(), 0, patience, !ending);
}

/// A launcher that judges hears all, and gives the accused the limit once more unless it is stopped. Who hears nothing
/// of that is cut off from the launcher, or that hangs.
std::uint64_t core::patience_with_silence() const noexcept {
  return job_.announces_deaths() ? 2 * config_.peer_limit_ns + 20 * second
                                 : config_.peer_limit_ns / watch::parts + second;
}

/// `patience_ns`: how long this node waits for the launcher's word.
void core::lose(unsigned peer, std::uint64_t silent_ms, std::uint64_t patience_ns, bool tells) noexcept {
  if (config_.survives) return suspect(peer, silent_ms, tells);
  if (tells) tell({peer, silent_ms, false});
  const std::uint64_t until = now() + patience_ns, before = lost_until_ns_.load(std::memory_order_relaxed);
  if (before == 0 || (lost_silent_ms_ != 0 && silent_ms == 0)) {
    lost_peer_ = peer;
    lost_silent_ms_ = silent_ms;
    lost_until_ns_.store(until, std::memory_order_release);
  }
  host_.call();
}

/// A peer that was silent for too long is heard again.
void core::regain(unsigned peer) noexcept {
  tell({peer, 0, true});
  if (config_.survives) {
    survival_.suspects &= ~(std::uint64_t{1} << peer);
    survival_.untold.fetch_and(~(std::uint64_t{1} << peer));
  }
  const bool others = config_.survives && survival_.suspects != 0;
  if (lost_silent_ms_ != 0 && lost_peer_ == peer && !others) lost_until_ns_.store(0, std::memory_order_release);
}

/// Driver's thread; the service thread tells.
void core::tell(const word_of_loss& what) noexcept {
  if (untold_count_ < untold_.size()) untold_[untold_count_++] = what;
  loss_untold_.store(true, std::memory_order_relaxed);
}

void core::tell_launcher() noexcept {
  if (loss_untold_.load(std::memory_order_relaxed)) tell_loss();
  if (survival_.untold.load(std::memory_order_relaxed) != 0) tell_suspects();
}

/// Where nobody judges, all are told, and the launcher is asked to end them.
void core::tell_loss() noexcept {
  loss_untold_.store(false, std::memory_order_relaxed);
  const unsigned count = std::exchange(untold_count_, 0);
  bool judged = true;
  for (unsigned i = 0; i < count; ++i) {
    const auto& what = untold_[i];
    if (what.back) {
      job_.withdraw(static_cast<int>(what.peer));
    } else {
      judged = job_.accuse(static_cast<int>(what.peer), what.silent_ms) && judged;
    }
  }
  if (judged || lost_silent_ms_ == 0 || lost_until_ns_.load(std::memory_order_relaxed) == 0) return;
  const std::string text = loss_text();
  base::log(base::log_level::error, "%s; ending the job", text.c_str());
  for (unsigned node = 0; node < config_.nodes; ++node) {
    if (node != config_.self.value()) send_watch(node, lost, lost_peer_, lost_silent_ms_);
  }
  job_.abort(QUIRE_PEER_LOST, text);
}

std::string core::loss_text() const {
  std::string who = "node " + std::to_string(lost_peer_);
  if (lost_peer_ < peer_names_.size()) who += " (" + peer_names_[lost_peer_] + ")";
  if (lost_silent_ms_ == 0) return who + " cannot be reached any more";
  if (lost_peer_ == config_.self.value()) return "others hear nothing of this node any more";
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f", static_cast<double>(lost_silent_ms_) / 1000);
  return who + " does not answer: nothing was heard from it for " + seconds + " s";
}

}  // namespace quire::core
