// SPDX-License-Identifier: BSD-3-Clause
// The checker of histories: the anomalies of the literature by hand, good histories at random and what is left of them
// when one thing is broken, and small random histories, whose serial orders are tried one after the other.
#include "sim/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "sim/random.hpp"
#include "sim/seeds.hpp"

namespace quire::sim::history::history_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::uint64_t x = 0, y = 1;

operation reads(std::uint64_t variable, std::uint64_t value) { return {variable, value, false}; }
operation writes(std::uint64_t variable, std::uint64_t value) { return {variable, value, true}; }

/// On a node of its own, in [begin, end].
attempt commits(unsigned number, std::uint64_t begin, std::uint64_t published, std::uint64_t end,
                std::vector<operation> what) {
  return {number, number, true, begin, end, published, std::move(what)};
}
attempt aborts(unsigned number, std::uint64_t begin, std::uint64_t end, std::vector<operation> what) {
  return {number, number, false, begin, end, 0, std::move(what)};
}
std::vector<std::string> errors(const std::vector<attempt>& all) { return find_errors(all); }

TEST(history, without_attempts_is_good) { EXPECT_THAT(errors({}), IsEmpty()); }

TEST(history, of_transactions_one_after_the_other_is_good) {
  EXPECT_THAT(errors({commits(1, 0, 1, 2, {reads(x, 0), writes(x, 10), reads(x, 10)}),
                      commits(2, 3, 4, 5, {reads(x, 10), writes(y, 20), writes(x, 21)}),
                      commits(3, 6, 0, 7, {reads(x, 21), reads(y, 20)}),
                      aborts(4, 8, 9, {reads(x, 21), writes(x, 40), reads(x, 40), reads(y, 20)})}),
              IsEmpty());
}

TEST(history, of_transactions_at_the_same_time_may_be_in_either_order) {
  for (const bool first : {false, true}) {
    const std::vector<operation> seen{reads(x, first ? 0 : 10), reads(y, first ? 0 : 11)};
    EXPECT_THAT(errors({commits(1, 0, 5, 9, {writes(x, 10), writes(y, 11)}), commits(2, 1, 0, 8, seen)}), IsEmpty());
  }
}

TEST(history, of_blind_writes_is_good) {
  EXPECT_THAT(
      errors({commits(1, 0, 5, 9, {writes(x, 10), writes(y, 11)}), commits(2, 1, 6, 9, {writes(x, 20), writes(y, 21)}),
              commits(3, 10, 0, 12, {reads(x, 20), reads(y, 21)})}),
      IsEmpty());
}

TEST(history, shows_a_lost_update) {
  const auto found =
      errors({commits(1, 0, 5, 9, {reads(x, 0), writes(x, 10)}), commits(2, 1, 6, 8, {reads(x, 0), writes(x, 20)})});
  EXPECT_THAT(
      found,
      ElementsAre(AllOf(
          StartsWith("G-single: a cycle of 2 attempts\n"),
          HasSubstr("\n  rw: attempt 2 of node 2 reads x0 = 0, which is overwritten with 10 by attempt 1 of node 1"),
          HasSubstr(
              "\n  ww: attempt 1 of node 1 writes x0 = 10, which is overwritten with 20 by attempt 2 of node 2"))));
}

TEST(history, shows_write_skew) {
  EXPECT_THAT(errors({commits(1, 0, 5, 9, {reads(x, 0), reads(y, 0), writes(x, 10)}),
                      commits(2, 1, 6, 8, {reads(x, 0), reads(y, 0), writes(y, 20)})}),
              ElementsAre(StartsWith("G2: a cycle of 2 attempts\n")));
}

TEST(history, shows_read_skew) {
  EXPECT_THAT(
      errors({commits(1, 0, 5, 9, {writes(x, 10), writes(y, 11)}), commits(2, 1, 0, 8, {reads(x, 0), reads(y, 11)})}),
      ElementsAre(
          AllOf(StartsWith("G-single: a cycle of 2 attempts\n"),
                HasSubstr("\n  wr: attempt 1 of node 1 writes x1 = 11, which is read by attempt 2 of node 2"))));
}

TEST(history, shows_a_value_that_changes_under_a_body) {
  EXPECT_THAT(errors({commits(1, 0, 5, 9, {writes(x, 10)}), commits(2, 1, 0, 8, {reads(x, 0), reads(x, 10)})}),
              ElementsAre(StartsWith("G-single: ")));
}

