// SPDX-License-Identifier: BSD-3-Clause
// `quire info` says what a node would really do: on a machine without userfaultfd, where only the device is left, and
// where the address space is limited.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.hpp"

namespace quire::test::info_test {
namespace {

using testing::HasSubstr;
using words = std::vector<std::string>;
using nlohmann::json;

words operator+(words a, const words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const words a_job = {QUIRE_TOOL, "run",    "-n", "2", "--timeout", "50", QUIRE_PROGRAMS "/limits_program",
                     "4096",     "release"};
constexpr const char* without_text = "no userfaultfd for shared memory";

json info(const words& under, const command::settings& environment = {}) {
  const auto result = run(under + words{QUIRE_TOOL, "info", "--json"}, environment);
  EXPECT_EQ(result.status, 0) << result.err;
  auto document = json::parse(result.out, nullptr, false);
  EXPECT_TRUE(document.is_object()) << result.out;
  return document;
}

/// One part of the document says nothing else than another.
void agrees_with_itself(const json& document) {
  const bool available = document["userfaultfd"].value("sufficient", false);
  const bool thread = available && document["userfaultfd"]["kernel_faults"]["allowed"].get<bool>();
  const json& detectors = document["pools"]["memfd"];
  const auto has = [&](const char* name) {
    return std::find(detectors.begin(), detectors.end(), name) != detectors.end();
  };
  EXPECT_EQ(has("userfault"), available) << document.dump(1);
  EXPECT_EQ(has("thread"), thread) << document.dump(1);
  EXPECT_EQ(document["choice"]["detector"] == "userfault", available) << document.dump(1);
}

/// And a job says the same.
void holds_for_a_job(const words& under) {
  const json document = info(under);
  agrees_with_itself(document);
  const auto job = run(under + a_job);
  EXPECT_EQ(job.status, 0) << job.err;
  EXPECT_EQ(job.err.find(without_text) != std::string::npos, document["choice"]["detector"] == "segv")
      << job.err << document.dump(1);
}

TEST(info, says_what_a_job_does_here) { holds_for_a_job({}); }

TEST(info, says_so_on_a_kernel_that_is_too_old) {
  const words under = {"setarch", "--uname-2.6"};
  if (run(under + words{"true"}).status != 0) GTEST_SKIP() << "no setarch here, or a container refuses it";
  EXPECT_TRUE(info(under)["machine"]["kernel_is_old"].get<bool>());
  const auto job = run(under + a_job);
  EXPECT_EQ(job.status, 0) << job.err;
  EXPECT_NE(job.err.find("this is Linux 2.6."), std::string::npos) << job.err;
}

TEST(info, says_what_a_job_does_without_userfaultfd) {
  const words under = {QUIRE_PROGRAMS "/without_userfaultfd"};
  if (run(under + words{"true"}).status == 77)
    GTEST_SKIP() << "the device cannot be hidden from this user, who may open it";
  EXPECT_FALSE(info(under)["userfaultfd"]["available"].get<bool>());
  holds_for_a_job(under);
}

TEST(info, says_what_a_job_does_with_the_device_alone) {
  holds_for_a_job({QUIRE_PROGRAMS "/without_userfaultfd", "+"});
}

TEST(info, says_what_a_job_does_where_the_address_space_is_limited) {
  const words under = {"sh", "-c", "ulimit -v 4000000; exec \"$@\"", "sh"};
  const json document = info(under);
  EXPECT_EQ(document["choice"]["does_not_work"], "start") << document.dump(1);
  EXPECT_EQ(document["choice"]["range"]["has_room"], false) << document.dump(1);
  const auto refused = run(under + a_job);
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.err, HasSubstr("ulimit -v"));
  EXPECT_THAT(refused.err, HasSubstr("QUIRE_RANGE"));

  // What it advises works, and it says so.
  const auto text = run(under + words{QUIRE_TOOL, "info"}).out;
  const auto advised = matches_of(text, "QUIRE_RANGE=([0-9]+M)");
  ASSERT_FALSE(advised.empty()) << text;
  const command::settings smaller = {{"QUIRE_RANGE", advised[0][1]}};
  const json then = info(under, smaller);
  EXPECT_EQ(then["choice"]["range"]["has_room"], true) << then.dump(1);
  EXPECT_NE(then["choice"]["does_not_work"], "start") << then.dump(1);
  const auto job = run(under + a_job, smaller);
  EXPECT_EQ(job.status, 0) << job.err;
}

TEST(info, knows_that_nodes_which_outlive_others_use_tcp) {
  EXPECT_EQ(info({}, {{"QUIRE_ON_FAILURE", "notify"}})["choice"]["transport"], "shm");
}

}  // namespace
}  // namespace quire::test::info_test
