// SPDX-License-Identifier: BSD-3-Clause
#include "sim/timed/diff_post.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.hpp"

namespace quire::timed {

using model::message_kind;

namespace {
constexpr std::uint64_t padded(std::uint64_t bytes) noexcept { return (bytes + 7) & ~std::uint64_t{7}; }
}  // namespace

std::uint64_t diff_post::size_of(const written_words& written, std::uint64_t first_word) {
  constexpr std::size_t words = page_bytes / 8;
  static constexpr std::array<std::byte, page_bytes> twin{};
  std::array<std::uint64_t, words> page;
  for (std::size_t w = 0; w < words; ++w) page[w] = written.has(first_word + w) ? ~std::uint64_t{0} : 0;
  std::array<std::byte, diff::worst_bytes(page_bytes)> room;
  const auto made = codec_.encode(std::as_bytes(std::span(page)), twin.data(), room, diff::writers::several);
  return made.what == diff::outcome::whole ? page_bytes : made.bytes;
}

void diff_post::add(region& r, node_id home, std::uint64_t unit, const written_words& written) {
  for (std::uint64_t page = 0; page < r.pages_of(1); ++page) {
    const std::uint64_t bytes = size_of(written, page * page_bytes / 8);
    if (bytes == 0) continue;
    source mine;
    mine.region = r.id;
    mine.writer = self_;
    mine.group = to_.diff_leaves(home);
    put(home, mine, {unit, bytes, r.release->way_of(unit).moves});
  }
}

void diff_post::put(node_id to, const source& s, const entry& e) {
  const std::uint64_t bytes = entry_header_bytes + padded(e.bytes);
  std::uint32_t& open = open_[to.value()];
  if (open != nobody && (!(departures_[open].from == s) || message_bytes - departures_[open].bytes < bytes)) {
    depart(std::exchange(open, nobody));
  } else if (open == nobody) {
    gathering_.push_back(to.value());
  }
  if (open == nobody) {
    const auto free = std::ranges::find(departures_, false, &departure::used);
    open = static_cast<std::uint32_t>(free - departures_.begin());
    if (free == departures_.end()) departures_.emplace_back();
    departures_[open] = {true, to, s, 0, 0, {}};
  }
  departure& d = departures_[open];
  d.bytes += bytes;
  d.entries.push_back(e);
}

void diff_post::depart(std::uint32_t index) {
  departure& d = departures_[index];
  d.left = static_cast<std::uint32_t>(d.entries.size());
  message m;
  m.kind = message_kind::diffs;
  m.region = d.from.region;
  m.requester = d.from.writer;
  m.acks = d.left;
  m.token = index;
  m.payload_bytes = static_cast<std::uint32_t>(d.bytes);
  const auto entries = std::exchange(d.entries, {});
  to_.send_diffs(d.to, m, std::as_bytes(std::span(entries)));
}

void diff_post::send_all() {
  while (!gathering_.empty()) {
    const std::uint32_t to = gathering_.back();
    gathering_.pop_back();
    depart(std::exchange(open_[to], nobody));
  }
}

void diff_post::on_diffs(region& r, const message& m, std::span<const std::byte> entries) {
  const source theirs{r.id, m.requester, 0, true, m.from, m.token};
  std::uint32_t done = 0;
  for (; !entries.empty(); entries = entries.subspan(sizeof(entry))) {
    entry e;
    std::memcpy(&e, entries.data(), sizeof e);
    switch (r.release->on_diff(e.unit, m.requester, static_cast<std::uint16_t>(e.moves))) {
      case release::diff_outcome::forward: {
        const auto way = r.release->way_of(e.unit);
        e.moves = way.moves;
        put(way.to, theirs, e);
        break;
      }
      case release::diff_outcome::apply:
        to_.diff_applied();
        [[fallthrough]];
      default:
        ++done;
    }
  }
  send_all();
  if (done == 0) return;
  message ack;
  ack.kind = message_kind::diffs_ack;
  ack.requester = self_;
  ack.token = m.token;
  ack.acks = done;
  to_.send_ack(m.from, ack);
  to_.diffs_applied();
}

void diff_post::on_ack(const message& m) {
  departure& d = departures_[m.token];
  CHECK(d.used && m.acks <= d.left);
  d.left -= m.acks;
  if (d.left == 0) d.used = false;
  if (!d.from.forwards) return to_.diffs_arrived(d.to, m.acks, d.from.group);
  to_.diffs_passed(m.acks);
  message ack = m;
  ack.requester = self_;
  ack.token = d.from.origin_token;
  to_.send_ack(d.from.origin, ack);
}

}  // namespace quire::timed
