// SPDX-License-Identifier: BSD-3-Clause
#include "code/image.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace quire::code {
namespace {

constexpr std::uint32_t no_import = ~std::uint32_t{0};
constexpr std::uint64_t thunk_bytes = 8, word_bytes = 8;

enum class meaning {
  nothing,   ///< no relocation at all
  relative,  ///< an address of the image
  symbol,    ///< the address of a symbol, and an addend
  call,      ///< the address of a symbol, for calls alone
  load_time_function,
  thread_local_variable,
  unknown,
};

#if defined(__x86_64__)
meaning meaning_of(std::uint32_t type) noexcept {
  switch (type) {
    case R_X86_64_NONE:
      return meaning::nothing;
    case R_X86_64_RELATIVE:
      return meaning::relative;
    case R_X86_64_64:
    case R_X86_64_GLOB_DAT:
      return meaning::symbol;
    case R_X86_64_JUMP_SLOT:
      return meaning::call;
    case R_X86_64_IRELATIVE:
      return meaning::load_time_function;
    case R_X86_64_DTPMOD64:
    case R_X86_64_DTPOFF64:
    case R_X86_64_TPOFF64:
    case R_X86_64_TLSDESC:
      return meaning::thread_local_variable;
    default:
      return meaning::unknown;
  }
}
/// jmp *distance(%rip): to what the slot holds.
void write_thunk(std::byte* at, std::uint64_t address, std::uint64_t slot) noexcept {
  const std::uint8_t jump[] = {0xff, 0x25};
  const auto distance = static_cast<std::int32_t>(slot - (address + sizeof jump + sizeof(std::int32_t)));
  std::memcpy(at, jump, sizeof jump);
  std::memcpy(at + sizeof jump, &distance, sizeof distance);
  std::memset(at + sizeof jump + sizeof distance, 0xcc, thunk_bytes - sizeof jump - sizeof distance);
}
#else
// The caller has refused this machine (code/service/service.cpp).
meaning meaning_of(std::uint32_t) noexcept { return meaning::unknown; }
void write_thunk(std::byte*, std::uint64_t, std::uint64_t) noexcept {}
#endif

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

std::uint64_t aligned(std::uint64_t bytes) noexcept { return (bytes + 15) / 16 * 16; }

}  // namespace

std::string image::name_at(const elf_relocation& r) const {
  const std::string_view name = file_->symbols().empty() ? std::string_view{} : file_->symbols()[r.symbol].name;
  return name.empty() ? "without a name" : quoted(name);
}

/// Whatever its place will be.
refusal image::check_relocation(const elf_relocation& r) const {
  switch (meaning_of(r.type)) {
    case meaning::nothing:
      return {};
    case meaning::load_time_function: {
      const auto name = file_->name_of(STT_GNU_IFUNC, static_cast<std::uint64_t>(r.addend));
      return refuse(
          QUIRE_UNSUPPORTED,
          "its function " + (name.empty() ? std::string("without a name") : quoted(name)) +
              " is chosen for each processor when it is loaded (IFUNC), and nodes may differ: choose in the program");
    }
    case meaning::thread_local_variable: {
      std::string_view name = file_->symbols().empty() ? std::string_view{} : file_->symbols()[r.symbol].name;
      if (name.empty()) name = file_->name_of(STT_TLS);
      return refuse(QUIRE_UNSUPPORTED, "its variable " + (name.empty() ? std::string("without a name") : quoted(name)) +
                                           " is thread_local: threads of other nodes would have none");
    }
    case meaning::unknown:
      return refuse(QUIRE_UNSUPPORTED, "it has a relocation of type " + std::to_string(r.type) + " (" + name_at(r) +
                                           "), which is not known here");
    default:
      break;
  }
  if (r.where % word_bytes != 0 || !file_->image().has(r.where, word_bytes))
    return invalid("a relocation (" + name_at(r) + ") changes what is not loaded");
  if (r.where < file_->relro().first) {
    return refuse(QUIRE_UNSUPPORTED,
                  "its code would be changed by relocation (" + name_at(r) + "): compile all of it with -fPIC");
  }
  return {};
}

