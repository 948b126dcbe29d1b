// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/check.hpp"

namespace quire::whole {
namespace {
std::string text(const char* what, access now, access from, access to) {
  const auto name = [](access a) { return a == access::none ? "none" : a == access::read ? "read" : "write"; };
  return std::string("a page is ") + what + " from " + name(from) + " to " + name(to) + ", and is at " + name(now);
}
}  // namespace

array_pool::array_pool(std::uint64_t bytes, frame_map& framed, const ::quire::pool::fine_views& fine)
    : bytes_(bytes), at_(nullptr), views_bytes_(fine.count * fine.stride + bytes), framed_(framed) {
  int error = 0;
  at_ = static_cast<std::byte*>(os::map_table(bytes, error));
  CHECK(at_ != nullptr);
  if (fine.count == 0) return;
  views_ = static_cast<std::byte*>(os::reserve(views_bytes_, nullptr, error));
  CHECK(views_ != nullptr);
}

array_pool::~array_pool() {
  os::unmap(at_, bytes_);
  os::unmap(views_, views_bytes_);
}

int array_pool::leave() noexcept {
  os::unmap(at_, bytes_);
  os::unmap(views_, views_bytes_);
  at_ = views_ = nullptr;
  return 0;
}

int array_pool::populate(std::uint64_t offset, std::size_t bytes) noexcept {
  for (std::uint64_t page = offset / os::page_bytes; page < (offset + bytes) / os::page_bytes; ++page) framed_[page] = true;
  return 0;
}

int array_pool::give_back(std::uint64_t offset, std::size_t bytes) noexcept {
  std::memset(at_ + offset, 0, bytes);
  for (std::uint64_t page = offset / os::page_bytes; page < (offset + bytes) / os::page_bytes; ++page) framed_[page] = false;
  return 0;
}

int table_detector::attach(std::byte* address, std::uint64_t bytes, bool) noexcept {
  const std::size_t pages = bytes / os::page_bytes;
  ranges_[address] = {bytes, std::vector<access>(pages, access::none), std::vector<bool>(pages), std::vector<bool>(pages), next_frames_};
  return 0;
}

void table_detector::detach(std::byte* address, std::uint64_t bytes) noexcept {
  if (ranges_.erase(address) == 0) wrong_("a range is taken from a detector that does not know it");
  wake(address, bytes);
}

const table_detector::range* table_detector::find(const std::byte* address, std::size_t& page) const noexcept {
  auto next = ranges_.upper_bound(address);
  CHECK(next != ranges_.begin());
  --next;
  page = static_cast<std::size_t>(address - next->first) / os::page_bytes;
  CHECK(page < next->second.rights.size());
  return &next->second;
}

access table_detector::right_at(const std::byte* address) const noexcept {
  std::size_t page = 0;
  const range* const r = find(address, page);
  return r->unmapped[page] ? access::none : r->rights[page];
}

access table_detector::permitted_at(const std::byte* address) const noexcept {
  std::size_t page = 0;
  const range* const r = find(address, page);
  return r->rights[page];
}

void table_detector::unmap(const std::byte* address) noexcept {
  std::size_t page = 0;
  find(address, page)->unmapped[page] = true;
}

int table_detector::permit(std::byte* address, std::size_t bytes, access from, access to) noexcept {
  if (meanwhile_ != nullptr) meanwhile_();
  std::size_t first = 0;
  range* const r = find(address, first);
  for (std::size_t page = first; page < first + bytes / os::page_bytes; ++page) {
    if (!(*r->framed)[page]) return EFAULT;
    const bool again = from == access::none && r->rights[page] == to;  // in case the kernel has taken the page away
    if ((r->rights[page] != from && !again) || to <= from) wrong_(text("permitted", r->rights[page], from, to));
    if (from == access::none && r->unmapped[page]) {
      r->unmapped[page] = false;
      if (again) r->written[page] = true;  // nobody knows
    }
  }
  const bool again = from == access::none && r->rights[first] != access::none;
  if (from == access::none && !again) std::fill_n(r->written.begin() + static_cast<std::ptrdiff_t>(first), bytes / os::page_bytes, false);
  std::fill_n(r->rights.begin() + static_cast<std::ptrdiff_t>(first), bytes / os::page_bytes, to);
  return 0;
}

int table_detector::protect(std::byte* address, std::size_t bytes, access from, access to) noexcept {
  if (meanwhile_ != nullptr) meanwhile_();
  if (forgets_) return 0;
  std::size_t first = 0;
  range* const r = find(address, first);
  for (std::size_t page = first; page < first + bytes / os::page_bytes; ++page) {
    const bool less = less_ && from == access::write && r->rights[page] == access::read;
    if ((r->rights[page] != from && !less) || to >= from) wrong_(text("protected", r->rights[page], from, to));
    r->rights[page] = to;
    r->written[page] = false;
    if (to == access::none) r->unmapped[page] = false;
  }
  return 0;
}

void table_detector::hold_thread(const std::byte* at, std::uint64_t address, bool write, core::op& until) {
  faults_.push_back({address, write});
  held_.push_back({at, &until});
}

bool table_detector::next(detect::fault_event& event) noexcept {
  if (faults_.empty()) return false;
  event = faults_.front();
  faults_.pop_front();
  return true;
}

void table_detector::wake(std::byte* address, std::size_t bytes) noexcept {
  std::erase_if(held_, [&](const held_thread& h) {
    if (h.at < address || h.at >= address + bytes) return false;
    h.until->complete();
    return true;
  });
}

void table_detector::note_write(const std::byte* address) noexcept {
  std::size_t page = 0;
  range* const r = find(address, page);
  r->written[page] = true;
}

int table_detector::collect(std::byte*& from, std::byte* end, std::span<detect::page_range> found, std::size_t& count) noexcept {
  count = 0;
  for (; from != end; from += os::page_bytes) {
    std::size_t page = 0;
    range* const r = find(from, page);
    if (r->rights[page] == access::none || !r->written[page]) continue;
    if (count != 0 && found[count - 1].address + found[count - 1].bytes == from) {
      found[count - 1].bytes += os::page_bytes;
    } else if (count == found.size()) {
      return 0;
    } else {
      found[count++] = {from, os::page_bytes};
    }
    r->written[page] = false;
  }
  return 0;
}

}  // namespace quire::whole
