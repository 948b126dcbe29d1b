// SPDX-License-Identifier: BSD-3-Clause
// What transactional programs on whole nodes do and see, as a history for its checker (sim/history.hpp). Positions in
// the order of events are counted here; one thread of the system runs all nodes, so this order is real.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/history.hpp"
#include "sim/whole/world.hpp"

namespace quire::whole {

class recorder {
 public:
  /// `at_once`: all nodes see a commit from the moment on that it has ended. Else who is told of it does, by an object
  /// that synchronises.
  explicit recorder(world& w, bool at_once = true) : world_(w), at_once_(at_once) {}
  using id = std::size_t;  ///< of an attempt

  /// Its body begins: the runtime has let it in.
  [[nodiscard]] id begin(const node& at);
  void read(id which, std::uint64_t address, std::uint64_t value) { add(which, {address, value, false}); }
  void write(id which, std::uint64_t address, std::uint64_t value) {
    writers_[value] = which;
    add(which, {address, value, true});
  }
  /// It asks for its commit: from now on its writes may come to frames.
  void ask_for_commit(id which);
  /// Its writes have become visible just now.
  void publish(id which);
  /// What has become of it is known. A commit whose writes were not seen to be published is an error.
  void end(id which, bool committed);
  /// After a turn of a node, as world::on_turn() tells it: when the node counts a commit more, the attempt that has
  /// asked for one is published, and all its last writes are in frames. A frame that has a write of an attempt that is
  /// not published is an error.
  void look_at(node& n);
  /// A thread of `n` that is in no transaction has read `value`, which was written by a transaction of this node that
  /// was open at position `since`, or later: it may have seen it before it was committed or undone.
  [[nodiscard]] bool may_be_uncommitted(const node& n, std::uint64_t since, std::uint64_t address,
                                        std::uint64_t value) const;
  /// Some attempt has published the value, or nobody ever writes it.
  [[nodiscard]] bool is_published(std::uint64_t address, std::uint64_t value) const;
  /// A thread of `n` tells the others, by an object, what this node has seen; or it has been told so.
  void tell(const node& n, std::uint64_t object);
  void hear(const node& n, std::uint64_t object);
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }

  [[nodiscard]] const std::vector<sim::history::attempt>& attempts() const noexcept { return all_; }
  [[nodiscard]] std::uint64_t commits() const noexcept { return commits_; }
  /// What is wrong with all that was recorded, or an empty text.
  [[nodiscard]] std::string check() const;

 private:
  struct open_attempt {
    id which = 0;
    bool commits = false;
  };
  void add(id which, const sim::history::operation& o) { all_[which].operations.push_back(o); }
  void look_at_commit(node& n);
  /// The last write of each word.
  [[nodiscard]] std::unordered_map<std::uint64_t, std::uint64_t> last_writes(id which) const;

  using clock = std::vector<std::uint64_t>;  ///< by node: the position up to which it is known
  static void join(clock& to, const clock& from);

  world& world_;
  bool at_once_;
  std::unordered_map<std::uint64_t, clock> objects_{};
  std::unordered_map<unsigned, clock> known_{};  ///< by each node
  std::uint64_t position_ = 0, commits_ = 0;
  std::vector<sim::history::attempt> all_{};
  std::vector<open_attempt> open_{};
  std::unordered_map<std::uint64_t, id> writers_{};             ///< by value
  std::unordered_map<unsigned, std::uint64_t> seen_commits_{};  ///< of each node
};

}  // namespace quire::whole
