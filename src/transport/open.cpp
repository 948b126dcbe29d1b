// SPDX-License-Identifier: BSD-3-Clause
// Choice of a transport by name; see open.hpp.
#include "transport/open.hpp"

#include <cstdlib>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "os/interfaces.hpp"
#include "transport/delayed/delayed.hpp"
#include "transport/hosts/hosts.hpp"
#include "transport/rings/rings.hpp"
#include "transport/sealed/sealed.hpp"
#include "transport/ucx/ucx.hpp"

namespace quire::transport {
namespace {

using base::log;
using base::log_level;

/// For nodes that outlive others. A payload that was announced could still be landing when its sender is dead, and its
/// place in use for something else.
ucx::settings for_survivors(ucx::settings how) {
  how.rendezvous_bytes = "inf";
  return how;
}

ucx::settings from_library(ucx::settings how, bool system_ucx) {
  how.system_library = system_ucx;
  return how;
}

base::result<std::unique_ptr<transport>> open_plain_tcp(const wanted& what) {
  const ucx::settings how = from_library(what.outlives_peers ? for_survivors(ucx::tcp) : ucx::tcp, what.system_ucx);
  if (what.devices != "auto") return ucx::open(how, std::string(what.devices), what.job);
  if (what.all_local) return ucx::open(how, "lo", what.job);
  std::string names;
  for (const auto& one : os::network_interfaces()) {
    const bool known = ("," + names + ",").find("," + one.name + ",") != std::string::npos;
    if (!one.loopback && !known) names += (names.empty() ? "" : ",") + one.name;
  }
  if (!names.empty()) return ucx::open(how, names, what.job);
  log(log_level::error, "this host has no network interface that is up, beside loopback, but nodes on other hosts");
  return QUIRE_UNSUPPORTED;
}

base::result<std::unique_ptr<transport>> open_tcp(const wanted& what) {
  auto plain = open_plain_tcp(what);
  return plain.ok() && what.encrypts ? sealed::wrap(std::move(plain.value()), what.job) : std::move(plain);
}

bool chosen_by_user(const wanted& what) noexcept { return !what.outlives_peers && std::getenv("UCX_TLS") != nullptr; }

/// A node whose host has no shared memory for it goes by TCP to all others.
base::result<std::unique_ptr<transport>> open_hosts(const wanted& what) {
  auto across = open_tcp(what);
  if (!across.ok()) return across;
  std::unique_ptr<transport> within;
  if (what.host != 0) {
    auto rings = rings::open(what.nodes, what.outlives_peers);
    if (rings.ok()) {
      within = std::move(rings.value());
    } else {
      log(log_level::warning, "so this node uses TCP also to the nodes of its own host, which is slower");
    }
  }
  return hosts::join(std::move(within), std::move(across.value()), what.host);
}

base::result<std::unique_ptr<transport>> open_at_once(const wanted& how) {
  if (how.kind == "auto" && !how.all_local && !chosen_by_user(how)) return open_hosts(how);
  if (how.kind == "tcp" || (how.kind == "auto" && !how.all_local)) return open_tcp(how);
  if (how.kind == "shm" && !how.all_local) {
    log(log_level::error, "transport shm: not all nodes of the job run on this host; use auto or tcp");
    return QUIRE_UNSUPPORTED;
  }
  if (how.kind == "auto" || how.kind == "shm") {
    if (!chosen_by_user(how)) return rings::open(how.nodes, how.outlives_peers);
    return ucx::open(from_library(ucx::shared_memory, how.system_ucx), "all", how.job);
  }
  log(log_level::error, "unknown transport; choose auto, shm or tcp");
  return QUIRE_BAD_OPTION;
}

}  // namespace

bool can_be_tcp_instead(std::string_view kind, bool all_local) noexcept { return kind == "auto" && all_local; }

base::result<std::unique_ptr<transport>> open(const wanted& how) {
  auto at_once = open_at_once(how);
  return at_once.ok() && how.delay ? delayed::wrap(std::move(at_once.value()), *how.delay) : std::move(at_once);
}

}  // namespace quire::transport
