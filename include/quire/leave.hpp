// SPDX-License-Identifier: BSD-3-Clause
// Nodes that leave a job while it runs, for C++: by themselves, or as somebody wants it (`quire leave JOB NODE`).
//
//     while (take_part_of_work(part)) {
//       work_on(part);
//       if (quire::leave_wanted() && quire::leave()) return 0;
//     }
#pragma once

#include <quire/error.hpp>
#include <quire/leave.h>

namespace quire {

/// Whether somebody wants this node to leave: quire_leave_wanted(). Any thread.
[[nodiscard]] inline bool leave_wanted() noexcept { return quire_leave_wanted() != 0; }

/// This node leaves, and the others go on: quire_leave(). False: something keeps it for now (QUIRE_BUSY), and it may
/// try again. Afterwards a session that is still there ends nothing more.
[[nodiscard]] inline bool leave() {
  const quire_status why = quire_leave();
  if (why == QUIRE_BUSY) return false;
  detail::check(why, "leave");
  return true;
}

}  // namespace quire
