// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/rendezvous/hub.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace quire::bootstrap::rendezvous {
namespace {

using local::frame_kind;

constexpr std::size_t most_name_bytes = 256;
constexpr int most_strangers_told = 8;

}  // namespace

std::string pack(const introduction& who) {
  static_assert(std::is_trivially_copyable_v<greeting>);
  const std::string words[] = {std::string(reinterpret_cast<const char*>(&who.self), sizeof who.self), who.host,
                               who.build, who.mark};
  return local::pack_addresses(words);
}

bool unpack(std::string_view packed, introduction& who) {
  const auto words = local::unpack_strings(packed);
  if (!words || words->size() != 4 || (*words)[0].size() != sizeof who.self) return false;
  if (std::any_of(words->begin(), words->end(), [](const auto& one) { return one.size() > most_name_bytes; }))
    return false;
  std::memcpy(&who.self, (*words)[0].data(), sizeof who.self);
  who.host = (*words)[1];
  who.build = (*words)[2];
  who.mark = (*words)[3];
  return true;
}

std::string name_of(const introduction& who) {
  return "node " + std::to_string(who.self.rank) + " (pid " + std::to_string(who.self.pid) + " on " + who.host + ")";
}

void hub::send(int link, frame_kind kind, int node, std::string_view payload) {
  out_.push_back({link, local::make_frame(kind, node, payload)});
}

void hub::send_all(frame_kind kind, int node, std::string_view payload, int except) {
  const auto bytes = local::make_frame(kind, node, payload);
  for (const auto& [link, who] : members_)
    if (who.joined && !who.left && link != except) out_.push_back({link, bytes});
}

/// The first reason is the one that all hear.
void hub::end(const std::string& why, int accused, int except) {
  if (phase_ == phase::ended) return;
  phase_ = phase::ended;
  why_ended_ = why;
  send_all(frame_kind::job_ends, accused, why, except);
}

void hub::turn_away(int link, const std::string& why) {
  send(link, frame_kind::job_ends, -1, why);
  out_.push_back({link, nullptr});
}

void hub::on_open(int link, std::uint64_t rank) { members_[link] = {rank}; }

void hub::on_frame(int link, const local::frame& frame) {
  const auto found = members_.find(link);
  if (found == members_.end() || found->second.left) return;
  member& from = found->second;
  if (!from.joined) {
    if (frame.kind == frame_kind::hello) return on_hello(link, from, frame.payload);
    out_.push_back({link, nullptr});
    return;
  }
  switch (frame.kind) {
    case frame_kind::address:
      return on_address(link, from, frame.payload);
    case frame_kind::leave:
      return on_leave(link, from);
    case frame_kind::bereaved:
      from.left = true;
      return;
    case frame_kind::abort:
      return end(frame.payload, frame.node, link);
    default:
      return;  // it says what no member says
  }
}

std::string hub::wrong_for_all(const introduction& who) const {
  const introduction& first = by_rank_[0].who;
  if (by_rank_[0].link == no_link) return {};  // it is this one
  if (who.self.version != first.self.version || who.build != first.build)
    return name_of(who) + " runs another build of Quire (" + who.build + ") than node 0 (" + first.build +
           "); run the same one on all nodes";
  if (who.self.size != size_)
    return name_of(who) + " says that the job has " + std::to_string(who.self.size) + " ranks; node 0 says " +
           std::to_string(size_);
  const auto& seat = by_rank_[static_cast<std::size_t>(who.self.rank)];
  if (seat.link == no_link) return {};
  return "rank " + std::to_string(who.self.rank) + " has come twice: " + name_of(seat.who) + ", and pid " +
         std::to_string(who.self.pid) + " on " + who.host;
}

