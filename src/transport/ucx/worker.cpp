// SPDX-License-Identifier: BSD-3-Clause
// Opening and closing UCX; see worker.hpp. Called at the start and end only, in the application's thread.
#include "transport/ucx/worker.hpp"

#include <stdlib.h>

#include "base/log.hpp"
#include "os/file_size.hpp"
#include "os/foreign_library.hpp"
#include "os/limits.hpp"
#include "os/signals_held.hpp"
#include "transport/ucx/gate.hpp"
#include "transport/ucx/unnamed.hpp"

namespace quire::transport::ucx {

worker::~worker() {
  if (handle != nullptr) ucp->worker_destroy(handle);
  if (context != nullptr) ucp->cleanup(context);
}

ucs_status_t worker::open_context(const settings& how, const std::string& devices) {
  ucp_config_t* config = nullptr;
  if (const auto status = ucp->config_read(nullptr, nullptr, &config); status != UCS_OK) return status;
  chosen_by_user = ::getenv("UCX_TLS") != nullptr;
  ucs_status_t status = chosen_by_user ? UCS_OK : ucp->config_modify(config, "TLS", how.transports);
  if (status == UCS_OK && ::getenv("UCX_RNDV_THRESH") == nullptr) {
    status = ucp->config_modify(config, "RNDV_THRESH", how.rendezvous_bytes);
  }
  if (status == UCS_OK && ::getenv("UCX_NET_DEVICES") == nullptr)
    status = ucp->config_modify(config, "NET_DEVICES", devices.c_str());
  if (status == UCS_OK) {
    ucp_params_t parameters{};
    parameters.field_mask = UCP_PARAM_FIELD_FEATURES;
    parameters.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
    status = ucp->init_version(UCP_API_MAJOR, UCP_API_MINOR, &parameters, config, &context);
  }
  ucp->config_release(config);
  return status;
}

ucs_status_t worker::open_handle() {
  ucp_worker_params_t parameters{};
  parameters.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  parameters.thread_mode = UCS_THREAD_MODE_SERIALIZED;  // different threads, one at a time: no locks inside
  if (const auto status = ucp->worker_create(context, &parameters, &handle); status != UCS_OK) return status;
  return ucp->worker_get_efd(handle, &descriptor);
}

ucs_status_t worker::read_address() {
  ucp_address_t* own = nullptr;
  std::size_t length = 0;
  if (const auto status = ucp->worker_get_address(handle, &own, &length); status != UCS_OK) return status;
  const auto* const bytes = reinterpret_cast<const std::byte*>(own);
  address.assign(bytes, bytes + length);
  ucp->worker_release_address(handle, own);
  return UCS_OK;
}

namespace {

/// What UCX would say by an error of its own, or by an assertion.
base::status can_share() noexcept {
  constexpr std::uint64_t of_node = std::uint64_t{5} << 20;
  if (!os::others_may_look()) {
    base::log(base::log_level::error,
              "shared memory for messages cannot be had: the user may not read the executable of this program, so that "
              "the system keeps other nodes from its memory; make it readable (chmod +r), or set QUIRE_TRANSPORT=tcp");
    return QUIRE_UNSUPPORTED;
  }
  if (os::file_may_have(of_node)) return {};
  base::log(base::log_level::error, "shared memory for messages cannot be had: a node needs 5 MiB of memory%s",
            os::explain(os::shortage::file_size).text);
  return QUIRE_SYSTEM;
}

}  // namespace

base::status worker::open(const settings& how, const std::string& devices, const base::secret& job) {
  const os::signals_held signals_blocked;  // UCX starts a thread for TCP
  const os::close_on_exec_scope closed_on_exec;
  const auto loaded = load(how.system_library);
  if (!loaded.ok()) return loaded.why();
  ucp = loaded.value();
  const bool has_ports = how.reports_losses || ::getenv("UCX_TLS") != nullptr;  // shared memory has none
  if (const auto guarded = gate::guard(job); !guarded.ok() && has_ports) {
    base::log(
        base::log_level::error,
        "this build of UCX cannot be guarded against strangers on the network: libucs does not call listen, accept "
        "and connect by itself; Debian's libucx0 does");
    return guarded;
  }
  if (const auto unnamed = take_names_from_memory(); !unnamed.ok() && !how.reports_losses) {
    base::log(
        base::log_level::error,
        "this build of UCX would leave files in /dev/shm when a node is killed: libuct does not call shm_open and "
        "shm_unlink by itself; Debian's libucx0 does");
    return unnamed;
  }

  const os::file_size_scope no_signal;
  if (const auto s = how.reports_losses || user_wants_names() ? base::status{} : can_share(); !s.ok()) return s;
  // UCX reads it when the worker is made, and from the environment only.
  const bool ours = how.variable != nullptr && ::getenv(how.variable) == nullptr;
  if (ours) ::setenv(how.variable, how.value, 0);
  auto status = open_context(how, devices);
  if (status == UCS_OK) status = open_handle();
  if (ours) ::unsetenv(how.variable);
  if (status == UCS_OK) status = read_address();
  if (status == UCS_OK) return QUIRE_OK;
  base::log(base::log_level::error, "transport %s cannot be opened on network interfaces %s: %s", how.name,
            devices.c_str(), ucp->status_string(status));
  return QUIRE_SYSTEM;
}

}  // namespace quire::transport::ucx
