// SPDX-License-Identifier: BSD-3-Clause
#include "races/recorder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log.hpp"

namespace quire::races {

std::unique_ptr<recorder> recorder::make(const std::string& path, const file_head& about) {
  const int file = path.empty() ? -1 : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (!path.empty() && file < 0) return nullptr;
  std::unique_ptr<recorder> made(new recorder(file));
  made->buffer_.reserve(buffer_bytes + (std::size_t{1} << 16));
  made->known_.resize(about.nodes);
  made->out_.head(about);
  return made;
}

recorder::~recorder() { close(); }

recorder::place& recorder::place_of(std::uint64_t page) const noexcept {
  constexpr unsigned bits = 16;
  static_assert(places == std::size_t{1} << bits);
  return places_[(page * 0x9e37'79b9'7f4a'7c15) >> (64 - bits)];
}

void recorder::note_fault(std::uint64_t address, const site& by) noexcept {
  place& p = place_of(address);
  std::uint64_t before = p.page.load(std::memory_order_relaxed);
  if ((before & 1) != 0 || !p.page.compare_exchange_strong(before, before | 1, std::memory_order_acquire)) return;
  p.thread.store(by.thread, std::memory_order_relaxed);
  for (std::size_t i = 0; i < p.from.size(); ++i) p.from[i].store(by.from[i], std::memory_order_relaxed);
  p.page.store(address & ~std::uint64_t{1}, std::memory_order_release);
}

bool recorder::find(std::uint64_t page, site& found) const noexcept {
  const place& p = place_of(page);
  if (p.page.load(std::memory_order_acquire) != (page & ~std::uint64_t{1})) return false;
  found.thread = p.thread.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < found.from.size(); ++i) found.from[i] = p.from[i].load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  return p.page.load(std::memory_order_relaxed) == (page & ~std::uint64_t{1});
}

void recorder::note_ahead(std::uint64_t page, std::uint64_t next) noexcept {
  if (site s; find(page, s)) note_fault(next, s);
}

/// 0: not known.
std::uint64_t recorder::site_of(std::uint64_t page) noexcept {
  site s;
  if (!find(page, s)) return 0;
  const auto [known, is_new] = sites_.try_emplace({s.thread, s.from}, sites_.size() + 1);
  if (is_new) out_.add_site(s);
  return known->second;
}

void recorder::on_written(std::uint64_t address, std::uint64_t page, std::span<const std::byte> now,
                          const std::byte* before) noexcept {
  if (ended_) return;
  // One without a byte as well: threads may have put back what others have seen meanwhile.
  const std::uint64_t by = site_of(page);
  out_.written(by, compare(address, now, before));
  if (buffer_.size() >= buffer_bytes) flush();
}

void recorder::on_unseen(std::uint64_t address, std::uint64_t page, std::uint64_t bytes) noexcept {
  if (ended_ || bytes == 0) return;
  const std::uint64_t by = site_of(page), first = address / line_bytes;
  out_.unseen(by, first, (address + bytes - 1) / line_bytes - first + 1);
}

void recorder::on_acquired(std::span<const std::uint32_t> known) noexcept {
  if (ended_) return;
  news_.clear();
  for (std::size_t i = 0; i < std::min(known.size(), known_.size()); ++i) {
    if (known[i] == known_[i]) continue;
    news_.emplace_back(i, known[i]);
    known_[i] = known[i];
  }
  if (!news_.empty()) out_.acquired(news_);
}

void recorder::on_released() noexcept {
  if (ended_) return;
  out_.released();
}

void recorder::on_interval(std::uint32_t number, std::uint64_t releases) noexcept {
  if (ended_) return;
  out_.interval(number, releases);
}

void recorder::on_other(std::uint64_t address, std::uint64_t bytes) noexcept {
  if (ended_ || bytes == 0) return;
  out_.other(address / line_bytes, (address + bytes - 1) / line_bytes - address / line_bytes + 1);
}

void recorder::flush() noexcept {
  if (file_ < 0) return;
  for (std::size_t at = 0; at < buffer_.size();) {
    const ssize_t bytes = ::write(file_, buffer_.data() + at, buffer_.size() - at);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) {
      base::log(base::log_level::warning,
                "QUIRE_CHECK=races: the record of this node's intervals ends here, and so does the check: %s; give "
                "QUIRE_REPORT a directory with more room",
                std::strerror(errno));
      ended_ = true;
      break;
    }
    at += static_cast<std::size_t>(bytes);
  }
  written_bytes_ += buffer_.size();
  buffer_.clear();
  if (written_bytes_ > most_file_bytes && !ended_) {
    base::log(base::log_level::warning,
              "QUIRE_CHECK=races: the record of this node's intervals has %lu GiB, and ends here, as does the check: "
              "try a smaller problem",
              static_cast<unsigned long>(written_bytes_ >> 30));
    ended_ = true;
  }
}

void recorder::close() noexcept {
  if (file_ < 0) return;
  if (!ended_) {
    out_.end();
    flush();
  }
  ended_ = true;
  ::close(file_);
  file_ = -1;
}

}  // namespace quire::races
