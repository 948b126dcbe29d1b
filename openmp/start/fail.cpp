// SPDX-License-Identifier: BSD-3-Clause
#include "openmp/start/fail.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

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

void fail_for_thread() noexcept {
  static constexpr struct {
    __rlimit_resource_t which;
    const char* text;
  } limits[] = {{RLIMIT_NPROC, "processes and threads (ulimit -u, RLIMIT_NPROC; pids.max of a container may be less)"},
                {RLIMIT_AS, "bytes of addresses (ulimit -v, RLIMIT_AS)"},
                {RLIMIT_DATA, "bytes of data (ulimit -d, RLIMIT_DATA)"}};
  char what[400] = "cannot start a thread";
  const char* joint = "; there may be ";
  for (const auto& one : limits) {
    rlimit limit{};
    if (::getrlimit(one.which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) continue;
    const std::size_t length = std::strlen(what);
    std::snprintf(what + length, sizeof what - length, "%s%lu %s", joint, static_cast<unsigned long>(limit.rlim_cur),
                  one.text);
    joint = ", ";
  }
  fail(what, QUIRE_NO_MEMORY);
}

}  // namespace quire::openmp
