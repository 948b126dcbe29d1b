// SPDX-License-Identifier: BSD-3-Clause
// What became of a step: a status, and the sentence for people, which names the file and what is wrong with it. Said
// (logged, printed) by whoever decides what follows from it.
#pragma once

#include <cstring>
#include <string>
#include <utility>

#include "base/status.hpp"

namespace quire::checkpoint {

struct [[nodiscard]] outcome {
  quire_status code = QUIRE_OK;
  std::string text{};
  [[nodiscard]] bool ok() const noexcept { return code == QUIRE_OK; }
};

/// The system has refused `what` (a verb) for a file.
inline outcome refused(const char* what, const std::string& path, int error) {
  return {QUIRE_SYSTEM, std::string("cannot ") + what + " " + path + ": " + std::strerror(error)};
}
/// A file is not what was written.
inline outcome damaged(const std::string& path, std::string what) {
  return {QUIRE_DAMAGED, path + ": " + std::move(what)};
}

}  // namespace quire::checkpoint
