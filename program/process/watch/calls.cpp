// SPDX-License-Identifier: BSD-3-Clause
#include "program/process/watch/calls.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "program/process/watch/arena.hpp"
#include "program/process/watch/code_changes.hpp"
#include "program/sites/elf_view.hpp"
#include "program/sites/known_libraries.hpp"
#include "program/sites/look.hpp"

namespace quire::program::watch {
namespace {

/// How far a jump's operand may be, less what tables need.
constexpr std::uint64_t reach = (std::uint64_t{1} << 31) - (std::uint64_t{1} << 20);

bool is_shared(const module& m, std::uint64_t at) noexcept {
  const auto all = m.data();
  return std::any_of(all.begin(), all.end(), [at](const data_range& r) { return at >= r.first && at < r.end; });
}

/// Where the words lie that other nodes' writes may take away, upwards.
std::vector<std::uint64_t> words_of(const module& m) {
  std::vector<std::uint64_t> found;
  const auto* const entry = m.entry(DT_JMPREL);
  if (entry == nullptr) return found;
  const auto* const all = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr);
  for (std::uint64_t i = 0; i < value(m, DT_PLTRELSZ) / sizeof(ElfW(Rela)); ++i) {
    const std::uint64_t at = m.base + all[i].r_offset;
    if (is_shared(m, at)) found.push_back(at);
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Linkage tables as they are loaded.
std::vector<data_range> tables_of(const module& m) {
  std::vector<data_range> found;
  const sites::file_bytes file(m.name[0] == 0 ? own_file() : m.name);
  const sites::elf_view elf(file.get());
  const auto sections = elf.sections();
  const auto* const head = elf.table<Elf64_Ehdr>(0, 1).data();
  if (sections.empty() || head->e_shstrndx >= sections.size()) return found;
  const Elf64_Shdr& texts = sections[head->e_shstrndx];
  const auto names = elf.table<char>(texts.sh_offset, texts.sh_size);
  for (const Elf64_Shdr& s : sections) {
    const std::uint64_t first = m.base + s.sh_addr;
    if (sites::name_in(names, s.sh_name).substr(0, 4) == ".plt" && s.sh_type == SHT_PROGBITS && first >= m.code_first &&
        s.sh_size <= m.code_end - first)
      found.push_back({first, first + s.sh_size});
  }
  return found;
}

class copies {
 public:
  void add(const module& m) {
    const std::vector<std::uint64_t> words = words_of(m);
    if (words.empty()) return;
    const std::vector<data_range> tables = tables_of(m);
    for (const data_range& t : tables) {
      const std::span<const std::uint8_t> code(reinterpret_cast<const std::uint8_t*>(t.first), t.end - t.first);
      for (table_jump j = next_jump(code, t.first, t.first, words); j.at != 0;
           j = next_jump(code, t.first, j.at + table_jump::bytes, words))
        add(m, tables, j);
    }
  }
  void perform() {
    if (words_.keep()) (void)changes_.perform();
  }

 private:
  void add(const module& m, std::span<const data_range> tables, const table_jump& j) {
    const std::uint64_t to = *reinterpret_cast<const std::uint64_t*>(j.target);
    const bool is_bound = to != 0 && std::none_of(tables.begin(), tables.end(),
                                                  [to](const data_range& t) { return to >= t.first && to < t.end; });
    const std::uint64_t word = is_bound ? take(m) : 0;
    if (word == 0) return;
    std::memcpy(reinterpret_cast<void*>(word), &to, sizeof to);
    const auto distance = static_cast<std::int32_t>(word - (j.at + table_jump::bytes));
    std::array<std::uint8_t, sizeof distance> bytes{};
    std::memcpy(bytes.data(), &distance, sizeof distance);
    changes_.set(j.at + table_jump::bytes - sizeof distance, bytes);
  }
  /// Below the module first: above a program its heap may grow.
  std::uint64_t take(const module& m) {
    const std::uint64_t low = m.code_end > reach ? m.code_end - reach : 0;
    const std::uint64_t word = words_.take(low, m.code_first - low, sizeof word);
    return word != 0 ? word : words_.take(m.code_end, m.code_first + reach - m.code_end, sizeof word);
  }

  arena words_{};
  code_changes changes_{};
};

}  // namespace

table_jump next_jump(std::span<const std::uint8_t> code, std::uint64_t address, std::uint64_t from,
                     std::span<const std::uint64_t> words) noexcept {
  for (std::uint64_t i = from - address; i + table_jump::bytes <= code.size(); ++i) {
    if (code[i] != 0xff || code[i + 1] != 0x25) continue;
    std::int32_t distance = 0;
    std::memcpy(&distance, &code[i + 2], sizeof distance);
    const std::uint64_t target = address + i + table_jump::bytes + static_cast<std::uint64_t>(std::int64_t{distance});
    if (std::binary_search(words.begin(), words.end(), target)) return {address + i, target};
  }
  return {};
}

void keep_calls_private(std::span<const module> modules) {
  if (!may_change_code()) return;
  copies all;
  for (const module& m : modules) {
    if (m.programs && m.dynamic != nullptr) all.add(m);
  }
  all.perform();
}

}  // namespace quire::program::watch
