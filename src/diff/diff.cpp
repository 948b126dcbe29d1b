// SPDX-License-Identifier: BSD-3-Clause
// The runs of a diff: how masks and bytes become runs and the other way round, whatever the variant.
#include "diff/diff.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/copy_words.hpp"

namespace quire::diff {
namespace {

/// The low `bits` bits, 1 to 64.
constexpr std::uint64_t first(std::size_t bits) noexcept { return ~std::uint64_t{0} >> (64 - bits); }

struct run {
  std::size_t line = 0;
  std::size_t lines = 0;  ///< 1 to 32768
  bool full = false;
  bool last = false;
};

constexpr std::size_t header_bytes = sizeof(std::uint32_t);
constexpr std::uint32_t last_bit = std::uint32_t{1} << 31;
static_assert(max_unit_bytes / line_bytes == 1 << 15, "a line fits in 15 bits");

void put_header(std::byte* at, const run& r) noexcept {
  const auto header = static_cast<std::uint32_t>(r.line | (r.lines - 1) << 15 | std::size_t{r.full} << 30);
  std::memcpy(at, &header, sizeof header);
}

run header_at(const std::byte* at) noexcept {
  std::uint32_t header;
  std::memcpy(&header, at, sizeof header);
  return {header & 0x7fff, (header >> 15 & 0x7fff) + 1, (header >> 30 & 1) != 0, (header & last_bit) != 0};
}

/// A diff in the making. put_*() return false, and write nothing, if there is no room.
class output {
 public:
  output(const kernels& k, std::byte* begin, std::size_t room) noexcept
      : kernels_(k), begin_(begin), at_(begin), end_(begin + room) {}

  bool put_full(std::size_t line, std::size_t lines, const std::byte* data) noexcept {
    if (lines == 0) return true;
    if (!open({line, lines, true}, lines * line_bytes)) return false;
    base::copy_words(at_, data, lines * line_bytes);
    at_ += lines * line_bytes;
    return true;
  }

  bool put_masked(std::size_t line, std::size_t lines, const std::byte* data, const std::byte* twin,
                  const std::uint64_t* masks) noexcept {
    std::size_t bytes = lines * (mask_bytes + line_bytes);
    if (bytes + header_bytes > room()) {  // at most so many: count only if it matters
      bytes = lines * mask_bytes;
      for (std::size_t i = 0; i < lines; ++i) bytes += nonzero_count(masks[i]) * word_bytes;
    }
    if (!open({line, lines}, bytes)) return false;
    at_ = kernels_.pack(data, twin, masks, lines, at_);
    return true;
  }

  /// The runs of one block, which begins at `line`.
  bool put_block(std::size_t line, const compared& found, const std::byte* data, const std::byte* twin,
                 const std::uint64_t* masks) noexcept {
    for (std::uint64_t rest = found.changed; rest != 0;) {
      const auto from = static_cast<std::size_t>(std::countr_zero(rest));
      const bool full = (found.full >> from & 1) != 0;
      const std::uint64_t kind = full ? found.full : found.changed & ~found.full;
      const auto lines = static_cast<std::size_t>(std::countr_one(kind >> from));
      if (full ? !put_full(line + from, lines, data + from * line_bytes)
               : !put_masked(line + from, lines, data + from * line_bytes, twin + from * line_bytes, masks + from))
        return false;
      rest &= ~(first(lines) << from);
    }
    return true;
  }

  /// Marks the last run. Returns the size of the diff, 0 if it has no run.
  std::size_t close() noexcept {
    if (header_ == nullptr) return 0;
    header_[header_bytes - 1] |= static_cast<std::byte>(last_bit >> 24);
    return static_cast<std::size_t>(at_ - begin_);
  }

 private:
  [[nodiscard]] std::size_t room() const noexcept { return static_cast<std::size_t>(end_ - at_); }

  bool open(const run& r, std::size_t bytes) noexcept {
    if (bytes + header_bytes > room()) return false;
    put_header(at_, r);
    header_ = at_;
    at_ += header_bytes;
    return true;
  }

