// SPDX-License-Identifier: BSD-3-Clause
// The heaps and the regions of a job that goes on from a checkpoint, on as many nodes as it had or on another number.
// Addresses stay what they were. A slice of the heap that was used stays one slice: what is live in it may lie
// anywhere. What follows it, and was never handed out, is cut by the managers of the new job; so each node gets memory
// of its own again, but for what had been used up.
//
// Application thread, on all nodes, before anything else uses the memory; saving at any time.
#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/mapping.hpp"
#include "core/region_builder.hpp"
#include "core/region_slot.hpp"
#include "region/registry.hpp"

namespace quire::region {

void registry::save(std::vector<std::uint64_t>& heap) {
  for (const auto& h : heaps_) {
    if (const shared_heap* const one = h.load(); one != nullptr) one->save(heap);
  }
}

bool registry::is_used() {
  bool used = keeper_.is_used();
  for (const auto& h : heaps_) used = used || (h.load() != nullptr && h.load()->is_used());
  return used;
}

bool registry::load_heap(std::span<const std::span<const std::uint64_t>> saved, std::string& why) {
  using part = shared_heap::part;
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
  std::size_t used = 0;
  std::vector<std::pair<shared_heap*, std::vector<slice>>> loaded;
  for (const auto& h : heaps_) {
    shared_heap* const one = h.load();
    if (one == nullptr) continue;
    const auto& about = one->about();
    std::vector<part> own;
    for (const part& p : parts) {
      if (p.about.base - about.base < about.bytes) own.push_back(p);
    }
    auto& [of, slices] = loaded.emplace_back(one, std::vector<slice>{});
    if (!of->load(own, slices)) return false;
    used += own.size();
  }
  if (used != parts.size()) return false;
  bool laid = true;
  core_.as_driver([&] {
    for (const part& p : parts) {
      for (const heap::span_plan& cut : p.about.cuts) laid = laid && lay(cut);
    }
    for (auto& [of, slices] : loaded) of->replace(std::move(slices));
  });
  if (!laid) return false;
  why.clear();
  return true;
}

/// As other nodes' announcements do (announcements.hpp).
bool registry::lay(const heap::span_plan& cut) noexcept {
  core::region_slot* const r = core_.regions.find(cut.address).get();
  return r != nullptr &&
         core::mapping::divide(*r, (cut.address - r->about.base) / heap::page_bytes, cut.pages, cut.minipage_bytes);
}

base::status registry::load_region(core::region_description about) {
  about.home = static_cast<std::uint16_t>(about.home % core_.config.nodes);
  const auto why = core_.builder.add(about);
  if (why.ok()) on_made(about);
  return why;
}

}  // namespace quire::region
