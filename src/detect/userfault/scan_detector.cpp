// SPDX-License-Identifier: BSD-3-Clause
// userfaultfd without faults for writes: write protection is asynchronous, the kernel lifts it at the first write and
// remembers that by its absence; the pagemap tells the pages where it is absent, and puts it back. Missing and minor
// faults come to the faulting thread, as in userfault_detector.
//   permit  none -> any    CONTINUE, write-protected      read -> write  nothing
//   protect to none        MADV_DONTNEED                  to read        WRITEPROTECT on
//   collect                PAGEMAP_SCAN
//
// A page is permitted if it is in `permitted_`; what the page table has of it then says whether it was written:
//   mapped, protected      not written
//   mapped, not protected  written
//   a mark                 not written, and taken away by the kernel (by swapping, or by khugepaged)
//   nothing at all         written, and taken away by the kernel, which remembers nothing
// Pages without permission have a mark or nothing, which is why collect() must know them.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.hpp"
#include "base/log.hpp"
#include "detect/kinds.hpp"
#include "detect/userfault/page_set.hpp"
#include "os/memory.hpp"
#include "os/userfault.hpp"

namespace quire::detect {
namespace {

class scan_detector final : public detector {
 public:
  scan_detector(int userfault, int pagemap, os::address_space& where)
      : userfault_(userfault), pagemap_(pagemap), where_(where) {}
  scan_detector(const scan_detector&) = delete;
  scan_detector& operator=(const scan_detector&) = delete;
  ~scan_detector() override {
    os::close_descriptor(userfault_);
    os::close_descriptor(pagemap_);
  }

  int attach(std::byte* address, std::uint64_t bytes, bool) noexcept override {
    if (const int error = permitted_.cover(number_of(address), bytes); error != 0) return error;
    return os::userfault_register(userfault_, address, bytes);
  }
  void detach(std::byte* address, std::uint64_t bytes) noexcept override {
    (void)!os::userfault_unregister(userfault_, address, bytes);  // which may have ended with the mapping
    permitted_.erase(number_of(address), bytes);
  }

  int permit(std::byte* address, std::size_t bytes, access from, access) noexcept override {
    if (from != access::none) return 0;
    // Known before it is mapped: a write that nobody asks for would be lost. A page that was permitted before has been
    // taken away by the kernel, perhaps after it was written: it comes back as written.
    const bool again = permitted_.insert(number_of(address), bytes);
    const int error = os::userfault_continue(userfault_, address, bytes, !again);
    // Part of the range may be mapped; the caller tries again from none when he has the frames.
    if (error != 0) (void)!protect(address, bytes, access::read, access::none);
    return error;
  }

  int protect(std::byte* address, std::size_t bytes, access, access to) noexcept override {
    if (to != access::none) return os::userfault_protect(userfault_, address, bytes, true);
    if (const int error = where_.advise(address, bytes, MADV_DONTNEED); error != 0) return error;
    permitted_.erase(number_of(address), bytes);
    return 0;
  }

  void wake(std::byte*, std::size_t) noexcept override {}
  int descriptor() const noexcept override { return -1; }
  bool next(fault_event&) noexcept override { return false; }
  bool accessible() const noexcept override { return true; }
  const char* name() const noexcept override { return "userfaultfd, writes found by scans"; }
  bool scans() const noexcept override { return true; }
  int collect(std::byte*& from, std::byte* end, std::span<page_range> found, std::size_t& count) noexcept override;

 private:
  [[nodiscard]] std::uint64_t end_of_runs(std::uint64_t at, std::uint64_t end, std::size_t runs) const noexcept;
  void tell(const os::pagemap_range& unprotected, std::span<page_range> found, std::size_t& count) const noexcept;

  int userfault_;
  int pagemap_;
  os::address_space& where_;
  page_set permitted_;
};

/// Where the `runs`-th run of permitted pages from `at` on ends.
std::uint64_t scan_detector::end_of_runs(std::uint64_t at, std::uint64_t end, std::size_t runs) const noexcept {
  std::uint64_t last = at;
  for (; runs != 0; --runs) {
    const std::uint64_t begin = permitted_.next_in(last, end);
    if (begin == end) break;
    last = permitted_.next_out(begin, end);
  }
  return last;
}

/// Adds what of `unprotected` is permitted.
void scan_detector::tell(const os::pagemap_range& unprotected, std::span<page_range> found,
                         std::size_t& count) const noexcept {
  for (std::uint64_t at = unprotected.begin;;) {
    at = permitted_.next_in(at, unprotected.end);
    if (at == unprotected.end) return;
    const std::uint64_t stop = permitted_.next_out(at, unprotected.end);
    auto* const address = reinterpret_cast<std::byte*>(at);
    if (count != 0 && found[count - 1].address + found[count - 1].bytes == address) {
      found[count - 1].bytes += stop - at;
    } else {
      CHECK(count < found.size());
      found[count++] = {address, stop - at};
    }
    at = stop;
  }
}

int scan_detector::collect(std::byte*& from, std::byte* end, std::span<page_range> found, std::size_t& count) noexcept {
  count = 0;
  if (found.empty()) return EINVAL;
  std::array<os::pagemap_range, 64> raw;
  while (from != end && count < found.size()) {
    // What the kernel has found is protected again, and must have room. m ranges and n runs of permitted pages, both
    // in order, have at most m + n - 1 parts in common.
    const std::size_t room = found.size() - count, runs = (room + 1) / 2;
    const std::uint64_t begin = permitted_.next_in(number_of(from), number_of(end));
    const std::uint64_t stop = end_of_runs(begin, number_of(end), runs);
    if (stop == begin) {
      from = end;
      break;
    }
    std::size_t ranges = 0;
    std::uint64_t next = 0;
    const int error = os::pagemap_collect(pagemap_, begin, stop,
                                          std::span(raw).first(std::min(raw.size(), room - runs + 1)), ranges, next);
    if (error != 0) return error;
    for (const auto& r : std::span(raw).first(ranges)) tell(r, found, count);
    from = reinterpret_cast<std::byte*>(next);
  }
  return 0;
}

}  // namespace

base::result<std::unique_ptr<detector>> open_userfault_scan(bool quiet, os::address_space& where) {
  const int userfault = where.open_userfault(os::userfault_mode::inline_scan);
  const int pagemap = userfault >= 0 ? os::pagemap_open() : userfault;
  if (pagemap >= 0) {
    return std::unique_ptr<detector>(std::make_unique<scan_detector>(userfault, pagemap, where));
  }
  os::close_descriptor(userfault);
  if (!quiet) {
    base::log(base::log_level::error, "writes cannot be found without faults: %s%s", std::strerror(-pagemap),
              pagemap == -EOPNOTSUPP                     ? "; not with pool 'fork'"
              : pagemap == -EINVAL || pagemap == -ENOTTY ? "; the kernel must be Linux 6.7 or later"
                                                         : "");
  }
  return QUIRE_UNSUPPORTED;
}

}  // namespace quire::detect
