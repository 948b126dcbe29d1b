// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/in_body.hpp"

#include "core/thread_state.hpp"

namespace quire::api::transactions {

namespace {
using procedure = void (*)() noexcept;
thread_local constinit procedure t_take_turn __attribute__((tls_model("initial-exec"))) = nullptr;
}  // namespace

bool is_inside() noexcept { return t_take_turn != nullptr && core::this_thread().asking == 0; }
void make_irrevocable() noexcept { t_take_turn(); }
void set_body(void (*take_turn)() noexcept) noexcept { t_take_turn = take_turn; }

}  // namespace quire::api::transactions
