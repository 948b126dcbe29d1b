// SPDX-License-Identifier: BSD-3-Clause
// A simulated node: a real core (src/core), and around it what it runs on. Its threads are fibres; it drives when
// something has arrived, and when a thread asks for something, at moments that chance decides.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/host.hpp"
#include "region/keeper.hpp"
#include "sim/quiet_job.hpp"
#include "sim/whole/chance_crew.hpp"
#include "sim/whole/memory.hpp"
#include "sim/whole/wire.hpp"

namespace quire::whole {

class world;

/// Thrown out of loads and stores: the calling thread's transaction cannot commit, and its body begins anew. It is
/// caught at once by who runs the body. A handler must not give way (fibre::yield), because what the language knows of
/// exceptions is one for all fibres: it only takes a note.
struct restart {
  bool forced = false;  ///< by the program, as users' tests force it
};

class node final : public core::host, public core::mechanisms {
 public:
  node(world& w, const core::configuration& c);
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  [[nodiscard]] core::core& core() noexcept { return core_; }
  /// Of regions that come and go; others are there from the start.
  [[nodiscard]] region::keeper& keeper() noexcept { return keeper_; }
  [[nodiscard]] node_id self() const noexcept { return core_.config.self; }
  /// From the network.
  void arrive(const message& m, std::span<const std::byte> payload);
  /// Drives for a moment.
  void turn();
  /// It is gone: nothing of it happens any more.
  void die() noexcept { dead_ = true; }
  /// It was not there at the start of the job, and is from now on.
  void come() noexcept { dead_ = false; }
  [[nodiscard]] bool is_dead() const noexcept { return dead_; }

  // What programs do; from a fibre.
  /// A word of shared memory, at an address that is a multiple of 8. It may take a while.
  [[nodiscard]] std::uint64_t load(std::uint64_t address);
  /// The same, and what had been written there last when the thread read it.
  [[nodiscard]] std::uint64_t load(std::uint64_t address, std::uint64_t& latest);
  void store(std::uint64_t address, std::uint64_t value);
  /// Waits for a while, in which a transaction of the calling thread may begin between two actions of a step, and read
  /// a word at once, if it is mapped. `began` is told what it has read. True if that has happened.
  [[nodiscard]] bool begin_meanwhile(std::uint64_t address, const std::function<void(std::uint64_t)>& began);
  /// The same where nodes die. False if nobody has the word any more.
  [[nodiscard]] bool try_load(std::uint64_t address, std::uint64_t& value);
  [[nodiscard]] bool try_store(std::uint64_t address, std::uint64_t value);
  /// Its writers are stopped for a hold, or not any more.
  void expect_less(bool less) noexcept {
    for (table_detector* const d : detectors_) d->expect_less(less);
  }
  /// Nothing is taken away from its threads any more: a test breaks it.
  void forget_to_protect() noexcept {
    for (table_detector* const d : detectors_) d->forget_to_protect();
  }
  /// What the frame of this node holds of the word, whatever its rights are.
  [[nodiscard]] std::uint64_t peek(std::uint64_t address) noexcept;
  /// Whether there is a frame of it.
  [[nodiscard]] bool has_frame(std::uint64_t address) noexcept;

  // core::host
  [[nodiscard]] std::uint64_t now() const noexcept override;
  [[nodiscard]] bool run(core::op& o, std::int64_t timeout_ms, bool in_fault) noexcept override;
  bool wait_for(core::op& o, std::int64_t timeout_ms, bool in_fault) noexcept override;
  void pause(std::uint64_t ns) noexcept override;
  void prepare_to_meet() noexcept override { (void)wire_.progress(); }
  void call() noexcept override { turn_soon(); }
  void call_at(std::uint64_t ns) noexcept override;
  [[nodiscard]] bool has_timer() const noexcept override { return true; }
  void watch_faults(const detect::detector&) noexcept override {}
  [[nodiscard]] chance_crew& crew() noexcept override { return crew_; }
  // core::mechanisms
  [[nodiscard]] base::result<std::unique_ptr<pool::pool>> make_pool(const pool::settings& how, std::uint64_t address,
                                                                    std::uint64_t bytes, bool accessible,
                                                                    const pool::fine_views& fine,
                                                                    pool::view_kind view) override;
  [[nodiscard]] base::result<std::unique_ptr<detect::detector>> open_detector(detect::kind which) override;

 private:
  node(world& w, const core::configuration& c, std::unique_ptr<wire> own);
  void turn_soon(sim::time_ns least = 0) noexcept;
  [[nodiscard]] sim::time_ns next_look() const noexcept;
  void execute_queued() noexcept;
  [[nodiscard]] base::status wait_in_kernel(table_detector& kernel, const std::byte* at, std::uint64_t address,
                                            access want);
  /// The word, once threads may use it so; null if nobody has it any more. Throws restart where the thread's
  /// transaction is doomed.
  [[nodiscard]] std::byte* reach(std::uint64_t address, access want);
  /// Where threads find it.
  [[nodiscard]] static std::byte* content_of(const core::region_slot& r, std::uint64_t address) noexcept;
  /// An access that a thread is about to make. It may happen between two actions of a step of this node, if the word is
  /// mapped for it.
  struct intent {
    std::uint64_t address = 0;
    access want = access::read;
    std::uint64_t value = 0;                                    ///< to write; that was read
    std::uint64_t latest = 0;                                   ///< written when it was read
    const std::function<void(std::uint64_t)>* began = nullptr;  ///< with it a transaction begins
    bool done = false;
  };
  /// Waits for a while with it, now and then. True if it has been done.
  [[nodiscard]] bool waits_with(intent& i);
  /// Between two actions of a step.
  void meanwhile() noexcept;
  [[nodiscard]] bool access_if_mapped(intent& i) noexcept;
  void note_access(const intent& i);

  world& world_;
  sim::quiet_job job_;
  wire& wire_;  ///< the core's
  std::vector<std::unique_ptr<frame_map>> frames_{};
  frame_map* next_frames_ = nullptr;
  std::vector<table_detector*> detectors_{};  ///< the core's
  chance_crew crew_;
  core::core core_;
  region::keeper keeper_{core_};
  std::vector<core::op*> queued_{};
  std::vector<intent*> intents_{};
  bool turn_due_ = false, dead_ = false, in_turn_ = false;
};

}  // namespace quire::whole
