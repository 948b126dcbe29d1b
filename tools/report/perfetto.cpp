// SPDX-License-Identifier: BSD-3-Clause
// The trace event format of chrome://tracing, which Perfetto reads: events of type X, strictly nested. A phase lies
// around the waits in it. Where segments were merged, waits stand one after the other at the end of theirs.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/job.hpp"
#include "report/json_text.hpp"

namespace quire::tools::report {
namespace {

constexpr std::array<const char*, record::waits> names = {"read fault", "write fault", "lock", "barrier", "other wait"};

class event_list {
 public:
  void name(const char* what, std::uint64_t node, std::uint64_t thread, const std::string& text) {
    open();
    text_ += fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"name":{}}}}})", node, thread, what,
                         json_text(text));
  }
  void add(std::uint64_t node, std::uint64_t thread, const std::string& what, std::uint64_t begin_ns,
           std::uint64_t end_ns) {
    if (end_ns <= begin_ns) return;
    const std::uint64_t ns = end_ns - begin_ns;
    open();
    text_ += fmt::format(R"({{"ph":"X","pid":{},"tid":{},"name":{},"ts":{}.{:03},"dur":{}.{:03}}})", node, thread,
                         json_text(what), begin_ns / 1000, begin_ns % 1000, ns / 1000, ns % 1000);
  }
  std::string end() { return text_ + "\n]}\n"; }

 private:
  void open() {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
  }
  std::string text_ = R"({"displayTimeUnit":"ns","traceEvents":[)";
  bool first_ = true;
};

void add_phases(event_list& to, const record::node_record& r, const record::file_thread& t, std::uint64_t shift) {
  std::uint64_t begin = t.begin_ns;
  for (std::size_t i = 0; i < t.segments.size(); ++i) {
    const bool ends = i + 1 == t.segments.size() || t.segments[i + 1].phase != t.segments[i].phase;
    if (!ends) continue;
    if (t.segments[i].phase != 0)
      to.add(r.node, t.number, r.phases[t.segments[i].phase - 1], begin + shift, t.segments[i].end_ns + shift);
    begin = t.segments[i].end_ns;
  }
}

void add_waits(event_list& to, const record::node_record& r, const record::file_thread& t, std::uint64_t shift) {
  std::uint64_t begin = t.begin_ns;
  for (const record::segment& s : t.segments) {
    std::uint64_t end = s.end_ns;
    for (std::size_t kind = record::waits; kind-- > 0;) {
      const std::uint64_t from = end - std::min(end - begin, s.waited_ns[kind]);
      to.add(r.node, t.number, names[kind], from + shift, end + shift);
      end = from;
    }
    begin = s.end_ns;
  }
}

}  // namespace

std::string perfetto(const job& all) {
  event_list events;
  for (const record::node_record& r : all.nodes) {
    events.name("process_name", r.node, 0, fmt::format("node {} on {}", r.node, r.host));
    for (const auto& t : r.threads) {
      events.name("thread_name", r.node, t.number, fmt::format("thread {}", t.number));
      const std::uint64_t shift = shift_of(all, r);
      add_phases(events, r, t, shift);
      add_waits(events, r, t, shift);
    }
  }
  return events.end();
}

}  // namespace quire::tools::report
