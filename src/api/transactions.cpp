// SPDX-License-Identifier: BSD-3-Clause
// Transactions: the loop around a body, and what ends a body early. A body is left from within in three ways, which all
// come back to where the loop began (os::restart_point): its transaction is doomed, as a fault or a call finds;
// retry(); abort().
#include <quire/transaction.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "runtime/forward.hpp"
#include "runtime/runtime.hpp"
#include "api/transactions.hpp"
#include "api/versions.hpp"
#include "base/log.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/host.hpp"
#include "core/thread_state.hpp"
#include "core/transactions.hpp"
#include "os/restart_point.hpp"
#include "runtime/in_body.hpp"

namespace quire::api::transactions {
namespace {

/// Why a body was left.
enum class left : std::uint8_t { not_yet, doomed, waits, aborted };

struct hook {
  void (*call)(void*) = nullptr;
  void* argument = nullptr;
};

/// A transaction of a thread: it lives in the frame of quire_atomically(), to which its attempts come back.
struct transaction {
  core::core* node = nullptr;
  os::restart_point start{};
  left how = left::not_yet;
  std::int64_t patience_ms = -1;  ///< of a retry
  bool retries_wait = true;
  bool has_retried = false;
  unsigned begun = 0;           ///< attempts
  quire_status why = QUIRE_OK;  ///< aborted
  std::vector<hook> on_commit{}, on_abort{};
  std::vector<void*> frees{};
  std::uint64_t random = 0;
};
thread_local constinit transaction* t_runs __attribute__((tls_model("initial-exec"))) = nullptr;

constexpr unsigned attempts_before_turn = 4;  ///< then nobody else commits meanwhile

/// What the undone attempt has asked for. Outside of the transaction.
void run_backwards(std::vector<hook>& hooks) {
  const std::vector<hook> all = std::exchange(hooks, {});
  for (auto h = all.rbegin(); h != all.rend(); ++h) h->call(h->argument);
}

/// Others that are doomed by this one as it is by them shall not come back at the same time.
void back_off(transaction& t) noexcept {
  constexpr std::uint64_t shortest_ns = 2'000;
  if (t.begun < 2) return;
  if (t.random == 0) t.random = t.node->now() * (2 * t.node->config.self.value() + 1) | 1;
  t.random ^= t.random << 13;
  t.random ^= t.random >> 7;
  t.random ^= t.random << 17;
  t.node->host.pause(t.random % (shortest_ns << t.begun));
}

/// The body that runs is undone, and left. `code` says why.
[[noreturn]] void leave(left code) noexcept {
  transaction& t = *t_runs;
  if (code == left::waits) {
    t.node->transactions.retry(t.patience_ms);
  } else if (t.node->transactions.abort().code() == QUIRE_CONFLICT) {
    code = left::doomed;  // what it was aborted for may be old
  }
  t.how = code;
  t.start.go_back();
}

void restart() noexcept { leave(left::doomed); }

/// One that may be doomed by now is of no more use: a call of Quire in it.
void check_doom(const transaction& t) noexcept {
  if (t.node->transactions.doomed()) restart();
}

void take_turn() noexcept {
  if (!t_runs->node->transactions.take_turn().ok()) restart();
}
void set_running(transaction* t) noexcept {
  t_runs = t;
  set_body(t != nullptr ? take_turn : nullptr);
}

/// An attempt has come to nothing.
void clear(transaction& t) {
  set_running(nullptr);
  t.on_commit.clear();
  t.frees.clear();
  run_backwards(t.on_abort);
}

/// Attempts, until one has happened. Begins again when one is left.
quire_status attempt(transaction& t, void (*body)(void*), void* argument, const quire_transaction_options& how) {
  const left before = std::exchange(t.how, left::not_yet);
  if (before != left::not_yet) clear(t);
  if (before == left::aborted) return t.why;
  t.retries_wait = true;
  if (before == left::waits) {
    t.begun = 0;  // nobody came first
    t.has_retried = true;
  }
  for (;;) {
    if (how.attempts != 0 && t.begun == how.attempts) return QUIRE_CONFLICT;
    back_off(t);
    ++t.begun;
    const bool turn = how.irrevocable != 0 || t.begun > attempts_before_turn;
    if (const auto begun = t.node->transactions.begin(turn); !begun.ok()) return begun.code();
    set_running(&t);
    std::exception_ptr thrown;  // of a body in C++
    try {
      body(argument);
    } catch (...) {
      thrown = std::current_exception();
    }
    set_running(nullptr);
    if (thrown == nullptr && t.node->transactions.commit().ok()) return QUIRE_OK;
    const bool leaves =
        thrown != nullptr && t.node->transactions.abort().ok();  // else what it was thrown for may be old
    clear(t);
    if (leaves) std::rethrow_exception(thrown);
  }
}

void after_commit(transaction& t) {
  for (void* const freed : std::exchange(t.frees, {})) (void)quire_free(freed);
  for (const hook& h : std::exchange(t.on_commit, {})) h.call(h.argument);
}

quire_status add(std::vector<hook> transaction::*to, const char* name, void (*call)(void*), void* argument) noexcept {
  QUIRE_STARTED();
  if (t_runs == nullptr) return base::explain(QUIRE_INVALID, "%s(): the calling thread is in no transaction", name);
  if (call == nullptr) return base::explain(QUIRE_INVALID, "%s(): the call is NULL", name);
  check_doom(*t_runs);
  try {
    (t_runs->*to).push_back({call, argument});
  } catch (const std::bad_alloc&) {
    return QUIRE_NO_MEMORY;
  }
  return QUIRE_OK;
}

[[noreturn]] void leave_to_wait(std::int64_t patience_ms) noexcept {
  t_runs->patience_ms = patience_ms;
  leave(left::waits);
}

[[noreturn]] void not_in_one(const char* call) noexcept {
  base::die(QUIRE_INVALID, "%s() was called by a thread that is in no transaction", call);
}

void free_again(void* address) { (void)quire_free(address); }

}  // namespace

void (*way_back() noexcept)() noexcept {
  return t_runs != nullptr && t_runs->node->transactions.doomed() ? restart : nullptr;
}

void retry_within(std::int64_t timeout_ms) noexcept { leave_to_wait(timeout_ms); }

void let_retries_wait(bool wait) noexcept { t_runs->retries_wait = wait; }

bool has_retried() noexcept { return t_runs->has_retried; }

void hide_afterwards(const void* first, std::uint64_t bytes) noexcept {
  t_runs->node->transactions.hide_afterwards(reinterpret_cast<std::uint64_t>(first), bytes);
}

void on_allocated(void* address) noexcept {
  if (t_runs != nullptr) static_cast<void>(quire_on_abort(free_again, address) == QUIRE_OK);
}

bool defers_free(void* address, quire_status& why) noexcept {
  if (t_runs == nullptr || address == nullptr) return false;
  check_doom(*t_runs);
  std::size_t bytes = 0;
  why = quire_allocation_size(address, &bytes);
  if (why != QUIRE_OK) return true;
  if (std::ranges::find(t_runs->frees, address) != t_runs->frees.end()) {
    why = base::explain(QUIRE_BAD_ADDRESS, "quire_free(): this transaction has freed %p before", address);
    return true;
  }
  t_runs->frees.push_back(address);
  return true;
}

}  // namespace quire::api::transactions

