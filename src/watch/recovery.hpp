// SPDX-License-Identifier: BSD-3-Clause
// How the survivors of a death go on together: a pure state machine, one a node. Nobody leads. Whoever learns of a
// death stops what it is doing and tells all others, by a marker that carries all deaths it knows of; who hears of more
// than it knew begins again. Rounds of markers, each from everyone to everyone (itself included, where it sends
// messages to itself):
//
//   none     (no round: who has not heard of the death yet begins, and takes what the sender had kept back as old)
//   cut      all that was sent before the sender knew has arrived: nothing old is on its way any more
//   reports  everyone has told the new managers what it has
//   settled  the managers have decided; everyone has heard
//   copied   only where content is to be sent again before anybody goes on: it is where it belongs
//   joined   only where threads must not go on before that: what they synchronise by is settled, too; all go on
//
// Markers keep their order with all other messages of their pair. So what comes from a peer before its marker of `cut`
// is old, and what comes after it is new.
//
// A node that leaves has given up all that it had. It begins the rounds itself, and takes part in `cut` only: all wait
// for what it sent before, and for nothing else of it. When all others are past that (their markers of `reports` have
// come) it may go. That a node leaves is settled once a node knows of it: whatever ends the leaving process then, it
// has left. So for each node knowledge grows in one direction, alive -> dead -> left, and who has heard of a death of
// which another knows that it was none comes to know so too. Of a node that ended before its marker came here (`torn`)
// some of what it sent may be missing: markers say so, and who decides knows it of all (`missed`), as what is missing
// here may be what nobody else has.
//
// A node that joins was no member before: nobody has waited for it, or sent it anything. It begins the rounds itself,
// when all others can reach it, and takes part in all of them as one that has nothing. Whoever hears that it has come
// begins as well; so all go on with it from the same moment. A number is used once: what has been dead or has left does
// not come back. So of each number knowledge grows in one direction: absent -> member -> dead -> left.
#pragma once

#include <array>
#include <cstdint>

namespace quire::watch {

class recovery {
 public:
  enum class round : std::uint8_t { none, cut, reports, settled, copied, joined };

  /// What is to be done now, in this order.
  struct step {
    bool begin = false;   ///< give up all that is under way; send a marker of `cut` to all
    bool report = false;  ///< tell the managers what this node has; then send a marker of `reports`
    bool settle = false;  ///< decide, as a manager; then send a marker of `settled`
    bool copy = false;    ///< send content where it belongs now; when all has arrived, call on_copied()
    bool join = false;    ///< decide on what threads synchronise by; then send a marker of `joined`
    bool go_on = false;   ///< it is over
    bool leave = false;   ///< this node leaves, and nobody needs anything of it any more
  };

  /// What a marker carries: who is dead, leaves or has left, was missed, and is or was a member, as its sender knows
  /// it.
  struct knowledge {
    std::uint64_t dead = 0, left = 0, missed = 0, members = 0;
  };

  /// `copies`: with the round `copied`; `joins`: and with `joined`. Nodes from `founders` on are absent until they
  /// join.
  recovery(unsigned self, unsigned nodes, bool copies = false, bool joins = false, unsigned founders = 64) noexcept
      : copies_(copies), joins_(joins), self_(self), all_(first(nodes)), members_(all_ & first(founders)) {}

  /// The launcher says that these are dead; this node is not among them.
  [[nodiscard]] step on_deaths(std::uint64_t dead) noexcept { return learn(dead, 0, 0); }
  /// This node has given up all that it had, and leaves.
  [[nodiscard]] step on_leave() noexcept { return learn(0, std::uint64_t{1} << self_, 0); }
  /// This node, which was absent, comes, after `members`, of whom `left` have left; all others of them can reach it,
  /// and it them. One of them is there, and no other node comes at the same time.
  [[nodiscard]] step on_join(std::uint64_t members, std::uint64_t left) noexcept;
  /// The processes of these have ended. Those that are known to leave are not waited for any more; the others are dead.
  [[nodiscard]] step on_ended(std::uint64_t ended) noexcept;
  /// All that was to be copied has arrived: send a marker of `copied` to all, this node included.
  void on_copied() noexcept { copying_ = false; }
  [[nodiscard]] bool copying() const noexcept { return copying_; }
  [[nodiscard]] step on_marker(unsigned from, round r, const knowledge& of_sender) noexcept;
  [[nodiscard]] knowledge known() const noexcept { return {dead_, left_, missed(), members_}; }

