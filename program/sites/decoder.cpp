// SPDX-License-Identifier: BSD-3-Clause
#include "program/sites/decoder.hpp"

#ifdef QUIRE_HAVE_ZYDIS
#include <Zydis/Decoder.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace quire::program::sites {
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

// ---- Effects

/// The general register that it is, or is a part of.
std::uint8_t general(ZydisRegister r) noexcept {
  const auto within = [r](ZydisRegister first, ZydisRegister last) { return r >= first && r <= last; };
  const auto from = [r](ZydisRegister first) { return static_cast<std::uint8_t>(r - first); };
  if (within(ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15)) return from(ZYDIS_REGISTER_RAX);
  if (within(ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_R15D)) return from(ZYDIS_REGISTER_EAX);
  if (within(ZYDIS_REGISTER_AX, ZYDIS_REGISTER_R15W)) return from(ZYDIS_REGISTER_AX);
  if (within(ZYDIS_REGISTER_AL, ZYDIS_REGISTER_BL)) return from(ZYDIS_REGISTER_AL);
  if (within(ZYDIS_REGISTER_AH, ZYDIS_REGISTER_BH)) return from(ZYDIS_REGISTER_AH);
  if (within(ZYDIS_REGISTER_SPL, ZYDIS_REGISTER_R15B)) return static_cast<std::uint8_t>(from(ZYDIS_REGISTER_SPL) + rsp);
  return r == ZYDIS_REGISTER_RIP ? rip : no_reg;
}

bool is_whole(const ZydisDecodedOperand& o) noexcept {
  return o.type == ZYDIS_OPERAND_TYPE_REGISTER && o.reg.value >= ZYDIS_REGISTER_RAX &&
         o.reg.value <= ZYDIS_REGISTER_R15;
}

/// Of the first 16 vector registers; no_reg if it is none.
std::uint8_t vector_register(ZydisRegister r) noexcept {
  for (const ZydisRegister first : {ZYDIS_REGISTER_XMM0, ZYDIS_REGISTER_YMM0, ZYDIS_REGISTER_ZMM0}) {
    if (r >= first && r < first + 16) return static_cast<std::uint8_t>(r - first);
  }
  return no_reg;
}

