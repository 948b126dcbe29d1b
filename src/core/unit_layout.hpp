// SPDX-License-Identifier: BSD-3-Clause
// Where the units of a region lie, and how large they are: the only place that knows. A value, safe in a signal
// handler.
//
// A layout is a row (layouts.hpp). The uniform one, units of one size, a power of two, one behind the other, is a
// shift. Any other is a body of its own. Users take units by their numbers only: `count` units from `first` on lie one
// behind the other, and how many bytes they have depends on which they are.
#pragma once

#include <algorithm>
#include <cstdint>

namespace quire::core {

/// Units `first` to `end`, without `end`.
struct unit_range {
  std::uint64_t first = 0, end = 0;
  [[nodiscard]] std::uint64_t count() const noexcept { return end - first; }
};

/// Frames `first` to `end`, without `end`: see unit_layout::frame_of().
struct frame_range {
  std::uint64_t first = 0, end = 0;
  [[nodiscard]] std::uint64_t count() const noexcept { return end - first; }
};

/// A layout that is not uniform, of one region. Units cover the region without gaps, in the order of their addresses;
/// each is whole pages, or lies within one. Units may have 0 bytes: they are numbers that nobody uses. Any thread, also
/// in fault context: no heap, no lock, nothing that changes once somebody uses it.
class layout_body {
 public:
  virtual ~layout_body() = default;
  [[nodiscard]] virtual std::uint64_t units() const noexcept = 0;
  /// The unit of a byte of the region.
  [[nodiscard]] virtual std::uint64_t unit_of(std::uint64_t offset) const noexcept = 0;
  /// Where a unit begins; of units(): where the last one ends.
  [[nodiscard]] virtual std::uint64_t offset_of(std::uint64_t unit) const noexcept = 0;
  /// Of the largest unit.
  [[nodiscard]] virtual std::uint64_t most_bytes() const noexcept = 0;
  /// The view whose pages show this unit and no other (view_map.hpp).
  [[nodiscard]] virtual unsigned view_of(std::uint64_t /*unit*/) const noexcept { return 0; }
  /// Numbers of units that each page has, where the region has fine views.
  [[nodiscard]] virtual unsigned units_a_page() const noexcept { return 1; }
};

class unit_layout {
 public:
  unit_layout() = default;
  /// Of a region of `bytes`, a multiple of `unit_bytes`.
  [[nodiscard]] static unit_layout uniform(std::uint64_t bytes, std::uint64_t unit_bytes) noexcept {
    return unit_layout(bytes, static_cast<unsigned>(__builtin_ctzll(unit_bytes)));
  }
  /// `body` lasts as long as the layout.
  [[nodiscard]] static unit_layout of(const layout_body& body) noexcept {
    unit_layout made;
    made.body_ = &body;
    return made;
  }

  [[nodiscard]] bool is_uniform() const noexcept { return body_ == nullptr; }
  [[nodiscard]] std::uint64_t units() const noexcept { return is_uniform() ? bytes_ >> shift_ : body_->units(); }
  /// The unit of a byte of the region.
  [[nodiscard]] std::uint64_t unit_of(std::uint64_t offset) const noexcept {
    return is_uniform() ? offset >> shift_ : body_->unit_of(offset);
  }
  /// Where a unit begins.
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t unit) const noexcept {
    return is_uniform() ? unit << shift_ : body_->offset_of(unit);
  }
  [[nodiscard]] std::uint64_t bytes_of(std::uint64_t unit) const noexcept { return bytes_of(unit, 1); }
  /// Of several.
  [[nodiscard]] std::uint64_t bytes_of(std::uint64_t first, std::uint64_t count) const noexcept {
    return is_uniform() ? count << shift_ : body_->offset_of(first + count) - body_->offset_of(first);
  }
  /// Of the largest unit.
  [[nodiscard]] std::uint64_t most_bytes() const noexcept {
    return is_uniform() ? std::uint64_t{1} << shift_ : body_->most_bytes();
  }
  [[nodiscard]] unsigned view_of(std::uint64_t unit) const noexcept { return is_uniform() ? 0 : body_->view_of(unit); }
  [[nodiscard]] unsigned units_a_page() const noexcept { return is_uniform() ? 1 : body_->units_a_page(); }
  /// Units that have a byte of a range of at least one byte.
  [[nodiscard]] unit_range under(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    return {unit_of(offset), unit_of(offset + bytes - 1) + 1};
  }
  /// As many units from `first` on as have at most so many bytes together, whether or not the region has them; one at
  /// least.
  [[nodiscard]] std::uint64_t fitting(std::uint64_t first, std::uint64_t bytes) const noexcept {
    if (is_uniform()) return std::max<std::uint64_t>(bytes >> shift_, 1);
    const std::uint64_t end = std::min(body_->offset_of(first) + bytes, body_->offset_of(body_->units()));
    const std::uint64_t behind =
        end < body_->offset_of(body_->units()) ? body_->unit_of(end) : body_->units();  // the first that does not fit
    return std::max<std::uint64_t>(behind - first, 1);
  }

  // Frames: what comes to memory and leaves it together. A frame is a unit, or all units of a page that has several.
  [[nodiscard]] std::uint64_t frames() const noexcept {
    return is_uniform() ? units() : body_->units() / body_->units_a_page();
  }
  [[nodiscard]] std::uint64_t frame_of(std::uint64_t unit) const noexcept {
    return is_uniform() ? unit : unit / body_->units_a_page();
  }
  /// Those that have a byte of these units; of no units, none.
  [[nodiscard]] frame_range frames_of(std::uint64_t first, std::uint64_t count) const noexcept {
    return {frame_of(first), count == 0 ? frame_of(first) : frame_of(first + count - 1) + 1};
  }
  [[nodiscard]] unit_range units_of(std::uint64_t frame) const noexcept {
    const std::uint64_t each = units_a_page();
    return {frame * each, (frame + 1) * each};
  }
  [[nodiscard]] std::uint64_t offset_of_frame(std::uint64_t frame) const noexcept {
    return offset_of(units_of(frame).first);
  }
  [[nodiscard]] std::uint64_t bytes_of_frames(std::uint64_t first, std::uint64_t count) const noexcept {
    return offset_of_frame(first + count) - offset_of_frame(first);
  }
  /// As many frames from `first` on as have at most so many bytes together; one at least.
  [[nodiscard]] std::uint64_t frames_fitting(std::uint64_t first, std::uint64_t bytes) const noexcept {
    const std::uint64_t unit = units_of(first).first;
    return std::max<std::uint64_t>(frame_of(unit + fitting(unit, bytes)) - first, 1);
  }

 private:
  unit_layout(std::uint64_t bytes, unsigned shift) noexcept : bytes_(bytes), shift_(shift) {}
  std::uint64_t bytes_ = 0;
  const layout_body* body_ = nullptr;
  unsigned shift_ = 12;
};

}  // namespace quire::core
