// SPDX-License-Identifier: BSD-3-Clause
// The file of one node in a checkpoint:
//
//   head     one page: whose file it is
//   content  bytes of regions, in the order in which they were written; grains of zeroes are left out
//   tail     which bytes these are, a checksum for each grain of each, what the node knows of its part of the heap and
//            of synchronisation objects
//   end      64 bytes: where the tail is, its checksum, and whose file it is
//
// A grain is a unit, or a page of a region whose units are smaller (region_row::grain()). Where a node keeps only some
// units of a page, the file has a part of a grain. Written in one pass, and each grain can be read and checked by
// itself: at a restart on another number of nodes each node reads what it needs. Numbers are as the processor has them
// (the magic number tells if it is another kind). Application threads; no two on one object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/manifest.hpp"
#include "checkpoint/outcome.hpp"
#include "os/durable_file.hpp"

namespace quire::checkpoint {

/// Bytes of a region that lie together in the file.
struct extent {
  std::uint64_t region = 0;
  std::uint64_t first = 0;  ///< in the region
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  ///< in the file
  [[nodiscard]] std::uint64_t end() const noexcept { return first + bytes; }
  friend bool operator==(const extent&, const extent&) noexcept = default;
};

[[nodiscard]] std::string node_file_name(std::size_t node);

class node_writer {
 public:
  outcome make(const std::string& directory, const identity& what, std::size_t node);
  /// What the region has from byte `first` on, and nobody changes until this returns. Grains that are zero are left
  /// out, unless `with_zeroes`.
  outcome add(std::uint64_t region, std::uint64_t first, std::uint64_t grain, std::span<const std::byte> content,
              bool with_zeroes = false);
  /// Ends the file, which is on the disk when this returns.
  outcome finish(std::span<const std::uint64_t> heap, std::span<const std::uint64_t> objects, file_row& row);
  [[nodiscard]] std::uint64_t content_bytes() const noexcept { return content_bytes_; }

 private:
  outcome append(std::span<const std::byte> bytes);
  void note(std::uint64_t region, std::uint64_t first, std::uint64_t grain, std::span<const std::byte> content,
            std::uint64_t offset);

  std::string path_;
  identity what_{};
  std::size_t node_ = 0;
  os::output_file file_;
  std::uint64_t at_ = 0, pushed_ = 0, content_bytes_ = 0;
  std::vector<extent> extents_{};
  std::vector<std::uint32_t> checksums_{};
};

class node_reader {
 public:
  /// Reads head, tail and end, and compares them with the manifest.
  outcome open(const std::string& directory, const manifest& m, std::size_t node);
  [[nodiscard]] std::span<const extent> extents() const noexcept { return extents_; }
  [[nodiscard]] std::span<const std::uint64_t> heap() const noexcept { return heap_; }
  [[nodiscard]] std::span<const std::uint64_t> objects() const noexcept { return objects_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Reads extent number `which` from its byte `skip` on, and compares all grains that have a byte of it with their
  /// checksums.
  outcome read(std::size_t which, std::uint64_t skip, std::span<std::byte> into) const;

 private:
  outcome read_ends(const manifest& m, std::size_t node, std::vector<std::uint64_t>& tail);
  outcome take_tail(const manifest& m, std::span<const std::uint64_t> tail, std::uint64_t content_end);
  outcome read_grains(std::size_t which, std::uint64_t first, std::span<std::byte> into) const;

  std::string path_;
  os::input_file file_;
  std::vector<extent> extents_{};
  struct part {
    std::uint64_t first_checksum = 0, grain = 0;
  };
  std::vector<part> parts_{};  ///< of each extent
  std::vector<std::uint32_t> checksums_{};
  std::vector<std::uint64_t> heap_{}, objects_{};
};

}  // namespace quire::checkpoint
