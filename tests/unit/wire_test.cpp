// SPDX-License-Identifier: BSD-3-Clause
// src/wire: what goes in comes out, and nothing else is let in.
#include "wire/wire.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

namespace quire::wire::wire_test {
namespace {

using model::message;
using model::message_kind;
using model::node_id;

constexpr unsigned nodes = 8;

message example() {
  message m;
  m.kind = message_kind::read_reply;
  m.flags = model::message_flag::zero;
  m.region = model::region_id{3};
  m.from = node_id{7};
  m.requester = node_id{2};
  m.count = 16;
  m.acks = 5;
  m.unit = 0x1122334455667788;
  m.token = 0x99aabbccddeeff00;
  m.a = 1, m.b = 2, m.c = 3;
  m.payload_bytes = 65536;
  m.operation = 9;
  return m;
}

base::status decode_encoded(const message& m, std::size_t payload_bytes, message& out) {
  header h;
  encode(m, h);
  return decode(h.bytes, payload_bytes, nodes, out);
}

bool accepted(const message& m) {
  message out;
  return decode_encoded(m, m.payload_bytes, out).ok();
}

TEST(wire, every_field_comes_back) {
  message out;
  ASSERT_TRUE(decode_encoded(example(), 65536, out).ok());
  EXPECT_EQ(out, example());
}

TEST(wire, format_is_fixed) {
  header h;
  encode(example(), h);
  const auto byte = [&h](int i) { return static_cast<unsigned>(h.bytes[i]); };
  EXPECT_EQ(sizeof h, 72u);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(h.bytes), 5), "QUIRE");
  EXPECT_EQ(byte(7), version);
  EXPECT_EQ(byte(8), static_cast<unsigned>(message_kind::read_reply));
  EXPECT_EQ(byte(9), model::message_flag::zero);
  EXPECT_EQ(byte(12), 7u);                                       // from
  EXPECT_EQ(byte(14), 2u);                                       // requester
  EXPECT_EQ(byte(24), 0x88u);                                    // unit, lowest byte
  EXPECT_EQ(byte(64) | byte(65) << 8 | byte(66) << 16, 65536u);  // payload_bytes
}

TEST(wire, kinds) {
  for (unsigned kind = 0; kind < 256; ++kind) {
    message m = example();
    m.kind = static_cast<message_kind>(kind);
    EXPECT_EQ(accepted(m), kind != 0 && kind <= static_cast<unsigned>(message_kind::last_kind)) << kind;
  }
}

TEST(wire, fields_out_of_range) {
  struct {
    const char* what;
    void (*spoil)(message&);
  } const cases[] = {
      {"unknown flag", [](message& m) { m.flags = 0x80; }},
      {"sender outside the job", [](message& m) { m.from = node_id{nodes}; }},
      {"requester outside the job", [](message& m) { m.requester = node_id{0xffff}; }},
      {"no unit", [](message& m) { m.count = 0; }},
      {"too many units", [](message& m) { m.count = max_count + 1; }},
      {"units beyond the last number", [](message& m) { m.unit = ~std::uint64_t{0} - 3; }},
      {"too large a payload", [](message& m) { m.payload_bytes = max_payload_bytes + 1; }},
  };
  for (const auto& c : cases) {
    message m = example();
    ASSERT_TRUE(accepted(m));
    c.spoil(m);
    EXPECT_FALSE(accepted(m)) << c.what;
  }
}

TEST(wire, limits_themselves_are_accepted) {
  message m = example();
  m.count = max_count;
  m.unit = ~std::uint64_t{0} - max_count;
  m.payload_bytes = max_payload_bytes;
  m.from = m.requester = node_id{nodes - 1};
  m.flags = model::message_flag::zero | model::message_flag::no_data;
  EXPECT_TRUE(accepted(m));
}

TEST(wire, count_and_unit_are_free_beyond_the_protocols) {
  for (const auto kind : {message_kind::sync_first, message_kind::sync_last, message_kind::service_notice}) {
    message m = example();
    m.kind = kind;
    m.count = 0;
    m.unit = ~std::uint64_t{0};
    EXPECT_TRUE(accepted(m));
  }
}

TEST(wire, payload_must_be_what_the_header_says) {
  message out;
  EXPECT_FALSE(decode_encoded(example(), 65535, out).ok());
  EXPECT_FALSE(decode_encoded(example(), 65537, out).ok());
  EXPECT_FALSE(decode_encoded(example(), 0, out).ok());
}

TEST(wire, mark_and_version) {
  header h;
  encode(example(), h);
  for (int i = 0; i < 8; ++i) {
    header spoilt = h;
    spoilt.bytes[i] ^= std::byte{1};
    message out;
    EXPECT_FALSE(decode(spoilt.bytes, 65536, nodes, out).ok()) << "byte " << i;
  }
}

// The bytes stand in memory of just their length, so that asan sees a read beyond the end.
TEST(wire, any_length) {
  for (std::size_t length = 0; length <= 2 * header_bytes; ++length) {
    header h;
    encode(example(), h);
    const auto exact = std::make_unique<std::byte[]>(length);
    std::memcpy(exact.get(), h.bytes, std::min(length, header_bytes));
    message out;
    EXPECT_EQ(decode({exact.get(), length}, 65536, nodes, out).ok(), length == header_bytes) << length;
  }
  message out;
  EXPECT_FALSE(decode({}, 0, nodes, out).ok());
}

TEST(wire, random_bytes_behind_a_good_mark) {
  std::mt19937_64 random(4711);
  unsigned let_in = 0;
  for (int round = 0; round < 200'000; ++round) {
    header h;
    for (auto& b : h.bytes) b = static_cast<std::byte>(random());
    std::memcpy(h.bytes, &mark, sizeof mark);
    if (round % 2 == 0) {  // so that some get further: nodes of the job, no flags, a payload that is not absurd
      h.bytes[9] = h.bytes[13] = h.bytes[15] = h.bytes[67] = std::byte{0};
      for (const std::size_t node : {12, 14})
        h.bytes[node] = static_cast<std::byte>(static_cast<unsigned>(h.bytes[node]) % (nodes + 1));
    }
    message m;
    std::memcpy(&m, h.bytes + 8, sizeof m);
    message out;
    if (!decode(h.bytes, m.payload_bytes, nodes, out).ok()) continue;
    ++let_in;
    EXPECT_LT(out.from.value(), nodes);
    EXPECT_LT(out.requester.value(), nodes);
    EXPECT_LE(out.payload_bytes, max_payload_bytes);
    EXPECT_LE(out.kind, message_kind::last_kind);
  }
  EXPECT_GT(let_in, 1000u);
}

}  // namespace
}  // namespace quire::wire::wire_test
