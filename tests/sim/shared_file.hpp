// SPDX-License-Identifier: BSD-3-Clause
// A file that all simulated nodes reach, and the store by which a region has its content.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>

#include "store/store.hpp"

namespace quire::whole {

class shared_file {
 public:
  static constexpr std::uint64_t page = 4096;
  /// Pages by their first byte; zeroes at first.
  std::map<std::uint64_t, std::array<std::byte, page>> pages{};
};

/// Reads and writes never fail. `of` lasts as long as the store.
class shared_file_store final : public store::store {
 public:
  explicit shared_file_store(shared_file& of) : of_(of) {}
  [[nodiscard]] int fill(std::uint64_t at, std::span<std::byte> into) noexcept override {
    for (std::uint64_t done = 0; done < into.size(); done += shared_file::page)
      std::memcpy(into.data() + done, of_.pages[at + done].data(), shared_file::page);
    return 0;
  }
  [[nodiscard]] int flush(std::uint64_t at, std::span<const std::byte> from) noexcept override {
    for (std::uint64_t done = 0; done < from.size(); done += shared_file::page)
      std::memcpy(of_.pages[at + done].data(), from.data() + done, shared_file::page);
    return 0;
  }
  [[nodiscard]] int sync() noexcept override { return 0; }
  [[nodiscard]] int try_fill(std::uint64_t at, std::span<std::byte> into) noexcept override { return fill(at, into); }
  [[nodiscard]] std::size_t grain() const noexcept override { return shared_file::page; }
  [[nodiscard]] const char* name() const noexcept override { return "simulated file"; }
  [[nodiscard]] const char* where() const noexcept override { return "a test"; }

 private:
  shared_file& of_;
};

}  // namespace quire::whole