  /// The deaths that this node knows of.
  [[nodiscard]] std::uint64_t dead() const noexcept { return dead_; }
  /// Those that leave, or have left.
  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
  [[nodiscard]] std::uint64_t gone() const noexcept { return dead_ | left_; }
  /// Those that are members, or were: all others are absent.
  [[nodiscard]] std::uint64_t members() const noexcept { return members_; }
  /// Of those: the end of their process is known here; and not all that they sent has come.
  [[nodiscard]] std::uint64_t ended() const noexcept { return ended_; }
  [[nodiscard]] std::uint64_t torn() const noexcept { return ended_ & ~heard_; }
  /// Those from which not all has come to this node, or to one that has told so: in `settled`, to any.
  [[nodiscard]] std::uint64_t missed() const noexcept { return missed_ | torn(); }
  [[nodiscard]] bool leaves() const noexcept { return left_ != 0 && (left_ >> self_ & 1) != 0; }
  [[nodiscard]] round at() const noexcept { return at_; }
  [[nodiscard]] bool active() const noexcept { return at_ != round::none; }
  /// What comes from this peer now was sent before it knew: it is not to be answered.
  [[nodiscard]] bool is_old(unsigned from) const noexcept { return active() && (seen(round::cut) >> from & 1) == 0; }
  /// Nothing that comes from this peer counts any more, but for markers of one that leaves.
  [[nodiscard]] bool is_cut_off(unsigned from) const noexcept {
    const std::uint64_t silent = dead_ | ended_ | (left_ & heard_);
    return silent != 0 && (silent >> from & 1) != 0;  // of more nodes than a word has bits none dies or leaves
  }
  /// All that it remembers, for those who compare states.
  template <class F>
  void for_each_word(F f) const {
    f(dead_);
    f(left_);
    f(ended_);
    f(heard_);
    f(missed_);
    f(members_);
    f(static_cast<std::uint64_t>(at_) | std::uint64_t{copying_} << 8 | std::uint64_t{comes_} << 9);
    for (const std::uint64_t word : seen_) f(word);
  }
  friend bool operator==(const recovery&, const recovery&) noexcept = default;

 private:
  [[nodiscard]] static constexpr std::uint64_t first(unsigned nodes) noexcept {
    return nodes >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << nodes) - 1;
  }
  [[nodiscard]] std::uint64_t seen(round r) const noexcept { return seen_[static_cast<std::size_t>(r)]; }
  /// Who leaves is waited for in `cut` only, and itself waits for the others only.
  [[nodiscard]] bool complete(round r) const noexcept {
    const std::uint64_t awaited = r == round::cut && !leaves() ? members_ & ~dead_ & ~ended_ : members_ & ~gone();
    return (awaited & ~seen(r)) == 0;
  }
  [[nodiscard]] step learn(std::uint64_t dead, std::uint64_t left, std::uint64_t members) noexcept;
  [[nodiscard]] step advance(step s) noexcept;

  bool copies_ = false, joins_ = false, copying_ = false;
  bool comes_ = false;  ///< it has joined, and not gone on yet: who has left before that had sent it nothing
  std::uint64_t self_, all_, members_, dead_ = 0, left_ = 0;
  std::uint64_t ended_ = 0, heard_ = 0;  ///< of those that leave: whose process has ended; whose last message has come
  std::uint64_t missed_ = 0;             ///< as others have told
  std::array<std::uint64_t, 6> seen_{};  ///< [round]: whose markers have come
  round at_ = round::none;
};

}  // namespace quire::watch
