// SPDX-License-Identifier: BSD-3-Clause
// What a node has others do with a module of code: attach it, run what it has registered for its end, detach it. Each
// does so on a thread of its own, as constructors and destructors are the program's, and touch shared memory.
#include "code/service/service.hpp"
#include "core/configuration.hpp"
#include "region/services.hpp"

namespace quire::api {

using code::lacking;
using model::message;
using region::service;

namespace {

quire_status status_of(const lacking& why) noexcept {
  if (why.kind == lacking::what::nothing) return QUIRE_OK;
  return why.kind == lacking::what::memory ? QUIRE_NO_MEMORY : QUIRE_NOT_FOUND;
}

}  // namespace

/// Driver's thread.
void code_service::on_order(const message& m) { threads_.start(ordered_, {m, 0, {}}); }

lacking code_service::do_here(order what, std::uint64_t base) {
  switch (what) {
    case order::attach:
      return attach_here(base);
    case order::run_exits:
      run_exits_here(base);
      break;
    case order::detach:
      detach_here(base);
      break;
  }
  return {};
}

void code_service::carry_out(const message& m) noexcept {
  const lacking why = do_here(static_cast<order>(m.a), m.b);
  core_.as_driver([&] { core_.answer(m, status_of(why), static_cast<std::uint64_t>(why.kind), why.number); });
}

/// On this node the calling thread does it itself: it may have the dynamic linker's lock, in a constructor of
/// dlopen(3).
base::status code_service::ask(unsigned node, order what, std::uint64_t base, lacking& lacks) {
  if (node == core_.config.self.value()) {
    lacks = do_here(what, base);
    return status_of(lacks);
  }
  message m;
  m.a = static_cast<std::uint64_t>(what);
  m.b = base;
  const auto why =
      core_.ask(model::node_id{static_cast<std::uint16_t>(node)}, static_cast<std::uint32_t>(service::code), m, {});
  lacks = {static_cast<lacking::what>(m.a), static_cast<std::uint32_t>(m.b)};
  return why;
}

}  // namespace quire::api
