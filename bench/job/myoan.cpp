// SPDX-License-Identifier: BSD-3-Clause
// quire_myoan: Table 1 of MYOAN (Cabillic, Priol and Puaut), its six cases, with the messages of each. Start it on
// three nodes for cases 1 to 5, on 33 for case 6 (32 replicas). For each case the time of a fault, in microseconds, and
// the messages that all nodes send for it; what the counting itself sends is taken off.
#include <chrono>

#include <quire/quire.hpp>

#include "common/job.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"

namespace {

constexpr std::size_t page = 4096, page_words = page / sizeof(std::uint64_t);

struct table_case {
  const char* name;
  int faulting, manager, owner;  ///< nodes; owner -1: the page was never used
  bool write;
  bool replicas;  ///< everybody else has read the page
};
constexpr table_case cases[] = {
    {"1_write_created_on_managers_node", 0, 0, -1, true, false},
    {"2_write_created_elsewhere", 1, 0, -1, true, false},
    {"3_write_remote_owner_is_manager", 1, 0, 0, true, false},
    {"4_write_remote_owner_elsewhere", 1, 0, 2, true, false},
    {"5_read_remote_owner_elsewhere", 1, 0, 2, false, false},
    {"6_write_to_a_copy_of_many", 1, 0, 0, true, true},
};

void meet() { quire::barrier{}.arrive_and_wait(); }

/// Messages that all nodes have sent so far.
std::int64_t messages() {
  meet();
  auto sent = static_cast<std::int64_t>(quire::counters().messages_sent);
  return quire::all_reduce(sent, quire::operation::sum);
}

/// Messages for the faults of all pages, and what one took.
void measure(const quire::session& job, const table_case& c, std::uint64_t pages, bool only_counting, double& sent,
             bench::samples* times) {
  const auto all = quire::from_node(0, [&] {
    return quire::region::create(pages * page, {.place = quire::placement::node, .home = c.manager})
        .span<std::uint64_t>();
  });
  const auto word = [&](std::uint64_t p) -> volatile std::uint64_t& { return all[p * page_words]; };
  if (c.owner == job.node()) {
    for (std::uint64_t p = 0; p < pages; ++p) word(p) = p;
  }
  meet();
  std::uint64_t sum = 0;
  if (c.replicas && job.node() != c.owner) {
    for (std::uint64_t p = 0; p < pages; ++p) sum += word(p);
  }
  meet();
  const auto before = messages();
  if (job.node() == c.faulting && !only_counting) {
    for (std::uint64_t p = 0; p < pages; ++p) {
      times->time([&] {
        if (c.write) {
          word(p) = 1;
        } else {
          sum += word(p);
        }
      });
    }
  }
  meet();
  sent = static_cast<double>(messages() - before);
  if (c.owner < 0 && sum != 0) throw std::runtime_error("a page that was never written has content");
}

void run(std::uint64_t pages) {
  const quire::session job;
  if (job.nodes() < 3) throw std::runtime_error("this needs 3 nodes or more: quire run -n 3");
  for (const auto& c : cases) {
    if (c.replicas != (job.nodes() > 3)) continue;
    double with = 0, without = 0;
    bench::samples times(c.name, "us");
    measure(job, c, pages, true, without, nullptr);
    measure(job, c, pages, false, with, &times);
    bench::samples messages(std::string("messages_") + c.name, "messages");
    messages.add((with - without) / static_cast<double>(pages));
    if (job.node() != c.faulting) continue;
    times.print();
    messages.print();
  }
  meet();
}

}  // namespace

int main(int argc, char** argv) {
  bench::program program(
      "MYOAN's Table 1; start it with `quire run -n 3 --set read_ahead=0`, and -n 33 for its last case.");
  std::uint64_t pages = 200;
  program.add_number("--pages", pages, 1, 100000, "faults of each case; MYOAN: 200");
  return program.run(argc, argv, [&] { run(pages); });
}
