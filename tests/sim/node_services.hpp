// SPDX-License-Identifier: BSD-3-Clause
// Names and threads (src/services) on a simulated node, beside its memory: its core takes requests to the machines, as
// services/node does in a process. Node 0 has the names; a thread that another node asks for is one more fibre.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/core.hpp"
#include "core/services.hpp"
#include "region/services.hpp"
#include "services/names.hpp"
#include "services/threads.hpp"
#include "sim/whole/world.hpp"

namespace quire::whole {

class node_services {
 public:
  using body = std::function<std::uint64_t(node& here, std::uint64_t argument)>;

  /// Before the node's threads start. `runs`: what threads do that other nodes ask for.
  node_services(world& w, node& here, body runs)
      : world_(w), here_(here), runs_(std::move(runs)), threads_(here.self()) {
    using region::service;
    take<&node_services::on_publish>(service::publish, "quire_publish");
    take<&node_services::on_lookup>(service::lookup, "quire_lookup");
    take<&node_services::on_spawn>(service::spawn, "quire_spawn");
    take<&node_services::on_join>(service::join, "quire_join");
  }
  node_services(const node_services&) = delete;
  node_services& operator=(const node_services&) = delete;

  // A thread of this node.
  [[nodiscard]] base::status publish(const std::string& name, std::uint64_t value) {
    message m;
    m.a = value;
    return ask(node_id{0}, region::service::publish, m, name);
  }
  /// Waits for it.
  [[nodiscard]] base::status lookup(const std::string& name, std::uint64_t& value) {
    message m;
    m.a = 1;
    const auto why = ask(node_id{0}, region::service::lookup, m, name);
    value = m.a;
    return why;
  }
  [[nodiscard]] base::status spawn(node_id on, std::uint64_t argument, std::uint64_t& thread) {
    message m;
    m.b = argument;
    const auto why = ask(on, region::service::spawn, m, "");
    thread = m.a;
    return why;
  }
  [[nodiscard]] base::status join(std::uint64_t thread, std::uint64_t& result) {
    message m;
    m.a = thread;
    const node_id on{static_cast<std::uint16_t>(services::threads::node_of(thread))};
    const auto why = ask(on, region::service::join, m, "");
    result = m.a;
    return why;
  }

  /// Calls and threads that are not over.
  [[nodiscard]] std::size_t kept() const noexcept { return names_.waiting() + threads_.count(); }

 private:
  using message = model::message;

  template <auto Handler>
  void take(region::service which, const char* name) {
    here_.core().services.set(
        static_cast<std::uint32_t>(which),
        [](void* self, core::core&, const message& m, auto text) noexcept {
          (static_cast<node_services*>(self)->*Handler)(m, {reinterpret_cast<const char*>(text.data()), text.size()});
        },
        this, name);
  }
  base::status ask(node_id to, region::service which, message& m, std::string_view text) {
    return here_.core().ask(to, static_cast<std::uint32_t>(which), m, std::as_bytes(std::span(text)));
  }
  void send(const services::answers& all) noexcept {
    for (const services::answer& one : all) here_.core().answer(one.request, one.why, one.a, one.b);
  }
  template <class F>
  void on_driver(F f) {
    here_.core().as_driver([&] {
      services::answers out;
      f(out);
      send(out);
    });
  }

  void on_publish(const message& m, std::string_view name) {
    services::answers out;
    names_.on_publish(m, services::names::name_of(name), out);
    send(out);
  }
  void on_lookup(const message& m, std::string_view name) {
    services::answers out;
    names_.on_lookup(m, services::names::name_of(name), out);
    send(out);
  }
  /// The driver starts no thread itself.
  void on_spawn(const message& m, std::string_view /*function*/) {
    world_.net().after(world_.net().rng().below(20'000), [this, m] {
      world_.start(here_.self().value(), [this, m](node& here) {
        std::uint64_t number = 0;
        on_driver([&](services::answers& out) { number = threads_.on_started(m, QUIRE_OK, out); });
        const std::uint64_t result = runs_(here, m.b);
        on_driver([&](services::answers& out) { threads_.on_finished(number, result, out); });
      });
    });
  }
  void on_join(const message& m, std::string_view /*nothing*/) {
    services::answers out;
    threads_.on_join(m, out);
    send(out);
  }

  world& world_;
  node& here_;
  body runs_;
  services::names names_{};
  services::threads threads_;
};

}  // namespace quire::whole
