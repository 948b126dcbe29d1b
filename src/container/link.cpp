// SPDX-License-Identifier: BSD-3-Clause
#include "container/link.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.hpp"

namespace quire::container {

std::size_t used_bytes(std::span<const std::byte> content) noexcept {
  std::size_t used = content.size();
  while (used != 0 && content[used - 1] == std::byte{0}) --used;
  return used;
}

int errno_of(int given, bool& sense) noexcept {
  sense = given >= 0 && given < 4096;
  return sense ? given : EIO;
}

/// A linker is the program's: nothing that it does may end a thread of the engine.
template <class F>
int link::call(const char* name, F&& f) noexcept {
  const turn mine(*this);
  if (closed_) return EBADF;  // its region has gone, and something of it was still under way
  bool sense = true, threw = false;
  int given = EIO;
  try {
    given = errno_of(f(), sense);
  } catch (...) {
    threw = true;
  }
  if (!sense || threw) {
    base::log(base::log_level::error, "%s() of linker '%s' %s; that counts as an error of input and output (EIO)", name, linker_.name,
              threw ? "has thrown an exception" : "has given a number that is no errno");
  }
  return given;
}

std::shared_ptr<link> link::open(const quire_linker& linker, const char* what, unsigned flags, std::uint64_t& bytes, int& error) {
  std::shared_ptr<link> made(new link(linker, what));
  bytes = 0;
  error = made->call("open", [&] { return linker.open(linker.context, made->what_.c_str(), flags, &bytes, &made->self_); });
  if (error != 0) return nullptr;
  made->is_open_ = true;
  return made;
}

/// When nobody is in the linker any more: what is staged may be under way when its region goes.
void link::close() noexcept {
  for (unsigned i = 0; i < most_turns_; ++i) turns_.acquire();
  const bool was_open = std::exchange(is_open_, false);
  closed_ = true;
  for (unsigned i = 0; i < most_turns_; ++i) turns_.release();
  if (!was_open || linker_.close == nullptr) return;
  try {
    linker_.close(self_);
  } catch (...) {
    base::log(base::log_level::error, "close() of linker '%s' has thrown an exception", linker_.name);
  }
}

void link::begin(const part& which, std::uint64_t bytes) noexcept {
  part_ = which;
  known_end_ = bytes;
  flushed_end_ = bytes;
}

std::uint64_t link::end() const noexcept { return std::max(known_end_.load(), flushed_end_.load()); }

int link::fill(std::uint64_t at, std::span<std::byte> into) noexcept {
  const std::uint64_t there = end() > at ? end() - at : 0;
  std::size_t asked = into.size();
  if (there < asked) asked = linker_.grain == 0 ? there : std::min<std::size_t>(asked, (there + linker_.grain - 1) / linker_.grain * linker_.grain);
  std::memset(into.data() + asked, 0, into.size() - asked);
  const int error = asked == 0 ? 0 : call("fill", [&] { return linker_.fill(self_, at, into.data(), asked); });
  return error == store::store::beyond || error == ESTALE ? EIO : error;  // these mean something else to the engine
}

/// It takes no turn: who has one may be waiting for a disk.
int link::try_fill(std::uint64_t at, std::span<std::byte> into) noexcept {
  if (end() <= at) {
    std::memset(into.data(), 0, into.size());
    return 0;
  }
  if (linker_.try_fill == nullptr || end() - at < into.size()) return EAGAIN;
  try {
    return linker_.try_fill(self_, at, into.data(), into.size()) == 0 ? 0 : EAGAIN;
  } catch (...) {
    return EAGAIN;  // fill() says so
  }
}

int link::flush(std::uint64_t at, std::span<const std::byte> from) noexcept {
  if ((linker_.can & QUIRE_LINK_WRITE) == 0) return EROFS;
  const auto write = [&](std::size_t bytes) {
    return bytes == 0 ? 0 : call("flush", [&] { return linker_.flush(self_, at, from.data(), bytes); });
  };
  if (linker_.grain != 0) return write(from.size());
  if (at + from.size() <= flushed_end_.load()) return write(from.size());
  const std::lock_guard guard(tail_);
  const std::uint64_t known = end() > at ? end() - at : 0;
  const std::size_t bytes = std::max<std::size_t>(std::min<std::uint64_t>(known, from.size()), used_bytes(from));
  const int error = write(bytes);
  if (error == 0 && bytes != 0 && flushed_end_ < at + bytes) flushed_end_ = at + bytes;
  return error;
}

int link::sync() noexcept {
  if ((linker_.can & QUIRE_LINK_WRITE) == 0) return 0;
  if (linker_.grain == 0) {
    const std::lock_guard guard(tail_);
    const std::uint64_t last = known_end_.load();
    if (flushed_end_ < last && part_.has(last - 1)) {
      const char zero = 0;
      if (const int error = call("flush", [&] { return linker_.flush(self_, last - 1, &zero, 1); }); error != 0) return error;
      flushed_end_ = last;
    }
  }
  return linker_.sync != nullptr ? call("sync", [this] { return linker_.sync(self_); }) : 0;
}

void link::note_end(std::uint64_t bytes) noexcept {
  std::uint64_t before = known_end_.load();
  while (before < bytes && !known_end_.compare_exchange_weak(before, bytes)) continue;
}

void link::set_end(std::uint64_t bytes) noexcept {
  const std::lock_guard guard(tail_);
  known_end_ = bytes;
  flushed_end_ = std::min(flushed_end_.load(), bytes);
}

int link::tell_end(std::uint64_t bytes) noexcept {
  if (linker_.truncate == nullptr) return EOPNOTSUPP;
  return call("truncate", [&] { return linker_.truncate(self_, bytes); });
}

}  // namespace quire::container
