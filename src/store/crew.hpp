// SPDX-License-Identifier: BSD-3-Clause
// The threads of a node that read and write for its stores, so that no other thread waits for a disk. They sleep while
// there is nothing to do. What threads of the program wait for, fills, goes before what makes room. A store that was
// hired for has threads of its own: a slow one holds up no other.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "store/io.hpp"

namespace quire::store {

/// The right of a thread to take one thing that has been begun: as many as were begun, and nobody has taken. Threads
/// sleep on them. Any thread.
class crew_tickets {
 public:
  /// One more.
  void add() noexcept { word_.fetch_add(1, std::memory_order_seq_cst); }
  /// Nobody takes any from now on, whatever he has seen before.
  void stop() noexcept { word_.fetch_or(stopped, std::memory_order_seq_cst); }
  [[nodiscard]] bool has_stopped() const noexcept { return has_stopped(look()); }
  [[nodiscard]] std::uint32_t look() const noexcept { return word_.load(std::memory_order_acquire); }
  [[nodiscard]] static bool has_stopped(std::uint32_t seen) noexcept { return (seen & stopped) != 0; }
  /// Takes one, if they are what was seen.
  [[nodiscard]] bool take(std::uint32_t seen) noexcept {
    return seen != 0 && !has_stopped(seen) && word_.compare_exchange_strong(seen, seen - 1, std::memory_order_acq_rel);
  }
  [[nodiscard]] const std::atomic<std::uint32_t>& word() const noexcept { return word_; }

 private:
  static constexpr std::uint32_t stopped = 1u << 31;
  std::atomic<std::uint32_t> word_{0};
};

class crew_of_threads final : public crew {
 public:
  /// `tell` is called by a thread of the crew when something is done, and was not when take_done() was called last.
  crew_of_threads(void (*tell)(void* context) noexcept, void* context) noexcept : tell_(tell), context_(context) {}
  ~crew_of_threads() { stop(); }
  crew_of_threads(const crew_of_threads&) = delete;
  crew_of_threads& operator=(const crew_of_threads&) = delete;

  static constexpr unsigned usual_threads = 4;
  /// What was begun before waits for it. Application thread.
  void start(unsigned threads);
  /// Each thread ends what it is at; the rest is not done.
  void stop() noexcept;

  /// `s` gets threads of its own, as many as it says (store::threads()), until it is closed (io::kind::close). Others
  /// share those of start(), and so does this one where the system gives no more threads. Application thread, before
  /// anything is begun of it.
  void hire(store& s);
  void begin(io& o) noexcept override;
  [[nodiscard]] io* take_done() noexcept override;
  void finish(io& o) noexcept override;

 private:
  /// First come first served, linked by io::next.
  struct queue {
    io* first = nullptr;
    io* last = nullptr;
    void push(io& o) noexcept;
    [[nodiscard]] io* pop() noexcept;
  };
  /// Threads that do what is begun of one store, or of all that have none of their own.
  struct team {
    explicit team(crew_of_threads& of) noexcept : all(of) {}
    void start(unsigned count);
    [[nodiscard]] bool try_start(
        unsigned most) noexcept;  ///< one, and more when it has something to do; false: there can be no thread
    void start_one_more() noexcept;
    void stop() noexcept;
    void tell_to_stop() noexcept;
    void begin(io& o) noexcept;
    void work() noexcept;
    [[nodiscard]] bool take_ticket() noexcept;
    [[nodiscard]] io& take_next() noexcept;

    crew_of_threads& all;
    std::vector<std::thread> threads{};  ///< under the mutex
    unsigned most_threads = 0;
    std::atomic<io*> begun{nullptr};  ///< newest first: the driver pushes, who has the mutex takes all
    crew_tickets tickets{};
    std::atomic<std::uint32_t> idle{0};  ///< threads that sleep, or are about to
    std::mutex mutex{};                  ///< of the threads of the team only: nobody waits for it in fault context
    queue fills{}, flushes{};            ///< under the mutex
  };
  void done(io& o) noexcept;

  void (*tell_)(void*) noexcept;
  void* context_;
  team shared_{*this};
  std::mutex teams_mutex_{};  ///< of application threads
  std::vector<std::unique_ptr<team>> teams_{};
  std::atomic<io*> done_{nullptr};  ///< newest first
};

}  // namespace quire::store
