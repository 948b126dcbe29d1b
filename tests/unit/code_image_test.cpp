// SPDX-License-Identifier: BSD-3-Clause
// From a shared library to shared memory: which word gets what; and what a node makes of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <map>

#include "code/attach.hpp"
#include "code/image.hpp"
#include "elf_sample.hpp"

namespace quire::code::code_image_test {
namespace {

using test::elf_sample;
using testing::HasSubstr;

#if defined(__x86_64__)

constexpr std::uint64_t base = 0x208000000000;

/// A sample that is planned and linked; kinds of imports by their names.
struct built {
  explicit built(const elf_sample& s, std::map<std::string_view, import_kind> kinds = {}, std::uint64_t at = base)
      : file(s.make()) {
    why = elf.read(file);
    if (why.ok()) why = made.plan(elf, "sample");
    if (!why.ok()) return;
    for (import& i : made.imports()) {
      i.kind = kinds.contains(i.name) ? kinds[i.name] : import_kind::absent;
      if (i.copy != import::no_copy) i.bytes = 24;
    }
    why = made.link({at, 11, 12}, parts);
  }
  [[nodiscard]] const module_record& record() const {
    return *reinterpret_cast<const module_record*>(parts.code.data());
  }
  /// The address of the job of an address of the file.
  [[nodiscard]] std::uint64_t moved(std::uint64_t address) const {
    return record().code_end - elf_sample::relro + address;
  }
  [[nodiscard]] std::uint64_t word(std::uint64_t address) const {
    std::uint64_t value = 0;
    const std::byte* const from = address < elf_sample::data
                                      ? parts.code.data() + record().private_content + (address - elf_sample::relro)
                                      : parts.data.data() + (address - elf_sample::data);
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  [[nodiscard]] std::vector<patch_row> patches() const {
    const auto* const all = record().rows<patch_row>(record().patches);
    return {all, all + record().patches.count};
  }
  [[nodiscard]] const patch_row* patch_of(std::uint64_t address) const {
    const auto* const all = record().rows<patch_row>(record().patches);
    for (std::uint64_t i = 0; i < record().patches.count; ++i) {
      if (all[i].where == address) return &all[i];
    }
    return nullptr;
  }
  /// Where a thunk jumps to by way of: `jmp *distance(%rip)`.
  [[nodiscard]] std::uint64_t slot_of_thunk(std::uint64_t thunk) const {
    const std::byte* const code = parts.code.data() + (thunk - record().base);
    EXPECT_EQ(code[0], std::byte{0xff});
    EXPECT_EQ(code[1], std::byte{0x25});
    std::int32_t distance = 0;
    std::memcpy(&distance, code + 2, sizeof distance);
    return thunk + 6 + static_cast<std::uint64_t>(std::int64_t{distance});
  }

  std::vector<std::byte> file;
  elf_file elf;
  image made;
  linked_parts parts;
  refusal why;
};

void expect_refused(const built& b, quire_status why, std::initializer_list<const char*> words) {
  EXPECT_EQ(b.why.why, why) << b.why.text;
  for (const char* const word : words) EXPECT_THAT(b.why.text, HasSubstr(word));
}

TEST(code_image, parts_lie_one_behind_the_other) {
  elf_sample s;
  s.function("area", elf_sample::code);
  const built b(s);
  ASSERT_TRUE(b.why.ok()) << b.why.text;
  const module_record& r = b.record();
  EXPECT_EQ(r.base, base);
  EXPECT_EQ(r.code_end, base + b.made.sizes().code);
  EXPECT_EQ(r.private_at, r.code_end);
  EXPECT_EQ(r.private_bytes, elf_sample::data - elf_sample::relro);
  EXPECT_EQ(r.data, r.private_at + r.private_bytes);
  EXPECT_EQ(r.slots, r.data + r.data_bytes);
  EXPECT_EQ(r.data_bytes, elf_sample::end - elf_sample::data + page_bytes);  // and the table of entries
  EXPECT_EQ(b.moved(elf_sample::data), r.data);
  EXPECT_GE(r.users, r.entries + 8);
  EXPECT_EQ(r.ended, r.users + 8);
  EXPECT_LE(r.ended + 8, r.data + r.data_bytes);
  EXPECT_EQ(r.code_handle, 11u);
  EXPECT_EQ(r.data_handle, 12u);
  EXPECT_EQ(r.unwind_tables, b.moved(elf_sample::unwind_tables));
  EXPECT_STREQ(r.text(r.name), "sample");
  EXPECT_LE(r.bytes, b.made.sizes().code);
  EXPECT_TRUE(r.has(r.base));
  EXPECT_FALSE(r.has(r.base - 1));
  EXPECT_FALSE(r.has(r.slots + r.slots_bytes));
  // The headers of the file are where its first page is.
  EXPECT_EQ(std::memcmp(b.parts.code.data() + (b.moved(0) - base), ELFMAG, SELFMAG), 0);
}

TEST(code_image, what_is_the_same_on_all_nodes) {
  elf_sample s;
  const auto area = s.function("area", elf_sample::code + 16);
  const auto fixed = s.symbol("fixed", STT_NOTYPE, STB_GLOBAL, 77, SHN_ABS);
  s.relocation(elf_sample::constant_words, R_X86_64_RELATIVE, 0, elf_sample::words);
  s.relocation(elf_sample::constant_words + 8, R_X86_64_64, area, 4);
  s.relocation(elf_sample::constant_words + 16, R_X86_64_JUMP_SLOT, area, 4);
  s.relocation(elf_sample::words, R_X86_64_RELATIVE, 0, elf_sample::code);
  s.relocation(elf_sample::words + 8, R_X86_64_GLOB_DAT, area);
  s.relocation(elf_sample::words + 16, R_X86_64_64, fixed, 1);
  s.relocation(elf_sample::words + 24, R_X86_64_NONE, area);
  s.relocation(elf_sample::bss + 8, R_X86_64_RELATIVE, 0, elf_sample::bss);
  s.tag(DT_RELR, elf_sample::relative);
  s.tag(DT_RELRSZ, 8);
  s.word(elf_sample::relative, elf_sample::words + 64);
  s.word(elf_sample::words + 64, elf_sample::code + 2);
  const built b(s);
  ASSERT_TRUE(b.why.ok()) << b.why.text;
  EXPECT_EQ(b.word(elf_sample::constant_words), b.moved(elf_sample::words));
  EXPECT_EQ(b.word(elf_sample::constant_words + 8), b.moved(elf_sample::code + 20));
  EXPECT_EQ(b.word(elf_sample::constant_words + 16), b.moved(elf_sample::code + 16));
  EXPECT_EQ(b.word(elf_sample::words), b.moved(elf_sample::code));
  EXPECT_EQ(b.word(elf_sample::words + 8), b.moved(elf_sample::code + 16));
  EXPECT_EQ(b.word(elf_sample::words + 16), 78u);
  EXPECT_EQ(b.word(elf_sample::words + 24), 0u);
  EXPECT_EQ(b.word(elf_sample::bss + 8), b.moved(elf_sample::bss));
  EXPECT_EQ(b.word(elf_sample::words + 64), b.moved(elf_sample::code + 2));
  EXPECT_TRUE(b.patches().empty());
}

TEST(code_image, functions_of_others) {
  elf_sample s;
  const auto puts = s.import("puts");
  s.relocation(elf_sample::constant_words, R_X86_64_JUMP_SLOT, puts);     // called
  s.relocation(elf_sample::constant_words + 8, R_X86_64_GLOB_DAT, puts);  // its address is taken
  s.relocation(elf_sample::words, R_X86_64_64, puts);                     // a variable has it
  s.relocation(elf_sample::words + 8, R_X86_64_JUMP_SLOT, puts);  // called, by a table that is bound lazily elsewhere
  const built b(s, {{"puts", import_kind::function}});
  ASSERT_TRUE(b.why.ok()) << b.why.text;
  const std::uint64_t thunk = b.word(elf_sample::words);
  EXPECT_TRUE(thunk >= base && thunk < b.record().code_end);
  EXPECT_EQ(b.word(elf_sample::constant_words + 8), thunk);
  EXPECT_EQ(b.word(elf_sample::words + 8), thunk);
  EXPECT_EQ(b.slot_of_thunk(thunk), b.record().slots);
  // Each node writes two words: of calls, and of the thunk.
  ASSERT_EQ(b.patches().size(), 2u);
  ASSERT_NE(b.patch_of(b.moved(elf_sample::constant_words)), nullptr);
  ASSERT_NE(b.patch_of(b.record().slots), nullptr);
  const auto* const imports = b.record().rows<import_row>(b.record().imports);
  EXPECT_STREQ(b.record().text(imports[b.patch_of(b.record().slots)->import].name), "puts");
}

TEST(code_image, objects_of_others) {
  elf_sample s;
  const auto table = s.import("_ZTVN10__cxxabiv117__class_type_infoE", STT_OBJECT);
  s.relocation(elf_sample::constant_words, R_X86_64_64, table, 16);
  const built b(s, {{"_ZTVN10__cxxabiv117__class_type_infoE", import_kind::object}});
  ASSERT_TRUE(b.why.ok()) << b.why.text;
  ASSERT_EQ(b.patches().size(), 1u);
  EXPECT_EQ(b.patches()[0].where, b.moved(elf_sample::constant_words));
  EXPECT_EQ(b.patches()[0].addend, 16);
  const auto stream = s.import("stdout", STT_OBJECT);
  s.relocation(elf_sample::words, R_X86_64_64, stream);
  expect_refused(
      built(s, {{"_ZTVN10__cxxabiv117__class_type_infoE", import_kind::object}, {"stdout", import_kind::object}}),
      QUIRE_UNSUPPORTED, {"'stdout'", "const"});
}

TEST(code_image, objects_need_what_is_read_only_after_relocation) {
  elf_sample s;
  s.segments[elf_sample::relro_segment].p_type = PT_NULL;
  s.relocation(elf_sample::constant_words, R_X86_64_64, s.import("stdout", STT_OBJECT));
  expect_refused(built(s, {{"stdout", import_kind::object}}), QUIRE_UNSUPPORTED, {"'stdout'", "-z,relro"});
}

TEST(code_image, descriptors_of_types_in_variables_are_copied) {
  elf_sample s;
  const auto type = s.import("_ZTISt9exception", STT_OBJECT);
  s.relocation(elf_sample::words, R_X86_64_64, type);
  s.relocation(elf_sample::constant_words, R_X86_64_64, type);
  const built b(s, {{"_ZTISt9exception", import_kind::object}});
  ASSERT_TRUE(b.why.ok()) << b.why.text;
  const std::uint64_t copy = b.word(elf_sample::words);
  EXPECT_TRUE(copy >= b.record().slots && copy + 24 <= b.record().slots + b.record().slots_bytes);
  ASSERT_NE(b.patch_of(copy), nullptr);
  EXPECT_EQ(b.patch_of(copy)->copied_bytes, 24u);
  ASSERT_NE(b.patch_of(b.moved(elf_sample::constant_words)), nullptr);
  EXPECT_EQ(b.patch_of(b.moved(elf_sample::constant_words))->copied_bytes, 0u);
}

TEST(code_image, weak_imports_that_nobody_has_are_zero) {
  elf_sample s;
  const auto none = s.import("__gmon_start__", STT_NOTYPE, STB_WEAK);
  s.word(elf_sample::constant_words, 99);
  s.relocation(elf_sample::constant_words, R_X86_64_GLOB_DAT, none);
  s.word(elf_sample::words, 98);
  s.relocation(elf_sample::words, R_X86_64_JUMP_SLOT, none);
  const built b(s);
  ASSERT_TRUE(b.why.ok()) << b.why.text;
  EXPECT_EQ(b.word(elf_sample::constant_words), 0u);
  EXPECT_EQ(b.word(elf_sample::words), 0u);
  EXPECT_TRUE(b.patches().empty());
}

TEST(code_image, what_cannot_be_shared_is_named) {
  elf_sample s;
  s.relocation(elf_sample::constant_words, R_X86_64_DTPMOD64, s.symbol("of_thread", STT_TLS, STB_GLOBAL, 0, 7));
  expect_refused(built(s), QUIRE_UNSUPPORTED, {"'of_thread'", "thread_local"});
  s = {};
  auto tls = s.segments[elf_sample::read_segment];
  tls.p_type = PT_TLS;
  s.segments.push_back(tls);
  s.symbol("quiet", STT_TLS, STB_GLOBAL, 0, 7);
  expect_refused(built(s), QUIRE_UNSUPPORTED, {"'quiet'", "thread_local"});
  s = {};
  s.symbol("chosen", STT_GNU_IFUNC, STB_GLOBAL, elf_sample::code, 5);
  expect_refused(built(s), QUIRE_UNSUPPORTED, {"'chosen'", "IFUNC"});
  s = {};
  s.relocation(elf_sample::constant_words, R_X86_64_IRELATIVE, 0, elf_sample::code);
  expect_refused(built(s), QUIRE_UNSUPPORTED, {"IFUNC"});
  s = {};
  s.relocation(elf_sample::code, R_X86_64_64, s.function("area", elf_sample::code));
  expect_refused(built(s), QUIRE_UNSUPPORTED, {"'area'", "-fPIC"});
  s = {};
  s.relocation(elf_sample::words, R_X86_64_COPY, s.import("environ", STT_OBJECT));
  expect_refused(built(s), QUIRE_UNSUPPORTED, {"'environ'", "type 5"});
  s = {};
  s.relocation(elf_sample::end - 4, R_X86_64_RELATIVE);
  expect_refused(built(s), QUIRE_INVALID, {"not loaded"});
  s = {};
  s.relocation(elf_sample::words + 4, R_X86_64_RELATIVE);
  expect_refused(built(s), QUIRE_INVALID, {"not loaded"});
}

TEST(code_image, exports_are_found_and_functions_have_entries) {
  elf_sample s;
  for (const char* const name : {"zebra", "area", "count_all", "b"})
    s.function(name, elf_sample::code + 8 * std::strlen(name));
  s.symbol("number", STT_OBJECT, STB_WEAK, elf_sample::words, 9);
  const built b(s);
  ASSERT_TRUE(b.why.ok()) << b.why.text;
  const module_record& r = b.record();
  ASSERT_EQ(r.exports.count, 5u);
  std::set<std::uint32_t> entries;
  for (const char* const name : {"zebra", "area", "count_all", "b"}) {
    const export_row* const row = r.find(name);
    ASSERT_NE(row, nullptr) << name;
    EXPECT_EQ(row->address, b.moved(elf_sample::code + 8 * std::strlen(name)));
    EXPECT_TRUE(entries.insert(row->entry).second);
    std::uint64_t held = 0;
    std::memcpy(&held, b.parts.data.data() + (r.entries - r.data) + row->entry * 8, sizeof held);
    EXPECT_EQ(held, row->address);
  }
  ASSERT_NE(r.find("number"), nullptr);
  EXPECT_EQ(r.find("number")->entry, export_row::no_entry);
  for (const char* const name : {"", "a", "areas", "zz"}) EXPECT_EQ(r.find(name), nullptr) << name;
}

TEST(code_image, the_default_version_is_exported) {
  for (const bool default_first : {false, true}) {
    elf_sample s;
    const std::uint64_t old = elf_sample::code + 8, now = elf_sample::code + 16;
    s.function("area", default_first ? now : old);
    s.function("area", default_first ? old : now);
    s.function("only_old", elf_sample::code + 24);
    s.tag(DT_VERSYM, elf_sample::relative);
    const std::uint64_t hidden = 0x8002, shown = 3;
    s.word(elf_sample::relative,
           (default_first ? shown : hidden) << 16 | (default_first ? hidden : shown) << 32 | hidden << 48);
    const built b(s);
    ASSERT_TRUE(b.why.ok()) << b.why.text;
    ASSERT_NE(b.record().find("area"), nullptr);
    EXPECT_EQ(b.record().find("area")->address, b.moved(now));
    EXPECT_EQ(b.record().find("only_old"), nullptr);
    EXPECT_EQ(b.record().exports.count, 1u);
  }
  elf_sample s;
  s.function("area", elf_sample::code);
  s.tag(DT_VERSYM, 0x8000);
  expect_refused(built(s), QUIRE_INVALID, {"versions"});
}

// ---- On a node

int imported(int value) { return value * 3; }
const char g_object[24] = "an object of a library";

class few_names final : public names {
 public:
  bool open(const char* library) override { return std::string_view(library) != "libnone.so"; }
  void* find(const char* name) override {
    if (std::string_view(name) == "imported") return reinterpret_cast<void*>(imported);
    if (std::string_view(name) == "object") return const_cast<char*>(g_object);
    return nullptr;
  }
};

/// Memory of this process where a module lies.
class attached_module {
 public:
  explicit attached_module(const elf_sample& s) {
    constexpr std::size_t bytes = 1 << 20;
    memory_ = static_cast<std::byte*>(::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    built_ = std::make_unique<built>(
        s,
        std::map<std::string_view, import_kind>{
            {"imported", import_kind::function}, {"object", import_kind::object}, {"lacks", import_kind::function}},
        reinterpret_cast<std::uint64_t>(memory_));
    EXPECT_TRUE(built_->why.ok()) << built_->why.text;
    const auto code = built_->parts.code.size();
    EXPECT_EQ(::mprotect(memory_, code, PROT_READ | PROT_WRITE), 0);
    std::memcpy(memory_, built_->parts.code.data(), code);
    EXPECT_EQ(::mprotect(memory_, code, PROT_READ | PROT_EXEC), 0);
  }
  ~attached_module() { ::munmap(memory_, 1 << 20); }
  [[nodiscard]] const module_record& record() const { return *reinterpret_cast<const module_record*>(memory_); }
  [[nodiscard]] const built& what() const { return *built_; }
  [[nodiscard]] bool has_private_memory() const {
    return ::madvise(reinterpret_cast<void*>(record().private_at), record().private_bytes, MADV_POPULATE_READ) == 0;
  }

 private:
  std::byte* memory_;
  std::unique_ptr<built> built_;
};

elf_sample with_imports() {
  elf_sample s;
  for (auto& h : s.segments) {
    if (h.p_type == PT_GNU_EH_FRAME) h.p_type = PT_NULL;  // the tables of the sample describe nothing
  }
  s.relocation(elf_sample::constant_words, R_X86_64_JUMP_SLOT, s.import("imported"));
  s.relocation(elf_sample::constant_words + 8, R_X86_64_64, s.import("object", STT_OBJECT), 3);
  return s;
}

TEST(code_attach, imports_of_the_node) {
  const attached_module m(with_imports());
  few_names names;
  ASSERT_EQ(attach(m.record(), names).kind, lacking::what::nothing);
  const auto word = [&](std::uint64_t address) {
    return *reinterpret_cast<const std::uint64_t*>(m.what().moved(address));
  };
  EXPECT_EQ(word(elf_sample::constant_words), reinterpret_cast<std::uint64_t>(imported));
  EXPECT_EQ(word(elf_sample::constant_words + 8), reinterpret_cast<std::uint64_t>(g_object) + 3);
  const auto* const patches = m.record().rows<patch_row>(m.record().patches);
  std::uint64_t slot = 0;
  for (std::uint64_t i = 0; i < m.record().patches.count; ++i) {
    if (patches[i].where >= m.record().slots) slot = patches[i].where;
  }
  ASSERT_NE(slot, 0u);
  EXPECT_EQ(*reinterpret_cast<const std::uint64_t*>(slot), reinterpret_cast<std::uint64_t>(imported));
  detach(m.record());
  EXPECT_FALSE(m.has_private_memory());
}

TEST(code_attach, thunks_jump_to_what_the_node_has) {
  elf_sample s = with_imports();
  s.relocation(elf_sample::words, R_X86_64_64, s.import("imported"));
  const attached_module m(s);
  few_names names;
  ASSERT_EQ(attach(m.record(), names).kind, lacking::what::nothing);
  const auto thunk = reinterpret_cast<int (*)(int)>(m.what().word(elf_sample::words));
  EXPECT_EQ(thunk(14), 42);
  detach(m.record());
}

TEST(code_attach, what_is_lacking_is_told_and_nothing_left) {
  elf_sample s = with_imports();
  s.relocation(elf_sample::constant_words + 16, R_X86_64_JUMP_SLOT, s.import("lacks"));
  const attached_module m(s);
  few_names names;
  const lacking why = attach(m.record(), names);
  EXPECT_EQ(why.kind, lacking::what::import);
  EXPECT_STREQ(m.record().text(m.record().rows<import_row>(m.record().imports)[why.number].name), "lacks");
  EXPECT_FALSE(m.has_private_memory());
  elf_sample t = with_imports();
  t.needed("libsome.so");
  t.needed("libnone.so");
  const attached_module n(t);
  const lacking library = attach(n.record(), names);
  EXPECT_EQ(library.kind, lacking::what::library);
  EXPECT_EQ(library.number, 1u);
  EXPECT_FALSE(n.has_private_memory());
}

TEST(code_attach, what_symbols_are) {
  program_names names(nullptr);
  EXPECT_EQ(kind_of(names.find("strtol"), STT_NOTYPE), import_kind::function);
  EXPECT_EQ(kind_of(names.find("environ"), STT_NOTYPE), import_kind::object);
  EXPECT_EQ(kind_of(names.find("no such name"), STT_FUNC), import_kind::absent);
  EXPECT_EQ(bytes_of(names.find("environ")), sizeof(char**));
  EXPECT_EQ(bytes_of(static_cast<const char*>(names.find("environ")) + 1), 0u);
  EXPECT_TRUE(names.open("libm.so.6"));
  EXPECT_FALSE(names.open("libno_such_library.so"));
  ASSERT_TRUE(names.open(QUIRE_BINARY_DIR "/tests/libconstants_in_code.so"));
  EXPECT_EQ(kind_of(names.find("constant_in_code"), STT_NOTYPE), import_kind::object);
  EXPECT_EQ(kind_of(names.find("function_of_library"), STT_NOTYPE), import_kind::function);
}

#endif

}  // namespace
}  // namespace quire::code::code_image_test
