// SPDX-License-Identifier: BSD-3-Clause
#include "core/spread.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/copy_words.hpp"
#include "core/absent_units.hpp"
#include "core/configuration.hpp"
#include "core/content.hpp"
#include "core/core.hpp"
#include "core/inbox.hpp"
#include "core/known_machines.hpp"
#include "core/node_effects.hpp"
#include "core/outbox.hpp"
#include "core/region_slot.hpp"
#include "model/action.hpp"
#include "protocol/release/node.hpp"

namespace quire::core {

using model::message;
using model::message_kind;
using model::node_id;

namespace {
constexpr unsigned fan_out = 4;
struct spread_header {
  std::uint64_t unit;
  std::uint32_t length;
  std::uint32_t zero;
};
static_assert(sizeof(spread_header) == 16);
/// What the home knew.
constexpr std::size_t known_bytes(unsigned nodes) noexcept {
  return (nodes * sizeof(std::uint32_t) + 7) & ~std::size_t{7};
}
}  // namespace

std::size_t spread_traffic::find_free(std::size_t bytes) noexcept {
  std::size_t free = 0;
  while (free < passages_.size() && passages_[free]->used) ++free;
  if (free == passages_.size()) passages_.push_back(base::make_fault<passage>());
  passage& p = *passages_[free];
  p.used = true;
  p.left = 0;
  p.bytes = 0;
  p.room = bytes;
  if (p.payload.size() < bytes) p.payload.resize(bytes);
  return free;
}

// ---- At the home

void spread_traffic::add(region_slot& r, std::uint64_t first, std::uint64_t count, node_id producer,
                         std::uint64_t call) noexcept {
  const auto& config = core_.config;
  for (std::uint64_t unit = first; unit < first + count; ++unit) {
    const bool written = r.machine->is_written(unit) && !r.memory->of_host();  // where all nodes have it
    const std::size_t bytes = sizeof(spread_header) + (written ? r.bytes_of(unit) : 0);
    if (open_ != nobody) {
      const passage& p = *passages_[open_];
      const bool same = p.m.region == model::region_id{r.about.id} && p.m.requester == producer && p.m.c == call;
      if (!same || p.bytes + bytes > p.room) close();
    }
    if (open_ == nobody) {
      open_ = find_free(std::max(message_bytes, known_bytes(config.nodes) + bytes));
      passage& p = *passages_[open_];
      p.from = config.self;
      p.m = {};
      p.m.kind = message_kind::spread;
      p.m.region = model::region_id{r.about.id};
      p.m.requester = producer;
      p.m.a = config.self.value();
      p.m.c = call;
      p.m.acks = 0;
      p.bytes = known_bytes(config.nodes);
      std::memset(p.payload.data(), 0, p.bytes);
      for (std::uint16_t n = 0; n < config.nodes; ++n) {
        const std::uint32_t known = core_.consistency.known().known(node_id{n});
        std::memcpy(p.payload.data() + n * sizeof known, &known, sizeof known);
      }
    }
    passage& p = *passages_[open_];
    const spread_header head{unit, written ? static_cast<std::uint32_t>(r.bytes_of(unit)) : 0, 0};
    std::memcpy(p.payload.data() + p.bytes, &head, sizeof head);
    if (written) {
      use_content(core_.frames, r, unit, 1, content::read);
      base::copy_words(p.payload.data() + p.bytes + sizeof head, as_told(r, unit), r.bytes_of(unit));
    }
    p.bytes += bytes;
    ++p.m.acks;
    ++count_.sent;
  }
}

void spread_traffic::close() noexcept { closed_.push_back(std::exchange(open_, nobody)); }

/// What leaves may end an interval of this node, whose actions come back here.
void spread_traffic::send_all() noexcept {
  if (open_ != nobody) close();
  while (!closed_.empty()) {
    const std::size_t first = closed_.front();
    closed_.erase(closed_.begin());
    pass_on(first);
  }
}

/// To the nodes below this one in the tree of the home.
void spread_traffic::pass_on(std::size_t index) noexcept {
  passage& p = *passages_[index];
  const auto& config = core_.config;
  const auto root = static_cast<unsigned>(p.m.a);
  const unsigned rank = (config.self.value() + config.nodes - root) % config.nodes;
  message m = p.m;
  m.from = config.self;
  m.token = index;
  m.payload_bytes = 0;  // it is added when the message leaves, behind what this node knows
  const unsigned first = rank * fan_out + 1, end = std::min(first + fan_out, config.nodes);
  p.left = first < end ? end - first : 0;
  if (p.left == 0) return answer(p);
  for (unsigned child = first; child < end; ++child) {
    const node_id to{static_cast<std::uint16_t>((root + child) % config.nodes)};
    core_.effects.feed(core_.consistency, [&](release::node& of) { of.send(to, m, {}, model::edge::carries); });
  }
}

void spread_traffic::on_ack(const message& m) noexcept {
  if (m.token >= passages_.size() || !passages_[m.token]->used || passages_[m.token]->left == 0) return;
  passage& p = *passages_[m.token];
  if (--p.left == 0) answer(p);
}

void spread_traffic::answer(passage& p) noexcept {
  p.used = false;
  message m;
  m.from = m.requester = core_.config.self;
  m.acks = p.m.acks;
  const bool home = p.from == core_.config.self;
  m.kind = home ? message_kind::spread_done : message_kind::spread_ack;
  m.token = home ? p.m.c : p.from_token;
  core_.out.send(home ? p.m.requester : p.from, m, {});
}

// ---- At the others

bool spread_traffic::is_legal(const region_slot& r, std::size_t bytes) const noexcept {
  const std::size_t known = known_bytes(core_.config.nodes);
  return bytes >= known + sizeof(spread_header) &&
         bytes <= std::max(message_bytes, known + sizeof(spread_header) + r.layout.most_bytes());
}

std::byte* spread_traffic::place(const message& m) noexcept {
  const std::size_t index = find_free(m.payload_bytes);
  passage& p = *passages_[index];
  p.from = m.from;
  p.from_token = m.token;
  p.bytes = m.payload_bytes;
  return p.payload.data();
}

void spread_traffic::deliver(const message& m) noexcept {
  std::size_t i = 0;
  const auto is_it = [&](const passage& p) {
    return p.used && p.from == m.from && p.from_token == m.token && p.bytes == m.payload_bytes;
  };
  while (i < passages_.size() && !is_it(*passages_[i])) ++i;
  CHECK(i < passages_.size());
  if (m.a >= core_.config.nodes) core_.in.refuse(m, "there is no such home");
  passages_[i]->m = m;
  take(*passages_[i]);
  pass_on(i);
}

/// What is told with it has been heard; the content is as new as that, and is taken where nothing newer is known.
void spread_traffic::take(const passage& p) noexcept {
  const auto nodes = core_.config.nodes;
  region_slot* const r = core_.regions.slot(p.m.region);
  core_.acquire();
  release::machine* const known = release_of(*r);
  if (known == nullptr || r->change.frozen) return;
  known_.resize(nodes);
  std::memcpy(known_.data(), p.payload.data(), nodes * sizeof known_[0]);
  auto entries = std::span<const std::byte>(p.payload).first(p.bytes).subspan(known_bytes(nodes));
  while (!entries.empty()) {
    spread_header head{};
    const bool whole = entries.size() >= sizeof head;
    if (whole) std::memcpy(&head, entries.data(), sizeof head);
    entries = entries.subspan(whole ? sizeof head : entries.size());
    const bool fits = whole && head.unit < r->machine->units() && head.length <= entries.size() &&
                      (head.length == 0 || head.length == r->bytes_of(head.unit));
    if (!fits) core_.in.refuse(p.m, "what it spreads is no content of the region");
    core_.absent.settle(*r, head.unit, 1);
    release::machine& machine = *known;
    const bool is_here = r->memory->of_host();
    if (machine.pushes().awaits_spread(head.unit) &&
        (is_here || core_.consistency.is_covered(p.m.region, head.unit, known_))) {
      ++count_.taken;
      use_content(core_.frames, *r, head.unit, 1, content::replaced);
      content_landed(*r, head.unit, 1);
      if (is_here) {
        CHECK(head.length == 0);
      } else if (head.length != 0) {
        base::copy_words(r->system(head.unit), entries.data(), head.length);
      } else if (machine.is_written(head.unit)) {
        std::memset(r->system(head.unit), 0, r->bytes_of(head.unit));
      }
      core_.actions.clear();
      machine.pushes().on_spread_copy(head.unit, head.length == 0, core_.actions);
      core_.take_step(*r);
    } else {
      ++count_.left;
    }
    entries = entries.subspan(head.length);
  }
  core_.perform_steps();
}

}  // namespace quire::core
