// SPDX-License-Identifier: BSD-3-Clause
// Nodes that run the release protocol and synchronisation, with their frames, twins, application views and threads,
// each thread a coroutine:
//
//   release_program reader(release_cluster& c, std::size_t self) {
//     co_await c.call(self, sync::operation::mutex_lock, mutex);
//     const std::uint64_t seen = co_await c.read(self, 7);   // word 7 of the shared memory
//     co_await c.call(self, sync::operation::mutex_unlock, mutex);
//   }
//
// It is glue, no protocol: the same rules as src/core. What a thread may do follows from what `permit` and `protect`
// did to its node's view, never from what the machine believes. Programs are free of data races unless they say
// `read_anything`, so every read must find what the last write left, by the order of the run: that is checked, and what
// else sim/README.md lists.
//
// A cluster does nothing by itself: the explorer (release_explorer.hpp) delivers messages and lets threads run. It has
// what small programs need that are run in all orders; all else (pushes, scans, memory that is short, random programs)
// runs on whole nodes, sim/whole.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "model/atomic_operation.hpp"
#include "protocol/release/node.hpp"
#include "sync/machine.hpp"

namespace quire::sim {

using model::access;
using model::message;
using model::node_id;

/// A simulated thread. Begins when the driver lets it; the cluster destroys it.
struct release_program {
  struct promise_type {
    release_program get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle{};
};

struct release_options {
  unsigned nodes = 2;
  unsigned regions = 1;
  unsigned units = 2;  ///< of each region
  unsigned words = 4;  ///< of 64 bits, per unit
  model::placement placement = model::placement::block;
  node_id fixed{};
  bool first_touch = false, migrates = true;
  release::updates update = release::updates::learned;
  protocol::migratory migratory = protocol::migratory::learned;
  bool keeps = false;           ///< units that are written in every interval keep their right
  std::size_t twin_limit = 64;  ///< pages
  std::size_t notice_limit = release::history::default_limit;
  bool limited = false;   ///< nodes may be short of memory: no home counts on copies
  bool by_words = false;  ///< differences are whole words: where threads race for one, a value comes from a thread
  bool batches = true;    ///< diffs for one node wait for each other as long as they may
  unsigned fault_limit = 1'000;  ///< an access that faults more often is reported as a livelock
};

/// What a cluster needs from its driver.
class release_driver {
 public:
  virtual void send(node_id from, node_id to, const message& m, std::span<const std::byte> payload) = 0;
  /// The thread may be run again, after a while.
  virtual void go_on(std::size_t thread) = 0;

 protected:
  ~release_driver() = default;
};

/// For messages of checkers: which unit of which node.
[[nodiscard]] std::string at_unit(node_id node, unsigned region, std::uint64_t unit);

class release_cluster {
 public:
  using word = std::uint64_t;
  struct ended {
    quire_status status = QUIRE_OK;
    std::uint64_t object = 0;
    sync::value values{};
  };
  /// Where a word lies.
  struct place {
    unsigned region = 0;
    std::uint64_t unit = 0;
    unsigned word = 0;
  };

  release_cluster(const release_options& options, release_driver& driver);
  ~release_cluster();
  release_cluster(const release_cluster&) = delete;
  release_cluster& operator=(const release_cluster&) = delete;

  /// A new thread of `node`: its number, for the program's own calls. Give it a program with begin().
  [[nodiscard]] std::size_t add_thread(unsigned node);
  void begin(std::size_t thread, release_program p);
  /// An object, made before anything else happens.
  [[nodiscard]] std::uint64_t make_object(unsigned node, sync::operation what, std::uint64_t operand = 0);

  // For programs. Words are numbered through all regions.
  struct request;
  class awaiter;
  [[nodiscard]] awaiter read(std::size_t thread, word at);
  [[nodiscard]] awaiter read_anything(std::size_t thread, word at);  ///< in a race: no value is wrong
  [[nodiscard]] awaiter write(std::size_t thread, word at, std::uint64_t value);
  [[nodiscard]] awaiter atomic(std::size_t thread, word at, model::atomic_operation what, std::uint64_t a,
                               std::uint64_t b = 0);
  [[nodiscard]] awaiter take_over(
      std::size_t thread, word at);  ///< another node is short of memory, and asks this one to be the unit's home
  /// Page locking of the word's unit; one thread of a node at a time. try_pin gives up when it would have to wait: 1 if
  /// pinned.
  [[nodiscard]] awaiter pin(std::size_t thread, word at);
  [[nodiscard]] awaiter try_pin(std::size_t thread, word at);
  [[nodiscard]] awaiter unpin(std::size_t thread, word at);
  [[nodiscard]] awaiter call(std::size_t thread, const sync::call& c);
  [[nodiscard]] awaiter call(std::size_t thread, sync::operation what, std::uint64_t object, std::uint64_t operand = 0);

