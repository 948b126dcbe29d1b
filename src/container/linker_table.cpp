// SPDX-License-Identifier: BSD-3-Clause
#include "container/linker_table.hpp"

#include <bit>
#include <cstring>

#include "base/detail.hpp"
#include "container/linkers.hpp"

namespace quire::container {

using base::explain;

linker_table::linker_table() {
  add_own(file_linker());
  add_own(throttle_linker(*this));
  own_ = count_;
}

void linker_table::add_own(const quire_linker& linker) {
  rows_[count_] = std::make_unique<row>(row{linker.name, linker, {}});
  rows_[count_]->linker.name = rows_[count_]->name.c_str();
  ++count_;
}

base::status linker_table::check(const char* call, const quire_linker& linker) const {
  const std::size_t length = linker.name == nullptr ? 0 : ::strnlen(linker.name, longest_linker + 1);
  if (length == 0 || length > longest_linker) {
    return explain(QUIRE_INVALID, "%s(): the name of the linker %s", call,
                   linker.name == nullptr ? "is NULL"
                   : length == 0          ? "is empty"
                                          : "has more than 31 characters");
  }
  if (linker.open == nullptr || linker.fill == nullptr) {
    return explain(QUIRE_INVALID, "%s(): linker '%s' has no %s()", call, linker.name,
                   linker.open == nullptr ? "open" : "fill");
  }
  constexpr unsigned all = QUIRE_LINK_WRITE | QUIRE_LINK_TRUNCATE | QUIRE_LINK_ANYWHERE;
  if ((linker.can & ~all) != 0)
    return explain(QUIRE_INVALID, "%s(): linker '%s': %u is no sum of quire_linker_ability", call, linker.name,
                   linker.can);
  const bool writes = (linker.can & QUIRE_LINK_WRITE) != 0, truncates = (linker.can & QUIRE_LINK_TRUNCATE) != 0;
  if (writes && linker.flush == nullptr)
    return explain(QUIRE_INVALID, "%s(): linker '%s' can QUIRE_LINK_WRITE, and has no flush()", call, linker.name);
  if (truncates && linker.truncate == nullptr) {
    return explain(QUIRE_INVALID, "%s(): linker '%s' can QUIRE_LINK_TRUNCATE, and has no truncate()", call,
                   linker.name);
  }
  if (linker.grain != 0 &&
      (!std::has_single_bit(linker.grain) || linker.grain < 4096 || linker.grain > largest_grain)) {
    return explain(QUIRE_INVALID,
                   "%s(): linker '%s' has a grain of %zu bytes: it must be 0, or a power of two from 4 KiB to 2 MiB",
                   call, linker.name, linker.grain);
  }
  if (linker.threads > 64)
    return explain(QUIRE_INVALID, "%s(): linker '%s' is made for %u threads: 0 to 64", call, linker.name,
                   linker.threads);
  return {};
}

base::status linker_table::place(const char* call, const quire_linker& linker, const function& of) {
  if (const auto why = check(call, linker); !why.ok()) return why;
  const std::lock_guard guard(mutex_);
  bool taken = std::string_view(linker.name) == memory_linker;
  for (std::size_t i = 0; i < count_; ++i) taken |= rows_[i]->name == linker.name;
  if (taken) return explain(QUIRE_EXISTS, "%s(): there is a linker '%s' already", call, linker.name);
  if (count_ == most_linkers + own_)
    return explain(QUIRE_LIMIT, "%s(): a node has at most %zu linkers", call, most_linkers);
  auto made = std::make_unique<row>(row{linker.name, linker, of});
  made->linker.name = made->name.c_str();
  if (of.fill != nullptr) made->linker.context = &made->of;
  rows_[count_++] = std::move(made);
  return {};
}

base::status linker_table::add(const char* call, const quire_linker& linker) { return place(call, linker, {}); }

base::status linker_table::add_function(const char* name, std::size_t grain,
                                        int (*fill)(void*, std::uint64_t, void*, std::size_t), void* context) {
  quire_linker linker{};
  linker.size = sizeof linker;
  linker.name = name;
  linker.can = QUIRE_LINK_ANYWHERE;
  linker.grain = grain;
  linker.open = [](void* of, const char*, unsigned, std::uint64_t* bytes, void** self) {
    *bytes = UINT64_MAX;
    *self = of;
    return 0;
  };
  if (fill != nullptr) {
    linker.fill = [](void* self, std::uint64_t at, void* into, std::size_t bytes) {
      const auto* const of = static_cast<const function*>(self);
      return of->fill(of->context, at, into, bytes);
    };
  }
  return place("quire_linker_register_function", linker, {fill, context});
}

const quire_linker* linker_table::find(std::string_view name) const noexcept {
  const std::lock_guard guard(mutex_);
  for (std::size_t i = 0; i < count_; ++i) {
    if (rows_[i]->name == name) return &rows_[i]->linker;
  }
  return nullptr;
}

}  // namespace quire::container
