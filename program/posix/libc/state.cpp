// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/libc/state.hpp"

#include <quire/quire.h>
#include <time.h>

#include <new>

#include "program/process/fail.hpp"

namespace quire::program {
namespace {
libc_state* g_state = nullptr;
}

void open_libc_state() {
  void* at = nullptr;
  if (quire_node() == 0) {
    if (const quire_status why = quire_aligned_alloc(4096, sizeof(libc_state), &at); why != QUIRE_OK)
      fail("no shared memory", why);
    auto* const s = new (at) libc_state;
    (void)::initstate_r(1, s->random_table, sizeof s->random_table, &s->random);  // as libc's own begins
  }
  if (const quire_status why = quire_broadcast(&at, sizeof at, 0); why != QUIRE_OK) fail("nodes cannot begin", why);
  g_state = static_cast<libc_state*>(at);
}

void close_libc_state() noexcept { g_state = nullptr; }
libc_state* shared_libc_state() noexcept { return g_state; }

libc_turn::libc_turn(libc_state& s) noexcept : state_(s) {
  constexpr int patience = 100;
  for (int tries = 0; __atomic_exchange_n(&state_.turn, 1, __ATOMIC_ACQUIRE) != 0; ++tries) {
    const timespec little{0, 20'000};
    if (tries > patience) ::nanosleep(&little, nullptr);  // who has it may have to fetch the page again
  }
}
libc_turn::~libc_turn() { __atomic_store_n(&state_.turn, 0, __ATOMIC_RELEASE); }

}  // namespace quire::program
