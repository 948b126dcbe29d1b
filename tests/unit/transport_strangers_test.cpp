// SPDX-License-Identifier: BSD-3-Clause
// What a transport does with what comes from elsewhere: garbage, messages without the job's seal, the same message
// twice. What strangers do at the ports of a job, beyond what UCX lets anybody do here, stands in
// tests/process/intruder_test.
#include "transport/ucx/worker.hpp"
#include "transport_nodes.hpp"
#include "wire/seal.hpp"
#include "wire/wire.hpp"

namespace quire::transport::test::transport_strangers_test {
namespace {

/// Of the address of a node: the mark, a name; then UCX's own.
constexpr std::size_t before_ucx_bytes = sizeof wire::mark + 16;

class strangers : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] bool is(const char* kind) const { return std::string(GetParam()) == kind; }
};
INSTANTIATE_TEST_SUITE_P(all, strangers, testing::Values("loopback", "ucx", "tcp"),
                         [](const auto& chosen) { return std::string(chosen.param); });

blob pattern(std::size_t bytes, unsigned seed) {
  blob made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>((i * 31 + (i >> 8) * 7 + seed) & 0xff);
  return made;
}

TEST_P(strangers, garbage_is_dropped_and_counted) {
  if (is("loopback")) {
    job nodes("loopback", 2);
    nodes.run([&](node& n) {
      n.meet();
      if (n.self.value() == 1) {
        nodes.hub().post(n.self, {blob(10), {}});
        nodes.hub().post(n.self, {blob(wire::header_bytes), pattern(100, 1)});
        EXPECT_TRUE(n.progress_until([&] { return n.link->counters().refused == 2; }));
      }
      n.meet();
      EXPECT_EQ(n.in.delivered, 0u);
    });
    return;
  }
  const auto& how = is("ucx") ? ucx::shared_memory : ucx::tcp;
  job(GetParam(), 2).run([&how](node& n) {
    const auto own = n.link->address();
    const auto all = n.meet({own.begin(), own.end()});
    if (n.self.value() == 0) {  // a second worker, which speaks UCX but not Quire
      ucx::worker raw;
      ASSERT_TRUE(raw.open(how, how.transports == std::string_view("tcp") ? "lo" : "all", {}).ok());
      ucp_ep_params_t to{};
      to.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
      to.address = reinterpret_cast<const ucp_address_t*>(all[1].data() + before_ucx_bytes);
      to.err_mode = how.reports_losses ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
      ucp_ep_h endpoint = nullptr;
      ASSERT_EQ(raw.ucp->ep_create(raw.handle, &to, &endpoint), UCS_OK);
      const blob junk = pattern(2u << 20, 8);
      constexpr std::pair<std::size_t, std::size_t> headers_and_payloads[] = {
          {0, 0}, {0, 100}, {5, 0}, {72, 0}, {72, 4096}, {500, 0}, {72, 20'000}, {72, 2u << 20}};
      for (const auto& [header, payload] : headers_and_payloads) {
        const ucp_request_param_t plain{};
        const auto request = raw.ucp->am_send_nbx(endpoint, 0, junk.data(), header, junk.data(), payload, &plain);
        ASSERT_FALSE(UCS_PTR_IS_ERR(request)) << header << " " << payload;
        const auto deadline = deadline_ns();
        while (UCS_PTR_IS_PTR(request) && raw.ucp->request_check_status(request) == UCS_INPROGRESS) {
          raw.ucp->worker_progress(raw.handle);
          ASSERT_LT(base::now_ns(), deadline);
        }
        if (UCS_PTR_IS_PTR(request)) raw.ucp->request_free(request);
      }
      // What would be a message, were it not for the job's secret.
      model::message stranger;
      stranger.kind = model::message_kind::read_reply;
      stranger.from = n.self;
      wire::header without;
      wire::encode(stranger, without);
      const ucp_request_param_t plain{};
      const auto request = raw.ucp->am_send_nbx(endpoint, 0, without.bytes, sizeof without.bytes, nullptr, 0, &plain);
      ASSERT_FALSE(UCS_PTR_IS_ERR(request));
      while (UCS_PTR_IS_PTR(request) && raw.ucp->request_check_status(request) == UCS_INPROGRESS)
        raw.ucp->worker_progress(raw.handle);
      if (UCS_PTR_IS_PTR(request)) raw.ucp->request_free(request);
      const auto deadline = deadline_ns();
      n.send(1, 42);
      while (n.in.delivered == 0 && base::now_ns() < deadline) raw.ucp->worker_progress(raw.handle), n.link->progress();
    } else {
      EXPECT_TRUE(n.progress_until([&] { return n.link->counters().refused == 9 && n.in.delivered == 1; }))
          << n.link->counters().refused;
      n.send(0, 43);
      EXPECT_TRUE(n.link->flush(limit_ms).ok());
    }
    n.meet();
    EXPECT_EQ(n.in.delivered, 1u);
  });
}

/// Speaks UCX and knows the job's secret, but is no node: what it sends comes beside what node 0 sends.
class second_sender {
 public:
  second_sender(const ucx::settings& how, const blob& address_of_receiver) {
    EXPECT_TRUE(raw_.open(how, how.transports == std::string_view("tcp") ? "lo" : "all", {}).ok());
    ucp_ep_params_t to{};
    to.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
    to.address = reinterpret_cast<const ucp_address_t*>(address_of_receiver.data() + before_ucx_bytes);
    to.err_mode = how.reports_losses ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
    EXPECT_EQ(raw_.ucp->ep_create(raw_.handle, &to, &endpoint_), UCS_OK);
  }
  void send(const wire::header& header) {
    const ucp_request_param_t plain{};
    const auto request = raw_.ucp->am_send_nbx(endpoint_, 0, header.bytes, sizeof header.bytes, nullptr, 0, &plain);
    ASSERT_FALSE(UCS_PTR_IS_ERR(request));
    const auto deadline = deadline_ns();
    while (UCS_PTR_IS_PTR(request) && raw_.ucp->request_check_status(request) == UCS_INPROGRESS) {
      raw_.ucp->worker_progress(raw_.handle);
      ASSERT_LT(base::now_ns(), deadline);
    }
    if (UCS_PTR_IS_PTR(request)) raw_.ucp->request_free(request);
  }
  /// As node 0, `n`, when it has nothing more to send.
  void meet(node& n) {
    pollfd other{n.coordinator, POLLIN, 0};
    EXPECT_TRUE(write_blob(n.coordinator, {}));
    while (::poll(&other, 1, 0) == 0) raw_.ucp->worker_progress(raw_.handle), n.link->progress();
    blob b;
    for (unsigned i = 0; i < n.nodes; ++i) EXPECT_TRUE(read_blob(n.coordinator, b));
  }

 private:
  ucx::worker raw_;
  ucp_ep_h endpoint_ = nullptr;
};

TEST_P(strangers, a_message_that_comes_twice_is_refused_and_one_too_few_loses_the_peer) {
  if (is("loopback")) GTEST_SKIP() << "nobody can come between two nodes in one process";
  const auto& how = is("ucx") ? ucx::shared_memory : ucx::tcp;
  job(GetParam(), 2).run([&how](node& n) {
    const auto own = n.link->address();
    const auto all = n.meet({own.begin(), own.end()});
    if (n.self.value() == 0) {
      second_sender sender(how, all[1]);
      wire::seal_sequence seals({}, n.self, node_id{1});
      model::message m;
      m.kind = model::message_kind::read_reply;
      m.from = n.self;
      const auto sealed = [&](unsigned ahead) {
        wire::header h;
        m.token = ahead;
        wire::encode(m, h, seals.peek(ahead));
        return h;
      };
      for (const unsigned ahead : {0u, 0u, 1u, 0u, 1u, 2u, 4u}) sender.send(sealed(ahead));
      sender.meet(n);
    } else {
      EXPECT_TRUE(n.progress_until([&] { return !n.in.lost.empty(); }));
      EXPECT_EQ(n.in.lost, std::vector{node_id{0}});
      EXPECT_EQ(n.in.delivered, 3u);
      EXPECT_EQ(n.link->counters().refused, 4u);
      for (std::size_t i = 0; i < n.in.messages.size(); ++i) EXPECT_EQ(n.in.messages[i].token, i);
      n.meet();
    }
  });
}

/// Nobody can know what it would have said, or who waits for it.
TEST_P(strangers, a_message_of_a_node_that_cannot_be_read_loses_the_node) {
  if (is("loopback")) GTEST_SKIP() << "nobody can come between two nodes in one process";
  const auto& how = is("ucx") ? ucx::shared_memory : ucx::tcp;
  job(GetParam(), 2).run([&how](node& n) {
    const auto own = n.link->address();
    const auto all = n.meet({own.begin(), own.end()});
    if (n.self.value() == 0) {
      second_sender sender(how, all[1]);
      model::message m;
      m.kind = model::message_kind::read_reply;
      m.from = n.self;
      m.payload_bytes = 8;  // and there is none
      wire::header h;
      wire::encode(m, h, wire::seal_sequence({}, n.self, node_id{1}).peek(0));
      sender.send(h);
      sender.meet(n);
    } else {
      EXPECT_TRUE(n.progress_until([&] { return !n.in.lost.empty(); }));
      EXPECT_EQ(n.in.lost, std::vector{node_id{0}});
      EXPECT_EQ(n.in.delivered, 0u);
      EXPECT_EQ(n.link->counters().refused, 1u);
      n.meet();
    }
  });
}

}  // namespace
}  // namespace quire::transport::test::transport_strangers_test
