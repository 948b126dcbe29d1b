// SPDX-License-Identifier: BSD-3-Clause
#include "program/omp/team/environment.hpp"

#include <algorithm>
#include <cctype>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <strings.h>
#include <string_view>

namespace quire::program {
namespace {

/// Settings that are read instead of the environment's, each NAME=VALUE and a zero, then another zero; null: none.
thread_local const char* t_instead = nullptr;

const char* text_of(const char* name) noexcept {
  if (t_instead == nullptr) return std::getenv(name);
  const std::size_t length = std::strlen(name);
  for (const char* at = t_instead; *at != 0; at += std::strlen(at) + 1) {
    if (std::strncmp(at, name, length) == 0 && at[length] == '=') return at + length + 1;
  }
  return nullptr;
}

/// Null: not set, or empty.
const char* value_of(const char* name) noexcept {
  const char* text = text_of(name);
  while (text != nullptr && std::isspace(static_cast<unsigned char>(*text)) != 0) ++text;
  return text == nullptr || *text == 0 ? nullptr : text;
}

void refuse(const char* name, const char* text, const char* wanted) noexcept {
  std::fprintf(stderr, "quire: OpenMP: %s is \"%s\", which is no %s; it is not looked at\n", name, text, wanted);
}

const char* skip_spaces(const char* at) noexcept {
  while (std::isspace(static_cast<unsigned char>(*at)) != 0) ++at;
  return at;
}

/// A number up to `most`, and what follows it.
bool number_at(const char*& at, long least, long most, long& number) noexcept {
  char* end = nullptr;
  const long found = std::strtol(at, &end, 10);
  if (end == at || found < least || found > most) return false;
  at = skip_spaces(end);
  number = found;
  return true;
}

bool read_number(const char* name, long least, long most, long& number) noexcept {
  const char* const text = value_of(name);
  if (text == nullptr) return false;
  const char* at = text;
  long found = 0;
  if (number_at(at, least, most, found) && *at == 0) {
    number = found;
    return true;
  }
  char wanted[80];
  std::snprintf(wanted, sizeof wanted, "number from %ld to %ld", least, most);
  refuse(name, text, wanted);
  return false;
}

bool is_word(const char* text, std::string_view word) noexcept {
  return ::strncasecmp(text, word.data(), word.size()) == 0 && *skip_spaces(text + word.size()) == 0;
}

bool read_truth(const char* name, bool& value) noexcept {
  const char* const text = value_of(name);
  if (text == nullptr) return false;
  if (is_word(text, "true") || is_word(text, "1")) return value = true;
  if (is_word(text, "false") || is_word(text, "0")) {
    value = false;
    return true;
  }
  refuse(name, text, "true or false");
  return false;
}

/// OMP_NUM_THREADS: a number for each level of regions.
void read_threads(settings& job) noexcept {
  const char* const text = value_of("OMP_NUM_THREADS");
  if (text == nullptr) return;
  constexpr long most = 65'536;
  int found[settings::most_levels] = {}, levels = 0;
  for (const char* at = text;; ++at) {
    long number = 0;
    if (!number_at(at, 1, most, number) || (*at != 0 && *at != ',')) {
      std::fprintf(stderr,
                   "quire: OpenMP: OMP_NUM_THREADS is \"%s\", which is no number of threads from 1 to %ld; it is not "
                   "looked at\n",
                   text, most);
      return;
    }
    if (levels < settings::most_levels) found[levels++] = static_cast<int>(number);
    if (*at == 0) break;
  }
  std::copy(std::begin(found), std::end(found), job.threads_at);
  job.first.threads = found[0];
  if (levels > 1) job.first.most_active_levels = INT_MAX;
}

/// OMP_SCHEDULE: [modifier:]kind[,chunk].
void read_schedule(variables& own) noexcept {
  const char* const whole = value_of("OMP_SCHEDULE");
  if (whole == nullptr) return;
  const char* text = whole;
  const bool monotonic = ::strncasecmp(text, "monotonic", 9) == 0;
  if (monotonic || ::strncasecmp(text, "nonmonotonic", 12) == 0) {
    text = skip_spaces(text + (monotonic ? 9 : 12));
    text = *text == ':' ? skip_spaces(text + 1) : "";
  }
  constexpr struct {
    std::string_view name;
    loop::schedule how;
    std::uint64_t chunk;
  } kinds[] = {{"static", loop::schedule::blocks, 0},
               {"dynamic", loop::schedule::taken, 1},
               {"guided", loop::schedule::guided, 1},
               {"auto", loop::schedule::blocks, 0}};
  for (const auto& k : kinds) {
    if (::strncasecmp(text, k.name.data(), k.name.size()) != 0) continue;
    const char* at = skip_spaces(text + k.name.size());
    long chunk = 0;
    if (*at == ',' && !number_at(++at, 1, INT_MAX, chunk)) break;
    if (*at != 0) break;
    own.scheduled = true;
    own.schedule = chunk > 0 && k.how == loop::schedule::blocks ? loop::schedule::rounds : k.how;
    own.chunk = chunk > 0 ? static_cast<std::uint64_t>(chunk) : k.chunk;
    own.automatic = k.name == "auto";
    own.monotonic = monotonic;
    return;
  }
  std::fprintf(stderr, "quire: OpenMP: OMP_SCHEDULE is \"%s\", which is no schedule; it is not looked at\n", whole);
}

/// OMP_PROC_BIND: true, false, or a policy for each level of regions; more than one allow regions within regions.
/// Without it threads are bound if there are places.
void read_binding(settings& job) noexcept {
  const char* const text = value_of("OMP_PROC_BIND");
  std::fill(std::begin(job.bind_at), std::end(job.bind_at),
            text == nullptr && value_of("OMP_PLACES") != nullptr ? binding::fixed : binding::none);
  if (text == nullptr || is_word(text, "false")) return;
  if (is_word(text, "true")) return std::fill(std::begin(job.bind_at), std::end(job.bind_at), binding::fixed);
  constexpr struct {
    std::string_view name;
    binding how;
  } policies[] = {{"master", binding::primary},
                  {"primary", binding::primary},
                  {"close", binding::close},
                  {"spread", binding::spread}};
  int level = 0, levels = job.first.most_active_levels;
  for (const char* at = text;; ++at) {
    at = skip_spaces(at);
    const auto* const found = std::find_if(std::begin(policies), std::end(policies), [at](const auto& p) {
      return ::strncasecmp(at, p.name.data(), p.name.size()) == 0;
    });
    at = found != std::end(policies) ? skip_spaces(at + found->name.size()) : "?";
    if (*at != 0 && *at != ',') {
      std::fill(std::begin(job.bind_at), std::end(job.bind_at), binding::none);
      return refuse("OMP_PROC_BIND", text, "true, false, or list of primary, close and spread");
    }
    if (level < settings::most_levels) std::fill(job.bind_at + level, std::end(job.bind_at), found->how);
    if (++level > 1) levels = INT_MAX;
    if (*at == 0) break;
  }
  job.first.most_active_levels = levels;
}

/// OMP_STACKSIZE: kibibytes, or a number with B, K, M or G.
void read_stack_size(settings& job) noexcept {
  const char* const text = value_of("OMP_STACKSIZE");
  if (text == nullptr) return;
  char* end = nullptr;
  const unsigned long long number = std::strtoull(text, &end, 10);
  const char* rest = skip_spaces(end);
  const char unit = *rest == 0 ? 'K' : static_cast<char>(std::toupper(static_cast<unsigned char>(*rest)));
  if (*rest != 0) rest = skip_spaces(rest + 1);
  const int shift = unit == 'B' ? 0 : unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : -1;
  constexpr unsigned long long least = 64u << 10, most = 1ull << 36;
  const bool known = end != text && *text != '-' && *rest == 0 && shift >= 0 && number <= most >> shift;
  if (known && number << shift >= least) {
    job.stack_bytes = static_cast<std::size_t>((number << shift) + 4095) / 4096 * 4096;
    return;
  }
  std::fprintf(stderr, "quire: OpenMP: OMP_STACKSIZE is \"%s\", which is no size from 64K to 64G; stacks have 8 MiB\n",
               text);
}

/// OMP_NESTED, which is older, gives way to OMP_MAX_ACTIVE_LEVELS.
void read_levels(variables& own) noexcept {
  bool nested = false;
  if (read_truth("OMP_NESTED", nested)) own.most_active_levels = nested ? INT_MAX : 1;
  long levels = 0;
  if (read_number("OMP_MAX_ACTIVE_LEVELS", 0, INT_MAX, levels)) own.most_active_levels = static_cast<int>(levels);
}

/// Of a task.
void read_variables(variables& own) noexcept {
  read_schedule(own);
  read_levels(own);
  (void)read_truth("OMP_DYNAMIC", own.dynamic);
  long number = 0;
  if (read_number("OMP_THREAD_LIMIT", 1, INT_MAX, number)) own.thread_limit = static_cast<int>(number);
  if (read_number("OMP_DEFAULT_DEVICE", 0, INT_MAX, number)) own.device = static_cast<int>(number);
  if (read_number("OMP_NUM_TEAMS", 1, INT_MAX, number)) own.teams_asked = static_cast<int>(number);
  if (read_number("OMP_TEAMS_THREAD_LIMIT", 1, INT_MAX, number)) own.teams_limit = static_cast<int>(number);
}

/// OMP_AFFINITY_FORMAT; each runtime has its own one where that is not set.
void read_affinity_format(settings& job) noexcept {
  const char* const text = value_of("OMP_AFFINITY_FORMAT");
  const char* const usual =
      job.for_llvm ? "OMP: pid %P tid %i thread %n bound to OS proc set {%A}" : "level %L thread %i affinity %A";
  std::snprintf(job.affinity_format, sizeof job.affinity_format, "%s", text != nullptr ? text : usual);
}

void display_binding(const settings& j) noexcept {
  static constexpr const char* names[] = {"FALSE", "TRUE", "PRIMARY", "CLOSE", "SPREAD"};
  int last = settings::most_levels - 1;
  while (last > 0 && j.bind_at[last] == j.bind_at[last - 1]) --last;
  std::fprintf(stderr, "  OMP_PROC_BIND = '");
  for (int i = 0; i <= last; ++i) std::fprintf(stderr, i == 0 ? "%s" : ",%s", names[static_cast<int>(j.bind_at[i])]);
  const char* const places = value_of("OMP_PLACES");
  std::fprintf(stderr, "'\n  OMP_PLACES = '%s'\n", places != nullptr ? places : "");
}

const char* schedule_text(const variables& own, char (&room)[64]) noexcept {
  const char* const kind = own.automatic                            ? "AUTO"
                           : own.schedule == loop::schedule::taken  ? "DYNAMIC"
                           : own.schedule == loop::schedule::guided ? "GUIDED"
                                                                    : "STATIC";
  const bool plain = own.chunk <= (own.schedule == loop::schedule::blocks ? 0u : 1u);
  std::snprintf(room, sizeof room, plain ? "%s%s" : "%s%s,%llu", own.monotonic ? "MONOTONIC:" : "", kind,
                static_cast<unsigned long long>(own.chunk));
  return room;
}

}  // namespace

void read_environment(settings& job) noexcept {
  read_threads(job);
  read_stack_size(job);
  read_binding(job);
  read_variables(job.first);
  read_affinity_format(job);
  (void)read_truth("OMP_DISPLAY_AFFINITY", job.display_affinity);
  (void)read_truth("OMP_CANCELLATION", job.cancellation);
  long number = 0;
  if (read_number("OMP_MAX_TASK_PRIORITY", 0, INT_MAX, number)) job.most_priority = static_cast<int>(number);
  const char* const offload = value_of("OMP_TARGET_OFFLOAD");
  const char* const waits = value_of("OMP_WAIT_POLICY");
  job.waits_passively = waits != nullptr && is_word(waits, "passive");
  const char* const display = value_of("OMP_DISPLAY_ENV");
  job.display = display != nullptr && is_word(display, "verbose");
  if (!job.display) (void)read_truth("OMP_DISPLAY_ENV", job.display);
  job.needs_device = offload != nullptr && is_word(offload, "mandatory");
}

void read_defaults(const char* text, variables& own) noexcept {
  constexpr std::string_view known[] = {"OMP_NUM_THREADS",       "OMP_SCHEDULE",       "OMP_NESTED",
                                        "OMP_MAX_ACTIVE_LEVELS", "OMP_DYNAMIC",        "OMP_THREAD_LIMIT",
                                        "OMP_NUM_TEAMS",         "OMP_DEFAULT_DEVICE", "OMP_TEAMS_THREAD_LIMIT"};
  char list[1024];
  const std::size_t length = std::min(std::strlen(text), sizeof list - 2);
  std::memcpy(list, text, length);
  list[length] = list[length + 1] = 0;
  std::replace(list, list + length, '|', '\0');
  for (const char* at = list; *at != 0; at += std::strlen(at) + 1) {
    const std::string_view name(at, std::strcspn(at, "="));
    if (std::find(std::begin(known), std::end(known), name) == std::end(known))
      std::fprintf(stderr, "quire: OpenMP: kmp_set_defaults() cannot set %.*s: set it before the program starts\n",
                   static_cast<int>(name.size()), name.data());
  }
  settings now = job();
  now.first = own;
  t_instead = list;
  read_threads(now);
  read_variables(now.first);
  t_instead = nullptr;
  own = now.first;
}

void display_environment(bool more) noexcept {
  const settings& j = job();
  const variables& own = j.first;
  char room[64];
  std::fprintf(stderr, "\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  _OPENMP = '201511'\n");
  std::fprintf(stderr, "  OMP_DYNAMIC = '%s'\n", own.dynamic ? "TRUE" : "FALSE");
  std::fprintf(stderr, "  OMP_NESTED = '%s'\n", own.most_active_levels > 1 ? "TRUE" : "FALSE");
  std::fprintf(stderr, "  OMP_NUM_THREADS = '%d", own.threads);
  for (int i = 1; i < settings::most_levels && j.threads_at[i] != 0; ++i) std::fprintf(stderr, ",%d", j.threads_at[i]);
  std::fprintf(stderr, "'\n  OMP_SCHEDULE = '%s'\n", schedule_text(own, room));
  display_binding(j);
  std::fprintf(stderr, "  OMP_STACKSIZE = '%zu'\n  OMP_WAIT_POLICY = 'PASSIVE'\n", j.stack_bytes);
  std::fprintf(stderr, "  OMP_THREAD_LIMIT = '%u'\n", static_cast<unsigned>(own.thread_limit));
  std::fprintf(stderr, "  OMP_MAX_ACTIVE_LEVELS = '%u'\n  OMP_NUM_TEAMS = '%d'\n  OMP_TEAMS_THREAD_LIMIT = '%d'\n",
               static_cast<unsigned>(own.most_active_levels), own.teams_asked, own.teams_limit);
  std::fprintf(stderr, "  OMP_CANCELLATION = '%s'\n  OMP_DEFAULT_DEVICE = '%d'\n", j.cancellation ? "TRUE" : "FALSE",
               own.device);
  std::fprintf(stderr, "  OMP_MAX_TASK_PRIORITY = '%d'\n  OMP_TARGET_OFFLOAD = '%s'\n", j.most_priority,
               j.needs_device ? "MANDATORY" : "DEFAULT");
  if (more) std::fprintf(stderr, "  QUIRE_NODES = '%d'\n", j.nodes);
  std::fprintf(stderr, "OPENMP DISPLAY ENVIRONMENT END\n");
}

}  // namespace quire::program
