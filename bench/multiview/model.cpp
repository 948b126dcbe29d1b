// SPDX-License-Identifier: BSD-3-Clause
// multiview_model: Millipage's applications and basic costs on 1 to 8 nodes in virtual time, by the real protocols: at
// the prices of this machine's network (sim/timed/prices.cpp), or at those that the paper has published. Prints a line
// of JSON for each number of nodes.
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "common/program.hpp"
#include "multiview/patterns.hpp"

namespace {

using namespace bench::multiview;
using timed::node_options;
using timed::outcome;
using timed::pattern;
using timed::prices;
using timed::run_job;
using timed::time_ns;

struct settings {
  std::string application = "costs", sharing = "pages", prices = "shm";
  std::uint64_t nodes = 8, chunk = 1, serial_us = 1'000'000, size = 512, rounds = 10;
  bool polling = false;
};

// ---- Prices
// ------------------------------------------------------------------------------------------------------------

/// What is published of Millipage: Table 1, and the fetches of section 4.2.
namespace published {
constexpr time_ns access_fault = 26'000, set_protection = 12'000, header_message = 12'000, lookup = 7'000;
constexpr time_ns message_512 = 22'000, message_4096 = 90'000;
constexpr time_ns read_128 = 204'000, read_4096 = 314'000;
constexpr time_ns slow_response = 500'000;  ///< of a node that computes (section 4.3.1)
}  // namespace published

time_ns fetch_time(const prices& p, std::uint64_t bytes) {
  node_options o;
  o.nodes = 2;
  o.costs = p;
  o.read_ahead = false;
  return run_job(o, fetches(bytes, false, 0)).time / repetitions;
}

/// A message's price is its header's, half at each end, and a rate; each message that arrives is looked up. What the
/// published fetches take beyond these is the way back of the thread, and copying where content arrives.
prices paper() {
  prices p;
  p.latency_ns = 0;
  p.send_ns = published::header_message / 2;
  p.receive_ns = published::header_message / 2 + published::lookup;
  p.link_mbs = (4096 - 512) * 1000 / (published::message_4096 - published::message_512);
  p.copy_out_mbs = p.copy_in_mbs = 0;
  p.spin_ns = p.wake_ns = 0;
  p.fault_ns = published::access_fault;
  p.permit_ns = p.protect_ns = published::set_protection;
  p.permit_page_ns = p.protect_page_ns = 0;
  p.resume_ns = 0;
  const time_ns grows = published::read_4096 - published::read_128, link = fetch_time(p, 4096) - fetch_time(p, 128);
  if (grows > link) p.copy_in_mbs = (4096 - 128) * 1000 / (grows - link);
  if (const time_ns took = fetch_time(p, 128); published::read_128 > took) p.resume_ns = published::read_128 - took;
  return p;
}

// ---- Runs
// --------------------------------------------------------------------------------------------------------------

workload load_of(const settings& wanted) {
  return {.how = {.minipages = wanted.sharing != "pages",
                  .chunk = static_cast<unsigned>(wanted.chunk),
                  .composed = wanted.sharing == "composed"},
          .serial_ns = wanted.serial_us * 1000,
          .size = wanted.size,
          .rounds = static_cast<unsigned>(wanted.rounds)};
}

pattern pattern_of(const settings& wanted, unsigned nodes) {
  const workload load = load_of(wanted);
  if (wanted.application == "water") return water(load, nodes);
  if (wanted.application == "lu") return lu(load, nodes);
  if (wanted.application == "is") return is(load, nodes);
  if (wanted.application == "sor") return sor(load, nodes);
  return tsp(load, nodes);
}

void run_application(const settings& wanted, node_options& options) {
  for (options.nodes = 1; options.nodes <= wanted.nodes; options.nodes *= 2) {
    const outcome found = run_job(options, pattern_of(wanted, options.nodes));
    const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
    std::printf(
        "{\"nodes\": %u, \"time_s\": %.9f, \"messages\": %llu, \"bytes\": %llu, \"read_faults\": %llu, "
        "\"write_faults\": %llu",
        options.nodes, static_cast<double>(found.time) * 1e-9, number(found.messages), number(found.bytes),
        number(found.read_faults), number(found.write_faults));
    for (std::size_t i = 0; i < found.counters.size(); ++i) {
      const std::string name = quire::core::counter_table[i].name;
      if (name == "competing_requests" || name == "locks" || name == "barriers")
        std::printf(", \"%s\": %llu", name.c_str(), number(found.counters[i]));
    }
    std::printf("}\n");
    std::fflush(stdout);
  }
}

void run_costs(const settings& wanted, node_options& options) {
  options.read_ahead = false;
  const auto tell = [&](const std::string& name, unsigned nodes, const pattern& what) {
    options.nodes = nodes;
    std::printf("{\"name\": \"%s\", \"us\": %.3f}\n", name.c_str(),
                static_cast<double>(run_job(options, what).time) / repetitions / 1000);
  };
  const auto most = static_cast<unsigned>(wanted.nodes);
  for (const std::uint64_t bytes : {std::uint64_t{128}, timed::page_bytes}) {
    const std::string unit = std::to_string(bytes);
    tell("read " + unit, 2, fetches(bytes, false, 0));
    for (unsigned copies = 0; copies + 2 <= most; ++copies)
      tell("write " + unit + " " + std::to_string(copies), copies + 2, fetches(bytes, true, copies));
  }
  for (unsigned nodes = 1; nodes <= most; ++nodes) tell("barrier " + std::to_string(nodes), nodes, barriers());
  tell("lock", 2, locks());
}

void run(const settings& wanted) {
  node_options options;
  options.costs = wanted.prices == "paper" ? paper() : timed::preset(wanted.prices);
  if (wanted.polling) options.costs.poll_ns = published::slow_response;
  wanted.application == "costs" ? run_costs(wanted, options) : run_application(wanted, options);
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here("Millipage's applications and basic costs, in virtual time.");
  here.add_choice("--app", wanted.application, {"costs", "water", "lu", "is", "sor", "tsp"}, "what runs");
  here.add_choice("--sharing", wanted.sharing, {"pages", "minipages", "composed"}, "units");
  here.add_choice("--prices", wanted.prices, {"shm", "tcp", "paper"},
                  "this machine's by shared memory or TCP, or the published ones");
  here.add_flag("--polling", wanted.polling, "a node that computes looks at messages 500 us late, as published");
  here.add_number("--nodes", wanted.nodes, 1, 64, "the most nodes");
  here.add_number("--chunk", wanted.chunk, 1, molecules_a_page, "elements in a minipage");
  here.add_number("--serial-us", wanted.serial_us, 1, 100'000'000'000, "computing time of the serial program");
  here.add_number("--size", wanted.size, 1, 1 << 24, "molecules, rows, columns of the matrix, values or tours");
  here.add_number("--rounds", wanted.rounds, 1, 1000, "steps or iterations");
  return here.run(argc, argv, [&] { run(wanted); });
}
