// SPDX-License-Identifier: BSD-3-Clause
// The reader of shared libraries: what it accepts, and what it says of what it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "code/elf_file.hpp"
#include "elf_sample.hpp"

namespace quire::code::code_elf_test {
namespace {

using test::elf_sample;
using testing::HasSubstr;

#if defined(__x86_64__)

refusal read(const std::vector<std::byte>& file) {
  elf_file f;
  return f.read(file);
}
refusal read(const elf_sample& s) { return read(s.make()); }

void expect_refused(const elf_sample& s, quire_status why, const char* words) {
  const refusal got = read(s);
  EXPECT_EQ(got.why, why) << words;
  EXPECT_THAT(got.text, HasSubstr(words));
}

TEST(code_elf, a_whole_library) {
  elf_sample s;
  const auto puts = s.import("puts");
  s.function("area", elf_sample::code + 8);
  s.symbol("count", STT_OBJECT, STB_GLOBAL, elf_sample::words, 9);
  s.symbol("local", STT_FUNC, STB_LOCAL, elf_sample::code, 5);
  s.symbol("fixed", STT_NOTYPE, STB_GLOBAL, 77, SHN_ABS);
  s.needed("libm.so.6");
  s.relocation(elf_sample::constant_words, R_X86_64_GLOB_DAT, puts, 0);
  s.tag(DT_INIT_ARRAY, elf_sample::constant_words + 64);
  s.tag(DT_INIT_ARRAYSZ, 16);
  s.tag(DT_INIT, elf_sample::code);
  const auto file = s.make();
  elf_file f;
  const refusal why = f.read(file);
  ASSERT_TRUE(why.ok()) << why.text;
  EXPECT_EQ(f.image().first, 0u);
  EXPECT_EQ(f.image().end, elf_sample::end);
  EXPECT_EQ(f.relro().first, elf_sample::relro);
  EXPECT_EQ(f.relro().end, elf_sample::data);
  ASSERT_EQ(f.segments().size(), 3u);
  EXPECT_TRUE(f.segments()[1].run);
  EXPECT_TRUE(f.segments()[2].written);
  ASSERT_EQ(f.symbols().size(), 6u);
  EXPECT_EQ(f.symbols()[1].name, "puts");
  EXPECT_FALSE(f.symbols()[1].defined);
  EXPECT_TRUE(f.symbols()[2].exported);
  EXPECT_TRUE(f.symbols()[3].exported);
  EXPECT_FALSE(f.symbols()[4].exported);
  EXPECT_TRUE(f.symbols()[5].absolute);
  EXPECT_FALSE(f.symbols()[5].exported);
  ASSERT_EQ(f.relocations().size(), 1u);
  EXPECT_EQ(f.relocations()[0].symbol, puts);
  ASSERT_EQ(f.needed().size(), 1u);
  EXPECT_EQ(f.needed()[0], "libm.so.6");
  EXPECT_EQ(f.init(), elf_sample::code);
  EXPECT_EQ(f.init_array().bytes(), 16u);
  EXPECT_EQ(f.unwind_tables().first, elf_sample::unwind_tables);
  EXPECT_EQ(f.unwind_tables().bytes(), 20u);
}

TEST(code_elf, what_is_no_library_of_this_machine) {
  EXPECT_THAT(read(std::vector<std::byte>{}).text, HasSubstr("no ELF file"));
  elf_sample s;
  s.head.e_ident[1] = 'F';
  expect_refused(s, QUIRE_INVALID, "no ELF file");
  s = {};
  s.head.e_ident[EI_CLASS] = ELFCLASS32;
  expect_refused(s, QUIRE_INVALID, "64 bits");
  s = {};
  s.head.e_machine = EM_PPC64;
  expect_refused(s, QUIRE_INVALID, "another kind of machine");
  s = {};
  s.head.e_type = ET_EXEC;
  expect_refused(s, QUIRE_INVALID, "it is a program");
  s = {};
  s.head.e_type = ET_REL;
  expect_refused(s, QUIRE_INVALID, "object file");
  s = {};
  s.head.e_type = ET_CORE;
  expect_refused(s, QUIRE_INVALID, "no shared library");
  s = {};
  s.tag(DT_FLAGS_1, DF_1_PIE);
  expect_refused(s, QUIRE_INVALID, "it is a program");
  s = {};
  s.segments[elf_sample::dynamic_segment].p_type = PT_NOTE;
  expect_refused(s, QUIRE_INVALID, "-static");
}

TEST(code_elf, segments_that_cannot_be) {
  elf_sample s;
  s.segments[elf_sample::code_segment].p_flags |= PF_W;
  expect_refused(s, QUIRE_UNSUPPORTED, "both written and run");
  s = {};
  s.segments[elf_sample::code_segment].p_filesz = 0x200;
  expect_refused(s, QUIRE_INVALID, "more in the file than in memory");
  s = {};
  s.segments[elf_sample::code_segment].p_vaddr = 0x800;
  expect_refused(s, QUIRE_INVALID, "begins in a page of the one before");
  s = {};
  s.segments[elf_sample::written_segment].p_memsz = std::uint64_t{2} << 30;
  expect_refused(s, QUIRE_LIMIT, "1 GiB");
  s = {};
  s.segments[elf_sample::written_segment].p_vaddr = ~std::uint64_t{0} - 100;
  expect_refused(s, QUIRE_LIMIT, "1 GiB");
  s = {};
  s.segments[elf_sample::relro_segment].p_vaddr = elf_sample::data;
  expect_refused(s, QUIRE_INVALID, "read-only after relocation");
  s = {};
  std::swap(s.segments[elf_sample::code_segment].p_flags, s.segments[elf_sample::written_segment].p_flags);
  expect_refused(s, QUIRE_UNSUPPORTED, "behind one that is");
  s = {};
  for (auto& h : s.segments) {
    if (h.p_type == PT_LOAD) h.p_type = PT_NULL;
  }
  expect_refused(s, QUIRE_INVALID, "nothing that is loaded");
}

TEST(code_elf, tables_that_lie_elsewhere) {
  const auto with_tag = [](std::int64_t tag, std::uint64_t value) {
    elf_sample s;
    s.tag(tag, value);
    return s;
  };
  expect_refused(with_tag(DT_SYMTAB, 0x8000), QUIRE_INVALID, "table of symbols");
  expect_refused(with_tag(DT_SYMENT, 16), QUIRE_INVALID, "size that is none");
  expect_refused(with_tag(DT_HASH, 0x8000), QUIRE_INVALID, "symbols are found");
  expect_refused(with_tag(DT_GNU_HASH, 0x10ffc), QUIRE_INVALID, "symbols are found");
  expect_refused(with_tag(DT_REL, 1), QUIRE_INVALID, "without addends");
  expect_refused(with_tag(DT_PLTREL, DT_REL), QUIRE_INVALID, "without addends");
  expect_refused(with_tag(DT_TEXTREL, 0), QUIRE_UNSUPPORTED, "-fPIC");
  expect_refused(with_tag(DT_FLAGS, DF_TEXTREL), QUIRE_UNSUPPORTED, "-fPIC");
  expect_refused(with_tag(DT_NEEDED, 0x7000), QUIRE_INVALID, "library that it needs");
  expect_refused(with_tag(DT_INIT, elf_sample::data), QUIRE_INVALID, "no code of it");
  elf_sample s;
  s.tag(DT_INIT_ARRAY, elf_sample::bss);
  s.tag(DT_INIT_ARRAYSZ, 8);
  expect_refused(s, QUIRE_INVALID, "constructors");
  s = {};
  s.relocation(elf_sample::words, R_X86_64_64, 1000);
  expect_refused(s, QUIRE_INVALID, "symbol that is none");
  s = {};
  s.function("beyond", elf_sample::end + 1);
  expect_refused(s, QUIRE_INVALID, "'beyond'");
  s = {};
  s.word(elf_sample::unwind_tables + 16, 0xffff0000ff0);  // no end
  expect_refused(s, QUIRE_INVALID, "do not end");
}

TEST(code_elf, alignment_beyond_a_page) {
  elf_sample s;
  s.section(SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 4096);
  s.section(SHT_PROGBITS, 0, 1 << 16);  // is not loaded
  EXPECT_TRUE(read(s).ok());
  s.section(SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 1 << 16);
  expect_refused(s, QUIRE_UNSUPPORTED, "0x3000 has an alignment of 65536 bytes");
}

/// Symbols whose names are the whole table of names, each: to read them all takes hours where they are many.
TEST(code_elf, names_have_a_bound) {
  constexpr std::uint64_t count = 66, names_bytes = 16 << 20;
  constexpr std::uint64_t symbols = elf_sample::end, hash = symbols + count * sizeof(Elf64_Sym), names = hash + 8,
                          end = names + names_bytes;
  elf_sample s;
  const std::uint64_t at = s.make().size();
  auto tables = s.segments[elf_sample::written_segment];
  tables.p_vaddr = symbols;
  tables.p_offset = at;
  tables.p_filesz = tables.p_memsz = end - symbols;
  s.segments.push_back(tables);
  for (const auto& [tag, value] : {std::pair{DT_SYMTAB, symbols}, {DT_HASH, hash}, {DT_STRTAB, names}})
    s.tag(tag, value);
  auto file = s.make();
  file.resize(at + tables.p_filesz, std::byte{'a'});
  file.back() = std::byte{0};
  Elf64_Sym one{};
  std::memcpy(file.data() + at, &one, sizeof one);
  one.st_name = 1;
  one.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  one.st_shndx = 5;
  one.st_value = elf_sample::code;
  for (std::uint64_t i = 1; i < count; ++i) std::memcpy(file.data() + at + i * sizeof one, &one, sizeof one);
  const std::uint32_t counts[] = {1, count};
  std::memcpy(file.data() + at + (hash - symbols), counts, sizeof counts);
  for (std::uint64_t entry = elf_sample::relro;; entry += sizeof(Elf64_Dyn)) {  // the size of the table of names
    Elf64_Dyn d;
    std::memcpy(&d, file.data() + entry, sizeof d);
    ASSERT_NE(d.d_tag, DT_NULL);
    if (d.d_tag != DT_STRSZ) continue;
    d.d_un.d_val = names_bytes;
    std::memcpy(file.data() + entry, &d, sizeof d);
    break;
  }
  const refusal why = read(file);
  EXPECT_EQ(why.why, QUIRE_LIMIT) << why.text;
  EXPECT_THAT(why.text, HasSubstr("names"));
}

TEST(code_elf, packed_relative_relocations) {
  elf_sample s;
  s.tag(DT_RELR, elf_sample::relative);
  s.tag(DT_RELRSZ, 24);
  s.word(elf_sample::relative, elf_sample::words);
  s.word(elf_sample::relative + 8, 0b1011);                       // words 1 and 3 behind it
  s.word(elf_sample::relative + 16, std::uint64_t{1} << 63 | 1);  // the last word of the next 63
  const auto file = s.make();
  elf_file f;
  ASSERT_TRUE(f.read(file).ok());
  const std::vector<std::uint64_t> expected = {elf_sample::words, elf_sample::words + 8, elf_sample::words + 24,
                                               elf_sample::words + 8 + 63 * 8 + 62 * 8};
  EXPECT_EQ(std::vector<std::uint64_t>(f.relative_words().begin(), f.relative_words().end()), expected);
}

TEST(code_elf, every_beginning_of_a_library_is_refused) {
  const auto whole = elf_sample().make();
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes));
    const refusal why = read(part);
    ASSERT_FALSE(why.ok()) << bytes;
    ASSERT_FALSE(why.text.empty()) << bytes;
  }
}

/// What linkers make: lazily bound, bound at once; with tables for names in both ways.
TEST(code_elf, libraries_of_the_linker) {
  for (const char* const kind : {"lazy", "now", "other"}) {
    std::string path = QUIRE_BINARY_DIR "/tests/libredirect_victim_";
    path.append(kind).append(".so");
    std::ifstream stream(path, std::ios::binary);
    const std::vector<char> content{std::istreambuf_iterator<char>(stream), {}};
    ASSERT_FALSE(content.empty());
    elf_file f;
    const refusal why = f.read(std::as_bytes(std::span(content)));
    ASSERT_TRUE(why.ok()) << why.text;
    EXPECT_GT(f.relro().bytes(), 0u);
    EXPECT_GT(f.unwind_tables().bytes(), 4u);
    EXPECT_GT(f.symbols().size(), 3u);
    EXPECT_TRUE(std::any_of(f.symbols().begin(), f.symbols().end(),
                            [](const elf_symbol& s) { return s.exported && s.type == STT_FUNC; }));
  }
}

#endif

}  // namespace
}  // namespace quire::code::code_elf_test