  const kernels& kernels_;
  std::byte* begin_;
  std::byte* at_;
  std::byte* end_;
  std::byte* header_ = nullptr;
};

/// The ragged end of a unit as a line, followed by zeros.
struct padded {
  padded(const std::byte* from, std::size_t bytes) noexcept { std::memcpy(line, from, bytes); }
  std::byte line[line_bytes] = {};
};

/// All that must hold before the first byte is written.
bool valid(std::span<const std::byte> diff, std::size_t unit_bytes) noexcept {
  const std::size_t ragged = unit_bytes % line_bytes;
  const std::size_t full_lines = unit_bytes / line_bytes, all_lines = full_lines + (ragged != 0);
  std::size_t next = 0;  // the first line that the next run may have
  while (diff.size() >= header_bytes) {
    const run r = header_at(diff.data());
    diff = diff.subspan(header_bytes);
    if (r.line < next || r.line + r.lines > (r.full ? full_lines : all_lines)) return false;
    next = r.line + r.lines;
    std::size_t bytes = r.lines * (r.full ? line_bytes : mask_bytes);
    if (bytes > diff.size()) return false;
    if (!r.full) {
      std::uint64_t mask = 0;
      for (std::size_t i = 0; i < r.lines; ++i) {
        mask = load_word(diff.data() + i * mask_bytes);
        if (mask == 0) return false;
        bytes += nonzero_count(mask) * word_bytes;
      }
      if (next > full_lines && (mask & ~first(ragged)) != 0) return false;
      if (bytes > diff.size()) return false;
    }
    diff = diff.subspan(bytes);
    if (r.last) return diff.empty();
  }
  return false;
}

/// The ragged line of a unit, whose last word would reach beyond it. Returns the end of the words that it read.
const std::byte* apply_ragged(std::uint64_t mask, const std::byte* words, std::span<std::byte> line) noexcept {
  for (std::size_t word = 0; word * word_bytes < line.size(); ++word) {
    const auto bits = static_cast<unsigned>(mask >> (8 * word)) & 0xff;
    if (bits == 0) continue;
    for (std::size_t i = 0; i < word_bytes; ++i) {
      if ((bits >> i & 1) != 0) line[word * word_bytes + i] = words[i];
    }
    words += word_bytes;
  }
  return words;
}

const kernels* kernels_of(variant v) noexcept {
#if defined(__x86_64__)
  if (v == variant::avx2) return &avx2_kernels;
  if (v == variant::avx512) return &avx512_kernels;
#endif
  return v == variant::portable ? &portable_kernels : nullptr;
}

variant best() noexcept {
  return available(variant::avx512) ? variant::avx512 : available(variant::avx2) ? variant::avx2 : variant::portable;
}

}  // namespace

const char* name(variant v) noexcept {
  switch (v) {
    case variant::avx2:
      return "avx2";
    case variant::avx512:
      return "avx512";
    case variant::portable:
      break;
  }
  return "portable";
}

bool available(variant v) noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (v == variant::avx2) return __builtin_cpu_supports("avx2");
  if (v == variant::avx512) return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
#endif
  return v == variant::portable;
}

codec::codec() noexcept : codec(best()) {}

codec::codec(variant v) noexcept : kernels_(kernels_of(v)), variant_(v) { CHECK(available(v)); }

