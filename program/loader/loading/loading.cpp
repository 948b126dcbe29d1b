// SPDX-License-Identifier: BSD-3-Clause
#include "program/loader/loading/loading.hpp"

#include <dlfcn.h>
#include <quire/quire.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <new>
#include <utility>

#include "os/signals_held.hpp"
#include "program/job/shared_state.hpp"
#include "program/loader/loading/constructors.hpp"
#include "program/loader/loading/handles.hpp"
#include "program/loader/loading/on_node.hpp"
#include "program/loader/loading/search.hpp"
#include "program/omp/team/team.hpp"
#include "program/posix/errands/errand.hpp"
#include "program/posix/errands/locks.hpp"
#include "program/posix/errands/where.hpp"
#include "program/posix/memory/stacks.hpp"
#include "program/posix/pthreads/thread_objects.hpp"
#include "program/posix/threads/elsewhere.hpp"
#include "program/posix/threads/records.hpp"
#include "program/process/fail.hpp"
#include "program/process/image/image.hpp"
#include "program/process/interpose.hpp"

namespace quire::program {
namespace {

thread_local int t_turns = 0;
bool g_ends = false;  ///< the program has ended: nothing goes any more but with the job

/// The calling thread alone loads and takes away, in the whole job. Its constructors and destructors may do so, too.
class loading_turn {
 public:
  loading_turn() noexcept {
    if (t_turns++ == 0) lock(shared().loading);
  }
  loading_turn(const loading_turn&) = delete;
  loading_turn& operator=(const loading_turn&) = delete;
  ~loading_turn() {
    if (--t_turns == 0) unlock(shared().loading);
  }
};

std::size_t free_slot() noexcept {
  std::size_t slot = 0;
  while (slot < loaded_library::most && shared().libraries[slot].opened != 0) ++slot;
  if (slot == loaded_library::most) fail("the program has more libraries open than this version can keep", QUIRE_LIMIT);
  return slot;
}

/// On other nodes below `end`. `last`: the program has no handle any more.
void close_elsewhere(std::size_t slot, int end, bool last) noexcept {
  for (int node = 0; node < end; ++node) {
    if (node == job().node) continue;
    errand(node).run([slot, last] {
      void* const own = own_handle(slot);
      if (last) set_own_handle(slot, nullptr);
      return close_here(own);
    });
  }
}

/// False: the order says why, and no node has it.
bool load_elsewhere(load_order& o) noexcept {
  load_order* const there = &o;
  for (int node = 0; node < job().nodes; ++node) {
    if (node == job().node || errand(node).run([there] { return load_as(*there); })) continue;
    char why[sizeof o.error];
    ::strncpy(why, o.error, sizeof why);
    (void)::snprintf(o.error, sizeof o.error, "node %d: %.380s", node, why);
    close_elsewhere(o.slot, node, shared().libraries[o.slot].opened == 0);
    return false;
  }
  return true;
}

void share_data(const char* file) noexcept {
  for (loaded_module* l = loaded_here().all; l != loaded_here().all + loaded_here().count; ++l) {
    if (l->load != loads_here()) continue;
    if (const quire_status why = share_static_data_of(l->about); why != QUIRE_OK) {
      char line[300];
      (void)::snprintf(line, sizeof line, "static data of %.200s, which the program has loaded, cannot be shared",
                       file);
      fail(line, why);
    }
  }
}

struct call {
  const char* file;
  int mode;
  const void* caller;
  load_order* order;
  void* own;
};

void choose_slot(load_order& o, void* own) noexcept {
  o.slot = number_of_own(own);
  if (o.slot == loaded_library::most) o.slot = free_slot();
}

void load_by_all(call& c) noexcept {
  load_order& o = *c.order;
  o.next = shared().next_library;
  c.own = load_first(o);
  shared().next_library = o.next;
  if (c.own == nullptr) return;
  choose_slot(o, c.own);
  if (load_elsewhere(o)) {
    set_own_handle(o.slot, c.own);
    share_data(o.file);
  } else {
    (void)close_here(std::exchange(c.own, nullptr));
  }
}

/// What a library does that all nodes have may run on any of them. One that stays must be called on its node only: so
/// threads of the program's own and regions are there, from now on. It does not go before the program ends.
void load_by_node_0(call& c) noexcept {
  load_order& o = *c.order;
  if (!o.may_stay || job().node != 0 || !compiles_in_memory() || has_placement()) return;
  char why[sizeof o.error];
  ::memcpy(why, o.error, sizeof why);
  c.own = load_alone(o);
  if (c.own == nullptr) return;
  choose_slot(o, c.own);
  set_own_handle(o.slot, c.own);
  shared().libraries[o.slot].stays = true;
  if (regions_stay()) return;
  keep_regions();
  (void)::fprintf(stderr, "quire: %s. So it stays on node 0, and so do all regions of OpenMP from now on\n", why);
}

/// On a private stack.
void load_on_node(void* at) noexcept {
  auto& c = *static_cast<call*>(at);
  find_library(c.file, c.caller, c.order->file, sizeof c.order->file);
  c.order->mode = c.mode;
  load_by_all(c);
  if (c.own == nullptr) load_by_node_0(c);
}

/// In the thread that has called dlopen(3), and on its stack. Constructors may load, and take away.
void construct(std::uint64_t load) {
  for (;;) {
    loaded_module* const end = loaded_here().all + loaded_here().count;
    loaded_module* const next =
        std::find_if(loaded_here().all, end, [load](const loaded_module& l) { return l.load == load && !l.runs; });
    if (next == end) return;
    next->runs = true;
    run_late_constructors(next->number);
  }
}

void* handle_of(const load_order& o) noexcept {
  loaded_library& l = shared().libraries[o.slot];
  if (l.opened++ == 0) (void)::memcpy(&l.about, own_handle(o.slot), sizeof l.about);
  return &l;
}

void* load(const char* file, int mode, const void* caller) {
  const loading_turn turn;
  void* room = nullptr;
  if (quire_malloc(sizeof(load_order), &room) != QUIRE_OK) return set_load_error("there is no shared memory"), nullptr;
  auto* const o = new (room) load_order;
  o->may_stay = false;
  call c{file, mode, caller, o, nullptr};
  {
    const os::signals_held none;
    run_aside(load_on_node, &c);
  }
  void* handle = nullptr;
  if (c.own == nullptr) {
    set_load_error(o->error);
  } else {
    handle = handle_of(*o);
    construct(loads_here());
  }
  (void)quire_free(room);
  return handle;
}

/// Its destructors run in the thread that has called dlclose(3).
void end(loaded_module& m) {
  if (!m.runs) return;
  const module gone = m.about;
  run_late_destructors(m.number);
  if (const quire_status why = take_static_data_away(gone); why != QUIRE_OK)
    fail("static data of a library cannot be taken away (dlclose)", why);
}

/// Libc's call, on all nodes.
int close_on_all(std::size_t slot) {
  loaded_library& l = shared().libraries[slot];
  if (l.stays) return --l.opened, 0;
  const bool last = l.opened == 1;
  const int result = close_first(own_handle(slot), end);
  if (result != 0) return result;
  --l.opened;
  close_elsewhere(slot, job().nodes, last);
  if (last) set_own_handle(slot, nullptr);
  return 0;
}

loaded_library* find_kept(std::uint64_t base) noexcept {
  loaded_library* const end = shared().libraries + loaded_library::most;
  loaded_library* const at = std::find_if(
      shared().libraries, end, [base](const loaded_library& l) { return l.kept != 0 && l.about.l_addr == base; });
  return at != end ? at : nullptr;
}

/// Libraries whose thread_local objects wait for the end of their threads do not go.
void keep_for_threads() {
  for (std::size_t i = 0; i < loaded_here().count; ++i) {
    const module about = loaded_here().all[i].about;
    if (!has_thread_objects(about) || find_kept(about.base) != nullptr) continue;
    auto* const handle = static_cast<loaded_library*>(load(about.name, RTLD_LAZY | RTLD_NOLOAD, nullptr));
    if (handle != nullptr) handle->kept = 1;
  }
}

/// Those go that had to stay until now.
void let_go() {
  for (std::size_t slot = 0; slot < loaded_library::most; ++slot) {
    loaded_library& l = shared().libraries[slot];
    if (l.kept == 0) continue;
    loaded_module* const end = loaded_here().all + loaded_here().count;
    const loaded_module* const m = std::find_if(
        loaded_here().all, end, [&l](const loaded_module& one) { return one.about.base == l.about.l_addr; });
    if (m != end && has_thread_objects(m->about)) continue;
    l.kept = 0;
    (void)close_on_all(slot);
  }
}

int close(std::size_t slot) {
  const loading_turn turn;
  if (g_ends) return 0;
  loaded_library& l = shared().libraries[slot];
  if (l.opened == l.kept) return set_load_error("the library is not open"), -1;
  keep_for_threads();
  const int result = close_on_all(slot);
  let_go();
  return result;
}

bool is_for_all(const void* caller) noexcept { return files::apart && is_of_program(caller) && files::is_node(); }

void refuse_to_load(const char* what) noexcept {
  char line[200];
  (void)::snprintf(line, sizeof line, "quire: %s is refused: a library has one place in a job of several nodes", what);
  (void)::fprintf(stderr, "%s\n", line);
  set_load_error(line);
}

}  // namespace

void open_loading() {
  (void)QUIRE_NEXT(dlerror)();  // of what Quire has looked for
  if (quire_nodes() == 1) return;
  open_handles(shared().libraries);
}

void end_loaded() noexcept {
  g_ends = true;
  loaded_list& all = loaded_here();
  while (all.count != 0) {
    loaded_module& last = all.all[--all.count];
    const bool runs = std::exchange(last.runs, false);
    if (runs) run_late_destructors(last.number);
  }
}

}  // namespace quire::program

using namespace quire::program;

/// Where the call is libc's alone, the jump at its end leaves the caller's return address, by which libc goes.
QUIRE_LIBC void* dlopen(const char* file, int mode) noexcept {
  if (file == nullptr || *file == 0 || !is_for_all(QUIRE_CALLER)) return QUIRE_NEXT(dlopen)(file, mode);
  if ((mode & RTLD_DEEPBIND) != 0) return refuse_to_load("dlopen() with RTLD_DEEPBIND"), nullptr;
  return load(file, mode, QUIRE_CALLER);
}

QUIRE_LIBC void* dlmopen(Lmid_t space, const char* file, int mode) noexcept {
  if (!is_for_all(QUIRE_CALLER)) return QUIRE_NEXT(dlmopen)(space, file, mode);
  if (space == LM_ID_BASE) return dlopen(file, mode);
  refuse_to_load("dlmopen()");
  return nullptr;
}

QUIRE_LIBC int dlclose(void* handle) noexcept {
  const std::size_t slot = number_of_handle(handle);
  if (slot < loaded_library::most) return close(slot);
  const int result = QUIRE_NEXT(dlclose)(handle);
  close_dropped();
  return result;
}
