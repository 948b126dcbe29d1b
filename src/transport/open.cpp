// Choice of a transport by name; see open.hpp.
#include "transport/open.hpp"

#include "base/log.hpp"
#include "transport/ucx/ucx.hpp"

namespace quire::transport {

base::result<std::unique_ptr<transport>> open(std::string_view kind, bool all_local) {
  using base::log;
  using base::log_level;
  if (kind == "tcp") return ucx::open(ucx::tcp);
  if (kind == "shm") {
    if (all_local) return ucx::open(ucx::shared_memory);
    log(log_level::error, "transport shm: not all nodes of the job run on this host; use auto or tcp");
    return QUIRE_UNSUPPORTED;
  }
  if (kind == "auto") {
    if (!all_local) return ucx::open(ucx::tcp);
    auto shared = ucx::open(ucx::shared_memory);
    if (shared.ok()) return shared;
    log(log_level::warning, "no shared memory between the nodes of this host; using TCP, which is slower");
    return ucx::open(ucx::tcp);
  }
  log(log_level::error, "unknown transport; choose auto, shm or tcp");
  return QUIRE_BAD_OPTION;
}

}  // namespace quire::transport
