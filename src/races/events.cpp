// SPDX-License-Identifier: BSD-3-Clause
#include "races/events.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "races/lines.hpp"

namespace quire::races {
namespace {

constexpr std::uint64_t mark = 0x3130'5456'4e49'5251;  // "QRINVT01"
constexpr std::uint64_t most_nodes = 1024;

/// A hash of words: four, each of every fourth word, so that none waits for the one before.
class content_hash {
 public:
  explicit constexpr content_hash(std::uint64_t bytes) noexcept : lanes_{bytes, ~bytes, bytes << 32, bytes >> 3 ^ 1} {}
  void add(std::size_t number, std::uint64_t word) noexcept {
    std::uint64_t& h = lanes_[number % lanes_.size()];
    h = mixed(h, word);
  }
  [[nodiscard]] constexpr std::uint64_t value() const noexcept {
    std::uint64_t all = 0;
    for (const std::uint64_t h : lanes_) all = mixed(all, h);
    return all ^ all >> 32;
  }

 private:
  /// Turned, so that the highest bit reaches the others: two changes of sign would undo each other.
  static constexpr std::uint64_t mixed(std::uint64_t h, std::uint64_t word) noexcept {
    return ((h << 29 | h >> 35) ^ word) * 0x9e37'79b9'7f4a'7c15;
  }
  std::array<std::uint64_t, 4> lanes_;
};

constexpr std::uint64_t zigzag(std::int64_t v) noexcept {
  return static_cast<std::uint64_t>(v) << 1 ^ static_cast<std::uint64_t>(v >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t v) noexcept {
  return static_cast<std::int64_t>(v >> 1) ^ -static_cast<std::int64_t>(v & 1);
}

}  // namespace

write_set compare(std::uint64_t address, std::span<const std::byte> now, const std::byte* before) noexcept {
  constexpr std::size_t word_bytes = sizeof(std::uint64_t), line_words = line_bytes / word_bytes;
  write_set w;
  w.first_line = address / line_bytes;
  w.lines = now.empty() ? 0 : (address + now.size() - 1) / line_bytes - w.first_line + 1;
  w.lines = std::min(w.lines, most_lines);
  content_hash after(now.size()), was_hash(now.size());
  const auto add = [&](std::size_t i, std::uint64_t is, std::uint64_t was) {
    was_hash.add(i, was);
    after.add(i, is);
  };
  const std::size_t words = now.size() / word_bytes;
  std::size_t done = 0;
  if (address % line_bytes == 0) {
    const std::size_t whole = std::min(now.size() / line_bytes, most_lines - 1);
    line_lanes is{}, was{};
    compare_lines(now.data(), before, whole, w.bytes.data(), is, was);
    for (std::size_t i = 0; i < is.size(); ++i) add(i, is[i], was[i]);
    done = whole * line_words;
  }
  for (; done < words; ++done) {
    std::uint64_t is = 0, was = 0;
    std::memcpy(&is, now.data() + done * word_bytes, word_bytes);
    std::memcpy(&was, before + done * word_bytes, word_bytes);
    add(done, is, was);
    if (is == was) continue;
    const std::uint64_t at = address + done * word_bytes - w.first_line * line_bytes, bit = at % line_bytes;
    const std::uint64_t changed = bytes_of(is ^ was);
    w.bytes[at / line_bytes] |= changed << bit;
    if (bit > line_bytes - word_bytes && at / line_bytes + 1 < w.lines)
      w.bytes[at / line_bytes + 1] |= changed >> (line_bytes - bit);
  }
  for (std::size_t i = words * word_bytes; i < now.size(); ++i) {
    add(i, static_cast<std::uint64_t>(now[i]), static_cast<std::uint64_t>(before[i]));
    const std::uint64_t at = address + i - w.first_line * line_bytes;
    if (now[i] != before[i]) w.bytes[at / line_bytes] |= std::uint64_t{1} << at % line_bytes;
  }
  w.before = was_hash.value();
  w.after = after.value();
  return w;
}

std::string file_name(std::uint64_t node) { return "quire." + std::to_string(node) + ".intervals"; }

// ---- Out

void writer::number(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to_.push_back(static_cast<std::byte>(value | 0x80));
  to_.push_back(static_cast<std::byte>(value));
}

void writer::word(std::uint64_t value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  to_.insert(to_.end(), bytes, bytes + sizeof value);
}

void writer::head(const file_head& h) {
  word(mark);
  number(h.node);
  number(h.nodes);
}

void writer::written(std::uint64_t site_number, const write_set& w) {
  const std::uint64_t* const end = w.bytes.data() + w.lines;
  const auto* const one = std::find_if(w.bytes.data(), end, [](std::uint64_t bytes) { return bytes != 0; });
  const bool alike = one != end && std::all_of(one, end, [one](std::uint64_t b) { return b == 0 || b == *one; });
  kind(alike ? event_kind::alike : event_kind::written);
  number(site_number);
  number(zigzag(static_cast<std::int64_t>(w.first_line - line_before_)));
  line_before_ = w.first_line;
  number(w.lines);
  word(w.before);
  word(w.after);
  if (alike) word(*one);
  for (std::uint64_t first = 0; first < w.lines; first += 64) {
    std::uint64_t some = 0;
    for (std::uint64_t i = first; i < std::min(first + 64, w.lines); ++i)
      if (w.bytes[i] != 0) some |= std::uint64_t{1} << (i - first);
    word(some);
    for (std::uint64_t i = first; !alike && i < std::min(first + 64, w.lines); ++i)
      if (w.bytes[i] != 0) word(w.bytes[i]);
  }
}

void writer::acquired(std::span<const std::pair<std::uint64_t, std::uint64_t>> known) {
  kind(event_kind::acquired);
  number(known.size());
  for (const auto& [node, interval] : known) {
    number(node);
    number(interval);
  }
}

void writer::released() { kind(event_kind::released); }

void writer::interval(std::uint64_t n, std::uint64_t releases) {
  kind(event_kind::interval);
  number(n);
  number(releases);
}

void writer::add_site(const site& s) {
  kind(event_kind::site);
  number(s.thread);
  for (const std::uint64_t at : s.from) number(at);
}

void writer::other(std::uint64_t first_line, std::uint64_t lines) {
  kind(event_kind::other);
  number(first_line);
  number(lines);
}

void writer::unseen(std::uint64_t site_number, std::uint64_t first_line, std::uint64_t lines) {
  kind(event_kind::unseen);
  number(site_number);
  number(first_line);
  number(lines);
}

void writer::end() { kind(event_kind::end); }

// ---- In

void reader::feed(std::span<const std::byte> bytes) {
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(at_));
  at_ = 0;
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

reader::found reader::number(std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_ == bytes_.size()) return found::more;
    const auto byte = static_cast<std::uint64_t>(bytes_[at_++]);
    if (shift == 63 && byte > 1) return found::wrong;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return found::event;
  }
  return found::wrong;
}

