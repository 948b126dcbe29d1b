// SPDX-License-Identifier: BSD-3-Clause
// A node of the job is dead, and the others go on (README.md, Deaths). Most objects have a home that alone knows them:
// if it lives, messages between it and the other survivors go on as if nothing had happened, and it takes the dead out
// of its books. If it is dead, so is the object. Mutexes move between nodes, and collectives have no home: both are put
// together anew from what the survivors know.
#include "sync/machine.hpp"

namespace quire::sync {

void machine::cut(std::uint64_t dead, actions& out, std::uint64_t left) {
  const model::membership now_dead{dead & ~shared_.members.dead};
  const bool joined = (shared_.members.dead & ~dead) != 0;
  shared_.members.dead = dead;
  shared_.members.left = left;
  shared_.recovering = true;
  shared_.newly_gone |= now_dead.dead;
  if ((shared_.newly_gone & ~left) != 0) shared_.note_violence();
  locks_.cut();
  groups_.for_each([&](collective& g) { g.cut(now_dead, joined); });
  rwlocks_.cut(out);
  conditions_.cut();
  events_.cut();
  semaphores_.cut();
  barriers_.cut(now_dead, out);
  end_lost_calls(out);
}

/// Calls that wait for the home of an object, and it is dead.
void machine::end_lost_calls(actions& out) {
  shared_.calls.for_each([&](ticket t, waiting_call& w) {
    if (w.listed || !shared_.is_lost(w.object)) return;  // in a list: it waits for a mutex
    if (w.what == operation::condition_wait) return conditions_.on_reply(t, w, QUIRE_LOST, out);
    shared_.calls.finish(t, QUIRE_LOST, out);
  });
}

void machine::absorb(const message& m, std::span<const std::byte> payload, actions& out) {
  const kind what = kind_of(m.kind);
  const bool of_mutex = kind_of(object_id{m.unit}) == object_kind::mutex;
  // Pieces of an array that no death has struck go on; of others nobody takes them.
  if (is_of_groups(what) && !is_piece(what)) return;
  if (what >= kind::lock_request && what <= kind::lock_revoked) return locks_.absorb(m, out);
  if (what == kind::lock_survives || (what == kind::request && of_mutex)) return;
  on_message(m, payload, out);
}

void machine::report(actions& out, std::uint64_t torn) {
  if ((shared_.newly_gone & torn) != 0) shared_.note_violence();
  locks_.report(out);
  groups_.for_each([&](collective& g) { g.report(out); });
}

void machine::settle(actions& out) {
  locks_.settle(out);
  groups_.for_each([&](collective& g) { g.settle(out); });
}

void machine::resume(actions& out) {
  shared_.recovering = shared_.comes = false;
  shared_.newly_gone = 0;
  rwlocks_.cut(out);
  locks_.resume(out);
  groups_.for_each([&](collective& g) { g.resume(out); });
  shared_.calls.for_each([&](ticket t, const waiting_call& w) {
    if (w.what != operation::mutex_destroy && w.what != operation::mutex_unlock) return;
    message m = shared_.make(kind::request, w.object);
    m.token = t.value();
    m.operation = static_cast<std::uint32_t>(w.what);
    shared_.send(shared_.home_of(w.object), m, out);
  });
}

}  // namespace quire::sync
