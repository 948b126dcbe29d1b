// SPDX-License-Identifier: BSD-3-Clause
// A region as a node of the model sees it: its machines and their tables, and which words of units with twins were
// written. There is no content.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <unordered_map>
#include <vector>

#include "protocol/release/machine.hpp"
#include "protocol/sequential/machine.hpp"

namespace quire::timed {

inline constexpr std::uint64_t page_bytes = 4096;

/// A region of all nodes; its units are spread over them in blocks.
struct region_size {
  std::uint64_t bytes = 0;
  std::uint64_t unit_bytes = page_bytes;
};

/// Zeroes that take no memory until touched: a job has as many tables as nodes.
template <class T>
class table {
 public:
  void make(std::size_t count) {
    items_.reset(static_cast<T*>(std::calloc(count, sizeof(T))));
    if (items_ == nullptr) throw std::bad_alloc();
  }
  [[nodiscard]] T* data() const noexcept { return items_.get(); }

 private:
  struct freed {
    void operator()(T* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<T, freed> items_{};
};

/// Which words of a unit were written since its twin was made.
class written_words {
 public:
  explicit written_words(std::uint64_t unit_bytes) : bits_(unit_bytes / 8 / 64) {}
  /// The first word of each `stride` words in [first, end).
  void add(std::uint64_t first, std::uint64_t end, std::uint64_t stride) noexcept {
    for (std::uint64_t w = first; w < end; w += stride) bits_[w / 64] |= std::uint64_t{1} << w % 64;
  }
  [[nodiscard]] bool has(std::uint64_t word) const noexcept { return (bits_[word / 64] >> word % 64 & 1) != 0; }

 private:
  std::vector<std::uint64_t> bits_;
};

struct region {
  model::region_id id{};
  unsigned unit_shift = 12;
  table<sequential::unit_state> units{};
  table<sequential::directory_entry> entries{};
  table<release::unit_state> copies{};
  std::unique_ptr<sequential::machine> sequential{};
  std::unique_ptr<release::machine> release{};
  model::machine* machine = nullptr;  ///< one of these
  std::unordered_map<std::uint64_t, written_words> twins{};

  [[nodiscard]] std::uint64_t bytes_of(std::uint64_t count) const noexcept { return count << unit_shift; }
  [[nodiscard]] std::uint64_t pages_of(std::uint64_t count) const noexcept { return bytes_of(count) / page_bytes; }
  [[nodiscard]] std::uint64_t unit_of(std::uint64_t byte) const noexcept { return byte >> unit_shift; }
};

}  // namespace quire::timed