refusal image::plan(const elf_file& file, std::string_view name) {
  *this = {};
  file_ = &file;
  name_ = name;
  for (const elf_relocation& r : file.relocations()) {
    if (auto why = check_relocation(r); !why.ok()) return why;
  }
  if (file.has_thread_local()) {
    const auto variable = file.name_of(STT_TLS);
    return refuse(QUIRE_UNSUPPORTED, "its variable " +
                                         (variable.empty() ? std::string("without a name") : quoted(variable)) +
                                         " is thread_local: threads of other nodes would have none");
  }
  for (const std::uint64_t where : file.relative_words()) {
    if (where % word_bytes != 0 || where < file.relro().first || !file.image().has(where, word_bytes)) {
      return invalid("a relative relocation changes what is no data");
    }
  }
  const auto symbols = file.symbols();
  import_of_.assign(symbols.size(), no_import);
  std::uint64_t names = name.size() + 1;
  for (const elf_relocation& r : file.relocations()) {
    const auto what = meaning_of(r.type);
    if (what != meaning::symbol && what != meaning::call) continue;
    if (r.symbol == 0 || symbols[r.symbol].defined) continue;
    const elf_symbol& s = symbols[r.symbol];
    if (import_of_[r.symbol] == no_import) {
      import_of_[r.symbol] = static_cast<std::uint32_t>(imports_.size());
      imports_.push_back({s.name, s.binding == STB_WEAK, s.type});
      names += s.name.size() + 1;
    }
    import& used = imports_[import_of_[r.symbol]];
    if (r.where >= file.relro().end && s.name.starts_with("_ZTI") && used.copy == import::no_copy)
      used.copy = copies_++;
  }
  for (std::uint32_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i].defined && symbols[i].type == STT_GNU_IFUNC) {
      return refuse(
          QUIRE_UNSUPPORTED,
          "its function " + quoted(symbols[i].name) +
              " is chosen for each processor when it is loaded (IFUNC), and nodes may differ: choose in the program");
    }
    if (!symbols[i].exported) continue;
    exports_.push_back(i);
    names += symbols[i].name.size() + 1;
    functions_ += symbols[i].type == STT_FUNC ? 1 : 0;
  }
  std::sort(exports_.begin(), exports_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return symbols[a].name < symbols[b].name; });
  // No linker makes the same name twice; a file may have it all the same.
  exports_.erase(std::unique(exports_.begin(), exports_.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return symbols[a].name == symbols[b].name; }),
                 exports_.end());
  for (const std::string_view library : file.needed()) names += library.size() + 1;
  most_patches_ = file.relocations().size() + imports_.size() + copies_;
  const std::uint64_t rows = aligned(sizeof(module_record)) + aligned(imports_.size() * sizeof(import_row)) +
                             aligned(most_patches_ * sizeof(patch_row)) +
                             aligned(exports_.size() * sizeof(export_row)) +
                             aligned(file.needed().size() * sizeof(std::uint32_t)) + aligned(names);
  record_bytes_ = rows + file.relro().bytes();
  thunks_at_ = aligned(record_bytes_);
  sizes_.code = page_up(thunks_at_ + imports_.size() * thunk_bytes) + (file.relro().first - file.image().first);
  sizes_.gap = file.relro().bytes();
  // Entries have pages of their own: what is called does not go to and fro with what is written.
  const std::uint64_t variables = file.image().end - file.relro().end, entries = page_up((functions_ + 2) * word_bytes);
  sizes_.data = variables + entries;
  sizes_.slots = page_up(aligned(imports_.size() * word_bytes) + copies_ * std::uint64_t{import::most_copied_bytes});
  if (sizes_.code + sizes_.gap + sizes_.data + sizes_.slots > elf_file::most_bytes) {
    return refuse(QUIRE_LIMIT,
                  "with the names of its symbols and what nodes must know of them it has more than 1 GiB, the most "
                  "that is loaded");
  }
  return {};
}

/// The parts as they grow, and where they will lie.
struct image::writer {
  const elf_file& file;
  linked_parts& parts;
  std::uint64_t base, distance;  ///< what is added to addresses of the file
  std::uint64_t data, slots, copies;
  module_record record{};
  std::vector<patch_row> patches{};
  std::vector<char> strings{};
  std::span<std::byte> relro{};

