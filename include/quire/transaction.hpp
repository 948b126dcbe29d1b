// SPDX-License-Identifier: BSD-3-Clause
// Transactions in C++ (quire/transaction.h says what a body may do):
//
//     auto left = quire::atomically([&] { from.balance -= sum; to.balance += sum; return from.balance; });
//     quire::atomically([&] { if (queue.empty()) quire::retry(); return queue.pop(); });
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <quire/error.hpp>
#include <quire/transaction.h>

namespace quire {

/// As quire_transaction_options.
struct transaction_options {
  unsigned attempts = 0;     ///< 0: as many as it takes
  bool irrevocable = false;  ///< no other node commits meanwhile
};

namespace detail {

template <class Result>
struct transaction_result {
  std::optional<Result> value;
  template <class F>
  void set(F& body) {
    value.emplace(std::invoke(body));
  }
  Result get() { return std::move(*value); }
};
template <>
struct transaction_result<void> {
  template <class F>
  void set(F& body) {
    std::invoke(body);
  }
  void get() noexcept {}
};

template <class F>
struct transaction_call {
  std::remove_reference_t<F>* body;
  transaction_result<std::invoke_result_t<F&>> result{};

  static void run(void* at) {
    auto& self = *static_cast<transaction_call*>(at);
    self.result.set(*self.body);
  }
};

}  // namespace detail

/// Runs `body` as a transaction, and returns what it returns. An exception that leaves the body undoes it, and goes on
/// to the caller. Throws quire::error with errc::conflict after `options.attempts`, and with what abort() was given.
/// Within a body: part of the transaction that runs.
template <class F>
auto atomically(F&& body, const transaction_options& options = {}) -> std::invoke_result_t<F&> {
  if (quire_in_transaction() != 0) return std::invoke(body);
  static_assert(!std::is_reference_v<std::invoke_result_t<F&>>, "return a pointer, or a value");
  detail::transaction_call<F> call{std::addressof(body)};
  const quire_transaction_options given{sizeof given, options.attempts, options.irrevocable ? 1 : 0};
  const quire_status why = quire_atomically(&detail::transaction_call<F>::run, &call, &given);
  detail::check(why, "atomically");
  return call.result.get();
}

/// In a body: undoes it, waits until something that it has seen may have changed, and begins again.
[[noreturn]] inline void retry() { quire_transaction_retry(); }
/// In a body: undoes it; atomically() throws quire::error with `why`.
[[noreturn]] inline void abort_transaction(errc why) { quire_transaction_abort(static_cast<quire_status>(why)); }
/// In a body: it does not begin again any more, and may have effects that cannot be undone.
inline void irrevocable() { detail::check(quire_transaction_irrevocable(), "irrevocable"); }
[[nodiscard]] inline bool in_transaction() noexcept { return quire_in_transaction() != 0; }

}  // namespace quire
