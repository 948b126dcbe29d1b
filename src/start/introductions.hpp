// SPDX-License-Identifier: BSD-3-Clause
// What nodes tell each other before they can send messages, and what they agree on by it. Application thread, in
// quire_start().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "start/detector_choice.hpp"
#include "base/status.hpp"
#include "bootstrap/bootstrap.hpp"
#include "os/machine.hpp"

namespace quire::core {
class core;
}

namespace quire::api {

/// A memory file that other nodes of the machine may open; none if `file` is negative.
struct frames_offer {
  std::int32_t file = -1;  ///< its number in the node's process
  std::uint32_t user = 0;
  std::uint64_t device = 0, inode = 0;
};

/// Who a node is, whether it has a memory limit, which those without one have to know, how its transactions commit,
/// where it would mount (os::place_of(); 0: nowhere), which detector it cannot have, and its machine.
struct introduction {
  std::uint64_t memory_limit = 0;
  std::uint64_t mount = 0;
  std::int32_t commit = 0;
  std::int32_t pid = 0;
  char host[60] = {};
  detector_lack detector{};
  os::machine_place machine{};
  frames_offer frames{};
};

class introductions {
 public:
  /// Collective: all tell theirs, and the address of their transport. QUIRE_INVALID, and a line, for other versions.
  base::status make(bootstrap::bootstrap& job, std::span<const std::byte> address, introduction mine);
  /// The first node that gave no address; how many there are, if all did. A job of one needs none.
  [[nodiscard]] std::size_t without_address() const noexcept;
  [[nodiscard]] bool any_limit() const noexcept;
  /// What a node has told.
  [[nodiscard]] introduction of(std::size_t node) const noexcept;
  [[nodiscard]] std::vector<std::uint64_t> mounts() const;
  /// As os::hosts_of().
  [[nodiscard]] std::vector<std::uint16_t> hosts() const;
  void agree_on_detector(detector_choice& detector, std::size_t self) const;
  /// Why nodes of one machine share no memory, and what would help, as sentences.
  struct obstacle {
    std::string why{}, help{};   ///< empty: there is none
    bool by_namespaces = false;  ///< of containers
  };
  /// Of a job whose launcher says that all nodes are on one host (`all_local`), or whose hosts are one machine.
  [[nodiscard]] obstacle why_apart(bool all_local) const;
  /// Whether all are in one network namespace, as far as is known: loopback leads from one to the other.
  [[nodiscard]] bool share_loopback() const noexcept;
  /// QUIRE_BAD_OPTION, and a line, where transactions of another node commit in another way.
  [[nodiscard]] base::status agree_on_commit(std::size_t self) const;
  /// Gives the node's transport all addresses.
  base::status connect(core::core& node) const;

 private:
  std::vector<std::vector<std::byte>> all_{};  ///< by node: introduction, address
};

}  // namespace quire::api
