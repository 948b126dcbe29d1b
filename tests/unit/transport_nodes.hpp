// SPDX-License-Identifier: BSD-3-Clause
// Several nodes for tests of transports: threads of this process (loopback) or forked processes (UCX), which run one
// function each. They meet through this process: a coordinator that gathers a blob from every node and gives all to
// all. All waits have limits; nodes that do not come to an end are killed.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "os/futex.hpp"
#include "transport/loopback/loopback.hpp"
#include "transport/open.hpp"

namespace quire::transport::test {

using model::message;
using model::node_id;
using blob = std::vector<std::byte>;

inline constexpr int limit_ms = 60'000;

inline std::uint64_t deadline_ns(int ms = limit_ms) { return base::now_ns() + std::uint64_t(ms) * 1'000'000; }

/// A sink that tests can look into: keeps the messages, or hands them to `on_message`.
class inbox final : public sink {
 public:
  landing place(const message& m) noexcept override {
    if (on_place) {
      void* const at = on_place(m);
      return at != nullptr ? landing::at(at) : landing::too_late();
    }
    buffer.resize(m.payload_bytes);
    return landing::at(buffer.data());
  }
  void deliver(const message& m) noexcept override {
    ++delivered;
    if (on_message) {
      on_message(m);
    } else {
      messages.push_back(m);
    }
  }
  void peer_lost(node_id peer) noexcept override { lost.push_back(peer); }

