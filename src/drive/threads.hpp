// SPDX-License-Identifier: BSD-3-Clause
// The threads that run a core: application threads that ask for something, and the service thread, which drives when
// none of them does. driver.hpp says who drives when. Knows nothing of pages.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "bootstrap/bootstrap.hpp"
#include "core/host.hpp"
#include "core/waiting.hpp"
#include "drive/counters.hpp"
#include "drive/driver.hpp"
#include "drive/leave_wish.hpp"
#include "drive/waits.hpp"
#include "store/crew.hpp"
#include "transport/transport.hpp"

namespace quire::drive {

class signal_pause;

class threads final : public core::host {
 public:
  /// `driven`, `wire` and `job` exist before start() and until stop(); operations run in between, and before start()
  /// those that are done at once.
  threads(const pace& how, core::core& driven, bootstrap::bootstrap& job);
  ~threads();
  threads(const threads&) = delete;
  threads& operator=(const threads&) = delete;

  /// Starts the service thread; the transport is connected.
  void start();
  /// Stops it. No thread may be using shared memory any more.
  void stop() noexcept;
  /// Stops it, and nobody drives any more: threads that wait, or begin to, stay where they are until the process has
  /// ended.
  void stop_for_good() noexcept;

  /// The calling thread drives: a fault now would be one of the runtime itself. Fault context.
  [[nodiscard]] static bool is_driving() noexcept;
  [[nodiscard]] const pace& how() const noexcept { return driver_.how; }
  /// SIGQUIT: has the service thread say what this node's threads wait for. Any thread, also in a signal handler.
  void ask_for_waits() noexcept;
  /// Whether somebody wants this node to leave, and what becomes of it.
  [[nodiscard]] leave_wish& wish() noexcept { return wish_; }

  /// The calling thread waits in a loop of the program for what other threads do: it drives for a moment, if nobody
  /// does. Application thread.
  void spin() noexcept;
  /// The calling thread waits for others of the `threads` of its node, since then, and has last asked then; 0 at first.
  /// Whether it may go on looking. Any thread.
  [[nodiscard]] bool may_look(int threads, std::uint64_t& since, std::uint64_t& last) noexcept;

  // core::host
  [[nodiscard]] std::uint64_t now() const noexcept override;
  [[nodiscard]] bool run(core::op& o, std::int64_t timeout_ms, bool in_fault) noexcept override;
  bool wait_for(core::op& o, std::int64_t timeout_ms, bool in_fault) noexcept override;
  void pause(std::uint64_t ns) noexcept override;
  void prepare_to_meet() noexcept override;
  void call() noexcept override;
  void call_at(std::uint64_t ns) noexcept override;
  [[nodiscard]] bool has_timer() const noexcept override { return timer_ >= 0; }
  void watch_faults(const detect::detector& from) noexcept override;
  [[nodiscard]] store::crew& crew() noexcept override { return crew_; }
  void start_crew() noexcept override;
  void hire(store::store& s) override { crew_.hire(s); }

 private:
  [[nodiscard]] transport::transport& wire() const noexcept;
  // The driver's.
  bool drive() noexcept;
  void execute_queue() noexcept;
  void leave_drive(bool waits) noexcept;
  void hand_over() noexcept;
  void mute() noexcept;
  [[nodiscard]] bool unmute(bool waits) noexcept;
  [[nodiscard]] bool arm(bool waits) noexcept;
  void look_now_and_then() noexcept;
  // An application thread's.
  void take_what_follows() noexcept;
  [[nodiscard]] bool drive_for(const core::op& o, bool driving) noexcept;
  [[nodiscard]] bool wait(core::op& o, bool driving, std::int64_t timeout_ms, signal_pause& pause) noexcept;
  [[nodiscard]] bool sit_for(core::op& o, bool driving, std::int64_t timeout_ms, std::uint64_t start) noexcept;
  void sleep_for(core::op& o, std::int64_t timeout_ms, std::uint64_t start) noexcept;
  // The service thread's.
  static constexpr std::uint64_t longest_sleep_ms = 1000;
  void service_loop() noexcept;
  void serve(service_spin& spin, const core::op* until = nullptr, std::uint64_t end_ns = 0) noexcept;
  void service_sleep(std::uint64_t longest_ms) noexcept;
  [[nodiscard]] bool tick() noexcept;
  void watch(int descriptor) noexcept;
  void clear_call() noexcept;
  void clear_timer() noexcept;
  void handle_news() noexcept;
  void handle_loss() noexcept;

  core::core& core_;
  bootstrap::bootstrap& job_;
  driver driver_;
  core::wait_board shown_;
  waits_told waits_;
  counters_told counters_;
  leave_wish wish_;
  /// What a store has done is the driver's to take: the service thread's, if no other drives.
  std::atomic<bool> crew_starts_{false};
  store::crew_of_threads crew_{[](void* me) noexcept { static_cast<threads*>(me)->call(); }, this};
  std::thread service_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> kernel_faults_{false};  ///< some detector tells faults by a descriptor
  /// The service thread sleeps until somebody wakes it, by the transport, which was armed, among others; or is about
  /// to.
  std::atomic<bool> parked_{false};
  std::atomic<bool> unhurried_{false};  ///< and only for what is urgent
  /// Threads that wait may sleep on the transport's word: it has one, and the kernel can.
  bool can_sit_ = false;
  bool muted_ = false;  ///< an application thread drives meanwhile: the transport shall not wake the service thread
  bursts bursts_{driver_.how};
  ticks ticks_{driver_.how};       ///< the service thread's
  std::uint64_t sleeps_seen_ = 0;  ///< of driver::sleeps, by the service thread
  int epoll_ = -1;
  int call_ = -1;   ///< eventfd that wakes the service thread
  int timer_ = -1;  ///< readable when the time of call_at() has come
};

}  // namespace quire::drive
