// SPDX-License-Identifier: BSD-3-Clause
// Where a function lies, independent of where the modules of a process are loaded: how nodes tell one another of
// functions. Takes locks of the dynamic linker; not in fault context, not by the driver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quire::api {

struct function_place {
  std::string module;  ///< base name of its file; that of the program is empty, that of code in shared memory is one
                       ///< that no file has
  std::uint64_t offset = 0;
};

/// Of a function of the program, or of a library that it has loaded; else nothing.
[[nodiscard]] std::optional<function_place> place_of(std::uint64_t function);
/// In this process; 0 if it has no such module, or no code there.
[[nodiscard]] std::uint64_t function_at(std::string_view module, std::uint64_t offset);

/// A module's name as a number, for places in shared memory.
[[nodiscard]] std::uint64_t number_of_module(std::string_view module) noexcept;
/// The same of a module that is named by its number.
[[nodiscard]] std::uint64_t function_at(std::uint64_t module, std::uint64_t offset);

}  // namespace quire::api
