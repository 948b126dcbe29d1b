// SPDX-License-Identifier: BSD-3-Clause
// Jobs on several hosts without processes: lists of hosts, who runs where, what agents are told, PMI-1 with a launcher
// that this test is, command lines of installed launchers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "bootstrap/launcher/agent.hpp"
#include "bootstrap/launcher/hosts.hpp"
#include "bootstrap/launcher/installed.hpp"
#include "bootstrap/peers.hpp"
#include "bootstrap/pmi1/member.hpp"

namespace quire::bootstrap::hosts_test {
namespace {

using launcher::host_entry;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string text_of(const std::vector<host_entry>& hosts) {
  std::string text;
  for (const auto& host : hosts) text += host.name + "*" + std::to_string(host.slots) + " ";
  return text;
}

TEST(Hosts, AreReadFromAListAndAFile) {
  std::string why;
  EXPECT_EQ(text_of(launcher::parse_hosts("a,b:2,10.0.0.7", why).value()), "a*1 b*2 10.0.0.7*1 ");
  EXPECT_EQ(text_of(launcher::parse_host_file("# all\n\na\r\n b:2 # two\nc slots=3\n\td", why).value()),
            "a*1 b*2 c*3 d*1 ");
}

TEST(Hosts, ThatMakeNoSenseAreRefused) {
  for (const char* list : {"", "a,,b", "-oProxyCommand=x", "a:0", "a:x", "a:", "a b", "$(x)"}) {
    std::string why;
    EXPECT_EQ(launcher::parse_hosts(list, why).why(), QUIRE_BAD_OPTION) << list;
    EXPECT_FALSE(why.empty());
  }
  std::string why;
  EXPECT_FALSE(launcher::parse_host_file("a max_slots=2\n", why).ok());
  EXPECT_THAT(why, HasSubstr("max_slots=2"));
  EXPECT_FALSE(launcher::parse_host_file("# nobody\n", why).ok());
}

TEST(Hosts, GetNodesAsTheirSlotsSayAndAgainFromTheFirst) {
  const auto placed = [](std::vector<host_entry> hosts, int nodes) {
    std::string text;
    for (const auto& plan : launcher::place_nodes(hosts, nodes))
      text += plan.name + ":" + std::to_string(plan.first) + "+" + std::to_string(plan.nodes) + " ";
    return text;
  };
  EXPECT_EQ(placed({{"a", 1}, {"b", 2}}, 3), "a:0+1 b:1+2 ");
  EXPECT_EQ(placed({{"a", 1}, {"b", 2}}, 7), "a:0+3 b:3+4 ");
  EXPECT_EQ(placed({{"a", 4}, {"b", 2}}, 3), "a:0+3 ");
}

TEST(StartDescription, ArrivesAsItWasSent) {
  const launcher::start_description sent{"/a dir", 2, 3, 9, {"prog", "", "two words"}, {{"QUIRE_TAG", "1"}, {"A", ""}}};
  const auto packed = launcher::pack(sent);
  const auto got = launcher::unpack_start(packed);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->directory, "/a dir");
  EXPECT_EQ(got->first * 100 + got->here * 10 + got->nodes, 239);
  EXPECT_EQ(got->command, sent.command);
  EXPECT_EQ(got->environment, sent.environment);
  for (std::size_t length = 0; length < packed.size(); length += 3)
    static_cast<void>(launcher::unpack_start(std::string_view(packed).substr(0, length)));
  EXPECT_FALSE(launcher::unpack_start("nonsense"));
  EXPECT_FALSE(launcher::unpack_start(launcher::pack({"/", 8, 2, 9, {"prog"}, {}}))) << "more nodes than the job has";
}

TEST(InstalledLaunchers, GetTheHostsAndTheOptions) {
  launcher::job_plan plan;
  plan.nodes = 3;
  plan.hosts = {{"a", 0, 1}, {"b", 1, 2}};
  plan.command = {"prog", "-x"};
  plan.timeout_ms = 1500;
  plan.environment = {{"QUIRE_UNIT", "64K"}};
  const auto mpirun = launcher::mpirun_words(plan, "/m", "rsh");
  EXPECT_THAT(testing::PrintToString(mpirun), HasSubstr("\"--map-by\", \"seq\", \"--host\", \"a,b,b\""));
  EXPECT_THAT(testing::PrintToString(mpirun), HasSubstr("\"plm_rsh_agent\", \"rsh\""));
  EXPECT_THAT(testing::PrintToString(mpirun), HasSubstr("\"--timeout\", \"2\""));
  EXPECT_THAT(testing::PrintToString(mpirun), HasSubstr("\"-x\", \"QUIRE_UNIT\""));
  EXPECT_EQ(mpirun.back(), "-x");
  EXPECT_THAT(launcher::srun_words(plan, "/s"),
              ElementsAre("/s", "--mpi=pmix", "--ntasks=3", "--cpu-bind=none", "--kill-on-bad-exit=1",
                          "--distribution=arbitrary", "--nodelist=a,b,b", "--overcommit", "--time=1", "prog", "-x"));
  plan.survivors_go_on = true;
  EXPECT_THAT(launcher::mpirun_words(plan, "/m", ""), Contains("--enable-recovery"));
  EXPECT_THAT(launcher::srun_words(plan, "/s"), Contains("--kill-on-bad-exit=0"));
}

/// A launcher that speaks PMI-1 with one node, by answers that are given beforehand.
struct Pmi1 : ::testing::Test {
  void SetUp() override {
    auto pair = os::make_socket_pair();
    ASSERT_TRUE(pair.ok());
    ASSERT_TRUE(os::set_blocking(pair.value().first.number(), false).ok());
    node.emplace(std::move(pair.value().first), 0, 1, 1, 200);
    end = std::move(pair.value().second);
  }
  void answer(std::string_view text) { ASSERT_EQ(os::write_some(end.number(), text).bytes, text.size()); }
  std::string heard() {
    char buffer[8192];
    const auto moved = os::read_some(end.number(), buffer);
    return {buffer, moved.bytes};
  }
  void open() {
    answer(
        "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
        "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=20\ncmd=my_kvsname kvsname=space_1\n");
    ASSERT_TRUE(node->open().ok());
    static_cast<void>(heard());
  }
  std::optional<pmi1::member> node;
  os::descriptor end;
  const std::vector<std::byte> mine = std::vector<std::byte>(10, std::byte{0xab});
};

TEST_F(Pmi1, LongValuesGoInPieces) {
  open();
  // Who the process is goes along with the first value.
  for (const std::size_t along : {sizeof(process_identity), std::size_t{0}}) {
    constexpr std::size_t piece = 9;
    const std::size_t bytes = along + mine.size(), pieces = (bytes + piece - 1) / piece;
    for (std::size_t i = 0; i <= pieces; ++i) answer("cmd=put_result rc=0 msg=success\n");
    answer("cmd=barrier_out\ncmd=get_result rc=0 msg=success value=" + std::to_string(pieces) + "\n");
    for (std::size_t left = bytes; left != 0; left -= std::min(left, piece)) {
      std::string value;
      for (std::size_t i = 0; i < std::min(left, piece); ++i) value += "ab";
      answer("cmd=get_result rc=0 value=" + value + "\n");
    }
    answer("cmd=barrier_out\n");
    const auto all = node->exchange(mine);
    ASSERT_TRUE(all.ok());
    EXPECT_EQ(all.value().at(0), mine);
    EXPECT_THAT(heard(), HasSubstr("-" + std::to_string(pieces - 1) + " value=ab"));
  }
}

TEST_F(Pmi1, ALauncherThatDoesNotAnswerIsGivenUp) { EXPECT_EQ(node->open().code(), QUIRE_TIMED_OUT); }

TEST_F(Pmi1, ALauncherThatRefusesOrIsGoneIsTold) {
  open();
  answer("cmd=put_result rc=-1 msg=full\n");
  EXPECT_EQ(node->exchange(mine).why(), QUIRE_SYSTEM);
  end.reset();
  EXPECT_EQ(node->exchange(mine).why(), QUIRE_PEER_LOST);
  EXPECT_EQ(node->poll_news().what, news::kind::job_ends);
  EXPECT_EQ(node->poll_news().what, news::kind::nothing);
}

}  // namespace
}  // namespace quire::bootstrap::hosts_test