TEST(history, shows_a_long_fork) {
  EXPECT_THAT(
      errors({commits(1, 0, 5, 20, {writes(x, 10)}), commits(2, 1, 6, 20, {writes(y, 20)}),
              commits(3, 2, 0, 20, {reads(x, 10), reads(y, 0)}), commits(4, 3, 0, 20, {reads(x, 0), reads(y, 20)})}),
      ElementsAre(StartsWith("G2: a cycle of 4 attempts\n")));
}

TEST(history, shows_that_two_have_read_what_the_other_wrote) {
  EXPECT_THAT(
      errors({commits(1, 0, 5, 9, {reads(y, 20), writes(x, 10)}), commits(2, 1, 6, 8, {reads(x, 10), writes(y, 20)})}),
      ElementsAre(StartsWith("G1c: a cycle of 2 attempts\n")));
}

TEST(history, shows_a_zombie_that_saw_a_mixture) {
  EXPECT_THAT(
      errors({commits(1, 0, 5, 9, {writes(x, 10), writes(y, 11)}), aborts(2, 1, 8, {reads(x, 0), reads(y, 11)})}),
      ElementsAre(AllOf(StartsWith("G-single: a cycle of 2 attempts, not all of which are committed\n"),
                        HasSubstr("by aborted attempt 2 of node 2"))));
}

/// What an aborted attempt has written is nobody's version: neither its own nor others' reads are in order with it.
TEST(history, ignores_what_aborted_attempts_write) {
  EXPECT_THAT(errors({commits(1, 0, 5, 9, {reads(x, 0), writes(x, 10)}),
                      aborts(2, 1, 8, {reads(x, 0), writes(x, 20), reads(x, 20), writes(y, 21)}),
                      commits(3, 10, 0, 11, {reads(x, 10), reads(y, 0)})}),
              IsEmpty());
}

TEST(history, shows_a_stale_read_by_real_time) {
  const attempt writer = commits(1, 0, 1, 2, {writes(x, 10)});
  EXPECT_THAT(errors({writer, commits(2, 3, 0, 4, {reads(x, 0)})}),
              ElementsAre(AllOf(StartsWith("G-single-realtime: a cycle of 2 attempts\n"),
                                HasSubstr("\n  real time: attempt 1 of node 1 ends before the begin of attempt 2"))));
  EXPECT_THAT(errors({writer, commits(2, 1, 0, 4, {reads(x, 0)})}), IsEmpty()) << "they overlap";
  EXPECT_THAT(errors({writer, aborts(2, 3, 4, {reads(x, 0)})}),
              ElementsAre(HasSubstr("not all of which are committed")));
}

/// Time goes by way of others: 1 ends before 2 begins, which ends before 3 begins.
TEST(history, shows_a_stale_read_after_many_others) {
  std::vector<attempt> all{commits(1, 0, 1, 2, {writes(x, 10)})};
  for (unsigned i = 0; i < 100; ++i) all.push_back(commits(2 + i, 3 + i * 2, 0, 4 + i * 2, {reads(y, 0)}));
  all.push_back(commits(102, 300, 0, 301, {reads(x, 0)}));
  EXPECT_THAT(errors(all), ElementsAre(StartsWith("G-single-realtime: a cycle of 2 attempts\n")));
}

/// Node 2 reads what it has, until it has been told of node 1's commit; a third one that has been told of node 2 only
/// is behind that.
TEST(history, has_stale_reads_of_those_that_have_not_been_told) {
  const auto of = [](std::uint64_t told) {
    std::vector<attempt> all{commits(1, 0, 1, 2, {writes(x, 10)}), commits(2, 4, 0, 5, {reads(x, 0)})};
    all[0].knows = {0, 0, 0, 0};
    all[1].knows = {0, told, 0, 0};
    return all;
  };
  EXPECT_THAT(errors(of(1)), IsEmpty());
  EXPECT_THAT(errors(of(2)), ElementsAre(StartsWith("G-single-realtime: a cycle of 2 attempts\n")));
  std::vector<attempt> all{commits(1, 0, 1, 2, {writes(x, 10)}), commits(2, 3, 0, 5, {reads(x, 10)}),
                           commits(3, 6, 0, 7, {reads(x, 0)})};
  for (attempt& a : all) a.knows = {0, 0, 0, 0};
  EXPECT_THAT(errors(all), IsEmpty());
  all[2].knows[2] = 5;
  EXPECT_THAT(errors(all), ElementsAre(StartsWith("G-single-realtime: a cycle of 3 attempts\n")));
  all[2].knows[2] = 4;
  EXPECT_THAT(errors(all), IsEmpty()) << "of what node 2 did before";
}

