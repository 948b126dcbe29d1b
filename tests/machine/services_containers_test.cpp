// SPDX-License-Identifier: BSD-3-Clause
// Containers by name: who makes one, who waits, what a checkpoint and deaths change; and the steps of a thread's call.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "services_requests.hpp"
#include "services/container_call.hpp"
#include "services/containers.hpp"

namespace quire::services::services_containers_test {
namespace {

using order = container_order;
using kind = container_call::step::kind;

class node {
 public:
  explicit node(unsigned self = 0) : all_(node_id{static_cast<std::uint16_t>(self)}) {}
  std::string ask(unsigned by, std::uint64_t token, order what, std::uint64_t b, std::string_view text = {}) {
    all_.on_request(request_of(by, token, static_cast<std::uint64_t>(what), b, 77),
                    std::as_bytes(std::span(text.data(), text.size())), out_);
    return said(out_);
  }
  std::string lock(unsigned by, std::uint64_t token, std::uint64_t number, container::lock_wait how) {
    container_lock asked;
    asked.wanted = {{by, static_cast<std::uint16_t>(by), false}, container::lock_kind::exclusive, 0, 9};
    asked.how = how;
    char bytes[sizeof asked];
    std::memcpy(bytes, &asked, sizeof asked);
    return ask(by, token, order::lock, number, {bytes, sizeof bytes});
  }
  std::string die(unsigned other) {
    all_.on_death(node_id{static_cast<std::uint16_t>(other)}, out_);
    return said(out_);
  }
  std::string let_go() {
    all_.let_go(out_);
    return said(out_);
  }
  containers& operator*() { return all_; }

