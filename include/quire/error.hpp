// SPDX-License-Identifier: BSD-3-Clause
// Errors of the C++ API: what a quire_status becomes when it is not QUIRE_OK. Included by the other headers of the
// facade; programs include <quire/quire.hpp>. Nothing here needs a started job.
#pragma once

#include <chrono>
#include <cstdint>
#include <new>
#include <string>
#include <system_error>

#include <quire/quire.h>

namespace quire {

/// The values of quire_status as an error code enumeration, for `e.code() == quire::errc::peer_lost`.
enum class errc {
  timed_out = QUIRE_TIMED_OUT,
  busy = QUIRE_BUSY,
  not_found = QUIRE_NOT_FOUND,
  exists = QUIRE_EXISTS,
  conflict = QUIRE_CONFLICT,
  invalid = QUIRE_INVALID,
  bad_address = QUIRE_BAD_ADDRESS,
  not_started = QUIRE_NOT_STARTED,
  forked = QUIRE_FORKED,
  not_owner = QUIRE_NOT_OWNER,
  bad_option = QUIRE_BAD_OPTION,
  unsupported = QUIRE_UNSUPPORTED,
  overlap = QUIRE_OVERLAP,
  beyond = QUIRE_BEYOND,
  no_memory = QUIRE_NO_MEMORY,
  no_addresses = QUIRE_NO_ADDRESSES,
  limit = QUIRE_LIMIT,
  damaged = QUIRE_DAMAGED,
  io = QUIRE_IO,
  peer_lost = QUIRE_PEER_LOST,
  system = QUIRE_SYSTEM,
  lost = QUIRE_LOST,
  owner_died = QUIRE_OWNER_DIED,
};

/// The category of all errors of Quire; its name is "quire", its messages are those of quire_status_text(). Codes that
/// have a counterpart in std::errc compare equal to it: `e.code() == std::errc::timed_out`.
inline const std::error_category& error_category() noexcept {
  class category final : public std::error_category {
   public:
    [[nodiscard]] const char* name() const noexcept override { return "quire"; }
    [[nodiscard]] std::string message(int value) const override {
      return quire_status_text(static_cast<quire_status>(value));
    }
    [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
      switch (static_cast<quire_status>(value)) {
        case QUIRE_TIMED_OUT:
          return std::errc::timed_out;
        case QUIRE_BUSY:
          return std::errc::device_or_resource_busy;
        case QUIRE_EXISTS:
          return std::errc::file_exists;
        case QUIRE_INVALID:
          return std::errc::invalid_argument;
        case QUIRE_BAD_ADDRESS:
          return std::errc::bad_address;
        case QUIRE_NOT_OWNER:
          return std::errc::operation_not_permitted;
        case QUIRE_UNSUPPORTED:
          return std::errc::operation_not_supported;
        case QUIRE_NO_MEMORY:
          return std::errc::not_enough_memory;
        case QUIRE_IO:
          return std::errc::io_error;
        default:
          return {value, *this};
      }
    }
  };
  static const category instance;
  return instance;
}

inline std::error_code make_error_code(errc code) noexcept { return {static_cast<int>(code), error_category()}; }

/// What the C++ API throws. what() is the sentence of the status, with the name of the call in front, and between them
/// what was wrong (quire_last_error()), if that is known.
class error : public std::system_error {
 public:
  explicit error(quire_status status, const char* call = "quire", const char* detail = "")
      : std::system_error(static_cast<int>(status), error_category(),
                          *detail == 0 ? std::string(call) : std::string(call) + ": " + detail) {}
  /// The status of the C API.
  [[nodiscard]] quire_status status() const noexcept { return static_cast<quire_status>(code().value()); }
};

namespace detail {

/// Throws quire::error unless the call succeeded.
inline void check(quire_status status, const char* call) {
  if (status != QUIRE_OK) throw error(status, call, quire_last_error());
}

/// For calls that may try or time out: true if they succeeded, false if they did not in time; throws for anything else.
[[nodiscard]] inline bool in_time(quire_status status, const char* call) {
  if (status == QUIRE_BUSY || status == QUIRE_TIMED_OUT) return false;
  check(status, call);
  return true;
}

/// For memory: what the standard library throws when there is none left, quire::error for anything else.
inline void check_memory(quire_status status, const char* call) {
  if (status == QUIRE_NO_MEMORY || status == QUIRE_NO_ADDRESSES) throw std::bad_alloc();
  check(status, call);
}

inline constexpr std::int64_t for_ever = -1;

/// A duration as the C API wants it: whole milliseconds, rounded up so that nobody waits less than asked; 0 for what is
/// past, and for ever if it does not fit.
template <class Rep, class Period>
[[nodiscard]] constexpr std::int64_t timeout_ms(std::chrono::duration<Rep, Period> duration) noexcept {
  const auto ms = std::chrono::duration<double, std::milli>(duration).count();
  if (!(ms > 0)) return 0;
  if (ms >= 9e15) return for_ever;  // as good as: a double tells no more milliseconds apart
  const auto whole = static_cast<std::int64_t>(ms);
  return static_cast<double>(whole) < ms ? whole + 1 : whole;
}

}  // namespace detail
}  // namespace quire

template <>
struct std::is_error_code_enum<quire::errc> : std::true_type {};
