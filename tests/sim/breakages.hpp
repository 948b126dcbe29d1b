// SPDX-License-Identifier: BSD-3-Clause
// What tests do to the actions of a machine's step, to see it noticed.
#pragma once

#include "model/action.hpp"

namespace quire::sim {

/// The actions of `out`, but for those that `unwanted` names.
template <class F>
void drop(model::actions& out, F&& unwanted) {
  model::actions kept;
  for (const model::action& a : out) {
    if (!unwanted(a)) kept.add(a.kind, a.unit) = a;
  }
  out = kept;
}
/// Each of them changed by `f`.
template <class F>
void change(model::actions& out, F&& f) {
  model::actions changed;
  for (model::action a : out) {
    f(a);
    changed.add(a.kind, a.unit) = a;
  }
  out = changed;
}
inline bool is(const model::message* m, model::message_kind kind) { return m != nullptr && m->kind == kind; }

}  // namespace quire::sim
