// SPDX-License-Identifier: BSD-3-Clause
#include "region/keeper.hpp"

#include <quire/system.h>

#include <algorithm>
#include <cstring>

#include "base/detail.hpp"
#include "base/log.hpp"
#include "base/status_number.hpp"
#include "core/configuration.hpp"
#include "core/counters.hpp"
#include "core/hold.hpp"
#include "core/host.hpp"
#include "core/region_builder.hpp"
#include "core/region_remover.hpp"
#include "core/region_slot.hpp"
#include "core/services.hpp"
#include "core/survival.hpp"
#include "heap/minipage_heap.hpp"
#include "region/services.hpp"

namespace quire::region {

using core::region_description;
using model::message;
using model::node_id;

namespace {
constexpr std::uint64_t while_held_ns = 1'000'000;

std::span<const std::byte> bytes_of(const region_description& d) noexcept { return std::as_bytes(std::span(&d, 1)); }

/// How far from the beginning of its granule a region begins. Were it the same for all, the n-th bytes of several
/// arrays would lie at a multiple of 64 MiB from each other, where caches and the processor's predictors of them take
/// them for the same: a loop over three arrays was a third slower (bench/README.md, "Arrays at round distances").
std::uint64_t colour_of(std::uint16_t id, std::uint64_t unit, std::uint64_t granule) noexcept {
  const std::uint64_t step = std::max<std::uint64_t>(unit, 64 * 1024);
  const std::uint64_t colours = std::min<std::uint64_t>(granule / 4 / step, 16);
  return colours == 0 ? 0 : id % colours * step;
}
}  // namespace

void keeper::open(std::uint64_t base, std::uint16_t first) {
  const auto& c = core_.config;
  first_ = first;
  numbers_.load(first);
  space_.open(base, c.base + c.bytes, core_.regions.granule_bytes());
  if (c.survives) {
    core_.survival.on_deaths([](void* self, unsigned node) noexcept { static_cast<keeper*>(self)->on_death(node); },
                             this, false);
    core_.survival.on_deaths(
        [](void* self, unsigned node) noexcept {
          if (node == 0) static_cast<keeper*>(self)->go_on_without_leader();
        },
        this, true);
    transfer_ =
        core_.survival.add({[](void* self, node_id to) noexcept { static_cast<keeper*>(self)->tell_regions(to); },
                            [](void* self, std::uint64_t ends, std::span<const std::byte> value) noexcept {
                              static_cast<keeper*>(self)->learn_region(ends != 0, value);
                            },
                            this});
  }
  using value = std::span<const std::byte>;
  const auto serve = [this](service s, core::service_table::handler h, const char* name = nullptr) {
    core_.services.set(static_cast<std::uint32_t>(s), h, this, name);
  };
  serve(
      service::region_create,
      [](void* self, core::core&, const message& m, value v) noexcept { static_cast<keeper*>(self)->on_create(m, v); },
      "quire_region_create");
  serve(service::region_announce,
        [](void* self, core::core&, const message&, value v) noexcept { static_cast<keeper*>(self)->on_announce(v); });
  serve(service::region_added,
        [](void* self, core::core&, const message& m, value) noexcept { static_cast<keeper*>(self)->on_added(m); });
  open_end();
}

namespace {
/// Of MultiView.
base::status check_minipages(const char* call, const quire_region_options& options) {
  using core::minipages;
  const std::size_t bytes = options.minipage_bytes;
  if (bytes != 0 && !minipages::is_size(bytes, minipages::most_views)) {
    return base::explain(QUIRE_INVALID,
                         "%s(): minipages of %zu bytes: they must be a multiple of 16, from 16 to 2048; larger units "
                         "are whole pages (unit_bytes)",
                         call, bytes);
  }
  if (options.views < 0 || options.views > static_cast<int>(minipages::most_views)) {
    return base::explain(QUIRE_INVALID, "%s(): %d fine views: a heap may have 1 to %u", call, options.views,
                         minipages::most_views);
  }
  if (bytes != 0 && (options.heap != 0 || options.views != 0)) {
    return base::explain(QUIRE_INVALID,
                         "%s(): minipage_bytes is for a region that is used by its range; a heap has minipages as "
                         "large as its allocations (views)",
                         call);
  }
  if (options.chunk < 0 || options.chunk > static_cast<int>(heap::largest_chunk) ||
      (options.chunk != 0 && options.views == 0)) {
    return base::explain(QUIRE_INVALID, "%s(): chunks of %d allocations: 1 to %u, and only of a heap with views", call,
                         options.chunk, heap::largest_chunk);
  }
  if (options.grouping < QUIRE_GROUP_NONE || options.grouping > QUIRE_GROUP_ADAPTIVE ||
      (options.grouping != 0 && bytes == 0 && options.views == 0)) {
    return base::explain(QUIRE_INVALID,
                         "%s(): grouping is %d: it is one of quire_grouping, and only of a region with minipages "
                         "(minipage_bytes, views)",
                         call, static_cast<int>(options.grouping));
  }
  if (options.views != 0 && options.heap == 0)
    return base::explain(QUIRE_INVALID, "%s(): views is for heaps; a region has minipages by minipage_bytes", call);
  if ((bytes != 0 || options.views != 0) && options.unit_bytes != 0 && options.unit_bytes != minipages::page_bytes) {
    return base::explain(QUIRE_INVALID, "%s(): units of %zu bytes, and minipages: unit_bytes must be 0", call,
                         options.unit_bytes);
  }
  return {};
}
}  // namespace

base::status keeper::check(const char* call, const quire_region_options& options, std::uint64_t bytes) const {
  const auto& c = core_.config;
  const std::uint64_t unit = options.unit_bytes == 0 ? 4096 : options.unit_bytes;
  const bool fits = unit >= 4096 && unit <= (2u << 20) && (unit & (unit - 1)) == 0;
  const bool known = protocol::find(c.protocols, options.consistency) != nullptr &&
                     options.placement >= QUIRE_PLACE_BLOCK && options.placement <= QUIRE_PLACE_FIRST_TOUCH &&
                     options.pool >= QUIRE_POOL_DEFAULT && options.pool <= QUIRE_POOL_FORK &&
                     options.detector >= QUIRE_DETECT_DEFAULT && options.detector <= QUIRE_DETECT_SCAN;
  const bool home =
      options.placement != QUIRE_PLACE_NODE || (options.home >= 0 && options.home < static_cast<int>(c.nodes));
  if (bytes == 0) return base::explain(QUIRE_INVALID, "%s(): the size is 0", call);
  if (!fits) {
    return base::explain(QUIRE_INVALID, "%s(): units of %zu bytes: they must be a power of two from 4 KiB to 2 MiB",
                         call, options.unit_bytes);
  }
  if (const auto why = check_minipages(call, options); !why.ok()) return why;
  if (!known) {
    return base::explain(
        QUIRE_INVALID,
        "%s(): one of consistency (%d), placement (%d), pool (%d) and detector (%d) has a value that is none", call,
        static_cast<int>(options.consistency), static_cast<int>(options.placement), static_cast<int>(options.pool),
        static_cast<int>(options.detector));
  }
  if (!home) {
    return base::explain(QUIRE_INVALID, "%s(): there is no node %d for a home; the job has %u nodes", call,
                         options.home, c.nodes);
  }
  return {};
}

namespace {
std::uint64_t unit_of(const quire_region_options& options) noexcept {
  return options.unit_bytes == 0 ? 4096 : options.unit_bytes;
}

region_description describe(const quire_region_options& options, std::uint64_t bytes) noexcept {
  region_description about;
  const std::uint64_t unit = unit_of(options);
  about.bytes = (bytes + unit - 1) / unit * unit;
  about.unit_bytes = static_cast<std::uint32_t>(unit);
  about.home = static_cast<std::uint16_t>(options.placement == QUIRE_PLACE_NODE ? options.home : 0);
  about.placement = static_cast<std::uint8_t>(options.placement);
  about.consistency = static_cast<std::uint8_t>(options.consistency);
  about.pool = static_cast<std::uint8_t>(options.pool);
  about.detector = static_cast<std::uint8_t>(options.detector);
  about.heap = options.heap != 0 ? 1 : 0;
  about.orders =
      static_cast<std::uint8_t>(options.orders == QUIRE_ORDERS_APART ? QUIRE_ORDERS_APART : options.orders != 0);
  if (options.minipage_bytes != 0) {
    about.unit_bytes = static_cast<std::uint32_t>(options.minipage_bytes);
    about.views = static_cast<std::uint16_t>(unit / options.minipage_bytes);
  } else if (options.views != 0) {
    about.views = static_cast<std::uint16_t>(options.views);
    about.chunk = static_cast<std::uint16_t>(options.chunk);
  }
  about.grouping = static_cast<std::uint8_t>(options.grouping);
  if (about.views != 0) about.layout = core::layouts::divided.id;
  return about;
}
}  // namespace

base::status keeper::create(const quire_region_options& options, std::uint64_t bytes, quire_region& region,
                            std::uint16_t backing) {
  if (const auto why = check("quire_region_create", options, bytes); !why.ok()) return why;
  const auto& c = core_.config;
  region_description about = describe(options, bytes);
  about.backing = backing;
  if (bytes > c.bytes || core::views_of(about).span() > c.bytes) {
    return base::explain(
        QUIRE_NO_ADDRESSES,
        "quire_region_create(): %lu bytes, which %u views show, are more than the shared range has, %lu (QUIRE_RANGE)",
        static_cast<unsigned long>(bytes), about.views + 1u, static_cast<unsigned long>(c.bytes));
  }
  return ask_for(about, region);
}

base::status keeper::create_for_code(const code_regions& what, made_for_code& made) {
  quire_region_options options = what.options;
  options.placement = QUIRE_PLACE_NODE;
  options.home = core_.config.self.value();
  if (const auto why = check("quire_code_load", options, what.data_bytes); !why.ok()) return why;
  region_description code = describe(options, what.code_bytes);
  code.consistency = QUIRE_SEQUENTIAL;
  code.code = 1;
  code.gap_bytes = what.gap_bytes;
  region_description data = describe(options, what.data_bytes);
  data.placed = 1;
  code.room_bytes = data.bytes + what.rest_bytes;
  if (const auto why = ask_for(code, made.code); !why.ok()) return why;
  made.base = core_.regions.of_handle(made.code.id)->about.base;
  data.base = made.base + code.bytes + code.gap_bytes;
  const auto why = ask_for(data, made.data);
  if (why.ok()) return why;
  (void)destroy(made.code);
  made = {};
  return why;
}

base::status keeper::may_adopt(const quire_region_options& options, std::uint64_t base, std::uint64_t bytes,
                               int home) const {
  constexpr const char* call = "quire_region_adopt";
  if (const auto why = check(call, options, bytes); !why.ok()) return why;
  const auto& c = core_.config;
  if ((options.placement != QUIRE_PLACE_BLOCK && options.placement != QUIRE_PLACE_FIRST_TOUCH) || options.home != 0 ||
      options.heap != 0 || options.minipage_bytes != 0) {
    return base::explain(QUIRE_INVALID,
                         "%s(): memory that has content is no heap, and its units start at the node that has it: leave "
                         "home, heap and minipage_bytes 0, and placement, or take "
                         "QUIRE_PLACE_FIRST_TOUCH",
                         call);
  }
  if (home < 0 || home >= static_cast<int>(c.nodes)) {
    return base::explain(QUIRE_INVALID, "%s(): there is no node %d to have the content; the job has %u nodes", call,
                         home, c.nodes);
  }
  if (base == 0 || base % unit_of(options) != 0 || bytes % unit_of(options) != 0) {
    return base::explain(QUIRE_INVALID, "%s(): the %lu bytes from 0x%lx on are no whole units of %lu bytes", call,
                         static_cast<unsigned long>(bytes), static_cast<unsigned long>(base),
                         static_cast<unsigned long>(unit_of(options)));
  }
  constexpr std::uint64_t highest = std::uint64_t{1} << 47;  // that programs can have
  if (base >= highest || bytes > highest - base) {
    return base::explain(QUIRE_INVALID, "%s(): no program has %lu bytes from 0x%lx on", call,
                         static_cast<unsigned long>(bytes), static_cast<unsigned long>(base));
  }
  const bool in_range = base < c.base + c.bytes && base + bytes > c.base;
  if (!in_range && !core_.regions.meets_adopted(base, bytes)) return {};
  return base::explain(QUIRE_EXISTS, "%s(): some of the %lu bytes from 0x%lx on are shared already", call,
                       static_cast<unsigned long>(bytes), static_cast<unsigned long>(base));
}

base::status keeper::adopt(const quire_region_options& options, std::uint64_t base, std::uint64_t bytes, int home,
                           quire_region& region) {
  region_description about = describe(options, bytes);
  about.base = base;
  if (options.placement != QUIRE_PLACE_FIRST_TOUCH) about.placement = QUIRE_PLACE_NODE;
  about.home = static_cast<std::uint16_t>(home);
  return ask_for(about, region);
}

base::status keeper::ask_for(region_description about, quire_region& region) {
  message m;
  base::status why;
  for (;;) {
    m = {};
    why = core_.ask(node_id{0}, static_cast<std::uint32_t>(service::region_create), m, bytes_of(about));
    if (why != QUIRE_BUSY) break;
    core_.host.pause(while_held_ns);  // a checkpoint is being written
  }
  if (why.ok()) region.id = m.a;
  if (why == QUIRE_LIMIT) {
    base::log(
        base::log_level::error,
        "a job has at most %zu regions at a time beside the memory of quire_malloc(): make fewer and larger ones, "
        "or destroy what is not needed (quire_region_destroy)",
        core::region_map::max_regions - 1);
  }
  return why;
}

/// Node 0: gives the region its number and addresses, and tells everyone.
void keeper::on_create(const message& m, std::span<const std::byte> value) noexcept {
  question q;
  if (value.size() != sizeof q.about) return core_.answer(m, QUIRE_INVALID);
  std::memcpy(&q.about, value.data(), sizeof q.about);
  if (core_.holding.is_under_way()) return core_.answer(m, QUIRE_BUSY);
  q.about.id = numbers_.take();
  if (q.about.id == 0) return core_.answer(m, QUIRE_LIMIT);
  q.about.life = gone_;
  if (!find_place(q.about)) {
    numbers_.give_back(q.about.id);
    return core_.answer(m, QUIRE_NO_ADDRESSES);
  }
  q.request = m;
  const auto about = q.about;
  core_.holding.on_making(true);
  ask_all(questions_.emplace(about.id, q).first->second);
  tell_all(static_cast<std::uint32_t>(service::region_announce), bytes_of(about));
}

/// What is adopted, and what lies in the room of another region, has its place.
bool keeper::find_place(region_description& about) {
  if (about.room_bytes != 0) {
    const std::uint64_t granule = core_.regions.granule_bytes(), lead = about.bytes + about.gap_bytes,
                        shift = (granule - lead % granule) % granule;
    if (!space_.take(shift + lead + about.room_bytes, 0, about.base)) return false;
    about.base += shift;
    return true;
  }
  return about.base != 0 ||
         space_.take(core::views_of(about).span(), colour_of(about.id, about.unit_bytes, core_.regions.granule_bytes()),
                     about.base);
}

/// The dead answer nothing.
void keeper::ask_all(question& q) {
  const std::uint64_t dead = core_.members.dead;
  q.answered = dead;
  q.left = core_.config.nodes - static_cast<unsigned>(__builtin_popcountll(dead));
}

void keeper::tell_all(std::uint32_t service, std::span<const std::byte> value) {
  for (unsigned n = 0; n < core_.config.nodes; ++n) {
    const node_id to{static_cast<std::uint16_t>(n)};
    if (!core_.members.is_dead(to)) core_.notify(to, service, 0, 0, 0, value);
  }
}

/// A node that joins may have heard of it as it came.
base::status keeper::add(const region_description& about) {
  if (core_.regions.of_handle(core::handle_of(about)) != nullptr) return {};
  const auto why = core_.builder.add(about);
  if (why.ok()) {
    for (const maker& one : makers_) one.tell(one.context, about);
  }
  return why;
}

/// With those that are being made, of which it is not asked; without those that all are told to forget.
void keeper::tell_regions(node_id to) noexcept {
  const auto tell = [&](const region_description& about, bool ends) {
    core_.survival.transfer(to, transfer_, ends ? 1 : 0, bytes_of(about));
  };
  core_.regions.for_each([&](const core::region_slot& r) {
    if (r.about.id < first_) return;
    const auto asked = questions_.find(r.about.id);
    const bool ends = asked != questions_.end() && asked->second.ends;
    if (ends && asked->second.at == step::finish) return;
    tell(r.about, ends || r.change.frozen.has(core::freeze::end));
  });
  for (const auto& [id, q] : questions_) {
    if (!q.ends && core_.regions.slot(model::region_id{id}) == nullptr) tell(q.about, false);
  }
}

/// `ends`: it is about to go, and who asks for that counts on this node to wait as all others do.
void keeper::learn_region(bool ends, std::span<const std::byte> value) noexcept {
  region_description about;
  if (value.size() != sizeof about) return;
  std::memcpy(&about, value.data(), sizeof about);
  if (const auto why = add(about); !why.ok())
    base::die(why.code(), "this node cannot join the job: it cannot have region %u", static_cast<unsigned>(about.id));
  if (ends) (void)core_.removing.begin(*core_.regions.slot(model::region_id{about.id}));
}

void keeper::on_announce(std::span<const std::byte> value) noexcept {
  region_description about;
  if (value.size() != sizeof about) return;
  std::memcpy(&about, value.data(), sizeof about);
  const auto why = add(about);
  core_.notify(node_id{0}, static_cast<std::uint32_t>(service::region_added), about.id,
               static_cast<std::uint64_t>(why.code()), 0, {});
}

void keeper::on_added(const message& m) noexcept {
  const auto found = questions_.find(static_cast<std::uint16_t>(m.a));
  if (found == questions_.end()) return;
  if (m.b != QUIRE_OK) found->second.why = base::status_of(m.b);
  on_answer(found->second, m.from.value());
}

void keeper::on_answer(question& q, unsigned node) {
  if (node < 64) q.answered |= std::uint64_t{1} << node;
  if (--q.left != 0) return;
  q.ends ? all_have_done(q) : all_have_added(q);
}

/// What some node could not make goes again from the others.
void keeper::all_have_added(question& q) {
  core_.holding.on_making(false);
  if (!q.why.ok()) {
    q.ends = true;
    return tell_step(q, step::finish);
  }
  core_.answer(q.request, {}, core::handle_of(q.about));
  questions_.erase(q.about.id);
}

/// Nobody waits for a node that is dead. What was to be told it goes with it.
void keeper::on_death(unsigned node) {
  for (auto i = questions_.begin(); i != questions_.end();) {
    question& q = (i++)->second;  // it may be gone then
    if ((q.answered >> node & 1) == 0) on_answer(q, node);
  }
}

// ---- Checkpoints ----

keeper::saved keeper::save() {
  saved s;
  core_.as_driver([&] { s = {space_.next(), numbers_.next(), gone_}; });
  return s;
}

bool keeper::is_used() {
  bool used = false;
  core_.as_driver([&] {
    used = numbers_.next() != first_;
    core_.regions.for_each([&](const core::region_slot& r) { used = used || r.about.id >= first_; });
  });
  return used;
}

void keeper::load(const saved& from, std::span<const region_description> regions) {
  std::vector<region_description> all(regions.begin(), regions.end());
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.base < b.base; });
  const std::uint64_t granule = core_.regions.granule_bytes();
  core_.as_driver([&] {
    space_.load(from.next_base);
    numbers_.load(static_cast<std::uint16_t>(from.next_id));
    gone_ = static_cast<std::uint32_t>(from.gone);
    std::uint64_t at = space_.base();
    for (const auto& r : all) {
      const std::uint64_t first = space_.base() + (r.base - space_.base()) / granule * granule;
      if (at < first) space_.load_free(at, first);
      at = space_.round_up(r.base + core::views_of(r).span());
    }
    if (at < from.next_base) space_.load_free(at, from.next_base);
    for (std::uint16_t id = first_; id < from.next_id; ++id) {
      if (std::none_of(all.begin(), all.end(), [id](const auto& r) { return r.id == id; })) numbers_.give_back(id);
    }
  });
}

}  // namespace quire::region
