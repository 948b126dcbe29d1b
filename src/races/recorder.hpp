// SPDX-License-Identifier: BSD-3-Clause
// Writes the record of a node's intervals (events.hpp) while it runs: a MiB at a time, to a file beside the record for
// the report. Where QUIRE_CHECK is not `races` there is no recorder. When the file has become too large, or cannot be
// written, it ends: what comes after that is not looked at, and the check says so.
//
// Driver's thread; note_fault() any thread, fault context too.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/fault_heap.hpp"
#include "races/events.hpp"

namespace quire::races {

class recorder {
 public:
  static constexpr std::uint64_t most_file_bytes = std::uint64_t{16} << 30;

  /// Null, with errno as it was set: the file cannot be made. An empty path: `all` has what is recorded (tests).
  [[nodiscard]] static std::unique_ptr<recorder> make(const std::string& path, const file_head& about);
  ~recorder();
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  /// A thread is about to get the right to write the page at `address`. Any thread.
  void note_fault(std::uint64_t address, const site& by) noexcept;
  /// The page `next` gets the right as well, as the thread that faulted on `page` sweeps on.
  void note_ahead(std::uint64_t page, std::uint64_t next) noexcept;
  /// What threads here have changed in at most a page at `address`. `page`: of the fault that let them.
  void on_written(std::uint64_t address, std::uint64_t page, std::span<const std::byte> now,
                  const std::byte* before) noexcept;
  /// Threads here may have changed any of the bytes.
  void on_unseen(std::uint64_t address, std::uint64_t page, std::uint64_t bytes) noexcept;
  /// Copies are as new as these intervals of all nodes, by node.
  void on_acquired(std::span<const std::uint32_t> known) noexcept;
  void on_released() noexcept;
  void on_interval(std::uint32_t number, std::uint64_t releases) noexcept;
  /// The content changed by a way that is not recorded.
  void on_other(std::uint64_t address, std::uint64_t bytes) noexcept;
  /// All that was recorded is in the file. Once.
  void close() noexcept;

  [[nodiscard]] const base::fault_vector<std::byte>& all() const noexcept { return buffer_; }

 private:
  explicit recorder(int file) : file_(file) {}
  static constexpr std::size_t places = std::size_t{1} << 16, buffer_bytes = std::size_t{1} << 20;
  /// Who faulted on a page last. A thread that writes one makes `page` odd meanwhile.
  struct place {
    std::atomic<std::uint64_t> page{0}, thread{0};
    std::array<std::atomic<std::uint64_t>, 4> from{};
  };
  [[nodiscard]] place& place_of(std::uint64_t page) const noexcept;
  /// False: not known.
  [[nodiscard]] bool find(std::uint64_t page, site& found) const noexcept;
  [[nodiscard]] std::uint64_t site_of(std::uint64_t page) noexcept;
  void flush() noexcept;

  int file_;
  bool ended_ = false;
  std::uint64_t written_bytes_ = 0;
  base::fault_vector<std::byte> buffer_{};
  writer out_{buffer_};
  std::unique_ptr<place[]> places_{new place[places]};
  base::fault_map<std::pair<std::uint64_t, std::array<std::uint64_t, 4>>, std::uint64_t> sites_{};
  base::fault_vector<std::uint32_t> known_{};
  base::fault_vector<std::pair<std::uint64_t, std::uint64_t>> news_{};
};

}  // namespace quire::races
