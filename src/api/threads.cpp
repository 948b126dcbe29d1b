#include "api/threads.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>

#include <cstring>

#include "api/runtime.hpp"
#include "base/log.hpp"
#include "region/services.hpp"

namespace quire::api {

using model::message;
using region::service;

namespace {

/// Where a function lies, independent of where things are loaded. The program itself has an empty name.
struct function_place {
  std::string module;
  std::uint64_t offset = 0;
};

struct search {
  std::uint64_t address = 0;       ///< to find a place
  const function_place* place = nullptr;  ///< to find an address
  function_place found{};
  std::uint64_t result = 0;
};

bool contains_code(const dl_phdr_info& info, std::uint64_t address) noexcept {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const auto& p = info.dlpi_phdr[i];
    if (p.p_type == PT_LOAD && (p.p_flags & PF_X) != 0 && address - (info.dlpi_addr + p.p_vaddr) < p.p_memsz) return true;
  }
  return false;
}

std::string base_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

int look_at(dl_phdr_info* info, std::size_t, void* data) {
  auto& s = *static_cast<search*>(data);
  const std::string name = base_name(info->dlpi_name);
  if (s.place != nullptr) {
    if (name != s.place->module || !contains_code(*info, info->dlpi_addr + s.place->offset)) return 0;
    s.result = info->dlpi_addr + s.place->offset;
    return 1;
  }
  if (!contains_code(*info, s.address)) return 0;
  s.found = {name, s.address - info->dlpi_addr};
  s.result = 1;
  return 1;
}

}  // namespace

struct thread_service::start {
  thread_service* self = nullptr;
  message request{};
  function_place place{};
  std::uint64_t argument = 0;
};

thread_service::thread_service(engine::engine& e) : engine_(e) {
  e.set_service(static_cast<std::uint32_t>(service::spawn), [](void* self, engine::engine&, const message& m, auto v) noexcept {
    static_cast<thread_service*>(self)->on_spawn(m, v);
  }, this);
  e.set_service(static_cast<std::uint32_t>(service::join), [](void* self, engine::engine&, const message& m, auto) noexcept {
    static_cast<thread_service*>(self)->on_join(m);
  }, this);
}

base::status thread_service::spawn(int node, void* (*function)(void*), void* argument, std::uint64_t& id) {
  if (function == nullptr || node < 0 || node >= static_cast<int>(engine_.config().nodes)) return QUIRE_INVALID;
  search s;
  s.address = reinterpret_cast<std::uint64_t>(function);
  ::dl_iterate_phdr(look_at, &s);
  if (s.result == 0 || s.found.module.size() > 255) return QUIRE_INVALID;
  message m;
  m.a = s.found.offset;
  m.b = reinterpret_cast<std::uint64_t>(argument);
  const auto why = engine_.ask(model::node_id{static_cast<std::uint16_t>(node)}, static_cast<std::uint32_t>(service::spawn), m,
                               std::as_bytes(std::span(s.found.module.data(), s.found.module.size())));
  if (why.ok()) id = m.a;
  return why;
}

base::status thread_service::join(std::uint64_t id, std::uint64_t& result) {
  const auto node = static_cast<std::uint16_t>(id >> 48);
  if (id == 0 || node >= engine_.config().nodes) return QUIRE_INVALID;
  message m;
  m.a = id;
  const auto why = engine_.ask(model::node_id{node}, static_cast<std::uint32_t>(service::join), m, {});
  if (why.ok()) result = m.a;
  return why;
}

/// Driver's thread. The new thread looks its function up itself: the dynamic linker's lock must not be waited for here.
void thread_service::on_spawn(const message& m, std::span<const std::byte> value) {
  auto* s = new start{this, m, {{reinterpret_cast<const char*>(value.data()), value.size()}, m.a}, m.b};
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  // The thread starts with an empty signal mask of its own: the driver may be in a fault handler.
  sigset_t none;
  sigemptyset(&none);
  ::pthread_attr_setsigmask_np(&attributes, &none);
  const int error = ::pthread_create(&thread, &attributes, body, s);
  ::pthread_attr_destroy(&attributes);
  if (error == 0) return;
  delete s;
  engine_.answer(m, QUIRE_NO_MEMORY);
}

/// Runs `f` on the driver and waits for it.
template <class F>
void thread_service::on_driver(F f) noexcept {
  struct function_op : engine::op {
    explicit function_op(F& f) noexcept
        : op([](engine::engine&, engine::op& self) noexcept {
            static_cast<function_op&>(self).f_();
            self.complete();
          }, type::call), f_(f) {}
    F& f_;
  } o(f);
  (void)engine_.run(o);
}

void* thread_service::body(void* argument) noexcept {
  const std::unique_ptr<start> s(static_cast<start*>(argument));
  search where;
  where.place = &s->place;
  ::dl_iterate_phdr(look_at, &where);
  thread_service& self = *s->self;
  std::uint64_t id = 0;
  self.on_driver([&] {
    if (where.result == 0) return self.engine_.answer(s->request, QUIRE_NOT_FOUND);
    id = (std::uint64_t{self.engine_.config().self.value()} << 48) | self.next_++;
    self.threads_[id];
    self.engine_.answer(s->request, QUIRE_OK, id);
  });
  if (id == 0) return nullptr;
  void* const result = reinterpret_cast<void* (*)(void*)>(where.result)(reinterpret_cast<void*>(s->argument));
  self.on_driver([&] { self.on_finished(id, reinterpret_cast<std::uint64_t>(result)); });
  return nullptr;
}

void thread_service::on_finished(std::uint64_t id, std::uint64_t result) {
  thread_entry& t = threads_[id];
  t.finished = true;
  t.result = result;
  if (!t.awaited) return;
  engine_.answer(t.join, QUIRE_OK, result);
  threads_.erase(id);
}

void thread_service::on_join(const message& m) {
  const auto found = threads_.find(m.a);
  if (found == threads_.end() || found->second.awaited) return engine_.answer(m, QUIRE_NOT_FOUND);
  if (found->second.finished) {
    engine_.answer(m, QUIRE_OK, found->second.result);
    threads_.erase(found);
    return;
  }
  found->second.awaited = true;
  found->second.join = m;
}

}  // namespace quire::api

quire_status quire_spawn(int node, void* (*function)(void*), void* argument, quire_remote_thread* thread) {
  QUIRE_ENTER(r);
  if (thread == nullptr) return QUIRE_INVALID;
  std::uint64_t id = 0;
  const auto why = r->threads->spawn(node, function, argument, id);
  if (why.ok()) thread->id = id;
  return why.code();
}

quire_status quire_join(quire_remote_thread thread, void** result) {
  QUIRE_ENTER(r);
  std::uint64_t value = 0;
  const auto why = r->threads->join(thread.id, value);
  if (why.ok() && result != nullptr) *result = reinterpret_cast<void*>(value);
  return why.code();
}
