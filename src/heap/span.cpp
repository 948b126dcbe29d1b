// SPDX-License-Identifier: BSD-3-Clause
#include "heap/span.hpp"

#include <new>

#include "heap/size_classes.hpp"

namespace quire::heap {

std::unique_ptr<span> span::make(unsigned size_class, std::uint64_t bytes, std::uint64_t dirty_bytes) noexcept {
  std::unique_ptr<span> made{new (std::nothrow) span};
  if (!made) return nullptr;
  made->size_class_ = size_class;
  made->slot_bytes_ = static_cast<std::uint32_t>(size_class_bytes(size_class));
  const std::uint64_t dirty_slots = (dirty_bytes + made->slot_bytes_ - 1) / made->slot_bytes_;
  return made->slots_.make(static_cast<std::uint32_t>(bytes / made->slot_bytes_), dirty_slots) ? std::move(made)
                                                                                               : nullptr;
}

bool span::is_valid() const noexcept { return slots_.is_valid() && slot_bytes_ == size_class_bytes(size_class_); }

}  // namespace quire::heap
