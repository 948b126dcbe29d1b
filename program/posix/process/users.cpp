// SPDX-License-Identifier: BSD-3-Clause
// Who the program is: all nodes are processes of one user, who reach one another's memory as such. What changes nothing
// may be called.
#include <grp.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "program/job/job.hpp"
#include "program/posix/errands/where.hpp"
#include "program/process/interpose.hpp"

using namespace quire::program;

namespace {

struct identity {
  unsigned real = 0, effective = 0, saved = 0;
  [[nodiscard]] bool is(unsigned r, unsigned e, unsigned s) const noexcept {
    const auto same = [](unsigned wanted, unsigned has) { return wanted == ~0u || wanted == has; };
    return same(r, real) && same(e, effective) && same(s, saved);
  }
};
identity user_now() noexcept {
  identity i;
  (void)::getresuid(&i.real, &i.effective, &i.saved);
  return i;
}
identity group_now() noexcept {
  identity i;
  (void)::getresgid(&i.real, &i.effective, &i.saved);
  return i;
}

bool has_groups(std::size_t count, const gid_t* list) noexcept {
  std::array<gid_t, 1024> own{}, wanted{};
  const int has = ::getgroups(static_cast<int>(own.size()), own.data());
  if (has < 0 || static_cast<std::size_t>(has) != count || count > wanted.size()) return false;
  std::copy(list, list + count, wanted.begin());
  std::sort(own.begin(), own.begin() + has);
  std::sort(wanted.begin(), wanted.begin() + has);
  return own == wanted;
}

/// `same`: it changes nothing.
bool is_refused(const char* call, bool same, const void* caller) noexcept {
  if (same || job().nodes == 1 || !files::is_node() || !is_of_program(caller)) return false;
  ::fprintf(stderr,
            "quire: %s() is refused (ENOTSUP), as all nodes are processes of one user: start the job as the user that "
            "it is to be\n",
            call);
  errno = ENOTSUP;
  return true;
}

}  // namespace

#define QUIRE_IDENTITY(name, parameters, arguments, same)                           \
  QUIRE_LIBC int name parameters noexcept {                                         \
    return is_refused(#name, same, QUIRE_CALLER) ? -1 : QUIRE_NEXT(name) arguments; \
  }
QUIRE_IDENTITY(setuid, (uid_t to), (to), user_now().is(to, to, to))
QUIRE_IDENTITY(seteuid, (uid_t to), (to), user_now().is(~0u, to, ~0u))
QUIRE_IDENTITY(setreuid, (uid_t r, uid_t e), (r, e), user_now().is(r, e, ~0u))
QUIRE_IDENTITY(setresuid, (uid_t r, uid_t e, uid_t s), (r, e, s), user_now().is(r, e, s))
QUIRE_IDENTITY(setgid, (gid_t to), (to), group_now().is(to, to, to))
QUIRE_IDENTITY(setegid, (gid_t to), (to), group_now().is(~0u, to, ~0u))
QUIRE_IDENTITY(setregid, (gid_t r, gid_t e), (r, e), group_now().is(r, e, ~0u))
QUIRE_IDENTITY(setresgid, (gid_t r, gid_t e, gid_t s), (r, e, s), group_now().is(r, e, s))
QUIRE_IDENTITY(setgroups, (size_t count, const gid_t* list), (count, list), has_groups(count, list))
QUIRE_IDENTITY(initgroups, (const char* name, gid_t first), (name, first), false)
