// SPDX-License-Identifier: BSD-3-Clause
#include "openmp/start/fail.hpp"

#include <unistd.h>

#include <cstdio>

namespace quire::openmp {

void fail(const char* what, quire_status why) noexcept {
  char line[800];
  const char* const more = quire_last_error();
  const int length = std::snprintf(line, sizeof line, "quire: OpenMP: %s: %s%s%s\n", what, quire_status_text(why),
                                   more[0] != 0 ? "; " : "", more);
  (void)!::write(2, line,
                 static_cast<std::size_t>(length) < sizeof line ? static_cast<std::size_t>(length) : sizeof line - 1);
  ::_exit(why == QUIRE_OK ? 1 : static_cast<int>(why));
}

}  // namespace quire::openmp
