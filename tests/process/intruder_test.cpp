// SPDX-License-Identifier: BSD-3-Clause
// Strangers at the ports of a job over TCP: whatever they say, the job goes on with right results, and they are
// counted.
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "command.hpp"
#include "processes.hpp"

namespace quire::test::intruder_test {
namespace {

constexpr int nodes = 3;

std::string random_bytes(std::mt19937_64& random, std::size_t count) {
  std::string bytes(count, 0);
  for (char& b : bytes) b = static_cast<char>(random());
  return bytes;
}
template <class... T>
std::string packed(const T&... values) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
  return bytes;
}

/// A connection, or -1 where there is none any more.
int connect_to(const sockaddr_in& where) {
  const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(s, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0) return s;
  ::close(s);
  return -1;
}
void say(int s, std::string_view bytes) {
  if (s >= 0) (void)!::send(s, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}
/// Whether the other end closes within some seconds.
bool is_closed(int s) {
  pollfd entry{s, POLLIN, 0};
  char byte;
  return s < 0 || (::poll(&entry, 1, 20'000) == 1 && ::recv(s, &byte, 1, MSG_DONTWAIT) <= 0);
}

/// intruder_program on three nodes over TCP, which says when it is ready, and what came of it. It runs until it is
/// asked for that, and `seconds` at least.
class visited_job {
 public:
  explicit visited_job(double seconds)
      : end_(std::filesystem::temp_directory_path() / ("quire-intruder-" + std::to_string(::getpid()))),
        job_({QUIRE_TOOL, "run", "-n", std::to_string(nodes), "--transport", "tcp", "--timeout", "50",
              QUIRE_PROGRAMS "/intruder_program", std::to_string(seconds), end_}) {}
  ~visited_job() { std::filesystem::remove(end_); }

  std::vector<sockaddr_in> ports() {
    std::vector<sockaddr_in> found;
    for (int node = 0; node < nodes; ++node)
      if (!job_.wait_for("node " + std::to_string(node) + " is ", 30)) return found;
    for (const pid_t pid : family_of(job_.pid()))
      for (const auto& where : listeners_of(pid, any_v6_)) found.push_back(where);
    EXPECT_EQ(found.size(), static_cast<std::size_t>(nodes)) << job_.out();
    return found;
  }
  /// What all nodes refused; -1 if the job did not end well.
  long refused_connections() {
    std::ofstream{end_};
    const auto result = job_.finish(50);
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    EXPECT_TRUE(job_.left_behind(5).empty());
    long sum = 0;
    int told = 0;
    for (const auto& line : matches_of(result.out, "refused ([0-9]+) connections and ([0-9]+) messages")) {
      ++told;
      sum += std::stol(line[1]);
      EXPECT_EQ(line[2], "0") << "strangers get no message as far as that";
    }
    EXPECT_EQ(told, nodes) << result.out << result.err;
    if (sum > 0) {
      EXPECT_NE(result.err.find("refused a connection from 127.0.0.1"), std::string::npos) << result.err;
      EXPECT_NE(result.err.find("QUIRE_NET_DEVICES"), std::string::npos);
    }
    return result.status == 0 && told == nodes ? sum : -1;
  }
  [[nodiscard]] bool any_v6() const { return any_v6_; }

 private:
  bool any_v6_ = false;
  std::filesystem::path end_;
  command job_;
};

TEST(strangers, that_do_not_come_are_not_counted) {
  visited_job job(1);
  const auto ports = job.ports();
  for (const auto& where : ports)
    EXPECT_EQ(where.sin_addr.s_addr, htonl(INADDR_LOOPBACK)) << "listens beyond this host";
  EXPECT_FALSE(job.any_v6());
  EXPECT_EQ(job.refused_connections(), 0);
}

/// What UCX would take for the begin of a connection, and what Quire's gate would: right but for the secret.
TEST(strangers, that_speak_are_dropped_and_counted) {
  visited_job job(4);
  const auto ports = job.ports();
  ASSERT_FALSE(ports.empty());
  std::mt19937_64 random(4711);
  constexpr std::uint64_t ucx_magic = 0xCAFEBABE12345678;
  std::vector<std::string> words;
  for (int i = 0; i < 20; ++i) {
    words.push_back(random_bytes(random, 1 + random() % 400));
    words.push_back(packed(ucx_magic) + random_bytes(random, random() % 400));
    // A message of UCX's whose length, or kind, ends its process.
    words.push_back(packed(ucx_magic) + std::string("\x03", 1) + packed(0x7fffffffu) + std::string(1600, '\xff'));
    words.push_back(packed(ucx_magic) + random_bytes(random, 1) + packed(16u) + std::string(16, '\xff'));
    words.push_back("QIRGATE1" + random_bytes(random, 24));
    words.push_back("QIRGATE1" + random_bytes(random, 24) + packed(ucx_magic) + random_bytes(random, 200));
    words.push_back("QIRGATE1" + std::string(24, 0));
    words.push_back("QIRGATE1" + random_bytes(random, random() % 24));  // too short
    words.push_back("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  long sent = 0;
  for (const std::string& said : words)
    for (const auto& where : ports) {
      const int s = connect_to(where);
      if (s < 0) continue;
      say(s, said);
      EXPECT_TRUE(is_closed(s)) << "a stranger is kept";
      ::close(s);
      ++sent;
    }
  EXPECT_EQ(sent, static_cast<long>(words.size() * ports.size()));
  EXPECT_EQ(job.refused_connections(), sent);
}

TEST(strangers, that_are_silent_or_slow_or_many_keep_nobody_from_working) {
  visited_job job(4);
  const auto ports = job.ports();
  ASSERT_FALSE(ports.empty());
  std::vector<int> silent;
  for (int i = 0; i < 100; ++i)
    for (const auto& where : ports) silent.push_back(connect_to(where));
  for (int i = 0; i < 1'500; ++i) {
    const int s = connect_to(ports[static_cast<std::size_t>(i) % ports.size()]);
    if (i % 3 == 0) say(s, std::string(1 + i % 2'000, 'x'));
    ::close(s);  // some with a reset
  }
  for (std::size_t i = 0; i < silent.size(); i += 2) say(silent[i], "Q");  // byte by byte
  for (std::size_t i = 0; i < silent.size(); i += 2) say(silent[i], "I");
  EXPECT_GE(job.refused_connections(), 500);
  for (const int s : silent) ::close(s);
}

/// Takes down the first words of connections on loopback, which needs root, and says them again.
TEST(strangers, that_have_listened_and_say_the_same_are_dropped_and_counted) {
  const int wire = ::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_IP));
  if (wire < 0) GTEST_SKIP() << "only root can listen to others";
  constexpr int room = 8 << 20;
  ::setsockopt(wire, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
  visited_job job(1);
  struct heard {
    in_port_t port;
    std::string first;
  };
  std::vector<heard> all;
  std::atomic<bool> over{false};
  std::thread listener([&] {
    char packet[65536];
    while (!over) {
      const auto bytes = ::recv(wire, packet, sizeof packet, 0);
      if (bytes < 40) {
        ::usleep(200);
        continue;
      }
      const auto ip_bytes = static_cast<std::size_t>(packet[0] & 15) * 4;
      tcphdr tcp;
      if (packet[9] != IPPROTO_TCP || static_cast<std::size_t>(bytes) < ip_bytes + sizeof tcp) continue;
      std::memcpy(&tcp, packet + ip_bytes, sizeof tcp);
      const std::size_t at = ip_bytes + tcp.doff * 4u;
      const std::string_view said(packet + at, static_cast<std::size_t>(bytes) - std::min<std::size_t>(at, bytes));
      if (said.starts_with("QIRGATE1")) all.push_back({tcp.dest, std::string(said)});
    }
  });
  const auto ports = job.ports();
  over = true;
  listener.join();
  ::close(wire);
  long sent = 0;
  for (const auto& where : ports)
    for (const auto& h : all) {  // to the same listener, and to others
      const int s = connect_to(where);
      ASSERT_GE(s, 0) << "the job does not listen any more";
      say(s, h.first);
      EXPECT_TRUE(is_closed(s)) << "a repeated proof is taken";
      ::close(s);
      ++sent;
    }
  EXPECT_GE(std::count_if(all.begin(), all.end(),
                          [&](const heard& h) {
                            return std::any_of(ports.begin(), ports.end(),
                                               [&](const auto& p) { return p.sin_port == h.port; });
                          }),
            nodes)
      << "nothing was heard: this test shows nothing";
  EXPECT_EQ(job.refused_connections(), sent);
}

}  // namespace
}  // namespace quire::test::intruder_test
