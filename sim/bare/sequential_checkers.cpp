// SPDX-License-Identifier: BSD-3-Clause
#include "sim/bare/sequential_checkers.hpp"

#include <algorithm>
#include <bit>

#include "core/pins.hpp"
#include "core/replicas.hpp"
#include "directory/pins.hpp"
#include "sim/bare/sequential_cluster.hpp"

namespace quire::sim {
namespace {

std::string about(const char* what, std::uint64_t unit) {
  return std::string(what) + " (unit " + std::to_string(unit) + ")";
}
std::string about(const char* what, std::uint64_t unit, node_id node) {
  return std::string(what) + " (unit " + std::to_string(unit) + ", node " + std::to_string(node.value()) + ")";
}

}  // namespace

/// In one memory who has a unit pinned is alone with it, and nobody else (check_pins()).
std::string check_views(const cluster& c, std::uint64_t unit) {
  if (c.options().one_memory) return {};
  const auto views = c.views(unit);
  const auto writers = std::count(views.begin(), views.end(), access::write);
  if (writers == 0) return {};
  if (writers > 1) return about("two nodes may write", unit);
  if (std::count(views.begin(), views.end(), access::read) != 0)
    return about("one node may write while others may read", unit);
  return {};
}

std::string check_pins(const cluster& c, std::uint64_t unit) {
  if (c.state().pinned[unit] == 0) return {};
  const node_id nobody{0xffff};
  node_id pinner = nobody;
  for (std::uint16_t n = 0; n < c.options().nodes; ++n) {
    if (c.pins_of(node_id{n}, unit) == 0) continue;
    if (pinner != nobody) return about("two nodes have pinned a unit", unit);
    pinner = node_id{n};
  }
  if (pinner == nobody) return {};
  if (c.machine(pinner).right_of(unit) != access::write)
    return about("a node has lost a unit that it has pinned", unit, pinner);
  for (std::uint16_t n = 0; n < c.options().nodes; ++n) {
    if (node_id{n} == pinner) continue;
    if (c.view(node_id{n}, unit) != access::none)
      return about("a node may use what another has pinned", unit, node_id{n});
  }
  return {};
}

std::string check_node(const cluster& c, node_id node, std::uint64_t unit) {
  const auto& m = c.machine(node);
  if (!m.is_valid(unit)) return about("the machine's state is not valid", unit, node);
  if (m.unit(unit).mapped() != c.view(node, unit)) return about("the machine is wrong about its view", unit, node);
  return {};
}

std::string check_directory(const cluster& c, std::uint64_t unit) {
  if (!c.is_settled()) return {};
  const node_id manager = c.manager_of(unit);
  const auto& e = c.machine(manager).entry(unit);
  if (!e.requests.empty()) return {};
  const bool inherited = c.machine(manager).shape().managers.of(unit) != manager;
  if (e.touched == 0 && inherited && c.options().replicas) return {};  // nobody has used it, or it is lost
  if (e.touched == sequential::directory_entry::lost || (e.touched == 0 && inherited)) return check_lost(c, unit);
  const model::geometry shape = c.machine(manager).shape().nodes;
  const node_id owner = e.touched != 0 ? e.owner : manager;
  const model::copyset copies = e.touched != 0 ? e.copies : model::copyset::of(shape, manager);
  // A settled request leaves the unit to the messages: it may be on its way to its owner, and then nobody else has it.
  const bool away = c.machine(owner).right_of(unit) == access::none;
  if (away && c.machine(owner).unit(unit).pending() == access::none) return about("the owner has no copy", unit, owner);
  const auto current = c.content(owner, unit);
  unsigned holders = 0;
  bool writer = false;
  for (std::uint16_t n = 0; n < c.options().nodes; ++n) {
    const node_id node{n};
    if (c.is_dead(node)) continue;
    const access right = c.machine(node).right_of(unit);
    if (right == access::none) continue;
    ++holders;
    if (away) return about("the owner has no copy, and another node has one", unit, node);
    if (right == access::write) writer = true;
    if (!copies.may_contain(shape, node)) return about("a node with a copy is not in the copyset", unit, node);
    if (!std::ranges::equal(c.content(node, unit), current))
      return about("a copy differs from the owner's", unit, node);
  }
  if (writer && holders > 1 && !c.options().one_memory) return about("a writer is not alone", unit);
  return {};
}

std::string check_store(const cluster& c, std::uint64_t unit) {
  if (!c.options().stored) return {};
  const node_id manager = c.manager_of(unit);
  const auto& e = c.machine(manager).entry(unit);
  if (e.dirty != 0) return {};
  const auto views = c.views(unit);
  if (std::count(views.begin(), views.end(), access::write) != 0)
    return about("a node may write what its manager takes for clean", unit);
  if (!e.requests.empty()) return {};  // content may be on its way
  const node_id owner = e.touched != 0 ? e.owner : manager;
  const auto& flushes = c.state().flushes;
  const auto flush = std::ranges::find(flushes, unit, &flush_under_way::unit);
  if ((flush != flushes.end()) != (e.flushing != 0))
    return about("a flush is under way, or none, and the manager believes otherwise", unit);
  const auto there = flush != flushes.end() ? std::span<const std::uint64_t>(flush->content) : c.stored(unit);
  return std::ranges::equal(c.content(owner, unit), there)
             ? std::string()
             : about("a unit is clean, and the store has something else", unit);
}

std::string check_lost(const cluster& c, std::uint64_t unit) {
  for (std::uint16_t n = 0; n < c.options().nodes; ++n) {
    if (c.is_dead(node_id{n}) || c.machine(node_id{n}).right_of(unit) == access::none) continue;
    return about("a unit is lost, but a node has a copy", unit, node_id{n});
  }
  if ((c.state().touched_by_dead >> unit & 1) == 0)
    return about("a unit is lost with which the dead had nothing to do", unit);
  return {};
}

std::string check_before_send(const cluster& c, node_id node, const model::action& a) {
  if (!a.with_content || c.view(node, a.unit) != access::write) return {};
  return about("content is sent while threads may still write to it", a.unit, node);
}

std::string check_payload(const cluster& c, const message& m, std::span<const std::uint64_t> payload) {
  const auto now = c.content(m.from, m.unit);
  if (std::ranges::equal(now, payload)) return {};
  // The engine gives no frame back while anything that it sends is still in memory.
  if (is_gone(now)) return {};
  return about("the sender's frame changed while its content was on the way", m.unit, m.from);
}

std::string check_landing(const cluster& c, model::node_id to, std::uint64_t unit,
                          std::span<const std::uint64_t> payload) {
  for (std::uint16_t n = 0; n < c.options().nodes; ++n) {
    const node_id node{n};
    if (node == to || !c.hosts().together(node, to)) continue;
    if (c.machine(node).right_of(unit) == access::write)
      return about("content comes into a frame that another node of the host may write", unit, node);
    if (c.view(node, unit) != access::none && !std::ranges::equal(c.content(node, unit), payload))
      return about("content changes a frame that another node of the host may read", unit, node);
  }
  return {};
}

std::string check_copies(const cluster& c) {
  const auto& o = c.options();
  if (!o.replicas || !c.is_settled() || o.nodes - static_cast<unsigned>(__builtin_popcountll(c.state().dead)) < 2)
    return {};
  for (std::uint64_t unit = 0; unit < o.units; ++unit) {
    const std::uint64_t least = c.state().knows.acknowledged(unit);
    std::uint64_t alive = 0, copies = 0;
    for (std::uint16_t n = 0; n < o.nodes && least != 0; ++n) {
      if (c.is_dead(node_id{n})) continue;
      alive |= std::uint64_t{1} << n;
      if (c.content(node_id{n}, unit)[o.words - 1] >= least) copies |= std::uint64_t{1} << n;
    }
    if (least != 0 && std::popcount(copies) < 2) return about("an acknowledged write is on one node only", unit);
    if (c.domains().count(alive) > 1 && c.domains().count(copies) < 2)
      return about("an acknowledged write is on one host only", unit);
    // The next content has a higher stamp than all that there are.
    for (std::uint16_t n = 0; n < o.nodes; ++n) {
      if (c.is_dead(node_id{n}) || c.machine(node_id{n}).unit(unit).owner == 0) continue;
      for (std::uint16_t other = 0; other < o.nodes; ++other) {
        if (c.is_dead(node_id{other})) continue;
        if (c.state().replicas[other * o.units + unit].stamp > c.state().books[n].clock)
          return about("the owner's clock is behind", unit, node_id{n});
      }
    }
  }
  return {};
}

std::string check_pushed(const cluster& c, std::uint64_t unit) {
  for (std::uint16_t n = 0; n < c.options().nodes; ++n) {
    const auto& m = c.machine(node_id{n});
    if (c.is_dead(node_id{n})) continue;
    if (m.right_of(unit) == access::none && m.count().copies_dropped == 0) {
      return about("a push is reported as done, but a node has no copy", unit, node_id{n});
    }
  }
  return {};
}

std::string check_quiet(const cluster& c) {
  for (std::size_t t = 0; t < c.state().threads.size(); ++t) {
    if (c.state().threads[t].pins != 0) return "thread " + std::to_string(t) + " has not ended its pins";
    if (c.state().threads[t].now == thread::state::finished) continue;
    return "lost wake-up: thread " + std::to_string(t) + " of node " + std::to_string(c.node_of(t).value()) +
           " waits for unit " + std::to_string(c.operation_of(t).unit) + " though nothing is under way";
  }
  if (!c.is_settled()) return "a node waits for the others to go on though nothing is under way";
  for (std::size_t n = 0; n < c.state().requests.size(); ++n) {
    if (!c.is_dead(node_id{static_cast<std::uint16_t>(n)}) && c.state().requests[n].in_use() != 0)
      return "requests are left in a queue though nothing is under way";
  }
  for (std::uint16_t n = 0; n < c.options().nodes; ++n) {
    if (!c.is_dead(node_id{n}) && c.state().pins[n].size() != 0)
      return "node " + std::to_string(n) + " has pins left though all threads have ended theirs";
  }
  for (std::uint64_t unit = 0; unit < c.options().units; ++unit) {
    if (auto wrong = check_directory(c, unit); !wrong.empty()) return wrong;
    if (c.options().stored &&
        (c.machine(c.manager_of(unit)).entry(unit).wanted != 0 || !c.state().syncs[unit].empty())) {
      return about("a flush is wanted, and never begins", unit);
    }
    if (c.options().stored &&
        (c.machine(c.manager_of(unit)).entry(unit).leaving != 0 || !c.state().leaves[unit].empty())) {
      return about("a unit is to leave memory, and nobody sees to it", unit);
    }
    for (std::uint16_t n = 0; n < c.options().nodes; ++n) {
      const auto& s = c.machine(node_id{n}).unit(unit);
      if (c.is_dead(node_id{n})) continue;
      if (s.pending() != access::none || s.held != 0) {
        return about("a request is pending though nothing is under way", unit, node_id{n});
      }
    }
  }
  return {};
}

}  // namespace quire::sim
