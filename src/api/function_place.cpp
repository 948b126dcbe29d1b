// SPDX-License-Identifier: BSD-3-Clause
#include "api/function_place.hpp"

#include <link.h>

#include <cstring>

#include "code/service/service.hpp"
#include "runtime/runtime.hpp"

namespace quire::api {
namespace {

bool contains_code(const dl_phdr_info& info, std::uint64_t address) noexcept {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const auto& p = info.dlpi_phdr[i];
    if (p.p_type == PT_LOAD && (p.p_flags & PF_X) != 0 && address - (info.dlpi_addr + p.p_vaddr) < p.p_memsz)
      return true;
  }
  return false;
}

std::string_view module_name(const char* path) noexcept {
  const char* const slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

/// Calls f(info, name) for each module until it gives true.
template <class F>
void for_each_module(F f) {
  ::dl_iterate_phdr([](dl_phdr_info* info, std::size_t,
                       void* data) { return (*static_cast<F*>(data))(*info, module_name(info->dlpi_name)) ? 1 : 0; },
                    &f);
}

/// The module of code in shared memory, whose addresses are the same on all nodes.
constexpr std::string_view shared_code = "(shared code)";

bool is_shared_code(std::uint64_t address) {
  runtime* const r = current();
  return r != nullptr && r->code->runs(address);
}

template <class Is>
std::uint64_t find(std::uint64_t offset, Is is) {
  if (is(shared_code)) return is_shared_code(offset) ? offset : 0;
  std::uint64_t found = 0;
  for_each_module([&](const dl_phdr_info& info, std::string_view name) {
    if (!is(name) || !contains_code(info, info.dlpi_addr + offset)) return false;
    found = info.dlpi_addr + offset;
    return true;
  });
  return found;
}

}  // namespace

std::optional<function_place> place_of(std::uint64_t function) {
  if (is_shared_code(function)) return function_place{std::string(shared_code), function};
  std::optional<function_place> found;
  for_each_module([&](const dl_phdr_info& info, std::string_view name) {
    if (!contains_code(info, function)) return false;
    found = {std::string(name), function - info.dlpi_addr};
    return true;
  });
  return found;
}

std::uint64_t function_at(std::string_view module, std::uint64_t offset) {
  return find(offset, [&](std::string_view name) { return name == module; });
}

/// FNV-1a.
std::uint64_t number_of_module(std::string_view module) noexcept {
  std::uint64_t number = 0xcbf29ce484222325;
  for (const char c : module) number = (number ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return number;
}

std::uint64_t function_at(std::uint64_t module, std::uint64_t offset) {
  return find(offset, [&](std::string_view name) { return number_of_module(name) == module; });
}

}  // namespace quire::api
