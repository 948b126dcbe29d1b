// SPDX-License-Identifier: BSD-3-Clause
// A node as it runs in a process: a core, the threads that run it, and the machine's memory and faults. One a process.
#pragma once

#include <cstdint>
#include <memory>

#include "core/core.hpp"
#include "drive/threads.hpp"

namespace quire::engine {

class engine {
 public:
  engine(const core::configuration& c, const drive::pace& how, std::unique_ptr<transport::transport> t,
         bootstrap::bootstrap& job);
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// Reserves the shared range and makes signals arrive here. Before the transport's connection. QUIRE_NO_ADDRESSES, or
  /// as of core::open().
  [[nodiscard]] base::status open();
  /// The transport is connected. Application thread.
  void start() { threads_.start(); }
  /// No thread may be using shared memory any more. Application thread.
  void stop() noexcept { threads_.stop(); }
  /// The process is about to exit, and threads may go on: stop(), and threads that wait do so for ever. The engine is
  /// to live as long as they do.
  void stop_for_good() noexcept { threads_.stop_for_good(); }
  /// After that, and after the last message: the shared range loses its memory, and whoever touches it is held.
  /// Application thread.
  void hold_threads() noexcept;

  /// True if the address is shared, then the access may be tried again. `entered_ns`: when the fault came to a handler.
  /// Fault context.
  [[nodiscard]] bool on_fault(std::uint64_t address, bool write, std::uint64_t entered_ns) noexcept;

  [[nodiscard]] core::core& node() noexcept { return core_; }
  [[nodiscard]] drive::threads& threads() noexcept { return threads_; }

 private:
  /// The machine's own.
  class machine final : public core::mechanisms {
   public:
    explicit machine(os::address_space& application) : application_(application) {}
    [[nodiscard]] base::result<std::unique_ptr<pool::pool>> make_pool(const pool::settings& how, std::uint64_t address,
                                                                      std::uint64_t bytes, bool accessible,
                                                                      const pool::fine_views& fine,
                                                                      pool::view_kind view) override;
    [[nodiscard]] base::result<std::unique_ptr<detect::detector>> open_detector(detect::kind which) override;

   private:
    os::address_space& application_;
  };
  [[nodiscard]] base::status reserve();

  machine machine_;
  core::core core_;
  drive::threads threads_;
  bool reserved_ = false;  ///< the shared range is ours
};

}  // namespace quire::engine
