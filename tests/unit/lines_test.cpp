// SPDX-License-Identifier: BSD-3-Clause
// Lines between hosts, and the switch by which another host kills a process; all on loopback or the host's own address.
#include "bootstrap/lines/lines.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "base/clock.hpp"

namespace quire::bootstrap::lines_test {
namespace {

using state = life_lines::state;
using ::testing::HasSubstr;

constexpr base::secret ours{1, 2}, theirs{1, 3};

/// A child process with a pipe in each direction.
struct child {
  explicit child(const std::function<void(int in, int out)>& runs) {
    auto to = os::make_pipe(), from = os::make_pipe();
    pid = ::fork();
    if (pid == 0) {
      runs(to.value().first.number(), from.value().second.number());
      ::_exit(0);
    }
    in = std::move(from.value().first);
    out = std::move(to.value().second);
  }
  ~child() {
    ::kill(pid, SIGKILL);
    (void)ended(5000);
  }
  /// Its status, within so many milliseconds.
  int ended(int ms) {
    for (const std::uint64_t until = base::now_ns() + static_cast<std::uint64_t>(ms) * base::ms; !over;) {
      over = ::waitpid(pid, &status, WNOHANG) == pid;
      if (over || base::now_ns() >= until) break;
      os::wait_ready({}, 1);
    }
    return over ? status : -1;
  }
  pid_t pid;
  int status = 0;
  bool over = false;
  os::descriptor in, out;
};

template <class T>
void tell(int to, const T& what) {
  ASSERT_EQ(::write(to, &what, sizeof what), static_cast<ssize_t>(sizeof what));
}
template <class T>
T heard(int from) {
  T what{};
  EXPECT_EQ(::read(from, &what, sizeof what), static_cast<ssize_t>(sizeof what));
  return what;
}

sockaddr_in loopback() {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

TEST(KillSwitch, EndsAProcessThatIsStopped) {
  child one([](int, int out) {
    kill_switch made;
    tell(out, made.open(ours) ? made.port() : std::uint16_t{0});
    ::raise(SIGSTOP);
    for (;;) ::pause();
  });
  const auto port = heard<std::uint16_t>(one.in.number());
  ASSERT_NE(port, 0);
  for (int i = 0; i < 10; ++i) kill_switch::send(loopback(), port, theirs);
  const os::descriptor socket(::socket(AF_INET, SOCK_DGRAM, 0));
  auto there = loopback();
  there.sin_port = htons(port);
  for (const std::size_t bytes : {0, 1, 15, 17, 4000}) {
    const std::vector<char> text(bytes, 1);
    ::sendto(socket.number(), text.data(), bytes, 0, reinterpret_cast<const sockaddr*>(&there), sizeof there);
  }
  EXPECT_EQ(one.ended(200), -1) << "a word that is not its own has ended it";
  kill_switch::send(loopback(), port, ours);
  const int status = one.ended(5000);
  EXPECT_TRUE(status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

using address = std::array<std::byte, 96>;
address packed(const life_lines& of) {
  address made{};
  const auto bytes = of.address();
  EXPECT_LE(bytes.size(), made.size());
  std::copy(bytes.begin(), bytes.end(), made.begin());
  return made;
}

/// Node 1 of two, in a process of its own: has a line with node 0, says so, and goes on with `then`.
void be_node_1(int in, int out, const std::function<void()>& then) {
  life_lines lines;
  std::string why;
  bool well = lines.open(1, ours, why).ok();
  const auto size = lines.address().size();
  tell(out, packed(lines));
  const auto first = heard<address>(in);
  const std::vector<std::vector<std::byte>> all{{first.begin(), first.begin() + static_cast<long>(size)},
                                                lines.address()};
  well = well && lines.reach(std::array{0}, all, why).ok();
  tell(out, well);
  then();
}

struct Lines : ::testing::Test {
  void SetUp() override { ASSERT_TRUE(lines.open(0, ours, why).ok()) << why; }
  /// A line with a node 1 that does `then`.
  void meet(child& other) {
    const auto size = lines.address().size();
    const auto second = heard<address>(other.in.number());
    tell(other.out.number(), packed(lines));
    const std::vector<std::vector<std::byte>> all{lines.address(),
                                                  {second.begin(), second.begin() + static_cast<long>(size)}};
    ASSERT_TRUE(lines.reach(std::array{1}, all, why).ok()) << why;
    ASSERT_TRUE(heard<bool>(other.in.number()));
    ASSERT_GE(lines.descriptor(1), 0);
  }
  /// What becomes of a line within five seconds.
  state end_of_line() {
    pollfd entry{lines.descriptor(1), POLLIN, 0};
    os::wait_ready({&entry, 1}, 5000);
    return lines.state_of(1);
  }
  life_lines lines;
  std::string why;
};

TEST_F(Lines, EndWithTheProcess) {
  child other([](int in, int out) { be_node_1(in, out, [] { ::pause(); }); });
  meet(other);
  EXPECT_EQ(lines.state_of(1), state::whole);
  ::kill(other.pid, SIGKILL);
  EXPECT_EQ(end_of_line(), state::ended);
}

TEST_F(Lines, EndThoughAForkedChildLivesOn) {
  child other([](int in, int out) {
    be_node_1(in, out, [out] {
      const pid_t inner = ::fork();
      if (inner != 0) tell(out, inner);
      ::pause();
    });
  });
  meet(other);
  const auto inner = heard<pid_t>(other.in.number());
  os::wait_ready({}, 50);  // it has run its handlers of fork()
  ::kill(other.pid, SIGKILL);
  EXPECT_EQ(end_of_line(), state::ended);
  EXPECT_EQ(::kill(inner, SIGKILL), 0);
}

TEST_F(Lines, BringTheWordThatKills) {
  child other([](int in, int out) { be_node_1(in, out, [] { ::raise(SIGSTOP); }); });
  meet(other);
  EXPECT_FALSE(lines.kill(2)) << "there is no line with it";
  for (int i = 0; i < 100 && other.ended(20) == -1; ++i) EXPECT_TRUE(lines.kill(1));
  EXPECT_TRUE(other.over && WIFSIGNALED(other.status) && WTERMSIG(other.status) == SIGKILL);
  EXPECT_EQ(end_of_line(), state::ended);
  lines.drop(1);
  EXPECT_EQ(lines.descriptor(1), -1);
}

TEST_F(Lines, AreRefusedToOthers) {
  std::vector<std::vector<std::byte>> all{lines.address(), std::vector<std::byte>(3)};
  EXPECT_EQ(lines.reach(std::array{1}, all, why).code(), QUIRE_INVALID);
  EXPECT_THAT(why, HasSubstr("node 1 runs another version of Quire"));
}

}  // namespace
}  // namespace quire::bootstrap::lines_test