TEST(history, has_no_stale_reads_of_the_same_node) {
  std::vector<attempt> all{commits(1, 0, 1, 2, {writes(x, 10)}), commits(1, 4, 0, 5, {reads(x, 0)})};
  for (attempt& a : all) a.knows = {0, 0};
  EXPECT_THAT(errors(all), ElementsAre(StartsWith("G-single-realtime: a cycle of 2 attempts\n")));
}

TEST(history, shows_publication_against_reads) {
  EXPECT_THAT(errors({commits(1, 0, 6, 9, {reads(x, 20), writes(x, 10)}), commits(2, 1, 7, 8, {writes(x, 20)})}),
              ElementsAre(StartsWith("G1c: ")));
}

TEST(history, shows_reads_of_what_nobody_has_published) {
  EXPECT_THAT(errors({commits(1, 0, 0, 1, {reads(x, 99)})}),
              ElementsAre("attempt 1 of node 1 reads x0 = 99, which nobody has written there"));
  EXPECT_THAT(errors({commits(1, 0, 1, 9, {writes(x, 10)}), commits(2, 0, 0, 9, {reads(y, 10)})}),
              ElementsAre(HasSubstr("which nobody has written there")));
  EXPECT_THAT(errors({aborts(1, 0, 9, {writes(x, 10)}), commits(2, 0, 0, 9, {reads(x, 10)})}),
              ElementsAre(HasSubstr("which aborted attempt 1 of node 1 has written")));
  EXPECT_THAT(errors({commits(1, 0, 1, 9, {writes(x, 10), writes(x, 11)}), commits(2, 0, 0, 9, {reads(x, 10)})}),
              ElementsAre(HasSubstr("which attempt 1 of node 1 has overwritten itself")));
}

TEST(history, shows_that_an_attempt_misses_its_own_writes) {
  for (const bool commit : {false, true}) {
    const auto one = [&](std::vector<operation> what) {
      return errors({commit ? commits(1, 0, 1, 2, std::move(what)) : aborts(1, 0, 2, std::move(what))});
    };
    EXPECT_THAT(one({writes(x, 10), reads(x, 0)}),
                ElementsAre(HasSubstr("reads x0 = 0 after it has itself written 10")));
    EXPECT_THAT(one({writes(x, 10), writes(x, 11), reads(x, 10)}),
                ElementsAre(HasSubstr("reads x0 = 10 after it has itself written 11")));
    EXPECT_THAT(one({reads(x, 10), writes(x, 10)}), ElementsAre(HasSubstr("which it writes only later")));
    EXPECT_THAT(one({writes(x, 10), reads(x, 10), writes(x, 11), reads(x, 11)}), IsEmpty());
  }
}

TEST(history, shows_what_cannot_be_one) {
  EXPECT_THAT(errors({commits(1, 0, 1, 9, {writes(x, 10)}), commits(2, 0, 2, 9, {writes(y, 10)})}),
              ElementsAre(HasSubstr("not unique")));
  EXPECT_THAT(errors({commits(1, 0, 1, 9, {writes(x, 0)})}), ElementsAre(HasSubstr("not unique")));
  EXPECT_THAT(errors({commits(1, 0, 4, 9, {writes(x, 10)}), commits(2, 0, 4, 9, {writes(y, 20)})}),
              ElementsAre(HasSubstr("publishes together with attempt 1")));
  EXPECT_THAT(errors({commits(1, 3, 2, 9, {writes(x, 10)})}), ElementsAre(HasSubstr("publishes at another time")));
  EXPECT_THAT(errors({commits(1, 3, 10, 9, {writes(x, 10)})}), ElementsAre(HasSubstr("publishes at another time")));
}

