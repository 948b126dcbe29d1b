// SPDX-License-Identifier: BSD-3-Clause
// A UCX context with its one worker, opened with Quire's settings and closed in order. Owned by the transport in
// ucx.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "transport/ucx/library.hpp"
#include "transport/ucx/ucx.hpp"

namespace quire::transport::ucx {

struct worker {
  worker() = default;
  ~worker();
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  /// Loads UCX, guards it against strangers, and opens everything; logs why it cannot.
  [[nodiscard]] base::status open(const settings& how, const std::string& devices, const base::secret& job);

  const library* ucp = nullptr;
  ucp_context_h context = nullptr;
  ucp_worker_h handle = nullptr;
  int descriptor = -1;
  std::vector<std::byte> address;
  bool chosen_by_user = false;  ///< the environment has a UCX_TLS of its own

 private:
  [[nodiscard]] ucs_status_t open_context(const settings& how, const std::string& devices);
  [[nodiscard]] ucs_status_t open_handle();
  [[nodiscard]] ucs_status_t read_address();
};

}  // namespace quire::transport::ucx
