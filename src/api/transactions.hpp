// SPDX-License-Identifier: BSD-3-Clause
// Transactions as programs see them: transactions.cpp.
#pragma once

#include <cstdint>

#include <quire/quire.h>

namespace quire::api::transactions {

/// The way back to the begin of its transaction, for a thread whose fault has found it doomed; null for others. Asked
/// in the handler of the fault, which has the thread go there.
[[nodiscard]] void (*way_back() noexcept)() noexcept;

/// In a body: quire_transaction_retry() that waits no longer than `timeout_ms`.
[[noreturn]] void retry_within(std::int64_t timeout_ms) noexcept;

/// In a body: what quire_transaction_retry() in it does. It waits, or begins again at once.
void let_retries_wait(bool wait) noexcept;
/// In a body: an attempt of this transaction has ended by quire_transaction_retry().
[[nodiscard]] bool has_retried() noexcept;
/// In a body: later transactions of this node have not read this range of a region, unless they do so themselves
/// (core::transactions).
void hide_afterwards(const void* first, std::uint64_t bytes) noexcept;

/// Memory was allocated: a body that is undone gives it back.
void on_allocated(void* address) noexcept;
/// Memory is to be freed: in a body, when it has happened. True if that is so; `why` then says what to return.
[[nodiscard]] bool defers_free(void* address, quire_status& why) noexcept;

}  // namespace quire::api::transactions
