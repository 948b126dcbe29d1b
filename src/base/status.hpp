// SPDX-License-Identifier: BSD-3-Clause
// Status codes that every layer returns. They are the codes of the public C API (include/quire/quire.h), grouped there
// by what is lost: nothing, a request, a region, a peer, the job. Used from every thread context; holds no memory.
#pragma once

#include <quire/quire.h>

#include <utility>

namespace quire::base {

/// Outcome of an operation. `[[nodiscard]]`: an ignored status is a bug.
class [[nodiscard]] status {
 public:
  constexpr status() noexcept = default;
  constexpr status(quire_status code) noexcept : code_(code) {}  // NOLINT: a code is a status
  [[nodiscard]] constexpr bool ok() const noexcept { return code_ == QUIRE_OK; }
  [[nodiscard]] constexpr quire_status code() const noexcept { return code_; }
  friend constexpr bool operator==(status, status) noexcept = default;

 private:
  quire_status code_ = QUIRE_OK;
};

/// A value, or the status that tells why there is none.
template <class T>
class [[nodiscard]] result {
 public:
  result(T value) noexcept : value_(std::move(value)) {}  // NOLINT
  result(status why) noexcept : why_(why) {}              // NOLINT
  result(quire_status why) noexcept : why_(why) {}        // NOLINT
  [[nodiscard]] bool ok() const noexcept { return why_.ok(); }
  [[nodiscard]] status why() const noexcept { return why_; }
  [[nodiscard]] T& value() noexcept { return value_; }
  [[nodiscard]] const T& value() const noexcept { return value_; }

 private:
  T value_{};
  status why_{};
};

}  // namespace quire::base
