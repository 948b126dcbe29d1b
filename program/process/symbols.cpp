// SPDX-License-Identifier: BSD-3-Clause
#include "program/process/symbols.hpp"

#include <string.h>

namespace quire::program {
namespace {

/// As an executable's is that gives no symbol to libraries.
bool is_empty(const std::uint32_t* gnu_hash) noexcept {
  const std::uint32_t buckets = gnu_hash[0], words = gnu_hash[2];
  const std::uint32_t* const bucket = gnu_hash + 4 + 2 * words;
  for (std::uint32_t i = 0; i < buckets; ++i) {
    if (bucket[i] != 0) return false;
  }
  return true;
}

}  // namespace

dynamic_symbols::dynamic_symbols(const ElfW(Dyn) * dynamic, std::uint64_t base) noexcept : base_(base) {
  const std::uint32_t *hash = nullptr, *gnu_hash = nullptr;
  const ElfW(Rela)* data = nullptr, *calls = nullptr;
  std::uint64_t data_bytes = 0, calls_bytes = 0;
  for (const ElfW(Dyn)* d = dynamic; d != nullptr && d->d_tag != DT_NULL; ++d) {
    // The linker has written addresses, but where the section is read-only.
    const auto at = static_cast<std::uint64_t>(d->d_un.d_ptr) < base ? base + d->d_un.d_ptr : d->d_un.d_ptr;
    if (d->d_tag == DT_SYMTAB) table_ = reinterpret_cast<const ElfW(Sym)*>(at);
    if (d->d_tag == DT_STRTAB) texts_ = reinterpret_cast<const char*>(at);
    if (d->d_tag == DT_VERSYM) versions_ = reinterpret_cast<const ElfW(Versym)*>(at);
    if (d->d_tag == DT_HASH) hash = reinterpret_cast<const std::uint32_t*>(at);
    if (d->d_tag == DT_GNU_HASH) gnu_hash = reinterpret_cast<const std::uint32_t*>(at);
    if (d->d_tag == DT_RELA) data = reinterpret_cast<const ElfW(Rela)*>(at);
    if (d->d_tag == DT_RELASZ) data_bytes = d->d_un.d_val;
    if (d->d_tag == DT_JMPREL) calls = reinterpret_cast<const ElfW(Rela)*>(at);
    if (d->d_tag == DT_PLTRELSZ) calls_bytes = d->d_un.d_val;
  }
  if (table_ == nullptr || texts_ == nullptr) return;
  gnu_hash_ = gnu_hash;
  if (hash != nullptr) {
    count_ = hash[1];
  } else if (gnu_hash != nullptr) {
    count_by(gnu_hash);
    if (is_empty(gnu_hash)) {
      count_by(data, data_bytes);
      count_by(calls, calls_bytes);
    }
  }
}

/// A symbol that is looked up in other modules has a relocation.
void dynamic_symbols::count_by(const ElfW(Rela) * first, std::uint64_t bytes) noexcept {
  for (std::uint64_t i = 0; first != nullptr && i < bytes / sizeof *first; ++i) {
    const auto symbol = static_cast<std::uint32_t>(ELF64_R_SYM(first[i].r_info));
    count_ = symbol >= count_ ? symbol + 1 : count_;
  }
}

/// Symbols that are not in the table of hashes come first; the last one ends the last chain. Where it has none, it does
/// not tell of the others either: these have relocations.
void dynamic_symbols::count_by(const std::uint32_t* gnu_hash) noexcept {
  const std::uint32_t buckets = gnu_hash[0], first = gnu_hash[1], words = gnu_hash[2];
  const std::uint32_t* const bucket = gnu_hash + 4 + 2 * words;  // filter words have 64 bits
  const std::uint32_t* const chain = bucket + buckets;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < buckets; ++i) last = bucket[i] > last ? bucket[i] : last;
  count_ = first;
  if (last < first) return;
  while ((chain[last - first] & 1) == 0) ++last;
  count_ = last + 1;
}

const void* dynamic_symbols::newest(const char* name) const noexcept {
  if (gnu_hash_ != nullptr) return newest_by_hash(name);
  for (std::uint32_t i = 1; i < count_; ++i) {
    if (is_newest(i, name)) return reinterpret_cast<const void*>(base_ + table_[i].st_value);
  }
  return nullptr;
}

bool dynamic_symbols::is_newest(std::uint32_t i, const char* name) const noexcept {
  constexpr ElfW(Versym) older = 0x8000;
  return is_defined_function(table_[i]) && (versions_ == nullptr || (versions_[i] & older) == 0) &&
         strcmp(this->name(i), name) == 0;
}

const void* dynamic_symbols::newest_by_hash(const char* name) const noexcept {
  std::uint32_t hash = 5381;
  for (const char* c = name; *c != 0; ++c) hash = hash * 33 + static_cast<unsigned char>(*c);
  const std::uint32_t buckets = gnu_hash_[0], first = gnu_hash_[1], words = gnu_hash_[2];
  const std::uint32_t* const bucket = gnu_hash_ + 4 + 2 * words;
  const std::uint32_t* const chain = bucket + buckets;
  std::uint32_t i = buckets != 0 ? bucket[hash % buckets] : 0;
  for (; i >= first && i != 0; ++i) {
    const std::uint32_t of = chain[i - first];
    if ((of | 1) == (hash | 1) && is_newest(i, name)) return reinterpret_cast<const void*>(base_ + table_[i].st_value);
    if ((of & 1) != 0) break;
  }
  return nullptr;
}

bool dynamic_symbols::defines(const char* name) const noexcept {
  return any_defined([name](const char* one, const void*) { return strcmp(one, name) == 0; });
}

}  // namespace quire::program
