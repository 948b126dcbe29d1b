#include "engine/diffs.hpp"

#include <algorithm>
#include <cstring>

#include "base/log.hpp"
#include "engine/engine.hpp"

namespace quire::engine {

using model::message;
using model::message_kind;
using model::node_id;

namespace {
struct entry_header {
  std::uint64_t unit;
  std::uint32_t offset;
  std::uint32_t length;
};
constexpr std::uint32_t whole = 1u << 31;
constexpr std::uint64_t most_at_once = 16 * 1024;  // of the content itself, in one entry
constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }
static_assert(sizeof(entry_header) == 16 && diff::worst_bytes(os::page_bytes) + 32 < diff_traffic::message_bytes);
}  // namespace

// ---- Out ----

void diff_traffic::add(region_slot& r, node_id to, std::uint64_t first, std::uint64_t count, bool keep) noexcept {
  const auto unit_bytes = static_cast<std::uint32_t>(r.bytes_of(1));
  for (std::uint64_t unit = first; unit < first + count; ++unit) {
    if (r.release->is_declared(unit)) {
      add_declared(r, to, unit);
      continue;
    }
    bool differs = false;
    for (std::uint32_t offset = 0; offset < unit_bytes; offset += os::page_bytes) {
      add_page(r, to, unit, offset, os::page_bytes, keep, differs);
    }
    if (!differs) {
      ++count_.unchanged;
    } else if (!keep) {
      r.release->on_differs(unit);
    }
  }
}

void diff_traffic::add_page(region_slot& r, node_id to, std::uint64_t unit, std::uint32_t offset, std::uint32_t bytes, bool keep,
                            bool& differs) noexcept {
  const std::span<const std::byte> content(r.system(unit) + offset, bytes);
  std::byte* const twin = r.twin(unit) + offset;
  const auto made = codec_.encode(content, twin, scratch_, diff::writers::several);
  if (made.what == diff::outcome::unchanged) return;
  CHECK(made.what != diff::outcome::no_room);
  differs = true;
  ++count_.diffs;
  source mine{model::region_id{r.about.id}, engine_.config().self};
  mine.group = engine_.consistency_.diff_sent(to);
  if (made.what == diff::outcome::whole) {
    std::memcpy(scratch_.data(), content.data(), bytes);  // threads may go on writing: the twin becomes what was sent
    put(to, mine, unit, offset, bytes | whole, std::span<const std::byte>(scratch_).first(bytes));
    if (keep) std::memcpy(twin, scratch_.data(), bytes);
    count_.bytes += bytes;
  } else {
    const auto data = std::span<const std::byte>(scratch_).first(made.bytes);
    put(to, mine, unit, offset, static_cast<std::uint32_t>(made.bytes), data);
    if (keep) CHECK(codec_.apply(data, {twin, bytes}));
    count_.bytes += made.bytes;
  }
}

/// In a parallel block: the bytes that this node has said it writes.
void diff_traffic::add_declared(region_slot& r, node_id to, std::uint64_t unit) noexcept {
  const std::uint64_t first = unit << r.unit_shift;
  source mine{model::region_id{r.about.id}, engine_.config().self};
  r.block->declared.for_each_in(first, first + r.bytes_of(1), [&](std::uint64_t from, std::uint64_t end) {
    for (std::uint64_t at = from; at < end; at += most_at_once) {
      const auto bytes = static_cast<std::uint32_t>(std::min(end - at, most_at_once));
      const auto offset = static_cast<std::uint32_t>(at - first);
      mine.group = engine_.consistency_.diff_sent(to);
      put(to, mine, unit, offset, bytes | whole, {r.system(unit) + offset, bytes});
      ++count_.diffs;
      count_.bytes += bytes;
    }
  });
}

void diff_traffic::put(node_id to, const source& s, std::uint64_t unit, std::uint32_t offset, std::uint32_t length,
                       std::span<const std::byte> data) noexcept {
  departure& d = room_for(to, s, sizeof(entry_header) + padded(data.size()));
  const entry_header head{unit, offset, length};
  std::memcpy(d.payload.data() + d.bytes, &head, sizeof head);
  std::memcpy(d.payload.data() + d.bytes + sizeof head, data.data(), data.size());
  d.bytes += sizeof head + padded(data.size());
  ++d.left;
}

diff_traffic::departure& diff_traffic::room_for(node_id to, const source& s, std::size_t bytes) noexcept {
  std::uint32_t& open = open_[to.value()];
  if (open != nobody) {
    departure& d = *departures_[open];
    const bool same = d.m.region == s.region && d.m.requester == s.writer && d.forwards == s.forwards && d.origin == s.origin &&
                      d.origin_token == s.origin_token && d.group == s.group;
    if (same && message_bytes - d.bytes >= bytes) return d;
    depart(open);
  } else {
    gathering_.push_back(to.value());
  }
  std::uint32_t free = 0;
  while (free < departures_.size() && departures_[free]->used) ++free;
  if (free == departures_.size()) departures_.push_back(std::make_unique<departure>());
  departure& d = *departures_[free];
  d.used = true;
  d.to = to;
  d.m = {};
  d.m.kind = message_kind::diffs;
  d.m.region = s.region;
  d.m.from = engine_.config().self;
  d.m.requester = s.writer;
  d.m.token = free;
  d.left = 0;
  d.bytes = 0;
  d.forwards = s.forwards;
  d.origin = s.origin;
  d.origin_token = s.origin_token;
  d.group = s.group;
  open = free;
  return d;
}

