// SPDX-License-Identifier: BSD-3-Clause
// src/transport/delayed: how long messages are on their way, and what its option says. What all transports do is in
// transport_test.cpp.
#include "transport/delayed/delayed.hpp"

#include <gtest/gtest.h>

#include <string>

#include "os/process.hpp"
#include "transport_nodes.hpp"

namespace quire::transport::test::delayed_test {
namespace {

constexpr std::uint64_t ms = 1'000'000;

base::result<std::unique_ptr<transport>> over_memory(unsigned nodes, const delayed::link& how) {
  wanted what{"shm", nodes, true};
  what.delay = how;
  return open(what);
}

/// Nodes, over shared memory, with a link between hosts.
void run_over(const delayed::link& how, unsigned nodes, const node_function& function) {
  job("none", nodes).run_with([&](unsigned count) { return over_memory(count, how); }, function);
}

/// Node 0 tells when it sends, by a clock of the whole machine; node 1, when that came.
std::uint64_t ns_on_its_way(const delayed::link& how, std::size_t bytes, bool sleeps) {
  const auto pipe = os::make_pipe();
  EXPECT_TRUE(pipe.ok());
  run_over(how, 2, [&](node& n) {
    n.meet();
    if (n.self.value() == 0) {
      n.send(1, base::now_ns(), pattern(bytes, 1));
      EXPECT_TRUE(n.link->flush(limit_ms).ok());
    } else {
      while (n.in.delivered == 0) {
        if (sleeps) {
          ASSERT_TRUE(n.sleep_once());
        } else {
          (void)n.link->progress();
        }
      }
      const std::uint64_t took = base::now_ns() - n.in.messages[0].token;
      EXPECT_EQ(n.in.buffer, pattern(bytes, 1));
      EXPECT_EQ(::write(pipe.value().second.number(), &took, sizeof took), static_cast<ssize_t>(sizeof took));
    }
    n.meet();
  });
  std::uint64_t took = 0;
  EXPECT_EQ(::read(pipe.value().first.number(), &took, sizeof took), static_cast<ssize_t>(sizeof took));
  return took;
}

TEST(delayed, a_message_takes_the_latency_whether_its_receiver_looks_or_sleeps) {
  for (const bool sleeps : {false, true}) {
    const std::uint64_t took = ns_on_its_way({20'000, 0, 1}, 100, sleeps);
    EXPECT_GE(took, 20 * ms) << sleeps;
    EXPECT_LT(took, 2'000 * ms) << sleeps;
  }
}

TEST(delayed, bytes_take_what_the_link_makes_of_them) {
  const std::uint64_t took = ns_on_its_way({0, 10, 1}, 500'000, false);  // 50 ms
  EXPECT_GE(took, 50 * ms);
  EXPECT_LT(took, 2'000 * ms);
}

/// The second one waits for the link, and for nothing else.
TEST(delayed, one_message_after_the_other_is_on_the_link) {
  run_over({5'000, 10, 1}, 2, [](node& n) {
    const blob large = pattern(200'000, 2);  // 20 ms each
    std::vector<std::uint64_t> came;
    n.in.on_message = [&](const message&) { came.push_back(base::now_ns()); };
    n.meet();
    if (n.self.value() == 0) {
      const std::uint64_t from = base::now_ns();
      n.send(1, from, large);
      n.send(1, from, large);
      EXPECT_TRUE(n.link->flush(limit_ms).ok());
    } else {
      const std::uint64_t from = base::now_ns();
      EXPECT_TRUE(n.progress_until([&] { return came.size() == 2; }));
      EXPECT_LT(came[1] - from, 2'000 * ms);
      EXPECT_GE(came[1] - came[0], 10 * ms);
    }
    n.meet();
  });
}

TEST(delayed, nodes_of_a_host_are_near) {
  run_over({10'000'000, 0, 2}, 4, [](node& n) {  // ten seconds
    n.meet();
    const unsigned beside = n.self.value() ^ 1u;
    n.send(beside, 7);
    EXPECT_TRUE(n.progress_until([&] { return n.in.delivered == 1; }, 5'000));
    n.meet();
  });
}

TEST(delayed, its_option_is_three_numbers) {
  const auto read = delayed::link_of("50.5:118:2");
  ASSERT_TRUE(read);
  EXPECT_DOUBLE_EQ(read->latency_us, 50.5);
  EXPECT_DOUBLE_EQ(read->megabytes_a_second, 118);
  EXPECT_EQ(read->nodes_a_host, 2u);
  EXPECT_EQ(delayed::text_of(*read), "50.5:118:2");
  for (const char* const wrong : {"", "50", "50:118", "50:118:0", "50:118:1.5", "-1:118:1", "50:-1:1", "50:118:1:1",
                                  "50:118:1 ", "nan:1:1", "x:1:1", "50::1", "1e99:1:1", "1:1:5000"})
    EXPECT_FALSE(delayed::link_of(wrong)) << wrong;
}

}  // namespace
}  // namespace quire::transport::test::delayed_test
