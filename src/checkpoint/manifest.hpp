// SPDX-License-Identifier: BSD-3-Clause
// The manifest of a checkpoint: what it consists of, as lines of text, the last of which is their checksum. Written
// last, so that where it stands, and what it names is whole, the checkpoint is complete. Pure but for write_ and
// read_manifest().
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/outcome.hpp"

namespace quire::checkpoint {

/// What is written, and the oldest that is read. Version 2 had units instead of bytes in the index of files, and no
/// fine views; version 3 no containers.
inline constexpr unsigned format_version = 4, oldest_version = 2;
inline constexpr const char* manifest_name = "manifest";
inline constexpr std::uint64_t most_containers = 4095;

/// What binds the files of one checkpoint together.
struct identity {
  std::uint64_t generation = 0;
  std::uint64_t id = 0;  ///< random: no file of another attempt is taken for one of this
  friend bool operator==(const identity&, const identity&) noexcept = default;
};

struct region_row {
  std::uint64_t id = 0, base = 0, bytes = 0, unit_bytes = 0;
  std::uint64_t placement = 0, home = 0, consistency = 0, pool = 0, detector = 0;
  static constexpr std::uint64_t has_copies = 256;  ///< in `consistency`: its views can show private copies
  std::uint64_t life = 0;                           ///< regions that had gone when it was made: part of its handle
  std::uint64_t heap = 0;                           ///< 1: memory is allocated from it
  std::uint64_t orders = 0;                         ///< quire_region_options::orders
  std::uint64_t layout = 0;                         ///< a row of the table of layouts
  std::uint64_t views = 0, chunk = 0;               ///< fine views; of a heap with them, allocations a unit
  std::uint64_t grouping = 0;                       ///< of regions with fine views: which units come together
  /// Content is cut at multiples of so many bytes, and each piece has a checksum; no unit lies in several, or has them
  /// whole.
  [[nodiscard]] std::uint64_t grain() const noexcept { return std::max<std::uint64_t>(unit_bytes, 4096); }
  [[nodiscard]] std::uint64_t handle() const noexcept { return id | life << 16; }
  friend bool operator==(const region_row&, const region_row&) noexcept = default;
};

/// The file of one node.
struct file_row {
  std::uint64_t bytes = 0;
  std::uint64_t content_bytes = 0;  ///< of them, content of shared memory
  std::uint32_t tail_checksum = 0;
  friend bool operator==(const file_row&, const file_row&) noexcept = default;
};

/// A container (quire/container.h): a region with a name.
struct container_row {
  /// Where its content is.
  enum class content : std::uint64_t {
    region,  ///< among that of regions: it has no linker
    linker,  ///< nowhere in the checkpoint: it is read-only, and was `bytes` long, and changed last at `changed_ns`
    copy,    ///< in a file of its own (container_copy.hpp); what is among that of regions is newer
    pages,   ///< among that of regions
  };
  std::uint64_t number = 0;
  std::uint64_t region = 0;  ///< its handle
  content where = content::region;
  std::uint64_t all = 0, home = 0;  ///< all nodes did its I/O; else `home`
  std::string name{}, linker{}, what{};
  std::uint64_t bytes = 0, changed_ns = 0;       ///< changed_ns 0: not known
  std::uint64_t has_checksum = 0, checksum = 0;  ///< of the copy, unless it shares the blocks of the file
  friend bool operator==(const container_row&, const container_row&) noexcept = default;
};

struct manifest {
  std::uint64_t version = format_version;  ///< that it was read from
  identity what{};
  std::uint64_t written_s = 0;  ///< seconds since 1970
  std::uint64_t base = 0, range_bytes = 0;
  std::uint64_t next_base = 0, next_id = 0, gone = 0;  ///< of regions that will be made, and how many have gone
  std::uint64_t heap_views = 0;       ///< QUIRE_HEAP_VIEWS: small objects of quire_malloc() are those of region 1
  std::vector<region_row> regions{};  ///< the first is that of quire_malloc()
  std::vector<std::pair<std::string, std::uint64_t>> names{};
  std::uint64_t heads = 0;  ///< the region that has what nodes have in common of containers; 0: there was none
  std::vector<container_row> containers{};
  std::vector<file_row> files{};  ///< by node
  friend bool operator==(const manifest&, const manifest&) noexcept = default;
};

[[nodiscard]] std::string print(const manifest& m);
/// QUIRE_DAMAGED, naming `path`, for what print() did not give; QUIRE_UNSUPPORTED for another version's.
outcome parse(const std::string& text, const std::string& path, manifest& m);

/// `directory`: of one checkpoint. The file is on the disk when this returns.
outcome write_manifest(const std::string& directory, const manifest& m);
outcome read_manifest(const std::string& directory, manifest& m);

}  // namespace quire::checkpoint
