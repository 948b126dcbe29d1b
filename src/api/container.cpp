// SPDX-License-Identifier: BSD-3-Clause
// Containers: the bodies of quire/container.h and quire/linker.h. Application threads.
#include <quire/container.h>
#include <quire/transaction.h>

#include "container/service/service.hpp"
#include "runtime/forward.hpp"
#include "runtime/runtime.hpp"
#include "api/versions.hpp"
#include "core/configuration.hpp"

using quire::base::explain;

namespace {

bool is_given(const char* call, const void* place, const char* what) noexcept {
  if (place != nullptr) return true;
  (void)explain(QUIRE_INVALID, "%s(): the %s is NULL", call, what);
  return false;
}

}  // namespace

/// Opens a body.
#define QUIRE_CONTAINER_ENTER(r, call)                                    \
  if (quire::api::is_split(call, "containers")) return QUIRE_UNSUPPORTED; \
  QUIRE_ENTER(r);                                                         \
  if (quire_in_transaction() != 0)                                        \
  return explain(QUIRE_INVALID, "%s(): not within a transaction, which may begin again", call)

quire_status quire_linker_register(const quire_linker* linker) {
  constexpr const char* call = "quire_linker_register";
  QUIRE_CONTAINER_ENTER(r, call);
  if (!is_given(call, linker, "linker")) return QUIRE_INVALID;
  quire_linker given{};
  if (!quire::api::take(linker, given, call, "quire_linker")) return QUIRE_INVALID;
  return r->containers->linkers().add(call, given).code();
}

quire_status quire_linker_register_function(const char* name, size_t grain, int (*fill)(void*, uint64_t, void*, size_t),
                                            void* context) {
  QUIRE_CONTAINER_ENTER(r, "quire_linker_register_function");
  return r->containers->linkers().add_function(name, grain, fill, context).code();
}

quire_status quire_container_open(const char* name, const quire_container_options* options,
                                  quire_container* container) {
  constexpr const char* call = "quire_container_open";
  QUIRE_CONTAINER_ENTER(r, call);
  if (!is_given(call, container, "place for the handle")) return QUIRE_INVALID;
  quire_container_options given{};
  if (!quire::api::take(options, given, call, "quire_container_options")) return QUIRE_INVALID;
  if (r->core->config.survives && (given.flags & QUIRE_CONTAINER_READ_ONLY) == 0) {
    return explain(QUIRE_UNSUPPORTED,
                   "%s(): in a job that goes on when a node is lost, containers are only read: open it with "
                   "QUIRE_CONTAINER_READ_ONLY, or set "
                   "QUIRE_ON_FAILURE to end",
                   call);
  }
  return r->containers->open(name, given, *container).code();
}

quire_status quire_container_close(quire_container container) {
  QUIRE_CONTAINER_ENTER(r, "quire_container_close");
  return r->containers->close(container).code();
}

quire_status quire_container_remove(const char* name, unsigned flags) {
  QUIRE_CONTAINER_ENTER(r, "quire_container_remove");
  return r->containers->remove(name, flags).code();
}

quire_status quire_container_region(quire_container container, quire_region* region) {
  constexpr const char* call = "quire_container_region";
  QUIRE_CONTAINER_ENTER(r, call);
  if (!is_given(call, region, "place for the region")) return QUIRE_INVALID;
  return r->containers->region(container, *region).code();
}

quire_status quire_container_map(quire_container container, void** address, uint64_t* capacity) {
  QUIRE_CONTAINER_ENTER(r, "quire_container_map");
  return r->containers->map(container, address, capacity).code();
}

quire_status quire_container_bytes(quire_container container, uint64_t* bytes) {
  constexpr const char* call = "quire_container_bytes";
  QUIRE_CONTAINER_ENTER(r, call);
  if (!is_given(call, bytes, "place for the number of bytes")) return QUIRE_INVALID;
  return r->containers->bytes(container, *bytes).code();
}

quire_status quire_container_truncate(quire_container container, uint64_t bytes) {
  QUIRE_CONTAINER_ENTER(r, "quire_container_truncate");
  return r->containers->truncate(container, bytes).code();
}

quire_status quire_container_read(quire_container container, uint64_t at, void* buffer, size_t bytes, size_t* done) {
  constexpr const char* call = "quire_container_read";
  QUIRE_CONTAINER_ENTER(r, call);
  if (!is_given(call, done, "place for the number of bytes that were read")) return QUIRE_INVALID;
  std::size_t copied = 0;  // `done` may lie in shared memory
  const auto why = r->containers->read(container, at, buffer, bytes, copied);
  *done = copied;
  return why.code();
}

quire_status quire_container_write(quire_container container, uint64_t at, const void* buffer, size_t bytes,
                                   size_t* done) {
  QUIRE_CONTAINER_ENTER(r, "quire_container_write");
  std::size_t copied = 0;
  const auto why = r->containers->write(container, at, buffer, bytes, copied);
  if (done != nullptr) *done = copied;
  return why.code();
}

quire_status quire_container_append(quire_container container, const void* buffer, size_t bytes, uint64_t* at) {
  QUIRE_CONTAINER_ENTER(r, "quire_container_append");
  std::uint64_t where = 0;
  const auto why = r->containers->append(container, buffer, bytes, where);
  if (why.ok() && at != nullptr) *at = where;
  return why.code();
}

quire_status quire_container_sync(quire_container container, uint64_t at, uint64_t bytes) {
  QUIRE_CONTAINER_ENTER(r, "quire_container_sync");
  return r->containers->sync(container, at, bytes).code();
}

quire_status quire_container_drop(quire_container container, uint64_t at, uint64_t bytes) {
  QUIRE_CONTAINER_ENTER(r, "quire_container_drop");
  return r->containers->drop(container, at, bytes).code();
}

quire_status quire_container_list(int (*each)(void* context, const char* name, uint64_t bytes, unsigned flags),
                                  void* context) {
  constexpr const char* call = "quire_container_list";
  QUIRE_CONTAINER_ENTER(r, call);
  if (each == nullptr) return explain(QUIRE_INVALID, "%s(): the function is NULL", call);
  return r->containers->list(each, context).code();
}
