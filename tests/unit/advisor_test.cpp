// SPDX-License-Identifier: BSD-3-Clause
// What --auto tries, and what it makes of the times.
#include "advisor/decide.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quire::tools::advisor::advisor_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Half of the time in faults of a sweep.
evidence sweeping() {
  evidence e;
  e.threads_ns = 1000;
  e.fault_ns = e.heap_fault_ns = e.waited_ns = 500;
  e.heap_units = 1000;
  e.heap_pieces = {{65536, 100, 5}, {16384, 250, 12}};
  e.heap_unit_bytes = 4096;
  return e;
}
std::vector<setting> settings_of(const std::vector<proposal>& all) {
  std::vector<setting> what;
  for (const auto& p : all) what.push_back(p.what);
  return what;
}
std::string all_of(const std::vector<std::string>& said) {
  std::string text;
  for (const auto& s : said) text += s + "\n";
  return text;
}

TEST(advisor, sweeps_of_pages_with_one_writer_want_larger_units) {
  EXPECT_THAT(settings_of(propose(sweeping(), {})), ElementsAre(setting{"unit", "64K"}, setting{"unit", "16K"}));
  evidence two_writers = sweeping();
  two_writers.heap_pieces[0].contended = 6;
  EXPECT_THAT(settings_of(propose(two_writers, {})), ElementsAre(setting{"unit", "16K"}))
      << "larger units would be shared falsely";
  evidence larger = sweeping();
  larger.heap_unit_bytes = 16384;
  EXPECT_THAT(propose(larger, {}), IsEmpty());
  evidence cheap = sweeping();
  cheap.heap_fault_ns = 99;
  EXPECT_THAT(propose(cheap, {}), IsEmpty()) << "there is nothing to gain";
}

TEST(advisor, small_allocations_that_nodes_share_falsely_want_views) {
  evidence e;
  e.heap_unit_bytes = 4096;
  e.waited_ns = 1000;
  e.false_small_ns = 200;
  EXPECT_THAT(settings_of(propose(e, {})), ElementsAre(setting{"heap_views", "16"}));
  e.false_small_ns = 199;
  EXPECT_THAT(propose(e, {}), IsEmpty());
}

TEST(advisor, guesses_that_are_wrong_half_of_the_time_are_switched_off) {
  evidence e;
  e.fault_ns = 1000;
  e.read_ahead_units = 1000, e.read_ahead_wasted = 500;
  e.exclusive_reads = 1000, e.exclusive_wasted = 499;
  EXPECT_THAT(settings_of(propose(e, {})), ElementsAre(setting{"read_ahead", "0"}));
  e.exclusive_wasted = 500;
  EXPECT_THAT(settings_of(propose(e, {})), ElementsAre(setting{"read_ahead", "0"}, setting{"learn_writes", "0"}));
}

TEST(advisor, programs_that_know_no_nodes_have_more_to_try) {
  evidence e;
  e.nodes_ns = 1000;
  e.fault_ns = 100;
  e.waited_ns = 200;
  e.nodes = 4;
  e.threads = 8;
  EXPECT_THAT(propose(e, {}), IsEmpty()) << "one that knows its nodes may do something else on fewer";
  e.stock = true;
  EXPECT_THAT(settings_of(propose(e, {})),
              ElementsAre(setting{"memory", "auto"}, setting{"nodes", "1"}, setting{"nodes", "2"}));
  e.places_threads = true;
  const std::vector<std::string> closed{"memory"};
  EXPECT_THAT(settings_of(propose(e, closed)), ElementsAre(setting{"place", "blocks:2"}, setting{"place", "round"},
                                                           setting{"nodes", "1"}, setting{"nodes", "2"}));
  e.threads = 4;
  EXPECT_THAT(settings_of(propose(e, closed)), ElementsAre(setting{"nodes", "1"}, setting{"nodes", "2"}))
      << "each is on a node of its own";
  e.fault_ns = 99;
  e.waited_ns = 199;
  EXPECT_THAT(propose(e, {}), IsEmpty());
  e.fault_ns = e.waited_ns = 900;
  e.nodes = 1;
  EXPECT_THAT(propose(e, {}), IsEmpty()) << "there is nobody to exchange anything with";
}

