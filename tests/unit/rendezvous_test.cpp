// SPDX-License-Identifier: BSD-3-Clause
// A job without a launcher, without processes: what the environment says, the proof of the secret, what the hub
// decides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "bootstrap/rendezvous/hub.hpp"
#include "bootstrap/rendezvous/place.hpp"
#include "bootstrap/proof.hpp"

namespace quire::bootstrap::rendezvous_test {
namespace {

using local::frame_kind;
using rendezvous::hub;
using rendezvous::introduction;
using rendezvous::place;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// ---- The environment ----

constexpr const char* secret = "QUIRE_SECRET=0123456789abcdef";

base::result<place> read(std::vector<const char*> environment, std::string& why) {
  environment.push_back(nullptr);
  return rendezvous::read_place(environment.data(), why);
}

struct good {
  std::vector<const char*> environment;
  const char* address;
  int rank, size;
};
const good all_good[] = {
    {{"QUIRE_RENDEZVOUS=a:1", "QUIRE_RANK=0", "QUIRE_SIZE=1", secret}, "a:1", 0, 1},
    {{"QUIRE_RENDEZVOUS=10.0.0.1:65535", "QUIRE_RANK=1023", "QUIRE_SIZE=1024", secret}, "10.0.0.1:65535", 1023, 1024},
    {{"QUIRE_RENDEZVOUS=[::1]:29600", "QUIRE_RANK=1", "QUIRE_SIZE=2", secret}, "[::1]:29600", 1, 2},
    {{"QUIRE_RENDEZVOUS=:29600", "RANK=2", "WORLD_SIZE=4", "MASTER_ADDR=m", "MASTER_PORT=29500", secret},
     "m:29600",
     2,
     4},
    {{"QUIRE_RENDEZVOUS=j-0.j:29600", "JOB_COMPLETION_INDEX=3", "QUIRE_SIZE=4", secret}, "j-0.j:29600", 3, 4},
    // torchrun in a pod: its word is the nearer one; Quire's own is the nearest.
    {{"QUIRE_RENDEZVOUS=a:1", "JOB_COMPLETION_INDEX=1", "RANK=5", "WORLD_SIZE=8", secret}, "a:1", 5, 8},
    {{"QUIRE_RENDEZVOUS=a:1", "RANK=5", "WORLD_SIZE=8", "QUIRE_RANK=1", "QUIRE_SIZE=2", secret}, "a:1", 1, 2},
};

TEST(PlaceOfARendezvous, ComesFromQuiresVariablesThenFromThoseOfOthers) {
  for (const auto& one : all_good) {
    std::string why;
    const auto found = read(one.environment, why);
    ASSERT_TRUE(found.ok()) << one.environment[0] << ": " << why;
    EXPECT_EQ(found.value().address(), one.address);
    EXPECT_EQ(found.value().rank, one.rank);
    EXPECT_EQ(found.value().size, one.size);
    EXPECT_EQ(found.value().limit_s, 300);
  }
}

struct bad {
  std::vector<const char*> environment;
  const char* why;
};
const bad all_bad[] = {
    {{"QUIRE_RENDEZVOUS=a", "QUIRE_RANK=0", "QUIRE_SIZE=2", secret}, "HOST:PORT"},
    {{"QUIRE_RENDEZVOUS=a:", "QUIRE_RANK=0", "QUIRE_SIZE=2", secret}, "HOST:PORT"},
    {{"QUIRE_RENDEZVOUS=a:0", "QUIRE_RANK=0", "QUIRE_SIZE=2", secret}, "1 to 65535"},
    {{"QUIRE_RENDEZVOUS=a:65536", "QUIRE_RANK=0", "QUIRE_SIZE=2", secret}, "1 to 65535"},
    {{"QUIRE_RENDEZVOUS=a:1152921504606846976", "QUIRE_RANK=0", "QUIRE_SIZE=2", secret}, "1 to 65535"},
    {{"QUIRE_RENDEZVOUS=a:1x", "QUIRE_RANK=0", "QUIRE_SIZE=2", secret}, "1 to 65535"},
    {{"QUIRE_RENDEZVOUS=::1:29600", "QUIRE_RANK=0", "QUIRE_SIZE=2", secret}, "in brackets"},
    {{"QUIRE_RENDEZVOUS=a b:1", "QUIRE_RANK=0", "QUIRE_SIZE=2", secret}, "HOST:PORT"},
    {{"QUIRE_RENDEZVOUS=:1", "QUIRE_RANK=0", "QUIRE_SIZE=2", secret}, "MASTER_ADDR is not set"},
    {{"QUIRE_RENDEZVOUS=a:1", "QUIRE_SIZE=2", secret}, "not QUIRE_RANK or RANK or JOB_COMPLETION_INDEX"},
    {{"QUIRE_RENDEZVOUS=a:1", "QUIRE_RANK=0", secret}, "not QUIRE_SIZE or WORLD_SIZE"},
    {{"QUIRE_RENDEZVOUS=a:1", "QUIRE_RANK=0", "QUIRE_SIZE=0", secret}, "QUIRE_SIZE=0 is not allowed"},
    {{"QUIRE_RENDEZVOUS=a:1", "QUIRE_RANK=0", "WORLD_SIZE=0", secret}, "WORLD_SIZE=0 makes no sense"},
    {{"QUIRE_RENDEZVOUS=a:1", "QUIRE_RANK=2", "QUIRE_SIZE=2", secret}, "the ranks of this job are 0 to 1"},
    {{"QUIRE_RENDEZVOUS=a:1", "RANK=7", "WORLD_SIZE=4", secret}, "RANK=7 and WORLD_SIZE=4"},
    {{"QUIRE_RENDEZVOUS=a:1", "QUIRE_RANK=1152921504606846976", "QUIRE_SIZE=2", secret}, "is not allowed"},
    {{"QUIRE_RENDEZVOUS=a:1", "RANK=1152921504606846976", "WORLD_SIZE=2", secret}, "RANK=1152921504606846976"},
    {{"QUIRE_RENDEZVOUS=a:1", "RANK=-1", "WORLD_SIZE=2", secret}, "RANK=-1 makes no sense"},
    {{"QUIRE_RENDEZVOUS=a:1", "RANK=one", "WORLD_SIZE=2", secret}, "RANK=one makes no sense"},
    {{"QUIRE_RENDEZVOUS=a:1", "QUIRE_RANK=0", "QUIRE_SIZE=2"}, "without a secret anybody could join"},
    {{"QUIRE_RENDEZVOUS=a:1", "QUIRE_RANK=0", "QUIRE_SIZE=2", "QUIRE_SECRET=0123456789abcde"}, "has 15 characters"},
    {{"QUIRE_RENDEZVOUS=a:1", "QUIRE_RANK=0", "QUIRE_SIZE=2", secret, "QUIRE_SECRET_FILE=/x"}, "both set"},
    {{"QUIRE_RENDEZVOUS=a:1", "QUIRE_RANK=0", "QUIRE_SIZE=2", "QUIRE_SECRET_FILE=/no/such"}, "/no/such: No such file"},
    {{"QUIRE_RENDEZVOUS=a:1", "QUIRE_RANK=0", "QUIRE_SIZE=2", "QUIRE_SECRET_FILE=/"}, "/: Is a directory"},
    {{"QUIRE_RENDEZVOUS=a:1", "QUIRE_RANK=0", "QUIRE_SIZE=2", "QUIRE_SECRET_FILE=/dev/null"}, "has 0 characters"},
    {{"QUIRE_RENDEZVOUS=a:1", "QUIRE_RANK=0", "QUIRE_SIZE=2", "QUIRE_SECRET_FILE=/dev/zero"}, "more than 4096 bytes"},
    {{"QUIRE_RENDEZVOUS=a:1", "QUIRE_RENDEZVOUS_TIMEOUT=0"}, "QUIRE_RENDEZVOUS_TIMEOUT=0 is not allowed"},
    {{"QUIRE_RANK=0"}, "QUIRE_RANK is set, but not QUIRE_RENDEZVOUS"},
    {{"QUIRE_SIZE=2"}, "QUIRE_SIZE is set, but not QUIRE_RENDEZVOUS"},
};

TEST(PlaceOfARendezvous, NonsenseIsRefusedByName) {
  for (const auto& one : all_bad) {
    std::string why;
    const auto found = read(one.environment, why);
    EXPECT_EQ(found.why().code(), QUIRE_BAD_OPTION) << one.why;
    EXPECT_THAT(why, HasSubstr(one.why));
  }
}

TEST(PlaceOfARendezvous, OfOtherLaunchersAloneIsNone) {
  std::string why;
  EXPECT_EQ(
      read({"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=m", "MASTER_PORT=1", "JOB_COMPLETION_INDEX=1"}, why).why().code(),
      QUIRE_NOT_FOUND);
  EXPECT_EQ(read({"QUIRE_RENDEZVOUS="}, why).why().code(), QUIRE_NOT_FOUND);
}

TEST(SecretOfARendezvous, IsTheSameFromAFileWithAnEndOfLine) {
  char path[] = "/tmp/quire_secret_XXXXXX";
  const int file = ::mkstemp(path);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::write(file, "0123456789abcdef\n", 17), 17);
  ::close(file);
  std::string why;
  const std::string variable = std::string("QUIRE_SECRET_FILE=") + path;
  const auto from_file = read({"QUIRE_RENDEZVOUS=a:1", "QUIRE_RANK=0", "QUIRE_SIZE=2", variable.c_str()}, why);
  ::unlink(path);
  ASSERT_TRUE(from_file.ok()) << why;
  const auto same = rendezvous::secret_of("0123456789abcdef"), other = rendezvous::secret_of("0123456789abcdeg");
  EXPECT_EQ(from_file.value().secret.first, same.first);
  EXPECT_EQ(from_file.value().secret.second, same.second);
  EXPECT_NE(same.first, other.first);
  EXPECT_NE(same.second, other.second);
  EXPECT_NE(same.first, same.second);
}

// ---- The proof ----

TEST(ProofOfARendezvous, HoldsForOneSecretOneChallengeAndOneRank) {
  const auto ours = rendezvous::secret_of("ours"), theirs = rendezvous::secret_of("theirs");
  const challenge asked{what_it_is, {{1, 2}}}, later{what_it_is, {{1, 3}}};
  const auto told = answer_to(asked, ours, 5, {{7, 8}});
  const auto right = verdict_on(asked, ours, told);
  EXPECT_EQ(right.what, accepted);
  EXPECT_TRUE(is_right(right, asked, ours, told));
  EXPECT_FALSE(is_right(right, asked, theirs, told)) << "rank 0 knows another secret";
  EXPECT_FALSE(is_right({accepted, told.hash}, asked, ours, told)) << "its own hash sent back";
  EXPECT_EQ(verdict_on(asked, theirs, told).what, refused);
  EXPECT_EQ(verdict_on(later, ours, told).what, refused) << "said again later";
  auto changed = told;
  changed.rank = 4;
  EXPECT_EQ(verdict_on(asked, ours, changed).what, refused);
  changed = told;
  changed.number.words[0] ^= 1;
  EXPECT_EQ(verdict_on(asked, ours, changed).what, refused);
}

// ---- The hub ----

introduction member(int rank, int size) {
  introduction who;
  who.self.rank = rank;
  who.self.size = size;
  who.self.pid = 100 + rank;
  who.host = "h" + std::to_string(rank);
  who.build = "1.0";
  return who;
}

/// A hub of three, and what each connection hears: "KIND NODE PAYLOAD", "closed".
struct rig {
  explicit rig(int ranks) : size(ranks), machine(ranks) { machine.on_open(0, 0), come(0, 0); }

