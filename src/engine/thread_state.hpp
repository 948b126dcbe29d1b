// What the engine keeps per thread. Initialised at compile time and in static thread-local storage, so that a signal handler
// may use it without allocating.
#pragma once

#include "engine/read_ahead.hpp"

namespace quire::engine {

struct thread_state {
  read_ahead stream;
  bool driving = false;  ///< a fault now would be one of the runtime itself
};

extern thread_local constinit thread_state t_thread __attribute__((tls_model("initial-exec")));

}  // namespace quire::engine