reader::found reader::word(std::uint64_t& value) {
  if (bytes_.size() - at_ < sizeof value) return found::more;
  std::memcpy(&value, bytes_.data() + at_, sizeof value);
  at_ += sizeof value;
  return found::event;
}

reader::found reader::head(file_head& h) {
  const std::size_t begin = at_;
  std::uint64_t first = 0;
  found f = word(first);
  if (f == found::event && first != mark) return found::wrong;
  if (f == found::event) f = number(h.node);
  if (f == found::event) f = number(h.nodes);
  if (f == found::event && (h.nodes > most_nodes || h.node >= h.nodes)) return found::wrong;
  if (f == found::more) at_ = begin;
  return f;
}

reader::found reader::next(event& e) {
  const std::size_t begin = at_;
  const std::uint64_t line = line_before_;
  const found f = body(e);
  if (f == found::more) {
    at_ = begin;
    line_before_ = line;
  }
  return f;
}

reader::found reader::written(event& e, bool alike) {
  e.kind = event_kind::written;
  std::uint64_t step = 0, same = 0;
  found f = number(e.number);
  if (f == found::event) f = number(step);
  if (f == found::event) f = number(e.written.lines);
  if (f != found::event) return f;
  if (e.written.lines > most_lines) return found::wrong;
  line_before_ += static_cast<std::uint64_t>(unzigzag(step));
  e.written.first_line = line_before_;
  e.written.bytes = {};
  f = word(e.written.before);
  if (f == found::event) f = word(e.written.after);
  if (f == found::event && alike) f = word(same);
  for (std::uint64_t first = 0; f == found::event && first < e.written.lines; first += 64) {
    std::uint64_t some = 0;
    f = word(some);
    for (std::uint64_t i = first; f == found::event && i < first + 64; ++i) {
      if ((some >> (i - first) & 1) == 0) continue;
      if (i >= e.written.lines) return found::wrong;
      e.written.bytes[i] = same;
      if (!alike) f = word(e.written.bytes[i]);
    }
  }
  return f;
}

reader::found reader::body(event& e) {
  if (at_ == bytes_.size()) return found::more;
  e.kind = static_cast<event_kind>(bytes_[at_++]);
  found f = found::event;
  switch (e.kind) {
    case event_kind::written:
    case event_kind::alike:
      return written(e, e.kind == event_kind::alike);
    case event_kind::acquired: {
      std::uint64_t count = 0;
      f = number(count);
      if (f == found::event && count > most_nodes) return found::wrong;
      e.known.clear();
      for (std::uint64_t i = 0; f == found::event && i < count; ++i) {
        auto& [node, interval] = e.known.emplace_back();
        f = number(node);
        if (f == found::event) f = number(interval);
        if (f == found::event && node >= most_nodes) return found::wrong;
      }
      return f;
    }
    case event_kind::interval:
      f = number(e.number);
      return f == found::event ? number(e.releases) : f;
    case event_kind::site:
      f = number(e.at.thread);
      for (std::uint64_t& at : e.at.from)
        if (f == found::event) f = number(at);
      return f;
    case event_kind::unseen:
      f = number(e.number);
      if (f == found::event) f = number(e.written.first_line);
      if (f == found::event) f = number(e.written.lines);
      return f == found::event && e.written.lines > most_lines ? found::wrong : f;
    case event_kind::other:
      f = number(e.written.first_line);
      if (f == found::event) f = number(e.written.lines);
      return f;
    case event_kind::released:
    case event_kind::end:
      return f;
  }
  return found::wrong;
}

}  // namespace quire::races
