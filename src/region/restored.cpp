// SPDX-License-Identifier: BSD-3-Clause
// The heap and the regions of a job that goes on from a checkpoint, on as many nodes as it had or on another number.
// Addresses stay what they were. A slice of the heap that was used stays one slice: what is live in it may lie
// anywhere. What follows it, and was never handed out, is cut by the managers of the new job; so each node gets memory
// of its own again, but for what had been used up.
//
// Application thread, on all nodes, before anything else uses the memory; saving at any time.
#include <algorithm>

#include "core/core.hpp"
#include "base/log.hpp"
#include "region/registry.hpp"

namespace quire::region {

void registry::save(std::vector<std::uint64_t>& heap, std::uint64_t& next_base, std::uint64_t& next_id) {
  core_.as_driver([&] {
    next_base = next_base_;
    next_id = next_id_;
  });
  for (const slice& s : slices_) {
    if (s.memory != nullptr) s.memory->save(heap);
  }
}

bool registry::is_used() {
  bool used = false;
  core_.as_driver([&] { used = next_id_ != 1; });
  core_.regions.for_each([&](const core::region_slot& r) { used = used || r.about.id != 0; });
  for (const slice& s : slices_) used = used || (s.memory != nullptr && s.memory->numbers().reached_bytes != 0);
  return used;
}

bool registry::load_heap(std::span<const std::span<const std::uint64_t>> saved, std::string& why) {
  struct part {
    heap::saved_extent about;
    std::span<const std::uint64_t> words;
  };
  std::vector<part> parts;
  why = "what nodes have saved of the heap makes no sense";
  for (std::span<const std::uint64_t> left : saved) {
    while (!left.empty()) {
      part p{{}, left};
      if (!heap::skip_saved(left, p.about)) return false;
      parts.push_back(p);
    }
  }
  std::sort(parts.begin(), parts.end(), [](const part& a, const part& b) { return a.about.base < b.about.base; });
  std::uint64_t at = heap_about_.base;
  std::vector<slice> slices;
  for (const part& p : parts) {
    if (p.about.base != at || p.about.base % heap_about_.unit_bytes != 0) return false;
    at = p.about.end;
    std::vector<slice> pieces = cut(p.about.base, p.about.end, p.about.reached_end);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      slice& s = pieces[i];
      if (s.node == core_.config.self) {
        s.memory = std::make_unique<heap::heap>(s.base, s.end - s.base, heap_about_.unit_bytes);
        std::span<const std::uint64_t> words = p.words;
        if (i == 0 && !s.memory->load(words)) return false;
      }
      slices.push_back(std::move(s));
    }
  }
  if (at != heap_about_.base + heap_about_.bytes) return false;
  core_.as_driver([&] { slices_ = std::move(slices); });
  why.clear();
  return true;
}

base::status registry::load_region(core::region_description about) {
  about.home = static_cast<std::uint16_t>(about.home % core_.config.nodes);
  return core_.builder.add(about);
}

void registry::load_next(std::uint64_t next_base, std::uint64_t next_id) {
  core_.as_driver([&] {
    next_base_ = next_base;
    next_id_ = static_cast<std::uint16_t>(next_id);
  });
}

}  // namespace quire::region
