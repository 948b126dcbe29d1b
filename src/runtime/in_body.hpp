// SPDX-License-Identifier: BSD-3-Clause
// Whether a thread is in the body of a transaction: what calls that cannot be undone ask (api/transactions.cpp has the
// loop around a body).
#pragma once

namespace quire::api::transactions {

/// The calling thread is in a body, and not in a call of Quire, or in a fault.
[[nodiscard]] bool is_inside() noexcept;
/// There: it does not begin again any more. It may do so now.
void make_irrevocable() noexcept;

/// The calling thread enters a body, whose make_irrevocable() is `take_turn`; null: it has left it.
void set_body(void (*take_turn)() noexcept) noexcept;

}  // namespace quire::api::transactions
