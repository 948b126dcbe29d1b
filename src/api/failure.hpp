// SPDX-License-Identifier: BSD-3-Clause
// Deaths of other nodes as a program hears of them: quire_on_failure(), quire_alive(). The engine tells on its driver's
// thread, possibly within a fault; the program's handler runs in a thread of its own.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

#include "core/core.hpp"
#include "model/membership.hpp"

namespace quire::api {

class failure_service {
 public:
  explicit failure_service(core::core& e);
  ~failure_service() { stop(); }
  failure_service(const failure_service&) = delete;
  failure_service& operator=(const failure_service&) = delete;

  /// Who is called for each death from now on, and for those before that nobody was called for.
  [[nodiscard]] base::status set(quire_failure_handler handler, void* context);
  [[nodiscard]] bool is_alive(int node) const noexcept;
  [[nodiscard]] int count_alive() const noexcept;
  /// Waits for a handler that runs, unless it is that which calls; none is called afterwards.
  void stop();
  /// Whether the handler's thread calls.
  [[nodiscard]] bool is_handler();
  /// After stop(): the job goes on after all.
  void go_on();

 private:
  void run();

  core::core& core_;
  std::atomic<std::uint64_t> dead_{0};
  std::array<std::uint8_t, model::membership::most_nodes> order_{};
  std::atomic<unsigned> over_{0};       ///< how many of `order_` are there
  std::atomic<std::uint32_t> bell_{0};  ///< changes when there is something to do
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;  ///< for what follows
  quire_failure_handler handler_ = nullptr;
  void* context_ = nullptr;
  unsigned told_ = 0;  ///< of `order_`; by the thread
  std::thread thread_;
};

}  // namespace quire::api