  void come(int link, int rank) { come(link, member(rank, size)); }
  void come(int link, const introduction& who) {
    if (link != 0) machine.on_open(link, static_cast<std::uint64_t>(who.self.rank));
    machine.on_frame(link, {frame_kind::hello, who.self.rank, rendezvous::pack(who)});
  }
  void all_come() {
    for (int rank = 1; rank < size; ++rank) come(rank, rank);
    (void)heard();
  }
  void say(int link, frame_kind kind, int node = -1, std::string payload = {}) {
    machine.on_frame(link, {kind, node, std::move(payload)});
  }
  std::map<int, std::vector<local::frame>> frames() {
    std::map<int, std::vector<local::frame>> told;
    for (const auto& out : machine.take()) {
      local::frame_reader reader;
      if (out.bytes != nullptr) reader.append(*out.bytes);
      auto frame = out.bytes != nullptr ? reader.next() : local::frame{frame_kind::last, -1, "closed"};
      told[out.link].push_back(frame.value());
    }
    return told;
  }
  /// Which connections heard what; all sentences for people.
  std::map<int, std::vector<frame_kind>> heard() {
    std::map<int, std::vector<frame_kind>> kinds;
    texts.clear();
    for (const auto& [link, all] : frames())
      for (const auto& one : all) {
        kinds[link].push_back(one.payload == "closed" ? closed : one.kind);
        const bool for_people =
            one.kind == frame_kind::job_ends || one.kind == frame_kind::node_died || one.kind == frame_kind::notice;
        if (for_people) texts.push_back(one.payload);
      }
    return kinds;
  }
  /// Exactly these connections hear this kind once, all with this text.
  void expect(frame_kind kind, const std::vector<int>& links, const std::string& text) {
    std::map<int, std::vector<frame_kind>> wanted;
    for (const int link : links) wanted[link] = {kind};
    EXPECT_EQ(heard(), wanted);
    EXPECT_EQ(texts.size(), links.size());
    for (const auto& one : texts) EXPECT_THAT(one, HasSubstr(text));
  }

