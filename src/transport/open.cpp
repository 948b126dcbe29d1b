// SPDX-License-Identifier: BSD-3-Clause
// Choice of a transport by name; see open.hpp.
#include "transport/open.hpp"

#include <cstdlib>
#include <string>

#include "base/log.hpp"
#include "os/interfaces.hpp"
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

base::result<std::unique_ptr<transport>> open_plain_tcp(bool all_local, std::string_view devices,
                                                        const base::secret& job, bool outlives, bool system_ucx) {
  const ucx::settings how = from_library(outlives ? for_survivors(ucx::tcp) : ucx::tcp, system_ucx);
  if (devices != "auto") return ucx::open(how, std::string(devices), job);
  if (all_local) return ucx::open(how, "lo", job);
  std::string names;
  for (const auto& one : os::network_interfaces()) {
    const bool known = ("," + names + ",").find("," + one.name + ",") != std::string::npos;
    if (!one.loopback && !known) names += (names.empty() ? "" : ",") + one.name;
  }
  if (!names.empty()) return ucx::open(how, names, job);
  log(log_level::error, "this host has no network interface that is up, beside loopback, but nodes on other hosts");
  return QUIRE_UNSUPPORTED;
}

base::result<std::unique_ptr<transport>> open_tcp(bool all_local, std::string_view devices, const base::secret& job,
                                                  bool outlives, bool system_ucx, bool encrypts) {
  auto plain = open_plain_tcp(all_local, devices, job, outlives, system_ucx);
  return plain.ok() && encrypts ? sealed::wrap(std::move(plain.value()), job) : std::move(plain);
}

}  // namespace

bool can_be_tcp_instead(std::string_view kind, bool all_local) noexcept { return kind == "auto" && all_local; }

base::result<std::unique_ptr<transport>> open(std::string_view kind, unsigned nodes, bool all_local,
                                              std::string_view devices, const base::secret& job, bool outlives_peers,
                                              bool system_ucx, bool encrypts) {
  if (kind == "tcp" || (kind == "auto" && !all_local))
    return open_tcp(all_local, devices, job, outlives_peers, system_ucx, encrypts);
  if (kind == "shm" && !all_local) {
    log(log_level::error, "transport shm: not all nodes of the job run on this host; use auto or tcp");
    return QUIRE_UNSUPPORTED;
  }
  if (kind == "auto" || kind == "shm") {
    if (outlives_peers || std::getenv("UCX_TLS") == nullptr) return rings::open(nodes, outlives_peers);
    return ucx::open(from_library(ucx::shared_memory, system_ucx), "all", job);
  }
  log(log_level::error, "unknown transport; choose auto, shm or tcp");
  return QUIRE_BAD_OPTION;
}

}  // namespace quire::transport
