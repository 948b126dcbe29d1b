// SPDX-License-Identifier: BSD-3-Clause
#include "sim/workload.hpp"

#include <algorithm>

namespace quire::sim {
namespace {

class author {
 public:
  author(const workload& w, const cluster_options& shape, random& rng) : w_(w), shape_(shape), rng_(rng) {}

  script write(node_id node) {
    script s{node, {}};
    ++thread_;
    while (s.operations.size() < w_.operations) add(s);
    return s;
  }

 private:
  using kind = operation_kind;

  void add(script& s) {
    const std::uint32_t any = static_cast<std::uint32_t>(rng_.below(shape_.units));
    switch (w_.kind) {
      case pattern::hot: return put(s, rng_.chance(50) ? kind::read : kind::write, 0);
      case pattern::read_mostly: return put(s, rng_.below(16) == 0 ? kind::write : kind::read, any);
      case pattern::migratory: put(s, kind::read, any); return put(s, kind::write, any);
      case pattern::counters: return put(s, rng_.chance(70) ? atomic() : rng_.chance(50) ? kind::read : kind::write, any);
      case pattern::sweep: return add_sweep(s);
      case pattern::producer: return add_producer(s, any);
      case pattern::updates: return add_updates(s, any);
      case pattern::locking: return rng_.chance(60) ? add_locking(s) : put(s, any_kind(), any);
      default: return put(s, any_kind(), any);
    }
  }
  void add_sweep(script& s) {
    const bool writes = rng_.chance(30);
    for (std::uint32_t unit = 0; unit < shape_.units; ++unit) {
      if (unit + 1 < shape_.units && rng_.chance(60)) put(s, writes ? kind::write_ahead : kind::read_ahead, unit + 1);
      if (rng_.chance(30)) put(s, kind::map_around, unit);
      put(s, writes ? kind::write : kind::read, unit);
    }
  }
  void add_producer(script& s, std::uint32_t unit) {
    if (s.node.value() != 0) return put(s, kind::read, unit);
    put(s, kind::write, unit);
    if (rng_.chance(70)) put(s, kind::push, unit);
  }
  void add_updates(script& s, std::uint32_t unit) {
    if (rng_.chance(10)) put(s, rng_.chance(50) ? kind::advise_writing : kind::advise_nothing, unit);
    const bool writes = rng_.chance(85);
    const auto times = rng_.between(1, 4);
    for (std::uint64_t i = 0; i < times; ++i) {
      if (rng_.chance(20)) put(s, rng_.chance(50) ? kind::read_ahead : kind::guess_ahead, unit);
      put(s, kind::read, unit);
      if (writes) put(s, rng_.chance(90) ? kind::write : atomic(), unit);
    }
  }
  kind any_kind() { return static_cast<kind>(rng_.below(static_cast<std::uint64_t>(kind::map_around) + 1)); }
  /// A range, in ascending order as calls do it, some of it twice; ended in any order. While it has pins, a thread that waits
  /// for what others have pinned could wait for ever, as with any lock.
  void add_locking(script& s) {
    const auto first = static_cast<std::uint32_t>(rng_.below(shape_.units));
    const auto last = static_cast<std::uint32_t>(rng_.between(first, std::min<std::uint64_t>(first + 2, shape_.units - 1)));
    const bool gives_up = rng_.chance(30);
    const bool twice = rng_.chance(30);
    for (auto unit = first; unit <= last; ++unit) put(s, gives_up ? kind::pin_or_give_up : kind::pin, unit);
    for (auto unit = first; !gives_up && unit <= last; ++unit) {
      if (twice) put(s, kind::pin, unit);
      put(s, kind::read, unit);
      put(s, kind::write, unit);
      if (rng_.chance(30)) put(s, atomic(), unit);
      if (rng_.chance(10)) put(s, kind::read_ahead, unit);
      if (twice) put(s, kind::unpin, unit);
    }
    const bool backwards = rng_.chance(50);
    for (auto unit = first; unit <= last; ++unit) put(s, kind::unpin, backwards ? last - (unit - first) : unit);
  }
  kind atomic() { return static_cast<kind>(static_cast<std::uint64_t>(kind::add) + rng_.below(3)); }

  void put(script& s, kind what, std::uint32_t unit) {
    operation o;
    o.what = what;
    o.unit = unit;
    o.word = static_cast<std::uint32_t>(rng_.below(shape_.words));
    o.a = thread_ << 32 | (s.operations.size() + 1);
    o.b = o.a | 1u << 31;
    if (what == kind::add) o.a = 1;
    if (what == kind::compare_exchange && rng_.chance(50)) o.a = 0;
    o.withhold = rng_.chance(50);
    s.operations.push_back(o);
  }

  workload w_;
  cluster_options shape_;
  random& rng_;
  std::uint64_t thread_ = 0;
};

}  // namespace

std::vector<script> make_scripts(const workload& w, const cluster_options& shape, random& rng) {
  author a(w, shape, rng);
  std::vector<script> all;
  for (std::uint16_t n = 0; n < shape.nodes; ++n) {
    for (unsigned t = 0; t < w.threads_per_node; ++t) all.push_back(a.write(node_id{n}));
  }
  return all;
}

void add_page_outs(std::vector<script>& scripts, const cluster_options& shape, random& rng) {
  for (script& s : scripts) {
    std::vector<operation> mixed;
    for (const operation& o : s.operations) {
      while (rng.chance(40)) {
        const auto what = rng.chance(75) ? operation_kind::page_out : operation_kind::take_over;
        mixed.push_back({what, static_cast<std::uint32_t>(rng.below(shape.units))});
      }
      mixed.push_back(o);
    }
    s.operations = std::move(mixed);
  }
}

}  // namespace quire::sim
