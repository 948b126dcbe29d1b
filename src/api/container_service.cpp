// SPDX-License-Identifier: BSD-3-Clause
#include "api/container_service.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "api/names.hpp"
#include "base/clock.hpp"
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
using container::name_table;
using model::message;
using model::node_id;
using region::service;

namespace {
constexpr std::uint64_t creates = 1, excludes = 2, makes = 1u << 16;
constexpr std::uint64_t for_good = UINT64_MAX;  ///< beside QUIRE_LOST: no other node can do it either
}  // namespace

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

container_service::container_service(core::core& e, region::registry& regions, thread_service& threads)
    : core_(e), regions_(regions), threads_(threads) {
  e.services.set(
      static_cast<std::uint32_t>(service::container),
      [](void* self, core::core&, const message& m, std::span<const std::byte> value) noexcept {
        static_cast<container_service*>(self)->on_message(m, value);
      },
      this, "quire_container_open");
  if (!e.config.survives) return;
  e.survival.on_deaths(
      [](void* self, unsigned node) noexcept { static_cast<container_service*>(self)->on_death(node); }, this, false);
}

/// The engine has stopped: no thread of a crew is in a linker.
container_service::~container_service() {
  for (const auto& l : links_) {
    if (l != nullptr) l->close();
  }
}

// ---- The driver

void container_service::on_message(const message& m, std::span<const std::byte> value) {
  const auto what = static_cast<order>(m.a);
  const bool has_name = what == order::open || (what >= order::look_up && what <= order::take_away);
  const bool has_number = !has_name && what != order::heads;
  if (what > order::erase || (has_number && (m.b == 0 || m.b > container::most_containers)))
    return core_.answer(m, QUIRE_INVALID);
  if (!is_for_driver(what)) {
    threads_.start(start_container_order, {m, 0, {}});
    return;
  }
  if (has_name) return on_name(m, text_of(value));
  const auto number = static_cast<std::uint16_t>(m.b);
  switch (what) {
    case order::closed:
    case order::settled:
      return on_close(m);
    case order::lock:
    case order::test_lock:
      return on_lock(m, value);
    case order::heads:
      if (m.b != 0) first_heads_ = m.b;
      core_.answer(m, {}, first_heads_, names_.last());
      break;
    case order::noted:
      first_heads_ = m.c;
      names_.note(text_of(value), number);
      break;
    case order::unnoted:
      names_.unnote(number);
      break;
    case order::made:
    case order::failed:
    case order::stays:
    case order::gone:
      note_change(what, number);
      break;
    case order::written: {
      const std::lock_guard guard(mutex_);
      const auto& l = links_[number];
      return core_.answer(m, {}, l != nullptr ? l->end() : 0);
    }
    default: {
      const std::lock_guard guard(mutex_);
      if (const auto& l = links_[number]; l != nullptr) l->note_end(m.c);
    }
  }
  if (what != order::heads) core_.answer(m, {});
  if (what != order::note_end) retry();
}

/// A node that answers for node 0 counts nothing: nothing can be made or removed.
void container_service::note_change(order what, std::uint16_t number) noexcept {
  if (core_.config.self.value() != 0) return;
  switch (what) {
    case order::made:
      return names_.made(number);
    case order::failed:
      return names_.failed(number);
    case order::stays:
      return names_.stays(number);
    default:
      names_.gone(number);
      locks_.drop(number);
  }
}

/// Answers, or keeps it until something has changed.
void container_service::on_name(const message& m, std::string_view name) {
  using outcome = name_table::outcome;
  const bool looks = static_cast<order>(m.a) == order::look_up;
  if (!names_held_ && core_.config.self.value() != 0) return on_name_after_node_0(m, name);
  const auto got = names_held_ && !looks ? name_table::answer{outcome::wait, 0} : do_name(m, name);
  switch (got.what) {
    case outcome::found:
      return core_.answer(m, {}, got.number | std::uint64_t{got.replaced} << 16, first_heads_);
    case outcome::make:
      return core_.answer(m, {}, got.number | makes, first_heads_);
    case outcome::none:
      return core_.answer(m, QUIRE_NOT_FOUND);
    case outcome::exists:
      return core_.answer(m, QUIRE_EXISTS);
    case outcome::busy:
      return core_.answer(m, QUIRE_BUSY);
    case outcome::full:
      return core_.answer(m, QUIRE_LIMIT);
    case outcome::wait:
      keep_waiting(m, name);
  }
}

name_table::answer container_service::do_name(const message& m, std::string_view name) {
  const unsigned by = m.from.value();
  switch (static_cast<order>(m.a)) {
    case order::open:
      return names_.open(name, (m.b & creates) != 0, (m.b & excludes) != 0, first_heads_ == 0, by);
    case order::look_up:
      return names_.look_up(name);
    case order::unlink:
      return names_.unlink(name, by);
    case order::rename: {
      const std::size_t end = std::min(name.find('\0'), name.size() - 1);
      return names_.rename(name.substr(0, end), name.substr(end + 1), m.b != 0, by);
    }
    default:
      return names_.take_away(name, by);
  }
}

void container_service::on_name_after_node_0(const message& m, std::string_view name) {
  const auto got = names_.look_up(name);
  const auto what = static_cast<order>(m.a);
  const bool there = got.what == name_table::outcome::found, opens = what == order::open;
  if (opens && there && (m.b & excludes) != 0) return core_.answer(m, QUIRE_EXISTS);
  if ((opens || what == order::look_up) && there) return core_.answer(m, {}, got.number, first_heads_);
  if (!there && !(opens && (m.b & creates) != 0)) return core_.answer(m, QUIRE_NOT_FOUND);
  core_.answer(m, QUIRE_LOST, for_good);
}

