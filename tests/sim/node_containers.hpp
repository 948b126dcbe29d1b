// SPDX-License-Identifier: BSD-3-Clause
// Containers on a simulated node, beside its memory: names, calls and makings are decided by the machines of
// src/services, and between them a thread does what container/service does in a process. Heads lie in shared memory;
// a container's region comes by the keeper, and each node of its I/O is offered the file by an order that a thread of
// that node carries out. A container is never longer or shorter, and has no other name.
//
// It is told as wrong: what is opened is not there, has another name, or has another region than all others use; and
// names that come or go while a checkpoint holds them. What a container gives is what was written last into its file,
// by whichever container: world::latest() of a new one's addresses says so.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "container/name_table.hpp"
#include "core/core.hpp"
#include "core/region_slot.hpp"
#include "core/services.hpp"
#include "core/stored_units.hpp"
#include "region/services.hpp"
#include "services/container_call.hpp"
#include "services/container_making.hpp"
#include "services/containers.hpp"
#include "sim/whole/actor.hpp"
#include "tests/sim/shared_file.hpp"

namespace quire::whole {

/// Of the whole job.
struct container_shelf {
  static constexpr std::uint64_t pages = 2;  ///< of a container
  /// Of heads: as many numbers as a page has room for.
  static constexpr std::uint64_t head_bytes = 32, most_numbers = shared_file::page / head_bytes;

  std::uint64_t heads = 0;                                                    ///< address of a page that all nodes have
  std::map<std::uint64_t, shared_file> files{};                               ///< by name
  std::map<std::uint64_t, std::map<std::uint64_t, std::uint64_t>> written{};  ///< by name and offset: last
  std::map<std::uint64_t, std::uint64_t> regions{};                           ///< handles of those there are, by name
  bool names_held = false;
  std::uint64_t made = 0, gone = 0;

  static std::string text_of(std::uint64_t name) { return "container " + std::to_string(name); }
};

class node_containers {
 public:
  node_containers(world& w, node& here, container_shelf& all) : world_(w), here_(here), all_(all), names_(here.self()) {
    names_.load_heads(1);
    here_.core().services.set(
        static_cast<std::uint32_t>(region::service::container),
        [](void* self, core::core&, const message& m, auto text) noexcept {
          static_cast<node_containers*>(self)->on_message(m, text);
        },
        this, "quire_container_open");
  }
  node_containers(const node_containers&) = delete;
  node_containers& operator=(const node_containers&) = delete;

  struct opened {
    std::uint16_t number = 0;
    std::uint64_t base = 0;
  };
  // A thread of this node.
  /// Makes it if there is none.
  opened open(actor& a, std::uint64_t name) {
    auto call = services::container_call::open(around(), services::container_open::creates);
    const auto why = go(call, container_shelf::text_of(name), [&](steps what) {
      return what == steps::make ? make(a, call.number(), name) : quire_status{QUIRE_OK};
    });
    a.must(why, "the opening of a container");
    if (world_.failed()) return {};
    const std::uint64_t handle = a.read(head(call.number(), word::region));
    if (a.read(head(call.number(), word::there)) != named) world_.fail("a container that is opened is not there");
    if (a.read(head(call.number(), word::name)) != name) world_.fail("a container that is opened has another name");
    if (all_.regions[name] != handle) world_.fail("a container that is opened has another region");
    return {call.number(), a.read(head(call.number(), word::base))};
  }
  /// What threads have written before is in the file.
  void sync(actor& a, const opened& which) {
    if (world_.failed()) return;
    a.must(here_.core().stored.write_back(which.base, container_shelf::pages * shared_file::page),
           "the sync of a container");
  }
  void close(actor& a, const opened& which) {
    auto call = services::container_call::finish(around(), order::closed, which.number);
    a.must(go(call, {}, [](steps) { return quire_status{QUIRE_OK}; }), "the closing of a container");
  }
  /// Unless somebody has it open, or there is none. The content stays in the file.
  void remove(actor& a, std::uint64_t name) {
    auto call = services::container_call::remove(around());
    const auto why = go(call, container_shelf::text_of(name), [&](steps what) {
      return what == steps::destroy    ? destroy(a, call.number(), name)
             : what == steps::withdraw ? withdraw(a, call.number())
                                       : quire_status{QUIRE_OK};
    });
    if (why != QUIRE_NOT_FOUND) a.must(why, "the removal of a container", QUIRE_BUSY);
  }

