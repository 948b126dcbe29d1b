// SPDX-License-Identifier: BSD-3-Clause
// The record for the report: sums stay exact whatever the length, in fixed memory; and its file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "record/file.hpp"
#include "record/recorder.hpp"
#include "record/tell.hpp"

namespace quire::record::record_test {
namespace {

constexpr std::uint64_t us = 1000, ms = 1000 * us, s = 1000 * ms;

// ---- Segments
// ---------------------------------------------------------------------------------------------------------

wait_times sums_of(const segments& of) {
  wait_times sums{};
  for (const segment& one : of.all())
    for (std::size_t i = 0; i < waits; ++i) sums[i] += one.waited_ns[i];
  return sums;
}

TEST(record_segments, each_wait_is_a_segment_while_there_is_room) {
  std::array<segment, 8> memory;
  segments when(memory, 100);
  when.add(wait::read_fault, 150, 160, 0);
  when.mark(170, 0);
  when.add(wait::barrier, 170, 200, 2);
  ASSERT_EQ(when.all().size(), 3u);
  EXPECT_EQ(when.all()[0].end_ns, 160u);
  EXPECT_EQ(when.all()[0].waited_ns, (wait_times{10, 0, 0, 0, 0}));
  EXPECT_EQ(when.all()[1].waited_ns, wait_times{});
  EXPECT_EQ(when.all()[2].waited_ns, (wait_times{0, 0, 0, 30, 0}));
  EXPECT_EQ(when.all()[2].phase, 2u);
  EXPECT_EQ(when.resolution_ns(), 0u);
}

TEST(record_segments, a_wait_within_a_wait_counts_for_both) {
  std::array<segment, 4> memory;
  segments when(memory, 0);
  when.add(wait::read_fault, 20, 30, 0);
  when.add(wait::lock, 10, 40, 0);
  when.add(wait::lock, 5, 35, 0);  // ends before the last one does
  EXPECT_EQ(sums_of(when), (wait_times{10, 0, 60, 0, 0}));
  EXPECT_EQ(when.all().back().end_ns, 40u);
}

TEST(record_segments, a_thousand_seconds_fit_and_their_sums_are_exact) {
  std::vector<segment> memory(1024);
  segments when(memory, 7);
  wait_times expected{};
  std::uint64_t now = 7, count = 0, seed = 1;
  while (now < 1000 * s) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const auto kind = static_cast<std::size_t>(seed >> 40) % waits;
    const std::uint64_t computes = (seed >> 20) % (200 * us), waits_for = (seed >> 33) % (100 * us);
    when.add(static_cast<wait>(kind), now + computes, now + computes + waits_for, 0);
    expected[kind] += waits_for;
    now += computes + waits_for;
    ++count;
  }
  EXPECT_GT(count, 1'000'000u);
  EXPECT_LE(when.all().size(), memory.size());
  EXPECT_GT(when.all().size(), memory.size() / 4) << "much of the memory is used";
  EXPECT_EQ(sums_of(when), expected);
  EXPECT_EQ(when.all().back().end_ns, now);
  std::uint64_t before = when.begin_ns();
  for (const segment& one : when.all()) {
    EXPECT_LE(before, one.end_ns);
    EXPECT_LE(std::accumulate(one.waited_ns.begin(), one.waited_ns.end(), std::uint64_t{0}), one.end_ns - before)
        << "what was not waited was computed";
    before = one.end_ns;
  }
}

TEST(record_segments, waits_of_no_length_fill_nothing) {
  std::array<segment, 4> memory;
  segments when(memory, 5);
  for (int i = 0; i < 1000; ++i) when.add(wait::lock, 5, 5, 0);
  EXPECT_EQ(when.all().size(), 1u);
}

TEST(record_segments, a_long_pause_does_not_merge_what_was_before) {
  std::array<segment, 64> memory;
  segments when(memory, 0);
  for (std::uint64_t i = 0; i < 10; ++i) when.add(wait::lock, i * ms, i * ms + us, 0);
  when.add(wait::lock, 900 * s, 900 * s + 1, 0);
  EXPECT_EQ(when.all().size(), 11u);
}

// ---- What comes often
// -------------------------------------------------------------------------------------------------

struct number_key {
  std::uint64_t number;
  bool operator==(const number_key&) const = default;
  [[nodiscard]] std::uint64_t hash() const { return mixed(0, number); }
};
using numbers = frequent<number_key, std::uint64_t, 64>;

TEST(record_frequent, what_comes_often_stays_with_its_count) {
  const auto all = std::make_unique<numbers>();
  std::uint64_t rare = 1000;
  for (int round = 0; round < 10000; ++round) {
    for (std::uint64_t often = 1; often <= 4; ++often) ++all->at({often});
    ++all->at({++rare});
  }
  std::uint64_t found = 0;
  all->for_each([&](const auto& p) {
    if (p.key.number > 4) return;
    ++found;
    EXPECT_EQ(p.value, 10000u);
    EXPECT_GE(p.weight, 10000u);
  });
  EXPECT_EQ(found, 4u);
}

TEST(record_frequent, a_new_key_has_a_value_of_its_own_and_the_weight_of_the_one_before) {
  const auto all = std::make_unique<frequent<number_key, std::uint64_t, 8>>();
  for (std::uint64_t k = 0; k < 8; ++k) all->at({k}) = 5, (void)all->at({k});
  EXPECT_EQ(all->at({100}), 0u);
  all->for_each([](const auto& p) { EXPECT_EQ(p.weight, p.key.number == 100 ? 3u : 2u); });
}

// ---- Heat
// -------------------------------------------------------------------------------------------------------------

using small_heat = heat_map<8, 16>;

std::uint64_t sum_of(const small_heat& h) {
  std::uint64_t sum = 0;
  for (std::size_t r = 0; r < h.rows(); ++r) sum = std::accumulate(h.row(r).begin(), h.row(r).end(), sum);
  return sum;
}

TEST(record_heat, addresses_far_apart_have_rows_of_their_own) {
  const auto h = std::make_unique<small_heat>();
  h->add(0x200000000000, 0, 1);
  h->add(0x280000000000, 3 << 20, 2);
  h->add(0x200000000fff, 3 << 20, 4);
  ASSERT_EQ(h->rows(), 2u);
  EXPECT_EQ(h->address(0), 0x200000000000u);
  EXPECT_EQ(h->row(0)[0], 1u);
  EXPECT_EQ(h->row(0)[3], 4u);
  EXPECT_EQ(h->row(1)[3], 2u);
}

TEST(record_heat, where_there_is_no_room_neighbours_become_one_and_nothing_is_lost) {
  const auto h = std::make_unique<small_heat>();
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < 5000; ++i) h->add(i % 100 * 4096, i * 100 * ms, 1), ++count;
  EXPECT_EQ(sum_of(*h), count);
  EXPECT_EQ(h->piece_shift(), 16u) << "100 pages are 7 pieces of 64 KiB";
  EXPECT_LE(h->rows(), 8u);
  EXPECT_GE(16ull << h->column_shift(), 5000 * 100 * ms);
  std::uint64_t covered = 0;
  for (std::size_t r = 0; r < h->rows(); ++r) covered |= std::uint64_t{1} << (h->address(r) >> h->piece_shift());
  EXPECT_EQ(covered, 0x7fu);
}