  // For drivers.
  void deliver(node_id to, const message& m, std::span<const std::byte> payload);
  /// The thread, which the cluster said may go on, does its next step.
  void run_thread(std::size_t thread);
  [[nodiscard]] std::span<const std::size_t> threads_of(node_id node) const { return nodes_[node.value()]->threads; }

  // What there is to see.
  [[nodiscard]] const release_options& options() const noexcept { return options_; }
  [[nodiscard]] word words() const noexcept { return word{options_.regions} * options_.units * options_.words; }
  [[nodiscard]] place place_of(word at) const noexcept;
  [[nodiscard]] release::node& node(unsigned n) { return *nodes_[n]->release; }
  [[nodiscard]] release::machine& machine(unsigned n, unsigned region = 0) {
    return *nodes_[n]->memory[region]->machine;
  }
  [[nodiscard]] release::unit_state& unit(unsigned n, unsigned region, std::uint64_t u) {
    return nodes_[n]->memory[region]->units[u];
  }
  /// What the home of the word's unit holds; no unit is on its way.
  [[nodiscard]] std::uint64_t at_home(word at);
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  void fail(std::string why);
  /// What must hold when nothing happens any more. `released`: the last thing that each node did was a release.
  void check_quiet(bool released);

  /// Tests break the protocol here, to see it noticed.
  struct tampering {
    /// The actions of a step, before they are performed.
    std::function<void(unsigned node, unsigned region, const message* trigger, model::actions& out)> actions{};
    /// After a step about the unit, the message's or the action's.
    std::function<void(unsigned node, unsigned region, std::uint64_t unit, const message* trigger)> after{};
    /// A message that arrives; false: it is lost.
    std::function<bool(node_id to, const message& m)> arrives{};
    bool ignores_acknowledgements = false;  ///< diff_sent() is not called: nothing waits for diffs
    bool never_acquires = false;
    bool releases_nothing = false;
    bool keeps_nothing_back = false;  ///< what comes behind diffs that are passed on is heard at once
    bool homes_go_silently = false;   ///< what the old home knows does not go along
  };
  tampering& tamper() noexcept { return tamper_; }

  /// What a thread asks for; public for awaiter only.
  struct request {
    enum class kind : std::uint8_t { none, read, read_anything, write, atomic, take_over, pin, try_pin, unpin, call };
    kind what = kind::none;
    word at = 0;
    std::uint64_t a = 0, b = 0;
    model::atomic_operation operation{};
    sync::call call{};
  };
  class awaiter {
   public:
    awaiter(release_cluster& c, std::size_t thread, const request& r) : cluster_(c), thread_(thread) {
      c.threads_[thread].next = r;
    }
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const { cluster_.driver_.go_on(thread_); }
    /// The word read, or held before the operation; of calls see result().
    std::uint64_t await_resume() const noexcept { return cluster_.threads_[thread_].value; }

   private:
    release_cluster& cluster_;
    std::size_t thread_;
  };
  /// How the thread's last call ended.
  [[nodiscard]] const ended& result(std::size_t thread) const { return threads_[thread].result; }

 private:
  struct thread {
    unsigned node = 0;
    std::uint32_t number = 0;  ///< on its node
    std::coroutine_handle<release_program::promise_type> program{};
    enum class state : std::uint8_t { ready, done, waits_for_unit, waits_for_call, finished } now = state::done;
    request next{};
    unsigned faults = 0;
    bool pin_counted = false;  ///< the machine knows that it waits for a pin
    std::uint64_t value = 0;
    ended result{};
  };
  /// Differences are kept by bits: with the few values that there are, what is as it was before shows more often than
  /// by bytes.
  struct changed_word {
    std::uint64_t word = 0;
    std::uint64_t bits = 0;  ///< that have changed
    std::uint64_t value = 0;
    void apply(std::span<std::uint64_t> unit) const noexcept { unit[word] = (unit[word] & ~bits) | (value & bits); }
  };
  struct diff {
    std::uint64_t unit = 0;
    std::uint64_t moves = 0;  ///< of the home, as far as the sender knows
    std::vector<changed_word> words{};
  };
  struct region_memory {
    std::vector<release::unit_state> units{};
    std::vector<access> views{};
    std::vector<std::uint64_t> frames{}, twins{};
    std::vector<bool> has_twin{};
    std::unique_ptr<release::machine> machine{};
  };
  /// The token of a diff message: its group if it is the node's own, else from here on.
  static constexpr std::uint64_t first_forward = 16;
  struct passed_on {
    node_id from{};
    std::uint64_t token = 0;
    unsigned group = 0;
  };
  struct node_state {
    node_state(release_cluster& c, unsigned n)
        : cluster(c), self{static_cast<std::uint16_t>(n)}, sync(self, c.options_.nodes) {}
    /// Tells the domain of an event, and does what it asks for.
    template <class Event>
    void feed(Event&& event) {
      protocol::feed(*release, event, [this](const protocol::domain_action& a) { perform(a); });
    }
    void perform(const protocol::domain_action& a);
    void transmit(node_id to, const message& m, std::span<const std::byte> value);
    void perform(model::region_id region, const model::actions& list);