using namespace quire::api;
using quire::api::transactions::left;
using quire::api::transactions::t_runs;
using quire::base::explain;

quire_status quire_atomically(void (*body)(void*), void* argument, const quire_transaction_options* options) {
  if (elsewhere() != nullptr) return explain(QUIRE_UNSUPPORTED, "quire_atomically(): not with pool 'fork'");
  QUIRE_ENTER(r);
  if (body == nullptr) return explain(QUIRE_INVALID, "quire_atomically(): the body is NULL");
  quire_transaction_options how{};
  if (!take(options, how, "quire_atomically", "quire_transaction_options")) return QUIRE_INVALID;
  if (t_runs != nullptr) {
    body(argument);
    return QUIRE_OK;
  }
  quire::api::transactions::transaction t;
  t.node = r->core;
  const quire_status why = t.start.run([&] { return quire::api::transactions::attempt(t, body, argument, how); });
  if (why == QUIRE_OK) quire::api::transactions::after_commit(t);
  return why;
}

void quire_transaction_retry(void) {
  if (t_runs == nullptr) quire::api::transactions::not_in_one("quire_transaction_retry");
  quire::api::transactions::retry_within(t_runs->retries_wait ? -1 : 0);
}

void quire_transaction_abort(quire_status why) {
  if (t_runs == nullptr) quire::api::transactions::not_in_one("quire_transaction_abort");
  t_runs->why = why;
  quire::api::transactions::leave(left::aborted);
}

quire_status quire_transaction_irrevocable(void) {
  QUIRE_STARTED();
  if (t_runs == nullptr)
    return explain(QUIRE_INVALID, "quire_transaction_irrevocable(): the calling thread is in no transaction");
  quire::api::transactions::make_irrevocable();
  return QUIRE_OK;
}

quire_status quire_on_commit(void (*call)(void*), void* argument) {
  return quire::api::transactions::add(&quire::api::transactions::transaction::on_commit, "quire_on_commit", call,
                                       argument);
}
quire_status quire_on_abort(void (*call)(void*), void* argument) {
  return quire::api::transactions::add(&quire::api::transactions::transaction::on_abort, "quire_on_abort", call,
                                       argument);
}

int quire_in_transaction(void) { return t_runs != nullptr ? 1 : 0; }