encoded codec::encode(std::span<const std::byte> unit, const std::byte* twin, std::span<std::byte> out,
                      writers who) const noexcept {
  CHECK(!unit.empty() && unit.size() <= max_unit_bytes);
  const std::size_t lines = unit.size() / line_bytes, ragged = unit.size() % line_bytes;
  const bool alone = who == writers::one;
  const encoded too_large{alone ? outcome::whole : outcome::no_room};
  output diff(*kernels_, out.data(), alone ? std::min(out.size(), unit.size()) : out.size());
  std::uint64_t masks[block_lines];
  std::size_t leading = 0;  // lines of the beginning that are full: not copied until something else is seen
  const auto put = [&](std::size_t line, const compared& found, const std::byte* data,
                       const std::byte* before) noexcept {
    return (leading != line || diff.put_full(0, leading, unit.data())) &&
           diff.put_block(line, found, data, before, masks);
  };
  for (std::size_t line = 0; line < lines; line += block_lines) {
    const std::size_t count = std::min(block_lines, lines - line), at = line * line_bytes;
    const compared found = kernels_->compare(unit.data() + at, twin + at, count, masks);
    if (leading == line && found.full == first(count))
      leading += count;
    else if (!put(line, found, unit.data() + at, twin + at))
      return too_large;
  }
  if (ragged == 0 && leading == lines) return {outcome::whole};
  if (ragged != 0) {
    const padded now(unit.data() + lines * line_bytes, ragged), before(twin + lines * line_bytes, ragged);
    const compared found = kernels_->compare(now.line, before.line, 1, masks);
    if (leading == lines && found.changed != 0 && masks[0] == first(ragged)) return {outcome::whole};
    if (!put(lines, found, now.line, before.line)) return too_large;
  }
  const std::size_t bytes = diff.close();
  return {bytes == 0 ? outcome::unchanged : outcome::diff, bytes};
}

bool codec::differs(std::span<const std::byte> unit, const std::byte* twin) const noexcept {
  CHECK(!unit.empty() && unit.size() <= max_unit_bytes);
  const std::size_t lines = unit.size() / line_bytes, ragged = unit.size() % line_bytes;
  std::uint64_t masks[block_lines];
  for (std::size_t line = 0; line < lines; line += block_lines) {
    const std::size_t count = std::min(block_lines, lines - line), at = line * line_bytes;
    if (kernels_->compare(unit.data() + at, twin + at, count, masks).changed != 0) return true;
  }
  if (ragged == 0) return false;
  const padded now(unit.data() + lines * line_bytes, ragged), before(twin + lines * line_bytes, ragged);
  return kernels_->compare(now.line, before.line, 1, masks).changed != 0;
}

bool codec::apply(std::span<const std::byte> diff, std::span<std::byte> unit, beside threads) const noexcept {
  CHECK(!unit.empty() && unit.size() <= max_unit_bytes);
  if (!valid(diff, unit.size())) return false;
  const std::size_t full_lines = unit.size() / line_bytes;
  const std::byte* at = diff.data();
  for (run r; !r.last;) {
    r = header_at(at);
    at += header_bytes;
    std::byte* const to = unit.data() + r.line * line_bytes;
    if (r.full) {
      base::copy_words(to, at, r.lines * line_bytes);
      at += r.lines * line_bytes;
    } else {
      const std::byte* const masks = at;
      const std::size_t whole = std::min(r.lines, full_lines - r.line);
      at = kernels_->unpack(masks, masks + r.lines * mask_bytes, whole, to, threads);
      if (whole != r.lines)
        at = apply_ragged(load_word(masks + whole * mask_bytes), at, unit.subspan(full_lines * line_bytes));
    }
  }
  return true;
}

void codec::merge(std::span<std::byte> out, const std::byte* copy, const std::byte* base) const noexcept {
  const std::size_t lines = out.size() / line_bytes;
  kernels_->merge(out.data(), copy, base, lines);
  for (std::size_t at = lines * line_bytes; at < out.size(); ++at) out[at] ^= copy[at] ^ base[at];
}

std::size_t codec::first_overlap(std::span<const std::byte> out, const std::byte* copy,
                                 const std::byte* base) const noexcept {
  const std::size_t lines = out.size() / line_bytes;
  std::uint64_t earlier[block_lines], now[block_lines];
  for (std::size_t line = 0; line < lines; line += block_lines) {
    const std::size_t count = std::min(block_lines, lines - line), at = line * line_bytes;
    std::uint64_t both = kernels_->compare(copy + at, base + at, count, now).changed;
    if (both != 0) both &= kernels_->compare(out.data() + at, base + at, count, earlier).changed;
    for (; both != 0; both &= both - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(both));
      if (const std::uint64_t overlap = earlier[i] & now[i]; overlap != 0)
        return at + i * line_bytes + static_cast<std::size_t>(std::countr_zero(overlap));
    }
  }
  std::size_t at = lines * line_bytes;
  while (at < out.size() && (out[at] == base[at] || copy[at] == base[at])) ++at;
  return at;
}

}  // namespace quire::diff