 private:
  containers all_;
  answers out_{};
};

constexpr std::uint64_t creates = container_open::creates, makes_1 = container_open::makes | 1;

TEST(services_containers, who_opens_while_it_is_made_waits) {
  node zero;
  EXPECT_EQ(zero.ask(0, 1, order::heads, 77), "0.1 OK 77");
  EXPECT_EQ(zero.ask(1, 1, order::open, creates, "a"), "1.1 OK " + std::to_string(makes_1) + " 77");
  EXPECT_EQ(zero.ask(2, 1, order::open, 0, "a"), "");
  EXPECT_EQ(zero.ask(3, 1, order::take_away, 0, "a"), "");
  EXPECT_EQ(zero.ask(1, 2, order::made, 1), "1.2 OK, 2.1 OK 1 77, 3.1 BUSY");
  EXPECT_EQ(zero.ask(1, 3, order::closed, 1), "1.3 OK");
  EXPECT_EQ(zero.ask(2, 2, order::closed, 1), "2.2 OK");
  EXPECT_EQ(zero.ask(3, 2, order::take_away, 0, "a"), "3.2 OK 1 77");
  EXPECT_EQ(zero.ask(2, 3, order::open, 0, "a"), "");
  EXPECT_EQ(zero.ask(3, 3, order::gone, 1), "3.3 OK, 2.3 NOT_FOUND");
}

TEST(services_containers, the_last_who_closes_one_without_a_name_removes_it) {
  node zero;
  (void)zero.ask(0, 1, order::heads, 77);
  (void)zero.ask(1, 1, order::open, creates, "a");
  (void)zero.ask(1, 2, order::made, 1);
  EXPECT_EQ(zero.ask(2, 1, order::unlink, 0, "a"), "2.1 OK 1 77");
  EXPECT_EQ(zero.ask(2, 2, order::settled, 1), "2.2 OK");
  EXPECT_EQ(zero.ask(1, 3, order::closed, 1), "1.3 OK 1");
  EXPECT_EQ(zero.ask(1, 4, order::gone, 1), "1.4 OK");
}

TEST(services_containers, a_checkpoint_holds_what_would_come_or_go) {
  node zero;
  (void)zero.ask(0, 1, order::heads, 77);
  (void)zero.ask(1, 1, order::open, creates, "a");
  EXPECT_FALSE((*zero).hold());
  EXPECT_EQ(zero.ask(2, 1, order::open, creates, "b"), "");
  EXPECT_EQ(zero.ask(1, 2, order::made, 1), "1.2 OK");
  EXPECT_TRUE((*zero).hold());
  EXPECT_EQ(zero.ask(3, 1, order::look_up, 0, "a"), "3.1 OK 1 77");
  EXPECT_EQ(zero.ask(1, 3, order::closed, 1), "1.3 OK");
  EXPECT_EQ(zero.let_go(), "2.1 OK " + std::to_string(container_open::makes | 2) + " 77");
}

TEST(services_containers, who_waits_for_a_lost_node_goes_on) {
  node zero;
  (void)zero.ask(0, 1, order::heads, 77);
  (void)zero.ask(1, 1, order::open, creates, "a");
  (void)zero.ask(2, 1, order::open, creates, "a");
  EXPECT_EQ(zero.die(1),
            "2.1 OK " + std::to_string(container_open::makes | 2) + " 77");  // the number is not used again
  (void)zero.ask(2, 2, order::made, 2);
  using wait = container::lock_wait;
  EXPECT_EQ(zero.lock(2, 3, 2, wait::queues), "2.3 OK");
  EXPECT_EQ(zero.lock(3, 1, 2, wait::queues), "3.1 BUSY");
  (void)zero.die(2);
  EXPECT_EQ(zero.lock(3, 2, 2, wait::queues), "3.2 OK");
}

TEST(services_containers, the_next_node_finds_and_makes_nothing) {
  node one(1);
  EXPECT_EQ(one.ask(0, 1, order::noted, 4, "a"), "0.1 OK");
  EXPECT_EQ(one.ask(2, 1, order::open, creates, "a"), "2.1 OK 4 77");
  EXPECT_EQ(one.ask(2, 2, order::open, 0, "b"), "2.2 NOT_FOUND");
  EXPECT_EQ(one.ask(2, 3, order::open, creates, "b"), "2.3 LOST");
  EXPECT_EQ(one.ask(2, 4, order::closed, 4), "2.4 OK");
  EXPECT_EQ(one.ask(2, 5, order::take_away, 0, "a"), "2.5 LOST");
  EXPECT_EQ(one.ask(2, 6, order::closed, 0), "2.6 INVALID");
}

TEST(services_containers, a_call_asks_the_next_leader) {
  auto call = container_call::open({3, true}, creates);
  EXPECT_EQ(call.begin(0).node, 0u);
  const auto again = call.on_answer(QUIRE_LOST, 0, 0);
  EXPECT_EQ(again.what, kind::ask);
  EXPECT_EQ(again.node, 1u);
  const auto over = call.on_answer(QUIRE_LOST, containers::for_good, 0);
  EXPECT_EQ(over.what, kind::over);
  EXPECT_EQ(over.why, QUIRE_LOST);
}

TEST(services_containers, a_removal_that_fails_says_that_it_stays) {
  auto call = container_call::remove({3, false});
  (void)call.begin(0);
  EXPECT_EQ(call.on_answer(QUIRE_OK, 5, 77).what, kind::claim);
  EXPECT_EQ(call.on_done(QUIRE_OK).what, kind::destroy);
  const auto stays = call.on_done(QUIRE_BUSY);
  EXPECT_EQ(stays.order, order::stays);
  EXPECT_EQ(stays.b, 5u);
  EXPECT_EQ(call.on_answer(QUIRE_OK, 0, 0).why, QUIRE_BUSY);
}

TEST(services_containers, a_rename_settles_both) {
  auto call = container_call::rename({2, false}, false);
  (void)call.begin(0);
  EXPECT_EQ(call.on_answer(QUIRE_OK, 5 | std::uint64_t{6} << 16, 77).what, kind::rewrite);
  EXPECT_EQ(call.on_done(QUIRE_OK).b, 5u);
  EXPECT_EQ(call.on_answer(QUIRE_OK, 0, 0).b, 6u);
  EXPECT_EQ(call.on_answer(QUIRE_OK, 6, 0).what, kind::destroy);  // nobody has it open
  EXPECT_EQ(call.on_done(QUIRE_OK).what, kind::withdraw);
  EXPECT_EQ(call.on_done(QUIRE_OK).order, order::gone);
  EXPECT_EQ(call.on_answer(QUIRE_OK, 0, 0).what, kind::over);
}

}  // namespace
}  // namespace quire::services::services_containers_test