    release_cluster& cluster;
    node_id self;
    sync::machine sync;
    std::unique_ptr<release::node> release{};
    std::vector<std::unique_ptr<region_memory>> memory{};
    std::vector<std::size_t> threads{};
    std::map<std::tuple<std::uint16_t, unsigned, unsigned>, std::vector<diff>>
        diffs{};  ///< by node, region and group; not sent yet
    std::map<std::uint64_t, passed_on> forwards{};
    std::uint64_t tokens = first_forward, twins = 0;
    directory::pin_table pins{};
    protocol::round_marks marks{};  ///< of the job's barrier
  };
  friend class awaiter;

  [[nodiscard]] awaiter ask(std::size_t thread, request::kind what, word at);
  void step_access(std::size_t t);
  bool try_access(std::size_t t);
  void fault(std::size_t t, access want);
  void step_atomic(std::size_t t);
  void step_call(std::size_t t);
  void step_pin(std::size_t t);
  void step_unpin(std::size_t t);
  void resume(std::size_t t);

  void finish_step(node_state& n, unsigned region, std::uint64_t unit, const message* trigger, model::actions& out);
  void perform(node_state& n, unsigned region, const model::action& a);
  void perform_sync(node_state& n, const sync::actions& list);
  void send_unit(node_state& n, unsigned region, const model::action& a);
  void change_view(node_state& n, unsigned region, const model::action& a);
  void make_twin(node_state& n, unsigned region, std::uint64_t unit);
  void take_diff(node_state& n, unsigned region, const model::action& a);
  void drop_twin(node_state& n, unsigned region, std::uint64_t unit);
  [[nodiscard]] std::vector<changed_word> changes(node_state& n, unsigned region, std::uint64_t unit);
  void send_patch(node_state& n, unsigned region, const model::action& a);
  void on_patch(node_state& n, const message& m, std::span<const std::byte> payload);
  void merge(node_state& n, unsigned region, std::uint64_t unit, std::span<const std::uint64_t> content);
  [[nodiscard]] std::uint64_t operate(node_state& n, unsigned region, const message& m);
  void complete(std::uint64_t token, std::uint64_t value);
  void wake(node_state& n, unsigned region, std::uint64_t unit);
  void flush(node_state& n);
  void leave(node_state& n, node_id to, const message& m, std::span<const std::byte> payload);
  void send_diffs(node_state& n, node_id to, unsigned region, node_id writer, std::uint64_t token,
                  std::span<const diff> list);
  void handle(node_state& n, const message& m, std::span<const std::byte> payload);
  void on_diffs(node_state& n, const message& m, std::span<const std::byte> payload);
  void on_diffs_ack(node_state& n, const message& m);
  void acquire(node_state& n);
  void synchronise(node_state& n, node_id to, const message& m, std::span<const std::byte> value, model::edge what);
  void check_unit(node_state& n, unsigned region, std::uint64_t unit);

  [[nodiscard]] std::span<std::uint64_t> frame(node_state& n, unsigned region, std::uint64_t unit) noexcept {
    return std::span(n.memory[region]->frames).subspan(unit * options_.words, options_.words);
  }
  /// What others may be sent of a unit whose home is here.
  [[nodiscard]] std::span<const std::uint64_t> as_told(node_state& n, unsigned region, std::uint64_t unit) noexcept {
    return n.memory[region]->machine->kept().is_kept(unit) ? twin(n, region, unit) : frame(n, region, unit);
  }
  [[nodiscard]] std::span<std::uint64_t> twin(node_state& n, unsigned region, std::uint64_t unit) noexcept {
    return std::span(n.memory[region]->twins).subspan(unit * options_.words, options_.words);
  }
  [[nodiscard]] word word_at(unsigned region, std::uint64_t unit, std::uint64_t in_unit) const noexcept {
    return (word{region} * options_.units + unit) * options_.words + in_unit;
  }

  release_options options_;
  release_driver& driver_;
  std::vector<std::unique_ptr<node_state>> nodes_{};
  std::deque<thread> threads_{};
  std::vector<std::uint64_t> latest_{};  ///< [word]: what the last write left
  std::vector<int> holders_{};           ///< [region][unit]: the node whose threads have it pinned, or -1
  std::vector<unsigned> moving_{};       ///< [region][unit]: home_move messages on their way
  std::string failure_{};
  tampering tamper_{};
};

}  // namespace quire::sim
