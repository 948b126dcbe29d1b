// SPDX-License-Identifier: BSD-3-Clause
// Memory of a simulated node: a pool whose two views are one array (fine views are addresses without memory), and a
// detector that only keeps what is permitted. With private copies the application view is memory of its own, mapped as
// in a process, and its pages have just the protections that threads have: who reads or writes more than that ends the
// run. Programs look at it before they access a page (node::load, node::store). Both check what they are asked for: a
// page is permitted and protected from the state that the core says, and not without a frame. One that scans notices
// writes without faults, and tells them when asked; one that the kernel tells faults by a descriptor holds the thread
// itself.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/op.hpp"
#include "detect/detector.hpp"
#include "os/memory.hpp"
#include "pool/pool.hpp"

namespace quire::whole {

using model::access;
using complaint = std::function<void(const std::string&)>;

/// Of a range of pages: which have frames, and which show threads private copies.
struct frame_map {
  explicit frame_map(std::size_t pages, pool::view_kind view = pool::view_kind::shared)
      : view(view), framed(pages), copied(pages) {}
  pool::view_kind view;
  std::vector<bool> framed;
  std::vector<bool> copied;
};

/// Frames that the pools of several nodes have together: of a host, and a range of addresses.
struct host_memory {
  explicit host_memory(std::uint64_t bytes);
  ~host_memory();
  host_memory(const host_memory&) = delete;
  host_memory& operator=(const host_memory&) = delete;
  std::uint64_t bytes;
  std::byte* at;
  frame_map frames;
};

class array_pool final : public pool::pool {
 public:
  /// `next_frames`: of the range that a detector attaches next.
  array_pool(std::uint64_t bytes, frame_map*& next_frames, const ::quire::pool::fine_views& fine = {},
             std::shared_ptr<host_memory> host = nullptr);
  ~array_pool() override;
  array_pool(const array_pool&) = delete;
  array_pool& operator=(const array_pool&) = delete;
  [[nodiscard]] std::byte* application_view() const noexcept override { return views_ != nullptr ? views_ : at_; }
  [[nodiscard]] bool has_copies() const noexcept { return framed_->view == ::quire::pool::view_kind::private_copies; }
  /// Where threads find the byte `offset` of the pool, `distance` behind the start of all application views.
  [[nodiscard]] std::byte* content(std::uint64_t distance, std::uint64_t offset) const noexcept {
    return has_copies() ? views_ + distance : at_ + offset;
  }
  [[nodiscard]] std::byte* system_view() const noexcept override { return at_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return bytes_; }
  [[nodiscard]] int populate(std::uint64_t offset, std::size_t bytes) noexcept override;
  [[nodiscard]] int give_back(std::uint64_t offset, std::size_t bytes) noexcept override;
  [[nodiscard]] const char* name() const noexcept override { return "array"; }
  [[nodiscard]] const char* when_full() const noexcept override { return "it is never full"; }
  [[nodiscard]] int leave() noexcept override;
  [[nodiscard]] bool of_host() const noexcept override { return host_ != nullptr && own_ == nullptr; }
  [[nodiscard]] int own_frames(std::byte*& host) noexcept override;
  void end_host() noexcept override {
    if (own_ != nullptr) host_.reset();
  }
  [[nodiscard]] int show(::quire::pool::view_kind) noexcept override;
  [[nodiscard]] int make_accessible() noexcept override { return 0; }  // what threads may do is the table's
  void dump(std::uint64_t, std::uint64_t) noexcept override {}

 private:
  void map_private();

