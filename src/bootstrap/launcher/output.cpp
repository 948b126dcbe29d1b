// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher/output.hpp"

#include <limits.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace quire::bootstrap::launcher {

using outcome = os::transfer::outcome;

// At most PIPE_BUF at once: that much a writable pipe takes without blocking, although its descriptor is a blocking one
// (it is shared with the shell that started us, so that we must not change it).
void output::write_piece() {
  const std::size_t bytes = std::min<std::size_t>(queue_.size() - written_, PIPE_BUF);
  const auto moved = os::write_some(number_, std::span<const char>(queue_).subspan(written_, bytes));
  if (moved.what == outcome::moved) written_ += moved.bytes;
  if (moved.what == outcome::ended || moved.what == outcome::failed) {
    error_ = errno;
    closed_ = true;
  }
  if (closed_ || written_ == queue_.size()) {
    queue_.clear();
    written_ = 0;
  } else if (written_ >= longest_line_bytes) {
    queue_.erase(0, std::exchange(written_, 0));
  }
}

void output::write_all() {
  while (pending()) {
    pollfd entry{number_, POLLOUT, 0};
    os::wait_ready({&entry, 1}, -1);
    write_piece();
  }
}

void line_tagger::put_line(std::string_view line, output& to) {
  to.put(tag_);
  to.put(begun_);
  to.put(line);
  to.put("\n");
  begun_.clear();
}

void line_tagger::add(std::string_view bytes, output& to) {
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    const std::size_t room = longest_line_bytes - begun_.size();
    if (end > room) {
      put_line(bytes.substr(0, room), to);
      bytes.remove_prefix(room);
    } else if (end < bytes.size()) {
      put_line(bytes.substr(0, end), to);
      bytes.remove_prefix(end + 1);
    } else {
      begun_.append(bytes);
      bytes = {};
    }
  }
}

void line_tagger::finish(output& to) {
  if (!begun_.empty()) put_line("", to);
}

bool tagged_stream::take_piece(output& to) {
  std::array<char, 65536> buffer;
  const auto moved = os::read_some(pipe_.number(), buffer);
  if (moved.what == outcome::moved) tagger_.add({buffer.data(), moved.bytes}, to);
  // When nobody reads us any more, the node shall learn it too, by EPIPE.
  if (moved.what == outcome::ended || moved.what == outcome::failed || to.closed()) finish(to);
  return moved.what == outcome::moved;
}

void tagged_stream::pump(output& to) {
  while (pipe_.open() && !to.full() && take_piece(to)) continue;
}

// Not until it would block: a process that the node has left behind may write for ever.
void tagged_stream::drain(output& to) {
  int present = 0;
  if (!pipe_.open() || ::ioctl(pipe_.number(), FIONREAD, &present) != 0) return;
  for (; present > 0 && pipe_.open(); present -= 65536) take_piece(to);
}

void tagged_stream::finish(output& to) {
  tagger_.finish(to);
  pipe_.reset();
}

}  // namespace quire::bootstrap::launcher
