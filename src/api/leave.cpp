// SPDX-License-Identifier: BSD-3-Clause
// See leave.hpp; core/leaving.hpp does the work.
#include "api/leave.hpp"

#include <quire/leave.h>

#include <algorithm>
#include <cstdio>

#include "api/failure.hpp"
#include "base/detail.hpp"
#include "base/log.hpp"
#include "base/nanoseconds.hpp"
#include "core/core.hpp"
#include "core/host.hpp"
#include "core/leaving.hpp"
#include "core/survival.hpp"
#include "core/sync_calls.hpp"
#include "container/files/mounting.hpp"
#include "runtime/forward.hpp"
#include "runtime/runtime.hpp"
#include "services/node/threads.hpp"
#include "sync/object_id.hpp"

namespace quire::api {
namespace {

constexpr std::uint64_t patience_ns = 10 * base::second;  // without a unit that goes
constexpr std::uint64_t pause_ns = base::ms / 5;
constexpr std::uint64_t word_ns = base::second / 2;  // between two words of how far it is

/// The reason is explained, and a line as well: who asks may be far from the node's output. So may be who wants the
/// node to leave.
template <class... Arguments>
quire_status refuse(runtime& r, quire_status why, const char* text, Arguments... arguments) {
  char sentence[512];
  std::snprintf(sentence, sizeof sentence, text, arguments...);
  r.node->threads().wish().on_refusal(why == QUIRE_UNSUPPORTED, sentence);
  base::log(base::log_level::warning, "quire_leave(): %s", sentence);
  return base::explain(why, "quire_leave(): %s", sentence);
}

quire_status why_kept(runtime& r) {
  const char* obstacle = nullptr;
  r.core->as_driver([&] { obstacle = core::why_node_stays(*r.core); });
  if (obstacle == nullptr) return QUIRE_OK;
  return refuse(r, QUIRE_UNSUPPORTED, "this node cannot leave: %s", obstacle);
}

quire_status why_never(runtime& r) {
  if (r.failures->is_handler())
    return refuse(r, QUIRE_INVALID, "%s", "not by the handler of quire_on_failure(), which must return before it");
  if (r.mounts->anywhere())
    return refuse(r, QUIRE_UNSUPPORTED, "%s", "files of this node are mounted, and others may use them (--mount)");
  return why_kept(r);
}

quire_status why_not_now(runtime& r) {
  const auto made = r.core->objects.save().objects;
  const auto kept = std::ranges::count_if(made, [](const sync::saved_object& o) {
    return sync::kind_of(sync::object_id{o.id}) != sync::object_kind::mutex;
  });
  if (kept != 0)
    return refuse(r, QUIRE_BUSY,
                  "%ld events, semaphores, barriers, conditions or locks for readers and writers of this node are in "
                  "use: destroy them, or have another node make them",
                  static_cast<long>(kept));
  std::size_t threads = 0;
  r.core->as_driver([&] { threads = r.threads->close(); });
  if (threads == 0) return QUIRE_OK;
  return refuse(r, QUIRE_BUSY, "%lu threads of quire_spawn() run on this node, or are not joined yet",
                static_cast<unsigned long>(threads));
}

/// False where it does not come to an end: no unit has gone for long.
bool begin(runtime& r, core::leaver& goes) {
  bool begun = false, possible = true;
  std::uint64_t fewest = ~std::uint64_t{0}, word = r.core->now();
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
    if (r.core->now() >= word) {
      r.node->threads().wish().on_leaving(goes.units_here());
      word = r.core->now() + word_ns;
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
    return refuse(r, QUIRE_BUSY,
                  "for %lu seconds this node has not come to rest (%lu units are here still): a thread "
                  "of it goes on using shared memory, keeps it pinned, waits in a call, or has a mutex; or "
                  "a mutex here had an owner who died, and nobody has locked it since",
                  static_cast<unsigned long>(patience_ns / base::second),
                  static_cast<unsigned long>(goes.units_here()));
  }
  while (!r.core->survival.has_left()) r.core->host.pause(pause_ns);
  return QUIRE_OK;
}

}  // namespace quire::api

int quire_leave_wanted(void) {
  if (quire::api::elsewhere() != nullptr) return 0;
  const quire::api::own_visit looks;  // another thread may end the node meanwhile
  auto* const r = quire::api::current();
  return r != nullptr && r->node->threads().wish().is_there() ? 1 : 0;
}
