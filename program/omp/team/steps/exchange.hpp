// SPDX-License-Identifier: BSD-3-Clause
// What nodes tell each other while a region runs, in steps: meetings of nodes, tasks that one has and another one has
// threads for. A task that is given away stays open where it was made until the other node has told that it has left,
// with all that it has made there.
//
// Pure. `Node` is this node's surroundings: locks, rings, tasks. omp/team/exchange.cpp has those of a process,
// tests/openmp/steps those of a test.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "program/omp/tasks/pool.hpp"
#include "program/omp/tasks/tree.hpp"
#include "program/omp/team/letter.hpp"
#include "program/process/private_memory.hpp"

namespace quire::program::steps {

/// How many tasks a node gives at once: half of what is ready, at most a few for each thread. The last one stays, lest
/// it travel to and fro.
[[nodiscard]] constexpr std::uint64_t tasks_to_give(std::uint64_t ready, std::uint64_t threads,
                                                    std::uint64_t most) noexcept {
  return std::min({ready / 2, most, 4 + 2 * threads});
}

template <class Node>
class exchange {
 public:
  using kind = letter::kind;
  using parcel = typename Node::parcel;  ///< a task on its way: `at_home`, its record on the node `home`
  using team = typename Node::team;

  explicit constexpr exchange(Node& surroundings) noexcept : node_(surroundings) {}
  void open(int node, int nodes) noexcept { tree_.set(node, nodes); }

  /// What has come is looked at. Nobody receives for another thread that does; when the region has ended here, what
  /// comes is the next one's.
  void look() noexcept {
    const std::unique_lock held(node_.guard(), std::try_to_lock);
    if (!held) return;
    constexpr int many = 64;
    letter l;
    int from = 0;
    for (int i = 0; i < many && node_.in_region() && next(l, from); ++i) on_letter(l, from);
    go_on_with_meeting();
    if (node_.in_region() && hungry_nodes_ != 0) share_tasks();
  }

  /// All threads of this node are at a meeting, and nothing is left to do here.
  void ready(std::uint64_t meeting) noexcept {
    const std::lock_guard held(node_.guard());
    tree_.on_ready(meeting);
    go_on_with_meeting();
  }

  /// One more node is asked for tasks, once until it gives some.
  void ask() noexcept {
    for (int i = 1; i < node_.nodes(); ++i) {
      const int other = (node_.node() + i) % node_.nodes();
      if (!node_.asked(other).exchange(true)) return send(other, {kind::hungry, 0}, guard::free);
    }
  }

  /// The body of a task has returned. That it has ended is told before that all of its group have.
  template <class Task>
  void end_body(team& in, Task& t) noexcept {
    auto* const brought_by = static_cast<parcel*>(t.parcel);
    group* const its = t.in;
    const bool tell = node_.with_tasks(in, [&](pool& tasks) {
      tasks.end_body(t);
      if (brought_by == nullptr || its->tasks == 0) return false;
      pool::hold(*its);
      return true;
    });
    if (tell) {
      tell_of_end(brought_by, guard::free);
      node_.with_tasks(in, [&](pool& tasks) { tasks.let_go(*its); });
    }
    tell_of_empty_groups(in, guard::free);
  }

  [[nodiscard]] const meeting_tree& tree() const noexcept { return tree_; }
  /// What was received while this node could not send; the oldest first.
  struct kept_letter {
    letter what;
    int from;
    kept_letter* next;
  };
  [[nodiscard]] const kept_letter* kept() const noexcept { return kept_; }

 private:
  enum class guard : bool { free, held };  ///< whether the caller has it

  /// Who waits for room takes what others have sent, for later: they may wait for room themselves.
  void send(int to, const letter& l, guard g) noexcept {
    if (node_.try_send(to, l)) return;
    for (auto watch = node_.watch_room();;) {
      watch.look();
      if (node_.try_send(to, l)) return;
      keep_letters(g);
      watch.wait();
    }
  }
  void keep_letters(guard g) noexcept {
    std::unique_lock held(node_.guard(), std::defer_lock);
    if (g == guard::free && !held.try_lock()) return;
    kept_letter** last = &kept_;
    while (*last != nullptr) last = &(*last)->next;
    for (kept_letter k{}; node_.receive(k.what, k.from); last = &(*last)->next) *last = make_private<kept_letter>(k);
  }
  /// Letters of one node in the order in which it has sent them.
  bool next(letter& l, int& from) noexcept {
    kept_letter* const oldest = kept_;
    if (oldest == nullptr) return node_.receive(l, from);
    l = oldest->what;
    from = oldest->from;
    kept_ = oldest->next;
    destroy_private(oldest);
    return true;
  }

