// SPDX-License-Identifier: BSD-3-Clause
// src/transport/sealed: what somebody between two nodes can do to their messages is noticed.
#include "transport/sealed/sealed.hpp"

#include <algorithm>
#include <numeric>

#include "transport/sealed/cipher.hpp"
#include "transport_nodes.hpp"

namespace quire::transport::sealed::sealed_test {
namespace {

using model::message;
using model::node_id;
using test::blob;

const sodium* library() {
  const auto loaded = load_sodium();
  return loaded.ok() ? loaded.value() : nullptr;
}

class sealed_cipher : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (library() == nullptr) GTEST_SKIP() << "no libsodium";
    if (GetParam() && !cipher::has_aes(*library())) GTEST_SKIP() << "no instructions for AES";
    key of;
    std::iota(of.begin(), of.end(), 1);
    out_.begin(*library(), of, GetParam());
    in_.begin(*library(), of, GetParam());
  }
  blob sealed(unsigned char what, std::size_t bytes = 100) {
    blob text(bytes + cipher::tag_bytes, std::byte{what});
    out_.seal(text);
    return text;
  }
  [[nodiscard]] bool opens(blob text) { return in_.open(text); }

  cipher out_, in_;
};
INSTANTIATE_TEST_SUITE_P(all, sealed_cipher, testing::Bool(),
                         [](const auto& aes) { return aes.param ? "aes" : "chacha"; });

TEST_P(sealed_cipher, opens_what_was_sealed) {
  for (const std::size_t bytes : {0u, 1u, 64u, 4096u, 1u << 20}) {
    blob text = sealed(7, bytes);
    if (bytes >= 64) {
      EXPECT_NE(std::count(text.begin(), text.end() - cipher::tag_bytes, std::byte{7}), static_cast<long>(bytes));
    }
    ASSERT_TRUE(in_.open(text));
    EXPECT_EQ(std::count(text.begin(), text.end() - cipher::tag_bytes, std::byte{7}), static_cast<long>(bytes));
  }
}

TEST_P(sealed_cipher, the_same_text_twice_looks_different) { EXPECT_NE(sealed(7), sealed(7)); }

TEST_P(sealed_cipher, refuses_any_bit_that_was_changed) {
  for (std::size_t bit = 0; bit < 8 * (20 + cipher::tag_bytes); ++bit) {
    blob text = sealed(7, 20);
    text[bit / 8] ^= std::byte(1 << bit % 8);
    EXPECT_FALSE(opens(text)) << "bit " << bit;
  }
}

TEST_P(sealed_cipher, refuses_what_comes_twice_too_late_or_cut) {
  const blob first = sealed(1), second = sealed(2), third = sealed(3);
  EXPECT_TRUE(opens(first));
  EXPECT_FALSE(opens(first));
  EXPECT_TRUE(opens(third)) << "the number goes on";
  EXPECT_FALSE(opens(second));
  EXPECT_FALSE(opens(blob(second.begin(), second.begin() + 50)));
  EXPECT_FALSE(opens({}));
}

/// Who is between two nodes: changes a bit of one message, says one twice, or leaves one out.
class meddler final : public transport {
 public:
  enum what { nothing, changes, repeats, drops };
  meddler(std::unique_ptr<transport> inner, what does) : inner_(std::move(inner)), does_(does) {}
  [[nodiscard]] std::span<const std::byte> address() const noexcept override { return inner_->address(); }
  [[nodiscard]] base::status connect(node_id self, std::span<const std::span<const std::byte>> addresses,
                                     sink& receiver) noexcept override {
    return inner_->connect(self, addresses, receiver);
  }
  void send(node_id to, const message& m, std::span<const std::byte> payload, urgency how,
            lasting lasts) noexcept override {
    heard_.insert(heard_.end(), payload.begin(), payload.end());
    const bool now = ++sent_ == 10;
    if (now && does_ == drops) return;
    blob changed(payload.begin(), payload.end());
    if (now && does_ == changes) changed[20] ^= std::byte{4};
    inner_->send(to, m, changed, how, lasts);
    if (now && does_ == repeats) inner_->send(to, m, changed, how, lasts);
  }
  void abandon(node_id peer) noexcept override { inner_->abandon(peer); }
  bool progress() noexcept override { return inner_->progress(); }
  [[nodiscard]] bool sends_pending() const noexcept override { return inner_->sends_pending(); }
  [[nodiscard]] bool turn_period() noexcept override { return inner_->turn_period(); }
  [[nodiscard]] int descriptor() const noexcept override { return inner_->descriptor(); }
  [[nodiscard]] bool arm(urgency least) noexcept override { return inner_->arm(least); }
  void disarm() noexcept override { inner_->disarm(); }
  void signal() noexcept override { inner_->signal(); }
  base::status flush(int timeout_ms) noexcept override { return inner_->flush(timeout_ms); }
  [[nodiscard]] const traffic& counters() const noexcept override { return inner_->counters(); }
  [[nodiscard]] const char* name() const noexcept override { return inner_->name(); }
  [[nodiscard]] const blob& heard() const noexcept { return heard_; }

 private:
  std::unique_ptr<transport> inner_;
  what does_;
  blob heard_;  ///< all payloads
  int sent_ = 0;
};

