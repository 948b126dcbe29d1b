// SPDX-License-Identifier: BSD-3-Clause
// What a node has of a module beside its regions: RELRO and slots, private memory with the addresses of imports on this
// node; and the unwind tables that exceptions need. Application threads of each node; the record may be a copy of that
// in shared memory.
#pragma once

#include <cstdint>
#include <string_view>

#include "code/module_record.hpp"

namespace quire::code {

/// Where names of others are, on this node.
class names {
 public:
  virtual ~names() = default;
  /// The library is there from now on; false, and it cannot be had.
  [[nodiscard]] virtual bool open(const char* library) = 0;
  /// Null: nothing on this node has the name.
  [[nodiscard]] virtual void* find(const char* name) = 0;
};

/// The dynamic linker's: what the program may use, and the libraries that were opened. `own` is asked first, and gives
/// null for what is not its own.
class program_names final : public names {
 public:
  explicit program_names(void* (*own)(std::string_view)) noexcept : own_(own) {}
  [[nodiscard]] bool open(const char* library) override;
  [[nodiscard]] void* find(const char* name) override;

 private:
  static constexpr unsigned most = 64;
  void* (*own_)(std::string_view);
  void* opened_[most] = {};
  unsigned count_ = 0;
};

/// What a symbol that was found is, as far as it can be told: `type` is STT_ of the reference.
[[nodiscard]] import_kind kind_of(const void* found, unsigned type) noexcept;

/// Bytes of an object of a library, as its table of symbols has them; 0: unknown.
[[nodiscard]] std::uint32_t bytes_of(const void* found) noexcept;

/// What stands in the way.
struct lacking {
  enum class what : std::uint8_t { nothing, library, import, memory } kind = what::nothing;
  std::uint32_t number = 0;  ///< in the record's table; of memory, an errno
};

/// Makes the module usable on this node, but for exceptions, or leaves nothing. Once a node. It takes the dynamic
/// linker's lock: call it with no other one.
[[nodiscard]] lacking attach(const module_record& module, names& from);
/// Undoes that: nobody runs the module's code here any more, and its unwind tables are removed.
void detach(const module_record& module) noexcept;

/// Exceptions pass through the module's code from now on; or not any more. One thread at a time. A child of fork(2) has
/// no shared memory, and zeroes in place of the tables, which its unwinder may look at.
void add_unwind_tables(const module_record& module) noexcept;
void remove_unwind_tables(const module_record& module) noexcept;

}  // namespace quire::code
