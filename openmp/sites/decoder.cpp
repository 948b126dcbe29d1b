// SPDX-License-Identifier: BSD-3-Clause
#include "openmp/sites/decoder.hpp"

#ifdef QUIRE_HAVE_ZYDIS
#include <Zydis/Decoder.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace quire::openmp::sites {
namespace {

struct library {
  decltype(&ZydisDecoderInit) init = nullptr;
  decltype(&ZydisDecoderDecodeInstruction) instruction = nullptr;
  decltype(&ZydisDecoderDecodeOperands) operands = nullptr;
  ZydisDecoder decoder{};
};
library g_zydis;

template <class F>
bool find(void* handle, const char* name, F& function) noexcept {
  function = reinterpret_cast<F>(::dlsym(handle, name));
  return function != nullptr;
}

bool load() noexcept {
  void* handle = nullptr;
  // Where the loader looks, else where it was when Quire was built.
  for (const char* const name : {QUIRE_ZYDIS_FILE, QUIRE_ZYDIS_DIRECTORY "/" QUIRE_ZYDIS_FILE}) {
    handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle != nullptr) break;
  }
  library& z = g_zydis;
  return handle != nullptr && find(handle, "ZydisDecoderInit", z.init) &&
         find(handle, "ZydisDecoderDecodeInstruction", z.instruction) &&
         find(handle, "ZydisDecoderDecodeOperands", z.operands) &&
         ZYAN_SUCCESS(z.init(&z.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
}

/// An update that leaves the word as it was: compilers take it for a fence, as it is faster than mfence.
bool changes_nothing(const ZydisDecodedInstruction& i) noexcept {
  const bool neutral = i.mnemonic == ZYDIS_MNEMONIC_OR || i.mnemonic == ZYDIS_MNEMONIC_ADD ||
                       i.mnemonic == ZYDIS_MNEMONIC_XOR || i.mnemonic == ZYDIS_MNEMONIC_SUB;
  return neutral && i.raw.imm[0].size != 0 && i.raw.imm[0].value.u == 0;
}

/// Arithmetic that sets all flags, whatever they were.
bool sets_all_flags(ZydisMnemonic m) noexcept {
  constexpr ZydisMnemonic all[] = {ZYDIS_MNEMONIC_ADD, ZYDIS_MNEMONIC_SUB,  ZYDIS_MNEMONIC_AND,     ZYDIS_MNEMONIC_OR,
                                   ZYDIS_MNEMONIC_XOR, ZYDIS_MNEMONIC_XADD, ZYDIS_MNEMONIC_CMPXCHG, ZYDIS_MNEMONIC_NEG};
  return std::find(std::begin(all), std::end(all), m) != std::end(all);
}

bool is_update(const ZydisDecodedInstruction& i) noexcept {
  if ((i.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0) return true;
  return i.mnemonic == ZYDIS_MNEMONIC_XCHG && (i.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 && i.raw.modrm.mod != 3;
}

const ZydisDecodedOperand* memory_operand(const ZydisDecodedInstruction& i,
                                          const ZydisDecodedOperand* operands) noexcept {
  const auto* const end = operands + i.operand_count_visible;
  const auto* const found =
      std::find_if(operands, end, [](const auto& o) { return o.type == ZYDIS_OPERAND_TYPE_MEMORY; });
  return found == end ? nullptr : found;
}

void describe(const ZydisDecodedInstruction& i, const ZydisDecodedOperand* memory, const std::byte* code,
              site& s) noexcept {
  std::memcpy(s.bytes.data(), code, i.length);
  s.keeps_flags = !sets_all_flags(i.mnemonic);
  s.movable = false;
  if (memory == nullptr || (i.attributes & ZYDIS_ATTRIB_HAS_MODRM) == 0) return;
  const bool of_thread = memory->mem.segment == ZYDIS_REGISTER_FS || memory->mem.segment == ZYDIS_REGISTER_GS;
  const bool on_stack = memory->mem.base == ZYDIS_REGISTER_RSP;
  s.harmless = of_thread || on_stack;
  if (on_stack && changes_nothing(i)) s.kind = site_kind::fence;
  s.modrm_at = i.raw.modrm.offset;
  s.rex =
      (i.attributes & ZYDIS_ATTRIB_HAS_REX) != 0 ? static_cast<std::uint8_t>(code[i.raw.rex.offset]) : std::uint8_t{0};
  s.has_displacement = i.raw.disp.size != 0;
  s.displacement_at = i.raw.disp.offset;
  s.relative = memory->mem.base == ZYDIS_REGISTER_RIP;
  s.movable = i.address_width == 64 && i.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
}

}  // namespace

const decoder* decoder::open(std::string& why) {
  static const decoder opened;
  static constinit std::optional<bool> loaded;  // at the start there is one thread
  if (!loaded.has_value()) loaded = load();
  if (!*loaded)
    why = "the library " QUIRE_ZYDIS_FILE
          ", which reads instructions, is not on this machine (Debian: apt install libzydis4.0)";
  return *loaded ? &opened : nullptr;
}

bool decoder::decode(std::span<const std::byte> code, std::uint64_t address, instruction& into) const noexcept {
  ZydisDecoderContext context;
  ZydisDecodedInstruction i;
  if (!ZYAN_SUCCESS(g_zydis.instruction(&g_zydis.decoder, &context, code.data(),
                                        std::min<std::size_t>(code.size(), site::most_bytes), &i)))
    return false;
  into = {};
  into.length = i.length;
  site& s = into.what;
  s.address = address;
  s.length = i.length;
  into.jumps = i.raw.imm[0].size != 0 && i.raw.imm[0].is_relative;
  if (into.jumps) into.target = address + i.length + static_cast<std::uint64_t>(i.raw.imm[0].value.s);
  into.is_site = true;
  if (is_update(i)) {
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT_VISIBLE];
    const bool known =
        ZYAN_SUCCESS(g_zydis.operands(&g_zydis.decoder, &context, &i, operands, i.operand_count_visible));
    describe(i, known ? memory_operand(i, operands) : nullptr, code.data(), s);
  } else if (i.mnemonic == ZYDIS_MNEMONIC_MFENCE) {
    s.kind = site_kind::fence;
  } else if (i.mnemonic == ZYDIS_MNEMONIC_PAUSE) {
    s.kind = site_kind::spin;
  } else if (i.mnemonic == ZYDIS_MNEMONIC_XBEGIN) {
    s.kind = site_kind::transaction;
  } else {
    into.is_site = false;
  }
  if (into.is_site && s.kind != site_kind::update && s.kind != site_kind::transaction && s.movable)
    std::memcpy(s.bytes.data(), code.data(), i.length);
  return true;
}

}  // namespace quire::openmp::sites
#else
namespace quire::openmp::sites {

const decoder* decoder::open(std::string& why) {
  why = "this Quire was built without Zydis, which reads instructions (Debian: libzydis-dev)";
  return nullptr;
}

bool decoder::decode(std::span<const std::byte>, std::uint64_t, instruction&) const noexcept { return false; }

}  // namespace quire::openmp::sites
#endif