TEST(history, tells_the_shortest_cycles_first) {
  const auto found =
      errors({// a long fork of x and y, and beside it a lost update of 2
              commits(1, 0, 5, 20, {writes(x, 10)}), commits(2, 1, 6, 20, {writes(y, 20)}),
              commits(3, 2, 0, 20, {reads(x, 10), reads(y, 0)}), commits(4, 3, 0, 20, {reads(x, 0), reads(y, 20)}),
              commits(5, 0, 7, 20, {reads(2, 0), writes(2, 50)}), commits(6, 0, 8, 20, {reads(2, 0), writes(2, 60)})});
  EXPECT_THAT(found, ElementsAre(HasSubstr("a cycle of 2 attempts"), HasSubstr("a cycle of 4 attempts")));
  EXPECT_THAT(check(std::vector{commits(1, 0, 0, 1, {reads(x, 99)})},
                    [](std::uint64_t v) { return "word " + std::to_string(v); }),
              HasSubstr("reads word 0 = 99"));
}

// ---- At random

/// Attempts on a reference store, several at a time. Each sees what was committed at one moment of its span, and its
/// own writes. It commits if nothing that it has read has changed until then; if it writes nothing, always.
std::vector<attempt> good_history(random& draw, unsigned nodes, unsigned length, unsigned variables) {
  struct running {
    attempt a{};
    std::optional<std::map<std::uint64_t, std::uint64_t>> sees{};  ///< from its first operation on
    std::map<std::uint64_t, std::uint64_t> own{}, read{};
    std::uint64_t left = 0;
    bool decided = false;
  };
  std::map<std::uint64_t, std::uint64_t> store;
  std::vector<std::optional<running>> at(nodes);
  std::vector<attempt> all;
  std::uint64_t now = 0, last = 0, number = 0;
  while (all.size() < length) {
    const auto node = static_cast<unsigned>(draw.below(nodes));
    auto& r = at[node];
    ++now;
    if (!r) {
      r.emplace();
      r->a = {node, ++number, false, now, 0, 0, {}};
      r->left = draw.below(8);
    } else if (r->decided) {
      if (draw.chance(50)) continue;  // it does not know yet
      r->a.end = now;
      all.push_back(std::move(r->a));
      r.reset();
    } else if (r->left-- != 0) {
      if (!r->sees) r->sees = store;
      const std::uint64_t v = draw.below(variables);
      if (draw.chance(40)) {
        r->own[v] = ++last;
        r->a.operations.push_back(writes(v, last));
      } else if (const auto own = r->own.find(v); own != r->own.end()) {
        r->a.operations.push_back(reads(v, own->second));
      } else {
        r->read[v] = (*r->sees)[v];
        r->a.operations.push_back(reads(v, r->read[v]));
      }
    } else {
      const bool current =
          std::ranges::all_of(r->read, [&](const auto& one) { return store[one.first] == one.second; });
      r->a.committed = draw.chance(90) && (r->own.empty() || current);
      if (r->a.committed && !r->own.empty()) {
        for (const auto& [v, value] : r->own) store[v] = value;
        r->a.published = now;
      }
      r->decided = true;
    }
  }
  for (auto& r : at) {  // the others hear of nothing any more
    if (!r) continue;
    r->a.end = ++now;
    all.push_back(std::move(r->a));
  }
  return all;
}

TEST(history, of_a_store_that_validates_is_always_good) {
  for (const std::uint64_t seed : seeds(1, 300)) {
    random draw(mix(seed ^ 0x4157));
    const auto nodes = 1 + static_cast<unsigned>(draw.below(5)), variables = 1 + static_cast<unsigned>(draw.below(6));
    const auto all = good_history(draw, nodes, 200, variables);
    const std::string wrong = check(all);
    if (!wrong.empty()) FAIL() << wrong << "\nreplay: QUIRE_SIM_SEED=" << seed;
  }
}

/// An operation of one of several attempts.
struct place {
  std::size_t attempt = 0, operation = 0;
};
/// Reads of what the attempt has not written before.
std::vector<place> external_reads(const std::vector<attempt>& all) {
  std::vector<place> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::map<std::uint64_t, bool> own;
    for (std::size_t n = 0; n < all[i].operations.size(); ++n) {
      const operation& o = all[i].operations[n];
      if (o.writes) own[o.variable] = true;
      if (!o.writes && !own[o.variable]) found.push_back({i, n});
    }
  }
  return found;
}