TEST(record_heat, a_bin_that_is_full_stays_full) {
  const auto h = std::make_unique<small_heat>();
  h->add(0, 0, ~0u);
  h->add(0, 0, 5);
  EXPECT_EQ(h->row(0)[0], ~0u);
}

// ---- The recorder
// -----------------------------------------------------------------------------------------------------

recorder::fault fault_at(std::uint64_t unit, bool write, std::uint64_t begin, std::uint64_t end) {
  return {3, unit, 17, write, {0x1000, 0x2000, 0, 0}, begin, end};
}

wait_times rest_of(const recorder& r) {
  wait_times all{};
  for (std::size_t i = 0; i < waits; ++i) all[i] = r.all().rest[i];
  return all;
}
region_place place_of(std::uint16_t region) { return {region, false, 0, 1 << 30, 4096}; }

TEST(record_recorder, threads_have_records_of_their_own_and_sums_by_phase) {
  const auto r = recorder::make(100, 2);
  ASSERT_NE(r, nullptr);
  thread_record* mine = nullptr;
  r->on_fault(mine, 5, fault_at(7, true, 110, 150));
  ASSERT_TRUE(r->on_phase(mine, 5, "sweep", 200));
  r->on_wait(mine, 5, wait::barrier, 210, 290);
  r->on_fault(mine, 5, fault_at(7, false, 300, 301));
  ASSERT_TRUE(r->on_phase(mine, 5, "", 400));
  std::thread([&] {
    thread_record* other = nullptr;
    r->on_wait(other, 6, wait::lock, 120, 130);
  }).join();
  EXPECT_TRUE(r->close());
  EXPECT_FALSE(r->close());
  r->on_wait(mine, 5, wait::lock, 500, 600);
  ASSERT_EQ(r->all().threads_in_use().size(), 2u);
  const thread_record& t = r->all().threads_in_use()[0];
  EXPECT_EQ(t.number, 5u);
  EXPECT_EQ(t.phases[0].waited_ns, (wait_times{0, 40, 0, 0, 0}));
  EXPECT_EQ(t.phases[1].waited_ns, (wait_times{1, 0, 0, 80, 0}));
  EXPECT_EQ(t.phases[1].ns, 200u);
  EXPECT_STREQ(r->all().phase_names[0].data(), "sweep");
  EXPECT_EQ(rest_of(*r), (wait_times{0, 0, 100, 0, 0})) << "after the end nothing changes in records of threads";
  int units = 0;
  t.units.for_each([&](const auto& p) {
    ++units;
    EXPECT_EQ(p.key.unit, std::uint64_t{3} << 46 | 7);
    EXPECT_EQ(p.value.faults[1], 1u);
    EXPECT_EQ(p.value.ns[1], 40u);
    EXPECT_EQ(p.value.lines[0], 1u << 17);
  });
  EXPECT_EQ(units, 1);
}

