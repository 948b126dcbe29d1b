// SPDX-License-Identifier: BSD-3-Clause
#include "start/host_frames.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "core/configuration.hpp"
#include "os/limits.hpp"
#include "os/memory.hpp"
#include "os/process_file.hpp"
#include "pool/host_file.hpp"

namespace quire::api {

void host_frames::keep_apart(const char* why) const {
  const auto how = wanted_ == choice::together ? base::log_level::warning : base::log_level::info;
  base::log(how, "frames of a host do not go with %s: this node has frames of its own", why);
}

void host_frames::offer(const core::configuration& c, introduction& mine) {
  if (wanted_ == choice::apart || c.nodes == 1) return;
  if (wanted_ == choice::automatic && !by_memory_) return;
  if (wanted_ == choice::automatic && is_watched_) return keep_apart("reports and records of what nodes share");
  if (c.survives) return keep_apart("nodes that survive others (QUIRE_ON_FAILURE=notify)");
  if (c.pool.which != pool::kind::memfd) return keep_apart("any pool but 'memfd'");
  const bool limited = c.memory_limit != 0;
  if (limited && wanted_ == choice::automatic) return keep_apart("a memory limit (QUIRE_MEMORY_LIMIT)");
  if (c.races != protocol::traced::nothing) return keep_apart("QUIRE_CHECK=races");
  // Where files may not be so long it has no place for what is adopted.
  const bool has_all = !limited && os::file_may_have(pool::host_span);
  const std::uint64_t table = limited ? pool::host_table_bytes(c.bytes) : 0;  // behind the range
  const int made = os::make_memfd("quire-host", has_all ? pool::host_span : c.bytes + table);
  if (made < 0) {
    base::log(base::log_level::warning, "no memory file for the frames of this host: %s; this node has its own",
              std::strerror(-made));
    return;
  }
  file_ = os::descriptor(made);
  const os::file_identity which = os::identity_of(made);
  mine.frames = {made, static_cast<std::uint32_t>(::getuid()), which.device, which.inode};
}

/// Opens the file of the first node that has memory in common with this one. Why not, if there is one and it cannot be
/// had: then this node is the first of its own.
std::string host_frames::open_first(const introductions& others, const core::configuration& c, std::uint16_t& first) {
  const std::size_t self = c.self.value();
  const introduction mine = others.of(self);
  std::string why;
  for (std::size_t node = 0; node < self; ++node) {
    const introduction there = others.of(node);
    if (!there.machine.is_with(mine.machine) || !there.machine.is_on_network_of(mine.machine)) continue;
    const std::string who = "node " + std::to_string(node) + " (" + there.host + ")";
    if (there.machine.is_kept_apart_from(mine.machine)) {
      if (why.empty()) why = who + " is in other " + there.machine.why_apart_from(mine.machine).what;
      continue;
    }
    if (there.frames.file < 0) continue;  // it has said why
    if (there.frames.user != mine.frames.user) {
      if (why.empty()) why = who + " is another user's";
      continue;
    }
    const int got = os::open_of_process(there.pid, there.frames.file, {there.frames.device, there.frames.inode});
    if (got < 0) {
      if (why.empty()) why = "the memory of " + who + " cannot be opened: " + std::strerror(-got);
      continue;
    }
    file_ = os::descriptor(got);
    first = static_cast<std::uint16_t>(node);
    return {};
  }
  return why;
}

namespace {
/// Why the nodes of the job have no frames together; null: some may.
const char* why_none(const introductions& others, const core::configuration& c) {
  if (c.replicas) return "replicas";
  for (std::size_t node = 0; c.pages_out && node < c.nodes; ++node) {
    if (others.of(node).memory_limit == 0) return "a memory limit (QUIRE_MEMORY_LIMIT) of some nodes and not of others";
  }
  return nullptr;
}
}  // namespace

/// The table of which nodes use which frames. It is behind the range.
base::status host_frames::count_frames(core::configuration& c) const {
  int error = 0;
  void* const table =
      os::map_shared_part(file_.number(), c.bytes, pool::host_table_bytes(c.bytes), nullptr, true, error);
  c.host_holds = static_cast<std::byte*>(table);
  if (table != nullptr) return {};
  base::log(base::log_level::error, "cannot map the table of the pages of this host: %s", std::strerror(error));
  return QUIRE_NO_MEMORY;
}

base::status host_frames::meet(bootstrap::bootstrap& job, const introductions& others, core::configuration& c) {
  bool any = false;
  for (std::size_t node = 0; node < c.nodes; ++node) any |= others.of(node).frames.file >= 0;
  if (!any) return {};
  std::uint16_t first = c.self.value();
  const char* const none = why_none(others, c);
  if (none != nullptr && c.self.value() == 0) keep_apart(none);
  if (file_.open() && none == nullptr) {
    const std::string why = open_first(others, c, first);
    if (!why.empty() && first == c.self.value())
      base::log(base::log_level::warning, "this node has no frames together with others of its machine: %s",
                why.c_str());
  }
  auto heard = job.exchange(std::as_bytes(std::span(&first, 1)));
  if (!heard.ok()) return heard.why();
  std::vector<std::uint16_t> hosts;
  for (const auto& one : heard.value()) {
    if (one.size() != sizeof first) return QUIRE_INVALID;
    std::memcpy(&hosts.emplace_back(), one.data(), sizeof first);
  }
  const auto mine = std::count(hosts.begin(), hosts.end(), first);
  if (mine == 1) return {};
  c.hosts = std::move(hosts);
  c.pool.host_base = c.base;
  if (mine > 1) {
    base::log(base::log_level::info, "frames are shared by %d nodes of this host, from node %u on",
              static_cast<int>(mine), unsigned{first});
  }
  if (!file_.open()) return {};
  if (c.pages_out) {
    if (const auto why = count_frames(c); !why.ok()) return why;
  }
  c.pool.host_file = file_.release();
  return {};
}

}  // namespace quire::api
