// SPDX-License-Identifier: BSD-3-Clause
// What machines of services have to say goes on its way, in order. Driver's thread.
#pragma once

#include "core/core.hpp"
#include "services/services.hpp"

namespace quire::api {

inline void send(core::core& node, const services::answers& all) noexcept {
  for (const services::answer& one : all) node.answer(one.request, one.why, one.a, one.b);
}

}  // namespace quire::api
