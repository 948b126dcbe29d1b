// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "advice.hpp"
#include "core/host.hpp"
#include "core/unit_waiters.hpp"
#include "top/view.hpp"

namespace quire::tools::top {
namespace {

using json_value = nlohmann::json;
using bootstrap::launcher::job_view;

constexpr double ns = 1e-9;

/// A flat object of numbers; anything else is an empty one.
json_value counters_of(const job_view::node& n) {
  json_value all = json_value::parse(n.counters, nullptr, false);
  return all.is_object() ? all : json_value::object();
}
std::uint64_t number(const json_value& of, const char* name) {
  const auto at = of.find(name);
  return at != of.end() && at->is_number_unsigned() ? at->get<std::uint64_t>() : 0;
}

std::optional<rates> between(const json_value& before, const json_value& now) {
  const double seconds =
      (static_cast<double>(number(now, "now_ns")) - static_cast<double>(number(before, "now_ns"))) * ns;
  if (before.empty() || now.empty() || seconds <= 0) return std::nullopt;
  const auto a_second = [&](std::initializer_list<const char*> names) {
    double more = 0;
    for (const char* const name : names)
      more += static_cast<double>(number(now, name)) - static_cast<double>(number(before, name));
    return std::max(0.0, more) / seconds;
  };
  return rates{.cores = a_second({"cpu_ns"}) * ns,
               .faults = a_second({"read_faults", "write_faults", "upgrade_faults"}),
               .fault_wait = a_second({"fault_ns"}) * ns,
               .lock_wait = a_second({"lock_ns"}) * ns,
               .barrier_wait = a_second({"barrier_ns"}) * ns,
               .sent_bytes = a_second({"bytes_sent"}),
               .received_bytes = a_second({"bytes_received"}),
               .messages = a_second({"messages_sent"})};
}

rates sum_of(const picture& of) {
  rates all;
  for (const node_view& n : of.nodes) {
    if (!n.second) continue;
    all.cores += n.second->cores;
    all.faults += n.second->faults;
    all.fault_wait += n.second->fault_wait;
    all.lock_wait += n.second->lock_wait;
    all.barrier_wait += n.second->barrier_wait;
    all.sent_bytes += n.second->sent_bytes;
    all.received_bytes += n.second->received_bytes;
    all.messages += n.second->messages;
  }
  return all;
}

std::string size_a_second(double bytes) { return size_text(static_cast<std::uint64_t>(bytes)); }

std::string rates_text(const rates& r) {
  return fmt::format("{:6.2f} {:9.0f} {:7.2f} {:7.2f} {:7.2f} {:>11} {:>11} {:9.0f}", r.cores, r.faults, r.fault_wait,
                     r.lock_wait, r.barrier_wait, size_a_second(r.sent_bytes), size_a_second(r.received_bytes),
                     r.messages);
}
constexpr std::string_view no_rates = "     -         -       -       -       -           -           -         -";

std::string row(const node_view& n, std::size_t number) {
  const std::string state = n.state == "runs" ? fmt::format("{:8}", n.waiting) : fmt::format("{:>8}", "-");
  const std::string note = n.state == "runs" ? "" : "  " + n.state;
  return fmt::format("{:5} {:10.10} {} {}{}", number, n.host.empty() ? "here" : n.host, state,
                     n.second ? rates_text(*n.second) : std::string(no_rates), note);
}

json_value json_of(const rates& r) {
  return {{"cores", r.cores},
          {"faults", r.faults},
          {"fault_wait", r.fault_wait},
          {"lock_wait", r.lock_wait},
          {"barrier_wait", r.barrier_wait},
          {"sent_bytes", r.sent_bytes},
          {"received_bytes", r.received_bytes},
          {"messages", r.messages}};
}

}  // namespace

std::string for_terminal(const std::string& text, std::size_t most) {
  std::string shown;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xc0) == 0x80;
    if (shown.size() < most && !continues) shown += c >= ' ' && c < '\x7f' ? c : '?';
  }
  return shown;
}

picture compare(const job_view& before, const job_view& now) {
  picture of{now.command, now.seconds, {}};
  for (std::size_t i = 0; i < now.nodes.size(); ++i) {
    const json_value mine = counters_of(now.nodes[i]);
    const json_value last = i < before.nodes.size() ? counters_of(before.nodes[i]) : json_value::object();
    of.nodes.push_back({now.nodes[i].host, now.nodes[i].state, mine.empty() ? "" : now.nodes[i].counters,
                        number(mine, "waiting"), between(last, mine)});
  }
  return of;
}

std::vector<std::string> lines(const picture& of, const std::string& title, const screen& on) {
  constexpr std::size_t head = 4;  // title, names, sums, and the last line
  std::vector<std::string> all;
  all.push_back(fmt::format("{}: {} {}, {:.1f} s: {}", title, of.nodes.size(), of.nodes.size() == 1 ? "node" : "nodes",
                            of.seconds, of.command));
  all.push_back(
      " node host        waiting  cores  faults/s   fault    lock barrier      sent/s  received/s     msgs/s");
  const std::size_t room = on.rows > head ? on.rows - head : 1;
  const std::size_t first = std::min(on.first, of.nodes.size() > room ? of.nodes.size() - room : 0);
  for (std::size_t i = first; i < std::min(of.nodes.size(), first + room); ++i) all.push_back(row(of.nodes[i], i));
  std::uint64_t waiting = 0;
  for (const node_view& n : of.nodes) waiting += n.waiting;
  all.push_back(fmt::format("  all            {:8} {}", waiting, rates_text(sum_of(of))));
  if (of.nodes.size() > room)
    all.push_back(fmt::format("nodes {} to {} of {}: arrows scroll", first, first + room - 1, of.nodes.size()));
  for (std::string& line : all) line = for_terminal(line, on.columns);
  if (all.size() > on.rows) all.resize(on.rows);
  return all;
}

std::string json(const picture& of, int pid) {
  json_value all{{"pid", pid}, {"command", of.command}, {"seconds", of.seconds}, {"nodes", json_value::array()}};
  for (std::size_t i = 0; i < of.nodes.size(); ++i) {
    const node_view& n = of.nodes[i];
    json_value counters = json_value::parse(n.counters, nullptr, false);
    all["nodes"].push_back({{"node", i},
                            {"host", n.host},
                            {"state", n.state},
                            {"waiting", n.waiting},
                            {"a_second", n.second ? json_of(*n.second) : json_value()},
                            {"counters", counters.is_discarded() ? json_value() : counters}});
  }
  return all.dump(-1, ' ', true, json_value::error_handler_t::replace);
}

}  // namespace quire::tools::top