TEST(record_recorder, threads_beyond_the_most_are_summed) {
  const auto r = recorder::make(0, 1);
  ASSERT_NE(r, nullptr);
  std::vector<thread_record*> all(most_threads + 3, nullptr);
  for (auto& one : all) r->on_wait(one, 0, wait::lock, 10, 15);
  EXPECT_EQ(r->all().threads_in_use().size(), most_threads);
  EXPECT_EQ(rest_of(*r), (wait_times{0, 0, 15, 0, 0}));
}

TEST(record_recorder, names_have_limits_and_a_label_replaces_one_of_its_address) {
  const auto r = recorder::make(0, 1);
  ASSERT_NE(r, nullptr);
  thread_record* mine = nullptr;
  for (std::size_t i = 0; i < most_phases; ++i) EXPECT_TRUE(r->on_phase(mine, 0, "phase " + std::to_string(i), i));
  EXPECT_FALSE(r->on_phase(mine, 0, "one more", 100));
  EXPECT_TRUE(r->on_phase(mine, 0, "phase 3", 100));
  for (std::size_t i = 0; i < most_labels; ++i) EXPECT_TRUE(r->add_label(4096 * i, 10, "a"));
  EXPECT_FALSE(r->add_label(1, 10, "a"));
  EXPECT_TRUE(r->add_label(4096, 20, "b"));
  EXPECT_EQ(r->all().labels, most_labels);
  EXPECT_STREQ(r->all().label_rows[1].name.data(), "b");
}

TEST(record_recorder, regions_beyond_the_most_share_a_map) {
  const auto r = recorder::make(0, 1);
  ASSERT_NE(r, nullptr);
  for (std::uint16_t region = 0; region < most_heats + 5; ++region)
    r->on_access(region, region * 4096u, 10, [&] { return place_of(region); });
  for (const auto& h : r->all().heats) EXPECT_TRUE(h.used);
  EXPECT_EQ(r->all().heats.back().map.rows(), 6u);
  EXPECT_EQ(r->all().heats.front().map.rows(), 1u);
}

// ---- Of a node that has died
// ------------------------------------------------------------------------------------------

std::vector<std::byte> about_node_1() {
  node_record about;
  about.node = 1;
  about.nodes = 2;
  about.program = "/bin/program";
  return encode(about);
}