/// One that goes would change what a checkpoint has told. A node that answers for node 0 counts nobody.
void container_service::on_close(const message& m) {
  if (core_.config.self.value() != 0) return core_.answer(m, {});
  const auto number = static_cast<std::uint16_t>(m.b);
  const bool settles = static_cast<order>(m.a) == order::settled;
  if (names_held_ && !settles && names_.goes_when_closed(number)) return keep_waiting(m, {});
  const bool goes = settles ? names_.settled(number, m.from.value()) : names_.closed(number, m.from.value());
  core_.answer(m, {}, goes ? number : 0);
  retry();
}

/// Who waits for what the dead node was making asks anew.
void container_service::on_death(unsigned node) {
  std::erase_if(waiting_, [&](const waiting& w) { return w.m.from.value() == node; });
  if (core_.config.self.value() == 0) names_.lost(node);
  retry();
}

void container_service::keep_waiting(const message& m, std::string_view text) {
  waiting w{m, {}, 0};
  w.bytes = text.copy(w.text.data(), w.text.size());
  waiting_.push_back(w);
}

void container_service::retry() {
  if (waiting_.empty()) return;
  for (const waiting& w : std::exchange(waiting_, {})) {
    if (static_cast<order>(w.m.a) == order::closed) {
      on_close(w.m);
    } else {
      on_name(w.m, {w.text.data(), w.bytes});
    }
  }
}

// ---- Questions

base::status container_service::ask_first(order what, std::uint64_t b, std::string_view name, message& m) {
  for (;;) {
    unsigned leader = leader_.load();
    m = {};
    m.a = static_cast<std::uint64_t>(what);
    m.b = b;
    const auto to = node_id{static_cast<std::uint16_t>(leader)};
    const auto why = core_.ask(to, static_cast<std::uint32_t>(service::container), m,
                               std::as_bytes(std::span(name.data(), name.size())));
    if (why != QUIRE_LOST || m.a == for_good || leader + 1 == core_.config.nodes) return why;
    (void)leader_.compare_exchange_strong(leader, leader + 1);
  }
}

void container_service::tell_first(order what, std::uint64_t b) noexcept {
  message m;
  (void)ask_first(what, b, {}, m);  // somebody is there as long as the job is
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

base::status container_service::open(const char* name, const quire_container_options& given, quire_container& made) {
  constexpr const char* call = "quire_container_open";
  if (const auto why = container::check_name(call, name); !why.ok()) return why;
  if (const auto why = container::check_options(given, static_cast<int>(core_.config.nodes)); !why.ok()) return why;
  const std::string text(name);  // a copy: the name may lie in shared memory
  message m;
  const std::uint64_t flags = ((given.flags & QUIRE_CONTAINER_CREATE) != 0 ? creates : 0) |
                              ((given.flags & QUIRE_CONTAINER_EXCLUSIVE) != 0 ? excludes : 0);
  const auto why = ask_first(order::open, flags, text, m);
  switch (why.code()) {
    case QUIRE_OK:
      break;
    case QUIRE_NOT_FOUND:
      return explain(QUIRE_NOT_FOUND, "%s(): there is no container '%s'; with QUIRE_CONTAINER_CREATE it is made", call,
                     text.c_str());
    case QUIRE_EXISTS:
      return explain(QUIRE_EXISTS, "%s(): there is a container '%s'", call, text.c_str());
    case QUIRE_LOST:
      return explain(QUIRE_LOST,
                     "%s(): there is no container '%s', and none can be made: node 0, which numbers regions, is lost",
                     call, text.c_str());
    case QUIRE_LIMIT:
      return explain(QUIRE_LIMIT, "%s(): a job has at most %u containers at a time", call,
                     unsigned{container::most_containers});
    default:
      return why;
  }
  const auto number = static_cast<std::uint16_t>(m.a);
  if (m.b != 0) heads_.store(m.b, std::memory_order_release);
  if ((m.a & makes) == 0) return open_there(number, given, made);
  const auto done = make(number, text.c_str(), given);
  const std::string said = base::detail();
  if (core_.config.survives && head_of(number) != nullptr) {
    spread_head(number);
    if (done.ok()) tell_others(order::noted, number, text);
  }
  tell_first(done.ok() ? order::made : order::failed, number);
  if (!done.ok()) return explain(done.code(), "%s", said.c_str());
  container_head head;
  if (!read_head(number, head))
    return explain(QUIRE_LOST, "%s(): what nodes know of container '%s' in common is lost", call, text.c_str());
  made = add(number, (given.flags & QUIRE_CONTAINER_READ_ONLY) == 0, head);
  return {};
}

base::status container_service::open_there(std::uint16_t number, const quire_container_options& given,
                                           quire_container& made) {
  const bool writes = (given.flags & QUIRE_CONTAINER_READ_ONLY) == 0;
  container_head head;
  if (!read_head(number, head) || head.there == 0) {
    finish_opening(order::closed, number);
    return explain(QUIRE_LOST,
                   "quire_container_open(): the node that made or removed the container is lost, and so is what nodes "
                   "know of it in common");
  }
  if (writes && head.read_only != 0) {
    const std::string name = head.name;
    finish_opening(order::closed, number);
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
  finish_opening(order::closed, o->number);
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
