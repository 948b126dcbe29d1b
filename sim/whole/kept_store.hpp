// SPDX-License-Identifier: BSD-3-Clause
// The page-out file of a simulated node: pages in memory. Complains when it is asked for what it does not have.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "os/memory.hpp"
#include "store/store.hpp"

namespace quire::whole {

class kept_store : public store::store {
 public:
  static const ::quire::store::row the_row;
  /// What stores that are made by this thread from now on say is wrong.
  static void complain_to(std::function<void(const std::string&)> wrong);

  kept_store();
  [[nodiscard]] int fill(std::uint64_t at, std::span<std::byte> into) noexcept override;
  [[nodiscard]] int flush(std::uint64_t at, std::span<const std::byte> from) noexcept override;
  /// Every third time.
  [[nodiscard]] int try_fill(std::uint64_t at, std::span<std::byte> into) noexcept override;
  void forget(std::uint64_t at, std::uint64_t bytes) noexcept override { spoil(at, bytes); }
  [[nodiscard]] std::size_t grain() const noexcept override { return os::page_bytes; }
  [[nodiscard]] const char* name() const noexcept override { return "kept store"; }
  [[nodiscard]] const char* where() const noexcept override { return "the simulator"; }
  /// A write has failed half-way, or a region has gone: nobody can rely on what is there.
  void spoil(std::uint64_t at, std::uint64_t bytes);

 private:
  std::function<void(const std::string&)> wrong_;
  std::map<std::uint64_t, std::array<std::byte, os::page_bytes>> pages_{};
  unsigned tries_ = 0;
};

}  // namespace quire::whole
