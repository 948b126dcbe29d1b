// SPDX-License-Identifier: BSD-3-Clause
// See leave.hpp; core/leaving.hpp does the work.
#include "api/leave.hpp"

#include <algorithm>

#include "api/failure.hpp"
#include "base/detail.hpp"
#include "base/log.hpp"
#include "base/nanoseconds.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/host.hpp"
#include "core/leaving.hpp"
#include "core/survival.hpp"
#include "core/sync_calls.hpp"
#include "container/files/mounting.hpp"
#include "runtime/runtime.hpp"
#include "services/node/threads.hpp"
#include "sync/object_id.hpp"

namespace quire::api {
namespace {

constexpr std::uint64_t patience_ns = 10 * base::second;  // without a unit that goes
constexpr std::uint64_t pause_ns = base::ms / 5;

/// The reason is explained, and a line as well: who asks may be far from the node's output.
template <class... Arguments>
quire_status refuse(quire_status why, const char* text, Arguments... arguments) {
  base::log(base::log_level::warning, text, arguments...);
  return base::explain(why, text, arguments...);
}

quire_status why_kept(runtime& r) {
  const char* obstacle = nullptr;
  core::leaver goes(*r.core);
  r.core->as_driver([&] { obstacle = goes.obstacle(); });
  if (obstacle == nullptr) return QUIRE_OK;
  return refuse(QUIRE_UNSUPPORTED, "quire_leave(): this node cannot leave: %s", obstacle);
}

quire_status why_never(runtime& r) {
  const core::configuration& c = r.core->config;
  if (r.failures->is_handler())
    return refuse(QUIRE_INVALID,
                  "quire_leave(): not by the handler of quire_on_failure(), which must return before it");
  if (!c.survives)
    return refuse(QUIRE_UNSUPPORTED,
                  "quire_leave(): the job does not go on without a node: start it with --on-failure notify "
                  "(QUIRE_ON_FAILURE)");
  if (!r.job->announces_deaths())
    return refuse(QUIRE_UNSUPPORTED, "quire_leave(): only nodes that `quire run` has started can leave");
  if (c.self.value() == 0)
    return refuse(QUIRE_UNSUPPORTED, "quire_leave(): node 0 stays, as it takes over what others have managed");
  if (r.mounts->anywhere())
    return refuse(QUIRE_UNSUPPORTED,
                  "quire_leave(): files of this node are mounted, and others may use them (--mount)");
  return why_kept(r);
}

quire_status why_not_now(runtime& r) {
  const auto made = r.core->objects.save().objects;
  const auto kept = std::ranges::count_if(made, [](const sync::saved_object& o) {
    return sync::kind_of(sync::object_id{o.id}) != sync::object_kind::mutex;
  });
  if (kept != 0)
    return refuse(
        QUIRE_BUSY,
        "quire_leave(): %ld events, semaphores, barriers, conditions or locks for readers and writers of this "
        "node are in use: destroy them, or have another node make them",
        static_cast<long>(kept));
  std::size_t threads = 0;
  r.core->as_driver([&] { threads = r.threads->close(); });
  if (threads == 0) return QUIRE_OK;
  return refuse(QUIRE_BUSY, "quire_leave(): %lu threads of quire_spawn() run on this node, or are not joined yet",
                static_cast<unsigned long>(threads));
}

/// False where it does not come to an end: no unit has gone for long.
bool begin(runtime& r, core::leaver& goes) {
  bool begun = false, possible = true;
  std::uint64_t fewest = ~std::uint64_t{0};
  for (std::uint64_t until = r.core->now() + patience_ns; possible && r.core->now() < until;) {
    r.core->as_driver([&] {
      begun = goes.go_on();
      possible = begun || goes.obstacle() == nullptr;
    });
    if (begun) return true;
    if (goes.units_here() < fewest) {
      fewest = goes.units_here();
      until = r.core->now() + patience_ns;
    }
    r.core->host.pause(pause_ns);
  }
  return false;
}

}  // namespace

quire_status leave_others(runtime& r) {
  if (const auto why = why_never(r); why != QUIRE_OK) return why;
  r.regions->settle_frees();
  if (const auto why = why_not_now(r); why != QUIRE_OK) return why;
  r.failures->stop();  // its handler may use shared memory
  core::leaver goes(*r.core);
  if (!begin(r, goes)) {
    r.failures->go_on();
    r.core->as_driver([&] { r.threads->open(); });
    if (const auto why = why_kept(r); why != QUIRE_OK) return why;  // node 0 has died meanwhile
    return refuse(QUIRE_BUSY,
                  "quire_leave(): for %lu seconds this node has not come to rest (%lu units are here still): a thread "
                  "of it goes on using shared memory, keeps it pinned, waits in a call, or has a mutex; or "
                  "a mutex here had an owner who died, and nobody has locked it since",
                  static_cast<unsigned long>(patience_ns / base::second),
                  static_cast<unsigned long>(goes.units_here()));
  }
  while (!r.core->survival.has_left()) r.core->host.pause(pause_ns);
  return QUIRE_OK;
}

}  // namespace quire::api