TEST(advisor, a_run_that_is_hopeless_is_ended_and_fewer_nodes_become_the_command) {
  evidence e;
  e.stock = true;
  e.nodes = 2;
  e.nodes_ns = 1000, e.fault_ns = e.waited_ns = 600;
  history h;
  h.job = "x";
  (void)on_run(h, 2.0, e, {});
  EXPECT_EQ(most_seconds(h), 0) << "the program as it is may take what it takes";
  (void)on_run(h, 2.0, e, {});
  EXPECT_THAT(next_run(h), ElementsAre(setting{"memory", "auto"}));
  EXPECT_GE(most_seconds(h), 4);
  EXPECT_THAT(all_of(on_slow(h, 15)), HasSubstr("tried --memory auto: the job was ended after 15.0 s"));
  EXPECT_THAT(next_run(h), ElementsAre(setting{"nodes", "1"}));
  e.nodes = 1;
  (void)on_run(h, 1.0, e, {});
  EXPECT_THAT(all_of(on_run(h, 1.0, e, {})), HasSubstr("tried -n 1: 1.000 s, against 2.000 s without it: kept"));
  EXPECT_TRUE(is_done(h));
  EXPECT_THAT(all_of(how_to_write(h, true, {" -n 2", " ./x 7"})), HasSubstr("quire run -n 1 ./x 7\n"));
}

TEST(advisor, what_the_user_has_set_is_left_alone) {
  const std::vector<std::string> closed{"unit"};
  EXPECT_THAT(propose(sweeping(), closed), IsEmpty());
}

TEST(advisor, what_is_faster_twice_is_kept_and_the_next_is_measured_against_it) {
  history h;
  h.job = "x";
  EXPECT_THAT(next_run(h), IsEmpty());
  (void)on_run(h, 2.0, sweeping(), {});
  EXPECT_THAT(next_run(h), IsEmpty()) << "how much do times differ by themselves?";
  EXPECT_THAT(all_of(on_run(h, 2.2, sweeping(), {})), HasSubstr("the next run tries unit=64K, because"));
  EXPECT_THAT(next_run(h), ElementsAre(setting{"unit", "64K"}));
  EXPECT_THAT(all_of(on_run(h, 1.0, sweeping(), {})), HasSubstr("one run more decides"));
  EXPECT_FALSE(is_done(h));
  evidence with_it = sweeping();
  with_it.heap_unit_bytes = 65536;
  EXPECT_THAT(all_of(on_run(h, 1.1, with_it, {})),
              HasSubstr("tried unit=64K: 1.000 s, against 2.000 s without it: kept\nnothing is left to try"));
  EXPECT_TRUE(is_done(h));
  EXPECT_THAT(next_run(h), ElementsAre(setting{"unit", "64K"}));
  EXPECT_THAT(all_of(how_to_write(h, false, {" -n 2", " ./x"})), HasSubstr("2.00 times as fast"));
  EXPECT_THAT(all_of(how_to_write(h, false, {" -n 2", " ./x"})), HasSubstr("quire run --set unit=64K -n 2 ./x"));
  EXPECT_THAT(all_of(how_to_write(h, false, {" -n 2", " ./x"})), HasSubstr("quire_region_options.unit_bytes"));
  EXPECT_THAT(all_of(how_to_write(h, true, {" -n 2", " ./x"})), Not(HasSubstr("quire_")));
}

TEST(advisor, what_is_slower_or_no_faster_is_taken_back) {
  history h;
  h.job = "x";
  (void)on_run(h, 2.0, sweeping(), {});
  (void)on_run(h, 2.0, sweeping(), {});
  EXPECT_THAT(all_of(on_run(h, 2.6, sweeping(), {})),
              HasSubstr("slower, so it is taken back\nthe next run tries unit=16K"))
      << "once is enough";
  EXPECT_THAT(next_run(h), ElementsAre(setting{"unit", "16K"}));
  (void)on_run(h, 1.95, sweeping(), {});
  EXPECT_THAT(all_of(on_run(h, 1.96, sweeping(), {})),
              HasSubstr("no gain, so it is taken back\nnothing is left to try"));
  EXPECT_THAT(next_run(h), IsEmpty());
  EXPECT_TRUE(is_done(h));
  EXPECT_THAT(how_to_write(h, false, {" -n 2", " ./x"}), IsEmpty());
}

TEST(advisor, a_setting_with_which_the_job_fails_is_taken_back_and_other_failures_teach_nothing) {
  history h;
  h.job = "x";
  EXPECT_THAT(all_of(on_failure(h, 3)), HasSubstr("nothing is learnt"));
  (void)on_run(h, 2.0, sweeping(), {});
  (void)on_run(h, 2.0, sweeping(), {});
  EXPECT_THAT(all_of(on_failure(h, 3)),
              HasSubstr("tried unit=64K: the job has ended with status 3, so it is taken back"));
  EXPECT_THAT(next_run(h), ElementsAre(setting{"unit", "16K"}));
}

