// SPDX-License-Identifier: BSD-3-Clause
#include "program/process/fail.hpp"

#include <quire/system.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>

namespace quire::program {

void fail(const char* what, quire_status why) noexcept {
  char line[800];
  const char* const more = quire_last_error();
  const int length = std::snprintf(line, sizeof line, "quire: OpenMP: %s: %s%s%s\n", what, quire_status_text(why),
                                   more[0] != 0 ? "; " : "", more);
  (void)!::write(2, line,
                 static_cast<std::size_t>(length) < sizeof line ? static_cast<std::size_t>(length) : sizeof line - 1);
  ::_exit(why == QUIRE_OK ? 1 : static_cast<int>(why));
}

void fail_for_system(const char* what, int error, quire_status why) noexcept {
  char text[400], limit[320];
  quire_limit_text(error, limit, sizeof limit);
  std::snprintf(text, sizeof text, "%s%s", what, limit);
  fail(text, why);
}

void fail_for_thread(int error) noexcept { fail_for_system("cannot start a thread", error, QUIRE_NO_MEMORY); }

void tell_of_thread(int error) noexcept {
  static std::atomic<bool> told;
  char line[500], limit[320];
  quire_limit_text(error, limit, sizeof limit);
  if (limit[0] == 0 || told.exchange(true)) return;
  const int length = std::snprintf(line, sizeof line, "quire[%d]: warning: the program gets no thread here: %s%s\n",
                                   quire_node(), std::strerror(error), limit);
  (void)!::write(2, line,
                 static_cast<std::size_t>(length) < sizeof line ? static_cast<std::size_t>(length) : sizeof line - 1);
}

void tell_of_thread_elsewhere(int node, int error) noexcept {
  static std::atomic<bool> told;
  if (told.exchange(true)) return;
  char line[300];
  const int length = std::snprintf(line, sizeof line,
                                   "quire[%d]: warning: the program gets no thread on node %d: %s; raise the limits of "
                                   "its processes there (ulimit -d, -v, -u), or make fewer threads\n",
                                   quire_node(), node, std::strerror(error));
  (void)!::write(2, line, static_cast<std::size_t>(length));
}

}  // namespace quire::program