  std::function<void*(const message&)> on_place;  ///< nullptr: it is too late
  std::function<void(const message&)> on_message;
  blob buffer;  ///< place of every payload without on_place: one at a time
  std::vector<message> messages;
  std::size_t delivered = 0;
  std::vector<node_id> lost;
};

inline bool transfer(int socket, void* data, std::size_t bytes, bool out) {
  for (std::size_t done = 0; done < bytes;) {
    auto* const at = static_cast<char*>(data) + done;
    pollfd ready{socket, static_cast<short>(out ? POLLOUT : POLLIN), 0};
    if (::poll(&ready, 1, limit_ms) != 1) return false;
    const auto n = out ? ::send(socket, at, bytes - done, MSG_NOSIGNAL) : ::recv(socket, at, bytes - done, 0);
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

inline bool write_blob(int socket, const blob& b) {
  auto size = static_cast<std::uint32_t>(b.size());
  return transfer(socket, &size, sizeof size, true) && transfer(socket, const_cast<std::byte*>(b.data()), size, true);
}

inline bool read_blob(int socket, blob& b) {
  std::uint32_t size = 0;
  if (!transfer(socket, &size, sizeof size, false)) return false;
  b.resize(size);
  return transfer(socket, b.data(), size, false);
}

/// What the function of a node works with.
struct node {
  node_id self;
  unsigned nodes;
  int coordinator;
  inbox in;
  std::unique_ptr<transport> link;
  unsigned sleeps = 0;

  /// All nodes that live meet, and get what each of them gave. Meanwhile this node makes progress, unless it is to be
  /// `still`.
  std::vector<blob> meet(const blob& mine = {}, bool still = false) {
    EXPECT_TRUE(write_blob(coordinator, mine));
    pollfd ready{coordinator, POLLIN, 0};
    const auto deadline = deadline_ns();
    while (::poll(&ready, 1, still ? limit_ms : 0) == 0 && base::now_ns() < deadline) {
      if (link && !link->progress()) ::sched_yield();
    }
    std::vector<blob> all(nodes);
    for (blob& b : all) EXPECT_TRUE(read_blob(coordinator, b)) << "node " << self.value();
    return all;
  }
  void connect() {
    const auto own = link->address();
    const auto all = meet({own.begin(), own.end()}, true);
    const std::vector<std::span<const std::byte>> addresses(all.begin(), all.end());
    ASSERT_TRUE(link->connect(self, addresses, in).ok());
  }
  /// Makes progress until `done`, or the limit is over.
  template <class F>
  [[nodiscard]] bool progress_until(F&& done, int ms = limit_ms) {
    const auto deadline = deadline_ns(ms);
    while (!done()) {
      if (!link->progress()) ::sched_yield();
      if (base::now_ns() > deadline) return false;
    }
    return true;
  }
  /// Sleeps on the descriptor or, each second time, on the word where there is one, until something was handled, or may
  /// have been. False when nothing came for five seconds.
  [[nodiscard]] bool sleep_once() {
    const futex_word word = link->word();
    while (!link->progress()) {
      if (word.at != nullptr && ++sleeps % 2 == 0) {
        if (!link->arm_word()) return true;
        const auto since = base::now_ns();
        os::futex_wait_shared(*word.at, word.value, 5'000'000'000);
        if (base::now_ns() - since >= 5'000'000'000u) return false;
        continue;
      }
      if (!link->arm()) return true;
      pollfd ready{link->descriptor(), POLLIN, 0};
      if (::poll(&ready, 1, 5'000) == 0) return false;
    }
    return true;
  }
  void send(unsigned to, std::uint64_t token, std::span<const std::byte> payload = {}, urgency how = urgency::now) {
    message m;
    m.kind = model::message_kind::read_reply;
    m.from = self;
    m.token = token;
    m.payload_bytes = static_cast<std::uint32_t>(payload.size());
    link->send(node_id{static_cast<std::uint16_t>(to)}, m, payload, how);
  }
  [[nodiscard]] node_id other() const { return node_id{static_cast<std::uint16_t>(1 - self.value())}; }
};

using node_function = std::function<void(node&)>;
using opener = std::function<base::result<std::unique_ptr<transport>>(unsigned nodes)>;

/// Runs `nodes` nodes, connected over the transport `kind` ("loopback", "shm", "outliving": shared memory of nodes
/// that outlive others, "ucx": UCX's shared memory, as a user may want it by UCX_TLS, "tcp", "encrypted": over TCP,
/// "hosts": two hosts, with TCP between them; two nodes are on one of them; "delayed": shared memory, as if over a
/// network), and waits for all.
class job {
 public:
  job(std::string kind, unsigned nodes) : kind_(std::move(kind)), nodes_(nodes), sockets_(nodes) {
    for (auto& pair : sockets_) EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
    if (kind_ == "loopback") hub_ = std::make_shared<loopback::hub>(nodes);
  }
  ~job() {
    for (auto& pair : sockets_) ::close(pair[0]);
  }
  /// `killed`: a node that ends by SIGKILL; any other end than a good one is a failure.
  void run(const node_function& function, int killed = -1) {
    hub_ ? run_threads(function) : run_processes(function, killed);
  }
  /// Processes whose transport another one opens.
  void run_with(opener opens, const node_function& function) {
    opens_ = std::move(opens);
    run_processes(function, -1);
  }
  [[nodiscard]] loopback::hub& hub() { return *hub_; }

 private:
  void run_node(unsigned i, const node_function& function) {
    node n{node_id{static_cast<std::uint16_t>(i)}, nodes_, sockets_[i][1], {}, {}};
    if (hub_) {
      n.link = loopback::open(hub_, n.self);
    } else if (opens_) {
      if (auto opened = opens_(nodes_); opened.ok()) n.link = std::move(opened.value());
    } else {
      const bool encrypts = kind_ == "encrypted", outlives = kind_ == "outliving", by_ucx = kind_ == "ucx";
      if (by_ucx) ::setenv("UCX_TLS", "posix", 1);  // of this process, which is a node and nothing else
      const bool hosts = kind_ == "hosts", delays = kind_ == "delayed";
      const std::string kind = encrypts ? "tcp" : outlives || by_ucx || delays ? "shm" : hosts ? "auto" : kind_;
      wanted how{kind, nodes_, !hosts, hosts ? "lo" : "auto"};
      how.outlives_peers = outlives;
      how.encrypts = encrypts;
      if (delays) how.delay = delayed::link{300, 0, 1};
      how.host = nodes_ == 2 ? 1 : 1 + i * 2 / nodes_;
      auto opened = open(how);
      if (opened.ok()) n.link = std::move(opened.value());
    }
    ASSERT_NE(n.link, nullptr) << "no transport " << kind_;
    n.connect();
    if (!testing::Test::HasFailure()) function(n);
  }
  void run_threads(const node_function& function) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < nodes_; ++i) {
      threads.emplace_back([this, i, &function] {
        run_node(i, function);
        ::close(sockets_[i][1]);
      });
    }
    coordinate();
    for (auto& thread : threads) thread.join();
  }
  void run_processes(const node_function& function, int killed) {
    std::vector<pid_t> children;
    for (unsigned i = 0; i < nodes_; ++i) {
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        for (unsigned k = 0; k < nodes_; ++k) {
          ::close(sockets_[k][0]);
          if (k != i) ::close(sockets_[k][1]);
        }
        run_node(i, function);
        ::fflush(nullptr);
        ::_exit(testing::Test::HasFailure() ? 1 : 0);
      }
      children.push_back(child);
    }
    for (auto& pair : sockets_) ::close(pair[1]);
    coordinate();
    for (unsigned i = 0; i < nodes_; ++i) expect_end(i, children[i], static_cast<int>(i) == killed);
  }
  void expect_end(unsigned i, pid_t child, bool killed) {
    int status = 0;
    const auto deadline = deadline_ns();
    while (::waitpid(child, &status, WNOHANG) == 0) {
      if (base::now_ns() > deadline) {
        ADD_FAILURE() << "node " << i << " does not end";
        ::kill(child, SIGKILL);
        ::waitpid(child, &status, 0);
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (killed) {
      EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "node " << i << " status " << status;
    } else {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "node " << i << " status " << status;
    }
  }
  /// Rounds of gathering and giving, until no node is left.
  void coordinate() {
    std::vector<bool> gone(nodes_);
    for (;;) {
      std::vector<blob> all(nodes_);
      unsigned there = 0;
      for (unsigned i = 0; i < nodes_; ++i) {
        if (!gone[i]) gone[i] = !read_blob(sockets_[i][0], all[i]);
        if (!gone[i]) ++there;
      }
      if (there == 0) return;
      for (unsigned i = 0; i < nodes_; ++i) {
        for (unsigned k = 0; k < nodes_ && !gone[i]; ++k) gone[i] = !write_blob(sockets_[i][0], all[k]);
      }
    }
  }

  std::string kind_;
  unsigned nodes_;
  opener opens_{};
  std::vector<std::array<int, 2>> sockets_;
  std::shared_ptr<loopback::hub> hub_;
};

inline blob pattern(std::size_t bytes, unsigned seed) {
  blob made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>((i * 31 + (i >> 8) * 7 + seed) & 0xff);
  return made;
}

/// What every body does: in-process, rings, UCX in memory and over TCP.
class any_body : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] bool is(const char* kind) const { return std::string(GetParam()) == kind; }
  [[nodiscard]] bool is_by_tcp() const { return is("tcp") || is("encrypted"); }
};
inline const auto bodies =
    testing::Values("loopback", "shm", "outliving", "ucx", "tcp", "encrypted", "hosts", "delayed");
inline std::string name_of_body(const testing::TestParamInfo<const char*>& chosen) { return chosen.param; }

}  // namespace quire::transport::test
