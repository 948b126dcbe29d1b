// SPDX-License-Identifier: BSD-3-Clause
// Sections that a thread takes one at a time. How many there are is told when the first one is taken.
#include "program/omp/kmp/abi.hpp"
#include "program/omp/team/take.hpp"

using namespace quire::program;
using namespace quire::program::kmp;

namespace {

thread_local bool t_begins = false;  ///< the thread has come to sections, and has asked for none yet

void begin_sections(id count) noexcept {
  loop l;
  l.iterations = static_cast<std::uint64_t>(count);
  l.how = loop::schedule::taken;
  l.sections = true;
  begin_loop(l);
  t_begins = false;
}

}  // namespace

QUIRE_KMP id __kmpc_sections_init(source*, id) {
  t_begins = true;
  return 0;
}
/// A number from 0 on; `count`: all are taken.
QUIRE_KMP id __kmpc_next_section(source*, id, id count) {
  if (t_begins) begin_sections(count);
  part p;
  return next_part(p) ? static_cast<id>(p.first) : count;
}
QUIRE_KMP void __kmpc_end_sections(source*, id) { end_loop_nowait(); }