/// Values that were written to a variable: by whom, and whether they were published.
struct written {
  std::uint64_t value = 0;
  bool published = false;
};
std::vector<written> all_written(const std::vector<attempt>& all, std::uint64_t variable) {
  std::vector<written> found;
  for (const attempt& a : all) {
    for (std::size_t n = 0; n < a.operations.size(); ++n) {
      const operation& o = a.operations[n];
      const auto again =
          std::any_of(a.operations.begin() + static_cast<std::ptrdiff_t>(n) + 1, a.operations.end(),
                      [&](const operation& later) { return later.writes && later.variable == o.variable; });
      if (o.writes && o.variable == variable) found.push_back({o.value, a.committed && !again});
    }
  }
  return found;
}

/// A read finds another value of its variable: one that was published, or one that was not. False if there is none.
bool break_read(std::vector<attempt>& all, random& draw, bool published) {
  const auto places = external_reads(all);
  if (places.empty()) return false;
  const place p = places[draw.below(places.size())];
  operation& o = all[p.attempt].operations[p.operation];
  auto values = all_written(all, o.variable);
  if (published) values.push_back({initial, true});
  std::erase_if(values, [&](const written& w) { return w.published != published || w.value == o.value; });
  if (values.empty()) return false;
  o.value = values[draw.below(values.size())].value;
  return true;
}

/// Two attempts publish in the other order.
bool break_publication(std::vector<attempt>& all, random& draw) {
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].committed && all[i].published != 0) some.push_back(i);
  }
  const auto holds = [](const attempt& a, std::uint64_t at) { return a.begin <= at && at <= a.end; };
  for (unsigned tries = 0; some.size() > 1 && tries < 50; ++tries) {
    attempt& one = all[some[draw.below(some.size())]];
    attempt& other = all[some[draw.below(some.size())]];
    if (&one == &other || !holds(one, other.published) || !holds(other, one.published)) continue;
    std::swap(one.published, other.published);
    return true;
  }
  return false;
}

/// An attempt that wrote counts as aborted, though others may have seen it.
bool break_outcome(std::vector<attempt>& all, random& draw) {
  std::vector<attempt*> some;
  for (attempt& a : all) {
    if (a.committed && a.published != 0) some.push_back(&a);
  }
  if (some.empty()) return false;
  some[draw.below(some.size())]->committed = false;
  return true;
}

template <class F>
double refused_percent(F&& breaks, unsigned variables) {
  unsigned broken = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    random draw(mix(seed ^ 0x4158));
    auto all = good_history(draw, 4, 60, variables);
    if (!breaks(all, draw)) continue;
    ++broken;
    refused += check(all).empty() ? 0 : 1;
  }
  EXPECT_GT(broken, 200u);
  return 100.0 * refused / broken;
}

TEST(history, is_refused_where_one_thing_is_broken) {
  const double unpublished = refused_percent([](auto& all, random& draw) { return break_read(all, draw, false); }, 3);
  const double other_version = refused_percent([](auto& all, random& draw) { return break_read(all, draw, true); }, 3);
  const double publication = refused_percent(break_publication, 2);
  const double outcome = refused_percent(break_outcome, 2);
  std::cout << "refused: " << unpublished << "% unpublished, " << other_version << "% other version, " << publication
            << "% publication, " << outcome << "% outcome\n";
  EXPECT_EQ(unpublished, 100);
  EXPECT_GT(other_version, 90);
  EXPECT_GT(publication, 70);
  EXPECT_GT(outcome, 40);  // where nobody has read it, or overwritten it, nobody knows
}

// ---- Small ones, against all serial orders

/// Whether the attempts in this order, one after the other, see what they saw. Those that write the same variable are
/// in the order of publication.
bool is_explained_by(const std::vector<attempt>& all, const std::vector<std::size_t>& order) {
  std::map<std::uint64_t, std::uint64_t> store, published;
  for (std::size_t n = 0; n < order.size(); ++n) {
    const attempt& a = all[order[n]];
    for (std::size_t before = 0; before < n; ++before) {
      if (a.end < all[order[before]].begin) return false;
    }
    auto sees = store;
    for (const operation& o : a.operations) {
      if (!o.writes && sees[o.variable] != o.value) return false;
      if (!o.writes) continue;
      sees[o.variable] = o.value;
      if (!a.committed) continue;
      if (a.published < published[o.variable]) return false;
      published[o.variable] = a.published;
    }
    if (a.committed) store = std::move(sees);
  }
  return true;
}

