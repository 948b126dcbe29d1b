// SPDX-License-Identifier: BSD-3-Clause
#include "code/service/service.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/detail.hpp"
#include "code/file_content.hpp"
#include "core/configuration.hpp"
#include "core/hold.hpp"
#include "core/region_slot.hpp"
#include "core/services.hpp"
#include "os/foreign_library.hpp"
#include "region/services.hpp"
#include "store/store.hpp"

namespace quire::api {

using base::explain;
using code::import_kind;
using code::lacking;
using code::module_record;
using model::message;
using region::service;
using work = services::code_call::work;

namespace {

constexpr std::size_t longest_name = 58;
constexpr const char* name_prefix = "code:";

base::status no_module(const char* call, quire_code code) {
  return explain(QUIRE_NOT_FOUND, "%s(): there is no code of the handle 0x%lx; it was unloaded, or never loaded", call,
                 static_cast<unsigned long>(code.id));
}

base::status refused(const std::string& file, const code::refusal& why) {
  return explain(why.why, "quire_code_load(): %s: %s", file.c_str(), why.text.c_str());
}

std::string base_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

const module_record* record_at(std::uint64_t base) noexcept { return reinterpret_cast<const module_record*>(base); }

/// The parts of a module as a store that its regions are filled from.
class linked final : public store::store {
 public:
  linked(std::span<const std::byte> content, std::uint64_t from) : content_(content), from_(from) {}
  [[nodiscard]] int fill(std::uint64_t at, std::span<std::byte> into) noexcept override {
    std::memcpy(into.data(), content_.data() + (at - from_), into.size());
    return 0;
  }
  [[nodiscard]] int flush(std::uint64_t, std::span<const std::byte>) noexcept override { return EROFS; }
  [[nodiscard]] const char* name() const noexcept override { return "a module of code"; }
  [[nodiscard]] const char* where() const noexcept override { return "memory"; }

