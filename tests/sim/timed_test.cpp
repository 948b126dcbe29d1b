// SPDX-License-Identifier: BSD-3-Clause
// The model (sim/timed): times that follow from the prices, and messages that follow from the protocols, both derived
// by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/timed/patterns.hpp"

namespace quire::timed::timed_test {
namespace {
using quire::model::message;
using quire::model::node_id;

constexpr std::uint64_t header = 72, page = 4096;

/// Prices that are told apart in a sum. Nobody sleeps.
prices distinct_prices() {
  prices p;
  p.latency_ns = 1'000'000;
  p.link_mbs = 1'000;  // a byte a nanosecond
  p.send_ns = 10;
  p.receive_ns = 200;
  p.copy_out_mbs = 500;
  p.copy_in_mbs = 250;
  p.spin_ns = 1'000'000'000;
  p.wake_ns = 999'999;
  p.fault_ns = 30'000;
  p.resume_ns = 4'000;
  p.permit_ns = 50'000;
  p.permit_page_ns = 7;
  p.protect_ns = 600'000;
  p.protect_page_ns = 3;
  return p;
}

node_options nodes_at(unsigned nodes, bool relaxed, const prices& p) {
  node_options o;
  o.nodes = nodes;
  o.relaxed = relaxed;
  o.costs = p;
  o.read_ahead = false;
  return o;
}

// ---- The network

struct seen final : fabric::sink {
  explicit seen(fabric& f) : net(f) {}
  void on_arrival(node_id, fabric::number parcel) override {
    arrivals.push_back({net.now(), net.at(parcel).m.token});
    net.release(parcel);
  }
  void on_timer(node_id, std::uint32_t, std::uint64_t) override {}
  fabric& net;
  struct arrival {
    time_ns at;
    std::uint64_t token;
    bool operator==(const arrival&) const = default;
  };
  std::vector<arrival> arrivals{};
};

void send(fabric& net, time_ns at, unsigned from, unsigned to, std::uint32_t payload, std::uint64_t token) {
  message m;
  m.kind = quire::model::message_kind::read_request;
  m.payload_bytes = payload;
  m.token = token;
  net.send(at, node_id{static_cast<std::uint16_t>(from)}, node_id{static_cast<std::uint16_t>(to)}, m, {});
}

TEST(timed_fabric, a_link_carries_one_message_at_a_time) {
  prices p;
  p.latency_ns = 500;
  p.link_mbs = 1'000;
  fabric net(3, p);
  seen s(net);
  send(net, 0, 0, 1, 1'000, 1);
  send(net, 0, 0, 2, 0, 2);  // behind the first one on the link out
  net.run(s);
  const std::vector<seen::arrival> expected{{500 + header + 1'000, 1}, {header + 1'000 + 500 + header, 2}};
  EXPECT_EQ(s.arrivals, expected);
}

TEST(timed_fabric, two_senders_share_the_link_of_their_receiver) {
  prices p;
  p.latency_ns = 500;
  p.link_mbs = 1'000;
  fabric net(3, p);
  seen s(net);
  send(net, 0, 0, 2, 1'000, 1);
  send(net, 100, 1, 2, 0, 2);
  net.run(s);
  const std::vector<seen::arrival> expected{{500 + header + 1'000, 1}, {500 + header + 1'000 + header, 2}};
  EXPECT_EQ(s.arrivals, expected);
}

TEST(timed_fabric, without_a_limit_bytes_take_no_time) {
  prices p;
  p.latency_ns = 500;
  p.link_mbs = 0;
  fabric net(2, p);
  seen s(net);
  send(net, 7, 0, 1, 1'000'000, 1);
  net.run(s);
  EXPECT_EQ(s.arrivals, (std::vector<seen::arrival>{{507, 1}}));
}

// ---- A fault

/// Node 0 has written a page; each other node reads it, or one of its own.
void read_a_page(node& me, unsigned number, bool each_its_own) {
  if (number == 0) me.write(0, 0, 4 * page);
  me.barrier();
  if (number != 0) {
    me.begin_measuring();
    me.read(0, each_its_own ? number * page : 0, 8);
    me.end_measuring();
  }
  me.barrier();
}

/// All four pages have their home on node 0.
pattern page_readers(bool each_its_own) {
  pattern p;
  p.regions = {{16 * page, page}};
  p.thread_of = [each_its_own](unsigned number) { return [=](node& me) { read_a_page(me, number, each_its_own); }; };
  return p;
}

/// What the home's processor does for a request until the reply is on its link.
time_ns service(const prices& p, std::uint64_t bytes = page) {
  return p.receive_ns + p.protect_ns + p.protect_page_ns + p.send_ns + time_for(bytes, p.copy_out_mbs);
}

/// Of a unit of so many bytes.
time_ns read_fault(const prices& p, std::uint64_t bytes = page) {
  const time_ns request = p.send_ns + p.latency_ns + time_for(header, p.link_mbs);
  const time_ns reply = p.latency_ns + time_for(header + bytes, p.link_mbs);
  const time_ns landing = p.receive_ns + time_for(bytes, p.copy_in_mbs) + p.permit_ns + p.permit_page_ns;
  return p.fault_ns + request + service(p, bytes) + reply + landing + p.resume_ns;
}

TEST(timed_fault, takes_exactly_what_its_parts_cost) {
  const prices p = distinct_prices();
  for (const bool relaxed : {false, true}) {
    const outcome found = run_job(nodes_at(2, relaxed, p), page_readers(false));
    EXPECT_EQ(found.time, read_fault(p)) << relaxed;
    EXPECT_EQ(found.messages, 1u);  // the other one is the home's, who counts none
    EXPECT_EQ(found.read_faults, 1u);
  }
}

TEST(timed_fault, a_home_that_sleeps_has_to_wake_first) {
  prices p = distinct_prices();
  p.spin_ns = 0;
  p.wake_ns = 77;
  // The home, for the request; the reader does not sleep less for the reply.
  EXPECT_EQ(run_job(nodes_at(2, false, p), page_readers(false)).time, read_fault(p) + 2 * 77);
}

TEST(timed_fault, a_home_serves_one_request_after_the_other) {
  prices p = distinct_prices();
  p.link_mbs = 0;
  p.copy_out_mbs = 0;  // the barrier's two messages leave node 0 at different times
  const outcome found = run_job(nodes_at(3, false, p), page_readers(true));
  // Node 2 hears of the barrier's end p.send_ns after node 1, and waits for the rest of what the home does for node 1.
  EXPECT_EQ(found.time, read_fault(p) + service(p) - p.send_ns);
}

// ---- Minipages, locks

/// Node 0 has written minipages of 256 bytes of a page, and node 1 reads some of them.
outcome minipage_readers(const prices& p, const std::function<void(node& me)>& read) {
  pattern what;
  what.regions = {{.bytes = page, .home = 0, .minipage_bytes = 256}};
  what.thread_of = [read](unsigned number) {
    return [=](node& me) {
      if (number == 0) me.write(0, 0, page, 256);
      me.barrier();
      if (number == 1) {
        me.begin_measuring();
        read(me);
        me.end_measuring();
      }
      me.barrier();
    };
  };
  return run_job(nodes_at(2, false, p), what);
}

TEST(timed_minipages, one_costs_what_a_page_does_but_for_its_bytes) {
  const prices p = distinct_prices();
  const outcome found = minipage_readers(p, [](node& me) { me.read(0, 512, 8); });
  EXPECT_EQ(found.time, read_fault(p, 256));
  EXPECT_EQ(found.read_faults, 1u);
}

TEST(timed_minipages, each_moves_by_itself_in_fine_views_and_all_of_a_page_together_in_the_natural_one) {
  const prices p = distinct_prices();
  const outcome fine = minipage_readers(p, [](node& me) { me.read(0, 0, page); });
  EXPECT_EQ(fine.time, 16 * read_fault(p, 256));
  EXPECT_EQ(fine.read_faults, 16u);
  const outcome natural = minipage_readers(p, [](node& me) { me.read_natural(0, 0, page); });
  EXPECT_LT(natural.time, read_fault(p, 256) + 16 * service(p, 256)) << "requests do not wait for each other's answers";
}

TEST(timed_locks, one_holds_it_and_the_next_waits) {
  constexpr time_ns held = 5'000'000;
  const auto mutex = std::make_shared<std::uint64_t>(0);
  pattern what;
  what.regions = {{page, page}};
  what.thread_of = [mutex](unsigned number) {
    return [=](node& me) {
      if (number == 0) *mutex = me.make_mutex();
      me.barrier();
      me.begin_measuring();
      me.lock(*mutex);
      me.compute(held);
      me.unlock(*mutex);
      me.end_measuring();
      me.barrier();
    };
  };
  const outcome found = run_job(nodes_at(3, false, prices{}), what);
  EXPECT_GE(found.time, 3 * held);
  EXPECT_LT(found.time, 3 * held + 100'000);
}

TEST(timed_polling, who_computes_answers_late_and_who_waits_does_not) {
  for (const bool computes : {false, true}) {
    pattern what;
    what.regions = {{.bytes = page, .home = 0}};
    what.thread_of = [computes](unsigned number) {
      return [=](node& me) {
        if (number == 0) me.write(0, 0, 8);
        me.barrier();
        if (number == 0 && computes) me.compute(50'000'000);
        if (number == 1) {
          me.begin_measuring();
          me.read(0, 0, 8);
          me.end_measuring();
        }
        me.barrier();
      };
    };
    prices p;
    p.spin_ns = 1'000'000'000;
    const time_ns at_once = run_job(nodes_at(2, false, p), what).time;
    p.poll_ns = 500'000;
    EXPECT_EQ(run_job(nodes_at(2, false, p), what).time, at_once + (computes ? p.poll_ns : 0)) << computes;
  }
}

// ---- Work

/// Node 0 writes a page for a millisecond, from its first word to its last. Node 1 reads the page after a third of it,
/// and again at the end.
void write_while_another_reads(node& me, unsigned number) {
  me.make_team();
  me.wait();
  if (number == 0) me.write(0, 0, page);
  me.wait();
  me.begin_measuring();
  if (number == 0) me.work(1'000'000, {{.first = 0, .bytes = page, .want = quire::model::access::write}});
  if (number == 1) me.compute(300'000);
  if (number == 1) me.read(0, 0, 8);
  me.end_measuring();
}

TEST(timed_work, a_unit_that_is_lost_in_the_middle_is_missed_at_the_next_word) {
  pattern p;
  p.regions = {{16 * page, page}};
  p.thread_of = [](unsigned number) { return [number](node& me) { write_while_another_reads(me, number); }; };
  const outcome found = run_job(nodes_at(2, false, prices{}), p);
  EXPECT_EQ(found.read_faults, 1u);
  EXPECT_EQ(found.write_faults, 1u) << "node 0 has only a copy from then on, and has to take node 1's away";
  EXPECT_GT(found.time, 1'000'000u + 2'200) << "it waited for that, and computed as long as before";
}

// ---- Cores

/// When the last of two nodes has computed for 20 ms, which they begin at about the same time.
time_ns time_of_two(unsigned cores, double unevenness = 0, std::uint64_t seed = 1) {
  pattern p;
  p.regions = {{16 * page, page}};
  p.thread_of = [](unsigned) {
    return [](node& me) {
      me.make_team();
      me.begin_measuring();
      me.compute(20'000'000);
      me.end_measuring();
    };
  };
  node_options o = nodes_at(2, false, prices{});
  o.cores = cores;
  o.unevenness = unevenness;
  o.seed = seed;
  return run_job(o, p).time;
}

TEST(timed_cores, threads_of_one_core_take_turns) {
  EXPECT_EQ(time_of_two(0), 20'000'000u);
  EXPECT_EQ(time_of_two(2), 20'000'000u);
  EXPECT_GT(time_of_two(1), 39'900'000u) << "the other one goes on after each slice";
  EXPECT_LT(time_of_two(1), 40'100'000u);
}

TEST(timed_cores, a_node_that_serves_takes_the_time_from_one_that_computes) {
  // Node 1 reads 8 pages of node 0, one after the other. Each read takes what node 0 works for it, and a look for more.
  pattern p;
  p.regions = {{16 * page, page}};
  p.thread_of = [](unsigned number) {
    return [number](node& me) {
      if (number == 0) me.write(0, 0, 8 * page);
      me.barrier();
      if (number == 0) me.begin_measuring();
      if (number == 0) me.compute(20'000'000);
      for (unsigned i = 0; number == 1 && i < 8; ++i) me.read(0, i * page, 8), me.compute(1'000'000);
      if (number == 0) me.end_measuring();
      me.barrier();
    };
  };
  node_options o = nodes_at(2, false, prices{});
  EXPECT_EQ(run_job(o, p).time, 20'000'000u);
  o.cores = 1;
  EXPECT_GT(run_job(o, p).time, 28'000'000u);
  o.cores = 2;
  o.costs.spin_ns = 0;
  const time_ns found = run_job(o, p).time;
  EXPECT_LT(found, 20'000'000u + 8 * (o.costs.steal_ns + 10'000)) << "a core was free while node 1 waited";
}

TEST(timed_cores, uneven_threads_stay_within_what_was_said) {
  std::vector<time_ns> seen;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) seen.push_back(time_of_two(0, 0.1, seed));
  const auto [least, most] = std::ranges::minmax(seen);
  EXPECT_GE(least, 18'000'000u);
  EXPECT_LE(most, 22'000'000u);
  EXPECT_LT(least, most);
  EXPECT_EQ(time_of_two(0, 0.1, 7), seen[6]);
}

// ---- A diff

void write_a_word(node& me, unsigned number) {
  if (number == 0) me.write(0, 0, page);
  me.barrier();
  me.begin_measuring();
  if (number == 1) me.write(0, 64, 8);
  me.barrier();
  me.end_measuring();
}

TEST(timed_release, a_diff_has_the_size_of_its_encoding) {
  pattern p;
  p.regions = {{2 * page, page}};
  p.thread_of = [](unsigned number) { return [number](node& me) { write_a_word(me, number); }; };
  const outcome found = run_job(nodes_at(2, true, prices{}), p);
  const std::uint64_t fetch = header + header + page;
  // An entry of 16 bytes; the diff itself: header 4, mask 8, the word 8, padded to 8; then the acknowledgement.
  const std::uint64_t diff = header + 16 + 24 + header;
  // Node 1 tells node 0 of its notice: flags, writer, region, interval, first, count. Node 0 has nothing to tell, but
  // gives the only writer the home. And the barrier.
  const std::uint64_t end = header + 6 + header + 2 * header;
  EXPECT_EQ(found.messages, 8u);
  EXPECT_EQ(found.bytes, fetch + diff + end);
}

// ---- SOR

/// Messages of so many iterations, once all goes its way: no hints, no read-ahead, one row a page.
std::uint64_t messages_of_sor(unsigned nodes, bool relaxed, unsigned iterations, bool updates = false) {
  sor_shape shape;
  shape.size = 512;
  shape.hints = false;
  const auto run = [&](unsigned n) {
    shape.iterations = n;
    node_options o = nodes_at(nodes, relaxed, prices{});
    o.updates = updates;
    return run_job(o, sor(shape, nodes)).messages;
  };
  return run(4 + iterations) - run(4);
}

// For each border in each half sweep: the node above reads the first row below, and the node below the last row above:
// request, reply. Both write their row, of which the other has a copy: invalidation, acknowledgement. And the barrier:
// up and down.
TEST(timed_sor, messages_under_sequential_consistency) {
  EXPECT_EQ(messages_of_sor(2, false, 5), 10u * (8 + 2));
  EXPECT_EQ(messages_of_sor(4, false, 5), 10u * (3 * 8 + 3 * 2));
}

// Two half sweeps, for each border: the node below reads the last row above twice, which is written at the end of each
// half sweep: two requests, two replies. The node above reads the first row below once: in every other half sweep the
// copy from the one before is good enough, as its home writes early, and nobody has told yet: request, reply. So the
// last row is noticed in each half sweep, the first row in every other.
TEST(timed_sor, messages_under_release_consistency) {
  // Notices: node 0 tells node 1 in both half sweeps, node 1 tells node 0 in one.
  EXPECT_EQ(messages_of_sor(2, true, 5), 5u * (6 + 3 + 2 * 2));
  // Nodes 1 and 2 have last rows and tell node 0 in both, node 3 in one; node 0 tells all three in both.
  EXPECT_EQ(messages_of_sor(4, true, 5), 5u * (3 * 6 + (2 + 2 + 1) + 2 * 3 + 2 * 3 * 2));
}

/// An update is one message where a request and its reply are two.
TEST(timed_sor, updates_save_messages) {
  for (const unsigned nodes : {2u, 4u}) {
    EXPECT_LT(messages_of_sor(nodes, true, 50, true), messages_of_sor(nodes, true, 50)) << nodes;
  }
}

// ---- EP

// An array of twelve values: a round of the group, and then a piece up and a piece down. And the barriers of the crew
// and of its team.
TEST(timed_ep, an_array_goes_up_and_down_by_itself) {
  for (const unsigned nodes : {2u, 4u}) {
    const outcome found = run_job(nodes_at(nodes, false, prices{}), ep({.batches = 8}, nodes));
    const std::uint64_t edges = nodes - 1;
    EXPECT_EQ(found.messages, edges * 2 * (2 + 1 + 1));
    EXPECT_EQ(found.bytes, edges * 2 * (4 * header + 12 * sizeof(double)));
  }
}

// ---- Whole patterns

struct application {
  const char* name;
  std::function<pattern(unsigned nodes)> on;
};
const application applications[] = {
    {"sor", [](unsigned nodes) { return sor({.size = 512, .iterations = 2}, nodes); }},
    {"cg", [](unsigned nodes) { return cg({.rows = 2000, .row_elements = 50, .steps = 5}, nodes); }},
    {"md", [](unsigned nodes) { return md({.particles = 512, .steps = 2}, nodes); }},
    {"helmholtz", [](unsigned nodes) { return helmholtz({.rows = 200, .columns = 200, .iterations = 3}, nodes); }},
    {"ep", [](unsigned nodes) { return ep({.batches = 100}, nodes); }},
    {"raytracer", [](unsigned nodes) { return raytracer({.width = 256, .height = 192}, nodes); }},
};

/// A collective has a message up and one down for each node but one; a region is two of them.
TEST(timed_openmp, constructs_send_what_their_collectives_do) {
  using construct = openmp_shape::construct;
  for (const unsigned nodes : {2u, 3u, 17u}) {
    const auto messages = [&](construct what) {
      node_options o;
      o.nodes = nodes;
      return run_job(o, openmp({what, 10})).messages / 10;
    };
    const std::uint64_t collective = 2 * (nodes - 1);
    EXPECT_EQ(messages(construct::barrier), collective);
    EXPECT_EQ(messages(construct::region), 2 * collective);
    EXPECT_EQ(messages(construct::sum_by_messages), 3 * collective);
    EXPECT_GE(messages(construct::sum_by_memory), 2 * collective + nodes);
  }
}

TEST(timed_patterns, both_protocols_end_on_64_nodes) {
  for (const auto& a : applications) {
    for (const bool relaxed : {false, true}) {
      node_options o = nodes_at(64, relaxed, preset("ib"));
      o.read_ahead = true;
      const outcome found = run_job(o, a.on(o.nodes));
      EXPECT_GT(found.time, 0u) << a.name;
      EXPECT_GT(found.messages, 2u * 63) << a.name;
      EXPECT_GT(found.bytes, found.messages * header) << a.name;
    }
  }
}

TEST(timed_patterns, there_may_be_more_nodes_than_rows) {
  for (const bool relaxed : {false, true}) {
    EXPECT_GT(run_job(nodes_at(40, relaxed, prices{}), md({.particles = 25}, 40)).messages, 0u);
    EXPECT_GT(run_job(nodes_at(40, relaxed, prices{}), sor({.size = 25}, 40)).messages, 0u);
  }
}

TEST(timed_patterns, the_same_input_gives_the_same_result) {
  for (const auto& a : applications) {
    for (const bool relaxed : {false, true}) {
      const node_options o = nodes_at(17, relaxed, preset("tcp"));
      EXPECT_EQ(run_job(o, a.on(17)), run_job(o, a.on(17))) << a.name;
    }
  }
}

TEST(timed_patterns, a_node_alone_does_nothing_but_compute) {
  for (const bool relaxed : {false, true}) {
    const node_options o = nodes_at(1, relaxed, prices{});
    EXPECT_EQ(run_job(o, sor({.size = 512, .iterations = 2, .cell_ns = 4}, 1)).time, 4u * 510 * (4 * 255));
    EXPECT_EQ(run_job(o, md({.particles = 512, .steps = 2, .pair_ns = 3 * 8}, 1)).time, 3u * 512 * (512 * 3 * 8));
    for (const auto& a : applications) EXPECT_EQ(run_job(o, a.on(1)).messages, 0u) << a.name;
  }
}

TEST(timed_patterns, free_messages_give_the_ideal_speed_up) {
  prices nothing{};
  for (const price_option& p : price_options()) nothing.*p.value = 0;
  for (const bool relaxed : {false, true}) {
    const sor_shape shape{.size = 1024, .iterations = 2, .cell_ns = 4};
    const time_ns alone = run_job(nodes_at(1, relaxed, nothing), sor(shape, 1)).time;
    const time_ns together = run_job(nodes_at(8, relaxed, nothing), sor(shape, 8)).time;
    // The first and the last row of the grid are not computed: those in the middle have a row more than the mean.
    EXPECT_EQ(together * 1022, alone * 128);
  }
}

TEST(timed_prices, presets_are_known_by_name) {
  for (const char* name : preset_names) EXPECT_GT(preset(name).latency_ns, 0u) << name;
  EXPECT_THROW((void)preset("pigeon"), std::invalid_argument);
}

}  // namespace
}  // namespace quire::timed::timed_test