void hub::on_hello(int link, member& from, const std::string& packed) {
  introduction who;
  const bool clear = unpack(packed, who);
  if (!clear || who.self.rank < 0 || static_cast<std::uint64_t>(who.self.rank) != from.rank) {
    const std::string other = "node " + std::to_string(from.rank) + " runs another build of Quire than node 0";
    turn_away(link, other);
    if (!all_there()) end(other, -1, no_link);
    return;
  }
  if (phase_ == phase::ended) return turn_away(link, why_ended_);
  const bool known = who.self.rank < size_ || who.self.size != size_;
  const std::string wrong = known ? wrong_for_all(who) : name_of(who) + " is not of this job";
  if (all_there()) {
    const std::string late = "all " + std::to_string(size_) + " ranks of the job have come before";
    send_all(frame_kind::notice, -1, "turned a process away: " + wrong + "; " + late, no_link);
    return turn_away(link, wrong + "; " + late);
  }
  if (!wrong.empty()) {
    turn_away(link, wrong);
    return end(wrong, -1, no_link);
  }
  auto& seat = by_rank_[static_cast<std::size_t>(who.self.rank)];
  seat.link = link;
  seat.packed = packed;
  seat.who = who;
  from.joined = true;
  if (!last_stranger_.empty()) send(link, frame_kind::notice, -1, last_stranger_);
  if (++joined_ < size_) return;
  phase_ = phase::running;
  std::vector<std::string> all;
  for (auto& one : by_rank_) all.push_back(std::move(one.packed));
  send_all(frame_kind::members, -1, local::pack_addresses(all), no_link);
}

void hub::on_address(int link, member& from, const std::string& payload) {
  if (phase_ != phase::running) return;
  auto& mine = by_rank_[from.rank].address;
  if (mine != nullptr || payload.size() > local::most_address_bytes) {
    out_.push_back({link, nullptr});
    return died(from);
  }
  mine = std::make_shared<const std::string>(payload);
  if (++given_ < size_) return;
  given_ = 0;
  std::vector<std::string> all;
  for (auto& one : by_rank_) all.push_back(*std::exchange(one.address, nullptr));
  send_all(frame_kind::addresses, -1, local::pack_addresses(all), no_link);
}

void hub::on_leave(int link, member& from) {
  if (from.rank == 0)
    send_all(frame_kind::leave, 0, {}, no_link);
  else
    send(link, frame_kind::leave, static_cast<int>(from.rank), {});
  from.left = true;
}

void hub::on_closed(int link) {
  const auto found = members_.find(link);
  if (found == members_.end()) return;
  if (found->second.joined && !found->second.left) died(found->second);
  members_.erase(found);
}

void hub::died(member& who) {
  who.left = true;
  const std::string name = name_of(by_rank_[who.rank].who);
  if (phase_ == phase::gathering)
    return end(name + " has ended before all " + std::to_string(size_) + " ranks had come", -1, no_link);
  if (phase_ == phase::ended) return;  // a consequence
  phase_ = phase::ended;
  why_ended_ = name + " has ended without quire_end(), or is cut off";
  send_all(frame_kind::node_died, static_cast<int>(who.rank), why_ended_, no_link);
}

void hub::on_stranger(const std::string& where, std::uint64_t rank) {
  if (phase_ == phase::ended || strangers_ >= most_strangers_told) return;
  ++strangers_;
  last_stranger_ = "a process at " + where + ", which calls itself rank " + std::to_string(rank) +
                   ", knows another secret than rank 0, and was turned away";
  send_all(frame_kind::notice, -1, last_stranger_, no_link);
}

void hub::on_limit(int seconds) {
  if (phase_ != phase::gathering) return;
  const std::string all = std::to_string(size_), here = std::to_string(joined_);
  std::string why = "within " + std::to_string(seconds) + " seconds (QUIRE_RENDEZVOUS_TIMEOUT) " + here + " of " + all +
                    " ranks have come to rank 0; missing: " + missing();
  if (!last_stranger_.empty()) why += "; " + last_stranger_;
  end(why, -1, no_link);
}

bool hub::all_left() const noexcept {
  return std::all_of(members_.begin(), members_.end(),
                     [](const auto& one) { return !one.second.joined || one.second.left || one.second.rank == 0; });
}

std::string hub::missing() const {
  constexpr int most_named = 16;
  std::string text;
  int named = 0, left_out = 0;
  for (int rank = 0; rank < size_; ++rank) {
    if (by_rank_[static_cast<std::size_t>(rank)].link != no_link) continue;
    if (named == most_named)
      ++left_out;
    else
      text += (named++ == 0 ? "" : ", ") + std::to_string(rank);
  }
  return left_out == 0 ? text : text + " and " + std::to_string(left_out) + " more";
}

}  // namespace quire::bootstrap::rendezvous