  void on_letter(const letter& l, int from) noexcept {
    switch (l.what) {
      case kind::arrived:
        return tree_.on_arrived(from, l.value);
      case kind::released:
        return on_released(l.value);
      case kind::hungry:
        if (!node_.hungry(from)) ++hungry_nodes_;
        node_.hungry(from) = true;
        return;
      case kind::given:
        node_.asked(from).store(false);
        node_.unpack(node_.parcel_of(l.value));
        return;
      case kind::ended:
      case kind::left:
        return on_end(node_.parcel_of(l.value), l.what == kind::left);
      case kind::none:
        return;
    }
  }

  void go_on_with_meeting() noexcept {
    const std::uint64_t number = tree_.take_complete();
    if (number == 0) return;
    if (!tree_.is_root()) return send(tree_.parent(), {kind::arrived, number}, guard::held);
    node_.on_all_met();
    on_released(number);
  }
  /// Tells those below, before this node's threads go on and have others to tell.
  void on_released(std::uint64_t number) noexcept {
    tree_.on_released(number);
    for (int i = 0; i < tree_.children(); ++i) send(tree_.first_child() + i, {kind::released, number}, guard::held);
    node_.release(number);
  }

  /// The task may have come from a third node, which is told in its turn.
  void on_end(parcel* p, bool all) noexcept {
    team& in = node_.team_of_all();
    auto* const before = all ? nullptr : static_cast<parcel*>(p->at_home->parcel);
    node_.with_tasks(in, [&](pool& tasks) {
      if (all) {
        tasks.left_elsewhere(*p->at_home);
      } else {
        tasks.ended_elsewhere(*p->at_home);
      }
    });
    if (before != nullptr) tell_of_end(before, guard::held);
    node_.tell();
    if (!all) return;
    node_.destroy(p);
    tell_of_empty_groups(in, guard::held);
  }
  void tell_of_end(parcel* p, guard g) noexcept { send(p->home, {kind::ended, node_.number_of(p)}, g); }
  void tell_of_empty_groups(team& in, guard g) noexcept {
    if (!node_.spans(in)) return;
    for (;;) {
      group* const empty = node_.with_tasks(in, [](pool& tasks) { return tasks.take_empty(); });
      if (empty == nullptr) return;
      auto* const p = static_cast<parcel*>(empty->origin);
      node_.destroy(empty);
      send(p->home, {kind::left, node_.number_of(p)}, g);
    }
  }

  /// Nodes that have asked get some of the tasks that are ready here.
  void share_tasks() noexcept {
    for (int i = 1; i < node_.nodes() && hungry_nodes_ != 0; ++i) {
      const int other = (node_.node() + i) % node_.nodes();
      if (node_.hungry(other)) feed(other);
    }
  }
  void feed(int other) noexcept {
    if (!node_.may_feed()) return;
    team& in = node_.team_of_all();
    task* taken[Node::most_given];
    const std::uint64_t count = node_.with_tasks(in, [&](pool& tasks) {
      std::uint64_t so_far = 0;
      for (const std::uint64_t share = tasks_to_give(tasks.ready(), node_.threads_of(in), Node::most_given);
           so_far < share; ++so_far) {
        if ((taken[so_far] = tasks.take_away()) == nullptr) break;
      }
      return so_far;
    });
    if (count == 0) return;
    node_.hungry(other) = false;
    --hungry_nodes_;
    for (std::uint64_t i = 0; i < count; ++i)
      send(other, {kind::given, node_.number_of(node_.pack(in, *taken[i]))}, guard::held);
  }

  Node& node_;
  meeting_tree tree_;
  int hungry_nodes_ = 0;  ///< under the guard, as node_.hungry()
  kept_letter* kept_ = nullptr;
};

}  // namespace quire::program::steps
