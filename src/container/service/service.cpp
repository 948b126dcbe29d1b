// SPDX-License-Identifier: BSD-3-Clause
#include "container/service/service.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "services/node/answering.hpp"
#include "services/node/names.hpp"
#include "base/detail.hpp"
#include "base/log.hpp"
#include "core/configuration.hpp"
#include "core/region_slot.hpp"
#include "core/services.hpp"
#include "core/survival.hpp"
#include "core/unit_calls.hpp"
#include "region/services.hpp"

namespace quire::api {

using base::explain;
using model::message;
using model::node_id;
using region::service;

quire_status status_of_errno(int error) noexcept {
  switch (error) {
    case 0:
      return QUIRE_OK;
    case ENOENT:
      return QUIRE_NOT_FOUND;
    case ENOMEM:
      return QUIRE_NO_MEMORY;
    case EINVAL:
    case EISDIR:
      return QUIRE_INVALID;
    case EOPNOTSUPP:
      return QUIRE_UNSUPPORTED;
    default:
      return QUIRE_IO;
  }
}

container_service::container_service(core::core& e, region::registry& regions, thread_service& threads,
                                     thread_service::procedure ordered)
    : core_(e), regions_(regions), threads_(threads), ordered_(ordered), names_(e.config.self) {
  e.services.set(
      static_cast<std::uint32_t>(service::container),
      [](void* self, core::core&, const message& m, std::span<const std::byte> value) noexcept {
        static_cast<container_service*>(self)->on_message(m, value);
      },
      this, "quire_container_open");
  if (!e.config.survives) return;
  e.survival.on_deaths(
      [](void* self, unsigned node) noexcept {
        auto& of = *static_cast<container_service*>(self);
        services::answers out;
        of.names_.on_death(node_id{static_cast<std::uint16_t>(node)}, out);
        send(of.core_, out);
      },
      this, false);
}

/// The engine has stopped: no thread of a crew is in a linker.
container_service::~container_service() {
  for (const auto& l : links_) {
    if (l != nullptr) l->close();
  }
}

// ---- The driver

void container_service::on_message(const message& m, std::span<const std::byte> value) {
  if (m.a > static_cast<std::uint64_t>(order::last)) return on_io_order(m);
  services::answers out;
  names_.on_request(m, value, out);
  send(core_, out);
}

void container_service::on_io_order(const message& m) {
  const auto what = static_cast<io_order>(m.a);
  if (what > io_order::erase || m.b == 0 || m.b > container::most_containers) return core_.answer(m, QUIRE_INVALID);
  if (what > io_order::note_end) return threads_.start(ordered_, {m, 0, {}});
  std::uint64_t end = 0;
  {
    const std::lock_guard guard(mutex_);
    if (const auto& l = links_[m.b]; l != nullptr) {
      if (what == io_order::note_end) l->note_end(m.c);
      end = l->end();
    }
  }
  core_.answer(m, {}, end);
}

// ---- Questions

base::status container_service::ask_first(order what, std::uint64_t b, std::string_view name, message& m) {
  auto call = services::container_call::ask(around(), what, b, !name.empty());
  return go(
      call, name, [](steps) -> base::status { return {}; }, m);
}

/// Who is lost meanwhile need not know.
void container_service::tell_others(order what, std::uint16_t number, std::string_view name) noexcept {
  for (unsigned node = 1; node < core_.config.nodes; ++node) {
    message m;
    m.a = static_cast<std::uint64_t>(what);
    m.b = number;
    m.c = heads_.load(std::memory_order_acquire);
    const auto to = node_id{static_cast<std::uint16_t>(node)};
    (void)core_.ask(to, static_cast<std::uint32_t>(service::container), m,
                    std::as_bytes(std::span(name.data(), name.size())));
  }
}

container_head* container_service::head_of(std::uint16_t number) const noexcept {
  const std::uint64_t heads = heads_.load(std::memory_order_acquire);
  if (heads == 0) return nullptr;  // that handle is the heap's
  const core::region_ref r = core_.regions.of_handle(heads);
  return r != nullptr ? reinterpret_cast<container_head*>(r->about.base + number * head_bytes) : nullptr;
}

/// Where nodes may be lost it is read by the system view, once it is here.
bool container_service::read_head(std::uint16_t number, container_head& into) const noexcept {
  const container_head* const head = head_of(number);
  if (head == nullptr) return false;
  if (!core_.config.survives) {
    std::memcpy(&into, head, sizeof into);
    return true;
  }
  const auto at = reinterpret_cast<std::uint64_t>(head);
  const core::region_ref r = core_.regions.find(at);
  if (r == nullptr || !core_.bring(at, false).ok()) return false;
  std::memcpy(&into, reinterpret_cast<const std::byte*>(r->system_base.load() + (at - r->about.base)), sizeof into);
  return true;
}

/// It has the content from then on, whoever is lost.
base::status container_service::claim_head(std::uint16_t number) const noexcept {
  if (!core_.config.survives) return {};
  const auto why = core_.bring(reinterpret_cast<std::uint64_t>(head_of(number)), true);
  return why.ok() ? why
                  : base::status(explain(
                        QUIRE_LOST,
                        "quire_container_open(): node 0, which has what nodes know of containers in common, is lost"));
}

void container_service::spread_head(std::uint16_t number) noexcept {
  if (core_.config.survives) (void)core_.calls.push(reinterpret_cast<std::uint64_t>(head_of(number)), head_bytes);
}

container_service::opening_ptr container_service::find(const char* call, quire_container c, base::status& why) {
  const std::uint64_t node = c.id >> 48;
  if (c.id == 0) {
    why = explain(QUIRE_INVALID, "%s(): the handle of the container is zero", call);
    return nullptr;
  }
  if (node != core_.config.self.value() + 1u) {
    why = explain(QUIRE_NOT_FOUND,
                  "%s(): the handle 0x%lx is none of this node; a container is opened on each node that uses it", call,
                  static_cast<unsigned long>(c.id));
    return nullptr;
  }
  const std::lock_guard guard(mutex_);
  const auto found = openings_.find(c.id);
  if (found != openings_.end()) return found->second;
  why = explain(QUIRE_NOT_FOUND, "%s(): the container of the handle 0x%lx was closed, or never opened", call,
                static_cast<unsigned long>(c.id));
  return nullptr;
}

bool container_service::is_container(std::uint64_t region) {
  bool found = false;
  (void)for_each_head([&](std::uint16_t, const container_head& head) { return found = head.region == region; }).ok();
  return found || (region != 0 && region == heads_.load(std::memory_order_acquire));
}

// ---- Opening and closing

quire_container container_service::add(std::uint16_t number, bool writes, const container_head& head) {
  auto o = std::make_shared<opening>();
  o->number = number;
  o->writes = writes;
  o->head = head_of(number);
  if (core_.config.survives) o->head = (o->own_head = std::make_unique<container_head>(head)).get();
  o->base = o->head->base;
  o->capacity = o->head->capacity;
  const bool pins = o->head->atomic != 0;
  const std::lock_guard guard(mutex_);
  if (pins) {
    std::weak_ptr<std::mutex>& of = pins_[number];
    if ((o->pins = of.lock()) == nullptr) of = o->pins = std::make_shared<std::mutex>();
  }
  const std::uint64_t id = next_++ | std::uint64_t{core_.config.self.value() + 1u} << 48;
  openings_.emplace(id, std::move(o));
  return {id};
}

namespace {

constexpr const char* call_name = "quire_container_open";

quire_status explain_refusal(quire_status why, const std::string& name) {
  switch (why) {
    case QUIRE_NOT_FOUND:
      return explain(why, "%s(): there is no container '%s'; with QUIRE_CONTAINER_CREATE it is made", call_name,
                     name.c_str());
    case QUIRE_EXISTS:
      return explain(why, "%s(): there is a container '%s'", call_name, name.c_str());
    case QUIRE_LOST:
      return explain(why,
                     "%s(): there is no container '%s', and none can be made: node 0, which numbers regions, is lost",
                     call_name, name.c_str());
    case QUIRE_LIMIT:
      return explain(why, "%s(): a job has at most %u containers at a time", call_name,
                     unsigned{container::most_containers});
    default:
      return why;
  }
}

}  // namespace

base::status container_service::open(const char* name, const quire_container_options& given, quire_container& made) {
  if (const auto why = container::check_name(call_name, name); !why.ok()) return why;
  if (const auto why = container::check_options(given, static_cast<int>(core_.config.nodes)); !why.ok()) return why;
  const std::string text(name);  // a copy: the name may lie in shared memory
  message m;
  const std::uint64_t flags = ((given.flags & QUIRE_CONTAINER_CREATE) != 0 ? services::container_open::creates : 0) |
                              ((given.flags & QUIRE_CONTAINER_EXCLUSIVE) != 0 ? services::container_open::excludes : 0);
  auto call = services::container_call::open(around(), flags);
  base::status done;
  const auto work = [&](steps what) {
    if (what == steps::make) return done = make(call.number(), text.c_str(), given);
    if (head_of(call.number()) != nullptr) spread_head(call.number());
    if (done.ok()) tell_others(order::noted, call.number(), text);
    return base::status();
  };
  const auto why = go(call, text, work, m);
  if (!why.ok()) return call.makes() ? why : base::status(explain_refusal(why.code(), text));
  if (!call.makes()) return open_there(call.number(), given, made);
  container_head head;
  if (!read_head(call.number(), head))
    return explain(QUIRE_LOST, "%s(): what nodes know of container '%s' in common is lost", call_name, text.c_str());
  made = add(call.number(), (given.flags & QUIRE_CONTAINER_READ_ONLY) == 0, head);
  return {};
}

base::status container_service::open_there(std::uint16_t number, const quire_container_options& given,
                                           quire_container& made) {
  const bool writes = (given.flags & QUIRE_CONTAINER_READ_ONLY) == 0;
  container_head head;
  const bool known = read_head(number, head) && head.there != none;
  if (!known || (core_.config.survives && core_.regions.of_handle(head.region) == nullptr)) {
    finish_opening(number);
    return explain(QUIRE_LOST,
                   "quire_container_open(): the node that made or removed the container is lost, and so is what nodes "
                   "know of it in common");
  }
  if (writes && head.read_only != 0) {
    const std::string name = head.name;
    finish_opening(number);
    return explain(QUIRE_INVALID,
                   "quire_container_open(): the container '%s' is read-only: open it with QUIRE_CONTAINER_READ_ONLY",
                   name.c_str());
  }
  made = add(number, writes, head);
  if ((given.flags & QUIRE_CONTAINER_TRUNCATE) == 0) return {};
  if (given.bytes > head.capacity) {
    const std::uint64_t capacity = head.capacity;
    (void)close(made).ok();
    made = {};
    return explain(QUIRE_BEYOND, "quire_container_open(): bytes is %lu, beyond the container's capacity of %lu",
                   static_cast<unsigned long>(given.bytes), static_cast<unsigned long>(capacity));
  }
  auto why = truncate(made, 0);
  if (why.ok() && given.bytes != 0) why = truncate(made, given.bytes);
  if (why.ok()) return {};
  const std::string said = base::detail();
  (void)close(made).ok();
  made = {};
  return explain(why.code(), "%s", said.c_str());
}

base::status container_service::close(quire_container c) {
  constexpr const char* call = "quire_container_close";
  base::status why;
  const opening_ptr o = find(call, c, why);
  if (o == nullptr) return why;
  {
    const std::lock_guard guard(mutex_);
    if (openings_.erase(c.id) == 0) return explain(QUIRE_NOT_FOUND, "%s(): another thread has closed it", call);
  }
  if (o->writes) why = keep(call, *o, 0, 0);
  const std::string said = base::detail();
  finish_opening(o->number);
  return why.ok() ? why : base::status(explain(why.code(), "%s", said.c_str()));
}

void container_service::end() {
  std::vector<opening_ptr> all;
  {
    const std::lock_guard guard(mutex_);
    for (const auto& [id, o] : openings_) all.push_back(o);
  }
  for (const auto& o : all) {
    if (!o->writes || keep("quire_end", *o, 0, 0).ok()) continue;
    base::log(base::log_level::error, "container '%s': what was written last could not be kept: %s", o->head->name,
              base::detail());
  }
}

base::status container_service::list(int (*each)(void*, const char*, std::uint64_t, unsigned), void* context) {
  return for_each_head([&](std::uint16_t, const container_head& head) {
    char name[sizeof head.name];
    std::memcpy(name, head.name, sizeof name);
    name[sizeof name - 1] = 0;
    const std::uint64_t bytes = head.bytes;
    const unsigned flags = head.read_only != 0 ? QUIRE_CONTAINER_READ_ONLY : 0;
    return __atomic_load_n(&head.there, __ATOMIC_ACQUIRE) == named && each(context, name, bytes, flags) != 0;
  });
}

}  // namespace quire::api