 private:
  std::span<const std::byte> content_;
  std::uint64_t from_;
};

void run_constructors(const module_record& m) {
  using constructor = void (*)(int, char**, char**);
  static char* none[] = {nullptr};
  if (m.init != 0) reinterpret_cast<constructor>(m.init)(0, none, environ);
  const auto* const all = reinterpret_cast<const std::uint64_t*>(m.init_array);
  for (std::uint64_t i = 0; i < m.init_count; ++i) {
    if (all[i] != 0 && all[i] != ~std::uint64_t{0}) reinterpret_cast<constructor>(all[i])(0, none, environ);
  }
}

void run_destructors(const module_record& m) {
  using destructor = void (*)();
  const auto* const all = reinterpret_cast<const std::uint64_t*>(m.fini_array);
  for (std::uint64_t i = m.fini_count; i-- != 0;) {
    if (all[i] != 0 && all[i] != ~std::uint64_t{0}) reinterpret_cast<destructor>(all[i])();
  }
  if (m.fini != 0) reinterpret_cast<destructor>(m.fini)();
}

}  // namespace

code_service::code_service(core::core& e, region::registry& regions, thread_service& threads, name_service& names,
                           thread_service::procedure ordered)
    : core_(e), regions_(regions), threads_(threads), names_(names), ordered_(ordered) {
  e.services.set(
      static_cast<std::uint32_t>(service::code),
      [](void* self, core::core&, const message& m, auto) noexcept { static_cast<code_service*>(self)->on_order(m); },
      this, "quire_code_load");
}

code_service::~code_service() = default;

// ---- What a node has

code_service::module_ptr code_service::of_handle(std::uint64_t handle) {
  const core::region_ref r = core_.regions.of_handle(handle);
  if (handle == 0 || r == nullptr || r->about.code == 0) return nullptr;
  const std::lock_guard guard(mutex_);
  const auto found = modules_.find(r->about.base);
  return found != modules_.end() ? found->second : nullptr;
}

code_service::module_ptr code_service::of_address(std::uint64_t address) {
  module_ptr nearest;
  {
    const std::lock_guard guard(mutex_);
    auto after = modules_.upper_bound(address);
    if (after == modules_.begin()) return nullptr;
    nearest = std::prev(after)->second;
  }
  return nearest->record().has(address) ? nearest : nullptr;
}

std::vector<code_service::module_ptr> code_service::all() {
  const std::lock_guard guard(mutex_);
  std::vector<module_ptr> now;
  for (const auto& [base, m] : modules_) now.push_back(m);
  return now;
}

bool code_service::runs(std::uint64_t address) {
  const module_ptr m = of_address(address);
  return m != nullptr && address < m->record().code_end;
}

bool code_service::keep_exit(void (*function)(void*), void* argument, const void* linker_handle) {
  const module_ptr m = of_address(reinterpret_cast<std::uint64_t>(linker_handle));
  if (m == nullptr) return false;
  const std::lock_guard guard(mutex_);
  m->exits.push_back({function, argument});
  return true;
}

/// Content that is lost with a node gives this thread no SIGBUS: where that can be, it is read by the system view, once
/// it is here.
bool code_service::copy_shared(std::uint64_t from, std::span<std::byte> into) noexcept {
  const core::region_ref r = core_.regions.find(from);
  if (r == nullptr) return false;
  const std::uint64_t view = core_.config.survives ? r->system_base.load() : r->about.base;
  for (std::uint64_t at = from, end = from + into.size(); at < end;) {
    if (core_.config.survives && !core_.bring(at, false).ok()) return false;
    const std::uint64_t next = std::min(code::page_down(at) + code::page_bytes, end);
    std::memcpy(into.data() + (at - from), reinterpret_cast<const std::byte*>(view + (at - r->about.base)), next - at);
    at = next;
  }
  return true;
}

/// Content is on this node then.
bool code_service::bring(std::uint64_t from, std::uint64_t bytes) noexcept {
  for (std::uint64_t at = from; at < from + bytes; at = code::page_down(at) + code::page_bytes) {
    std::byte one{};
    if (!copy_shared(at, std::span(&one, 1))) return false;
  }
  return true;
}

lacking code_service::attach_here(std::uint64_t base) try {
  const lacking lost{lacking::what::memory, EIO};  // who loads has died
  auto made = std::make_shared<module>();
  made->copy.resize(sizeof(module_record));
  if (!copy_shared(base, made->copy)) return lost;
  made->copy.resize(made->record().bytes);
  if (!copy_shared(base, made->copy)) return lost;
  // The unwinder reads them all at the first exception, of whatever code: when who loads has died, it is too late.
  if (const module_record& r = made->record(); r.unwind_tables != 0 && !bring(r.unwind_tables, r.unwind_bytes))
    return lost;
  code::program_names names(code_support);
  // Under no lock: it waits for the dynamic linker's, and a thread that has that one may load, in a constructor of
  // dlopen(3).
  if (const lacking why = code::attach(made->record(), names); why.kind != lacking::what::nothing) return why;
  const std::lock_guard unwinding(unwinding_);
  try {
    const std::lock_guard guard(mutex_);
    modules_[base] = made;
  } catch (const std::bad_alloc&) {
    code::detach(made->record());
    throw;
  }
  code::add_unwind_tables(made->record());
  return {};
} catch (const std::bad_alloc&) {
  return {lacking::what::memory, ENOMEM};
}

void code_service::run_exits_here(std::uint64_t base) {
  const module_ptr m = of_address(base);
  for (;;) {  // one may add others
    exit_call last{};
    {
      const std::lock_guard guard(mutex_);
      if (m == nullptr || m->exits.empty()) return;
      last = m->exits.back();
      m->exits.pop_back();
    }
    last.function(last.argument);
  }
}

void code_service::detach_here(std::uint64_t base) {
  module_ptr gone;
  {
    const std::lock_guard guard(mutex_);
    const auto found = modules_.find(base);
    if (found == modules_.end()) return;  // it could not be attached here
    gone = found->second;
    modules_.erase(found);
  }
  {
    const std::lock_guard guard(unwinding_);
    if (std::exchange(gone->unwinds, false)) code::remove_unwind_tables(gone->record());
  }
  code::detach(gone->record());
}

void code_service::rest() {
  const std::lock_guard guard(unwinding_);
  for (const module_ptr& m : all()) {
    if (std::exchange(m->unwinds, false)) code::remove_unwind_tables(m->record());
  }
}

void code_service::go_on() {
  const std::lock_guard guard(unwinding_);
  for (const module_ptr& m : all()) {
    if (!std::exchange(m->unwinds, true)) code::add_unwind_tables(m->record());
  }
}

// ---- Loading

base::status code_service::read(const char* path, loading& what) {
  constexpr std::size_t most_bytes = code::elf_file::most_bytes;
  if (const auto why = code::read_file(path, most_bytes, what.content); !why.ok()) return refused(what.file, why);
  if (const auto why = what.elf.read(what.content); !why.ok()) return refused(what.file, why);
  if (const auto why = what.image.plan(what.elf, what.name); !why.ok()) return refused(what.file, why);
  return {};
}

/// On this node: what each import is. What is missing here is told before anything is made.
base::status code_service::find_imports(loading& what) {
  code::program_names names(code_support);
  for (const std::string_view library : what.elf.needed()) {
    if (names.open(std::string(library).c_str())) continue;
    const char* const error = ::dlerror();
    return explain(QUIRE_NOT_FOUND,
                   "quire_code_load(): %s needs the library '%s', which cannot be loaded on node %u: %s",
                   what.file.c_str(), std::string(library).c_str(), unsigned{core_.config.self.value()},
                   error != nullptr ? error : "it has too many of them");
  }
  for (code::import& i : what.image.imports()) {
    const std::string name(i.name);
    const void* const found = names.find(name.c_str());
    i.kind = code::kind_of(found, i.type);
    if (i.copy != code::import::no_copy && found != nullptr) i.bytes = code::bytes_of(found);
    if (i.kind != import_kind::absent || i.weak) continue;
    return explain(QUIRE_NOT_FOUND,
                   "quire_code_load(): %s imports '%s', which nothing on node %u has (if the program has it: link that "
                   "with -rdynamic)",
                   what.file.c_str(), name.c_str(), unsigned{core_.config.self.value()});
  }
  return {};
}

/// Units that are zero stay untouched.
base::status code_service::fill(quire_region region, std::span<const std::byte> content) {
  core::region_slot& slot = *core_.regions.of_handle(region.id);
  linked from(content, slot.position);
  const auto is_zero = [&](std::uint64_t unit) {
    const auto bytes = content.subspan(slot.layout.offset_of(unit), slot.bytes_of(unit));
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
  };
  for (std::uint64_t first = 0, end = 0, units = slot.layout.units(); first < units; first = end) {
    const bool zero = is_zero(first);
    for (end = first + 1; end < units && is_zero(end) == zero;) ++end;
    if (zero) continue;
    if (const auto why = core_.holding.adopt(slot, first, end - first, from); !why.ok()) return why;
  }
  return {};
}

base::status code_service::make(const quire_region_options& options, loading& what) {
  const code::part_sizes& sizes = what.image.sizes();
  const region::keeper::code_regions needed{options, sizes.code, sizes.gap, sizes.data, sizes.slots};
  if (const auto why = regions_.others().create_for_code(needed, what.regions); !why.ok()) return why;
  code::linked_parts parts;
  if (const auto why = what.image.link({what.regions.base, what.regions.code.id, what.regions.data.id}, parts);
      !why.ok())
    return refused(what.file, why);
  if (const auto why = fill(what.regions.code, parts.code); !why.ok()) return why;
  if (const auto why = fill(what.regions.data, parts.data); !why.ok()) return why;
  what.record = record_at(what.regions.base);
  return {};
}

base::status code_service::explain_lack(const loading& what, unsigned node, base::status why, lacking lacks) {
  const module_record& m = *what.record;
  switch (lacks.kind) {
    case lacking::what::import:
      return explain(QUIRE_NOT_FOUND, "quire_code_load(): %s imports '%s', which nothing on node %u has",
                     what.file.c_str(), m.text(m.rows<code::import_row>(m.imports)[lacks.number].name), node);
    case lacking::what::library:
      return explain(QUIRE_NOT_FOUND, "quire_code_load(): %s needs the library '%s', which cannot be loaded on node %u",
                     what.file.c_str(), m.text(m.rows<std::uint32_t>(m.needed)[lacks.number]), node);
    case lacking::what::memory:
      return explain(QUIRE_NO_MEMORY, "quire_code_load(): node %u has no memory for %s: %s", node, what.file.c_str(),
                     std::strerror(static_cast<int>(lacks.number)));
    case lacking::what::nothing:
      break;
  }
  return why;
}

base::status code_service::publish(const loading& what) {
  const auto why = names_.publish((name_prefix + what.name).c_str(), what.regions.base);
  if (why == QUIRE_EXISTS) {
    return explain(QUIRE_EXISTS, "quire_code_load(): there is code of the name '%s' already (quire_code_options.name)",
                   what.name.c_str());
  }
  return why;
}

base::status code_service::prepare(const char* path, const char* name, const quire_region_options& options,
                                   loading& what) try {
  what.file = base_name(path);
  what.name = name != nullptr ? name : what.file;
  // Constructors, entries, counts and guards are written in no transaction.
  if (options.consistency == QUIRE_TRANSACTIONAL) {
    return explain(QUIRE_UNSUPPORTED,
                   "quire_code_load(): %s: variables of a module cannot be QUIRE_TRANSACTIONAL, as its constructors "
                   "run in no transaction: "
                   "take QUIRE_SEQUENTIAL or QUIRE_RELEASE, and have what transactions share in a region of its own",
                   what.file.c_str());
  }
  if (what.name.empty() || what.name.size() > longest_name) {
    return explain(QUIRE_INVALID, "quire_code_load(): the name '%s' is empty, or has more than 58 characters",
                   what.name.c_str());
  }
  std::uint64_t taken = 0;
  if (const auto why = names_.lookup((name_prefix + what.name).c_str(), 0, taken); why != QUIRE_NOT_FOUND) {
    if (!why.ok()) return why;
    return explain(QUIRE_EXISTS, "quire_code_load(): there is code of the name '%s' already (quire_code_options.name)",
                   what.name.c_str());
  }
  if (const auto why = read(path, what); !why.ok()) return why;
  if (const auto why = find_imports(what); !why.ok()) return why;
  return make(options, what);
} catch (const std::bad_alloc&) {
  return explain(QUIRE_NO_MEMORY, "quire_code_load(): node %u has no memory to load %s",
                 unsigned{core_.config.self.value()}, path);
}

/// What was wrong first counts.
template <class Does>
base::status code_service::go(services::code_call call, Does&& does) {
  char said[base::detail_bytes] = {};
  step next = call.begin();
  while (next.what != work::over) {
    base::clear_detail();
    const base::status why = does(next);
    if (!why.ok() && said[0] == 0) std::snprintf(said, sizeof said, "%s", base::detail());
    next = call.on_done(why.code());
  }
  base::clear_detail();
  if (next.why != QUIRE_OK && said[0] != 0) return explain(next.why, "%s", said);
  return next.why;
}

base::status code_service::do_step(const step& s, loading& what) try {
  switch (s.what) {
    case work::order: {
      lacking lacks;
      const auto why = ask(s.node, s.order, what.regions.base, lacks);
      const bool lacking_there = s.order == order::attach && !why.ok() && why != QUIRE_LOST;
      return lacking_there ? explain_lack(what, s.node, why, lacks) : why;
    }
    case work::construct:
      try {
        run_constructors(*what.record);
      } catch (...) {
        return explain(QUIRE_INVALID, "quire_code_load(): a constructor of %s has thrown an exception",
                       what.file.c_str());
      }
      return {};
    case work::publish:
      return publish(what);
    case work::destruct:
      run_destructors(*what.record);
      return {};
    case work::destroy_data:
      return what.regions.data.id != 0 ? regions_.others().destroy(what.regions.data) : base::status();
    default:
      return what.regions.code.id != 0 ? regions_.others().destroy(what.regions.code) : base::status();
  }
} catch (const std::bad_alloc&) {
  return QUIRE_NO_MEMORY;
}

base::status code_service::load(const char* path, const char* name, const quire_region_options& options,
                                quire_code& code) {
#if !defined(__x86_64__)
  (void)path, (void)name, (void)options, (void)code;
  return explain(QUIRE_UNSUPPORTED,
                 "quire_code_load(): only on x86-64, where the processor sees instructions that were written to memory "
                 "without being told");
#else
  loading what;
  const auto why = go(services::code_call::load(core_.config.self.value(), core_.config.nodes), [&](const step& s) {
    return s.what == work::prepare ? prepare(path, name, options, what) : do_step(s, what);
  });
  if (why.ok()) code.id = what.regions.code.id;
  return why;
#endif
}

// ---- Using

base::status code_service::find(const char* name, std::int64_t timeout_ms, quire_code& code) {
  const std::size_t length = name != nullptr ? ::strnlen(name, longest_name + 1) : 0;
  if (length == 0 || length > longest_name)
    return explain(QUIRE_INVALID, "quire_code_find(): the name is NULL, empty, or has more than 58 characters");
  std::uint64_t base = 0;
  if (const auto why = names_.lookup((name_prefix + std::string(name)).c_str(), timeout_ms, base); !why.ok())
    return why;
  const core::region_ref r = core_.regions.find(base);
  if (r == nullptr || r->about.code == 0) return QUIRE_NOT_FOUND;  // it goes
  code.id = core::handle_of(r->about);
  return {};
}

base::status code_service::find_export(const char* call, quire_code code, const char* name,
                                       const code::export_row*& found, module_ptr& in) {
  if (name == nullptr) return explain(QUIRE_INVALID, "%s(): the name is NULL", call);
  in = of_handle(code.id);
  if (in == nullptr) return no_module(call, code);
  const std::string text(name);
  found = in->record().find(text);
  if (found != nullptr) return {};
  return explain(QUIRE_NOT_FOUND,
                 "%s(): '%s' exports no '%s'; names of C++ are mangled, unless the function is extern \"C\"", call,
                 in->record().text(in->record().name), text.c_str());
}

base::status code_service::symbol(quire_code code, const char* name, std::uint64_t& address) {
  const code::export_row* found = nullptr;
  module_ptr in;
  if (const auto why = find_export("quire_code_symbol", code, name, found, in); !why.ok()) return why;
  address = found->address;
  return {};
}

base::status code_service::entry(quire_code code, const char* name, std::uint64_t& place) {
  constexpr const char* call = "quire_code_entry";
  const code::export_row* found = nullptr;
  module_ptr in;
  if (const auto why = find_export(call, code, name, found, in); !why.ok()) return why;
  if (found->entry == code::export_row::no_entry)
    return explain(QUIRE_INVALID, "%s(): '%s' is no function", call, name);
  place = reinterpret_cast<std::uint64_t>(in->record().entry(found->entry));
  return {};
}

namespace {

/// By Quire's atomic operations, or by the processor's where the region has none of them. A copy of this node may be
/// older.
base::status read_word(std::uint64_t* word, std::uint64_t& now) {
  const quire_status why = quire_fetch_add(word, 0, &now);
  if (why != QUIRE_UNSUPPORTED) return why;
  now = __atomic_load_n(word, __ATOMIC_ACQUIRE);
  return {};
}
std::uint64_t exchange_word(std::uint64_t* word, std::uint64_t value) noexcept {
  std::uint64_t before = 0;
  return quire_exchange(word, value, &before) == QUIRE_OK ? before : __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
}
void add_to_word(std::uint64_t* word, std::int64_t more) noexcept {
  const auto value = static_cast<std::uint64_t>(more);
  if (quire_fetch_add(word, value, nullptr) != QUIRE_OK) __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
}

}  // namespace

/// So many more entries of a module lead to this address. Modules know by that who uses them: entries of others may go
/// at any time.
void code_service::leads_to(const module& from, std::uint64_t address, std::int64_t more) {
  if (from.record().has(address)) return;
  if (const module_ptr to = of_address(address); to != nullptr)
    add_to_word(reinterpret_cast<std::uint64_t*>(to->record().users), more);
}

base::status code_service::replace(quire_code code, const char* name, quire_code newer) {
  constexpr const char* call = "quire_code_replace";
  const code::export_row *old_one = nullptr, *new_one = nullptr;
  module_ptr in, from;
  if (const auto why = find_export(call, code, name, old_one, in); !why.ok()) return why;
  if (const auto why = find_export(call, newer, name, new_one, from); !why.ok()) return why;
  if (old_one->entry == code::export_row::no_entry || new_one->entry == code::export_row::no_entry) {
    return explain(QUIRE_INVALID, "%s(): '%s' is no function", call, name);
  }
  leads_to(*in, new_one->address, 1);
  leads_to(*in, exchange_word(in->record().entry(old_one->entry), new_one->address), -1);
  return {};
}

// ---- The end

namespace {

/// Of the word that says whether destructors have run. QUIRE_EXISTS: they have, or nobody knows how far they came.
base::status end_of(std::uint64_t word, const char* name) {
  if (word == 0) return {};
  if (word == work_done || quire_alive(node_at_work(word)) == 0) return QUIRE_EXISTS;
  return explain(QUIRE_BUSY, "quire_code_unload(): another thread unloads '%s'", name);
}

}  // namespace

base::status code_service::look_at_end(const module& m) {
  const module_record& r = m.record();
  std::uint64_t ended = 0, users = 0;
  if (core_.regions.of_handle(r.data_handle) == nullptr) return QUIRE_NOT_FOUND;
  if (const auto why = read_word(reinterpret_cast<std::uint64_t*>(r.ended), ended); !why.ok()) return why;
  base::clear_detail();
  if (const auto why = end_of(ended, r.text(r.name)); !why.ok()) return why;
  if (const auto why = read_word(reinterpret_cast<std::uint64_t*>(r.users), users); !why.ok()) return why;
  if (users == 0) return {};
  return explain(QUIRE_BUSY,
                 "quire_code_unload(): an entry of another module leads to a function of '%s'; replace it first "
                 "(quire_code_replace)",
                 r.text(r.name));
}

base::status code_service::claim_end(const module& m) {
  const module_record& r = m.record();
  const std::uint64_t before = change_word(reinterpret_cast<std::uint64_t*>(r.ended), 0, at_work());
  base::clear_detail();
  return end_of(before, r.text(r.name));
}

void code_service::end(const module& m) {
  const module_record& r = m.record();
  run_destructors(r);
  for (std::uint64_t* e = r.entry(0); reinterpret_cast<std::uint64_t>(e) < r.users; ++e) {
    std::uint64_t leads = 0;
    if (read_word(e, leads).ok()) leads_to(m, leads, -1);
  }
  (void)exchange_word(reinterpret_cast<std::uint64_t*>(r.ended), work_done);
}

base::status code_service::do_step(const step& s, const module_ptr& m) {
  const module_record& r = m->record();
  switch (s.what) {
    case work::order: {
      lacking lacks;
      return ask(s.node, s.order, r.base, lacks);
    }
    case work::look:
      return look_at_end(*m);
    case work::claim:
      return claim_end(*m);
    case work::destruct:
      end(*m);
      return {};
    case work::destroy_data:
      return regions_.others().destroy({r.data_handle});
    default: {
      const std::lock_guard guard(mutex_);
      modules_[r.base] = m;
      return {};
    }
  }
}

/// It may have been called before, on this node or another one, and have been refused half-way.
base::status code_service::unload(quire_code code) {
  const module_ptr m = of_handle(code.id);
  if (m == nullptr) return no_module("quire_code_unload", code);
  if (core_.config.survives && quire_alive(0) == 0) {
    return explain(QUIRE_LOST, "quire_code_unload(): node 0, which numbers regions, is dead: '%s' stays as it is",
                   m->record().text(m->record().name));
  }
  return go(services::code_call::unload(core_.config.self.value(), core_.config.nodes), [&](const step& s) {
    return s.what == work::destroy_code ? regions_.others().destroy({code.id}) : do_step(s, m);
  });
}

}  // namespace quire::api
