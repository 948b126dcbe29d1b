// SPDX-License-Identifier: BSD-3-Clause
// A random program on whole nodes of which one or two die, and the others go on. Threads read and write a region with
// sequential consistency, and hold, wait for and inherit locks, semaphores, conditions, events and barriers. What must
// hold:
//
//   words     what a survivor has written last is there, unless nobody has its unit any more; with content on two nodes
//             one death loses none, and no write that another node could know of (sim/bare/ledger.hpp); nor do the
//             deaths of all nodes of one host
//             With release consistency: what an owner of the word's mutex wrote, and a node that lives has been told by
//             getting the mutex, or by an atomic operation, is there or lost; and a unit whose home never moves is lost
//             with its home only.
//   mutexes   one owner; who gets one after its owner's death hears OWNER_DIED; never lost
//   others    lost if and only if the node that made them is dead; as many in a semaphore as it lets in; a rwlock is
//             shared rightly
//   a leave   one node's threads stop, and it leaves (core/leaving.hpp): where nobody dies no unit, no write and no
//             mutex's right is lost by that, and nobody hears of a death
//   a join    a node comes that was not there at the start: its threads do what all others do, and nobody loses
//             anything by that, nor hears of a death (mourning_joins.cpp). Regions are made meanwhile, and go: it has
//             those that are there, and none that has gone
//   barrier   of all threads: lets the survivors go on, or is lost; of all nodes: a sum has all survivors, and those
//             that had joined before, and is the same for all of them
//
// All survivors come to an end.
#pragma once

#include <quire/quire.h>

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/bare/ledger.hpp"
#include "sim/whole/actor.hpp"

namespace quire::whole {

struct mourning_options {
  std::uint64_t seed = 1;
  unsigned nodes = 3;
  bool replicas = false;
  unsigned minipage_bytes = 0;   ///< of the units; 0: pages
  unsigned natural_percent = 0;  ///< accesses of minipages by the natural address
  bool release = false;          ///< consistency: each word is used by who has its mutex
  unsigned leavers = 0;          ///< so many nodes leave, too
  unsigned joiners = 0;          ///< so many of the nodes, the last ones, come later
  unsigned host_nodes = 0;       ///< so many nodes run on a host, and die at once or nearly so; 0: each dies by itself
  bool deaths = true;
  bool in_a_row = false;  ///< two nodes die, the second while the others deal with the death of the first
  bool flags = false;  ///< with release consistency: threads also tell each other what they know by atomic operations
};

class mourning {
 public:
  explicit mourning(const mourning_options& options);
  /// What is wrong, or an empty text.
  [[nodiscard]] std::string run();
  /// What has been seen, by name.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& done() const noexcept { return done_; }

 private:
  static constexpr unsigned laps = 3, steps = 20, words = 4, nobody = ~0u;
  static constexpr sim::time_ns latest_death = 5'000'000;
  /// An object, and the node that made it: it is gone with that node, unless it is a mutex.
  struct object {
    std::uint64_t handle = 0;
    unsigned home = 0;
  };
  /// Who is between lock and unlock, by number.
  struct holders {
    std::set<unsigned> readers{};
    unsigned owner = nobody;
    bool orphan = false;  ///< the owner has died
  };
  struct written {
    std::uint64_t value = 0;
    unsigned by = 0;
    std::uint64_t number = 0;  ///< of the word's writes
  };
  struct mourner : actor {
    mourner(world& w, node& at, unsigned number, unsigned place, std::uint64_t seed)
        : actor(w, at, number, seed), place(place) {}
    unsigned place;  ///< among all threads
  };

  [[nodiscard]] world_options draw_options(const mourning_options& given);
  void make(unsigned which);
  void begin();
  void die(unsigned node);
  void die_with_its_host(unsigned node);
  void die_in_a_row();
  /// The nodes that may die with this one, by bits.
  [[nodiscard]] std::uint64_t host_of(unsigned node) const noexcept;
  [[nodiscard]] bool is_dead(unsigned node) { return world_.at(node).is_dead() && !has_left(node); }
  [[nodiscard]] unsigned founders() const noexcept { return options_.nodes - options_.joiners; }
  /// It has not come.
  [[nodiscard]] bool is_absent(unsigned node) const { return node >= founders() && !come_.contains(node); }
  /// Those that are to come have, or never will.
  [[nodiscard]] bool all_have_joined();
  [[nodiscard]] bool has_left(unsigned node) const { return leavers_.contains(node) && leavers_.at(node).has_left; }
  /// Or it meets no others any more, as it leaves; or not yet.
  [[nodiscard]] bool is_gone(unsigned node) {
    return is_dead(node) || (leavers_.contains(node) && leavers_.at(node).meets_no_more) || !has_joined(node);
  }
  [[nodiscard]] bool has_joined(unsigned node);
  void let_join(unsigned node);
  void begin_at(unsigned node);
  void join(mourner& m);
  void live_later(mourner& m);
  void leave(mourner& m);
  void inherit_mutexes(mourner& m);

