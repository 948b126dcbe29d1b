// SPDX-License-Identifier: BSD-3-Clause
#include "start/introductions.hpp"

#include <quire/quire.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/options.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/inbox.hpp"
#include "core/watching.hpp"
#include "pool/pool.hpp"
#include "split/begin.hpp"
#include "transport/transport.hpp"

namespace quire::api {
namespace {

const char* commit_name(std::int32_t commit) noexcept {
  return commit == static_cast<std::int32_t>(base::commit_choice::token) ? "token" : "owners";
}

introduction read(std::span<const std::byte> told) noexcept {
  introduction theirs;
  std::memcpy(&theirs, told.data(), sizeof theirs);
  theirs.host[sizeof theirs.host - 1] = 0;
  theirs.detector.text.back() = 0;
  return theirs;
}

}  // namespace

base::status introductions::make(bootstrap::bootstrap& job, std::span<const std::byte> address, introduction mine) {
  const auto* const split = split::engine_here();
  mine.pid = split != nullptr ? split->application_pid() : ::getpid();
  if (::gethostname(mine.host, sizeof mine.host - 1) != 0) mine.host[0] = 0;
  std::vector<std::byte> told(sizeof mine);
  std::memcpy(told.data(), &mine, sizeof mine);
  told.insert(told.end(), address.begin(), address.end());
  auto heard = job.exchange(told);
  if (!heard.ok()) return heard.why();
  all_ = std::move(heard.value());
  const auto other =
      std::find_if(all_.begin(), all_.end(), [](const auto& one) { return one.size() < sizeof(introduction); });
  if (other == all_.end()) return {};
  base::log(base::log_level::error,
            "node %d says of itself what this version of Quire does not know; run the same version on all nodes",
            static_cast<int>(other - all_.begin()));
  return QUIRE_INVALID;
}

std::size_t introductions::without_address() const noexcept {
  if (all_.size() == 1) return 1;
  const auto first =
      std::find_if(all_.begin(), all_.end(), [](const auto& one) { return one.size() == sizeof(introduction); });
  return static_cast<std::size_t>(first - all_.begin());
}

introduction introductions::of(std::size_t node) const noexcept { return read(all_[node]); }

bool introductions::any_limit() const noexcept {
  return std::any_of(all_.begin(), all_.end(), [](const auto& one) { return read(one).memory_limit != 0; });
}

std::vector<std::uint64_t> introductions::mounts() const {
  std::vector<std::uint64_t> places;
  for (const auto& one : all_) places.push_back(read(one).mount);
  return places;
}

std::vector<std::uint16_t> introductions::hosts() const {
  std::vector<os::machine_place> places;
  for (const auto& one : all_) places.push_back(read(one).machine);
  return os::hosts_of(places);
}

void introductions::agree_on_detector(detector_choice& detector, std::size_t self) const {
  std::vector<detector_lack> lacks;
  std::vector<std::string> hosts;
  for (const auto& one : all_) {
    lacks.push_back(read(one).detector);
    hosts.emplace_back(read(one).host);
  }
  detector.agree(lacks, hosts, self);
}

/// Where two are kept apart, one of them is kept apart from the first node.
introductions::obstacle introductions::why_apart(bool all_local) const {
  const introduction first = read(all_[0]);
  obstacle found;
  bool is_one_machine = all_.size() > 1;
  for (std::size_t node = 1; node < all_.size(); ++node) {
    const introduction here = read(all_[node]);
    is_one_machine &= here.machine.is_with(first.machine);
    if (found.by_namespaces || !here.machine.is_kept_apart_from(first.machine)) continue;
    const auto why = here.machine.why_apart_from(first.machine);
    found = {"nodes 0 (" + std::string(first.host) + ") and " + std::to_string(node) + " (" + here.host +
                 ") are on one machine, in other " + why.what + ", as containers are",
             "With the same for all (docker run " + why.options + ") they share memory", true};
  }
  if (all_local) return found;
  if (!is_one_machine) return {};
  if (!found.by_namespaces) found.why = "all nodes are on one machine, as several hosts";
  found.help =
      "Started as one host, in one container (quire run -n " + std::to_string(all_.size()) + "), they share memory";
  return found;
}

bool introductions::share_loopback() const noexcept {
  const std::uint64_t first = read(all_[0]).machine.network;
  return std::all_of(all_.begin(), all_.end(), [first](const auto& one) { return read(one).machine.network == first; });
}

base::status introductions::agree_on_commit(std::size_t self) const {
  const auto mine = read(all_[self]).commit;
  const auto other =
      std::find_if(all_.begin(), all_.end(), [mine](const auto& one) { return read(one).commit != mine; });
  if (other == all_.end()) return {};
  base::log(base::log_level::error, "QUIRE_COMMIT is '%s' here and '%s' on node %d; it must be the same on all nodes",
            commit_name(mine), commit_name(read(*other).commit), static_cast<int>(other - all_.begin()));
  return QUIRE_BAD_OPTION;
}

base::status introductions::connect(core::core& node) const {
  std::vector<std::span<const std::byte>> views;
  std::vector<std::string> names;
  for (const auto& one : all_) {
    const introduction theirs = read(one);
    names.push_back("pid " + std::to_string(theirs.pid) + " on " + theirs.host);
    views.push_back(std::span(one).subspan(sizeof theirs));
  }
  const auto self = node.config.self.value();
  base::log(base::log_level::info, "this is node %d of %zu, %s, with pool '%s'", static_cast<int>(self), all_.size(),
            self < names.size() ? names[self].c_str() : "alone", pool::name_of(node.config.pool.which));
  node.watching.name_peers(std::move(names));
  return node.wire.connect(node.config.self, views, node.in);
}

}  // namespace quire::api