void diff_traffic::depart(std::uint32_t index) noexcept {
  departure& d = *departures_[index];
  d.m.acks = d.left;
  d.m.payload_bytes = static_cast<std::uint32_t>(d.bytes);
  // To itself: the home came here after the diff was made for another. It stands where it is until it is acknowledged.
  const std::span<const std::byte> entries(d.payload.data(), d.bytes);
  if (d.to == engine_.config().self) return on_diffs(d.m, entries);
  engine_.transport_->send(d.to, d.m, entries);
}

void diff_traffic::leave() noexcept {
  while (!gathering_.empty()) {
    const std::uint32_t to = gathering_.back();
    gathering_.pop_back();
    const std::uint32_t index = open_[to];
    open_[to] = nobody;
    depart(index);
  }
}

// ---- In ----

void diff_traffic::deliver(const message& m) noexcept {
  arrivals_.with(m, [&](std::span<const std::byte> entries) { on_diffs(m, entries); });
}

void diff_traffic::on_diffs(const message& m, std::span<const std::byte> entries) noexcept {
  region_slot* const r = engine_.regions_.slot(m.region);
  if (r == nullptr || r->release == nullptr) return;
  const source theirs{m.region, m.requester, true, m.from, m.token};
  std::uint32_t done = 0;
  while (entries.size() >= sizeof(entry_header)) {
    entry_header head;
    std::memcpy(&head, entries.data(), sizeof head);
    const std::size_t length = head.length & ~whole;
    entries = entries.subspan(sizeof head);
    const bool raw = (head.length & whole) != 0;
    const std::size_t reach = raw ? length : os::page_bytes;
    const bool fits = head.unit < r->machine->units() && head.offset < r->bytes_of(1) && reach <= r->bytes_of(1) - head.offset &&
                      padded(length) <= entries.size() && (raw || head.offset % os::page_bytes == 0);
    if (!fits) {
      ++engine_.count().refused;
      base::log(base::log_level::warning, "dropped diffs of node %u that are none", static_cast<unsigned>(m.from.value()));
      return;
    }
    const auto data = entries.first(length);
    entries = entries.subspan(padded(length));
    switch (r->release->on_diff(head.unit, m.requester)) {
      case release::diff_outcome::apply: {
        engine_.frames_.use(*r, head.unit, 1, content::changed);
        const std::span<std::byte> content(r->system(head.unit) + head.offset, reach);
        if (raw) {
          std::memcpy(content.data(), data.data(), length);
        } else if (!codec_.apply(data, content)) {
          ++engine_.count().refused;
          base::log(base::log_level::warning, "dropped a diff of node %u that is none", static_cast<unsigned>(m.from.value()));
        }
        ++count_.applied;
        ++done;
        break;
      }
      case release::diff_outcome::collect: {
        engine_.frames_.use(*r, head.unit, 1, content::read);
        const std::byte* const base = r->release->has_base(head.unit) ? r->twin(head.unit) : r->system(head.unit);
        if (!r->block->merge.add(head.unit, head.offset, m.requester, data, raw, base)) {
          ++engine_.count().refused;
          base::log(base::log_level::warning, "dropped a diff of node %u that is none", static_cast<unsigned>(m.from.value()));
        }
        ++count_.applied;
        ++done;
        break;
      }
      case release::diff_outcome::own: ++done; break;
      case release::diff_outcome::forward:
        ++count_.forwarded;
        put(r->release->home_of(head.unit), theirs, head.unit, head.offset, head.length, data);
        break;
    }
  }
  send_all();
  if (done == 0) return;
  message ack;
  ack.kind = message_kind::diffs_ack;
  ack.from = ack.requester = engine_.config().self;
  ack.token = m.token;
  ack.acks = done;
  engine_.send(m.from, ack, {});
  engine_.consistency_.on_applied();
}

void diff_traffic::on_ack(const message& m) noexcept {
  if (m.token >= departures_.size()) return;
  departure& d = *departures_[m.token];
  if (!d.used || d.to != m.from || m.acks > d.left) return;
  d.left -= m.acks;
  const bool forwards = d.forwards;
  const node_id origin = d.origin;
  const std::uint64_t token = d.origin_token;
  if (d.left == 0) d.used = false;
  if (!forwards) return engine_.consistency_.on_acknowledged(d.to, m.acks, d.group);
  engine_.consistency_.on_passed(m.acks);
  message ack = m;
  ack.from = ack.requester = engine_.config().self;
  ack.token = token;
  engine_.send(origin, ack, {});
}

}  // namespace quire::engine
