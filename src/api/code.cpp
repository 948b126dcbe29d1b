// SPDX-License-Identifier: BSD-3-Clause
// Code in the shared memory: the bodies of quire/code.h.
#include <quire/code.h>

#include "code/service/service.hpp"
#include "runtime/forward.hpp"
#include "api/versions.hpp"

using quire::base::explain;

namespace api = quire::api;

/// Opens a body: code is of this process.
#define QUIRE_CODE_ENTER(r, call)                                                                                \
  QUIRE_STARTED();                                                                                               \
  if (api::elsewhere() != nullptr)                                                                               \
    return explain(QUIRE_UNSUPPORTED, "%s(): pool 'fork' has no code in shared memory: set QUIRE_POOL to memfd", \
                   call);                                                                                        \
  QUIRE_ENTER(r)

quire_status quire_code_load(const char* path, const quire_code_options* options, quire_code* code) {
  constexpr const char* call = "quire_code_load";
  QUIRE_CODE_ENTER(r, call);
  quire_code_options given{};
  if (!api::take(options, given, call, "quire_code_options")) return QUIRE_INVALID;
  if (path == nullptr || code == nullptr)
    return explain(QUIRE_INVALID, "%s(): the %s is NULL", call, path == nullptr ? "path" : "place for the handle");
  quire_region_options data{};
  data.size = sizeof data;
  data.consistency = given.consistency;
  data.pool = given.pool;
  data.detector = given.detector;
  return r->code->load(path, given.name, data, *code).code();
}

quire_status quire_code_find(const char* name, int64_t timeout_ms, quire_code* code) {
  constexpr const char* call = "quire_code_find";
  QUIRE_CODE_ENTER(r, call);
  if (code == nullptr) return explain(QUIRE_INVALID, "%s(): the place for the handle is NULL", call);
  return r->code->find(name, timeout_ms, *code).code();
}

quire_status quire_code_symbol(quire_code code, const char* name, void** address) {
  constexpr const char* call = "quire_code_symbol";
  QUIRE_CODE_ENTER(r, call);
  if (address == nullptr) return explain(QUIRE_INVALID, "%s(): the place for the address is NULL", call);
  std::uint64_t found = 0;
  const auto why = r->code->symbol(code, name, found);
  if (why.ok()) *address = reinterpret_cast<void*>(found);
  return why.code();
}

quire_status quire_code_entry(quire_code code, const char* name, void*** entry) {
  constexpr const char* call = "quire_code_entry";
  QUIRE_CODE_ENTER(r, call);
  if (entry == nullptr) return explain(QUIRE_INVALID, "%s(): the place for the entry is NULL", call);
  std::uint64_t found = 0;
  const auto why = r->code->entry(code, name, found);
  if (why.ok()) *entry = reinterpret_cast<void**>(found);
  return why.code();
}

quire_status quire_code_replace(quire_code code, const char* name, quire_code newer) {
  QUIRE_CODE_ENTER(r, "quire_code_replace");
  return r->code->replace(code, name, newer).code();
}

quire_status quire_code_unload(quire_code code) {
  QUIRE_CODE_ENTER(r, "quire_code_unload");
  return r->code->unload(code).code();
}
