// SPDX-License-Identifier: BSD-3-Clause
// What most pools come to once they are made: two mappings of the same pages, and more where a region has fine views.
// The papers' three steps are a pool's own (create the global heap), map_application() and map_system().
#pragma once

#include "pool/pool.hpp"

namespace quire::pool {

/// Where a pool shall be, and what it is called in messages.
struct request {
  const char* name;
  const char* when_full;
  std::uint64_t address;
  std::uint64_t bytes;
  bool accessible;
  bool code;
  fine_views fine{};
  view_kind view = view_kind::shared;
  bool runs = false;

  [[nodiscard]] std::byte* application() const noexcept { return reinterpret_cast<std::byte*>(address); }
};

/// Logs that `what` (a verb) has failed with `error`, and gives the status for it.
[[nodiscard]] base::status failed(const request& r, const char* what, int error);

/// Takes over two views of the same pages, and adds the fine ones. All go away with the pool. `fd`: what they map,
/// where the application view is to change.
[[nodiscard]] base::result<std::unique_ptr<pool>> own_views(const request& r, std::byte* system, int fd = -1,
                                                            bool of_host = false);

/// Maps the object behind `fd` twice, and closes `fd`, unless the view may change: the mappings keep the object alive,
/// and nothing else does.
[[nodiscard]] base::result<std::unique_ptr<pool>> map_twice(const request& r, int fd);

/// The same of a part of a host's file, which stays the caller's; the pool gives its frames back when it leaves.
[[nodiscard]] base::result<std::unique_ptr<pool>> make_of_host(const request& r, const settings& how);

// One a folder.
[[nodiscard]] base::result<std::unique_ptr<pool>> make_memfd(const request& r);
[[nodiscard]] base::result<std::unique_ptr<pool>> make_file(const request& r, const settings& how);
[[nodiscard]] base::result<std::unique_ptr<pool>> make_posix(const request& r);
[[nodiscard]] base::result<std::unique_ptr<pool>> make_sysv(const request& r, const settings& how);
[[nodiscard]] base::result<std::unique_ptr<pool>> make_mdup(const request& r);
[[nodiscard]] base::result<std::unique_ptr<pool>> make_fork(const request& r, const settings& how);

}  // namespace quire::pool
