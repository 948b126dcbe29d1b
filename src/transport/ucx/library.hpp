// SPDX-License-Identifier: BSD-3-Clause
// UCX as a library that is loaded when a transport is opened, not when the program starts. Used by ucx.cpp only.
//
// Why not linked: UCX reads part of its settings while it is being loaded, and by default installs handlers for SIGSEGV
// and SIGBUS and patches mmap and madvise there. Loaded by us, it does so with the settings that Quire needs, its
// symbols stay out of the application's way, and a machine without UCX gets a clear message instead of a loader error.
#pragma once

#include <ucp/api/ucp.h>

#include "base/status.hpp"

namespace quire::transport::ucx {

/// One entry for each function of UCX that Quire calls. X(name) stands for ucp_name.
// clang-format off
#define QUIRE_UCP_FUNCTIONS(X)                                                                        \
  X(init_version) X(cleanup) X(config_read) X(config_modify) X(config_release)                        \
  X(worker_create) X(worker_destroy) X(worker_get_address) X(worker_release_address) X(worker_get_efd) \
  X(worker_arm) X(worker_signal) X(worker_progress) X(worker_flush_nbx) X(worker_set_am_recv_handler)  \
  X(ep_create) X(ep_close_nbx) X(am_send_nbx) X(am_recv_data_nbx) X(request_check_status) X(request_free)
// clang-format on

struct library {
#define QUIRE_UCP_MEMBER(name) decltype(&::ucp_##name) name = nullptr;
  QUIRE_UCP_FUNCTIONS(QUIRE_UCP_MEMBER)
#undef QUIRE_UCP_MEMBER
  const char* (*status_string)(ucs_status_t) = nullptr;
};

/// Loads UCX at the first call: the one that was packed with libquire, if there is one, or else, or if `system` says
/// so, that of the system. Later calls give the same. It stays loaded until the process ends: UCX does not survive
/// being unloaded. QUIRE_UNSUPPORTED if it is not installed or lacks something. Not for fault context.
[[nodiscard]] base::result<const library*> load(bool system) noexcept;

}  // namespace quire::transport::ucx