  static constexpr auto closed = static_cast<frame_kind>(0);
  int size;
  hub machine;
  std::vector<std::string> texts;
};

TEST(Hub, TellsAllOfAllWhenTheLastHasCome) {
  rig job(3);
  job.come(7, 2);
  EXPECT_THAT(job.frames(), IsEmpty());
  EXPECT_FALSE(job.machine.all_there());
  EXPECT_EQ(job.machine.missing(), "1");
  job.come(4, 1);
  auto told = job.frames();
  ASSERT_EQ(told.size(), 3u);
  for (const int link : {0, 4, 7}) {
    ASSERT_EQ(told[link].size(), 1u);
    EXPECT_EQ(told[link][0].kind, frame_kind::members);
    const auto all = local::unpack_strings(told[link][0].payload);
    ASSERT_TRUE(all && all->size() == 3);
    introduction last;
    ASSERT_TRUE(rendezvous::unpack((*all)[2], last));
    EXPECT_EQ(rendezvous::name_of(last), "node 2 (pid 102 on h2)");
  }
}

TEST(Hub, GivesToAllWhatEachGaveRoundByRound) {
  rig job(3);
  job.all_come();
  for (const std::string round : {"first", "second"}) {
    for (const int rank : {2, 0}) job.say(rank, frame_kind::address, rank, round + std::to_string(rank));
    EXPECT_THAT(job.frames(), IsEmpty());
    job.say(1, frame_kind::address, 1, round + "1");
    auto told = job.frames();
    for (const int link : {0, 1, 2})
      EXPECT_THAT(local::unpack_strings(told[link].at(0).payload).value(),
                  ElementsAre(round + "0", round + "1", round + "2"));
  }
}

TEST(Hub, WhoGivesTwiceInARoundOrTooMuchIsBroken) {
  for (const std::size_t bytes : {std::size_t{1}, local::most_address_bytes + 1}) {
    rig job(3);
    job.all_come();
    job.say(2, frame_kind::address, 2, std::string(bytes, 'a'));
    if (bytes == 1) job.say(2, frame_kind::address, 2, "again");
    auto told = job.heard();
    EXPECT_THAT(told[2], ElementsAre(rig::closed));
    EXPECT_THAT(told[0], ElementsAre(frame_kind::node_died));
    EXPECT_THAT(told[1], ElementsAre(frame_kind::node_died));
  }
}

TEST(Hub, AtTheLimitAllHearWhoIsMissing) {
  rig job(5);
  job.come(1, 3);
  job.machine.on_limit(60);
  job.expect(frame_kind::job_ends, {0, 1},
             "within 60 seconds (QUIRE_RENDEZVOUS_TIMEOUT) 2 of 5 ranks have come to rank 0; missing: 1, 2, 4");
  // Who comes later hears it, too.
  job.come(2, 4);
  auto told = job.heard();
  EXPECT_THAT(told[2], ElementsAre(frame_kind::job_ends, rig::closed));
  EXPECT_THAT(job.texts, ElementsAre(HasSubstr("missing: 1, 2, 4")));
  rig complete(2);
  complete.all_come();
  complete.machine.on_limit(60);
  EXPECT_THAT(complete.frames(), IsEmpty());
}

TEST(Hub, OfAThousandMissingItNamesSome) {
  rig job(1024);
  EXPECT_EQ(job.machine.missing(), "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 and 1007 more");
}

TEST(Hub, ARankThatComesTwiceEndsTheStart) {
  rig job(3);
  job.come(1, 1);
  job.come(2, 1);
  auto told = job.heard();
  EXPECT_THAT(told[0], ElementsAre(frame_kind::job_ends));
  EXPECT_THAT(told[1], ElementsAre(frame_kind::job_ends));
  EXPECT_THAT(told[2], ElementsAre(frame_kind::job_ends, rig::closed));
  for (const auto& text : job.texts)
    EXPECT_EQ(text, "rank 1 has come twice: node 1 (pid 101 on h1), and pid 101 on h1");
}

TEST(Hub, ARankThatComesAgainLaterIsTurnedAwayAndTheJobGoesOn) {
  rig job(2);
  job.all_come();
  job.come(9, 1);
  auto told = job.heard();
  EXPECT_THAT(told[9], ElementsAre(frame_kind::job_ends, rig::closed));
  EXPECT_THAT(told[0], ElementsAre(frame_kind::notice));
  EXPECT_THAT(told[1], ElementsAre(frame_kind::notice));
  for (const auto& text : job.texts) EXPECT_THAT(text, HasSubstr("rank 1 has come twice"));
  job.machine.on_closed(9);
  EXPECT_THAT(job.frames(), IsEmpty());
  for (const int rank : {0, 1}) job.say(rank, frame_kind::address, rank, "a");
  EXPECT_EQ(job.frames().size(), 2u);
}

TEST(Hub, AnotherBuildOrSizeOrNonsenseEndsTheStart) {
  auto build = member(1, 3), version = member(1, 3), size = member(1, 4), far = member(3, 4);
  build.build = "1.1";
  ++version.self.version;
  const std::pair<introduction, const char*> wrong[] = {
      {build, "node 1 (pid 101 on h1) runs another build of Quire (1.1) than node 0 (1.0)"},
      {version, "runs another build of Quire"},
      {size, "node 1 (pid 101 on h1) says that the job has 4 ranks; node 0 says 3"},
      {far, "says that the job has 4 ranks; node 0 says 3"}};
  for (const auto& [who, why] : wrong) {
    rig job(3);
    job.come(5, who);
    auto told = job.heard();
    EXPECT_THAT(told[5], ElementsAre(frame_kind::job_ends, rig::closed));
    EXPECT_THAT(told[0], ElementsAre(frame_kind::job_ends));
    for (const auto& text : job.texts) EXPECT_THAT(text, HasSubstr(why));
  }
  rig job(3);
  job.machine.on_open(5, 1);
  job.say(5, frame_kind::hello, 1, "what a later version says");
  EXPECT_THAT(job.heard()[0], ElementsAre(frame_kind::job_ends));
  EXPECT_THAT(job.texts[0], HasSubstr("node 1 runs another build of Quire"));
}

TEST(Hub, ARankOtherThanTheOneProvedIsNone) {
  rig job(3);
  job.machine.on_open(5, 2);
  job.say(5, frame_kind::hello, 1, rendezvous::pack(member(1, 3)));
  EXPECT_THAT(job.heard()[5], ElementsAre(frame_kind::job_ends, rig::closed));
}

TEST(Hub, WhoDoesNotSayHelloIsNoMember) {
  rig job(3);
  job.machine.on_open(5, 1);
  job.say(5, frame_kind::abort, -1, "nonsense");
  EXPECT_THAT(job.heard()[5], ElementsAre(rig::closed));
  job.say(6, frame_kind::abort, -1, "of a connection that nobody knows");
  job.machine.on_closed(5);
  EXPECT_THAT(job.frames(), IsEmpty());
}

TEST(Hub, StrangersAreToldOfAndEndNothing) {
  rig job(3);
  job.come(1, 1);
  job.machine.on_stranger("10.0.0.9", 2);
  job.expect(frame_kind::notice, {0, 1}, "a process at 10.0.0.9, which calls itself rank 2, knows another secret");
  for (int i = 0; i < 100; ++i) job.machine.on_stranger("10.0.0.9", 2);
  EXPECT_EQ(job.heard()[0].size(), 7u) << "a flood does not drown all else";
  rig late(3);
  late.machine.on_stranger("10.0.0.9", 2);
  (void)late.heard();
  late.come(1, 1);
  late.expect(frame_kind::notice, {1}, "knows another secret");
  job.machine.on_limit(1);
  EXPECT_THAT(job.heard()[0], ElementsAre(frame_kind::job_ends));
  EXPECT_THAT(job.texts[0], HasSubstr("missing: 2; a process at 10.0.0.9"));
}

TEST(Hub, ADeathIsToldToAllOthersOnce) {
  rig job(4);
  job.all_come();
  job.machine.on_closed(2);
  job.expect(frame_kind::node_died, {0, 1, 3}, "node 2 (pid 102 on h2) has ended without quire_end()");
  job.machine.on_closed(1);  // it ends because of the first
  EXPECT_THAT(job.frames(), IsEmpty());
}

TEST(Hub, ADeathBeforeAllHaveComeEndsTheStart) {
  rig job(3);
  job.come(1, 1);
  job.machine.on_closed(1);
  job.expect(frame_kind::job_ends, {0}, "node 1 (pid 101 on h1) has ended before all 3 ranks had come");
}

TEST(Hub, WhoHasLeftOrIsBereavedDiesNoMore) {
  rig job(4);
  job.all_come();
  job.say(1, frame_kind::leave);
  EXPECT_THAT(job.heard()[1], ElementsAre(frame_kind::leave));
  job.machine.on_closed(1);
  job.say(2, frame_kind::bereaved);
  job.machine.on_closed(2);
  EXPECT_THAT(job.frames(), IsEmpty());
  EXPECT_FALSE(job.machine.all_left());
  job.say(0, frame_kind::leave);
  EXPECT_EQ(job.heard(), (std::map<int, std::vector<frame_kind>>{{0, {frame_kind::leave}}, {3, {frame_kind::leave}}}))
      << "that the hub goes concerns all that are still there";
  job.machine.on_closed(3);
  EXPECT_TRUE(job.machine.all_left());
}

TEST(Hub, AnAccusationEndsTheJobForAllButTheAccuser) {
  rig job(3);
  job.all_come();
  job.say(2, frame_kind::abort, 1, "node 1 does not answer");
  auto told = job.frames();
  EXPECT_EQ(told.size(), 2u);
  for (const int link : {0, 1}) {
    EXPECT_EQ(told[link].at(0).kind, frame_kind::job_ends);
    EXPECT_EQ(told[link].at(0).node, 1) << "so that its host can end it";
  }
  job.machine.on_closed(1);
  EXPECT_THAT(job.frames(), IsEmpty());
}

}  // namespace
}  // namespace quire::bootstrap::rendezvous_test
