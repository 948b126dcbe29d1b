// SPDX-License-Identifier: BSD-3-Clause
// The contract of src/transport/transport.hpp for who sleeps until something comes.
#include "transport_nodes.hpp"

namespace quire::transport::test::transport_sleepers_test {
namespace {

class transport_sleepers : public any_body {};
INSTANTIATE_TEST_SUITE_P(all, transport_sleepers, bodies, name_of_body);

TEST_P(transport_sleepers, a_sleeper_wakes_when_a_message_comes) {
  job(GetParam(), 2).run([](node& n) {
    if (n.self.value() == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // so that the other sleeps by then
      n.send(1, 1);
      EXPECT_TRUE(n.link->flush(limit_ms).ok());
    } else {
      const auto from = base::now_ns();
      while (n.in.delivered == 0) ASSERT_TRUE(n.sleep_once()) << "not woken";
      EXPECT_LT(base::now_ns() - from, 4'000'000'000u);
    }
    n.meet();
  });
}

// No wake-up is lost, however the message meets the arming.
TEST_P(transport_sleepers, ping_pong_between_sleepers) {
  static constexpr std::size_t rounds = 3'000;
  job(GetParam(), 2).run([](node& n) {
    n.in.on_message = [&](const message& m) {
      if (m.token < rounds) n.send(n.other().value(), m.token + 1);
    };
    if (n.self.value() == 0) n.send(1, 1);
    while (n.in.delivered < rounds / 2) ASSERT_TRUE(n.sleep_once()) << "not woken in round " << n.in.delivered;
    EXPECT_TRUE(n.link->flush(limit_ms).ok());
    n.meet();
  });
}

// Neither is the rest of a message: payloads that are announced, come in parts, or find no room at a receiver that has
// gone to sleep.
TEST_P(transport_sleepers, payloads_arrive_at_sleepers) {
  static constexpr std::size_t sizes[] = {0, 4096, 20'000, 70'000, 1u << 20}, rounds = 300, burst = 150;
  job(GetParam(), 2).run([](node& n) {
    static std::vector<std::byte> in(1u << 20);
    const blob out = pattern(1u << 20, 5);
    n.in.on_place = [&](const message&) -> void* { return in.data(); };
    const auto send = [&](std::size_t round) {
      for (std::size_t i = 0; i < burst; ++i)
        n.send(n.other().value(), round, std::span(out).first(round % 10 == 0 ? sizes[1] : 0));
      n.send(n.other().value(), round, std::span(out).first(sizes[round % std::size(sizes)]));
    };
    std::size_t round = 0, came = 0;
    n.in.on_message = [&](const message& m) {
      EXPECT_EQ(m.token, round);
      if (++came <= burst) return;
      came = 0;
      round += 2;
      if (m.token + 1 < rounds) send(m.token + 1);
    };
    round = n.self.value() == 0 ? 1 : 0;
    if (n.self.value() == 0) send(0);
    while (round < rounds || n.link->sends_pending()) ASSERT_TRUE(n.sleep_once()) << "not woken in round " << round;
    EXPECT_TRUE(n.link->flush(limit_ms).ok());
    n.meet();
  });
}

// A ring that others have filled, which can wait, is no wall for what cannot: the receiver makes room.
TEST_P(transport_sleepers, urgent_messages_wake_behind_any_number_of_others) {
  job(GetParam(), 2).run([&](node& n) {
    pollfd ready{n.link->descriptor(), POLLIN, 0};
    constexpr std::uint64_t most = 100'000;
    std::uint64_t sent = 0;
    n.meet();
    if (n.self.value() == 1) {
      while (!n.link->arm(urgency::now)) n.link->progress();
    }
    n.meet({}, n.self.value() == 1);
    if (n.self.value() == 0) {
      for (; sent < most && !n.link->sends_pending(); ++sent) n.send(1, sent, {}, urgency::later);
      n.send(1, sent, {}, urgency::now);
    } else {
      EXPECT_EQ(::poll(&ready, 1, limit_ms), 1) << "not woken";
      n.link->disarm();
    }
    n.meet();
    EXPECT_TRUE(n.link->flush(limit_ms).ok());
    n.meet();
  });
}

// Who has armed for urgent messages sleeps on when another comes, has it with the next, and misses none that came
// before it armed for all.
TEST_P(transport_sleepers, urgent_messages_wake_and_others_can_wait) {
  job(GetParam(), 2).run([&](node& n) {
    pollfd ready{n.link->descriptor(), POLLIN, 0};
    const auto meet = [&] { n.meet({}, n.self.value() == 1); };  // who sends makes progress
    n.meet();
    const auto armed = [&](urgency least) {
      while (!n.link->arm(least)) n.link->progress();
    };
    for (std::uint64_t i = 0; i < 20; ++i) {
      if (n.self.value() == 1) armed(urgency::now);
      meet();
      if (n.self.value() == 0) n.send(1, 3 * i, {}, urgency::later);
      meet();
      if (n.self.value() == 1 && !is_by_tcp() && !is("ucx") &&
          !is("delayed")) {  // UCX does not know how urgent they are
        EXPECT_EQ(::poll(&ready, 1, 2), 0);
        EXPECT_EQ(n.in.delivered, 3 * i);
      }
      meet();
      if (n.self.value() == 0) n.send(1, 3 * i + 1, {}, urgency::now);
      if (n.self.value() == 1) {
        EXPECT_EQ(::poll(&ready, 1, 5'000), 1);
        EXPECT_TRUE(n.progress_until([&] { return n.in.delivered == 3 * i + 2; }));
        armed(urgency::later);
      }
      meet();
      if (n.self.value() == 0) n.send(1, 3 * i + 2, {}, urgency::later);
      if (n.self.value() == 1) {
        EXPECT_EQ(::poll(&ready, 1, 5'000), 1);
        EXPECT_TRUE(n.progress_until([&] { return n.in.delivered == 3 * i + 3; }));
        EXPECT_EQ(n.in.messages.back().token, 3 * i + 2);
      }
      meet();
    }
  });
}

// Who sleeps on the word is woken by all messages, and no descriptor is touched; who then arms the descriptor has it.
TEST_P(transport_sleepers, a_word_is_a_place_to_sleep) {
  job(GetParam(), 2).run([&](node& n) {
    n.meet();
    const futex_word word = n.link->word();
    EXPECT_EQ(word.at != nullptr, is("shm") || is("outliving"));
    pollfd ready{n.link->descriptor(), POLLIN, 0};
    for (std::uint64_t i = 0; i < 100 && word.at != nullptr; ++i) {
      const auto armed = [&](auto arm) {
        while (!arm()) n.link->progress();
      };
      if (n.self.value() == 1) armed([&] { return n.link->arm_word(); });
      n.meet({}, true);
      if (n.self.value() == 0) n.send(1, 2 * i, {}, i % 2 == 0 ? urgency::later : urgency::now);
      if (n.self.value() == 1) {
        os::futex_wait_shared(*word.at, word.value, 5'000'000'000);
        EXPECT_NE(word.at->load(), word.value);
        EXPECT_EQ(::poll(&ready, 1, 0), 0);
        EXPECT_TRUE(n.progress_until([&] { return n.in.delivered == 2 * i + 1; }));
        armed([&] { return n.link->arm_word(); });
        armed([&] { return n.link->arm(urgency::now); });
        EXPECT_NE(word.at->load(), word.value);
      }
      n.meet({}, true);
      if (n.self.value() == 0) n.send(1, 2 * i + 1);
      if (n.self.value() == 1) {
        EXPECT_EQ(::poll(&ready, 1, 5'000), 1);
        EXPECT_TRUE(n.progress_until([&] { return n.in.delivered == 2 * i + 2; }));
      }
      n.meet();
    }
  });
}

TEST_P(transport_sleepers, a_word_is_not_armed_over_what_has_come) {
  job(GetParam(), 2).run([](node& n) {
    n.meet();
    const futex_word word = n.link->word();
    n.meet({}, true);
    if (n.self.value() == 0) n.send(1, 1);
    n.meet({}, n.self.value() == 1);
    if (n.self.value() == 1 && word.at != nullptr) {
      EXPECT_FALSE(n.link->arm_word());
      EXPECT_NE(word.at->load(), word.value);
    }
    EXPECT_TRUE(n.self.value() == 0 || n.progress_until([&] { return n.in.delivered == 1; }));
    n.meet();
  });
}

TEST_P(transport_sleepers, nothing_wakes_after_disarming) {
  job(GetParam(), 2).run([](node& n) {
    n.meet();
    pollfd ready{n.link->descriptor(), POLLIN, 0};
    while (!n.link->arm(urgency::later)) n.link->progress();
    n.link->disarm();
    n.meet({}, true);
    n.send(n.other().value(), 1);
    n.meet({}, true);
    EXPECT_EQ(::poll(&ready, 1, 20), 0);
    EXPECT_TRUE(n.progress_until([&] { return n.in.delivered == 1; }));  // it is there
    n.meet();
  });
}

/// Arms and sleeps 20 ms in vain. A few wake-ups without a message are allowed, as long as they come to an end.
bool sleeps_undisturbed(node& n) {
  pollfd ready{n.link->descriptor(), POLLIN, 0};
  for (int i = 0; i < 100; ++i) {
    n.link->progress();
    if (n.link->arm() && ::poll(&ready, 1, 20) == 0) return true;
  }
  return false;
}

TEST_P(transport_sleepers, signal_wakes_from_another_thread) {
  job(GetParam(), 2).run([](node& n) {
    pollfd ready{n.link->descriptor(), POLLIN, 0};
    n.send(n.other().value(), 1);
    EXPECT_TRUE(n.progress_until([&] { return n.in.delivered == 1; }));
    n.meet();
    ASSERT_TRUE(sleeps_undisturbed(n));  // and is still armed
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      n.link->signal();
    });
    EXPECT_EQ(::poll(&ready, 1, 5'000), 1);
    other.join();
    EXPECT_TRUE(sleeps_undisturbed(n));
    // A signal before the arming is not lost either.
    n.link->signal();
    EXPECT_TRUE(!n.link->arm() || ::poll(&ready, 1, 5'000) == 1);
    EXPECT_TRUE(sleeps_undisturbed(n));
    n.meet();
  });
}

}  // namespace
}  // namespace quire::transport::test::transport_sleepers_test
