// The units written in the open interval of a node: what its next release has to tell; and what else the machines of all its
// regions share.
#pragma once

#include <cstdint>
#include <vector>

#include "directory/pins.hpp"
#include "model/ids.hpp"

namespace quire::release {

struct written_unit {
  model::region_id region{};
  std::uint64_t unit = 0;
  friend auto operator<=>(const written_unit& a, const written_unit& b) noexcept {
    return a.region.value() != b.region.value() ? a.region.value() <=> b.region.value() : a.unit <=> b.unit;
  }
  friend bool operator==(const written_unit&, const written_unit&) noexcept = default;
};

/// A unit whose threads may go on writing it from interval to interval (kept.cpp).
struct kept_unit {
  written_unit what{};
  std::uint32_t idle = 0;  ///< releases in a row at which it had not been written
  bool ends = false;       ///< at this release
};

struct interval {
  std::vector<written_unit> written{};
  std::vector<written_unit> came{};  ///< units whose home has come here: nobody else has been told yet
  std::vector<written_unit> merged{};  ///< units whose partners may be sent the content of both (update.cpp)
  std::vector<kept_unit> kept{};  ///< a few; some of them perhaps not any more
  bool keeps_none = false;        ///< a release ends them all: none begins now
  std::vector<std::uint32_t> unacknowledged{};  ///< by node: diffs that were sent there, and are not known to be in their homes' content
  std::uint32_t told = 0;     ///< number of this node's last interval whose notices exist: all homes have what it wrote
  directory::pin_table* pins = nullptr;  ///< what threads of this node have pinned, or wait to pin; null: none may
  std::uint64_t twins = 0;    ///< pages of the twins that exist on this node
  std::uint64_t bases = 0;    ///< units whose twin is the base copy of a parallel block
  std::uint64_t passing = 0;  ///< diffs of others that came here, went on to where the home moved, and are not acknowledged
};

}  // namespace quire::release
