// SPDX-License-Identifier: BSD-3-Clause
// Functions of libc that leave their result, or where they go on, in static memory: here that is shared.
#include <string.h>
#include <time.h>

#include "program/posix/libc/state.hpp"
#include "program/process/interpose.hpp"

using namespace quire::program;

namespace {

using breakdown = tm* (*)(const time_t*, tm*);

tm* break_down(libc_state& s, const time_t* when, breakdown by) noexcept {
  tm parts{};
  if (by(when, &parts) == nullptr) return nullptr;
  const char* const zone = parts.tm_zone;
  strncpy(s.zone, zone != nullptr ? zone : "", sizeof s.zone - 1);
  parts.tm_zone = s.zone;
  s.time = parts;
  return &s.time;
}

/// As asctime(3) does, so that no year is too long.
char* write_out(libc_state& s, const tm* when) noexcept { return asctime_r(when, s.time_text); }

}  // namespace

QUIRE_LIBC char* strtok(char* text, const char* delimiters) noexcept {
  libc_state* const s = shared_libc_state();
  return s == nullptr ? QUIRE_NEXT(strtok)(text, delimiters) : strtok_r(text, delimiters, &s->token);
}
QUIRE_LIBC tm* localtime(const time_t* when) noexcept {
  libc_state* const s = shared_libc_state();
  if (s == nullptr) return QUIRE_NEXT(localtime)(when);
  tzset();  // localtime_r(3) does it once only
  return break_down(*s, when, localtime_r);
}
QUIRE_LIBC tm* gmtime(const time_t* when) noexcept {
  libc_state* const s = shared_libc_state();
  return s == nullptr ? QUIRE_NEXT(gmtime)(when) : break_down(*s, when, gmtime_r);
}
QUIRE_LIBC char* asctime(const tm* when) noexcept {
  libc_state* const s = shared_libc_state();
  return s == nullptr ? QUIRE_NEXT(asctime)(when) : write_out(*s, when);
}
QUIRE_LIBC char* ctime(const time_t* when) noexcept {
  const tm* const parts = localtime(when);
  return parts == nullptr ? nullptr : asctime(parts);
}
