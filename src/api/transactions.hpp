// SPDX-License-Identifier: BSD-3-Clause
// Transactions as programs see them: transactions.cpp.
#pragma once

#include <cstdint>

#include <quire/quire.h>

namespace quire::api::transactions {

/// The way back to the begin of its transaction, for a thread whose fault has found it doomed; null for others. Asked in the handler of the fault, which
/// has the thread go there.
[[nodiscard]] void (*way_back() noexcept)() noexcept;

/// In a body: a call of Quire that a body may not make. QUIRE_INVALID with a detail; QUIRE_OK outside.
[[nodiscard]] quire_status refuse(const char* call) noexcept;

/// Memory was allocated: a body that is undone gives it back.
void on_allocated(void* address) noexcept;
/// Memory is to be freed: in a body, when it has happened. True if that is so; `why` then says what to return.
[[nodiscard]] bool defers_free(void* address, quire_status& why) noexcept;

}  // namespace quire::api::transactions
