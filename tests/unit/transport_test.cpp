// SPDX-License-Identifier: BSD-3-Clause
// The contract of src/transport/transport.hpp, the same for every body: in-process, rings, UCX in memory and over TCP.
#include <fcntl.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <numeric>

#include "transport_nodes.hpp"
#include "wire/wire.hpp"

namespace quire::transport::test::transport_test {
namespace {

class transport_contract : public any_body {};
INSTANTIATE_TEST_SUITE_P(all, transport_contract, bodies, name_of_body);

TEST_P(transport_contract, small_messages_keep_their_order) {
  static constexpr std::size_t count = 20'000;
  job(GetParam(), 2).run([](node& n) {
    const blob page = pattern(4096, 1);
    if (n.self.value() == 0) {
      for (std::size_t i = 0; i < count; ++i) {
        i % 3 == 0 ? n.send(1, i, page) : n.send(1, i);
        if (i % 16 == 0) n.link->progress();
      }
      EXPECT_TRUE(n.link->flush(limit_ms).ok());
    } else {
      EXPECT_TRUE(n.progress_until([&] { return n.in.delivered == count; }));
      for (std::size_t i = 0; i < n.in.messages.size(); ++i) ASSERT_EQ(n.in.messages[i].token, i);
      EXPECT_EQ(n.link->counters().messages_received, count);
    }
    n.meet();
  });
}

/// Payloads of all sizes in between: those that are announced and fetched must not be overtaken.
TEST_P(transport_contract, order_is_kept_whatever_the_payload) {
  static constexpr std::size_t sizes[] = {0, 100, 256u << 10, 0, 300, 4096, 512u << 10, 40'000, 512, 0};
  static constexpr std::size_t rounds = 40, count = rounds * std::size(sizes);
  job(GetParam(), 2).run([](node& n) {
    std::vector<blob> out, in;
    for (unsigned i = 0; i < count; ++i) {
      out.push_back(pattern(sizes[i % std::size(sizes)], i));
      in.emplace_back(out.back().size());
    }
    std::size_t next = 0;
    n.in.on_place = [&](const message& m) -> void* { return in[m.token].data(); };
    n.in.on_message = [&](const message& m) {
      ASSERT_EQ(m.token, next++);
      EXPECT_EQ(in[m.token], out[m.token]) << "delivered before its payload was there";
    };
    for (unsigned i = 0; i < count; ++i) {
      out[i].empty() ? n.send(n.other().value(), i) : n.send(n.other().value(), i, out[i]);
      if (i % 8 == 0) n.link->progress();
    }
    EXPECT_TRUE(n.progress_until([&] { return next == count && !n.link->sends_pending(); }));
    n.meet();
  });
}

TEST_P(transport_contract, every_field_of_a_message_arrives) {
  job(GetParam(), 2).run([](node& n) {
    message m{
        model::message_kind::atomic_fetch, 2, model::region_id{7}, n.self, node_id{1}, 3, 4, 5, 6, 7, 8, 9, 0, 10};
    n.link->send(n.other(), m, {});
    ASSERT_TRUE(n.progress_until([&] { return n.in.delivered == 1; }));
    m.from = n.other();
    EXPECT_EQ(n.in.messages[0], m);
    n.meet();
  });
}

TEST_P(transport_contract, payloads_land_in_place_intact) {
  static constexpr std::size_t sizes[] = {1, 63, 4096, 8192, 20'000, 32'768, 65'536, 262'144, 2u << 20, 16u << 20};
  static constexpr std::size_t guard = 64;
  job(GetParam(), 2).run([](node& n) {
    // One who has met sends the next payload at once: it may come while this node is still on its way out of the
    // meeting.
    std::vector<blob> arenas;
    for (const std::size_t bytes : sizes) arenas.emplace_back(guard + bytes + guard, std::byte{0xa5});
    n.in.on_place = [&](const message& m) -> void* {
      EXPECT_LT(m.token, std::size(sizes));
      EXPECT_EQ(m.payload_bytes, sizes[m.token]);
      return arenas[m.token].data() + guard;
    };
    for (unsigned i = 0; i < std::size(sizes); ++i) {
      const blob sent = pattern(sizes[i], i), &arena = arenas[i];
      n.send(n.other().value(), i, sent);  // both at once
      ASSERT_TRUE(n.progress_until([&] { return n.in.delivered >= i + 1; })) << sizes[i];
      EXPECT_EQ(std::memcmp(arena.data() + guard, sent.data(), sent.size()), 0) << sizes[i];
      for (std::size_t k = 0; k < guard; ++k) {
        ASSERT_EQ(arena[k], std::byte{0xa5}) << sizes[i];
        ASSERT_EQ(arena[guard + sizes[i] + k], std::byte{0xa5}) << sizes[i];
      }
      n.meet();  // the payload must stay until the other has it
    }
    EXPECT_EQ(n.in.delivered, std::size(sizes));
    EXPECT_FALSE(n.link->sends_pending());
  });
}

/// Nobody gives memory away that is still to be sent.
TEST_P(transport_contract, a_period_does_not_end_before_what_was_sent_in_it_has_left) {
  if (is("loopback")) GTEST_SKIP() << "sends at once";
  job(GetParam(), 2).run([](node& n) {
    const blob sent = pattern(16u << 20, 1);
    if (n.self.value() == 0) {
      for (int i = 0; i < 3; ++i) EXPECT_TRUE(n.link->turn_period()) << i;  // nothing was sent
      n.send(1, 0, sent);
      EXPECT_TRUE(n.link->sends_pending());
      // The one in which it was sent may end, and the next one not.
      unsigned turns = 0;
      for (int i = 0; i < 10; ++i) turns += n.link->turn_period() ? 1 : 0;
      EXPECT_LE(turns, 1u);
    }
    n.meet({}, true);
    if (n.self.value() == 0) {
      EXPECT_TRUE(n.progress_until([&] { return !n.link->sends_pending(); }));
      for (int i = 0; i < 3; ++i) EXPECT_TRUE(n.link->turn_period()) << i;
    } else {
      EXPECT_TRUE(n.progress_until([&] { return n.in.delivered == 1; }));
      EXPECT_EQ(n.in.buffer, sent);
    }
    n.meet();
  });
}

TEST_P(transport_contract, a_message_without_payload_asks_for_no_place) {
  job(GetParam(), 2).run([](node& n) {
    n.in.on_place = [](const message&) -> void* {
      ADD_FAILURE() << "place() without a payload";
      return nullptr;
    };
    n.send(n.other().value(), 1);
    EXPECT_TRUE(n.progress_until([&] { return n.in.delivered == 1; }));
    n.meet();
  });
}

TEST_P(transport_contract, many_peers) {
  static constexpr unsigned nodes = 8, each = 200;
  job(GetParam(), nodes).run([](node& n) {
    const blob page = pattern(4096, n.self.value());
    std::array<unsigned, nodes> from{};
    n.in.on_message = [&](const message& m) {
      EXPECT_EQ(m.token, from[m.from.value()]++);
      EXPECT_EQ(n.in.buffer, pattern(4096, m.from.value()));
    };
    for (unsigned i = 0; i < each; ++i) {
      for (unsigned to = 0; to < nodes; ++to) {
        if (to != n.self.value()) n.send(to, i, page);
      }
      n.link->progress();
    }
    EXPECT_TRUE(n.progress_until([&] { return n.in.delivered == each * (nodes - 1) && !n.link->sends_pending(); }));
    n.meet();
    EXPECT_EQ(n.in.delivered, each * (nodes - 1));
  });
}

TEST_P(transport_contract, flood_in_both_directions) {
  static constexpr std::size_t count = 100'000;
  // Sealed: another header, and a tag; delayed: another header, and when it is due.
  const std::size_t bytes_of_message = wire::header_bytes + (is("encrypted") ? sizeof(message) + 16
                                                             : is("delayed") ? sizeof(message) + 8
                                                                             : 0);
  job(GetParam(), 2).run([=](node& n) {
    std::uint64_t next = 0;
    n.in.on_message = [&](const message& m) { ASSERT_EQ(m.token, next++); };
    for (std::size_t i = 0; i < count; ++i) n.send(n.other().value(), i);  // no progress in between
    EXPECT_TRUE(n.progress_until([&] { return next == count && !n.link->sends_pending(); }));
    n.meet();
    EXPECT_EQ(n.in.delivered, count);
    EXPECT_EQ(n.link->counters().messages_sent, count);
    EXPECT_EQ(n.link->counters().bytes_received, count * bytes_of_message);
  });
}

TEST_P(transport_contract, large_payloads_many_at_once) {
  static constexpr std::size_t count = 64, bytes = 512u << 10;
  job(GetParam(), 2).run([](node& n) {
    std::vector<blob> out, in(count, blob(bytes));
    for (unsigned i = 0; i < count; ++i) out.push_back(pattern(bytes, i));
    n.in.on_place = [&](const message& m) -> void* { return in[m.token].data(); };
    for (unsigned i = 0; i < count; ++i) n.send(n.other().value(), i, out[i]);
    EXPECT_TRUE(n.progress_until([&] { return n.in.delivered == count && !n.link->sends_pending(); }));
    EXPECT_EQ(in, out);
    n.meet();
  });
}

TEST_P(transport_contract, replies_may_be_sent_from_within_deliver) {
  static constexpr std::size_t rounds = 2'000;
  job(GetParam(), 2).run([](node& n) {
    const blob page = pattern(4096, 9);
    n.in.on_message = [&](const message& m) {
      if (m.token < rounds) n.send(n.other().value(), m.token + 1, page);
    };
    if (n.self.value() == 0) n.send(1, 1, page);
    EXPECT_TRUE(n.progress_until([&] { return n.in.delivered == rounds / 2; }));
    EXPECT_EQ(n.in.buffer, page);
    n.meet();
  });
}

TEST_P(transport_contract, after_flush_the_sender_is_not_needed) {
  static constexpr std::size_t count = 40, bytes = 1u << 20;
  job(GetParam(), 2).run([](node& n) {
    const blob large = pattern(bytes, 3);
    if (n.self.value() == 0) {
      for (unsigned i = 0; i < count; ++i) n.send(1, i, large), n.send(1, i);
      EXPECT_TRUE(n.link->flush(limit_ms).ok());
      EXPECT_FALSE(n.link->sends_pending());
    } else {
      EXPECT_TRUE(n.progress_until([&] { return n.in.delivered == 2 * count; }));
    }
    n.meet({}, true);
  });
}

TEST_P(transport_contract, flush_has_a_limit) {
  const bool waits = !is("loopback");  // which leaves everything with the receiver at once
  job(GetParam(), 2).run([waits](node& n) {
    const blob large = pattern(8u << 20, 4);
    if (n.self.value() == 0) {
      n.send(1, 1, large);
      const auto from = base::now_ns();
      EXPECT_EQ(n.link->flush(100).code(), waits ? QUIRE_TIMED_OUT : QUIRE_OK);
      EXPECT_LT(base::now_ns() - from, 2'000'000'000u);
      EXPECT_EQ(n.link->sends_pending(), waits);
      n.meet({}, true);
      EXPECT_TRUE(n.link->flush(limit_ms).ok());
      EXPECT_FALSE(n.link->sends_pending());
    } else {
      n.meet({}, true);
      EXPECT_TRUE(n.progress_until([&] { return n.in.delivered == 1; }));
      EXPECT_EQ(n.in.buffer, large);
    }
    n.meet();
  });
}

TEST_P(transport_contract, without_a_place_the_message_is_dropped_and_counted) {
  static constexpr std::size_t sizes[] = {100, 4096, 20'000, 1u << 20};
  job(GetParam(), 2).run([](node& n) {
    n.in.on_place = [&](const message& m) -> void* {
      if (m.token == 1) return nullptr;
      n.in.buffer.resize(m.payload_bytes);
      return n.in.buffer.data();
    };
    const blob large = pattern(1u << 20, 5);
    for (const auto bytes : sizes) {
      if (n.self.value() == 0) n.send(1, 1, std::span(large).first(bytes));
    }
    if (n.self.value() == 0) {
      n.send(1, 2, large);
      EXPECT_TRUE(n.link->flush(limit_ms).ok());
    } else {
      EXPECT_TRUE(
          n.progress_until([&] { return n.in.delivered == 1 && n.link->counters().dropped == std::size(sizes); }));
      EXPECT_EQ(n.in.messages[0].token, 2u);
      EXPECT_EQ(n.in.buffer, large);
    }
    n.meet();
  });
}

// The service thread and faulting threads take turns under the engine's lock.
TEST_P(transport_contract, the_driving_thread_may_change) {
  static constexpr std::size_t count = 5'000;
  job(GetParam(), 2).run([](node& n) {
    std::mutex engine;
    const auto done = [&] { return n.in.delivered == 2 * count && !n.link->sends_pending(); };
    const auto drive = [&] {
      const auto deadline = deadline_ns();
      const blob page = pattern(4096, 6);
      for (std::size_t i = 0; base::now_ns() < deadline; ++i) {
        const std::lock_guard turn(engine);
        if (i < count) n.send(n.other().value(), i, page);
        n.link->progress();
        if (i > count && done()) break;
      }
    };
    std::thread other(drive);
    drive();
    other.join();
    EXPECT_TRUE(done());
    n.meet();
  });
}

TEST_P(transport_contract, a_dead_peer_is_reported_once_and_the_others_go_on) {
  if (is("shm") || is("outliving") || is("ucx") || is("delayed"))
    GTEST_SKIP() << "shared memory reports nothing: the launcher does";
  const bool threads = is("loopback");
  job nodes(GetParam(), 3);
  nodes.run(
      [&](node& n) {
        for (unsigned to = 0; to < 3; ++to) {
          if (to != n.self.value()) n.send(to, 0);
        }
        EXPECT_TRUE(n.progress_until([&] { return n.in.delivered == 2; }));
        n.meet();
        if (n.self.value() == 2) {
          if (!threads) ::kill(::getpid(), SIGKILL);
          nodes.hub().fail(n.self);
          return;
        }
        const auto from = base::now_ns();
        while (n.in.lost.empty()) ASSERT_TRUE(n.sleep_once()) << "a sleeper does not learn of the death";
        EXPECT_LT(base::now_ns() - from, 2'000'000'000u);
        const blob large = pattern(1u << 20, 2);
        for (int i = 0; i < 100; ++i) n.send(2, 1), n.send(2, 2, large);  // into the void
        n.in.on_message = [](const message& m) { EXPECT_EQ(m.token, 7u); };
        n.send(n.other().value(), 7, large);
        EXPECT_TRUE(n.progress_until([&] { return n.in.delivered == 3 && !n.link->sends_pending(); }));
        n.meet();
        EXPECT_EQ(n.in.lost, std::vector{node_id{2}});
        EXPECT_TRUE(n.link->flush(1'000).ok());
      },
      2);
}

// A peer that dies while much is under way to it, small and large.
TEST_P(transport_contract, what_is_under_way_to_a_dead_peer_hinders_nobody) {
  if (is("loopback")) GTEST_SKIP() << "nothing is ever under way in one process";
  const bool reports = is_by_tcp();
  job(GetParam(), 2)
      .run(
          [reports](node& n) {
            n.meet();
            if (n.self.value() == 1) {
              (void)n.progress_until([&] { return n.in.delivered > 3; });
              ::kill(::getpid(), SIGKILL);
            }
            const blob large = pattern(4u << 20, 2);
            for (int i = 0; i < 20'000; ++i) i % 1'000 == 5 ? n.send(1, 2, large) : n.send(1, 1);
            const auto from = base::now_ns();
            if (reports) {
              EXPECT_TRUE(n.progress_until([&] { return !n.in.lost.empty() && !n.link->sends_pending(); }, 10'000));
              EXPECT_EQ(n.in.lost.size(), 1u);
            }
            const auto flushed = n.link->flush(300).code();
            // Over shared memory the loss may show when UCX wants to map more of the peer's memory; mostly it does not.
            EXPECT_EQ(flushed, n.in.lost.empty() ? QUIRE_TIMED_OUT : QUIRE_OK);
            n.link.reset();
            EXPECT_LT(base::now_ns() - from, 10'000'000'000u);
          },
          1);
}

TEST_P(transport_contract, nothing_stays_behind) {
  const auto left = [] {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
      if (entry.path().filename().string().find("ucx") != std::string::npos) names.push_back(entry.path());
    }
    return names;
  };
  const auto before = left();
  const bool threads = is("loopback");
  job(GetParam(), 3)
      .run(
          [threads](node& n) {
            const blob large = pattern(1u << 20, 2);
            if (n.self.value() == 0) n.send(1, 1, large), n.send(2, 1, large);
            EXPECT_TRUE(n.self.value() == 0 || n.progress_until([&] { return n.in.delivered == 1; }));
            n.meet();
            if (n.self.value() == 2 && !threads) ::kill(::getpid(), SIGKILL);
          },
          2);
  EXPECT_EQ(left(), before);
}

/// Runs `function` in a process of its own, as UCX and the environment are there only once in a process.
void in_child(const std::function<void()>& function) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(limit_ms / 1000);
    function();
    ::fflush(nullptr);
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(transport_open, names) {
  in_child([] {
    EXPECT_EQ(open({"pigeon", 2, true}).why().code(), QUIRE_BAD_OPTION);
    EXPECT_EQ(open({"", 2, true}).why().code(), QUIRE_BAD_OPTION);
    EXPECT_EQ(open({"shm", 2, false}).why().code(), QUIRE_UNSUPPORTED);
    const auto name_of = [](const char* kind, bool all_local) {
      const auto opened = open({kind, 2, all_local});
      return std::string(opened.ok() ? opened.value()->name() : "none");
    };
    EXPECT_EQ(name_of("shm", true), "shm");
    EXPECT_EQ(name_of("tcp", true), "ucx tcp");
    EXPECT_EQ(name_of("auto", true), "shm");
    EXPECT_EQ(name_of("auto", false), "ucx tcp");
  });
}

TEST(transport_open, the_environment_of_the_user_wins) {
  in_child([] {
    ::setenv("UCX_TLS", "tcp", 1);
    const auto opened = open({"shm", 2, true});
    ASSERT_TRUE(opened.ok());
    EXPECT_STREQ(opened.value()->name(), "ucx by UCX_TLS");
  });
  in_child([] {
    ::setenv("UCX_TLS", "nonsense", 1);
    EXPECT_EQ(open({"auto", 2, true}).why().code(), QUIRE_SYSTEM);
  });
}

TEST(transport_open, leaves_the_process_as_it_was) {
  in_child([] {
    struct sigaction before[4], after[4];
    const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    sigset_t mask_before, mask_after;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_before);
    for (int i = 0; i < 4; ++i) ::sigaction(signals[i], nullptr, &before[i]);
    ::closefrom(3);  // what this process was started with
    const auto opened = open({"tcp", 2, true});
    ASSERT_TRUE(opened.ok());
    for (int i = 0; i < 4; ++i) {
      ::sigaction(signals[i], nullptr, &after[i]);
      EXPECT_EQ(before[i].sa_sigaction, after[i].sa_sigaction) << signals[i];
    }
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_after);
    for (int i = 1; i < SIGRTMAX; ++i) EXPECT_EQ(::sigismember(&mask_before, i), ::sigismember(&mask_after, i)) << i;
    for (const char* name : {"UCX_HANDLE_ERRORS", "UCX_MEM_EVENTS", "UCX_LOG_LEVEL", "UCX_VFS_ENABLE", "UCX_TLS"}) {
      EXPECT_EQ(::getenv(name), nullptr) << name;
    }
    unsigned ours = 0;
    for (int fd = 3; fd < 256; ++fd) {
      const int flags = ::fcntl(fd, F_GETFD);
      if (flags < 0) continue;
      ++ours;
      EXPECT_NE(flags & FD_CLOEXEC, 0) << fd;
    }
    EXPECT_GT(ours, 0u);
  });
}

TEST(transport_connect, refuses_addresses_that_are_not_of_its_kind) {
  in_child([] {
    auto mine = open({"tcp", 2, true}), theirs = open({"shm", 2, true});
    ASSERT_TRUE(mine.ok() && theirs.ok());
    inbox in;
    const std::span<const std::byte> addresses[] = {mine.value()->address(), theirs.value()->address()};
    EXPECT_EQ(mine.value()->connect(node_id{0}, addresses, in).code(), QUIRE_INVALID);
  });
  in_child([] {
    auto mine = open({"tcp", 2, true});
    ASSERT_TRUE(mine.ok());
    inbox in;
    const std::span<const std::byte> addresses[] = {mine.value()->address(), mine.value()->address().first(1)};
    EXPECT_EQ(mine.value()->connect(node_id{0}, addresses, in).code(), QUIRE_INVALID);
  });
  const auto hub = std::make_shared<loopback::hub>(2);
  const auto mine = loopback::open(hub, node_id{0});
  inbox in;
  const std::span<const std::byte> addresses[] = {mine->address(), mine->address()};
  EXPECT_EQ(mine->connect(node_id{0}, addresses, in).code(), QUIRE_INVALID);
}

}  // namespace
}  // namespace quire::transport::test::transport_test
