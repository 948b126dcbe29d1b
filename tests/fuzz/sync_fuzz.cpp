// SPDX-License-Identifier: BSD-3-Clause
// The machine of synchronisation, fed with whatever the border lets in: messages of every kind with fields that may
// belong to each other, between calls of its own threads. It may refuse, and lose track of who lies; it must not fall.
#include <array>
#include <unordered_set>

#include "input.hpp"
#include "sync/kinds.hpp"
#include "sync/machine.hpp"
#include "sync/mismatch.hpp"
#include "wire/wire.hpp"

using namespace quire;
using namespace quire::sync;

namespace {

constexpr unsigned nodes = 4;

/// Mostly numbers that mean something.
std::uint64_t some_number(fuzz::input& in) {
  constexpr std::uint64_t edges[] = {0, 1, 2, 3, 4, 63, 64, 0xffff, 0xffffffff, ~std::uint64_t{0}};
  const auto which = in.take<std::uint8_t>();
  return which < std::size(edges) ? edges[which] : which < 250 ? which - std::size(edges) : in.take<std::uint64_t>();
}
std::uint64_t some_object(fuzz::input& in) {
  const auto which = in.take<std::uint8_t>();
  const node_id home{static_cast<std::uint16_t>((which >> 3) % (nodes + 1))};
  return make_object_id(static_cast<object_kind>(which & 7), home, (which >> 6) + 1u).value();
}

/// A group with two threads of each node, of which those of this one are members.
std::uint64_t make_group(sync::machine& machine) {
  actions out;
  std::array<std::uint32_t, nodes> threads{2, 2, 2, 2};
  call c;
  c.what = operation::group_create;
  c.data = std::as_writable_bytes(std::span(threads));
  machine.on_call(c, out);
  const std::uint64_t group = out[0].object;
  for (c.thread = 0; c.thread < 2; ++c.thread) {
    c.what = operation::group_join;
    c.object = group;
    c.operand = c.thread;
    machine.on_call(c, out);
  }
  return group;
}

/// A collective of the group, or of the job, with few values or an array.
void make_collective(call& c, std::uint64_t group, std::uint8_t draw, std::array<std::byte, 240>& array) {
  constexpr operation some[] = {operation::group_wait,      operation::group_reduce_f64, operation::group_reduce_i64,
                                operation::group_broadcast, operation::group_leave,      operation::group_join,
                                operation::group_destroy};
  c.what = some[draw / 2 % std::size(some)];
  c.object = (draw & 1) != 0 ? group : 0;
  c.count = (draw & 0x80) != 0 ? static_cast<std::uint32_t>(array.size() / element_bytes(c.what)) : 1;
  c.values = value(std::span(array).first(element_bytes(c.what)));
  if (is_array(c.what, c.count)) c.data = array;
  c.operand = draw % 8;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  fuzz::input in(data, std::min<std::size_t>(bytes, 4096));
  sync::machine machine(node_id{static_cast<std::uint16_t>(in.take<std::uint8_t>() % nodes)}, nodes);
  const node_id self{static_cast<std::uint16_t>(data != nullptr && bytes != 0 ? data[0] % nodes : 0)};
  const std::uint64_t group = make_group(machine);
  std::array<std::array<std::byte, 240>, 4> arrays{};  // of each thread
  std::unordered_set<std::uint64_t> open;
  std::uint64_t tokens = 0;
  actions out;
  while (!in.empty()) {
    out.clear();
    const auto step = in.take<std::uint8_t>();
    if (step % 4 == 0) {
      call c;
      c.what = static_cast<operation>(in.take<std::uint8_t>() % (static_cast<unsigned>(operation::broadcast) + 1));
      c.thread = step / 4 % 4;
      c.try_only = (step & 0x80) != 0;
      c.object = some_object(in);
      c.operand = c.what == operation::broadcast ? step % nodes : some_number(in);
      c.count = 1;
      c.values = value(in.take(8));
      if (c.what == operation::broadcast) c.count = 8;
      if ((step & 0x70) == 0x70) make_collective(c, group, in.take<std::uint8_t>(), arrays[c.thread]);
      c.token = ++tokens;
      open.insert(c.token);
      machine.on_call(c, out);
    } else if (step % 32 == 1) {
      machine.on_cancel(1 + in.take<std::uint8_t>() % (tokens + 1), out);
    } else {
      model::message m, checked;
      m.kind = static_cast<model::message_kind>(static_cast<unsigned>(model::message_kind::sync_first) + step / 4 % 64);
      const auto who = in.take<std::uint8_t>();
      m.from = node_id{static_cast<std::uint16_t>(who % nodes)};
      m.requester = node_id{static_cast<std::uint16_t>(who / nodes % nodes)};
      m.unit = step % 8 == 7 ? group : some_object(in);
      m.token = some_number(in);
      m.a = some_number(in);
      m.b = some_number(in);
      m.operation = static_cast<std::uint32_t>(some_number(in));
      m.count = static_cast<std::uint32_t>(some_number(in));
      const auto payload = in.take(in.take<std::uint8_t>());
      m.payload_bytes = static_cast<std::uint32_t>(payload.size());
      wire::header h;
      wire::encode(m, h);
      if (m.from == self || !wire::decode(h.bytes, payload.size(), nodes, checked).ok()) continue;
      machine.on_message(checked, payload, out);
    }
    for (const action& a : out) {
      if (a.kind == action_kind::send) MUST(a.to.value() < nodes && a.m.requester.value() < nodes);
      if (a.kind == action_kind::complete) MUST(open.erase(a.token) == 1);
    }
  }
  return 0;
}
