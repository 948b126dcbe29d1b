// SPDX-License-Identifier: BSD-3-Clause
// Who is still there: a pure state machine whose clock comes from outside. Every node watches the next few nodes in the
// order of their numbers, the first after the last, so that the work of a node does not grow with the job. Whatever
// arrives from a peer is a sign of life; a peer that is silent for a while gets a ping, which its runtime answers
// whatever its program does.
//
// Silence counts only while the watcher runs. A watcher that was stopped, or had no core, looks late: of the time
// between two looks no more counts than it sleeps when all is well. As it takes in what has arrived before each look,
// and asks several times before it accuses, it does not take its own sleep for the silence of others. A peer that had
// no core for so long may come back: a loss is taken back when the peer is heard, for as long as nobody has acted on
// it.
//
// Used by src/core for nodes (driver's thread), and by src/bootstrap for the links between launcher and agents.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace quire::watch {

/// So many peers does a node watch.
inline constexpr unsigned most_watched = 2;
/// A ping goes out after so many parts of the time limit, and six unanswered parts are a loss: the last two are left
/// for those who must agree on it, so that all is over within the limit.
inline constexpr unsigned parts = 8, parts_of_silence = 6;
/// A peer that has never been heard may still be on its way to its first message.
inline constexpr std::uint64_t start_limit_ns = 60'000'000'000;

/// What a look at the peers has found.
struct findings {
  std::array<unsigned, most_watched> ping{};  ///< these are to be asked whether they are there
  unsigned pings = 0;
  bool lost = false;  ///< `peer` has been silent for too long; told once
  unsigned peer = 0;
  std::uint64_t silent_ns = 0;                ///< how long, by the clock
  std::array<unsigned, most_watched> back{};  ///< these were told as lost, and have been heard since
  unsigned backs = 0;
};

class watch {
 public:
  /// Peers are numbered 0 to `nodes` - 1. A limit of 0: nobody watches. `start_ns`: limit for a peer's first sign of
  /// life.
  watch(unsigned self, unsigned nodes, std::uint64_t limit_ns, std::uint64_t start_ns = start_limit_ns);

  /// The clock starts. Nothing counts before.
  void begin(std::uint64_t now) noexcept;
  /// Something has arrived from a peer. Cheap: called for each message.
  void heard(unsigned node) noexcept { heard_[node] = 1; }
  /// A peer has said that it leaves the job well: its silence means nothing from now on.
  void leaves(unsigned node) noexcept;
  /// A peer is known to be dead: the next one alive takes its place among those that are watched.
  void is_dead(unsigned node, std::uint64_t now) noexcept;
  /// A peer is not there yet. Before the clock starts.
  void is_absent(unsigned node) noexcept { alive_[node] = 0; }
  /// It is from now on.
  void joins(unsigned node, std::uint64_t now) noexcept;
  /// To be called after what has arrived was taken in; at next_look() at the latest, as often as one likes.
  [[nodiscard]] findings look(std::uint64_t now) noexcept;
  /// Instead of a look: the watcher does not run, though somebody looks on its behalf.
  void pause(std::uint64_t now) noexcept;
  /// When something is due; never: UINT64_MAX.
  [[nodiscard]] std::uint64_t next_look() const noexcept { return next_look_; }

  [[nodiscard]] bool active() const noexcept { return next_look_ != never; }
  /// Those who watch this node, to be told when it leaves.
  [[nodiscard]] std::span<const unsigned> watchers() const noexcept { return {watchers_.data(), watcher_count_}; }

 private:
  static constexpr std::uint64_t never = UINT64_MAX;
  struct entry {
    unsigned node = 0;
    bool known = false;            ///< has been heard
    bool over = false;             ///< has left
    bool lost = false;             ///< its loss was told, and it has not been heard since
    std::uint64_t silence = 0;     ///< that counts
    std::uint64_t ping_at = 0;     ///< the silence after which the next ping is due
    std::uint64_t last_heard = 0;  ///< on the clock
  };
  void choose(std::uint64_t now) noexcept;
  [[nodiscard]] bool is_alive(unsigned node) const noexcept { return alive_[node] != 0; }
  [[nodiscard]] std::uint64_t limit_of(const entry& e) const noexcept;

  unsigned self_, nodes_;
  std::uint64_t step_, start_ns_;
  std::uint64_t looked_ = 0, next_look_ = never;
  std::vector<std::uint8_t> heard_, alive_;
  std::array<entry, most_watched> watched_{};
  unsigned count_ = 0;
  std::array<unsigned, most_watched> watchers_{};
  unsigned watcher_count_ = 0;
};

}  // namespace quire::watch