bool is_explained(const std::vector<attempt>& all) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    if (is_explained_by(all, order)) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

/// Some value that was written to the variable, or the initial one; more often than not the attempt's own last one, if
/// there is any.
void draw_read(const std::vector<attempt>& all, attempt& a, std::size_t n, random& draw) {
  operation& o = a.operations[n];
  for (std::size_t before = n; before-- != 0;) {
    if (!a.operations[before].writes || a.operations[before].variable != o.variable) continue;
    if (draw.chance(80)) return void(o.value = a.operations[before].value);
    break;
  }
  const auto values = all_written(all, o.variable);
  const std::uint64_t which = draw.below(values.size() + 1);
  o.value = which == values.size() ? initial : values[which].value;
}

/// Attempts at random times that read anything.
std::vector<attempt> any_history(random& draw) {
  const auto count = 2 + static_cast<unsigned>(draw.below(4));
  std::vector<std::uint64_t> positions(count * 3);
  std::iota(positions.begin(), positions.end(), std::uint64_t{1});
  const bool apart = draw.chance(50);
  for (std::size_t n = positions.size(); n > 1 && !apart; --n) std::swap(positions[n - 1], positions[draw.below(n)]);
  std::vector<attempt> all;
  std::uint64_t last = 0;
  for (unsigned i = 0; i < count; ++i) {
    std::sort(positions.begin() + i * 3, positions.begin() + i * 3 + 3);
    attempt a{i, i, draw.chance(75), positions[i * 3], positions[i * 3 + 2], positions[i * 3 + 1], {}};
    for (std::uint64_t n = 1 + draw.below(3); n != 0; --n)
      a.operations.push_back({draw.below(2), ++last, draw.chance(45)});
    all.push_back(std::move(a));
  }
  for (attempt& a : all) {
    for (std::size_t n = 0; n < a.operations.size(); ++n) {
      if (!a.operations[n].writes) draw_read(all, a, n, draw);
    }
  }
  return all;
}

/// Small, and nearly good.
std::vector<attempt> nearly_good_history(random& draw) {
  auto all = good_history(draw, 2 + static_cast<unsigned>(draw.below(2)), 4, 2);
  for (std::uint64_t n = 1 + draw.below(2); n != 0; --n) {
    switch (draw.below(4)) {
      case 0:
        (void)break_read(all, draw, true);
        break;
      case 1:
        (void)break_read(all, draw, false);
        break;
      case 2:
        (void)break_publication(all, draw);
        break;
      default:
        (void)break_outcome(all, draw);
    }
  }
  return all;
}

TEST(history, is_refused_if_and_only_if_no_serial_order_explains_it) {
  std::map<bool, unsigned> seen;
  for (const std::uint64_t seed : seeds(1, 20'000)) {
    random draw(mix(seed ^ 0x4159));
    const auto all = seed % 2 == 0 ? any_history(draw) : nearly_good_history(draw);
    const bool good = is_explained(all);
    const std::string wrong = check(all);
    ++seen[good];
    if (good != wrong.empty())
      FAIL() << (good ? "refused: " : "taken for good") << wrong << "\nreplay: QUIRE_SIM_SEED=" << seed;
  }
  std::cout << seen[true] << " good, " << seen[false] << " not\n";
  if (!usual_seeds()) return;
  EXPECT_GT(seen[true], 2'000u);
  EXPECT_GT(seen[false], 2'000u);
}

/// Thousands of attempts are no problem, and neither are thousands in one cycle: the shortest of them is found.
TEST(history, of_many_attempts_is_checked_as_well) {
  random draw(7);
  auto all = good_history(draw, 8, 20'000, 50);
  EXPECT_EQ(check(all), "");
  const attempt& first = *std::ranges::find_if(all, [](const attempt& a) { return a.published != 0; });
  const auto written =
      std::find_if(first.operations.rbegin(), first.operations.rend(), [](const operation& o) { return o.writes; });
  all.push_back(aborts(99, all.back().end + 1, all.back().end + 2, {reads(written->variable, written->value)}));
  EXPECT_THAT(errors(all), ElementsAre(StartsWith("G-single-realtime: a cycle of 2 attempts")));
}

}  // namespace
}  // namespace quire::sim::history::history_test
