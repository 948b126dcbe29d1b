// SPDX-License-Identifier: BSD-3-Clause
#include "region/shared_heap.hpp"

#include <algorithm>

#include "directory/placement.hpp"
#include "heap/minipage_heap.hpp"

namespace quire::region {

namespace {
constexpr std::uint64_t least_bytes = 1u << 20, least_units = 16;  ///< of a slice

directory::manager_map managers_of(const core::region_description& about, unsigned nodes) noexcept {
  return directory::manager_map::make(model::placement::block, nodes, about.bytes / about.unit_bytes, {});
}
}  // namespace

shared_heap::shared_heap(const core::region_description& about, unsigned nodes, model::node_id self, bool guards)
    : about_(about), nodes_(nodes), self_(self), guards_(guards) {
  const std::uint64_t units = about.bytes / about.unit_bytes,
                      least = std::max(least_bytes, least_units * about.unit_bytes);
  const std::uint64_t most = std::max<std::uint64_t>(about.bytes / least, 1);
  const std::uint64_t slices = about.id == 0 ? nodes : std::min<std::uint64_t>(nodes, most);
  block_units_ = slices == nodes ? managers_of(about, nodes).block_units : (units + slices - 1) / slices;
  slices_ = cut(about.base, about.base + about.bytes, about.base);
  for (slice& s : slices_) {
    if (s.node == self) s.memory = memory_of(s);
  }
}

std::unique_ptr<heap::allocator> shared_heap::memory_of(const slice& own) const {
  if (about_.views == 0) return std::make_unique<heap::heap>(own.base, own.end - own.base, about_.unit_bytes);
  auto made = std::make_unique<heap::minipage_heap>(own.base, own.end - own.base, about_.views, guards_);
  if (about_.chunk != 0) made->set_chunk(about_.chunk);
  return made;
}

/// Cuts a part so that what was never handed out belongs to the nodes that manage it. What was stays in one slice.
std::vector<shared_heap::slice> shared_heap::cut(std::uint64_t base, std::uint64_t end, std::uint64_t used_end) const {
  const std::uint64_t unit = about_.unit_bytes, first = about_.base;
  const auto managers = managers_of(about_, nodes_);
  std::vector<slice> slices;
  while (base < end) {
    const std::uint64_t block = (base - first) / unit / block_units_;
    std::uint64_t to = first + (block + 1) * block_units_ * unit;
    while (to < used_end) to += block_units_ * unit;
    slices.push_back({base, std::min(to, end), managers.of((base - first) / unit), {}});
    base = to;
  }
  return slices;
}

const shared_heap::slice* shared_heap::slice_of(std::uint64_t address) const noexcept {
  const auto before = [](std::uint64_t a, const slice& s) { return a < s.base; };
  const auto after = std::upper_bound(slices_.begin(), slices_.end(), address, before);
  return after != slices_.begin() && address < after[-1].end ? &after[-1] : nullptr;
}

bool shared_heap::has_any(model::node_id node) const noexcept {
  return std::any_of(slices_.begin(), slices_.end(), [node](const slice& s) { return s.node == node; });
}

base::result<heap::allocation> shared_heap::allocate_here(std::uint64_t bytes, std::uint64_t alignment) noexcept {
  for (slice& s : slices_) {
    if (s.memory == nullptr || bytes > s.end - s.base) continue;
    auto block = s.memory->allocate(bytes, alignment);
    if (block.ok() || block.why().code() != QUIRE_NO_MEMORY) return block;
  }
  return QUIRE_NO_MEMORY;
}

base::result<heap::span_plan> shared_heap::plan_here(std::uint64_t bytes, std::uint64_t alignment) noexcept {
  for (slice& s : slices_) {
    if (s.memory == nullptr || bytes > s.end - s.base) continue;
    auto plan = s.memory->plan(bytes, alignment);
    if (plan.ok() || plan.why().code() != QUIRE_NO_MEMORY) return plan;
  }
  return QUIRE_NO_MEMORY;
}

void shared_heap::settle_here(const heap::span_plan& plan, bool laid) noexcept {
  const slice* const s = slice_of(plan.address);
  if (s != nullptr && s->memory != nullptr) s->memory->settle(plan, laid);
}

void shared_heap::set_chunk_here(unsigned slots) noexcept {
  for (slice& s : slices_) {
    if (s.memory != nullptr) s.memory->set_chunk(slots);
  }
}

base::result<std::uint64_t> shared_heap::size_here(std::uint64_t address) const noexcept {
  const slice* const s = slice_of(address);
  return s != nullptr && s->memory != nullptr ? s->memory->size_of(address)
                                              : base::result<std::uint64_t>(QUIRE_BAD_ADDRESS);
}

base::result<heap::allocation> shared_heap::around_here(std::uint64_t address, bool gap) const noexcept {
  const slice* const s = slice_of(address);
  if (s == nullptr || s->memory == nullptr) return QUIRE_BAD_ADDRESS;
  return gap ? s->memory->gap_around(address) : s->memory->around(address);
}

base::result<heap::allocation> shared_heap::allocate_at_here(std::uint64_t address, std::uint64_t bytes) noexcept {
  const slice* const s = slice_of(address);
  return s != nullptr && s->memory != nullptr ? s->memory->allocate_at(address, bytes)
                                              : base::result<heap::allocation>(QUIRE_BAD_ADDRESS);
}

base::status shared_heap::release_here(std::uint64_t address, bool zero) noexcept {
  const slice* const s = slice_of(address);
  return s != nullptr && s->memory != nullptr ? s->memory->release(address, zero) : base::status(QUIRE_BAD_ADDRESS);
}

bool shared_heap::is_used() const noexcept {
  return std::any_of(slices_.begin(), slices_.end(),
                     [](const slice& s) { return s.memory != nullptr && s.memory->numbers().reached_bytes != 0; });
}

void shared_heap::save(std::vector<std::uint64_t>& words) const {
  for (const slice& s : slices_) {
    if (s.memory != nullptr) s.memory->save(words);
  }
}

bool shared_heap::load(std::span<const part> parts, std::vector<slice>& slices) const {
  std::uint64_t at = about_.base;
  for (const part& p : parts) {
    if (p.about.base != at || p.about.base % about_.unit_bytes != 0) return false;
    at = p.about.end;
    std::vector<slice> pieces = cut(p.about.base, p.about.end, p.about.reached_end);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      slice& s = pieces[i];
      if (s.node == self_) {
        s.memory = memory_of(s);
        std::span<const std::uint64_t> words = p.words;
        if (i == 0 && !s.memory->load(words)) return false;
      }
      slices.push_back(std::move(s));
    }
  }
  return at == about_.base + about_.bytes;
}

}  // namespace quire::region