TEST(record_tell, what_a_node_had_recorded_when_it_died_is_told) {
  const auto r = recorder::make(1000, 2);
  ASSERT_NE(r, nullptr);
  r->set_about(about_node_1());
  r->on_met(1100);
  thread_record* mine = nullptr;
  ASSERT_TRUE(r->on_phase(mine, 5, "sweep", 1100));
  r->on_fault(mine, 5, fault_at(7, true, 1110, 1150));
  r->on_access(3, 0x200000007000, 1110, [] { return region_place{3, true, 0x200000000000, 1 << 20, 4096}; });
  ASSERT_TRUE(r->add_label(0x200000007000, 64, "grid"));
  r->on_sent(0, 100);
  mine->busy.store(true);  // it died within
  node_record told;
  std::string why;
  ASSERT_TRUE(tell_dead(r->all(), told, why)) << why;
  EXPECT_EQ(told.node, 1u);
  EXPECT_EQ(told.program, "/bin/program");
  EXPECT_EQ(told.met_ns, 100u);
  EXPECT_EQ(told.ns, 150u);
  ASSERT_EQ(told.threads.size(), 1u);
  EXPECT_EQ(told.threads[0].segments.back().end_ns, 150u);
  ASSERT_EQ(told.threads[0].units.size(), 1u);
  EXPECT_EQ(told.threads[0].units[0].address, 0x200000007000u);
  EXPECT_EQ(told.threads[0].units[0].bytes, 4096u);
  ASSERT_EQ(told.regions.size(), 1u);
  EXPECT_EQ(told.regions[0].release, 1u);
  EXPECT_EQ(told.labels.at(0).name, "grid");
  EXPECT_EQ(told.phases, std::vector<std::string>{"sweep"});
  EXPECT_EQ(told.peers.at(0).bytes, 100u);
  EXPECT_EQ(told.heats.size(), 1u);
}

/// Where nobody looks after a node: what it has recorded is in a file from the start.
TEST(recorder, a_file_outlives_who_records) {
  const std::string path = testing::TempDir() + "quire_record_test." + std::to_string(::getpid());
  const auto r = recorder::make(1000, 2, path);
  ASSERT_NE(r, nullptr);
  r->set_about(about_node_1());
  memory* const read = static_cast<memory*>(std::malloc(sizeof(memory)));
  std::FILE* const file = std::fopen(path.c_str(), "re");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(std::fread(read, 1, sizeof(memory), file), sizeof(memory));
  std::fclose(file);
  ::unlink(path.c_str());
  node_record told;
  std::string why;
  EXPECT_TRUE(tell_dead(*read, told, why)) << why;
  EXPECT_EQ(told.node, 1u);
  std::free(read);
  // Where there can be no file there is memory.
  const auto without = recorder::make(1000, 2, testing::TempDir() + "not/there");
  ASSERT_NE(without, nullptr);
  EXPECT_GE(without->descriptor(), 0);
}

TEST(record_tell, memory_that_is_none_or_says_nonsense_is_refused_or_bounded) {
  const auto r = recorder::make(1000, 2);
  ASSERT_NE(r, nullptr);
  node_record told;
  std::string why;
  EXPECT_FALSE(tell_dead(r->all(), told, why));
  EXPECT_THAT(why, testing::HasSubstr("before it had begun to record"));
  r->set_about(about_node_1());
  auto& all = const_cast<memory&>(r->all());
  // Whatever a half written, or damaged, memory says of its own lengths.
  all.taken = ~std::uint64_t{0};
  all.labels = all.phases = all.nodes = ~std::uint64_t{0};
  all.heats[0].used = true;
  std::memset(static_cast<void*>(&all.heats[0].map), 0xff, 64);
  std::memset(static_cast<void*>(&all.threads[0].when), 0xff, sizeof all.threads[0].when);
  (void)tell_dead(r->all(), told, why);
  all.mark ^= 1;
  EXPECT_FALSE(tell_dead(r->all(), told, why));
  EXPECT_THAT(why, testing::HasSubstr("of another build"));
}

// ---- The file
// ---------------------------------------------------------------------------------------------------------

