// SPDX-License-Identifier: BSD-3-Clause
// Threads, words and locks of a small program whose steps an explorer puts in order. Each operation on a word, and each
// taking of a lock, is one step; what a thread does between two of them nobody else sees. Memory is sequentially
// consistent here.
//
// A state is told from others by a hash: the words, what the program adds (program::fingerprint), and of each thread
// all that it has seen since its local variables were last known: at the beginning of a round of a loop that waits
// (watch::look), or at settle().
#pragma once

#include <atomic>
#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fiber.hpp"
#include "sim/random.hpp"

namespace quire::program::steps {

class program {
 public:
  virtual ~program() = default;
  [[nodiscard]] virtual int threads() const = 0;
  /// What thread `number` does. All that it shares with others are words, locks and plain_state; no chance, no clock.
  virtual void run(int number) = 0;
  /// Threads of one role do the same, and states in which they have changed places are one.
  [[nodiscard]] virtual int role(int number) const { return number; }
  /// What the words do not show of the program's state, hashed.
  [[nodiscard]] virtual std::uint64_t fingerprint() const { return 0; }
  /// When all threads have ended: what is wrong; empty: nothing.
  [[nodiscard]] virtual std::string verdict() const { return {}; }
};

[[nodiscard]] constexpr std::uint64_t join(std::uint64_t a, std::uint64_t b) noexcept {
  return sim::mix(a * 0x9e3779b97f4a7c15u + b + 1);
}

class mutex;
class watch;

class world {
 public:
  static constexpr std::size_t most_words = 192;
  world();
  ~world();
  world(const world&) = delete;
  world& operator=(const world&) = delete;
  /// That of the calling thread.
  [[nodiscard]] static world& now() noexcept;

  /// The driver's side: threads begin, each stops before its first step; then one after the other goes on to its next.
  void begin(program& p);
  [[nodiscard]] bool can_go(int thread) const noexcept;
  void go(int thread);
  [[nodiscard]] bool has_ended(int thread) const noexcept;
  [[nodiscard]] std::uint64_t fingerprint() const noexcept;
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  /// Steps are written down from now on: who, what, on which word.
  void trace() noexcept { traced_ = true; }
  [[nodiscard]] const std::string& story() const noexcept { return story_; }

  /// The program's side. Something is wrong: the calling thread stops.
  void fail(const std::string& what);
  void require(bool holds, const char* what) {
    if (!holds) fail(what);
  }
  /// The calling thread's local variables are a function of `where`.
  void settle(std::uint64_t where) noexcept;
  [[nodiscard]] int thread() const noexcept { return running_; }

  /// Of words and locks.
  [[nodiscard]] int add(std::uint64_t value, const char* name) noexcept;
  void step();
  void saw(int word, std::uint64_t value) noexcept;
  void changed(int word, std::uint64_t from, std::uint64_t to) noexcept;
  void tell(const char* what, int word, std::uint64_t a, std::uint64_t b);

 private:
  friend class mutex;
  friend class watch;
  enum class doing : std::uint8_t { runs, waits, wants_lock, ended };
  struct member {
    fiber stack;
    doing what = doing::runs;
    std::uint64_t known = 0;  ///< hash of what it has seen since its variables were known
    watch* innermost = nullptr;
    const mutex* wanted = nullptr;
    bool woken = false;                    ///< its next step follows at once
    int quiet_locks = 0, quiet_words = 0;  ///< that it has, and has used under them
    int number = 0;
  };
  static void live(void* at);
  void stop(doing what);
  void know(std::uint64_t what) noexcept { self().known = join(self().known, what); }
  void hash_in(int word, std::uint64_t from, std::uint64_t to) noexcept;
  void wake_readers(int word) noexcept;
  member& self() noexcept { return *members_[static_cast<std::size_t>(running_)]; }

  program* program_ = nullptr;
  std::vector<std::unique_ptr<member>> members_;
  int running_ = -1;
  int words_ = 0;
  std::uint64_t words_hash_ = 0;
  const char* names_[most_words] = {};
  std::string failure_, story_;
  bool traced_ = false;
};

/// With the names of std::atomic<std::uint64_t>.
class word {
 public:
  explicit word(std::uint64_t value = 0, const char* name = "a word") noexcept
      : value_(value), id_(world::now().add(value, name)) {}
  word(const word&) = delete;
  word& operator=(const word&) = delete;

  std::uint64_t load(std::memory_order = std::memory_order_seq_cst) const {
    world::now().step();
    world::now().tell("reads", id_, value_, value_);
    world::now().saw(id_, value_);
    return value_;
  }
  void store(std::uint64_t value, std::memory_order = std::memory_order_seq_cst) {
    world::now().step();
    put("stores into", value);
  }
  std::uint64_t exchange(std::uint64_t value, std::memory_order = std::memory_order_seq_cst) {
    world::now().step();
    world::now().saw(id_, value_);
    return put("exchanges", value);
  }
  std::uint64_t fetch_add(std::uint64_t more, std::memory_order = std::memory_order_seq_cst) {
    world::now().step();
    world::now().saw(id_, value_);
    return put("adds to", value_ + more);
  }
  bool compare_exchange_strong(std::uint64_t& expected, std::uint64_t by) {
    world::now().step();
    world::now().saw(id_, value_);
    if (value_ == expected) {
      put("replaces", by);
      return true;
    }
    world::now().tell("does not replace", id_, value_, expected);
    expected = value_;
    return false;
  }
  bool compare_exchange_weak(std::uint64_t& expected, std::uint64_t by) {
    return compare_exchange_strong(expected, by);
  }
  /// No step: for verdicts, and for what happens in one step with something else.
  [[nodiscard]] std::uint64_t peek() const noexcept { return value_; }

 private:
  std::uint64_t put(const char* how, std::uint64_t value) {
    const std::uint64_t before = value_;
    value_ = value;
    world::now().tell(how, id_, before, value);
    if (before != value) world::now().changed(id_, before, value);
    return before;
  }
  std::uint64_t value_;
  int id_;
};

/// With the names of std::mutex. `quiet`: what is done under it is one step, in which one word may be used. To take a
/// lock and to give it back can be put off, or done earlier, past the steps of others, up to that one.
class mutex {
 public:
  explicit mutex(bool quiet, const char* name = "a lock") noexcept : quiet_(quiet), id_(world::now().add(0, name)) {}
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  void lock();
  bool try_lock();
  void unlock();

 private:
  friend class world;
  bool quiet_, held_ = false;
  int id_;
};

/// Something that is no word, under a lock: who has read it waits until it changes. Its content is part of
/// program::fingerprint().
class plain_state {
 public:
  explicit plain_state(const char* name) noexcept : id_(world::now().add(0, name)) {}
  void saw(std::uint64_t result) const noexcept { world::now().saw(id_, result); }
  void changed() const noexcept { world::now().changed(id_, 0, 0); }

 private:
  int id_;
};

/// A loop that waits, as news_watch: a round that changed nothing is as if it had not been, and there is no other
/// before something that it read has changed. All rounds of a loop begin with the same local variables.
class watch {
 public:
  watch() noexcept;
  ~watch();
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;
  void look() noexcept;
  void wait();

 private:
  friend class world;
  watch* outer_;
  std::uint64_t known_;
  std::bitset<world::most_words> read_;
  bool changed_ = false, stale_ = false;
};

}  // namespace quire::program::steps
