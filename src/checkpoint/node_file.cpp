// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/node_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "checkpoint/crc32c.hpp"
#include "checkpoint/zeroes.hpp"

namespace quire::checkpoint {
namespace {

constexpr std::uint64_t head_magic = 0x3174706b63726971;  // "qirckpt1"
constexpr std::uint64_t end_magic = 0x31646e656b637271;   // "qrckend1"
constexpr std::size_t head_bytes = 4096;
constexpr std::size_t checked_bytes = 512 << 10;  // written while the checksum has left it in the cache
constexpr std::uint64_t push_bytes = 16u << 20;   // the disk begins with so much at a time

struct head {
  std::uint64_t magic = head_magic, version = format_version;
  identity what{};
  std::uint64_t node = 0;
};
struct file_end {
  std::uint64_t tail_offset = 0, tail_bytes = 0;
  identity what{};
  std::uint64_t node = 0, tail_checksum = 0, checksum = 0, magic = end_magic;

  [[nodiscard]] std::uint64_t own_checksum() const noexcept {
    return crc32c(std::as_bytes(std::span(this, 1)).first(offsetof(file_end, checksum)));
  }
};
static_assert(sizeof(file_end) == 64);

/// The tail as words: counts first, then what they count.
class tail_words {
 public:
  explicit tail_words(std::span<const std::uint64_t> all) : left_(all) {}
  bool take(std::uint64_t& value) {
    if (left_.empty()) return false;
    value = left_[0];
    left_ = left_.subspan(1);
    return true;
  }
  bool take(std::uint64_t count, std::span<const std::uint64_t>& words) {
    if (count > left_.size()) return false;
    words = left_.first(count);
    left_ = left_.subspan(count);
    return true;
  }
  [[nodiscard]] bool empty() const noexcept { return left_.empty(); }

