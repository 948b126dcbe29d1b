// SPDX-License-Identifier: BSD-3-Clause
#include "sim/whole/world.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.hpp"
#include "core/region_builder.hpp"
#include "core/region_slot.hpp"
#include "core/survival.hpp"
#include "pool/host_file.hpp"
#include "sim/seeds.hpp"
#include "sim/whole/checkers.hpp"
#include "sim/whole/kept_store.hpp"

namespace quire::whole {

world::world(const world_options& options) : options_(options), net_(options.net) {
  core::configuration c = options.node;
  c.nodes = options.net.nodes;
  c.base = base_address;
  c.bytes = range_bytes;
  c.pool.host_file = c.hosts.empty() ? -1 : 0;  // it has no number, but it is there
  static constexpr std::array simulated = {&kept_store::the_row};
  if (c.stores.data() == store::built_in().data()) c.stores = simulated;
  for (unsigned n = 0; n < c.nodes; ++n) {
    c.self = node_id{static_cast<std::uint16_t>(n)};
    c.memory_limit = net_.rng().chance(options.limited_percent) ? options.node.memory_limit : 0;
    if (c.pages_out && !c.hosts.empty()) {
      auto& table = holds_[c.hosts[n]];
      table.resize(pool::host_table_bytes(c.bytes) / sizeof table[0]);
      c.host_holds = reinterpret_cast<std::byte*>(table.data());
    }
    nodes_.push_back(std::make_unique<node>(*this, c));
    if (n >= c.first_nodes()) nodes_.back()->die();
  }
  net_.on_delivery(
      [this](node_id to, const message& m, std::span<const std::byte> payload) { at(to.value()).arrive(m, payload); });
}

world::~world() = default;

std::shared_ptr<host_memory> world::host_memory_of(node_id node, std::uint64_t address, std::uint64_t bytes) {
  auto& known = hosts_[{options_.node.hosts[node.value()], address}];
  auto found = known.lock();
  if (found == nullptr) known = found = std::make_shared<host_memory>(bytes);
  CHECK(found->bytes == bytes);
  return found;
}

void world::add_region(core::region_description about) {
  kept_store::complain_to([this](const std::string& wrong) { fail(wrong); });
  for (auto& n : nodes_) CHECK(n->core().builder.add(about).ok());
  regions_.push_back(about.id);
}

void world::leave_region(const core::region_description& about) {
  std::erase(regions_, about.id);
  const auto lies_in = [&](std::uint64_t at) { return at - about.base < about.bytes; };
  std::erase_if(latest_, [&](const auto& word) { return lies_in(word.first); });
  std::erase_if(unknown_, lies_in);
}

void world::start(unsigned n, program what) {
  auto& t = *threads_.emplace_back(std::make_unique<thread>());
  t.at = nodes_[n].get();
  threads_of_[t.at].push_back(&t);
  t.runs = std::make_unique<fibre>([this, &t, what = std::move(what)] { what(*t.at); });
  resume_after(t, net_.rng().below(options_.think + 1));
}

void world::come(unsigned n) {
  nodes_[n]->come();
  net_.note(nodes_[n]->self(), "comes");
  for (const unsigned gone : killed_) nodes_[n]->core().survival.on_announced(gone);
}

void world::kill(unsigned n, sim::time_ns late) {
  nodes_[n]->die();
  killed_.push_back(n);
  net_.note(nodes_[n]->self(), "is dead");
  for (auto& other : nodes_) {
    if (other->is_dead()) continue;
    net_.after(net_.rng().below(late + 1), [this, &other, n] {
      if (other->is_dead()) return;
      other->core().survival.on_announced(n);
      other->call();
    });
  }
}

void world::resume_after(thread& t, sim::time_ns ns) {
  t.resumes = true;
  const std::uint64_t turn = ++t.turn;
  net_.after(ns, [this, &t, turn] {
    if (turn == t.turn && !t.runs->finished()) resume(t);
  });
}

void world::resume(thread& t) {
  if (t.at->is_dead() || failed()) return;
  t.resumes = false;
  running_ = &t;
  t.runs->resume();
  running_ = nullptr;
}

void world::sleep(sim::time_ns ns) {
  CHECK(running_ != nullptr);
  if (failed()) ns = options_.net.step_limit;
  resume_after(*running_, ns);
  fibre::yield();
}

bool world::wait(core::op& o, sim::time_ns until) {
  CHECK(running_ != nullptr);
  thread& me = *running_;
  while (!o.done() && net_.now() < until) {
    me.waits_for = &o;
    if (until != ~sim::time_ns{0}) {
      resume_after(me, until - net_.now());
      me.resumes = false;  // it may go on earlier
    }
    fibre::yield();
    me.waits_for = nullptr;
  }
  return o.done();
}

void world::after_turn(node& of) {
  if (spoil_ != nullptr) spoil_(of);
  if (!failed()) check(of);
  look_at_waiting(of);
}

/// One region after the other; what is wrong stays so for a while. In large jobs all nodes are looked at only now and
/// then.
void world::check(node& n) {
  if (regions_.empty()) return;
  constexpr std::uint64_t small = 8;
  const std::uint16_t region = regions_[next_checked_++ % regions_.size()];
  if (const std::string wrong = check_node(*this, n, region); !wrong.empty()) return fail(wrong);
  if (nodes_.size() > small && next_checked_ % nodes_.size() != 0) return;
  if (const std::string wrong = check_views(*this, region); !wrong.empty()) fail(wrong);
}

void world::look_at_waiting(const node& of) {
  const auto own = threads_of_.find(&of);
  if (own == threads_of_.end()) return;
  for (thread* const t : own->second) {
    if (!t->resumes && t->waits_for != nullptr && t->waits_for->done())
      resume_after(*t, net_.rng().below(options_.wake + 1));
  }
}

void world::count_access(std::uint64_t faults, sim::time_ns waited) noexcept {
  ++accesses_.accesses;
  accesses_.faults += faults;
  accesses_.most_faults = std::max(accesses_.most_faults, faults);
  accesses_.longest_wait = std::max(accesses_.longest_wait, waited);
}

std::string world::name_of(std::uint64_t address) const {
  const core::region_ref r = nodes_[0]->core().regions.find(address);
  if (r == nullptr) return "a word of no region";
  const std::uint64_t offset = r->offset_of(address), unit = r->layout.unit_of(offset);
  const std::uint64_t word = (offset - r->layout.offset_of(unit)) / sizeof(std::uint64_t);
  return "word " + std::to_string(word) + " of unit " + std::to_string(unit) + " of region " +
         std::to_string(r->about.id);
}

void world::fail(const std::string& what) {
  if (!failed()) failure_ = what + "\n" + net_.trace();
  net_.stop();
}

std::string world::run() {
  const sim::print_on_check_failure hook(net_);
  const auto ended = net_.run();
  if (failed()) return failure_;
  if (ended != sim::network::outcome::quiet) fail("it goes round in circles");
  for (const auto& t : threads_) {
    if (!t->runs->finished() && !t->at->is_dead())
      fail("a thread of node " + std::to_string(t->at->self().value()) + " waits for ever");
  }
  if (const std::string wrong = check_quiet(*this); !wrong.empty()) fail(wrong);
  return failure_;
}

}  // namespace quire::whole