  // Node 0: a checkpoint.
  void hold_names() {
    for (bool held = false; !held && !world_.failed();) {
      here_.core().as_driver([&] { held = names_.hold(); });
      if (!held) world_.sleep(world_.net().rng().below(5'000));
    }
    all_.names_held = true;
  }
  void let_names_go() {
    all_.names_held = false;
    here_.core().as_driver([&] {
      services::answers out;
      names_.let_go(out);
      send(out);
    });
  }
  /// Calls that are not over.
  [[nodiscard]] std::size_t kept() const noexcept { return names_.waiting(); }

 private:
  using message = model::message;
  using order = services::container_order;
  using steps = services::container_call::step::kind;
  using making = services::container_making::work;
  /// Of the node that does I/O; `a` of a request, after those of container_order.
  enum class io_order : std::uint64_t { attach = static_cast<std::uint64_t>(order::last) + 1, offer, detach };
  enum class word : std::uint64_t { there, name, region, base };
  static constexpr std::uint64_t none = 0, named = 1;

  [[nodiscard]] services::container_call::surroundings around() const { return {world_.nodes(), false}; }
  [[nodiscard]] std::uint64_t head(std::uint16_t number, word which) const {
    return all_.heads + number % container_shelf::most_numbers * container_shelf::head_bytes +
           static_cast<std::uint64_t>(which) * sizeof(std::uint64_t);
  }

  /// A thread goes through the steps of a call.
  template <class Does>
  quire_status go(services::container_call& call, std::string_view name, Does&& does) {
    auto s = call.begin(0);
    while (s.what != steps::over && !world_.failed()) {
      if (s.what != steps::ask) {
        s = call.on_done(does(s.what));
        continue;
      }
      message m;
      m.a = static_cast<std::uint64_t>(s.order);
      m.b = s.b;
      const auto why = ask(s.node, m, s.has_name ? name : std::string_view{});
      s = call.on_answer(why, m.a, m.b);
    }
    return s.why;
  }
  quire_status ask(unsigned to, message& m, std::string_view text) {
    return here_.core()
        .ask(node_id{static_cast<std::uint16_t>(to)}, static_cast<std::uint32_t>(region::service::container), m,
             std::as_bytes(std::span(text)))
        .code();
  }

  // ---- Making and removing

  quire_status make(actor& a, std::uint16_t number, std::uint64_t name) {
    if (all_.names_held) world_.fail("a container is made while a checkpoint holds names");
    if (all_.regions.contains(name)) world_.fail("two containers have one name");
    a.write(head(number, word::name), name);
    services::container_making all({.nodes = world_.nodes(),
                                    .home = a.node_number(),
                                    .linked = true,
                                    .at_one = a.draw.chance(30),
                                    .anywhere = true});
    quire_region made{};
    auto s = all.begin();
    while (s.what != making::over && !world_.failed()) s = all.on_done(do_making(a, s, number, all.everywhere(), made));
    if (s.why != QUIRE_OK || world_.failed()) return s.why;
    const std::uint64_t base = here_.core().regions.of_handle(made.id)->about.base;
    for (const auto& [offset, value] : all_.written[name]) world_.wrote(base + offset, value, here_.self());
    world_.watch_region(here_.core().regions.of_handle(made.id)->about.id);
    all_.regions[name] = made.id;
    a.write(head(number, word::region), made.id);
    a.write(head(number, word::base), base);
    a.write(head(number, word::there), named);
    ++all_.made;
    return QUIRE_OK;
  }
  quire_status do_making(actor& a, const services::container_making::step& s, std::uint16_t number, bool everywhere,
                         quire_region& made) {
    switch (s.what) {
      case making::attach:
        return ask_io(s.node, io_order::attach, number);
      case making::offer:
        return ask_io(s.node, io_order::offer, number);
      case making::detach:
        return ask_io(s.node, io_order::detach, number);
      case making::create: {
        quire_region_options how{};
        how.unit_bytes = shared_file::page;
        how.consistency = QUIRE_SEQUENTIAL;
        how.placement = everywhere ? QUIRE_PLACE_MODULO : QUIRE_PLACE_NODE;
        how.home = static_cast<int>(a.node_number());
        return here_.keeper().create(how, container_shelf::pages * shared_file::page, made, number).code();
      }
      case making::destroy:
        return here_.keeper().destroy(made).code();
      default:
        return QUIRE_OK;
    }
  }
  /// Nobody uses it, or comes to it, meanwhile.
  quire_status destroy(actor& a, std::uint16_t number, std::uint64_t name) {
    if (all_.names_held) world_.fail("a container goes while a checkpoint holds names");
    const std::uint64_t handle = a.read(head(number, word::region));
    const core::region_ref r = here_.core().regions.of_handle(handle);
    if (r == nullptr) return world_.fail("a container that goes has no region"), QUIRE_NOT_FOUND;
    const core::region_description about = r->about;
    auto& written = all_.written[name];
    for (const auto& [address, value] : world_.all_written()) {
      if (address - about.base < about.bytes) written[address - about.base] = value;
    }
    world_.leave_region(about);
    const auto why = here_.keeper().destroy({handle}).code();
    if (why != QUIRE_OK) {  // it stays
      for (const auto& [offset, value] : written) world_.wrote(about.base + offset, value, here_.self());
      world_.watch_region(about.id);
      return why;
    }
    all_.regions.erase(name);
    ++all_.gone;
    return QUIRE_OK;
  }
  quire_status withdraw(actor& a, std::uint16_t number) {
    a.write(head(number, word::there), none);
    for (unsigned n = 0; n < world_.nodes() && !world_.failed(); ++n) (void)ask_io(n, io_order::detach, number);
    return QUIRE_OK;
  }
  quire_status ask_io(unsigned to, io_order what, std::uint16_t number) {
    message m;
    m.a = static_cast<std::uint64_t>(what);
    m.b = number;
    return ask(to, m, {});
  }

  // ---- Orders. A driver waits for no file: a thread carries out those of I/O.

  void on_message(const message& m, std::span<const std::byte> text) noexcept {
    if (m.a > static_cast<std::uint64_t>(order::last)) {
      world_.start(here_.self().value(), [this, m](node&) { carry_out(m); });
      return;
    }
    services::answers out;
    names_.on_request(m, text, out);
    send(out);
  }
  void carry_out(const message& m) {
    const auto number = static_cast<std::uint16_t>(m.b);
    quire_status why = QUIRE_OK;
    switch (static_cast<io_order>(m.a)) {
      case io_order::attach:
        attached_[number] = &all_.files[here_.load(head(number, word::name))];
        break;
      case io_order::offer:
        if (attached_[number] == nullptr) why = QUIRE_NOT_FOUND;
        if (why == QUIRE_OK) here_.core().stored.offer(number, std::make_unique<shared_file_store>(*attached_[number]));
        break;
      default:
        here_.core().stored.withdraw(number);
        attached_.erase(number);
    }
    here_.core().as_driver([&] { here_.core().answer(m, why); });
  }
  void send(const services::answers& all) noexcept {
    for (const services::answer& one : all) here_.core().answer(one.request, one.why, one.a, one.b);
  }

  world& world_;
  node& here_;
  container_shelf& all_;
  services::containers names_;
  std::map<std::uint16_t, shared_file*> attached_{};
};

}  // namespace quire::whole
