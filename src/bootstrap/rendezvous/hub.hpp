// SPDX-License-Identifier: BSD-3-Clause
// What rank 0 decides about a job without a launcher: who belongs to it, when all are there, what each has given to the
// others, who has died. A pure machine: frames and ends of connections go in, frames for connections come out. Rank 0
// itself is the member with connection 0. Called by server.cpp, on one thread at a time.
//
//   member -> hub   hello      payload: strings: its greeting, host, build and mark. The first frame
//                   address    payload: what the node gives to the others; once a round, answered by `addresses`
//                   leave      it ends well; answered by `leave`
//                   bereaved   it ends because others are lost
//                   abort      node: whom it accuses, or -1; payload: the sentence for people. The job ends
//   hub -> member   members    payload: strings: the hello of each rank. All are there
//                   addresses  payload: of all nodes, in order (pack_addresses)
//                   node_died  node: who; payload: the sentence for people
//                   job_ends   node: who was accused, or -1; payload: the sentence for people
//                   notice     payload: a line for people; the job goes on
//                   leave      node: who leaves; rank 0's own goes to all: the end of its process is no accident
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/local/frame.hpp"
#include "os/machine.hpp"

namespace quire::bootstrap::rendezvous {

/// What a member says of itself.
struct greeting {
  std::uint32_t version = local::protocol_version;
  std::int32_t rank = 0, size = 0, pid = 0;
  os::machine_place machine{};
};
struct introduction {
  greeting self{};
  std::string host, build, mark;  ///< os::own_mark()
};
[[nodiscard]] std::string pack(const introduction& who);
/// False if that is none.
[[nodiscard]] bool unpack(std::string_view packed, introduction& who);
/// "node 2 (pid 4711 on host)".
[[nodiscard]] std::string name_of(const introduction& who);

class hub {
 public:
  struct output {
    int link = 0;
    std::shared_ptr<const std::string> bytes;  ///< an encoded frame; null: nothing more comes, the connection may go
  };

  explicit hub(int size) : by_rank_(static_cast<std::size_t>(size)), size_(size) {}

  /// The process behind this connection knows the secret, and says that it is `rank`.
  void on_open(int link, std::uint64_t rank);
  void on_frame(int link, const local::frame& frame);
  /// The connection has ended, or is broken.
  void on_closed(int link);
  /// Somebody at `where`, who says that it is `rank`, does not know the secret.
  void on_stranger(const std::string& where, std::uint64_t rank);
  /// It is late.
  void on_limit(int seconds);
  /// Rank 0 cannot go on.
  void on_failure(const std::string& why) { end(why, -1, no_link); }

  /// What is to be sent; each is given once.
  [[nodiscard]] std::vector<output> take() { return std::move(out_); }
  [[nodiscard]] bool all_there() const noexcept { return phase_ != phase::gathering; }
  /// Whether all others have left, or are gone.
  [[nodiscard]] bool all_left() const noexcept;
  /// "ranks 2, 3 and 5": who has not come yet.
  [[nodiscard]] std::string missing() const;

 private:
  static constexpr int no_link = -1;
  enum class phase { gathering, running, ended } phase_ = phase::gathering;
  struct member {
    std::uint64_t rank = 0;
    bool joined = false, left = false;
  };
  struct seat {
    int link = no_link;
    std::string packed;
    introduction who;
    std::shared_ptr<const std::string> address;  ///< of this round
  };

  void on_hello(int link, member& from, const std::string& packed);
  void on_address(int link, member& from, const std::string& payload);
  void on_leave(int link, member& from);
  /// What is wrong with a new member for all; empty if nothing is.
  [[nodiscard]] std::string wrong_for_all(const introduction& who) const;
  void turn_away(int link, const std::string& why);
  void died(member& who);
  void end(const std::string& why, int accused, int except);
  void send(int link, local::frame_kind kind, int node, std::string_view payload);
  void send_all(local::frame_kind kind, int node, std::string_view payload, int except);

  std::map<int, member> members_;
  std::vector<seat> by_rank_;
  std::vector<output> out_;
  int size_, joined_ = 0, given_ = 0, strangers_ = 0;
  std::string why_ended_;
  std::string last_stranger_;
};

}  // namespace quire::bootstrap::rendezvous