  void live(mourner& m);
  void step(mourner& m);
  void use_words(mourner& m);
  void note_write(mourner& m, std::uint64_t at, std::uint64_t value);
  void look(mourner& m, std::uint64_t at);
  [[nodiscard]] std::uint64_t draw_word(mourner& m);
  /// With release consistency: a word of a mutex; and all of them.
  [[nodiscard]] std::uint64_t draw_word_of(mourner& m, unsigned which);
  void look_at_words_of(mourner& m, unsigned which);
  void use_words_of(mourner& m, unsigned which);
  void lock_and_look(mourner& m);
  void use_word(mourner& m, std::uint64_t at);
  void pass_flag(mourner& m);
  /// The word has an older value than it should: what dead nodes have written last may be gone.
  void roll_back(std::uint64_t at, std::uint64_t found);
  /// One of the addresses of a word.
  [[nodiscard]] std::uint64_t address_of(mourner& m, std::uint64_t at);
  /// For the ledger.
  [[nodiscard]] std::size_t place_of(std::uint64_t at) const noexcept;
  void use_mutex(mourner& m);
  void own(mourner& m, holders& h, const base::status& why);
  void use_rwlock(mourner& m);
  void use_semaphore(mourner& m);
  void use_event(mourner& m);
  void meet_threads(mourner& m);
  /// Those that have joined do not know which lap it is.
  unsigned meet_nodes(mourner& m, unsigned lap);
  /// The last time.
  void part_from_nodes(mourner& m);
  /// Where nodes join: now and then a region is made, used by all, or goes at once.
  void use_regions(mourner& m);
  void make_region(mourner& m);
  void use_region(mourner& m);
  void look_at_regions(mourner& m);
  void look_at_all(mourner& m);
  /// True if the call has ended well. It may be lost with the object's home, and with a time limit in vain.
  [[nodiscard]] bool ended_well(const object& o, const base::status& why, bool timed, const char* what);
  void note_lost(std::uint64_t at);
  /// Not all content is on two nodes, as one is gone just now; but for one of these (bits).
  [[nodiscard]] bool is_mending(std::uint64_t but = 0);
  /// What is lost stays lost.
  void note_found(std::uint64_t at);
  [[nodiscard]] std::uint64_t unit_at(std::uint64_t at);

  mourning_options options_;
  sim::random draw_;
  unsigned pages_ = 1;
  std::uint64_t stride_;  ///< from one word of a page to the next
  world world_;
  std::vector<unsigned> threads_{};  ///< of each node
  std::vector<unsigned> node_of_{};  ///< of each thread
  std::vector<object> objects_{};    ///< two mutexes, rwlock, semaphore, condition, event, barrier
  holders mutexes_[2]{};
  holders rwlock_{};
  std::set<unsigned> admitted_{};                                   ///< in the semaphore
  std::map<unsigned, std::map<unsigned, std::int64_t>> sums_{};     ///< by lap and node
  std::unordered_map<std::uint64_t, std::vector<written>> past_{};  ///< of each word, oldest first
  std::uint64_t writes_ = 0;
  std::map<unsigned, std::uint64_t> told_[2]{};  ///< by node: which writes of words of this mutex it has been told
  struct flag {
    std::array<std::uint64_t, 2> knows{};  ///< the same of who wrote it
    unsigned by = 0;
    bool at_home = false;  ///< to the word's home, its own node: copies may have the value before others are told
  };
  std::map<std::uint64_t, flag> flags_{};  ///< by value
  bool homes_stay_ = false;
  struct leaver {
    unsigned leaves_in = 0;  ///< lap
    unsigned stopped = 0;    ///< threads of it
    bool meets_no_more = false, begun = false, has_left = false;
  };
  std::map<unsigned, leaver> leavers_{};  ///< by node
  struct made_region {
    std::uint64_t base = 0, bytes = 0;
  };
  std::vector<made_region> made_{};   ///< while nodes joined
  std::vector<quire_region> over_{};  ///< that have gone
  unsigned in_making_ = 0;
  std::set<unsigned> come_{};   ///< of those that were not there at the start; also
  std::set<unsigned> never_{};  ///< those that never do
  bool two_at_once_ = false;    ///< have gone, one of them by leaving: with replicas content of the other may be lost
  std::set<std::uint64_t> lost_{};  ///< units
  sim::ledger knows_{};
  std::map<std::string, std::uint64_t> done_{};
};

}  // namespace quire::whole