  [[nodiscard]] std::uint64_t copy(std::uint32_t number) const noexcept {
    return copies + number * std::uint64_t{import::most_copied_bytes};
  }
  [[nodiscard]] std::uint64_t moved(std::uint64_t address) const noexcept {
    return address == 0 ? 0 : address + distance;
  }
  [[nodiscard]] bool is_private(std::uint64_t where) const noexcept { return where < file.relro().end; }
  /// A word of what is written.
  [[nodiscard]] std::byte* word(std::uint64_t where) noexcept {
    return is_private(where) ? relro.data() + (where - file.relro().first)
                             : parts.data.data() + (where - file.relro().end);
  }
  void put(std::uint64_t where, std::uint64_t value) noexcept { std::memcpy(word(where), &value, sizeof value); }
  [[nodiscard]] std::uint32_t add(std::string_view text) {
    const auto at = static_cast<std::uint32_t>(strings.size());
    strings.insert(strings.end(), text.begin(), text.end());
    strings.push_back(0);
    return at;
  }
  template <class Row>
  record_table place(std::uint64_t& next, std::span<const Row> rows) {
    const record_table at{next, rows.size()};
    if (!rows.empty()) std::memcpy(parts.code.data() + next, rows.data(), rows.size_bytes());
    next += aligned(rows.size_bytes());
    return at;
  }
};

void image::fill(writer& to) const {
  const auto copy = [&](const elf_segment& s, address_range part, std::byte* into) {
    const std::uint64_t first = std::max(s.address, part.first), end = std::min(s.address + s.content.size(), part.end);
    if (first < end) std::memcpy(into + (first - part.first), s.content.data() + (first - s.address), end - first);
  };
  std::byte* const run = to.parts.code.data() + (to.parts.code.size() - (file_->relro().first - file_->image().first));
  for (const elf_segment& s : file_->segments()) {
    copy(s, {file_->image().first, file_->relro().first}, run);
    copy(s, file_->relro(), to.relro.data());
    copy(s, {file_->relro().end, file_->image().end}, to.parts.data.data());
  }
}

refusal image::relocate_import(writer& to, const elf_relocation& r) const {
  const std::uint32_t number = import_of_[r.symbol];
  const import& what = imports_[number];
  const auto addend = static_cast<std::uint64_t>(r.addend);
  const bool calls = meaning_of(r.type) == meaning::call;
  if (what.kind == import_kind::absent) {
    to.put(r.where, calls ? 0 : addend);
  } else if (what.kind == import_kind::function && (!calls || !to.is_private(r.where))) {
    to.put(r.where, to.base + thunks_at_ + number * thunk_bytes + (calls ? 0 : addend));
  } else if (what.kind == import_kind::object && what.copy != import::no_copy && !to.is_private(r.where)) {
    to.put(r.where, to.copy(what.copy) + addend);
  } else if (to.is_private(r.where)) {
    to.patches.push_back({r.where + to.distance, calls ? 0 : r.addend, number});
  } else {
    return refuse(QUIRE_UNSUPPORTED,
                  "a variable of it holds the address of " + quoted(what.name) +
                      ", an object of another library, which lies elsewhere on each node: " +
                      (file_->relro().bytes() == 0 ? "link it with -Wl,-z,relro" : "make the variable const"));
  }
  return {};
}

refusal image::relocate(writer& to, const elf_relocation& r) const {
  switch (meaning_of(r.type)) {
    case meaning::relative:
      to.put(r.where, to.distance + static_cast<std::uint64_t>(r.addend));
      return {};
    case meaning::symbol:
    case meaning::call:
      break;
    default:
      return {};
  }
  const bool calls = meaning_of(r.type) == meaning::call;
  if (r.symbol == 0) {
    to.put(r.where, static_cast<std::uint64_t>(r.addend));
    return {};
  }
  const elf_symbol& s = file_->symbols()[r.symbol];
  if (!s.defined) return relocate_import(to, r);
  to.put(r.where, (s.absolute ? s.value : s.value + to.distance) + (calls ? 0 : static_cast<std::uint64_t>(r.addend)));
  return {};
}