void add_register(const ZydisDecodedOperand& o, effects& e) noexcept {
  const std::uint8_t which = general(o.reg.value), vector = vector_register(o.reg.value);
  if (vector != no_reg) {
    const auto bit = static_cast<reg_set>(1u << vector);
    if ((o.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) e.vector_reads |= bit;
    if ((o.actions & ZYDIS_OPERAND_ACTION_WRITE) != 0) e.vector_replaces |= bit;
    return;
  }
  if ((o.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) e.reads |= only(which);
  // What is written in some cases only, or in part, may stay.
  if ((o.actions & ZYDIS_OPERAND_ACTION_WRITE) != 0 && o.size >= 32) e.replaces |= only(which);
}

bool add_memory(const ZydisDecodedOperand& o, effects& e) noexcept {
  if (e.uses == e.memory.size()) return false;
  memory_use& m = e.memory[e.uses++];
  const auto named = [&m](ZydisRegister r, std::uint8_t& into) {
    if (r == ZYDIS_REGISTER_NONE) return true;
    into = general(r);
    return into != no_reg;  // not so: several addresses at a time
  };
  m.reads = (o.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
  m.writes = (o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
  m.of_thread = o.mem.segment == ZYDIS_REGISTER_FS || o.mem.segment == ZYDIS_REGISTER_GS;
  m.displacement = o.mem.disp.value;
  m.bytes = o.size / 8u;
  return named(o.mem.base, m.base) && named(o.mem.index, m.index);
}

/// Which kind it is, where that is more than what its operands tell.
effects::kind kind_of(const ZydisDecodedInstruction& i, const ZydisDecodedOperand* o, effects& e) noexcept {
  using enum effects::kind;
  const bool two = i.operand_count_visible == 2;
  switch (i.meta.category) {
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_INTERRUPT:
      return i.mnemonic == ZYDIS_MNEMONIC_RET ? leaves : unknown;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return e.direct ? jump : unknown;
    case ZYDIS_CATEGORY_COND_BR:
      return e.direct ? branch : unknown;
    case ZYDIS_CATEGORY_CALL:
      return call;
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
      return unknown;
    default:
      break;
  }
  switch (i.mnemonic) {
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
      return leaves;
    case ZYDIS_MNEMONIC_LEAVE:
      return frame_end;
    case ZYDIS_MNEMONIC_ENTER:
      return unknown;
    case ZYDIS_MNEMONIC_PUSH:
      if (is_whole(o[0])) e.from = general(o[0].reg.value);
      return push;
    case ZYDIS_MNEMONIC_POP:
      if (is_whole(o[0])) e.to = general(o[0].reg.value);
      return is_whole(o[0]) ? pop : unknown;
    case ZYDIS_MNEMONIC_LEA:
      if (is_whole(o[0])) e.to = general(o[0].reg.value);
      return address;
    case ZYDIS_MNEMONIC_MOV:
      if (is_whole(o[0])) e.to = general(o[0].reg.value);
      if (is_whole(o[1])) e.from = general(o[1].reg.value);
      if (e.to != no_reg && e.from != no_reg) return copy;
      if (e.to != no_reg && o[1].type == ZYDIS_OPERAND_TYPE_MEMORY) return load;
      return e.from != no_reg && o[0].type == ZYDIS_OPERAND_TYPE_MEMORY ? store : plain;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_AND:
      if (!two || o[0].type != ZYDIS_OPERAND_TYPE_REGISTER || o[0].reg.value != ZYDIS_REGISTER_RSP ||
          o[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return plain;
      e.amount = i.mnemonic == ZYDIS_MNEMONIC_SUB ? -o[1].imm.value.s : o[1].imm.value.s;
      return i.mnemonic == ZYDIS_MNEMONIC_AND ? align_sp : move_sp;
    default:
      return plain;
  }
}

/// By itself: what it had is not used.
bool clears_register(const ZydisDecodedInstruction& i, const ZydisDecodedOperand* o) noexcept {
  constexpr ZydisMnemonic two[] = {ZYDIS_MNEMONIC_XOR, ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_PXOR, ZYDIS_MNEMONIC_XORPS,
                                   ZYDIS_MNEMONIC_XORPD},
                          three[] = {ZYDIS_MNEMONIC_VPXOR, ZYDIS_MNEMONIC_VXORPS, ZYDIS_MNEMONIC_VXORPD};
  const auto same = [o](unsigned a, unsigned b) {
    return o[a].type == ZYDIS_OPERAND_TYPE_REGISTER && o[b].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           o[a].reg.value == o[b].reg.value;
  };
  if (std::find(std::begin(two), std::end(two), i.mnemonic) != std::end(two)) return same(0, 1) && o[0].size >= 32;
  return std::find(std::begin(three), std::end(three), i.mnemonic) != std::end(three) && same(1, 2) &&
         i.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX;
}

// ---- Numbers

/// What an instruction does with numbers: lane 0 stands for what its operands have, bytes 0 for a whole register.
struct number_row {
  ZydisMnemonic plain, vex;
  value_step::kind what;
  combining how;
  std::uint8_t bytes, lane;
  bool real, ordered = false;
};
constexpr std::uint8_t whole = 0;
constexpr auto moves = value_step::kind::move, combines = value_step::kind::combine;
constexpr number_row numbers[] = {
    {ZYDIS_MNEMONIC_MOVD, ZYDIS_MNEMONIC_VMOVD, moves, {}, 4, 4, false},
    {ZYDIS_MNEMONIC_MOVQ, ZYDIS_MNEMONIC_VMOVQ, moves, {}, 8, 8, false},
    {ZYDIS_MNEMONIC_MOVSS, ZYDIS_MNEMONIC_VMOVSS, moves, {}, 4, 4, true},
    {ZYDIS_MNEMONIC_MOVSD, ZYDIS_MNEMONIC_VMOVSD, moves, {}, 8, 8, true},
    {ZYDIS_MNEMONIC_MOVAPS, ZYDIS_MNEMONIC_VMOVAPS, moves, {}, whole, 4, true},
    {ZYDIS_MNEMONIC_MOVAPD, ZYDIS_MNEMONIC_VMOVAPD, moves, {}, whole, 8, true},
    {ZYDIS_MNEMONIC_MOVUPS, ZYDIS_MNEMONIC_VMOVUPS, moves, {}, whole, 4, true},
    {ZYDIS_MNEMONIC_MOVUPD, ZYDIS_MNEMONIC_VMOVUPD, moves, {}, whole, 8, true},
    {ZYDIS_MNEMONIC_MOVDQA, ZYDIS_MNEMONIC_VMOVDQA, moves, {}, whole, 8, false},
    {ZYDIS_MNEMONIC_MOVDQU, ZYDIS_MNEMONIC_VMOVDQU, moves, {}, whole, 8, false},
    {ZYDIS_MNEMONIC_ADDSS, ZYDIS_MNEMONIC_VADDSS, combines, combining::add, 4, 4, true},
    {ZYDIS_MNEMONIC_ADDSD, ZYDIS_MNEMONIC_VADDSD, combines, combining::add, 8, 8, true},
    {ZYDIS_MNEMONIC_ADDPS, ZYDIS_MNEMONIC_VADDPS, combines, combining::add, whole, 4, true},
    {ZYDIS_MNEMONIC_ADDPD, ZYDIS_MNEMONIC_VADDPD, combines, combining::add, whole, 8, true},
    {ZYDIS_MNEMONIC_PADDD, ZYDIS_MNEMONIC_VPADDD, combines, combining::add, whole, 4, false},
    {ZYDIS_MNEMONIC_PADDQ, ZYDIS_MNEMONIC_VPADDQ, combines, combining::add, whole, 8, false},
    {ZYDIS_MNEMONIC_SUBSS, ZYDIS_MNEMONIC_VSUBSS, combines, combining::add, 4, 4, true, true},
    {ZYDIS_MNEMONIC_SUBSD, ZYDIS_MNEMONIC_VSUBSD, combines, combining::add, 8, 8, true, true},
    {ZYDIS_MNEMONIC_MULSS, ZYDIS_MNEMONIC_VMULSS, combines, combining::multiply, 4, 4, true},
    {ZYDIS_MNEMONIC_MULSD, ZYDIS_MNEMONIC_VMULSD, combines, combining::multiply, 8, 8, true},
    {ZYDIS_MNEMONIC_MULPD, ZYDIS_MNEMONIC_VMULPD, combines, combining::multiply, whole, 8, true},
    {ZYDIS_MNEMONIC_MINSS, ZYDIS_MNEMONIC_VMINSS, combines, combining::least, 4, 4, true},
    {ZYDIS_MNEMONIC_MINSD, ZYDIS_MNEMONIC_VMINSD, combines, combining::least, 8, 8, true},
    {ZYDIS_MNEMONIC_MAXSS, ZYDIS_MNEMONIC_VMAXSS, combines, combining::greatest, 4, 4, true},
    {ZYDIS_MNEMONIC_MAXSD, ZYDIS_MNEMONIC_VMAXSD, combines, combining::greatest, 8, 8, true},
    {ZYDIS_MNEMONIC_ADD, ZYDIS_MNEMONIC_ADD, combines, combining::add, whole, 0, false},
    {ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_SUB, combines, combining::add, whole, 0, false, true},
    {ZYDIS_MNEMONIC_INC, ZYDIS_MNEMONIC_INC, combines, combining::add, whole, 0, false},
    {ZYDIS_MNEMONIC_DEC, ZYDIS_MNEMONIC_DEC, combines, combining::add, whole, 0, false},
    {ZYDIS_MNEMONIC_IMUL, ZYDIS_MNEMONIC_IMUL, combines, combining::multiply, whole, 0, false},
    {ZYDIS_MNEMONIC_MOV, ZYDIS_MNEMONIC_MOV, moves, {}, whole, 0, false},
    {ZYDIS_MNEMONIC_CMPXCHG, ZYDIS_MNEMONIC_CMPXCHG, value_step::kind::exchange, {}, whole, 0, false},
};
constexpr std::uint8_t no_operand = 0xff;

/// As value_step has it.
std::uint8_t operand_of(const ZydisDecodedOperand& o) noexcept {
  if (o.type == ZYDIS_OPERAND_TYPE_MEMORY) return in_memory;
  if (o.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) return constant;
  if (o.type != ZYDIS_OPERAND_TYPE_REGISTER) return no_operand;
  const bool in_general = (o.reg.value >= ZYDIS_REGISTER_EAX && o.reg.value <= ZYDIS_REGISTER_R15D) || is_whole(o);
  if (in_general) return general(o.reg.value);
  const std::uint8_t vector = vector_register(o.reg.value);
  return vector == no_reg || o.size > 256 ? no_operand : static_cast<std::uint8_t>(16 + vector);
}

/// What it is not, is used as if it were seen.
value_step step_of(const ZydisDecodedInstruction& i, const ZydisDecodedOperand* o, const effects& e) noexcept {
  const bool vex = i.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX;
  if ((!vex && i.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY) || e.clears || e.uses > 1) return {};
  const auto* const row = std::find_if(std::begin(numbers), std::end(numbers),
                                       [&](const number_row& r) { return (vex ? r.vex : r.plain) == i.mnemonic; });
  const unsigned count = i.operand_count_visible;
  if (row == std::end(numbers) || count == 0 || count > 3) return {};
  if ((i.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0) return {};
  if (count == 1 && row->how == combining::multiply) return {};  // into two registers
  value_step s{row->what, operand_of(o[0]), operand_of(o[0]), count == 1 ? constant : operand_of(o[count - 1])};
  if (count == 3) s.left = operand_of(o[1]);
  if (s.to == no_operand || s.left == no_operand || s.right == no_operand || s.to == constant) return {};
  const bool is_move = s.what == value_step::kind::move;
  const bool in_vectors = s.to != in_memory ? s.to >= 16 : s.right >= 16 && s.right < register_count;
  if (count == 3 && (is_move || !in_vectors)) return {};  // a part of each of two; a product of others
  if (row->lane != 0 && !in_vectors && (!is_move || s.right < 16)) return {};  // strings, and what is no number
  if (row->what == value_step::kind::exchange && (s.to != in_memory || (i.attributes & ZYDIS_ATTRIB_HAS_LOCK) == 0))
    return {};
  s.bytes = row->bytes != whole ? row->bytes : static_cast<std::uint8_t>(o[0].size / 8);
  s.lane = row->lane != 0 ? row->lane : s.bytes;
  if (s.bytes < 4 || (row->lane == 0 && s.bytes > 8)) return {};
  s.real = row->real;
  s.ordered = row->ordered;
  s.how = row->how;
  s.merges = is_move && row->real && row->bytes != whole && s.to < register_count && s.right < register_count;
  return s;
}

}  // namespace

bool decoder::decode(std::span<const std::byte> code, std::uint64_t address, effects& into) const noexcept {
  ZydisDecoderContext context;
  ZydisDecodedInstruction i;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  const library& z = g_zydis;
  if (!ZYAN_SUCCESS(
          z.instruction(&z.decoder, &context, code.data(), std::min<std::size_t>(code.size(), site::most_bytes), &i)) ||
      !ZYAN_SUCCESS(z.operands(&z.decoder, &context, &i, operands, i.operand_count)))
    return false;
  into = {};
  into.length = i.length;
  if (i.mnemonic == ZYDIS_MNEMONIC_NOP || i.mnemonic == ZYDIS_MNEMONIC_VZEROUPPER) return true;
  into.direct = i.raw.imm[0].size != 0 && i.raw.imm[0].is_relative;
  if (into.direct) into.target = address + i.length + static_cast<std::uint64_t>(i.raw.imm[0].value.s);
  for (const ZydisDecodedOperand& o : std::span(operands, i.operand_count)) {
    if (o.type == ZYDIS_OPERAND_TYPE_REGISTER) add_register(o, into);
    // The stack of push, pop, call and ret goes without saying.
    const bool implied = o.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && o.type == ZYDIS_OPERAND_TYPE_MEMORY &&
                         o.mem.base == ZYDIS_REGISTER_RSP;
    if (o.type == ZYDIS_OPERAND_TYPE_MEMORY && !implied && !add_memory(o, into)) return false;
  }
  into.clears = clears_register(i, operands);
  if (into.clears) into.reads = into.vector_reads = 0;
  into.what = kind_of(i, operands, into);
  into.step = step_of(i, operands, into);
  if (i.cpu_flags != nullptr) {
    const ZydisAccessedFlags& f = *i.cpu_flags;
    constexpr ZyanU32 all =
        ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF;
    into.tests_flags = (f.tested & all) != 0;
    into.sets_flags = ((f.modified | f.set_0 | f.set_1 | f.undefined) & all) == all;
  }
  return true;
}

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

}  // namespace quire::program::sites
#else
namespace quire::program::sites {

const decoder* decoder::open(std::string& why) {
  why = "this Quire was built without Zydis, which reads instructions (Debian: libzydis-dev)";
  return nullptr;
}

bool decoder::decode(std::span<const std::byte>, std::uint64_t, instruction&) const noexcept { return false; }
bool decoder::decode(std::span<const std::byte>, std::uint64_t, effects&) const noexcept { return false; }

}  // namespace quire::program::sites
#endif
