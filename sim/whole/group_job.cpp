// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/group_job.hpp"

#include <cstring>
#include <numeric>

#include "core/counters.hpp"
#include "core/sync_calls.hpp"

namespace quire::whole {

using sync::operation;

namespace {
constexpr std::uint64_t group_granule = std::uint64_t{2} << 20, page = 4096;
constexpr unsigned regions = 2, group_words = 24;  ///< of a group in a region
constexpr std::uint64_t region_base(unsigned r) { return base_address + (r + 1) * group_granule; }
/// Words of groups lie beside each other, on pages that all use.
constexpr std::uint64_t word_at(unsigned region, unsigned group, std::uint64_t word) {
  return region_base(region) + word % 3 * page + (word * 8 + group) * sizeof(std::uint64_t);
}
}  // namespace

group_job::group_job(const group_options& options)
    : options_(options), draw_(sim::mix(options.seed ^ 0x6209)), world_(draw_options(options)) {
  for (unsigned r = 0; r < regions; ++r) {
    core::region_description about;
    about.id = static_cast<std::uint16_t>(r);
    about.base = region_base(r);
    about.bytes = 3 * page;
    about.home = static_cast<std::uint16_t>(draw_.below(options.nodes));
    about.placement = static_cast<std::uint8_t>(draw_.chance(50) ? QUIRE_PLACE_NODE : QUIRE_PLACE_MODULO);
    about.consistency = static_cast<std::uint8_t>(r == 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL);
    if (r == 0 && draw_.chance(20)) about.detector = QUIRE_DETECT_SCAN;
    world_.add_region(about);
  }
  teams_.resize(1 + draw_.below(options.most_groups));
  for (team& t : teams_) {
    const bool whole = draw_.chance(50);
    for (unsigned n = 0; n < options.nodes; ++n)
      t.threads.push_back(
          static_cast<std::uint32_t>((whole ? 1 : 0) + draw_.below(options.most_threads + (whole ? 0 : 1))));
    t.threads[draw_.below(options.nodes)] += 1;
    t.members = std::accumulate(t.threads.begin(), t.threads.end(), 0u);
    t.rounds.resize(1 + draw_.below(options.most_rounds));
    for (round& r : t.rounds) {
      r.what = static_cast<meeting>(draw_.below(static_cast<unsigned>(meeting::last) + 1));
      r.values = draw_.chance(60) ? draw_.below(12) : draw_.below(30'000);  // up to eight pieces
      r.root = static_cast<std::uint32_t>(draw_.below(t.members));
    }
  }
}

world_options group_job::draw_options(const group_options& given) {
  world_options o;
  o.net.seed = given.seed;
  o.net.nodes = given.nodes;
  o.net.straggler_percent = draw_.chance(30) ? 5 : 0;
  o.net.reads_late = draw_.chance(50);
  o.think = draw_.chance(50) ? 3'000 : 30'000;
  o.queued_percent = draw_.chance(50) ? 30 : 0;
  o.node.move_homes = draw_.chance(80);
  o.node.updates = draw_.chance(80);
  if (sim::mix(given.seed + 1) % 3 == 0) o.node.migratory = protocol::migratory::always;
  return o;
}

std::string group_job::run() {
  for (unsigned n = 0; n < options_.nodes; ++n) world_.start(n, [this](node& here) { lead(here); });
  return world_.run();
}

base::status group_job::call(node& here, sync::call& c, std::uint32_t thread, const char* what) {
  c.thread = thread;
  const auto why = here.core().objects.synchronise(c, -1);
  if (!why.ok()) world_.fail(std::string(what) + " ends with status " + std::to_string(why.code()));
  return why;
}

/// The node's own thread makes the groups, as all others do, and then their members.
void group_job::lead(node& here) {
  for (team& t : teams_) {
    sync::call make, all_have_it;
    make.what = operation::group_create;
    auto threads = t.threads;
    make.data = std::as_writable_bytes(std::span(threads));
    (void)call(here, make, 0, "the creation of a group");
    if (t.id != 0 && t.id != make.object) world_.fail("nodes call a group by different names");
    t.id = make.object;
    all_have_it.what = operation::barrier_wait;
    (void)call(here, all_have_it, 0, "a barrier of the job");
  }
  std::uint32_t thread = 1;
  for (unsigned g = 0; g < teams_.size(); ++g) {
    team& t = teams_[g];
    const unsigned self = here.self().value();
    const std::uint32_t first = std::accumulate(t.threads.begin(), t.threads.begin() + self, 0u);
    for (std::uint32_t place = 0; place < t.threads[self]; ++place, ++thread) {
      world_.start(self, [this, &t, g, place, number = first + place, thread, seed = draw_.next()](node& at) {
        live({at, t, g, place, number, thread, sim::random(seed)});
      });
    }
  }
}

void group_job::live(member m) {
  sync::call join;
  join.what = operation::group_join;
  join.object = m.of.id;
  join.operand = m.place;
  (void)call(m.here, join, m.thread, "a thread that joins a group");
  for (std::size_t r = 0; r < m.of.rounds.size() && !world_.failed(); ++r) {
    use_words(m, r);
    meet(m, r);
  }
}

/// Those words that are the member's in this round.
void group_job::use_words(member& m, std::size_t round) {
  for (std::uint64_t w = 0; w < group_words; ++w) {
    if ((w + round) % m.of.members != m.number) continue;
    if (m.draw.chance(50)) world_.sleep(m.draw.below(world_.options().think + 1));
    for (unsigned r = 0; r < regions; ++r) {
      const std::uint64_t at = word_at(r, m.group, w), found = m.here.load(at);
      if (found != world_.latest(at)) {
        world_.fail("member " + std::to_string(m.number) + " of group " + std::to_string(m.group) + " finds " +
                    std::to_string(found) + " in word " + std::to_string(w) + " of region " + std::to_string(r) +
                    " where " + std::to_string(world_.latest(at)) + " was written last");
      }
      if (m.draw.chance(70)) m.here.store(at, ++last_);
    }
  }
}

/// What a member gives in a round.
std::uint64_t group_job::value_of(const member& m, std::size_t round, std::uint32_t number,
                                  std::size_t i) const noexcept {
  return sim::mix(m.of.id * 1000 + round * 100 + number + (i << 32));
}

void group_job::meet(member& m, std::size_t number) {
  const round& r = m.of.rounds[number];
  std::vector<std::uint64_t> values(r.what == meeting::wait ? 0 : r.values);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of(m, number, m.number, i);
  const auto bytes = std::as_writable_bytes(std::span(values));
  sync::call c;
  c.object = m.of.id;
  c.what = r.what == meeting::wait  ? operation::group_wait
           : r.what == meeting::sum ? operation::group_reduce_i64
                                    : operation::group_broadcast;
  c.count = static_cast<std::uint32_t>(r.what == meeting::broadcast ? bytes.size() : values.size());
  c.operand = r.what == meeting::broadcast ? r.root : 0;
  const bool array = bytes.size() > sync::value::array_capacity;
  if (array)
    c.data = bytes;
  else
    c.values = sync::value(bytes);
  if (!call(m.here, c, m.thread, "a meeting of a group").ok()) return;
  if (!array && !bytes.empty()) std::memcpy(bytes.data(), c.values.bytes().data(), bytes.size());
  ++done_[r.what == meeting::wait ? "waits" : array ? "arrays" : "values"];
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t expected = r.what == meeting::broadcast ? value_of(m, number, r.root, i) : 0;
    for (std::uint32_t other = 0; r.what == meeting::sum && other < m.of.members; ++other)
      expected += value_of(m, number, other, i);
    if (values[i] != expected) return world_.fail("a value of a meeting is not what it must be");
  }
}

}  // namespace quire::whole
