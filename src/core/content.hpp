// SPDX-License-Identifier: BSD-3-Clause
// What each part tells frames (frames.hpp) before it looks at the content of units or changes it, and after a message
// has brought it. Driver's thread only.
#pragma once

#include <cstdint>

#include "core/region_slot.hpp"

namespace quire::core {

class frames;

/// What is about to be done with the content of a unit.
enum class content : std::uint8_t {
  read,
  changed,   ///< in part: threads may write it, an atomic operation or a diff does
  promised,  ///< all of it will come from another node
  asked,     ///< the same, of what this node asks for; or a node of its host answers that it is in the frame
  replaced,  ///< all of it comes from another node, by a message that is being received
  sent,      ///< it leaves in a message
};

/// The frames of these units are in memory when it returns, and their states say so.
void bring_frames(frames& all, region_slot& r, std::uint64_t first, std::uint64_t count, content how) noexcept;

/// This node is about to ask others for these units, whose frames are its host's: it holds them from now on.
void hold_frames(frames& all, region_slot& r, std::uint64_t first, std::uint64_t count) noexcept;

/// Somebody is about to look at the content of these units, or to change it: it is in memory when this returns.
inline void use_content(frames& all, region_slot& r, std::uint64_t first, std::uint64_t count, content how) noexcept {
  r.dumped.add(*r.memory, r.layout.offset_of(first), r.bytes_of(first, count));
  if (r.tracks_frames()) [[unlikely]]
    bring_frames(all, r, first, count, how);
}

/// The message with `replaced` content has been received.
inline void content_landed(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
  if (!r.tracks_frames()) return;
  const frame_range all = r.layout.frames_of(first, count);
  for (std::uint64_t frame = all.first; frame < all.end; ++frame) --r.frames.data()[frame].landing;
}

}  // namespace quire::core