node_record sample() {
  node_record r;
  r.node = 1;
  r.nodes = 2;
  r.ns = 12345678901;
  r.met_ns = 42;
  r.program = "/bin/program";
  r.phases = {"sweep"};
  r.threads.push_back({.number = 3,
                       .begin_ns = 10,
                       .resolution_ns = 0,
                       .segments = {{20, {1, 2, 3, 4, 0}, 1}},
                       .phases = {{1, 10, {1, 2, 3, 4, 0}}}});
  r.threads[0].units.push_back({2, 7, 0x200000007000, 4096, {0x1234, 0}, {{1, 2}, {300, ~std::uint64_t{0}}, {1, 3}}});
  r.threads[0].sites.push_back({{0x1234}, {{1, 2}, {3, 4}, {5, 6}}});
  r.heats.push_back({2, 4096, 1 << 20, {{0x200000007000, {0, 5, 511, 1}}}});
  r.regions.push_back({2, 0x200000000000, 1 << 20, 4096, 1, "/bin/program+0x10"});
  r.labels.push_back({0x200000000000, 100, "grid"});
  r.peers = {{1, 2}, {0, 0}};
  r.counters.push_back({"fault_ns", 300});
  r.modules.push_back({"/bin/program", "00ff", 0x555500000000, {{0x555500001000, 0x555500002000}}});
  r.uses.push_back({2,
                    0x200000007000,
                    4096,
                    1,
                    5,
                    6,
                    {1, 0, 2},
                    {0, 0, 9},
                    {{0x200000007000, 0x200000007010}},
                    {"/bin/program+0x11"},
                    ""});
  r.interpreted.push_back({~std::uint64_t{0}, 12, "/home/x.py", "f"});
  return r;
}

TEST(record_file, comes_back_as_it_was) {
  const auto file = encode(sample());
  node_record r;
  std::string why;
  ASSERT_TRUE(decode(file, r, why)) << why;
  EXPECT_EQ(encode(r), file);
  EXPECT_EQ(r.threads[0].units[0].sums.ns[1], ~std::uint64_t{0});
  EXPECT_EQ(r.labels[0].name, "grid");
  EXPECT_EQ(r.uses[0].calls[0], "/bin/program+0x11");
}

TEST(record_file, damage_is_refused_wherever_it_is) {
  const auto file = encode(sample());
  node_record r;
  std::string why;
  for (std::size_t bytes = 0; bytes < file.size(); ++bytes)
    EXPECT_FALSE(decode(std::span(file).first(bytes), r, why)) << bytes;
  for (std::size_t at = 0; at < file.size(); ++at) {
    auto damaged = file;
    damaged[at] ^= std::byte{0x10};
    EXPECT_FALSE(decode(damaged, r, why)) << at;
    EXPECT_FALSE(why.empty());
  }
  auto longer = file;
  longer.push_back({});
  EXPECT_FALSE(decode(longer, r, why));
}

TEST(record_file, what_is_no_record_or_another_version_is_told) {
  node_record r;
  std::string why;
  EXPECT_FALSE(decode(std::as_bytes(std::span("#!/bin/sh and more")), r, why));
  EXPECT_THAT(why, testing::HasSubstr("no record of a node"));
  auto file = encode(sample());
  file[8] = std::byte{9};
  EXPECT_FALSE(decode(file, r, why));
  EXPECT_THAT(why, testing::HasSubstr("version is 9"));
}

TEST(record_file, what_makes_no_sense_is_refused_though_it_is_whole) {
  const auto refused = [](auto&& change) {
    node_record r = sample(), read;
    change(r);
    std::string why;
    return !decode(encode(r), read, why) && why.find("no sense") != std::string::npos;
  };
  EXPECT_TRUE(refused([](node_record& r) { r.node = 2; }));
  EXPECT_TRUE(refused([](node_record& r) { r.threads[0].segments[0].end_ns = 9; }));
  EXPECT_TRUE(refused([](node_record& r) { r.threads[0].segments[0].phase = 2; }));
  EXPECT_TRUE(refused([](node_record& r) { r.threads[0].phases[0].phase = 2; }));
  EXPECT_TRUE(refused([](node_record& r) { r.heats[0].rows[0].columns.pop_back(); }));
  EXPECT_TRUE(refused([](node_record& r) { r.heats[0].column_ns = 0; }));
  EXPECT_TRUE(refused([](node_record& r) { r.uses[0].reads.resize(65); }));
}

}  // namespace
}  // namespace quire::record::record_test
