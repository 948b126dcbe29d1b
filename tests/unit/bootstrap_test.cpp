// SPDX-License-Identifier: BSD-3-Clause
// Start-up without processes: frames in pieces, a node's side of the control socket, tagged lines, counters.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/clock.hpp"
#include "bootstrap/launcher/output.hpp"
#include "bootstrap/launcher/statistics.hpp"
#include "bootstrap/local/member.hpp"

namespace quire::bootstrap::bootstrap_test {
namespace {

using local::channel;
using local::encode;
using local::frame_kind;
using ::testing::HasSubstr;

TEST(Frames, MayArriveInPiecesOfAnySize) {
  const std::string stream = encode(frame_kind::leave, 3, "counters") + encode(frame_kind::job_ends, -1, "") +
                             encode(frame_kind::node_died, 7, "why");
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    local::frame_reader reader;
    std::vector<local::frame> frames;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      reader.append(std::string_view(stream).substr(at, piece));
      while (auto frame = reader.next()) frames.push_back(std::move(*frame));
    }
    ASSERT_EQ(frames.size(), 3u) << "in pieces of " << piece;
    EXPECT_EQ(frames[0].payload, "counters");
    EXPECT_EQ(frames[1].kind, frame_kind::job_ends);
    EXPECT_EQ(frames[2].node, 7);
    EXPECT_FALSE(reader.broken());
  }
}

TEST(Frames, NonsenseBreaksTheStreamForGood) {
  for (const std::string& nonsense : {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(12, '\0'),
                                      std::string("\1\0\0\0\0\0\0\0\xff\xff\xff\xff", 12)}) {
    local::frame_reader reader;
    reader.append(nonsense);
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.broken());
    reader.append(encode(frame_kind::leave, 0, ""));
    EXPECT_FALSE(reader.next());
  }
}

TEST(Addresses, ArePackedAndUnpacked) {
  const std::string all[] = {"a", "", "long one"};
  const auto packed = local::pack_addresses(all);
  const auto unpacked = local::unpack_addresses(packed, 3);
  ASSERT_TRUE(unpacked);
  EXPECT_EQ((*unpacked)[2].size(), 8u);
  EXPECT_EQ((*unpacked)[1].size(), 0u);
  EXPECT_FALSE(local::unpack_addresses(packed, 4)) << "one is missing";
  EXPECT_FALSE(local::unpack_addresses(std::string_view(packed).substr(0, packed.size() - 1), 3))
      << "the last is cut off";
}

/// A member whose launcher is this test.
struct Member : ::testing::Test {
  void SetUp() override {
    auto pair = os::make_socket_pair();
    ASSERT_TRUE(pair.ok());
    ASSERT_TRUE(os::set_blocking(pair.value().first.number(), false).ok());
    ASSERT_TRUE(os::set_blocking(pair.value().second.number(), false).ok());
    node.emplace(std::move(pair.value().first), 1, 2, 2, 50);
    launcher.emplace(std::move(pair.value().second));
  }
  void tell(frame_kind kind, int who, std::string_view text) {
    launcher->queue(std::make_shared<const std::string>(encode(kind, who, text)));
    launcher->send();
  }
  std::optional<local::member> node;
  std::optional<channel> launcher;
  const std::vector<std::byte> mine{std::byte{1}};
};

TEST_F(Member, WaitsForAddressesNoLongerThanItsLimit) {
  const auto begin = base::now_ns();
  EXPECT_EQ(node->exchange(mine).why(), QUIRE_TIMED_OUT);
  EXPECT_GE(base::now_ns() - begin, 50'000'000u);
  launcher->receive();
  EXPECT_EQ(launcher->next()->kind, frame_kind::hello);
  EXPECT_EQ(launcher->next()->kind, frame_kind::address);
}

TEST_F(Member, HearsOfADeathDuringTheExchangeAndAfterwards) {
  tell(frame_kind::node_died, 0, "node 0 (pid 1) exited");
  EXPECT_EQ(node->exchange(mine).why(), QUIRE_PEER_LOST);
  const news heard = node->poll_news();
  EXPECT_EQ(heard.what, news::kind::node_died);
  EXPECT_EQ(heard.node, 0);
  EXPECT_EQ(heard.text, "") << "the launcher has told people";
  EXPECT_EQ(node->poll_news().what, news::kind::nothing);
}

TEST_F(Member, TellsOfADeathThatComesWithTheAddresses) {
  const std::string both[] = {"a", "b"};
  tell(frame_kind::addresses, -1, local::pack_addresses(both));
  tell(frame_kind::node_died, 0, "node 0 (pid 1) exited");
  EXPECT_EQ(node->exchange(mine).why(), QUIRE_PEER_LOST) << "the descriptor would not tell of it any more";
  EXPECT_EQ(node->poll_news().what, news::kind::node_died);
}

TEST_F(Member, TakesTheEndOfTheLauncherForTheEndOfTheJobOnce) {
  launcher.reset();
  EXPECT_EQ(node->exchange(mine).why(), QUIRE_PEER_LOST);
  const news heard = node->poll_news();
  EXPECT_EQ(heard.what, news::kind::job_ends);
  EXPECT_NE(heard.text, "") << "nobody else tells people";
  EXPECT_EQ(node->poll_news().what, news::kind::nothing);
  node->leave("{}");  // raises no SIGPIPE
}

TEST_F(Member, RefusesAnAnswerForAnotherNumberOfNodes) {
  const std::string one[] = {"only one"};
  tell(frame_kind::addresses, -1, local::pack_addresses(one));
  EXPECT_EQ(node->exchange(mine).why(), QUIRE_SYSTEM);
}

TEST_F(Member, RefusesAnAddressThatIsTooLong) {
  EXPECT_EQ(node->exchange(std::vector<std::byte>(local::most_address_bytes + 1)).why(), QUIRE_INVALID);
}

TEST(Alone, ExchangesWithItself) {
  const auto job = local::join_alone();
  const std::vector<std::byte> mine{std::byte{1}, std::byte{2}};
  const auto all = job->exchange(mine);
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all.value().size(), 1u);
  EXPECT_EQ(all.value()[0], mine);
  EXPECT_EQ(job->descriptor(), -1);
}

TEST(Counters, AreAddedUpByName) {
  const std::string told[] = {R"({"a": 1, "b": 2, "text": "no", "half": 0.5})", "", "not JSON", R"({"a": 10, "c": -4})",
                              "[1]"};
  const auto all = launcher::gather(told);
  EXPECT_EQ(all.nodes_told, 2);
  ASSERT_EQ(all.rows.size(), 3u);
  EXPECT_EQ(all.rows[0].name, "a");
  EXPECT_EQ(all.rows[0].total, 11);
  EXPECT_EQ(all.rows[0].by_node[3], 10);
  EXPECT_FALSE(all.rows[0].by_node[1]);
  EXPECT_EQ(all.rows[2].total, -4);
}

TEST(LineTagger, TagsWholeLines) {
  auto pipe = os::make_pipe();
  ASSERT_TRUE(pipe.ok());
  launcher::output out(pipe.value().second.number());
  launcher::line_tagger tagger(12);
  for (const char* piece : {"a", "b\nc", "", "\n\n", "last"}) tagger.add(piece, out);
  tagger.finish(out);
  tagger.finish(out);
  out.write_all();
  char buffer[256];
  const auto bytes = ::read(pipe.value().first.number(), buffer, sizeof buffer);
  EXPECT_EQ(std::string(buffer, static_cast<std::size_t>(bytes)), "[12] ab\n[12] c\n[12] \n[12] last\n");
}

}  // namespace
}  // namespace quire::bootstrap::bootstrap_test