void image::write_tables(writer& to) const {
  std::vector<import_row> imports;
  for (const import& i : imports_) imports.push_back({to.add(i.name), i.kind, {}});
  std::vector<export_row> exports;
  std::uint32_t entry = 0;
  for (const std::uint32_t number : exports_) {
    const elf_symbol& s = file_->symbols()[number];
    export_row& row = exports.emplace_back();
    row.address = s.value + to.distance;
    row.name = to.add(s.name);
    if (s.type != STT_FUNC) continue;
    std::memcpy(to.parts.data.data() + (to.record.entries - to.data) + entry * word_bytes, &row.address, word_bytes);
    row.entry = entry++;
  }
  std::vector<std::uint32_t> needed;
  for (const std::string_view library : file_->needed()) needed.push_back(to.add(library));
  to.record.name = to.add(name_);
  std::uint64_t next = aligned(sizeof(module_record)) + aligned(file_->relro().bytes());  // RELRO is there already
  to.record.imports = to.place(next, std::span<const import_row>(imports));
  to.record.patches = to.place(next, std::span<const patch_row>(to.patches));
  to.record.exports = to.place(next, std::span<const export_row>(exports));
  to.record.needed = to.place(next, std::span<const std::uint32_t>(needed));
  to.record.strings = to.place(next, std::span<const char>(to.strings));
  to.record.bytes = next;
  std::memcpy(to.parts.code.data(), &to.record, sizeof to.record);
}

refusal image::link(const place& at, linked_parts& made) const {
  made.code.assign(sizes_.code, std::byte{0});
  made.data.assign(sizes_.data, std::byte{0});
  const std::uint64_t run_at = at.base + sizes_.code - (file_->relro().first - file_->image().first);
  const std::uint64_t data = at.base + sizes_.code + sizes_.gap, slots = data + sizes_.data;
  writer to{
      *file_, made, at.base, run_at - file_->image().first, data, slots, slots + aligned(imports_.size() * word_bytes)};
  to.relro = std::span(made.code).subspan(aligned(sizeof(module_record)), file_->relro().bytes());
  module_record& r = to.record;
  r.code_handle = at.code_handle;
  r.data_handle = at.data_handle;
  r.base = at.base;
  r.code_end = at.base + sizes_.code;
  r.private_at = r.code_end;
  r.private_bytes = sizes_.gap;
  r.private_content = aligned(sizeof(module_record));
  r.data = to.data;
  r.data_bytes = sizes_.data;
  r.entries = to.data + (file_->image().end - file_->relro().end);
  r.users = r.entries + functions_ * word_bytes;
  r.ended = r.users + word_bytes;
  r.slots = to.slots;
  r.slots_bytes = sizes_.slots;
  r.unwind_tables = to.moved(file_->unwind_tables().first);
  r.unwind_bytes = file_->unwind_tables().bytes();
  r.init = to.moved(file_->init());
  r.fini = to.moved(file_->fini());
  r.init_array = to.moved(file_->init_array().first);
  r.init_count = file_->init_array().bytes() / word_bytes;
  r.fini_array = to.moved(file_->fini_array().first);
  r.fini_count = file_->fini_array().bytes() / word_bytes;
  fill(to);
  for (const std::uint64_t where : file_->relative_words()) {
    std::uint64_t value = 0;
    std::memcpy(&value, to.word(where), sizeof value);
    to.put(where, value + to.distance);
  }
  for (const elf_relocation& one : file_->relocations()) {
    if (auto why = relocate(to, one); !why.ok()) return why;
  }
  for (std::uint32_t i = 0; i < imports_.size(); ++i) {
    const import& one = imports_[i];
    if (one.kind == import_kind::object && one.copy != import::no_copy) {
      if (one.bytes == 0 || one.bytes > import::most_copied_bytes) {
        return refuse(QUIRE_UNSUPPORTED, "the descriptor of a type that it catches, " + quoted(one.name) +
                                             ", has a size that is not known here");
      }
      to.patches.push_back({to.copy(one.copy), 0, i, one.bytes});
    }
    if (one.kind == import_kind::function) {
      to.patches.push_back({to.slots + i * word_bytes, 0, i});
      write_thunk(made.code.data() + thunks_at_ + i * thunk_bytes, at.base + thunks_at_ + i * thunk_bytes,
                  to.slots + i * word_bytes);
    }
  }
  write_tables(to);
  return {};
}

}  // namespace quire::code
