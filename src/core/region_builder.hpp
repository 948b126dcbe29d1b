// SPDX-License-Identifier: BSD-3-Clause
// Making the regions of a node: pools, detectors, tables and machines. region_builder.cpp. Any thread but a faulting
// one.
#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "base/status.hpp"
#include "core/host.hpp"
#include "core/region_slot.hpp"
#include "detect/detector.hpp"
#include "pool/pool.hpp"
#include "protocol/contract/row.hpp"
#include "store/store.hpp"

namespace quire::core {

class core;
class region_builder {
 public:
  region_builder(core& node, mechanisms& machine) : core_(node), mechanisms_(machine) {}

  /// Opens the job's detector.
  [[nodiscard]] base::status open();
  /// Makes a region here. All nodes do so with the same description.
  [[nodiscard]] base::status add(const region_description& about);
  /// Gives up all that a region had: memory, protection, tables. Driver's thread, of a slot that nobody finds.
  void empty(region_slot& r) noexcept;
  /// Makes what a region needs for a protocol, unless it has it. 0 or errno. Driver's thread, of a region that others
  /// know.
  [[nodiscard]] int prepare(region_slot& r, const protocol::row& of);
  /// Threads see private copies of what they write from now on, or the frames themselves; nothing is mapped. Driver's
  /// thread, as above, where region_description::copies is set, and no thread may go on. 0 or errno: then nobody may
  /// use the region.
  [[nodiscard]] int show(region_slot& r, bool copies) noexcept;
  /// The frames of the region, which were its host's, are this node's own from now on, with all content that it has a
  /// right to; nothing is mapped. Driver's thread, as above, when nothing of the region is on its way. 0 or errno: as
  /// above.
  [[nodiscard]] int take_from_host(region_slot& r) noexcept;
  /// Whether the region's frames could be its host's under this protocol. All nodes find the same.
  [[nodiscard]] bool may_be_of_host(const region_description& about, const protocol::row& of) const noexcept;
  /// All nodes of the job have the region's frames together, and none has to give a unit up for another (one memory).
  [[nodiscard]] bool has_one_memory(const region_slot& r) const noexcept;
  /// The machine of this protocol decides from now on. Driver's thread, as above.
  void put_in_charge(region_slot& r, const protocol::row& of) noexcept;

  /// The job's.
  [[nodiscard]] const detect::detector& detector() const noexcept { return *detectors_[0]; }
  /// f(detector) for each that is open.
  template <class F>
  void for_each_detector(F&& f) noexcept {
    for (auto& d : detectors_) {
      if (d != nullptr) f(*d);
    }
  }
  /// Some region's detector scans.
  [[nodiscard]] bool scanning() const noexcept { return scanning_; }

 private:
  [[nodiscard]] base::status lay_out(region_slot& r) const;
  [[nodiscard]] bool may_be_adopted_by_host() const noexcept;
  [[nodiscard]] bool relaxed_are_one_memory() const;
  [[nodiscard]] bool orders(const region_description& about) const;
  [[nodiscard]] bool can_be_counted(const region_description& about) const noexcept;
  [[nodiscard]] bool is_one_memory(const region_slot& r, const protocol::abilities& by) const noexcept;
  [[nodiscard]] pool::settings pool_for(const region_description& about, const protocol::row& of) const;
  [[nodiscard]] std::uint64_t position_for(const region_description& about);

  [[nodiscard]] base::status fill(region_slot& r, const region_description& about);
  [[nodiscard]] base::status can_have_views(const region_slot& r) const noexcept;
  [[nodiscard]] base::status can_have_private_views(const region_slot& r, const protocol::row& of,
                                                    const pool::settings& pool) const noexcept;
  void warn_of_mappings(const region_slot& r) const noexcept;
  [[nodiscard]] base::status can_be_backed(const region_slot& r, const protocol::row& of) const noexcept;
  [[nodiscard]] base::status fits_limit(const region_slot& r) const noexcept;
  [[nodiscard]] base::status can_survive(const region_description& about, const protocol::row& of) const noexcept;
  [[nodiscard]] store::store* store_for(const region_description& about);
  [[nodiscard]] base::result<detect::detector*> detector_for(const region_description& about,
                                                             const pool::settings& pool);

  core& core_;
  mechanisms& mechanisms_;
  std::array<std::unique_ptr<detect::detector>, 9> detectors_{};  ///< the job's, then one of each kind asked for
  std::array<std::unique_ptr<store::store>, 256> stores_{};  ///< by the number of their row; where memory is limited
  std::mutex regions_mutex_;
  std::uint64_t adopted_bytes_ = 0;  ///< of regions outside of the range, so far
  bool split_ = false;               ///< the application is another process (pool 'fork')
  bool scanning_ = false;
};

}  // namespace quire::core
