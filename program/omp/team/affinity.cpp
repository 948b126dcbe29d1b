// SPDX-License-Identifier: BSD-3-Clause
#include "program/omp/team/affinity.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>

#include "program/job/shared_state.hpp"
#include "program/omp/team/team.hpp"
#include "program/posix/errands/locks.hpp"

namespace quire::program {
namespace {

constexpr std::size_t longest = 512;
using format_text = char[settings::longest_format];

/// What the program has set, on whichever node, or the environment.
void read_usual_format(format_text& to) noexcept {
  shared_state& all = shared();
  if (__atomic_load_n(&all.affinity_format_set, __ATOMIC_ACQUIRE) == 0)
    return static_cast<void>(std::memcpy(to, job().affinity_format, sizeof to));
  lock(all.names);
  std::memcpy(to, all.affinity_format, sizeof to);
  unlock(all.names);
}

/// Text that is cut where it does not fit, and its whole length.
struct writer {
  char* to;
  std::size_t room, length = 0;
  void put(const char* text, std::size_t bytes) noexcept {
    for (std::size_t i = 0; i < bytes; ++i, ++length) {
      if (length + 1 < room) to[length] = text[i];
    }
    if (room != 0) to[std::min(length, room - 1)] = 0;
  }
  void put(const char* text) noexcept { put(text, std::strlen(text)); }
};

/// Processors as ranges: "0-3,8".
void describe_processors(char (&text)[longest]) noexcept {
  cpu_set_t mine;
  text[0] = 0;
  if (::sched_getaffinity(0, sizeof mine, &mine) != 0) return;
  std::size_t used = 0;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &mine)) continue;
    int end = i;
    while (end + 1 < CPU_SETSIZE && CPU_ISSET(end + 1, &mine)) ++end;
    const int wrote =
        std::snprintf(text + used, sizeof text - used, end == i ? "%s%d" : "%s%d-%d", used != 0 ? "," : "", i, end);
    used += static_cast<std::size_t>(wrote);
    if (used + 16 > sizeof text) return;
    i = end;
  }
}

struct field {
  char letter;
  const char* name;
};
constexpr field fields[] = {{'t', "team_num"},       {'T', "num_teams"},   {'L', "nesting_level"},
                            {'n', "thread_num"},     {'N', "num_threads"}, {'a', "ancestor_tnum"},
                            {'H', "host"},           {'P', "process_id"},  {'i', "native_thread_id"},
                            {'A', "thread_affinity"}};

bool value_of(char letter, char (&text)[longest]) noexcept {
  const context& c = me();
  const auto number = [&](long n) { std::snprintf(text, sizeof text, "%ld", n); };
  switch (letter) {
    case 't':
      number(own_variables().team_number);
      return true;
    case 'T':
      number(own_variables().teams);
      return true;
    case 'L':
      number(c.level);
      return true;
    case 'n':
      number(c.number);
      return true;
    case 'N':
      number(c.count);
      return true;
    case 'a':
      number(c.outer != nullptr ? c.outer->number : -1);
      return true;
    case 'H':
      return ::gethostname(text, sizeof text) == 0;
    case 'P':
      number(::getpid());
      return true;
    case 'i':
      number(::syscall(SYS_gettid));
      return true;
    case 'A':
      describe_processors(text);
      return true;
    default:
      return false;
  }
}

/// One "%[0][.]width letter" or "%{name}", from behind the percent sign; where it ends.
const char* expand_field(const char* at, writer& out) noexcept {
  if (*at == '%') {
    out.put("%");
    return at + 1;
  }
  const bool zeros = *at == '0';
  if (zeros) ++at;
  const bool right = *at == '.';
  if (right) ++at;
  std::size_t width = 0;
  while (std::isdigit(static_cast<unsigned char>(*at)) != 0)
    width = std::min<std::size_t>(width * 10 + static_cast<std::size_t>(*at++ - '0'), longest - 1);
  char letter = *at;
  if (letter == '{') {
    const char* const end = std::strchr(at, '}');
    letter = 0;
    for (const field& f : fields) {
      if (end != nullptr && std::strlen(f.name) == static_cast<std::size_t>(end - at - 1) &&
          std::strncmp(f.name, at + 1, std::strlen(f.name)) == 0)
        letter = f.letter;
    }
    at = end;
  }
  char text[longest];
  if (at == nullptr || letter == 0 || !value_of(letter, text)) {
    out.put("undefined");
    return at == nullptr || *at == 0 ? "" : at + 1;
  }
  const std::size_t length = std::strlen(text), fill = width > length ? width - length : 0;
  if (right)
    for (std::size_t i = 0; i < fill; ++i) out.put(zeros ? "0" : " ");
  out.put(text);
  if (!right)
    for (std::size_t i = 0; i < fill; ++i) out.put(" ");
  return at + 1;
}

std::size_t expand(char* to, std::size_t room, const char* format) noexcept {
  writer out{to, room};
  out.put("");
  for (const char* at = format; *at != 0;) {
    if (*at == '%') {
      at = expand_field(at + 1, out);
    } else {
      out.put(at++, 1);
    }
  }
  return out.length;
}
}  // namespace

void set_affinity_format(const char* format) noexcept {
  shared_state& all = shared();
  lock(all.names);
  std::snprintf(all.affinity_format, sizeof all.affinity_format, "%s", format);
  __atomic_store_n(&all.affinity_format_set, 1, __ATOMIC_RELEASE);
  unlock(all.names);
}

std::size_t read_affinity_format(char* to, std::size_t room) noexcept {
  format_text usual;
  read_usual_format(usual);
  if (room != 0) std::snprintf(to, room, "%s", usual);
  return std::strlen(usual);
}

std::size_t describe_affinity(char* to, std::size_t room, const char* format) noexcept {
  format_text usual;
  if (format == nullptr || *format == 0) {
    read_usual_format(usual);
    format = usual;
  }
  return expand(to, room, format);
}

void display_affinity(const char* format) noexcept {
  char text[2 * longest];
  (void)describe_affinity(text, sizeof text, format);
  std::fprintf(stderr, "%s\n", text);
}

/// A thread's first region, and those in which its place, or the team's size, has changed.
void show_affinity() noexcept {
  thread_local int shown_count = 0, shown_place = -2;
  const context& c = me();
  if (c.count == shown_count && c.seat.place == shown_place) return;
  shown_count = c.count;
  shown_place = c.seat.place;
  display_affinity(nullptr);
}

}  // namespace quire::program