 private:
  std::span<const std::uint64_t> left_;
};

constexpr std::size_t words_of_extent = sizeof(extent) / sizeof(std::uint64_t);
constexpr std::uint64_t units_version = 2;  // its extents are in units

constexpr std::uint64_t end_of_grain(std::uint64_t at, std::uint64_t grain) noexcept {
  return (at / grain + 1) * grain;
}

}  // namespace

std::string node_file_name(std::size_t node) { return "node-" + std::to_string(node); }

// ---- Writing

outcome node_writer::make(const std::string& directory, const identity& what, std::size_t node) {
  path_ = directory + "/" + node_file_name(node);
  what_ = what;
  node_ = node;
  if (const int error = file_.make(path_); error != 0) {
    outcome why = refused("make", path_, error);
    if (error == ENOENT) why.text += " (the directory must be the same on all hosts: a shared file system)";
    return why;
  }
  std::array<std::byte, head_bytes> page{};
  head h;
  h.what = what;
  h.node = node;
  std::memcpy(page.data(), &h, sizeof h);
  return append(page);
}

outcome node_writer::append(std::span<const std::byte> bytes) {
  if (const int error = file_.write(at_, bytes); error != 0) return refused("write", path_, error);
  at_ += bytes.size();
  if (at_ - pushed_ >= push_bytes) {
    file_.push(pushed_, at_ - pushed_);
    pushed_ = at_;
  }
  return {};
}

/// A grain, or a part of one, that will stand at `offset`.
void node_writer::note(std::uint64_t region, std::uint64_t first, std::uint64_t grain,
                       std::span<const std::byte> content, std::uint64_t offset) {
  if (extents_.empty() || extents_.back().region != region || extents_.back().end() != first) {
    extents_.push_back({region, first, content.size(), offset});
    checksums_.push_back(crc32c(content));
    return;
  }
  extents_.back().bytes += content.size();  // nothing else was written in between
  if (first % grain == 0) {
    checksums_.push_back(crc32c(content));
  } else {
    checksums_.back() = crc32c(content, checksums_.back());
  }
}

outcome node_writer::add(std::uint64_t region, std::uint64_t first, std::uint64_t grain,
                         std::span<const std::byte> content, bool with_zeroes) {
  const auto piece_at = [&](std::size_t at) {
    return content.subspan(at,
                           std::min<std::size_t>(end_of_grain(first + at, grain) - first - at, content.size() - at));
  };
  for (std::size_t at = 0; at < content.size();) {
    if (!with_zeroes && is_zero(piece_at(at))) {
      at += piece_at(at).size();
      continue;
    }
    const std::size_t begin = at;
    while (at < content.size() && (at == begin || at - begin < checked_bytes)) {
      const std::span<const std::byte> piece = piece_at(at);
      if (!with_zeroes && is_zero(piece)) break;
      note(region, first + at, grain, piece, at_ + at - begin);
      at += piece.size();
    }
    if (outcome why = append(content.subspan(begin, at - begin)); !why.ok()) return why;
    content_bytes_ += at - begin;
  }
  return {};
}

outcome node_writer::finish(std::span<const std::uint64_t> heap, std::span<const std::uint64_t> objects,
                            file_row& row) {
  std::vector<std::uint64_t> tail = {extents_.size(), checksums_.size(), heap.size(), objects.size()};
  for (const extent& e : extents_) tail.insert(tail.end(), {e.region, e.first, e.bytes, e.offset});
  tail.insert(tail.end(), heap.begin(), heap.end());
  tail.insert(tail.end(), objects.begin(), objects.end());
  const std::size_t before = tail.size();
  tail.resize(before + (checksums_.size() + 1) / 2);
  std::ranges::copy(std::as_bytes(std::span(checksums_)),
                    std::as_writable_bytes(std::span(tail).subspan(before)).begin());

  file_end end;
  end.tail_offset = at_;
  end.tail_bytes = tail.size() * sizeof tail[0];
  end.what = what_;
  end.node = node_;
  end.tail_checksum = crc32c(std::as_bytes(std::span(tail)));
  end.checksum = end.own_checksum();
  if (outcome why = append(std::as_bytes(std::span(tail))); !why.ok()) return why;
  if (outcome why = append(std::as_bytes(std::span(&end, 1))); !why.ok()) return why;
  if (const int error = file_.sync(); error != 0) return refused("write", path_, error);
  row.bytes = at_;
  row.content_bytes = content_bytes_;
  row.tail_checksum = static_cast<std::uint32_t>(end.tail_checksum);
  return {};
}

// ---- Reading

outcome node_reader::open(const std::string& directory, const manifest& m, std::size_t node) {
  path_ = directory + "/" + node_file_name(node);
  if (const int error = file_.open(path_); error != 0) {
    return error == ENOENT ? damaged(path_, "it is missing") : refused("open", path_, error);
  }
  std::vector<std::uint64_t> tail;
  if (outcome why = read_ends(m, node, tail); !why.ok()) return why;
  return take_tail(m, tail, m.files[node].bytes - sizeof(file_end) - tail.size() * sizeof tail[0]);
}

outcome node_reader::read_ends(const manifest& m, std::size_t node, std::vector<std::uint64_t>& tail) {
  std::uint64_t bytes = 0;
  if (const int error = file_.size(bytes); error != 0) return refused("read", path_, error);
  if (bytes != m.files[node].bytes) {
    return damaged(path_,
                   "it has " + std::to_string(bytes) + " bytes instead of " + std::to_string(m.files[node].bytes));
  }
  if (bytes < head_bytes + sizeof(file_end)) return damaged(path_, "it is too short");
  head h;
  file_end end;
  if (const int error = file_.read(0, std::as_writable_bytes(std::span(&h, 1))); error != 0)
    return refused("read", path_, error);
  if (h.magic != head_magic) return damaged(path_, "it is no file of a checkpoint, or of another kind of processor");
  if (h.version != m.version || h.what != m.what || h.node != node)
    return damaged(path_, "it belongs to another checkpoint");
  if (const int error = file_.read(bytes - sizeof end, std::as_writable_bytes(std::span(&end, 1))); error != 0) {
    return refused("read", path_, error);
  }
  const bool whole = end.magic == end_magic && end.checksum == end.own_checksum() && end.what == m.what &&
                     end.node == node && end.tail_checksum == m.files[node].tail_checksum &&
                     end.tail_bytes % sizeof(std::uint64_t) == 0 && end.tail_offset >= head_bytes &&
                     end.tail_bytes <= bytes && end.tail_offset == bytes - sizeof end - end.tail_bytes;
  if (!whole) return damaged(path_, "its end is not what was written");
  tail.resize(end.tail_bytes / sizeof tail[0]);
  if (const int error = file_.read(end.tail_offset, std::as_writable_bytes(std::span(tail))); error != 0)
    return refused("read", path_, error);
  if (crc32c(std::as_bytes(std::span(tail))) != end.tail_checksum)
    return damaged(path_, "the checksum of its index is wrong");
  return {};
}

outcome node_reader::take_tail(const manifest& m, std::span<const std::uint64_t> tail, std::uint64_t content_end) {
  const outcome nonsense = damaged(path_, "its index makes no sense");
  tail_words words(tail);
  std::uint64_t extents = 0, checksums = 0, heap = 0, objects = 0;
  if (!words.take(extents) || !words.take(checksums) || !words.take(heap) || !words.take(objects)) return nonsense;
  std::span<const std::uint64_t> part;
  if (extents > tail.size() || !words.take(extents * words_of_extent, part)) return nonsense;
  std::uint64_t grains = 0;
  for (std::size_t i = 0; i < extents; ++i) {
    const auto w = part.subspan(i * words_of_extent, words_of_extent);
    const auto region =
        std::find_if(m.regions.begin(), m.regions.end(), [&](const region_row& r) { return r.id == w[0]; });
    if (region == m.regions.end()) return nonsense;
    const std::uint64_t all = region->bytes, each = m.version == units_version ? region->unit_bytes : 1;
    if (w[1] > all / each || w[2] > all / each) return nonsense;
    const extent e{w[0], w[1] * each, w[2] * each, w[3]};
    const bool fits = e.bytes != 0 && e.first < all && e.bytes <= all - e.first && e.offset >= head_bytes &&
                      e.offset < content_end && e.bytes <= content_end - e.offset;
    if (!fits) return nonsense;
    extents_.push_back(e);
    parts_.push_back({grains, region->grain()});
    grains += (e.end() - 1) / region->grain() - e.first / region->grain() + 1;
  }
  if (grains != checksums) return nonsense;
  if (!words.take(heap, part)) return nonsense;
  heap_.assign(part.begin(), part.end());
  if (!words.take(objects, part)) return nonsense;
  objects_.assign(part.begin(), part.end());
  if (!words.take((checksums + 1) / 2, part) || !words.empty()) return nonsense;
  checksums_.resize(checksums);
  const auto sums = std::as_writable_bytes(std::span(checksums_));
  std::ranges::copy(std::as_bytes(part).first(sums.size()), sums.begin());
  return {};
}

outcome node_reader::read(std::size_t which, std::uint64_t skip, std::span<std::byte> into) const {
  const extent& e = extents_[which];
  const std::uint64_t grain = parts_[which].grain, from = e.first + skip, end = from + into.size();
  const std::uint64_t first = std::max(from / grain * grain, e.first),
                      last = std::min(end_of_grain(end - 1, grain), e.end());
  if (first == from && last == end) return read_grains(which, first, into);
  std::vector<std::byte> whole(last - first);
  const outcome why = read_grains(which, first, whole);
  std::memcpy(into.data(), whole.data() + (from - first), into.size());
  return why;
}

/// All that the extent has of some grains, from byte `first` of the region on.
outcome node_reader::read_grains(std::size_t which, std::uint64_t first, std::span<std::byte> into) const {
  const extent& e = extents_[which];
  const auto [first_checksum, grain] = parts_[which];
  if (const int error = file_.read(e.offset + (first - e.first), into); error != 0)
    return refused("read", path_, error);
  std::uint64_t number = first_checksum + first / grain - e.first / grain;
  for (std::uint64_t at = first, end = first + into.size(), next = end; at < end; at = next) {
    next = std::min(end_of_grain(at, grain), end);
    if (crc32c(into.subspan(at - first, next - at)) == checksums_[number++]) continue;
    return damaged(path_, "the checksum of bytes " + std::to_string(at) + " to " + std::to_string(next - 1) +
                              " of region " + std::to_string(e.region) + " (at byte " +
                              std::to_string(e.offset + (at - e.first)) + ") is wrong");
  }
  return {};
}

}  // namespace quire::checkpoint
