// SPDX-License-Identifier: BSD-3-Clause
// Peers that are silent or gone: watching.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/message.hpp"
#include "watch/parting.hpp"
#include "watch/watch.hpp"
#include "wire/wire.hpp"

namespace quire::core {

class core;

class peer_watch {
 public:
  /// Nodes from `founders` on are there when they join.
  peer_watch(core& node, unsigned self, unsigned nodes, unsigned founders, std::uint64_t limit_ns)
      : core_(node), watch_(self, nodes, limit_ns), parting_(nodes) {
    for (unsigned n = founders; n < nodes; ++n) {
      if (n != self) watch_.is_absent(n);
    }
  }

  /// Who the nodes are, for people: "pid 4711 on a"; before the node starts.
  void name_peers(std::vector<std::string> names) { peer_names_ = std::move(names); }
  void begin(std::uint64_t now) noexcept { watch_.begin(now); }
  /// Before nobody drives any more: peers that watch this node are told that it ends well. Application thread.
  void say_goodbye() noexcept;

  // Driver's thread.
  /// After the job's last barrier: this node needs none of those that it loses from now on. `is_child(node)`: those
  /// that hear of the barrier's end by this one.
  template <class F>
  void part(F is_child) noexcept {
    parting_.begin(is_child);
    if (!leaves()) lost_until_ns_.store(0, std::memory_order_release);
  }
  /// The node by which this one has heard of it need not wait for this one.
  void tell_parent(model::node_id parent) noexcept;
  /// No child needs this node any more.
  [[nodiscard]] bool has_parted() const noexcept { return parting_.done(); }
  void heard(model::node_id from) noexcept { watch_.heard(from.value()); }
  void on_message(const model::message& m) noexcept;
  /// The transport has lost a peer.
  void lost(model::node_id peer) noexcept;
  void is_dead(unsigned node, std::uint64_t now) noexcept {
    parting_.on_gone(node);
    watch_.is_dead(node, now);
    next_look_.store(watch_.next_look(), std::memory_order_relaxed);
  }
  void joins(unsigned node, std::uint64_t now) noexcept {
    watch_.joins(node, now);
    next_look_.store(watch_.next_look(), std::memory_order_relaxed);
  }
  /// Are the peers still there? After what has arrived was taken in.
  void look_at_peers(std::uint64_t now) noexcept;
  [[nodiscard]] bool look_is_wanted() const noexcept { return look_due_.load(std::memory_order_relaxed); }

  static constexpr std::uint64_t end_patience_ns = 10'000'000'000;  ///< with peers at the end

  // Any thread.
  [[nodiscard]] std::uint64_t next_look() const noexcept { return next_look_.load(std::memory_order_relaxed); }
  /// Has whoever drives look.
  void want_look() noexcept { look_due_.store(true, std::memory_order_relaxed); }
  /// A peer is lost, and this node ends at that time unless it hears more; 0: none.
  [[nodiscard]] std::uint64_t lost_until_ns() const noexcept { return lost_until_ns_.load(std::memory_order_acquire); }
  [[nodiscard]] std::string loss_text() const;
  /// The job ends, by this node or another one: this one ends without a word at `until_ns`, with `status`, if it has
  /// not before. Driver's thread.
  void leave_by(std::uint64_t until_ns, int status) noexcept;
  [[nodiscard]] int leave_status() const noexcept { return leave_status_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool leaves() const noexcept { return leaves_.load(std::memory_order_acquire); }
  /// What the launcher is to hear of peers. Service thread.
  void tell_launcher() noexcept;

  // Where the job goes on without nodes (survival.cpp). Driver's thread.
  /// This node ends at `until_ns`, unless it waits for another peer already.
  void doubt(unsigned peer, std::uint64_t silent_ms, std::uint64_t until_ns) noexcept;
  void doubt_nobody() noexcept {
    if (!leaves()) lost_until_ns_.store(0, std::memory_order_relaxed);
  }

  /// Messages that asked, or told, who is still there; the transport counts them like all others.
  struct traffic {
    static constexpr std::uint64_t message_bytes = wire::header_bytes;
    std::atomic<std::uint64_t> sent{0}, received{0};
  };
  [[nodiscard]] const traffic& count() const noexcept { return count_; }

 private:
  /// What the launcher is to hear of peers that are lost, and of those that are back.
  struct word_of_loss {
    unsigned peer = 0;
    std::uint64_t silent_ms = 0;
    bool back = false;
  };
  void send_word(unsigned to, std::uint32_t word, std::uint64_t a = 0, std::uint64_t b = 0) noexcept;
  void lose(unsigned peer, std::uint64_t silent_ms, std::uint64_t patience_ns, bool tells) noexcept;
  void regain(unsigned peer) noexcept;
  void tell(const word_of_loss& what) noexcept;
  void tell_loss() noexcept;
  [[nodiscard]] std::uint64_t patience_with_silence() const noexcept;

  core& core_;
  watch::watch watch_;
  watch::parting parting_;
  traffic count_;
  std::vector<std::string> peer_names_;
  std::atomic<std::uint64_t> next_look_{UINT64_MAX};  ///< of watch_, for the service thread while it does not drive
  std::atomic<bool> look_due_{false};                 ///< it could not drive then: who does looks at the peers
  std::atomic<std::uint64_t> lost_until_ns_{0};       ///< a peer is lost; when this node ends unless it hears more
  std::atomic<bool> leaves_{false};
  std::atomic<int> leave_status_{0};
  unsigned lost_peer_ = 0;
  std::uint64_t lost_silent_ms_ = 0;       ///< how long it was silent; 0: the transport has lost it
  std::array<word_of_loss, 16> untold_{};  ///< by the driver; more than fit are told by others
  unsigned untold_count_ = 0;
  std::atomic<bool> loss_untold_{false};  ///< there are some
};

}  // namespace quire::core
