// SPDX-License-Identifier: BSD-3-Clause
// multiview_sharing: what minipages spare, and what they cost in loops over all of them. Start it on two nodes.
//   counters: each node adds to its own of two counters, 64 bytes apart: in private memory, in minipages, and in a page
//   that is a unit. sweep: node 1 reads what node 0 has written: a word of each page, of each minipage of 256 bytes,
//   and of each page of these in the natural view.
#include <quire/quire.hpp>

#include <array>

#include "common/job.hpp"
#include "common/order.hpp"
#include "common/program.hpp"
#include "common/ratio.hpp"
#include "common/samples.hpp"

namespace {

struct settings {
  std::uint64_t increments = 1'000'000;
  std::uint64_t mebibytes = 16;
  std::uint64_t rounds = 7;
};

// ---- Counters
// ----------------------------------------------------------------------------------------------------------

using counter = volatile std::uint64_t;
constexpr std::size_t apart = 64, sweep_minipage = 256;

[[nodiscard]] std::byte* fine(std::byte* natural) {
  void* at = nullptr;
  if (quire_view(natural, QUIRE_FINE, &at) != QUIRE_OK) throw std::runtime_error("a minipage has no view");
  return static_cast<std::byte*>(at);
}

[[gnu::noinline]] void count_up(counter* c, std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) *c = *c + 1;
}

struct cost {
  double ns = 0;  ///< an increment
  double messages = 0;
};

/// Both nodes at once. First each sets the other's counter to zero, so that a fault brings its own; private ones it
/// sets itself. Messages: what nodes send from their first increment to their last.
cost measure_counter(counter* c, counter* to_reset, std::uint64_t times) {
  *to_reset = 0;
  quire::barrier{}.arrive_and_wait();
  const auto before = quire::counters().messages_sent;
  const auto start = bench::now_ns();
  count_up(c, times);
  const auto took = bench::now_ns() - start;
  const auto sent = static_cast<double>(quire::counters().messages_sent - before);
  if (*c != times) throw std::runtime_error("increments were lost");
  return {static_cast<double>(took) / static_cast<double>(times), quire::all_reduce(sent, quire::operation::sum)};
}

void measure_counters(const quire::session& job, const settings& wanted) {
  const auto minipages =
      quire::from_node(0, [] { return quire::region::create(bench::page_bytes, {.minipage_bytes = apart}); });
  const auto page = quire::from_node(0, [] { return quire::region::create(bench::page_bytes); });
  // Of this node, and of the other one.
  const std::size_t mine = static_cast<std::size_t>(job.node()) * apart, others = apart - mine;
  alignas(bench::page_bytes) static std::array<std::byte, bench::page_bytes> own_page;
  const auto counter_at = [](std::byte* at) { return reinterpret_cast<counter*>(at); };
  counter *const own = counter_at(own_page.data() + mine),
                 *const unit = counter_at(fine(minipages.bytes().data() + mine)),
                 *const falsely = counter_at(page.bytes().data() + mine);
  counter *const unit_other = counter_at(fine(minipages.bytes().data() + others)), *const falsely_other = counter_at(
                                                                                       page.bytes().data() + others);

  bench::samples plain("counter private", "ns"), split("counter minipages", "ns"), together("counter page", "ns");
  bench::samples messages("counter minipages messages", "messages"),
      false_messages("counter page messages", "messages");
  bench::ratio ratio("counter", "of private");
  for (std::uint64_t round = 0; round < wanted.rounds; ++round) {
    const cost in_private = measure_counter(own, own, wanted.increments);
    const cost in_minipages = measure_counter(unit, unit_other, wanted.increments);
    const cost in_page = measure_counter(falsely, falsely_other, wanted.increments);
    plain.add(in_private.ns);
    split.add(in_minipages.ns);
    together.add(in_page.ns);
    ratio.add(in_minipages.ns, in_private.ns);
    messages.add(in_minipages.messages);
    false_messages.add(in_page.messages);
  }
  if (job.node() == 1) {
    for (const auto* const s : {&plain, &split, &together, &messages, &false_messages}) s->print();
    ratio.print();
  }
  quire::barrier{}.arrive_and_wait();
}

