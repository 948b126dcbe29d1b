// SPDX-License-Identifier: BSD-3-Clause
// What tells nodes of a job from strangers: the hash, the sequence of seals, and how a job comes to its secret.
#include "wire/seal.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "base/siphash.hpp"
#include "bootstrap/secret.hpp"

namespace quire::wire::seal_test {
namespace {

using model::node_id;

/// The vectors that the authors of SipHash published.
TEST(siphash, is_that_of_its_authors) {
  std::array<std::byte, 64> text;
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<std::byte>(i);
  const base::secret key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  EXPECT_EQ(base::siphash(key, {}), 0x726fdb47dd0e0e31u);
  EXPECT_EQ(base::siphash(key, std::span(text).first(1)), 0x74f839c593dc67fdu);
  EXPECT_EQ(base::siphash(key, std::span(text).first(8)), 0x93f5f5799a932462u);
  EXPECT_EQ(base::siphash(key, std::span(text).first(15)), 0xa129ca6149be45e5u);
}

TEST(seals, are_the_same_at_both_ends_and_different_each_time) {
  const base::secret job{1, 2};
  seal_sequence out(job, node_id{3}, node_id{4}), in(job, node_id{3}, node_id{4});
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_EQ(out.peek(), in.peek());
    EXPECT_EQ(out.peek(1), (in.advance(), in.peek()));
    out.advance();
    seen.insert(out.peek());
  }
  EXPECT_EQ(seen.size(), 10'000u);
}

TEST(seals, differ_between_directions_pairs_and_jobs) {
  std::set<std::uint64_t> seen;
  for (const base::secret job : {base::secret{1, 2}, base::secret{2, 1}, base::secret{}})
    for (std::uint16_t from = 0; from < 8; ++from)
      for (std::uint16_t to = 0; to < 8; ++to) seen.insert(seal_sequence(job, node_id{from}, node_id{to}).peek());
  EXPECT_EQ(seen.size(), 3 * 64u);
}

TEST(seals, a_header_is_accepted_under_its_own_only) {
  const seal_sequence s({7, 8}, node_id{0}, node_id{1});
  model::message m, out;
  m.kind = model::message_kind::read_request;
  m.requester = m.from = node_id{0};
  header h;
  encode(m, h, s.peek());
  EXPECT_EQ(sender_of(h.bytes), 0u);
  EXPECT_TRUE(decode(h.bytes, 0, 2, out, s.peek()).ok());
  EXPECT_FALSE(decode(h.bytes, 0, 2, out, s.peek(1)).ok());
  EXPECT_FALSE(decode(h.bytes, 0, 2, out).ok());
  for (int bit = 0; bit < 64; ++bit) EXPECT_FALSE(sealed_with(h.bytes, s.peek() ^ (std::uint64_t{1} << bit)));
  EXPECT_GE(sender_of(std::span(h.bytes).first(header_bytes - 1)), 65536u);
}

/// A launcher that tells what a node has given, and what the others are to have given.
class launcher final : public bootstrap::bootstrap {
 public:
  explicit launcher(std::vector<std::vector<std::byte>> others) : others_(std::move(others)) {}
  int node() const noexcept override { return 0; }
  int nodes() const noexcept override { return static_cast<int>(others_.size()) + 1; }
  int local_nodes() const noexcept override { return nodes(); }
  base::result<std::vector<std::vector<std::byte>>> exchange(std::span<const std::byte> mine) override {
    std::vector<std::vector<std::byte>> all{{mine.begin(), mine.end()}};
    all.insert(all.end(), others_.begin(), others_.end());
    return all;
  }
  bool accuse(int, std::uint64_t) noexcept override { return false; }
  void abort(int, const std::string&) noexcept override {}
  void leave(std::string_view) noexcept override {}
  int descriptor() const noexcept override { return -1; }
  ::quire::bootstrap::news poll_news() noexcept override { return {}; }

 private:
  std::vector<std::vector<std::byte>> others_;
};

TEST(secret, is_another_in_each_job_and_of_one_version) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 100; ++i) {
    launcher l({std::vector<std::byte>(16)});
    const auto agreed = bootstrap::agree_on_secret(l);
    ASSERT_TRUE(agreed.ok());
    seen.insert(agreed.value().first), seen.insert(agreed.value().second);
  }
  EXPECT_EQ(seen.size(), 200u);
  for (const std::size_t bytes : {0u, 8u, 17u}) {
    launcher l({std::vector<std::byte>(bytes)});
    EXPECT_EQ(bootstrap::agree_on_secret(l).why().code(), QUIRE_INVALID);
  }
}

}  // namespace
}  // namespace quire::wire::seal_test
