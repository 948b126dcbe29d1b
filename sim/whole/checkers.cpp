// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/checkers.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/absent_units.hpp"
#include "core/frames.hpp"
#include "core/known_machines.hpp"
#include "core/protocol_set.hpp"
#include "core/region_slot.hpp"
#include "core/stored_units.hpp"
#include "directory/pins.hpp"
#include "protocol/release/node.hpp"
#include "protocol/transaction/owners/machine.hpp"
#include "protocol/transaction/token/domain.hpp"
#include "protocol/transaction/token/machine.hpp"
#include "sim/whole/world.hpp"

namespace quire::whole {

using core::release_of;
using core::sequential_of;

namespace {

/// The machine of a region whose units come and go by the messages of the sequential protocol; else null.
const sequential::machine* directory_of(const core::region_slot& r) noexcept {
  return dynamic_cast<const sequential::machine*>(r.machine.get());
}
/// Of one whose transactions commit by the token; else null.
const transaction::token::machine* by_token(const core::region_slot& r) noexcept {
  return dynamic_cast<const transaction::token::machine*>(r.machine.get());
}
/// Calls `f` with the machine of a region that is transactional, of whichever kind.
template <class F>
auto with_transactional(const core::region_slot& r, F&& f) {
  if (const auto* const units = by_token(r); units != nullptr) return f(*units);
  return f(dynamic_cast<const transaction::owners::machine&>(*r.machine));
}
bool is_transactional(const core::region_slot& r) noexcept { return r.machine->protocol() == transaction::id; }
transaction::domain& transactions_of(node& n) noexcept {
  return static_cast<transaction::domain&>(n.core().protocols.domain(transaction::id));
}

std::string about(const char* what, const core::region_slot& r, std::uint64_t unit) {
  return std::string(what) + " (unit " + std::to_string(unit) + " of region " + std::to_string(r.about.id) + ")";
}
std::string about(const char* what, node& n) {
  return std::string(what) + " (node " + std::to_string(n.self().value()) + ")";
}

core::region_slot& slot_of(node& n, std::uint16_t region) { return *n.core().regions.slot(model::region_id{region}); }

bool has(node& n, std::uint16_t region) { return n.core().regions.slot(model::region_id{region}) != nullptr; }

std::uint64_t units_of(const core::region_slot& r) { return r.layout.units(); }

/// No page that shows a unit permits more than the machine believes, and each permits what its state says.
bool sees_its_fine_views(const core::region_slot& r, std::uint64_t unit, const table_detector& detector) {
  if (r.layout.bytes_of(unit) == 0) return r.states.own(unit) == access::none;
  const access believed = r.machine->mapped(unit), own = detector.permitted_at(r.application(unit));
  if (own != r.states.own(unit) || own > believed) return false;
  const std::uint64_t page = unit / r.layout.units_a_page();
  if (r.layout.view_of(unit) == 0) return true;
  const access composed = detector.permitted_at(r.memory->application_view() + page * os::page_bytes);
  return composed == r.states.composed(page) && composed <= believed;
}

/// Threads may write what the running transaction has written, and read all that is mapped. Other private copies are
/// those that are kept.
bool sees_its_private_view(const core::region_slot& r, std::uint64_t unit, const table_detector& detector) {
  const bool copied = with_transactional(r, [unit](const auto&of) { return of.is_copied(unit); }),
             kept = with_transactional(r, [unit](const auto&of) { return of.is_kept(unit); });
  const access mapped = r.machine->mapped(unit), now = copied && mapped != access::none ? access::write : mapped;
  for (std::uint64_t at = 0; at < r.bytes_of(unit); at += os::page_bytes) {
    if (detector.permitted_at(r.application(unit) + at) != now) return false;
    if (detector.has_copy(r.application(unit) + at) && !copied && !kept) return false;
  }
  return true;
}

/// Where writes are found by scans, reading and writing are one permission.
bool sees_its_views(const core::region_slot& r, std::uint64_t unit) {
  const auto& detector = static_cast<const table_detector&>(*r.detector);
  if (r.states.used()) return sees_its_fine_views(r, unit, detector);
  if (is_transactional(r)) return sees_its_private_view(r, unit, detector);
  const access now = detector.permitted_at(r.application(unit)), believed = r.machine->mapped(unit);
  return detector.expects_less() ||
         (detector.scans() ? (now != access::none) == (believed != access::none) : now == believed);
}

std::string check_homes(world& w, std::uint16_t region) {
  const core::region_slot& first = slot_of(w.at(0), region);
  if (release_of(first) == nullptr) return {};
  for (std::uint64_t unit = 0; unit < units_of(first); ++unit) {
    unsigned homes = 0;
    for (unsigned n = 0; n < w.nodes(); ++n) homes += release_of(slot_of(w.at(n), region))->is_home(unit) ? 1 : 0;
    if (homes != 1) return about(homes == 0 ? "a unit has no home" : "a unit has several homes", first, unit);
  }
  return {};
}

/// What the running transaction has written is what its machines say, each unit once.
std::string check_writes(node& n, const core::region_slot& r) {
  const auto writes = transactions_of(n).writes();
  for (std::uint64_t unit = 0; unit < units_of(r); ++unit) {
    const auto times = std::ranges::count(writes, transaction::written_unit{model::region_id{r.about.id}, unit});
    const bool copied = with_transactional(r, [unit](const auto& of) { return of.is_copied(unit); });
    const bool knows = times == (copied ? 1 : 0);
    if (!knows) return about(about("a unit is written, and the transaction does not know", n).c_str(), r, unit);
  }
  return {};
}

/// Whether a thread has written a word of the unit.
bool has_words(const world& w, const core::region_slot& r, std::uint64_t unit) {
  const std::uint64_t first = r.address_of(unit), end = first + r.bytes_of(unit);
  for (std::uint64_t at = first; at < end; at += sizeof(std::uint64_t)) {
    if (w.latest(at) != 0) return true;
  }
  return false;
}

/// Frames add up to what is counted, and what has been written is in memory or in the store.
std::string check_frames(const world& w, node& n, std::uint16_t region) {
  core::core& c = n.core();
  if (!c.frames.tracks_any()) return {};
  std::uint64_t used = 0, leaving = 0;
  c.regions.for_each([&](const core::region_slot& r) {
    for (std::uint64_t frame = 0; r.tracks_frames() && frame < r.layout.frames(); ++frame) {
      const core::frame_state& f = r.frames.data()[frame];
      if (f.resident != 0 || f.filling != 0) used += r.layout.bytes_of_frames(frame, 1);
      if (f.flushing != 0) leaving += r.layout.bytes_of_frames(frame, 1);
    }
  });
  if (used != c.frames.used() || leaving != c.frames.leaving()) return about("frames are counted wrong", n);
  const core::region_slot& r = slot_of(n, region);
  if (!r.tracks_frames()) return {};
  for (std::uint64_t unit = 0; unit < units_of(r); ++unit) {
    const core::frame_state& f = r.frames.data()[r.layout.frame_of(unit)];
    if (f.resident != 0 && f.filling != 0)
      return about(about("a frame is in use while it is being filled", n).c_str(), r, unit);
    const bool kept = f.resident != 0 || f.saved != 0 || c.frames.is_backed(r, r.layout.frame_of(unit));
    const bool counts = r.machine->keeps(unit) && r.machine->has_content(unit) && r.machine->is_written(unit);
    if (!kept && counts && has_words(w, r, unit)) return about(about("content is lost", n).c_str(), r, unit);
    if (f.resident == 0 && r.machine->mapped(unit) != access::none)
      return about(about("threads may use a unit without a frame", n).c_str(), r, unit);
    const bool waits = c.absent.holds(r, unit) && !f.filling && !f.resident;
    if (waits && !c.frames.is_to_be_told(r, r.layout.frame_of(unit)))
      return about(about("what waits for content waits for ever", n).c_str(), r, unit);
  }
  return {};
}

/// A frame of a host is counted as often as nodes have it, and in memory once.
std::string check_holds(world& w, node& n) {
  if (!n.core().frames.shares()) return {};
  const pool::host_holds& holds = n.core().frames.holds();
  std::map<std::uint64_t, std::pair<unsigned, std::uint64_t>> held;
  std::uint64_t used = 0;
  for (unsigned other = 0; other < w.nodes(); ++other) {
    if (!w.are_together(n.self().value(), other)) continue;
    const core::core& c = w.at(other).core();
    c.regions.for_each([&](const core::region_slot& r) {
      for (std::uint64_t frame = 0; r.tracks_frames() && frame < r.layout.frames(); ++frame) {
        const core::frame_state& f = r.frames.data()[frame];
        if (f.resident == 0 && f.filling == 0) continue;
        const std::uint64_t bytes = r.layout.bytes_of_frames(frame, 1);
        if (!c.frames.shares(r)) {
          used += bytes;
          continue;
        }
        auto& [count, size] = held[r.position + r.layout.offset_of_frame(frame)];
        if (count++ == 0) used += size = bytes;
      }
    });
  }
  for (const auto& [position, h] : held) {
    if (holds.count(position) != h.first) return about("a frame of the host has other nodes than are counted", n);
  }
  return used == holds.used() ? std::string() : about("the frames of a host are counted wrong", n);
}

/// The queues of frames speak of regions that are there.
std::string check_queues(node& n) {
  core::core& c = n.core();
  if (!c.frames.tracks_any()) return {};
  bool stale = false;
  for (const core::frame_queue* const queue : {&c.frames.came, &c.frames.own}) {
    queue->for_each([&](core::frame_queue::entry e) {
      const core::region_slot* const of = c.regions.slot(model::region_id{static_cast<std::uint16_t>(e.region)});
      stale |= of == nullptr || e.frame >= of->layout.frames();
    });
  }
  return stale ? about("a queue of frames has a unit of a region that is gone", n) : std::string();
}

/// No transaction is under way, and nobody wants a turn.
std::string check_no_transaction(node& n) {
  transaction::domain& all = transactions_of(n);
  if (all.word().now() != transaction::phase::idle) return about("a transaction is left at the end", n);
  if (!all.writes().empty() || all.is_committing()) return about("writes of a transaction are left at the end", n);
  if (all.busy() || all.has_turn() || all.is_paused()) return about("a turn is left at the end", n);
  const auto* const token = dynamic_cast<const transaction::token::domain*>(&all);
  if (token != nullptr && !token->is_quiet()) return about("commits wait for others at the end", n);
  return {};
}

std::string check_quiet(node& n) {
  core::core& c = n.core();
  if (std::string wrong = check_no_transaction(n); !wrong.empty()) return wrong;
  if (!c.stored.is_quiet()) return about("something waits at the end for its store to be written", n);
  if (!c.absent.is_quiet()) return about("content is on its way at the end, or something waits for it", n);
  if (c.consistency.busy()) return about("diffs are not acknowledged at the end", n);
  if (c.consistency.waiting() + c.consistency.arrivals().waiting() != 0) return about("messages wait for ever", n);
  if (c.pinned.size() != 0) return about("pins are left at the end", n);
  if (std::string wrong = check_queues(n); !wrong.empty()) return wrong;
  std::string wrong;
  c.regions.for_each([&](const core::region_slot& r) {
    if (r.machine->outstanding() != 0) wrong = about("a unit has not come", n);
    if (r.change.frozen) wrong = about("a region is left frozen", n);
    for (std::uint64_t frame = 0; r.tracks_frames() && frame < r.layout.frames(); ++frame) {
      if (r.frames.data()[frame].landing != 0) wrong = about("a message is being received at the end", n);
    }
  });
  return wrong;
}

}  // namespace

std::string check_node(world& w, node& n, std::uint16_t region) {
  if (n.core().consistency.under_way() != 0 || transactions_of(n).under_way() != 0)
    return about("what an event asked for is not done", n);
  if (std::string wrong = check_holds(w, n); !wrong.empty()) return wrong;
  if (!has(n, region)) return {};  // not yet, or no longer
  const core::region_slot& r = slot_of(n, region);
  for (std::uint64_t unit = 0; unit < units_of(r); ++unit) {
    const bool valid = release_of(r) != nullptr ? release_of(r)->is_valid(unit)
                       : is_transactional(r)
                           ? with_transactional(r, [unit](const auto& of) { return of.is_unit_valid(unit); })
                       : directory_of(r) != nullptr ? directory_of(r)->is_valid(unit)
                                                    : true;
    if (!valid) return about(about("a machine's state is not valid", n).c_str(), r, unit);
    if (!sees_its_views(r, unit)) return about(about("a machine is wrong about its view", n).c_str(), r, unit);
  }
  const auto* const token =
      dynamic_cast<const transaction::token::domain*>(&n.core().protocols.domain(transaction::id));
  if (token != nullptr && !token->is_valid()) return about("the token's state is not valid", n);
  if (std::string wrong = is_transactional(r) ? check_writes(n, r) : std::string(); !wrong.empty()) return wrong;
  return check_frames(w, n, region);
}

/// One node at most has the token; and who has applied the same commits knows the same of a unit, whose owner knows
/// nothing newer than all others do.
std::string check_commits(world& w, std::uint16_t region) {
  const core::region_slot& first = slot_of(w.at(0), region);
  unsigned holders = 0;
  for (unsigned n = 0; n < w.nodes(); ++n)
    holders += dynamic_cast<const transaction::token::domain&>(transactions_of(w.at(n))).holds() ? 1 : 0;
  if (holders > 1) return "two nodes have the token";
  for (std::uint64_t unit = 0; unit < units_of(first); ++unit) {
    const transaction::token::machine* newest = by_token(first);
    for (unsigned n = 1; n < w.nodes(); ++n) {
      const transaction::token::machine* const here = by_token(slot_of(w.at(n), region));
      if (here->unit(unit).number == newest->unit(unit).number && here->owner_of(unit) != newest->owner_of(unit))
        return about("two nodes know the same commit of different nodes", first, unit);
      if (here->unit(unit).number > newest->unit(unit).number) newest = here;
    }
    if (!by_token(slot_of(w.at(newest->owner_of(unit).value()), region))->has_content(unit))
      return about("the owner of a unit has lost it", first, unit);
  }
  return {};
}

/// Of one memory: who has a unit pinned is the only one who may use it.
std::string check_pinned(world& w, std::uint16_t region, std::uint64_t unit, unsigned users) {
  for (unsigned n = 0; n < w.nodes(); ++n) {
    const core::region_slot& r = slot_of(w.at(n), region);
    if (directory_of(r)->unit(unit).pinned != 0 && users > 1)
      return about("a node may use what another has pinned", r, unit);
  }
  return {};
}

std::string check_views(world& w, std::uint16_t region) {
  if (has(w.at(0), region) && by_token(slot_of(w.at(0), region)) != nullptr) {
    for (unsigned n = 0; n < w.nodes(); ++n) {
      if (!has(w.at(n), region)) return {};
    }
    return check_commits(w, region);
  }
  for (unsigned n = 0; n < w.nodes(); ++n) {
    if (!w.at(n).is_dead() && !has(w.at(n), region)) return {};
    if (w.at(n).is_dead() && !has(w.at(n), region)) continue;
    const core::region_slot& r = slot_of(w.at(n), region);
    if (!w.at(n).is_dead() && (directory_of(r) == nullptr || r.change.frozen)) return {};
  }
  unsigned alive = 0;
  while (alive + 1 < w.nodes() && w.at(alive).is_dead()) ++alive;
  const core::region_slot& first = slot_of(w.at(alive), region);
  for (std::uint64_t unit = 0; unit < units_of(first); ++unit) {
    unsigned readers = 0, writers = 0;
    for (unsigned n = 0; n < w.nodes(); ++n) {
      if (w.at(n).is_dead()) continue;
      const core::region_slot& r = slot_of(w.at(n), region);
      const access mapped = r.machine->mapped(unit);
      // Who has the right to write under transactions maps for reading: it commits as if it wrote at once.
      const access right =
          is_transactional(r) && directory_of(r)->right_of(unit) == access::write ? access::write : mapped;
      readers += right == access::read ? 1 : 0;
      writers += right == access::write ? 1 : 0;
    }
    if (directory_of(first)->shape().one_memory) {
      if (std::string wrong = check_pinned(w, region, unit, readers + writers); !wrong.empty()) return wrong;
      continue;
    }
    if (writers > 1) return about("two nodes may write a unit", first, unit);
    if (first.about.backing != 0 && writers == 1) {
      const auto manager = static_cast<std::uint16_t>(first.machine->authority_of(unit).value());
      if (directory_of(slot_of(w.at(manager), region))->entry(unit).dirty == 0)
        return about("a node may write what its manager takes for clean", first, unit);
    }
    if (writers == 1 && readers != 0) return about("a node may write a unit while others may read it", first, unit);
  }
  return {};
}

std::string check_quiet(world& w) {
  bool dead = false;
  for (unsigned n = 0; n < w.nodes(); ++n) {
    dead |= w.at(n).is_dead();
    if (w.at(n).is_dead()) continue;
    if (std::string wrong = check_quiet(w.at(n)); !wrong.empty()) return wrong;
  }
  for (const std::uint16_t region : w.regions()) {
    if (std::string wrong = dead ? "" : check_homes(w, region); !wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace quire::whole