// ---- Sweeps
// ------------------------------------------------------------------------------------------------------------

/// Words of a sweep, in order.
using places = std::vector<const volatile std::uint64_t*>;

struct sweep_cost {
  double rate = 0;      ///< MB/s
  double messages = 0;  ///< that the reader sends, a page
};

[[gnu::noinline]] sweep_cost sweep(const places& all, std::size_t bytes, std::uint64_t expected) {
  const auto before = quire::counters().messages_sent;
  const auto start = bench::now_ns();
  std::uint64_t wrong = 0;
  for (const auto* const word : all) wrong += *word != expected;
  const auto took = bench::now_ns() - start;
  if (wrong != 0) throw std::runtime_error("the memory has an old content");
  const auto sent = static_cast<double>(quire::counters().messages_sent - before);
  return {static_cast<double>(bytes) * 1000 / static_cast<double>(took),
          sent * bench::page_bytes / static_cast<double>(bytes)};
}

void measure_sweeps(const quire::session& job, const settings& wanted) {
  const std::size_t bytes = wanted.mebibytes << 20;
  const auto make = [&](std::size_t minipage) {
    return quire::from_node(0, [&] {
      return quire::region::create(bytes, {.place = quire::placement::node, .home = 0, .minipage_bytes = minipage});
    });
  };
  const auto pages = make(0), fine_region = make(sweep_minipage), natural_region = make(sweep_minipage);
  const auto word_at = [](std::byte* at) { return reinterpret_cast<const volatile std::uint64_t*>(at); };
  std::array<places, 3> all;
  for (std::size_t at = 0; at < bytes; at += sweep_minipage)
    all[1].push_back(word_at(fine(fine_region.bytes().data() + at)));
  for (std::size_t at = 0; at < bytes; at += bench::page_bytes) {
    all[0].push_back(word_at(pages.bytes().data() + at));
    all[2].push_back(word_at(natural_region.bytes().data() + at));
  }
  std::array<bench::samples, 3> rates{
      {{"sweep pages", "MB/s"}, {"sweep minipages", "MB/s"}, {"sweep natural", "MB/s"}}};
  std::array<bench::samples, 3> messages{{{"sweep pages messages", "a page"},
                                          {"sweep minipages messages", "a page"},
                                          {"sweep natural messages", "a page"}}};
  std::array<bench::ratio, 2> ratios{{{"sweep minipages", "of pages"}, {"sweep natural", "of pages"}}};  // of rates
  for (std::uint64_t round = 0; round <= wanted.rounds; ++round) {
    if (job.node() == 0)
      for (const auto& r : {pages, fine_region, natural_region}) {
        const auto words = r.span<std::uint64_t>();
        for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); i += sweep_minipage / sizeof(std::uint64_t))
          words[i] = round + 1;
      }
    std::array<sweep_cost, 3> found{};
    for (std::size_t which = 0; which < all.size(); ++which) {
      quire::barrier{}.arrive_and_wait();
      if (job.node() == 1) found[which] = sweep(all[which], bytes, round + 1);
      if (round == 0) continue;  // it makes frames
      rates[which].add(found[which].rate);
      messages[which].add(found[which].messages);
    }
    quire::barrier{}.arrive_and_wait();
    if (round == 0 || job.node() == 0) continue;
    for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i].add(1 / found[0].rate, 1 / found[i + 1].rate);
  }
  if (job.node() != 1) return;
  for (const auto& r : rates) r.print();
  for (const auto& m : messages) m.print();
  for (auto& r : ratios) r.print();
}

void run(const settings& wanted) {
  const quire::session job;
  bench::expect_nodes(job, 2);
  measure_counters(job, wanted);
  measure_sweeps(job, wanted);
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here(
      "False sharing without and with minipages, and sweeps over them. Start it as `quire run -n 2 "
      "multiview_sharing`.");
  here.add_number("--increments", wanted.increments, 1, 1'000'000'000, "of each counter, in a round");
  here.add_number("--mebibytes", wanted.mebibytes, 1, 1 << 10, "of a sweep");
  here.add_number("--rounds", wanted.rounds, 1, 1000, "rounds");
  return here.run(argc, argv, [&] { run(wanted); });
}
