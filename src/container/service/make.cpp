// SPDX-License-Identifier: BSD-3-Clause
// Containers come and go: the work of a thread that makes one, in the order of services/container_making.hpp, and what
// other nodes do for it. Who removes one goes the way back.
#include <cerrno>
#include <cstring>
#include <new>

#include "container/service/service.hpp"
#include "base/detail.hpp"
#include "base/log.hpp"
#include "core/configuration.hpp"
#include "core/region_slot.hpp"
#include "core/stored_units.hpp"
#include "region/services.hpp"

namespace quire::api {

using base::explain;
using model::message;

namespace {
constexpr const char* opens = "quire_container_open";
}

// ---- Orders

void container_service::carry_out(const message& m) noexcept {
  const answer got = do_here(static_cast<io_order>(m.a), static_cast<std::uint16_t>(m.b), m.c);
  core_.as_driver([&] { core_.answer(m, got.why, got.a, got.b); });
}

/// On this node the calling thread does it itself.
container_service::answer container_service::ask(unsigned node, io_order what, std::uint64_t b, std::uint64_t c) {
  if (node == core_.config.self.value()) return do_here(what, static_cast<std::uint16_t>(b), c);
  message m;
  m.a = static_cast<std::uint64_t>(what);
  m.b = b;
  m.c = c;
  const auto why = core_.ask(model::node_id{static_cast<std::uint16_t>(node)},
                             static_cast<std::uint32_t>(region::service::container), m, {});
  return {why, m.a, m.b};
}

std::shared_ptr<container::link> container_service::link_of(std::uint16_t number) {
  const std::lock_guard guard(mutex_);
  return links_[number];
}

container_service::answer container_service::do_here(io_order what, std::uint16_t number, std::uint64_t c) noexcept
    try {
  const auto answer_of = [](int error) { return answer{status_of_errno(error), static_cast<std::uint64_t>(error), 0}; };
  if (head_of(number) == nullptr) {  // the first container of the job: this node has not heard of heads yet
    message m;
    if (const auto why = ask_first(order::heads, 0, {}, m); !why.ok()) return {why};
    heads_.store(m.a, std::memory_order_release);
  }
  container_head head;
  if (what != io_order::detach && !read_head(number, head)) return {QUIRE_LOST};  // who asked is lost
  switch (what) {
    case io_order::attach:
      return attach_here(number, head, static_cast<unsigned>(c));
    case io_order::examine:
      return examine_here(head);
    case io_order::offer:
      return offer_here(number, head);
    case io_order::identify:
    case io_order::erase: {
      const quire_linker* const l = linkers_.find(std::string(head.linker));
      if (l == nullptr) return {QUIRE_NOT_FOUND, ENOENT, no_linker};
      const std::string name(head.name), text(head.what);
      const container::link_names names{name.c_str(), text.c_str()};
      if (what == io_order::erase) return answer_of(container::link::remove(*l, names));
      std::uint64_t identity = 0;
      const int error = container::link::identify(*l, names, identity);
      return error == 0 ? answer{{}, identity, 0} : answer_of(error);
    }
    case io_order::written:
    case io_order::note_end:
    case io_order::set_end:
    case io_order::tell_end: {
      const auto l = link_of(number);
      if (l == nullptr) return {QUIRE_NOT_FOUND};
      if (what == io_order::written) return {{}, l->end(), 0};
      if (what == io_order::tell_end) return answer_of(l->tell_end(c));
      what == io_order::note_end ? l->note_end(c) : l->set_end(c);
      return {};
    }
    case io_order::detach: {
      core_.stored.withdraw(number);
      std::shared_ptr<container::link> l;
      {
        const std::lock_guard guard(mutex_);
        l = std::exchange(links_[number], nullptr);
      }
      if (l != nullptr) l->close();
      return {};
    }
    default:
      return {QUIRE_INVALID};
  }
} catch (const std::bad_alloc&) {
  return {QUIRE_NO_MEMORY, ENOMEM, 0};
} catch (...) {
  base::log(base::log_level::error,
            "a linker of container %u has thrown an exception, which counts as an error of input and output (EIO)",
            unsigned{number});
  return {QUIRE_IO, EIO, 0};
}

container_service::answer container_service::attach_here(std::uint16_t number, const container_head& head,
                                                         unsigned flags) {
  const quire_linker* const l = linkers_.find(std::string(head.linker));
  if (l == nullptr) return {QUIRE_NOT_FOUND, ENOENT, no_linker};
  std::uint64_t bytes = 0;
  int error = 0;
  const std::string name(head.name), text(head.what);
  auto made = container::link::open(*l, {name.c_str(), text.c_str()}, flags, bytes, error);
  if (made == nullptr) return {status_of_errno(error), static_cast<std::uint64_t>(error), 0};
  const std::lock_guard guard(mutex_);
  links_[number] = std::move(made);
  return {{}, bytes, 0};
}

container_service::answer container_service::offer_here(std::uint16_t number, const container_head& head) {
  const auto l = link_of(number);
  if (l == nullptr) return {QUIRE_NOT_FOUND};
  l->begin({head.unit_bytes, head.all != 0 ? core_.config.nodes : 1, core_.config.self.value()}, head.linked_bytes);
  core_.stored.offer(number, std::make_unique<container::linked_store>(l));
  return {};
}

// ---- Making

struct container_service::making {
  std::uint16_t number = 0;
  const quire_container_options* given = nullptr;
  const quire_linker* linker = nullptr;  ///< null: "memory"
  container_head* head = nullptr;
  container::surroundings around{};
  container::shape shape{};
  quire_region region{};
};

base::status container_service::make_heads() {
  quire_region_options options{};
  options.size = sizeof options;
  options.placement = core_.config.survives ? QUIRE_PLACE_NODE : QUIRE_PLACE_MODULO;  // without node 0 none is made
  quire_region region{};
  if (const auto why = regions_.others().create(options, head_bytes * (container::most_containers + 1u), region);
      !why.ok())
    return why;
  message m;
  if (const auto why = ask_first(order::heads, region.id, {}, m); !why.ok()) return why;
  heads_.store(region.id, std::memory_order_release);
  return {};
}

base::status container_service::make(std::uint16_t number, const char* name, const quire_container_options& given) {
  making what{number, &given, nullptr, nullptr, {}, {}, {}};
  const char* const linker = given.linker != nullptr ? given.linker
                             : given.what != nullptr ? "file"
                                                     : container::memory_linker;
  if (std::string_view(linker) != container::memory_linker) {
    what.linker = linkers_.find(linker);
    if (what.linker == nullptr)
      return explain(QUIRE_NOT_FOUND, "%s(): this node has no linker '%s' (quire_linker_register())", opens, linker);
    if ((what.linker->can & QUIRE_LINK_WRITE) == 0 && (given.flags & QUIRE_CONTAINER_READ_ONLY) == 0) {
      return explain(QUIRE_INVALID,
                     "%s(): nothing is written by linker '%s': open the container with QUIRE_CONTAINER_READ_ONLY",
                     opens, linker);
    }
    if (given.consistency != QUIRE_SEQUENTIAL) {
      return explain(
          QUIRE_UNSUPPORTED,
          "%s(): a container with linker '%s' has sequential consistency; QUIRE_RELEASE goes with \"memory\"", opens,
          linker);
    }
  }
  if (core_.config.survives && what.linker == nullptr) {
    return explain(QUIRE_UNSUPPORTED,
                   "%s(): where the job goes on when a node is lost, a container is of a linker that has its content: "
                   "not \"memory\"",
                   opens);
  }
  if (heads_.load() == 0) {
    if (const auto why = make_heads(); !why.ok()) return why;
  }
  if (const auto why = claim_head(number); !why.ok()) return why;
  container_head& head = *(what.head = head_of(number));
  const std::uint64_t mutex = head.mutex;
  std::memset(static_cast<void*>(&head), 0, sizeof head);
  head.mutex = mutex;
  if (mutex == 0) {
    quire_mutex made{};
    if (const auto why = quire_mutex_create(&made); why != QUIRE_OK) return why;
    head.mutex = made.id;
  }
  std::strncpy(head.name, name, sizeof head.name - 1);
  std::strncpy(head.linker, linker, sizeof head.linker - 1);
  if (given.what != nullptr) std::strncpy(head.what, given.what, sizeof head.what - 1);
  head.read_only = (given.flags & QUIRE_CONTAINER_READ_ONLY) != 0 ? 1 : 0;
  head.atomic = given.atomic != 0 ? 1 : 0;
  const auto why = link_up(what);
  if (why.ok()) __atomic_store_n(&head.there, named, __ATOMIC_RELEASE);
  return why;
}

/// What is asked for, as far as it can be refused before anything is opened.
base::status container_service::plan(making& what, services::container_making::wanted& wanted) {
  container_head& head = *what.head;
  const auto& given = *what.given;
  wanted = {.nodes = core_.config.nodes, .survives = core_.config.survives, .linked = what.linker != nullptr};
  what.around = {core_.config.bytes, what.linker, UINT64_MAX};
  if (what.linker == nullptr) return {};
  wanted.at_one = given.placement == QUIRE_PLACE_NODE;
  wanted.home = wanted.at_one ? static_cast<unsigned>(given.home) : core_.config.self.value();
  wanted.identifies = what.linker->identify != nullptr;
  wanted.anywhere = (what.linker->can & QUIRE_LINK_ANYWHERE) != 0;
  // Content goes when nothing is in the way any more; where the linker cannot be told then, it is when it opens.
  wanted.cuts = (given.flags & QUIRE_CONTAINER_TRUNCATE) != 0 && what.linker->truncate != nullptr;
  head.linked = 1;
  head.can = what.linker->can;
  head.grain = static_cast<std::uint32_t>(what.linker->grain);
  head.home = wanted.home;
  std::uint64_t unit = 0;
  if (const auto why = container::unit_of(given, what.linker, unit); !why.ok()) return why;
  if ((given.flags & QUIRE_CONTAINER_TRUNCATE) == 0) return {};
  container::surroundings without = what.around;
  container::shape shape;
  without.linked_bytes = 0;
  return container::shape_of(given, without, shape);
}

base::status container_service::attach(making& what, unsigned node, bool first, bool cuts) {
  constexpr unsigned first_only = QUIRE_CONTAINER_CREATE | QUIRE_CONTAINER_EXCLUSIVE | QUIRE_CONTAINER_TRUNCATE;
  const unsigned left_out = !first ? first_only : cuts ? unsigned{QUIRE_CONTAINER_TRUNCATE} : 0;
  const answer got = ask(node, io_order::attach, what.number, what.given->flags & ~left_out);
  if (got.why.ok()) {
    if (first) what.head->linked_bytes = cuts ? 0 : got.a;
    return {};
  }
  if (got.b == no_linker) {
    return explain(QUIRE_NOT_FOUND,
                   "%s(): node %u has no linker '%s': all nodes register it before (quire_linker_register())", opens,
                   node, what.head->linker);
  }
  const char* const reason = got.a != 0 && got.a < 4096 ? std::strerror(static_cast<int>(got.a)) : "it gave no reason";
  return explain(got.why.code(), "%s(): linker '%s' cannot open '%s' on node %u: %s", opens, what.head->linker,
                 what.head->what, node, reason);
}

base::status container_service::take_shape(making& what, bool everywhere) {
  container_head& head = *what.head;
  if (everywhere) (what.given->placement == QUIRE_PLACE_NODE ? head.spare : head.all) = 1;
  if (what.linker != nullptr) what.around.linked_bytes = head.linked_bytes;
  if (const auto why = container::shape_of(*what.given, what.around, what.shape); !why.ok()) return why;
  head.unit_bytes = what.shape.unit_bytes;
  if (head.linked_bytes == UINT64_MAX) head.linked_bytes = what.shape.bytes;
  return {};
}

base::status container_service::create(making& what) {
  const container_head& head = *what.head;
  const auto& given = *what.given;
  quire_region_options options{};
  options.size = sizeof options;
  options.unit_bytes = what.shape.unit_bytes;
  options.consistency = given.consistency;
  const bool at_one = what.linker != nullptr ? head.all == 0 : given.placement == QUIRE_PLACE_NODE;
  options.placement = at_one ? QUIRE_PLACE_NODE : what.linker != nullptr ? QUIRE_PLACE_MODULO : QUIRE_PLACE_BLOCK;
  if (at_one) options.home = what.linker != nullptr ? static_cast<int>(head.home) : given.home;
  const auto why =
      regions_.others().create(options, what.shape.capacity, what.region, what.linker != nullptr ? what.number : 0);
  if (why.ok() || *base::detail() != 0) return why;
  return explain(why.code(), "%s(): the region for container '%s' could not be made (see the lines above)", opens,
                 head.name);
}

base::status container_service::settle(making& what) {
  container_head& head = *what.head;
  head.region = what.region.id;
  head.base = core_.regions.of_handle(what.region.id)->about.base;
  head.capacity = what.shape.capacity;
  head.bytes = head.announced = head.linked != 0 ? head.linked_bytes : what.shape.bytes;
  if (what.shape.bytes <= head.bytes) return {};
  opening o{what.number, true, &head, {}, head.base, head.capacity, {}};
  return grow(opens, o, what.shape.bytes);
}

base::status container_service::link_up(making& what) {
  using work = services::container_making::work;
  services::container_making::wanted wanted;
  if (const auto why = plan(what, wanted); !why.ok()) return why;
  services::container_making steps(wanted);
  std::uint64_t identity = 0;
  const auto does = [&](const services::container_making::step& s) -> base::status {
    switch (s.what) {
      case work::attach:
        return attach(what, s.node, s.first, wanted.cuts);
      case work::identify: {
        const answer got = ask(s.node, io_order::identify, what.number, 0);
        identity = got.a;
        return got.why;
      }
      case work::shape:
        return take_shape(what, steps.everywhere());
      case work::offer:
        return ask(s.node, io_order::offer, what.number, 0).why;
      case work::create:
        return create(what);
      case work::cut: {
        const answer got = ask(s.node, io_order::tell_end, what.number, 0);
        return got.why.ok() ? got.why
                            : base::status(explain(got.why.code(), "%s(): linker '%s' cannot truncate '%s'", opens,
                                                   what.head->linker, what.head->what));
      }
      case work::settle:
        return settle(what);
      case work::destroy:
        return regions_.others().destroy(what.region);
      default:
        return ask(s.node, io_order::detach, what.number, 0).why;
    }
  };
  std::string said;
  auto next = steps.begin();
  while (next.what != work::over) {
    base::clear_detail();
    const auto why = does(next);
    if (!why.ok() && next.what != work::identify && next.what != work::destroy && next.what != work::detach)
      said = base::detail();
    next = steps.on_done(why.code(), identity);
  }
  base::clear_detail();
  return next.why == QUIRE_OK || said.empty() ? base::status(next.why)
                                              : base::status(explain(next.why, "%s", said.c_str()));
}

// ---- Removing

/// Its region has gone.
void container_service::withdraw(container_head& head, std::uint16_t number) {
  __atomic_store_n(&head.there, none, __ATOMIC_RELEASE);
  if (core_.config.survives) {
    spread_head(number);
    tell_others(order::unnoted, number, {});
  }
  for_each_io(head, [&](unsigned node) { (void)ask(node, io_order::detach, number, 0); });
}

namespace {

constexpr const char* call = "quire_container_remove";

quire_status explain_removal(quire_status why, const std::string& name) {
  switch (why) {
    case QUIRE_NOT_FOUND:
      return explain(why, "%s(): there is no container '%s'", call, name.c_str());
    case QUIRE_BUSY:
      return explain(why, "%s(): somebody has container '%s' open (quire_container_close())", call, name.c_str());
    case QUIRE_LOST:
      return explain(why, "%s(): container '%s' stays: node 0, which numbers regions, is lost", call, name.c_str());
    default:
      return why;
  }
}

}  // namespace

base::status container_service::remove(const char* name, unsigned flags) {
  if (const auto why = container::check_name(call, name); !why.ok()) return why;
  if ((flags & ~unsigned{QUIRE_CONTAINER_REMOVE_CONTENT}) != 0) {
    return explain(QUIRE_INVALID, "%s(): flags is 0x%x: it may be 0 or QUIRE_CONTAINER_REMOVE_CONTENT", call, flags);
  }
  const std::string text(name);
  message m;
  answer erased;
  auto removal = services::container_call::remove(around());
  std::string linker;
  bool erases = false;
  const auto work = [&](steps what) -> base::status {
    const std::uint16_t number = removal.number();
    container_head& head = *head_of(number);
    if (what == steps::destroy) return regions_.others().destroy({head.region});
    if (what == steps::withdraw) {
      withdraw(head, number);
      if (erases) erased = ask(head.home, io_order::erase, number, 0);
      return {};
    }
    if (const auto lost = claim_head(number); !lost.ok()) return lost;
    linker = head.linked != 0 ? head.linker : "";
    erases = flags != 0 && head.linked != 0;
    const quire_linker* const l = erases ? linkers_.find(linker) : nullptr;
    if (!erases || (l != nullptr && l->remove != nullptr)) return {};
    return explain(QUIRE_UNSUPPORTED,
                   "%s(): linker '%s' cannot remove content: do without QUIRE_CONTAINER_REMOVE_CONTENT", call,
                   linker.c_str());
  };
  const auto why = go(removal, text, work, m);
  if (!why.ok()) return removal.number() != 0 ? why : base::status(explain_removal(why.code(), text));
  if (erased.why.ok()) return {};
  const char* const reason =
      erased.a != 0 && erased.a < 4096 ? std::strerror(static_cast<int>(erased.a)) : "it gave no reason";
  return explain(QUIRE_IO, "%s(): the container has gone, but linker '%s' cannot remove the content: %s", call,
                 linker.c_str(), reason);
}

}  // namespace quire::api
