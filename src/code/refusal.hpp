// SPDX-License-Identifier: BSD-3-Clause
// Why a module of code cannot be loaded: a status, and a sentence that names what is in the way.
#pragma once

#include <string>
#include <utility>

#include "base/status.hpp"

namespace quire::code {

struct [[nodiscard]] refusal {
  quire_status why = QUIRE_OK;
  std::string text{};
  [[nodiscard]] bool ok() const noexcept { return why == QUIRE_OK; }
};
[[nodiscard]] inline refusal refuse(quire_status why, std::string text) { return {why, std::move(text)}; }
/// The file is none that could be loaded.
[[nodiscard]] inline refusal invalid(std::string text) { return refuse(QUIRE_INVALID, std::move(text)); }

}  // namespace quire::code
