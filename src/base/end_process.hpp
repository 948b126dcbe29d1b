// The end of a process for a reason that people know already.
#pragma once

namespace quire::base {

/// As die() of base/log.hpp, without a message: somebody else has said why. Async-signal-safe.
[[noreturn]] void end_process(int exit_code) noexcept;

}  // namespace quire::base