  std::uint64_t bytes_;
  std::byte* at_;
  std::byte* views_ = nullptr;  ///< where there are fine ones, or frames that may become others: addresses of all
                                ///< application views, which only name pages. Private copies: the view
  std::uint64_t views_bytes_;
  frame_map* framed_;
  frame_map*& next_frames_;
  std::shared_ptr<host_memory> host_;
  std::unique_ptr<frame_map> own_{};  ///< after own_frames()
};

class table_detector : public detect::detector {
 public:
  /// `next_frames`: those of the range that is attached next.
  table_detector(detect::kind which, frame_map* const& next_frames, complaint wrong)
      : kind_(which), next_frames_(next_frames), wrong_(std::move(wrong)) {}
  [[nodiscard]] int attach(std::byte* address, std::uint64_t bytes, bool private_copies) noexcept override;
  void detach(std::byte* address, std::uint64_t bytes) noexcept override;
  [[nodiscard]] int permit(std::byte* address, std::size_t bytes, access from, access to) noexcept override;
  [[nodiscard]] int protect(std::byte* address, std::size_t bytes, access from, access to) noexcept override;
  void wake(std::byte* address, std::size_t bytes) noexcept override;
  [[nodiscard]] int descriptor() const noexcept override { return holds_threads() ? 0 : -1; }
  [[nodiscard]] bool next(detect::fault_event& event) noexcept override;
  [[nodiscard]] bool accessible() const noexcept override { return true; }
  [[nodiscard]] const char* name() const noexcept override { return "table"; }

  [[nodiscard]] bool scans() const noexcept override { return kind_ == detect::kind::userfault_scan; }
  [[nodiscard]] int collect(std::byte*& from, std::byte* end, std::span<detect::page_range> found,
                            std::size_t& count) noexcept override;

  /// Faulting threads do not come by themselves: the kernel holds them, and tells.
  [[nodiscard]] bool holds_threads() const noexcept { return kind_ == detect::kind::userfault_thread; }
  /// It holds a thread that has accessed `at`, known to programs as `address`; `until` is complete when the thread is
  /// to try again.
  void hold_thread(const std::byte* at, std::uint64_t address, bool write, core::op& until);
  /// A thread is about to write there, which it may: for scans, and for private copies.
  void note_write(const std::byte* address) noexcept;
  /// Threads see a private copy of the page, and not its frame.
  [[nodiscard]] bool has_copy(const std::byte* address) const noexcept;
  /// What threads may do there without a fault.
  [[nodiscard]] access right_at(const std::byte* address) const noexcept;
  /// What the core has said that they may do.
  [[nodiscard]] access permitted_at(const std::byte* address) const noexcept;
  /// The kernel unmaps a page by itself, as it may: the next access faults, whatever has been permitted. Never a
  /// private copy.
  void unmap(const std::byte* address) noexcept;
  /// From now on pages may be protected from more than they have: a hold has taken writes away without a word to the
  /// machines. What it gives back may be there already: in one memory a node that has let go pushes the right to write
  /// to those that have not.
  void expect_less(bool less) noexcept { less_ = less; }
  [[nodiscard]] bool expects_less() const noexcept { return less_; }
  /// From now on nothing that is permitted is taken away: a test breaks it.
  void forget_to_protect() noexcept { forgets_ = true; }
  /// Called before each change of what is permitted: other threads of the node do something meanwhile.
  void on_change(std::function<void()> meanwhile) { meanwhile_ = std::move(meanwhile); }

 private:
  struct range {
    std::uint64_t bytes = 0;
    std::vector<access> rights{};  ///< as the core has said
    std::vector<bool> unmapped{};  ///< by the kernel, since then
    std::vector<bool> written{};   ///< since they were permitted or collected
    frame_map* frames = nullptr;
    [[nodiscard]] bool has_copies() const noexcept { return frames->view == pool::view_kind::private_copies; }
  };
  [[nodiscard]] int tell_kernel(std::byte* first_page, range& r, std::size_t first, std::size_t end) const noexcept;
  [[nodiscard]] const range* find(const std::byte* address, std::size_t& page) const noexcept;

  [[nodiscard]] range* find(const std::byte* address, std::size_t& page) noexcept {
    return const_cast<range*>(std::as_const(*this).find(address, page));
  }

  struct held_thread {
    const std::byte* at = nullptr;
    core::op* until = nullptr;
  };
  detect::kind kind_;
  std::deque<detect::fault_event> faults_{};
  std::vector<held_thread> held_{};
  frame_map* const& next_frames_;
  complaint wrong_;
  std::function<void()> meanwhile_{};
  bool less_ = false, forgets_ = false;
  std::map<const std::byte*, range> ranges_{};
};

}  // namespace quire::whole
