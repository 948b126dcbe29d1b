// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "base/check.hpp"

namespace quire::whole {
namespace {
std::string text(const char* what, access now, access from, access to) {
  const auto name = [](access a) { return a == access::none ? "none" : a == access::read ? "read" : "write"; };
  return std::string("a page is ") + what + " from " + name(from) + " to " + name(to) + ", and is at " + name(now);
}

std::byte* page_of(const std::byte* address) {
  return const_cast<std::byte*>(address) - reinterpret_cast<std::uintptr_t>(address) % os::page_bytes;
}

/// Application views with private copies that there are, and what becomes of who accesses them without permission: no
/// thread of a program comes so far (node::reach), it is the runtime.
namespace private_views {
std::map<const std::byte*, std::uint64_t>& all() {
  static std::map<const std::byte*, std::uint64_t> views;
  return views;
}

void on_fault(int signal, siginfo_t* info, void*) {
  const auto* const at = static_cast<const std::byte*>(info->si_addr);
  auto next = all().upper_bound(at);
  if (next != all().begin() && static_cast<std::uint64_t>(at - std::prev(next)->first) < std::prev(next)->second) {
    std::fprintf(stderr,
                 "the runtime accesses page %ld of an application view with private copies, which permits less\n",
                 static_cast<long>((at - std::prev(next)->first) / static_cast<std::ptrdiff_t>(os::page_bytes)));
    CHECK(!"an application view is accessed without permission");
  }
  ::signal(signal, SIG_DFL);  // it faults again, and ends as usual
}

void add(const std::byte* view, std::uint64_t bytes) {
  struct sigaction how = {};
  how.sa_sigaction = on_fault;
  how.sa_flags = SA_SIGINFO;
  CHECK(::sigaction(SIGSEGV, &how, nullptr) == 0);
  all()[view] = bytes;
}

void remove(const std::byte* view) { all().erase(view); }
}  // namespace private_views
}  // namespace

host_memory::host_memory(std::uint64_t size) : bytes(size), at(nullptr), frames(size / os::page_bytes) {
  int error = 0;
  at = static_cast<std::byte*>(os::map_table(bytes, error));
  CHECK(at != nullptr);
}

host_memory::~host_memory() { os::unmap(at, bytes); }

array_pool::array_pool(std::uint64_t bytes, frame_map*& next_frames, const ::quire::pool::fine_views& fine,
                       std::shared_ptr<host_memory> host)
    : bytes_(bytes),
      at_(nullptr),
      views_bytes_(fine.count * fine.stride + bytes),
      framed_(next_frames),
      next_frames_(next_frames),
      host_(std::move(host)) {
  int error = 0;
  if (framed_->view == ::quire::pool::view_kind::private_copies) {
    map_private();
    return;
  }
  at_ = host_ != nullptr ? host_->at : static_cast<std::byte*>(os::map_table(bytes, error));
  CHECK(at_ != nullptr);
  if (fine.count == 0 && host_ == nullptr) return;
  views_ = static_cast<std::byte*>(os::reserve(views_bytes_, nullptr, error));
  CHECK(views_ != nullptr);
}

/// An object of the system, mapped twice: a store through the application view copies the page.
void array_pool::map_private() {
  int error = 0;
  const int fd = os::make_memfd("quire-simulated", bytes_);
  CHECK(fd >= 0);
  at_ = static_cast<std::byte*>(os::map_shared(fd, bytes_, nullptr, true, error));
  CHECK(at_ != nullptr);
  void* const view = ::mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
  CHECK(view != MAP_FAILED);
  views_ = static_cast<std::byte*>(view);
  os::close_descriptor(fd);
  private_views::add(views_, bytes_);
}

array_pool::~array_pool() { (void)leave(); }

int array_pool::show(::quire::pool::view_kind what) noexcept {
  framed_->view = what;
  framed_->copied.assign(framed_->copied.size(), false);
  next_frames_ = framed_;
  const int error = os::advise(views_, bytes_, MADV_DONTNEED);
  return error != 0 ? error : os::protect(views_, bytes_, PROT_NONE);
}

int array_pool::leave() noexcept {
  private_views::remove(views_);
  if (host_ == nullptr || own_ != nullptr) os::unmap(at_, bytes_);
  host_.reset();
  os::unmap(views_, views_bytes_);
  at_ = views_ = nullptr;
  return 0;
}

int array_pool::own_frames(std::byte*& host) noexcept {
  CHECK(host_ != nullptr && own_ == nullptr);
  int error = 0;
  host = at_;
  at_ = static_cast<std::byte*>(os::map_table(bytes_, error));
  if (at_ == nullptr) return error;
  own_ = std::make_unique<frame_map>(bytes_ / os::page_bytes);
  next_frames_ = framed_ = own_.get();
  return 0;
}

int array_pool::populate(std::uint64_t offset, std::size_t bytes) noexcept {
  for (std::uint64_t page = offset / os::page_bytes; page < (offset + bytes) / os::page_bytes; ++page)
    framed_->framed[page] = true;
  return 0;
}

int array_pool::give_back(std::uint64_t offset, std::size_t bytes) noexcept {
  std::memset(at_ + offset, 0, bytes);
  for (std::uint64_t page = offset / os::page_bytes; page < (offset + bytes) / os::page_bytes; ++page)
    framed_->framed[page] = false;
  return 0;
}

int table_detector::attach(std::byte* address, std::uint64_t bytes, bool) noexcept {
  const std::size_t pages = bytes / os::page_bytes;
  ranges_[address] = {bytes, std::vector<access>(pages, access::none), std::vector<bool>(pages),
                      std::vector<bool>(pages), next_frames_};
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
  range* const r = find(address, page);
  if (r->frames->copied[page]) return;
  r->unmapped[page] = true;
  CHECK(tell_kernel(page_of(address), *r, page, page + 1) == 0);
}

bool table_detector::has_copy(const std::byte* address) const noexcept {
  std::size_t page = 0;
  const range* const r = find(address, page);
  return r->frames->copied[page];
}

/// Pages [first, end) are in the kernel's tables what threads may do there, where that is memory. One that threads may
/// not access loses its copy.
int table_detector::tell_kernel(std::byte* first_page, range& r, std::size_t first, std::size_t end) const noexcept {
  if (!r.has_copies()) return 0;
  for (std::size_t page = first; page < end; ++page, first_page += os::page_bytes) {
    const access right = r.unmapped[page] ? access::none : r.rights[page];
    const int writes = right == access::write || (right == access::read && scans()) ? PROT_WRITE : 0;
    if (r.rights[page] == access::none && r.frames->copied[page]) {
      if (const int error = os::advise(first_page, os::page_bytes, MADV_DONTNEED); error != 0) return error;
      r.frames->copied[page] = false;
    }
    if (const int error =
            os::protect(first_page, os::page_bytes, right == access::none ? PROT_NONE : PROT_READ | writes);
        error != 0)
      return error;
  }
  return 0;
}

int table_detector::permit(std::byte* address, std::size_t bytes, access from, access to) noexcept {
  if (meanwhile_ != nullptr) meanwhile_();
  std::size_t first = 0;
  range* const r = find(address, first);
  for (std::size_t page = first; page < first + bytes / os::page_bytes; ++page) {
    if (!r->frames->framed[page]) return EFAULT;
    const bool again = from == access::none && r->rights[page] == to;  // in case the kernel has taken the page away
    const bool more = less_ && from == access::read && r->rights[page] == to;
    if ((r->rights[page] != from && !again && !more) || to <= from)
      wrong_(text("permitted", r->rights[page], from, to));
    if (from == access::none && r->unmapped[page]) {
      r->unmapped[page] = false;
      if (again) r->written[page] = true;  // nobody knows
    }
  }
  const bool again = from == access::none && r->rights[first] != access::none;
  if (from == access::none && !again)
    std::fill_n(r->written.begin() + static_cast<std::ptrdiff_t>(first), bytes / os::page_bytes, false);
  std::fill_n(r->rights.begin() + static_cast<std::ptrdiff_t>(first), bytes / os::page_bytes, to);
  return tell_kernel(address, *r, first, first + bytes / os::page_bytes);
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
  return tell_kernel(address, *r, first, first + bytes / os::page_bytes);
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
  if (right_at(address) < (scans() ? access::read : access::write))
    wrong_("a thread writes to a page that is not permitted for writing");
  r->written[page] = true;
  if (r->has_copies()) r->frames->copied[page] = true;
}

int table_detector::collect(std::byte*& from, std::byte* end, std::span<detect::page_range> found,
                            std::size_t& count) noexcept {
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
