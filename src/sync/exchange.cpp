// SPDX-License-Identifier: BSD-3-Clause
#include "sync/exchange.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "base/fault_heap.hpp"

namespace quire::sync {

void exchange::make_room(std::size_t threads) {
  arrays_.reserve(threads);
  const unsigned most_children = std::min(tree_arity, shared_.nodes - 1);
  if (!arrivals_.empty() || most_children == 0) return;
  arrivals_.resize(std::size_t{most_children} * limits_.window);
  results_.resize(limits_.window);
  room_.resize(arrivals_.size() * limits_.piece_bytes);
}

void exchange::begin(const plan& p) {
  CHECK(active());
  plan_ = p;
  children_ = tree_.children();
  pieces_ = (arrays_.front().size() + limits_.piece_bytes - 1) / limits_.piece_bytes;
  up_ = down_ = 0;
  std::fill(arrivals_.begin(), arrivals_.end(), arrival{});
  std::fill(results_.begin(), results_.end(), false);
}

std::span<std::byte> exchange::piece_of(std::span<std::byte> array, std::uint64_t piece) const noexcept {
  const std::uint64_t first = piece * limits_.piece_bytes;
  return array.subspan(first, std::min<std::uint64_t>(limits_.piece_bytes, array.size() - first));
}

message exchange::make(kind k, std::uint64_t piece) const noexcept {
  message m = shared_.make(k, group_);
  m.a = piece;
  m.b = plan_.round;
  return m;
}

void exchange::on_up(const message& m, std::span<const std::byte> bytes) noexcept {
  const unsigned child = tree_.index_of(m.from);
  if (!active() || m.b != plan_.round || child >= children_ || m.a < up_ ||
      m.a >= std::min(pieces_, up_ + limits_.window))
    return;
  if (bytes.size() != 0 && bytes.size() != piece_of(arrays_.front(), m.a).size()) return;
  arrival& a = arrival_of(child, m.a);
  if (a.present) return;
  a = {true, static_cast<std::uint32_t>(bytes.size())};
  if (!bytes.empty()) std::memcpy(room_of(child, m.a), bytes.data(), bytes.size());
}

void exchange::on_down(const message& m, std::span<const std::byte> bytes) noexcept {
  if (!active() || tree_.is_root() || m.from != tree_.parent() || m.b != plan_.round || m.a < down_ || m.a >= up_)
    return;
  const auto place = piece_of(arrays_.front(), m.a);
  if (bytes.size() != place.size() || results_[m.a % limits_.window]) return;
  std::memcpy(place.data(), bytes.data(), bytes.size());
  results_[m.a % limits_.window] = true;
}

bool exchange::can_go_up() noexcept {
  if (up_ == pieces_ || up_ == down_ + limits_.window) return false;
  for (unsigned i = 0; i < children_; ++i) {
    if (!arrival_of(i, up_).present) return false;
  }
  return true;
}

/// What the children have sent of a piece is put to what this node has, and their room is free again.
void exchange::take_from_children(std::uint64_t piece) {
  const auto mine = piece_of(arrays_.front(), piece);
  for (unsigned i = 0; i < children_; ++i) {
    arrival& a = arrival_of(i, piece);
    const std::span<const std::byte> theirs(room_of(i, piece), a.bytes);
    a = {};
    if (theirs.empty()) continue;
    if (!is_broadcast(plan_.shape.what)) {
      combine(plan_.shape, mine, theirs);
    } else if (!content_up_) {
      std::memcpy(mine.data(), theirs.data(), mine.size());
      content_up_ = true;
    }
  }
}

void exchange::go_up(actions& out) {
  const std::uint64_t piece = up_++;
  const auto mine = piece_of(arrays_.front(), piece);
  if (!is_broadcast(plan_.shape.what)) {
    for (std::size_t i = 1; i < arrays_.size(); ++i) combine(plan_.shape, mine, piece_of(arrays_[i], piece));
  }
  content_up_ = plan_.has_content;
  take_from_children(piece);
  if (tree_.is_root()) {
    go_down(out);
  } else {
    shared_.send_piece(tree_.parent(), make(kind::piece_up, piece), out, content_up_ ? mine : std::span<std::byte>{});
  }
}

/// The next result is here.
void exchange::go_down(actions& out) {
  const std::uint64_t piece = down_++;
  const auto whole = piece_of(arrays_.front(), piece);
  for (unsigned i = 0; i < children_; ++i)
    shared_.send_piece(tree_.child(i), make(kind::piece_down, piece), out, whole);
  for (std::size_t i = 1; i < arrays_.size(); ++i) {
    const auto other = piece_of(arrays_[i], piece);
    std::memcpy(other.data(), whole.data(), whole.size());
  }
}

bool exchange::advance(actions& out) {
  if (!active()) return false;
  for (;;) {
    if (can_go_up()) {
      go_up(out);
    } else if (!tree_.is_root() && down_ < up_ && results_[down_ % limits_.window]) {
      results_[down_ % limits_.window] = false;
      go_down(out);
    } else {
      break;
    }
  }
  return down_ == pieces_;
}

}  // namespace quire::sync