/// Half of the nodes' time in faults: first it tries --memory auto.
history with_memory_open() {
  evidence e = sweeping();
  e.stock = true;
  e.nodes = 2;
  e.nodes_ns = 1000;
  history h;
  h.job = "x";
  for (int run = 0; run < 2; ++run) (void)on_run(h, 2.0, e, {});
  return h;
}

TEST(advisor, a_trial_whose_option_the_user_has_set_since_goes_and_the_next_begins) {
  const std::vector<std::string> unit{"unit"}, both{"unit", "memory"}, other{"place"};
  history h;
  h.job = "x";
  for (int run = 0; run < 2; ++run) (void)on_run(h, 2.0, sweeping(), {});
  EXPECT_THAT(leave_alone(h, other), IsEmpty());
  EXPECT_THAT(next_run(h), ElementsAre(setting{"unit", "64K"}));
  EXPECT_THAT(leave_alone(h, unit), HasSubstr("nothing is left to try"));
  EXPECT_THAT(next_run(h), IsEmpty());
  EXPECT_TRUE(is_done(h));
  EXPECT_TRUE(read(write(h)));
  h = with_memory_open();
  const auto first = next_run(h);
  ASSERT_EQ(first.size(), 1u);
  const std::vector<std::string> closed{first[0].option};
  EXPECT_THAT(leave_alone(h, closed), HasSubstr("the next run tries "));
  ASSERT_EQ(next_run(h).size(), 1u);
  EXPECT_NE(next_run(h)[0].option, closed[0]);
  EXPECT_TRUE(read(write(h)));
}

TEST(advisor, what_was_kept_and_the_user_sets_since_makes_it_begin_anew) {
  const std::vector<std::string> closed{"unit"};
  history h;
  h.job = "x";
  for (const double seconds : {2.0, 2.0, 1.0, 1.0}) (void)on_run(h, seconds, sweeping(), {});
  ASSERT_THAT(next_run(h), ElementsAre(setting{"unit", "64K"}));
  EXPECT_THAT(leave_alone(h, closed), HasSubstr("unit=64K was kept, and you have set that yourself: it begins anew"));
  EXPECT_THAT(next_run(h), IsEmpty());
  EXPECT_THAT(h.base, IsEmpty());
  EXPECT_EQ(h.job, "x");
  EXPECT_TRUE(read(write(h)));
}

TEST(advisor, what_no_job_can_have_is_taken_back) {
  history h = with_memory_open();
  const auto first = next_run(h);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_THAT(all_of(on_refused(h)), HasSubstr("no job can be started so, so it is taken back"));
  EXPECT_THAT(next_run(h), testing::Not(ElementsAre(first[0])));
  while (!next_run(h).empty()) (void)on_refused(h);
  EXPECT_TRUE(is_done(h));
  EXPECT_THAT(on_refused(h), IsEmpty()) << "the program as it is";
}

TEST(advisor, its_file_says_all_that_it_knows) {
  history h;
  h.job = "2 nodes './a program' 7";
  (void)on_run(h, 2.0, sweeping(), {});
  (void)on_run(h, 2.125, sweeping(), {});
  (void)on_run(h, 3.0, sweeping(), {});
  (void)on_run(h, 1.0, sweeping(), {});
  const auto again = read(write(h));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->job, h.job);
  EXPECT_EQ(again->base, h.base);
  EXPECT_EQ(again->first_seconds, 2.0);
  ASSERT_EQ(again->trials.size(), 2u);
  EXPECT_EQ(again->trials[0].how, trial::end::taken_back);
  EXPECT_EQ(again->trials[1].what, (setting{"unit", "16K"}));
  EXPECT_EQ(again->trials[1].seconds, std::vector<double>{1.0});
  EXPECT_EQ(again->trials[1].why, h.trials[1].why);
  EXPECT_EQ(write(*again), write(h));
}

TEST(advisor, files_that_are_none_are_refused) {
  const std::string begin = "quire.advice 1\njob x\n";
  for (const std::string& text :
       {std::string("something else"), begin + "base -1", begin + "base 1 x", begin + "why nothing",
        begin + "kept unit 64K 1", begin + "base 1 1\nopen unit", begin + "base 1\nkept unit 64K 1",
        begin + "base 1 1\nopen unit 64K\nopen unit 16K", begin + "strange", std::string("quire.advice 1\nbase 1 1\n")})
    EXPECT_FALSE(read(text)) << text;
}

}  // namespace
}  // namespace quire::tools::advisor::advisor_test
