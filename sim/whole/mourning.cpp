// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/mourning.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/counters.hpp"
#include "core/known_machines.hpp"
#include "core/leaving.hpp"
#include "core/region_slot.hpp"
#include "core/replicas.hpp"
#include "core/survival.hpp"
#include "core/sync_calls.hpp"
#include "core/unit_calls.hpp"
#include "model/atomic_operation.hpp"

namespace quire::whole {

using sync::operation;

namespace {
constexpr std::uint64_t region_page = 4096, region_base = base_address + (2u << 20);
constexpr std::uint64_t admits = 2;             // the semaphore
constexpr sim::time_ns longest_news = 300'000;  // from a death to the launcher's word of it
enum : unsigned { mutex_a, mutex_b, rwlock, semaphore, condition, event, barrier, all_objects };
}  // namespace

mourning::mourning(const mourning_options& options)
    : options_(options),
      draw_(sim::mix(options.seed ^ 0xdead)),
      stride_(options.minipage_bytes != 0 ? region_page / words + sizeof(std::uint64_t) : sizeof(std::uint64_t)),
      world_(draw_options(options)),
      objects_(all_objects) {
  core::region_description about;
  about.id = 1;
  about.base = region_base;
  about.bytes = (pages_ + (options.flags ? 1 : 0)) * region_page;
  about.consistency = options.release ? QUIRE_RELEASE : QUIRE_SEQUENTIAL;
  about.placement = draw_.chance(50) ? QUIRE_PLACE_BLOCK : QUIRE_PLACE_MODULO;
  if (options.minipage_bytes != 0) {
    about.unit_bytes = options.minipage_bytes;
    about.views = static_cast<std::uint16_t>(region_page / options.minipage_bytes);
    about.layout = core::layouts::divided.id;
  }
  world_.add_region(about);
  for (unsigned n = 0; n < options.nodes; ++n) {
    threads_.push_back(1 + static_cast<unsigned>(draw_.below(3)));
    node_of_.insert(node_of_.end(), threads_.back(), n);
  }
  while (leavers_.size() < std::min(options.leavers, options.nodes - 1))
    leavers_[1 + static_cast<unsigned>(draw_.below(options.nodes - 1))] =
        leaver{static_cast<unsigned>(draw_.below(laps)), 0, false, false, false};
  knows_ = sim::ledger(options.nodes, pages_ * words, node_of_.size());
}

world_options mourning::draw_options(const mourning_options& given) {
  world_options o;
  o.net.seed = given.seed;
  o.net.nodes = given.nodes;
  o.net.straggler_percent = draw_.chance(30) ? 5 : 0;
  o.net.reads_late = draw_.chance(50);
  o.unmapped_permille = draw_.chance(30) ? 10 : 0;
  o.node.survives = true;
  o.node.founders = given.nodes - given.joiners;
  o.node.sees_deaths = given.seed % 2 != 0;  // each in an order of its own
  o.node.replicas = given.replicas;
  for (unsigned n = 0; given.host_nodes != 0 && n < given.nodes; ++n)
    o.node.domains.push_back(static_cast<std::uint16_t>(n / given.host_nodes * given.host_nodes));
  o.node.read_ahead = draw_.chance(70);
  if (given.release) {
    homes_stay_ = draw_.chance(40);
    o.node.move_homes = !homes_stay_;
    o.node.migratory = homes_stay_        ? protocol::migratory::never
                       : draw_.chance(30) ? protocol::migratory::always
                                          : protocol::migratory::learned;
    if (draw_.chance(30)) o.node.twin_bytes = 2 * region_page;
  }
  pages_ = 1 + static_cast<unsigned>(draw_.below(given.in_a_row ? 2 : 5));
  if (given.in_a_row && draw_.chance(50)) o.net.straggler_percent = 15;
  if (given.in_a_row && !homes_stay_ && draw_.chance(50)) o.node.migratory = protocol::migratory::always;
  return o;
}

std::string mourning::run() {
  make(0);
  return world_.run();
}

/// One object after the other, each on a node that chance decides; then everything begins.
void mourning::make(unsigned which) {
  if (which == all_objects) return begin();
  constexpr operation creates[] = {operation::mutex_create,     operation::mutex_create,     operation::rwlock_create,
                                   operation::semaphore_create, operation::condition_create, operation::event_create,
                                   operation::barrier_create};
  unsigned& home = objects_[which].home;
  home = static_cast<unsigned>(draw_.below(founders()));
  if (leavers_.contains(home) && which > mutex_b) home = 0;  // what only its home knows would keep it from leaving
  world_.start(objects_[which].home, [this, which, what = creates[which], seed = draw_.next()](node& here) {
    actor maker(world_, here, 1, seed);
    const auto meeting = std::ranges::count_if(node_of_, [this](unsigned n) { return n < founders(); });
    objects_[which].handle =
        maker.create(what, what == operation::barrier_create ? static_cast<std::uint64_t>(meeting) : admits);
    make(which + 1);
  });
}

void mourning::begin() {
  for (unsigned n = 0; n < founders(); ++n) begin_at(n);
  for (unsigned n = founders(); n < options_.nodes; ++n)
    world_.net().after(draw_.below(latest_death), [this, n] { let_join(n); });
  const bool few_hosts = options_.nodes <= 2 * options_.host_nodes;  // somebody is to be left
  const bool one = options_.replicas ? options_.host_nodes == 0 || few_hosts : options_.nodes < 4;
  if (options_.in_a_row) return die_in_a_row();
  const auto deaths = one ? 1 : 1 + draw_.below(2);
  for (std::uint64_t d = 0; options_.deaths && d < deaths; ++d) {
    world_.net().after(draw_.below(latest_death),
                       [this, n = static_cast<unsigned>(draw_.below(options_.nodes))] { die_with_its_host(n); });
  }
}

void mourning::die_in_a_row() {
  sim::time_ns at = draw_.below(latest_death / 2);
  for (unsigned d = 0; d < std::min(options_.nodes - 1, 2u); ++d) {
    world_.net().after(at, [this, n = static_cast<unsigned>(draw_.below(options_.nodes))] { die(n); });
    at += draw_.below(longest_news + 200'000);
  }
}

std::uint64_t mourning::host_of(unsigned node) const noexcept {
  if (options_.host_nodes == 0) return std::uint64_t{1} << node;
  std::uint64_t all = 0;
  for (unsigned n = 0; n < options_.nodes; ++n)
    all |= n / options_.host_nodes == node / options_.host_nodes ? std::uint64_t{1} << n : 0;
  return all;
}

/// A kernel that ends takes all at once; one after the other is killed by who ends processes.
void mourning::die_with_its_host(unsigned node) {
  if (options_.host_nodes == 0) return die(node);
  const bool at_once = draw_.chance(50);
  for (unsigned n = 0; n < options_.nodes; ++n) {
    if ((host_of(node) >> n & 1) == 0) continue;
    if (n == node || at_once) {
      die(n);
    } else {
      world_.net().after(draw_.below(2 * longest_news), [this, n] { die(n); });
    }
  }
}

void mourning::die(unsigned node) {
  if (is_absent(node) && never_.insert(node).second) return world_.kill(node, longest_news);  // before it could join
  if (world_.at(node).is_dead()) return;
  two_at_once_ = two_at_once_ || is_mending(host_of(node));
  world_.kill(node, longest_news);
  for (holders* const h : {&mutexes_[0], &mutexes_[1], &rwlock_}) {
    if (h->owner != nobody && node_of_[h->owner] == node) *h = {{}, nobody, true};
    std::erase_if(h->readers, [&](unsigned place) { return node_of_[place] == node; });
  }
  // What it wrote last, and nobody could know of, may be gone: nothing follows from it any more.
  for (const auto& [at, past] : past_) {
    if (!past.empty() && past.back().by == node) knows_.roll_back(place_of(at), knows_.acknowledged(place_of(at)));
  }
}

bool mourning::is_mending(std::uint64_t but) {
  for (unsigned gone = 0; gone < options_.nodes; ++gone) {
    if ((but >> gone & 1) != 0 || is_absent(gone)) continue;
    if (!world_.at(gone).is_dead() && !(leavers_.contains(gone) && leavers_[gone].begun)) continue;
    for (unsigned n = 0; n < options_.nodes; ++n) {
      if (n == gone || world_.at(n).is_dead()) continue;
      const core::survivor& s = world_.at(n).core().survival;
      if (s.is_mending() || !s.members().is_dead(model::node_id{static_cast<std::uint16_t>(gone)})) return true;
    }
  }
  return false;
}

void mourning::live(mourner& m) {
  const std::uint64_t last = m.draw.below(steps);
  for (unsigned lap = 0; lap < laps && !world_.failed(); ++lap) {
    for (unsigned i = 0; i < steps && !world_.failed(); ++i) {
      if (const auto l = leavers_.find(m.node_number()); l != leavers_.end() && lap == l->second.leaves_in && i == last)
        return leave(m);
      if (m.draw.chance(60)) world_.sleep(m.draw.below(30'000));
      step(m);
      if (options_.joiners != 0) use_regions(m);
    }
    if (m.number == 1) (void)meet_nodes(m, lap);
    meet_threads(m);
  }
  if (m.number == 1 && options_.joiners != 0) part_from_nodes(m);
  world_.sleep(latest_death + 2'000'000);  // by then all deaths are over
  if (options_.release) return lock_and_look(m);
  look_at_all(m);
}

/// The last of its threads has it leave. Where it cannot, as node 0 is dead, it ends.
void mourning::leave(mourner& m) {
  const unsigned self = m.node_number();
  leaver& me = leavers_[self];
  me.meets_no_more = me.meets_no_more || m.number == 1;
  if (++me.stopped < threads_[self]) return;
  core::core& here = m.here.core();
  core::leaver goes(here);
  bool begun = false, can = true;
  for (unsigned tries = 1; !begun && can && !world_.failed(); ++tries) {
    here.as_driver([&] {
      can = goes.obstacle() == nullptr;
      const bool mending = is_mending();
      me.begun = begun = can && goes.go_on();
      two_at_once_ = two_at_once_ || (begun && mending);
    });
    if (!begun && can && tries % 100 == 0) inherit_mutexes(m);
    world_.sleep(20'000);
  }
  if (!can) return die(self);
  while (!here.survival.has_left() && !world_.failed()) world_.sleep(20'000);
  if (world_.failed()) return;
  ++done_["leaves"];
  me.has_left = true;
  world_.kill(self, longest_news);
}

void mourning::look_at_all(mourner& m) {
  for (const auto& [at, value] : std::unordered_map(world_.all_written())) {
    if (at - region_base < pages_ * region_page) look(m, at);
  }
  look_at_regions(m);
}

/// Those whose owner is dead keep a node until somebody has heard of it.
void mourning::inherit_mutexes(mourner& m) {
  for (unsigned which = 0; which < 2 && !world_.failed(); ++which) {
    const auto why = m.call(operation::mutex_lock, objects_[which].handle);
    m.must(why, "a mutex", QUIRE_OWNER_DIED);
    own(m, mutexes_[which], why);
    mutexes_[which].owner = nobody;
    m.must(m.call(operation::mutex_unlock, objects_[which].handle), "an unlock");
  }
}

void mourning::step(mourner& m) {
  if (options_.in_a_row && m.draw.chance(60)) return use_mutex(m);
  switch (m.draw.below(8)) {
    case 0:
      return use_mutex(m);
    case 1:
      return use_rwlock(m);
    case 2:
      return use_semaphore(m);
    case 3:
      return use_event(m);
    default:
      return use_words(m);
  }
}

std::uint64_t mourning::draw_word(mourner& m) {
  return region_base + m.draw.below(pages_) * region_page + m.draw.below(words) * stride_;
}

std::uint64_t mourning::draw_word_of(mourner& m, unsigned which) {
  return region_base + m.draw.below(pages_) * region_page + (m.draw.below(words / 2) * 2 + which) * stride_;
}

void mourning::use_words(mourner& m) {
  if (!options_.release) use_word(m, draw_word(m));
  if (options_.flags) pass_flag(m);
}

void mourning::use_words_of(mourner& m, unsigned which) {
  if (!options_.release) return use_words(m);
  for (std::uint64_t i = m.draw.below(4); i != 0 && !world_.failed(); --i) use_word(m, draw_word_of(m, which));
  if (options_.flags && m.draw.chance(50)) pass_flag(m);
}

/// All threads exchange one word: who gets a value knows what its writer knew.
void mourning::pass_flag(mourner& m) {
  const std::uint64_t at = region_base + pages_ * region_page, value = world_.unique();
  const core::region_slot& r = *m.here.core().regions.find(at);
  flag& mine = flags_[value];
  mine.by = m.node_number();
  mine.at_home = core::release_of(r)->is_home(r.unit_of(at));
  const auto learn = [&](unsigned which, std::uint64_t n) { mine.knows[which] = std::max(mine.knows[which], n); };
  for (unsigned which = 0; which < 2; ++which)
    learn(which, mutexes_[which].owner == m.place ? writes_ : told_[which][m.node_number()]);
  std::uint64_t before = 0;
  const auto exchange = static_cast<std::uint32_t>(model::atomic_operation::exchange);
  const base::status why = m.here.core().calls.atomic(at, exchange, value, 0, before);
  if (!why.ok()) {
    if (why.code() != QUIRE_LOST && why.code() != QUIRE_PEER_LOST)
      world_.fail("an atomic operation ends with status " + std::to_string(why.code()));
    return;
  }
  ++done_["flags"];
  const flag* const found = before != 0 ? &flags_.at(before) : nullptr;
  if (found == nullptr || (found->at_home && is_dead(found->by))) return;
  for (unsigned which = 0; which < 2; ++which) {
    learn(which, found->knows[which]);
    told_[which][m.node_number()] = std::max(told_[which][m.node_number()], mine.knows[which]);
  }
}

void mourning::use_word(mourner& m, std::uint64_t at) {
  if (m.draw.chance(50)) return look(m, at);
  const std::uint64_t value = world_.unique();
  if (!m.here.try_store(address_of(m, at), value)) return note_lost(at);
  note_found(at);
  note_write(m, at, value);
}

void mourning::look_at_words_of(mourner& m, unsigned which) {
  for (unsigned word = 0; word < pages_ * words && !world_.failed(); ++word) {
    const std::uint64_t at = region_base + word / words * region_page + word % words * stride_;
    if (word % 2 == which) look(m, at);
  }
}

void mourning::lock_and_look(mourner& m) {
  for (unsigned which = 0; which < 2 && !world_.failed(); ++which) {
    const auto why = m.call(operation::mutex_lock, objects_[which].handle);
    m.must(why, "a mutex", QUIRE_OWNER_DIED);
    own(m, mutexes_[which], why);
    look_at_words_of(m, which);
    mutexes_[which].owner = nobody;
    m.must(m.call(operation::mutex_unlock, objects_[which].handle), "an unlock");
  }
}

std::size_t mourning::place_of(std::uint64_t at) const noexcept {
  return (at - region_base) / region_page * words + at % region_page / stride_;
}

std::uint64_t mourning::address_of(mourner& m, std::uint64_t at) {
  if (options_.minipage_bytes == 0 || m.draw.chance(options_.natural_percent)) return at;
  return m.here.core().regions.find(at)->fine(at);
}

void mourning::note_write(mourner& m, std::uint64_t at, std::uint64_t value) {
  past_[at].push_back({value, m.node_number(), ++writes_});
  knows_.write(m.node_number(), place_of(at), writes_);
}

void mourning::note_lost(std::uint64_t at) {
  ++done_["lost units"];
  if (!options_.deaths) world_.fail("a unit is lost, though nobody has died");
  if (options_.replicas && !two_at_once_) world_.fail("a unit is lost, though its content was on two nodes");
  if (!options_.release && options_.minipage_bytes == 0) lost_.insert(unit_at(at));  // else perhaps its neighbour
  if (!homes_stay_) return;
  const core::region_slot& r = *world_.at(0).core().regions.find(at);
  const model::node_id home = core::release_of(r)->shape().managers.of(r.unit_of(at));
  if (!is_dead(home.value())) world_.fail("a unit is lost, though its home lives");
}

void mourning::note_found(std::uint64_t at) {
  if (lost_.contains(unit_at(at))) world_.fail("a unit that was lost is back: " + world_.name_of(at));
}

std::uint64_t mourning::unit_at(std::uint64_t at) { return world_.at(0).core().regions.find(at)->unit_of(at); }

void mourning::look(mourner& m, std::uint64_t at) {
  std::uint64_t found = 0;
  if (!m.here.try_load(address_of(m, at), found)) return note_lost(at);
  note_found(at);
  if (found != world_.latest(at)) {
    roll_back(at, found);
    if (past_[at].empty() ? found != 0 : past_[at].back().value != found) m.check(at, found);
    world_.wrote(at, found, m.here.self());
  }
  // What comes of a dead node's backup says nothing of what else that node has written.
  if (!past_[at].empty() && !is_dead(past_[at].back().by)) knows_.read(m.node_number(), place_of(at));
}

void mourning::roll_back(std::uint64_t at, std::uint64_t found) {
  auto& past = past_[at];
  while (!past.empty() && past.back().value != found && is_dead(past.back().by)) {
    const bool acknowledged = past.back().number <= knows_.acknowledged(place_of(at));
    for (const auto& [n, number] : told_[at / stride_ % 2]) {
      if (options_.release && !is_dead(n) && past.back().number <= number)
        world_.fail("what a survivor has been told is lost: " + world_.name_of(at));
    }
    if (options_.replicas && acknowledged) world_.fail("an acknowledged write is lost: " + world_.name_of(at));
    past.pop_back();
    ++done_["lost writes"];
  }
  knows_.roll_back(place_of(at), past.empty() ? 0 : past.back().number);
}

bool mourning::ended_well(const object& o, const base::status& why, bool timed, const char* what) {
  if (why.ok()) return true;
  if (timed && (why.code() == QUIRE_TIMED_OUT || why.code() == QUIRE_BUSY)) {
    ++done_["in vain"];
    return false;
  }
  const bool lost = why.code() == QUIRE_LOST && is_dead(o.home);
  if (!lost)
    world_.fail(std::string(what) + " ends with status " + std::to_string(why.code()) +
                ", and the node that made it is " + (is_dead(o.home) ? "dead" : "alive"));
  ++done_["lost objects"];
  return false;
}

/// The caller has it from now on.
void mourning::own(mourner& m, holders& h, const base::status& why) {
  if (h.owner != nobody || !h.readers.empty()) world_.fail("a lock has two owners");
  if (h.orphan && why.code() != QUIRE_OWNER_DIED)
    world_.fail("the owner of a lock has died, and the next one does not hear it");
  if (why.code() == QUIRE_OWNER_DIED) ++done_["inherited locks"];
  if (why.code() == QUIRE_OWNER_DIED && !options_.deaths) world_.fail("the owner of a lock is said to have died");
  h = {{}, m.place, false};
  if (!options_.release || &h == &rwlock_) return;
  const auto which = static_cast<unsigned>(&h - mutexes_);
  if (why.code() == QUIRE_OWNER_DIED) look_at_words_of(m, which);
  told_[which][m.node_number()] = writes_;
}

/// Some who have it wait for the condition, others notify it.
void mourning::use_mutex(mourner& m) {
  const auto which = static_cast<unsigned>(m.draw.below(2));
  object& mutex = objects_[which];
  const bool timed = m.draw.chance(20);
  auto why = m.call(operation::mutex_lock, mutex.handle, 0, timed ? 1 : -1);
  if (timed && why.code() == QUIRE_TIMED_OUT) return;
  m.must(why, "a mutex", QUIRE_OWNER_DIED);
  own(m, mutexes_[which], why);
  use_words_of(m, which);
  if (m.draw.chance(40)) m.rest();
  if (m.draw.chance(30)) {
    (void)ended_well(objects_[condition],
                     m.call(m.draw.chance(50) ? operation::condition_notify_one : operation::condition_notify_all,
                            objects_[condition].handle),
                     false, "a notification");
  } else if (m.draw.chance(30)) {
    mutexes_[which].owner = nobody;
    why = m.call(operation::condition_wait, objects_[condition].handle, mutex.handle, 1);
    if (why.code() != QUIRE_OWNER_DIED) (void)ended_well(objects_[condition], why, true, "a wait for a condition");
    mutexes_[which].orphan &= why.code() == QUIRE_OWNER_DIED;  // the call has one status, and the wait's goes before
    own(m, mutexes_[which], why);
  }
  mutexes_[which].owner = nobody;
  m.must(m.call(operation::mutex_unlock, mutex.handle), "an unlock");
}

void mourning::use_rwlock(mourner& m) {
  const bool writes = m.draw.chance(40), timed = m.draw.chance(20);
  object& o = objects_[rwlock];
  const auto why =
      m.call(writes ? operation::rwlock_write_lock : operation::rwlock_read_lock, o.handle, 0, timed ? 1 : -1);
  if (why.code() != QUIRE_OWNER_DIED && !ended_well(o, why, timed, "a rwlock")) return;
  if (writes) {
    own(m, rwlock_, why);
  } else {
    if (rwlock_.owner != nobody) world_.fail("a rwlock is shared with its writer");
    if (rwlock_.orphan && why.code() != QUIRE_OWNER_DIED)
      world_.fail("the writer of a rwlock has died, and a reader does not hear it");
    rwlock_.readers.insert(m.place);
  }
  use_words(m);
  if (writes) rwlock_.owner = nobody;
  rwlock_.readers.erase(m.place);
  (void)ended_well(o, m.call(operation::rwlock_unlock, o.handle), false, "the unlock of a rwlock");
}

/// Who dies in it leaves it never: whoever waits does not wait for ever.
void mourning::use_semaphore(mourner& m) {
  object& o = objects_[semaphore];
  if (!ended_well(o, m.call(operation::semaphore_acquire, o.handle, 0, 1), true, "a semaphore")) return;
  admitted_.insert(m.place);
  if (admitted_.size() > admits) world_.fail("a semaphore lets in more than it has room for");
  use_words(m);
  admitted_.erase(m.place);
  (void)ended_well(o, m.call(operation::semaphore_release, o.handle, 1), false, "the release of a semaphore");
}

void mourning::use_event(mourner& m) {
  object& o = objects_[event];
  const auto what = m.draw.chance(50)   ? operation::event_wait
                    : m.draw.chance(60) ? operation::event_set
                                        : operation::event_reset;
  const bool waits = what == operation::event_wait;
  (void)ended_well(o, m.call(what, o.handle, 0, waits ? 1 : -1), waits, "an event");
}

/// Broken, it is lost for all that come later.
void mourning::meet_threads(mourner& m) {
  object& o = objects_[barrier];
  const auto why = m.call(operation::barrier_wait, o.handle);
  if (why.ok()) return void(++done_["barriers"]);
  const bool any_dead = std::ranges::any_of(node_of_, [this](unsigned n) { return n < founders() && is_gone(n); });
  if (why.code() != QUIRE_LOST || !any_dead) world_.fail("a barrier ends with status " + std::to_string(why.code()));
  ++done_["broken barriers"];
}

unsigned mourning::meet_nodes(mourner& m, unsigned lap) {
  std::uint64_t alive = 0;
  for (unsigned n = 0; n < options_.nodes; ++n) alive |= is_gone(n) ? 0 : std::uint64_t{1} << n;
  const bool knows_lap = m.node_number() < founders();
  // Who is there; for each lap, how many know that it is this one; how many wait for others to join.
  std::int64_t sums[3] = {std::int64_t{1} << m.node_number(), knows_lap ? std::int64_t{1} << 8 * lap : 0,
                          all_have_joined() ? 0 : 1};
  sync::call c;
  c.what = operation::reduce_i64;
  c.count = 3;
  c.combine = QUIRE_SUM;
  c.values = sync::value(std::as_bytes(std::span(sums)));
  knows_.ask(m.node_number(), m.place);
  m.must(m.here.core().objects.synchronise(c, -1), "a sum");
  // The call of the first node alive, the root, may return before another node has heard of it.
  unsigned root = 0;
  while (is_gone(root)) ++root;
  if (m.node_number() != root) knows_.synchronised(m.place);
  std::memcpy(sums, c.values.bytes().data(), sizeof sums);
  const std::int64_t sum = sums[0];
  for (unsigned n = 0; n < options_.nodes; ++n) alive &= is_gone(n) ? ~(std::uint64_t{1} << n) : ~std::uint64_t{0};
  if ((alive & ~static_cast<std::uint64_t>(sum)) != 0) world_.fail("a sum lacks a survivor");
  if (sums[1] == 0) return sums[2] == 0 ? laps : 0;  // of those that were there at the start nobody is left
  if (!knows_lap) lap = static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(sums[1]))) / 8;
  if (sums[1] >> 8 * lap > options_.nodes) world_.fail("a round has nodes of two laps");
  // Nobody can ask the dead what they have seen.
  for (const auto& [n, other] : sums_[lap]) {
    if (!is_gone(n) && other != sum) world_.fail("a sum differs between nodes");
  }
  sums_[lap][m.node_number()] = sum;
  return lap;
}

}  // namespace quire::whole