/// Two nodes in this process, of which node 0 speaks through a meddler.
struct pair {
  explicit pair(meddler::what does, base::secret second = {1, 2}) {
    auto hub = std::make_shared<loopback::hub>(2);
    for (unsigned i = 0; i < 2; ++i) {
      const node_id self{static_cast<std::uint16_t>(i)};
      auto plain = std::make_unique<meddler>(loopback::open(hub, self), i == 0 ? does : meddler::nothing);
      if (i == 0) between = plain.get();
      auto made = wrap(std::move(plain), i == 0 ? base::secret{1, 2} : second);
      links[i] = std::move(made.value());
    }
    const std::vector<std::span<const std::byte>> addresses{links[0]->address(), links[1]->address()};
    for (unsigned i = 0; i < 2; ++i)
      EXPECT_TRUE(links[i]->connect(node_id{static_cast<std::uint16_t>(i)}, addresses, in[i]).ok());
  }
  void talk(const blob& payload = {}) {
    for (std::uint64_t i = 0; i < 20; ++i) {
      message m;
      m.kind = model::message_kind::read_reply;
      m.from = node_id{0};
      m.token = i;
      m.payload_bytes = static_cast<std::uint32_t>(payload.size());
      links[0]->send(node_id{1}, m, payload, urgency::now);
    }
    while (links[1]->progress() || links[0]->progress()) {
    }
  }
  std::unique_ptr<transport> links[2];
  meddler* between = nullptr;
  test::inbox in[2];
};

class sealed_messages : public testing::TestWithParam<meddler::what> {
 protected:
  void SetUp() override {
    if (library() == nullptr) GTEST_SKIP() << "no libsodium";
  }
};
INSTANTIATE_TEST_SUITE_P(all, sealed_messages, testing::Values(meddler::changes, meddler::repeats, meddler::drops),
                         [](const auto& does) {
                           return does.param == meddler::changes   ? "changed"
                                  : does.param == meddler::repeats ? "repeated"
                                                                   : "left_out";
                         });

TEST_P(sealed_messages, end_the_connection_when_somebody_meddles) {
  pair nodes(GetParam());
  nodes.talk();
  const std::size_t good = GetParam() == meddler::repeats ? 10 : 9;
  ASSERT_EQ(nodes.in[1].delivered, good);
  for (std::size_t i = 0; i < good; ++i) EXPECT_EQ(nodes.in[1].messages[i].token, i);
  EXPECT_EQ(nodes.in[1].lost, std::vector{node_id{0}});
  EXPECT_EQ(nodes.links[1]->counters().refused, 1u);
}

TEST(sealed_nodes, understand_each_other) {
  if (library() == nullptr) GTEST_SKIP() << "no libsodium";
  pair nodes(meddler::nothing);
  blob text;
  for (const char c : std::string("what nobody else is to read")) text.push_back(static_cast<std::byte>(c));
  nodes.talk(text);
  EXPECT_EQ(nodes.in[1].delivered, 20u);
  EXPECT_EQ(nodes.in[1].buffer, text);
  const blob& heard = nodes.between->heard();
  EXPECT_GT(heard.size(), 20 * text.size());
  EXPECT_EQ(std::search(heard.begin(), heard.end(), text.begin(), text.begin() + 8), heard.end());
  EXPECT_TRUE(nodes.in[1].lost.empty());
}

TEST(sealed_nodes, with_another_secret_do_not) {
  if (library() == nullptr) GTEST_SKIP() << "no libsodium";
  pair nodes(meddler::nothing, {1, 3});
  nodes.talk();
  EXPECT_EQ(nodes.in[1].delivered, 0u);
  EXPECT_EQ(nodes.in[1].lost, std::vector{node_id{0}});
}

TEST(sealed_nodes, refuse_a_public_key_that_is_none) {
  if (library() == nullptr) GTEST_SKIP() << "no libsodium";
  auto hub = std::make_shared<loopback::hub>(2);
  auto mine = wrap(loopback::open(hub, node_id{0}), {}), theirs = wrap(loopback::open(hub, node_id{1}), {});
  ASSERT_TRUE(mine.ok() && theirs.ok());
  const auto given = theirs.value()->address();
  blob zero(given.begin(), given.end());
  std::fill(zero.begin() + 16, zero.begin() + 48, std::byte{0});  // with which all agree on the same
  test::inbox in;
  const std::vector<std::span<const std::byte>> addresses{mine.value()->address(), zero};
  EXPECT_EQ(mine.value()->connect(node_id{0}, addresses, in).code(), QUIRE_INVALID);
}

TEST(sealed_nodes, refuse_one_that_does_not_encrypt) {
  if (library() == nullptr) GTEST_SKIP() << "no libsodium";
  auto hub = std::make_shared<loopback::hub>(2);
  auto mine = wrap(loopback::open(hub, node_id{0}), {});
  auto theirs = loopback::open(hub, node_id{1});
  ASSERT_TRUE(mine.ok());
  test::inbox in;
  const std::vector<std::span<const std::byte>> addresses{mine.value()->address(), theirs->address()};
  EXPECT_EQ(mine.value()->connect(node_id{0}, addresses, in).code(), QUIRE_INVALID);
}

}  // namespace
}  // namespace quire::transport::sealed::sealed_test
