// SPDX-License-Identifier: BSD-3-Clause
#include "os/content_copy.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "os/memory.hpp"
#include "os/raw_call.hpp"

namespace quire::os {
namespace {

bool is_zero(const std::byte* page) noexcept {
  constexpr std::size_t word = sizeof(std::uint64_t);
  std::uint64_t first = 0;
  std::memcpy(&first, page, word);
  return first == 0 && std::memcmp(page, page + word, page_bytes - word) == 0;
}

/// Which pages of anonymous memory have ever been touched, as /proc/self/pagemap tells.
class touched_pages {
 public:
  touched_pages() noexcept : fd_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}
  touched_pages(const touched_pages&) = delete;
  touched_pages& operator=(const touched_pages&) = delete;
  ~touched_pages() {
    if (fd_ >= 0) ::close(fd_);
  }
  /// True where it cannot be told.
  [[nodiscard]] bool has(std::uint64_t page) noexcept {
    if (page - first_ >= count_) read_from(page);
    constexpr std::uint64_t present = std::uint64_t{1} << 63, swapped = std::uint64_t{1} << 62;
    return page - first_ >= count_ || (entries_[page - first_] & (present | swapped)) != 0;
  }

 private:
  void read_from(std::uint64_t page) noexcept {
    first_ = page;
    const ssize_t got =
        fd_ < 0 ? -1 : ::pread(fd_, entries_.data(), sizeof entries_, static_cast<off_t>(page * sizeof(std::uint64_t)));
    count_ = got > 0 ? static_cast<std::uint64_t>(got) / sizeof(std::uint64_t) : 0;
  }
  int fd_;
  std::uint64_t first_ = 0, count_ = 0;
  std::array<std::uint64_t, 512> entries_{};
};

/// A line of /proc/self/maps.
struct mapping {
  std::uint64_t first = 0, end = 0;
  bool readable = false, anonymous = false;
};

bool parse(const std::string& line, mapping& m) noexcept {
  unsigned long first = 0, end = 0, inode = 0;
  char permissions[8] = {};
  if (std::sscanf(line.c_str(), "%lx-%lx %7s %*s %*s %lu", &first, &end, permissions, &inode) != 4) return false;
  m = {first, end, permissions[0] == 'r', inode == 0 && permissions[3] == 'p'};
  return true;
}

}  // namespace

content_copy::content_copy(content_copy&& from) noexcept
    : data_(std::exchange(from.data_, nullptr)), bytes_(std::exchange(from.bytes_, 0)), held_(std::move(from.held_)) {}

content_copy::~content_copy() { unmap(data_, bytes_); }

int content_copy::make(std::uint64_t bytes) noexcept {
  int error = 0;
  data_ = static_cast<std::byte*>(map_table(bytes, error));
  if (data_ == nullptr) return error;
  bytes_ = bytes;
  held_.assign(bytes / page_bytes, false);
  return 0;
}

int content_copy::take(const std::byte* from, std::uint64_t bytes) {
  if (const int error = make(bytes); error != 0) return error;
  const auto base = reinterpret_cast<std::uint64_t>(from);
  std::uint64_t at = base;
  touched_pages touched;
  std::ifstream maps("/proc/self/maps");
  mapping m;
  for (std::string line; at < base + bytes && std::getline(maps, line);) {
    if (!parse(line, m) || m.end <= at) continue;
    if (m.first > at || !m.readable) return EFAULT;
    for (const std::uint64_t end = std::min(m.end, base + bytes); at < end; at += page_bytes) {
      if (m.anonymous && !touched.has(at / page_bytes)) continue;
      put(at - base, reinterpret_cast<const std::byte*>(at));
    }
  }
  return at < base + bytes ? EFAULT : 0;
}

void content_copy::put(std::uint64_t offset, const std::byte* page) noexcept {
  if (is_zero(page)) return;
  std::memcpy(data_ + offset, page, page_bytes);
  held_[offset / page_bytes] = true;
}

int content_copy::move_to(void* address) noexcept {
  // The system call itself: a function of that name of a library may look at what is not there yet, as at `environ`.
  const long moved =
      raw_call(SYS_mremap, reinterpret_cast<long>(data_), static_cast<long>(bytes_), static_cast<long>(bytes_),
               MREMAP_MAYMOVE | MREMAP_FIXED, reinterpret_cast<long>(address));
  if (moved != reinterpret_cast<long>(address)) return static_cast<int>(-moved);
  (void)!advise(address, bytes_, MADV_DODUMP);
  data_ = nullptr;
  bytes_ = 0;
  held_.clear();
  return 0;
}

bool content_copy::holds(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  const auto first = held_.begin() + static_cast<std::ptrdiff_t>(offset / page_bytes);
  const auto end = first + static_cast<std::ptrdiff_t>(bytes / page_bytes);
  return std::find(first, end, true) != end;
}

}  // namespace quire::os
