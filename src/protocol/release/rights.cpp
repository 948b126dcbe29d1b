// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/release/rights.hpp"

#include "protocol/release/migratory.hpp"

namespace quire::release {

using model::action_kind;

/// The node has the content: lets its threads have `want` of it.
void rights::allow(std::uint64_t unit, unit_state& s, access want, actions& out) {
  s.withhold = s.read_ahead = 0;
  if (table_.one_memory) return allow_frame(unit, s, want, out);
  if (s.is_home != 0) {
    s.assigned = 1;
    if (table_.shape.scans) {
      s.written = 1;  // as soon as a thread likes
      keep_base(unit, s, out);
      return table_.permit(unit, s, access::write, out);
    }
    const bool traced = is_traced(unit, s);
    // What nobody else has can be written at once, and later without a fault.
    if (s.shared == 0 && !table_.checked && !traced && s.producing == 0 && !migratory_units::is_unproven(s))
      want = access::write;
    if (want == access::write) keep_base(unit, s, out);
    table_.permit(unit, s, want, out);
    if (want == access::write) write_here(unit, s);
    if (want == access::write && traced) table_.list(unit, s);
    return;
  }
  if (table_.shape.scans) want = access::write;
  if (want == access::write && s.twin == 0) {
    s.twin = 1;
    if (s.declared == 0) {
      ++table_.count.twins;
      out.add(action_kind::make_twin, unit);
    }
    if (!table_.shape.scans) {
      if (s.declared == 0) table_.open.twins += table_.shape.twin_pages;
      table_.list(unit, s);
    }
  }
  table_.permit(unit, s, want, out);
}

/// All nodes may write it at once (I12). Where a production phase is to notice the first write, it is mapped for
/// reading.
void rights::allow_frame(std::uint64_t unit, unit_state& s, access want, actions& out) {
  s.assigned = 1;
  if (s.producing == 0) want = access::write;
  if (want == access::write) s.producing = 0;
  table_.permit(unit, s, want, out);
}

/// A thread that has faulted writes the unit next.
void rights::note_write(std::uint64_t unit, const unit_state& s) {
  if (s.twin != 0 && (s.is_home == 0 || table_.shape.traces) && s.declared == 0 && !table_.shape.scans)
    table_.open.newest.add({table_.shape.region, table_.shape.first_beside(unit)});
}

/// The home's content changes by a thread of the home. Nobody needs to hear of it if nobody has a copy.
void rights::write_here(std::uint64_t unit, unit_state& s) {
  s.assigned = s.written = 1;
  s.producing = 0;
  s.streak = 0;
  migratory_units::note_write(s);
  s.current.clear();
  if (s.shared != 0 && !table_.one_memory) table_.list(unit, s);
}

/// What threads of the home write is told, byte by byte.
bool rights::is_traced(std::uint64_t unit, const unit_state& s) const noexcept {
  return table_.shape.traces && !table_.lone.is_unnoticed(unit, s);
}

/// Before the first write at the home.
void rights::keep_base(std::uint64_t unit, unit_state& s, actions& out) {
  if ((!table_.checked && !is_traced(unit, s)) || s.twin != 0) return;
  s.twin = 1;
  if (table_.checked)
    ++table_.open.bases;
  else
    table_.open.twins += table_.shape.twin_pages;
  out.add(model::action_kind::make_twin, unit);
}

/// The next write here is to be noticed. Where writes do not fault all access goes, and with it what the kernel knew of
/// them.
void rights::close_home(std::uint64_t unit, unit_state& s, actions& out) {
  if (table_.shape.scans && s.mapped() != access::none) write_here(unit, s);
  table_.protect(unit, s, table_.shape.scans ? access::none : access::read, out);
}

/// Where all writes are noticed: what threads of the home have changed since its twin is told, and the twin goes.
void rights::tell_base(std::uint64_t unit, unit_state& s, actions& out) {
  if (!table_.shape.traces || table_.checked || s.is_home == 0 || s.twin == 0) return;
  table_.protect(unit, s, access::read, out);
  s.twin = 0;
  table_.open.twins -= table_.shape.twin_pages;
  out.add(action_kind::drop_twin, unit);
}

void rights::send_diff(std::uint64_t unit, unit_state& s, bool keep, actions& out) {
  CHECK(s.twin != 0);
  s.twin = keep ? 1 : 0;
  s.follows = 0;
  if (!keep) {
    s.kept = 0;
    if (!table_.shape.scans && s.declared == 0) table_.open.twins -= table_.shape.twin_pages;
  }
  auto& a = out.add(action_kind::send_diff, unit);
  a.to = s.home;
  a.m.region = table_.shape.region;
  a.keep = keep;
}

void rights::drop_twin(std::uint64_t unit, unit_state& s, actions& out) {
  if (s.is_home != 0) s.version = no_version;
  s.twin = 0;
  table_.open.twins -= table_.shape.twin_pages;
  out.add(action_kind::drop_twin, unit);
}

void rights::on_written(std::uint64_t unit) {
  unit_state& s = table_.touch(unit);
  if (s.is_home != 0) {
    write_here(unit, s);
  } else if (s.twin != 0) {
    table_.list(unit, s);
  }
}

/// Of a copy that has gone; what still is here is known to be written, or the next release looks.
void rights::on_differs(std::uint64_t unit) {
  unit_state& s = table_.touch(unit);
  if (s.mapped() == access::none) table_.list(unit, s);
}

}  // namespace quire::release
