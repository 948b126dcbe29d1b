// SPDX-License-Identifier: BSD-3-Clause
#include "core/thread_state.hpp"

namespace quire::core {

thread_local constinit thread_state t_own{};
thread_local constinit thread_state* t_simulated = nullptr;

}  // namespace quire::core
