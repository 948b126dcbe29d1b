// SPDX-License-Identifier: BSD-3-Clause
// Shared libraries from anywhere: what the reader accepts is laid out and relocated within its parts.
#include "code/image.hpp"
#include "input.hpp"

using namespace quire;
using namespace quire::code;

namespace {

constexpr std::uint64_t place = 0x208000000000;

void check(const module_record& r, const part_sizes& sizes) {
  const auto in_image = [&](std::uint64_t address) { return address >= r.base && address <= r.slots; };
  MUST(r.bytes <= sizes.code && r.code_end - r.base == sizes.code && r.private_bytes == sizes.gap &&
       r.slots - r.data == sizes.data && r.slots_bytes == sizes.slots);
  const auto* const patches = r.rows<patch_row>(r.patches);
  for (std::uint64_t i = 0; i < r.patches.count; ++i) {
    const std::uint64_t end = patches[i].where + std::max<std::uint64_t>(patches[i].copied_bytes, 8);
    MUST(patches[i].import < r.imports.count && patches[i].where % 8 == 0);
    MUST((patches[i].where >= r.private_at && end <= r.private_at + r.private_bytes) ||
         (patches[i].where >= r.slots && end <= r.slots + r.slots_bytes));
  }
  const auto* const exports = r.rows<export_row>(r.exports);
  for (std::uint64_t i = 0; i < r.exports.count; ++i) {
    MUST(in_image(exports[i].address) && r.find(r.text(exports[i].name)) == &exports[i]);
    MUST(exports[i].entry == export_row::no_entry || r.entries + (exports[i].entry + std::uint64_t{1}) * 8 <= r.users);
    MUST(r.users + 8 <= r.ended && r.ended + 8 <= r.slots);
  }
  const auto* const imports = r.rows<import_row>(r.imports);
  for (std::uint64_t i = 0; i < r.imports.count; ++i) MUST(imports[i].name < r.strings.count);
  MUST(r.init == 0 || in_image(r.init));
  MUST(r.init_count == 0 || (in_image(r.init_array) && in_image(r.init_array + r.init_count * 8)));
  MUST(r.fini_count == 0 || (in_image(r.fini_array) && in_image(r.fini_array + r.fini_count * 8)));
  MUST(r.unwind_tables == 0 || in_image(r.unwind_tables));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data),
                                        std::min<std::size_t>(bytes, 1 << 20));
  elf_file elf;
  if (const refusal why = elf.read(file); !why.ok()) {
    MUST(!why.text.empty());
    return 0;
  }
  constexpr std::uint64_t most = 64 << 20;
  if (elf.image().bytes() > most) return 0;
  image made;
  if (const refusal why = made.plan(elf, "fuzzed"); !why.ok()) {
    MUST(!why.text.empty());
    return 0;
  }
  for (import& i : made.imports()) {
    i.kind = i.weak ? import_kind::absent : i.type == 1 ? import_kind::object : import_kind::function;
    i.bytes = 24;
  }
  linked_parts parts;
  if (const refusal why = made.link({place, 1, 2}, parts); !why.ok()) {
    MUST(!why.text.empty());
    return 0;
  }
  MUST(parts.code.size() == made.sizes().code && parts.data.size() == made.sizes().data);
  check(*reinterpret_cast<const module_record*>(parts.code.data()), made.sizes());
  return 0;
}
