// SPDX-License-Identifier: BSD-3-Clause
// A region with barriers and tasks: the steps of team/steps on words of a world, with the pool of tasks/. Threads make
// tasks and come to barriers; who passes one checks that all have come to it, and that no task from before it is open.
#pragma once

#include <array>
#include <deque>
#include <string>
#include <vector>

#include "program/omp/tasks/pool.hpp"
#include "program/omp/team/letter.hpp"
#include "program/omp/team/steps/exchange.hpp"
#include "program/omp/team/steps/meet.hpp"
#include "program/omp/team/steps/ring.hpp"
#include "world.hpp"

namespace quire::program::steps {

/// Put in, to see it found.
enum class mistake : std::uint8_t {
  none,
  nobody_is_counted,       ///< a node closes a round without a look at who has come
  open_tasks_are_ignored,  ///< and while tasks are open
  nodes_do_not_meet,       ///< a node's threads go on when they have met
  senders_do_not_receive,  ///< a thread without room for its letter waits for that, and does nothing else
};

struct region_shape {
  int nodes = 1, threads_each = 1;
  int barriers = 1;           ///< the last one ends the region
  std::vector<int> makers{};  ///< threads that make tasks before their first barrier
  int tasks = 0;              ///< that each of them makes
  int children = 0;           ///< that each of these makes
  int canceller = -1;         ///< a thread that cancels the region before its first barrier
  std::size_t slots = 2;      ///< of a ring
  mistake wrong = mistake::none;
};

struct test_parcel;
struct test_task : task {
  std::uint64_t number = 0;  ///< in `records` of its node
  int barrier = 0;           ///< before which it was made
  int children_to_make = 0;
  test_parcel* parcel = nullptr;
  bool began = false, gone = false;
};
struct test_group : group {
  std::uint64_t number = 0;
  bool gone = false;
};
struct test_parcel {
  test_task* at_home;
  int home;
  std::uint64_t number;
  bool gone;
};

class region;

/// What the exchange has around it (team/exchange.cpp has the one of a process).
class test_node {
 public:
  using parcel = test_parcel;
  using team = test_node;
  static constexpr std::uint64_t most_given = 8;

  test_node(region& in, const region_shape& shape, int number);
  ~test_node();
  test_node(const test_node&) = delete;
  test_node& operator=(const test_node&) = delete;

  [[nodiscard]] int node() const noexcept { return number_; }
  [[nodiscard]] int nodes() const noexcept { return shape_.nodes; }
  [[nodiscard]] mutex& guard() noexcept { return guard_; }
  [[nodiscard]] word& asked(int other) noexcept { return asked_[static_cast<std::size_t>(other)]; }
  [[nodiscard]] bool& hungry(int other) noexcept { return hungry_[static_cast<std::size_t>(other)]; }
  [[nodiscard]] bool try_send(int other, const letter& l);
  [[nodiscard]] bool receive(letter& l, int& from);
  [[nodiscard]] static watch watch_room() { return {}; }

  [[nodiscard]] bool in_region() const noexcept { return in_region_; }
  [[nodiscard]] team& team_of_all() noexcept { return *this; }
  [[nodiscard]] static bool spans(const team& in) noexcept { return in.nodes() > 1; }
  static void tell() noexcept {}
  void release(std::uint64_t round);
  static void on_all_met() noexcept {}

  template <class F>
  auto with_tasks(team& in, F&& f) {
    const std::lock_guard held(in.tasks_guard_);
    if constexpr (std::is_void_v<decltype(f(in.tasks_))>) {
      f(in.tasks_);
      in.tasks_seen_.changed();
    } else {
      const auto result = f(in.tasks_);
      in.tasks_seen_.saw(result != 0 ? 1 : 0);
      if (result != 0 || std::is_same_v<decltype(f(in.tasks_)), bool>) in.tasks_seen_.changed();
      return result;
    }
  }
  [[nodiscard]] static bool may_feed() noexcept { return true; }
  [[nodiscard]] static std::uint64_t threads_of(const team& in) noexcept {
    return static_cast<std::uint64_t>(in.shape_.threads_each);
  }
  [[nodiscard]] parcel* pack(team& in, task& t);
  void unpack(parcel* p);
  [[nodiscard]] static std::uint64_t number_of(const parcel* p) noexcept { return p->number; }
  [[nodiscard]] parcel* parcel_of(std::uint64_t number);
  void destroy(parcel* p) { p->gone = true; }
  static void destroy(group* g) { static_cast<test_group*>(g)->gone = true; }

  [[nodiscard]] std::uint64_t fingerprint() const;

 private:
  friend class steps::region;
  struct barrier;
  [[nodiscard]] bool put(int other, const letter& l);
  [[nodiscard]] test_task& new_task(int barrier, int children);
  void make_task(test_task& parent, int barrier, int children);
  [[nodiscard]] bool has_tasks() const noexcept { return !shape_.makers.empty(); }
  [[nodiscard]] bool run_any();
  void meet(int round);

  steps::region& in_;
  const region_shape& shape_;
  int number_;
  meeting_words<word> within_, end_;
  mutex guard_{false, "the guard of receiving"};
  mutex tasks_guard_{true, "the guard of tasks"};
  plain_state tasks_seen_{"the tasks"};
  pool tasks_;
  std::deque<test_task> records_;
  std::deque<test_group> groups_;
  std::deque<test_parcel> parcels_;
  test_task stand_in_;
  std::deque<word> asked_;
  std::array<bool, 8> hungry_{};
  std::deque<std::deque<word>> boxes_;  ///< by sender
  std::vector<ring_receiver> from_;
  int first_ = 0;
  std::vector<ring_sender> to_;
  std::deque<mutex> to_guards_;
  bool in_region_ = true;
  exchange<test_node> exchange_{*this};
};

class region : public program {
 public:
  explicit region(const region_shape& shape);
  int threads() const override { return shape_.nodes * shape_.threads_each; }
  /// Threads of a node that make tasks, or cancel the region, are others than the rest.
  int role(int number) const override;
  void run(int number) override;
  std::uint64_t fingerprint() const override;
  std::string verdict() const override;

 private:
  friend class test_node;
  struct round {
    int came = 0, open = 0;
  };
  void pass(int barrier);

  region_shape shape_;
  std::deque<test_node> nodes_;
  std::deque<test_task> implicit_;  ///< of threads
  std::vector<round> rounds_;
  word cancelled_{0, "the region is cancelled"};
  int made_ = 0, done_ = 0;
};

}  // namespace quire::program::steps
