// SPDX-License-Identifier: BSD-3-Clause
#include "program/sites/arguments.hpp"

#include <dlfcn.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/sites/argument.hpp"
#include "program/sites/changed_code.hpp"

extern "C" {
struct quire_bases {  // as libgcc has it
  void *text, *data, *function;
};
const void* _Unwind_Find_FDE(void* at, quire_bases* bases);  // NOLINT(bugprone-reserved-identifier)
}

namespace quire::program {
namespace {

const sites::decoder* g_decoder = nullptr;

/// Calls of OpenMP that take nothing; then those of libm that take numbers only.
constexpr const char* calls_of_nothing[] = {"omp_get_num_threads",
                                            "omp_get_thread_num",
                                            "omp_get_max_threads",
                                            "omp_in_parallel",
                                            "omp_get_level",
                                            "omp_get_wtime",
                                            "GOMP_barrier",
                                            "GOMP_critical_start",
                                            "GOMP_critical_end",
                                            "GOMP_loop_end",
                                            "GOMP_loop_end_nowait",
                                            "GOMP_single_start",
                                            "GOMP_atomic_start",
                                            "GOMP_atomic_end",
                                            "GOMP_taskwait",
                                            "GOMP_sections_next",
                                            "GOMP_sections_end",
                                            "GOMP_sections_end_nowait",
                                            "sin",
                                            "cos",
                                            "tan",
                                            "asin",
                                            "acos",
                                            "atan",
                                            "atan2",
                                            "sinh",
                                            "cosh",
                                            "tanh",
                                            "exp",
                                            "exp2",
                                            "expm1",
                                            "log",
                                            "log2",
                                            "log10",
                                            "log1p",
                                            "pow",
                                            "sqrt",
                                            "cbrt",
                                            "hypot",
                                            "fabs",
                                            "floor",
                                            "ceil",
                                            "round",
                                            "trunc",
                                            "fmod",
                                            "erf",
                                            "sinf",
                                            "cosf",
                                            "tanf",
                                            "expf",
                                            "logf",
                                            "powf",
                                            "sqrtf",
                                            "fabsf",
                                            "floorf",
                                            "fmodf",
                                            "tanhf",
                                            "atan2f",
                                            "hypotf"};
constinit std::array<std::uint64_t, std::size(calls_of_nothing)> g_calls_of_nothing{};
constexpr std::size_t calls_of_openmp_alone =
    std::find(std::begin(calls_of_nothing), std::end(calls_of_nothing), std::string_view("sin")) -
    std::begin(calls_of_nothing);

template <class T>
T read_at(const std::byte*& at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
  return value;
}

/// LEB128.
std::uint64_t read_number(const std::byte*& at) noexcept {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto next = static_cast<std::uint8_t>(*at++);
    if (shift < 64) value |= std::uint64_t{next & 0x7fu} << shift;
    if ((next & 0x80u) == 0) return value;
  }
}

/// Whether a function goes on somewhere when a call within throws: a handler, or destructors. `table`: its LSDA.
bool goes_on_elsewhere(const std::byte* table) noexcept {
  constexpr std::uint8_t none = 0xff, numbers = 0x01, words = 0x03;
  if (read_at<std::uint8_t>(table) != none) return true;
  if (read_at<std::uint8_t>(table) != none) (void)read_number(table);
  const auto form = read_at<std::uint8_t>(table);
  if (form != numbers && form != words) return true;
  const auto next = [&] { return form == numbers ? read_number(table) : read_at<std::uint32_t>(table); };
  const auto bytes = static_cast<std::size_t>(read_number(table));
  for (const std::byte* const end = table + bytes; table < end;) {
    (void)next();  // where the calls begin, and how many bytes they are
    (void)next();
    if (next() != 0) return true;
    (void)read_number(table);
  }
  return false;
}

/// How an exception passes through a function, as the compiler tells: the length of its code; 0 if the function goes on
/// somewhere else then, or if the tables are of a form that compilers do not write.
std::size_t plain_length(const void* description) noexcept {
  constexpr std::uint8_t relative_32 = 0x1b;  // DW_EH_PE_pcrel | DW_EH_PE_sdata4
  const auto* at = static_cast<const std::byte*>(description);
  if (read_at<std::uint32_t>(at) == 0xffffffffu) return 0;
  const auto* const here = at;
  const auto* common = here - read_at<std::uint32_t>(at);
  if (read_at<std::uint32_t>(common) == 0xffffffffu || read_at<std::uint32_t>(common) != 0) return 0;
  const auto version = read_at<std::uint8_t>(common);
  const std::string_view how(reinterpret_cast<const char*>(common));
  if (how.empty() || how[0] != 'z') return 0;
  common += how.size() + 1;
  (void)read_number(common);  // alignments, and the register of the return address
  (void)read_number(common);
  if (version == 1) {
    ++common;
  } else {
    (void)read_number(common);
  }
  (void)read_number(common);
  bool has_handlers = false;
  std::uint8_t pointers = 0;
  for (const char c : how.substr(1)) {
    if (c == 'R') {
      pointers = read_at<std::uint8_t>(common);
    } else if (c == 'L') {
      has_handlers = true;
      if (read_at<std::uint8_t>(common) != relative_32) return 0;
    } else if (c == 'P') {
      const auto form = read_at<std::uint8_t>(common);
      if ((form & 0x0fu) != 0x0bu) return 0;
      common += 4;
    } else if (c != 'S' && c != 'B') {
      return 0;
    }
  }
  if (pointers != relative_32) return 0;
  at += 4;  // where it begins
  const auto length = read_at<std::uint32_t>(at);
  if (!has_handlers) return length;
  if (read_number(at) < 4) return 0;
  const std::byte* const table = at;
  const auto distance = read_at<std::int32_t>(at);
  return distance != 0 && goes_on_elsewhere(table + distance) ? 0 : length;
}

/// What a jump of a table of calls goes to (the linker's PLT), or a word of the table that it reads.
struct calls_of_openmp : sites::known_calls {
  [[nodiscard]] sites::known_call find(std::uint64_t at, bool word) const noexcept override {
    using enum sites::arguments_taken;
    if (!word && !find_word(at)) return {};
    std::uint64_t to = 0;
    std::memcpy(&to, reinterpret_cast<const void*>(at), sizeof to);
    const auto& all = g_calls_of_nothing;
    const auto found = std::find(all.begin(), all.end(), to);
    if (to == 0 || found == all.end()) return {};
    const auto which = static_cast<std::size_t>(found - all.begin());
    return {which < calls_of_openmp_alone ? none : numbers, lock_change(calls_of_nothing[which])};
  }

 private:
  static sites::known_call::lock lock_change(std::string_view name) noexcept {
    using enum sites::known_call::lock;
    return name == "GOMP_atomic_start" ? takes : name == "GOMP_atomic_end" ? gives : none;
  }
  /// `at` becomes the word's address.
  static bool find_word(std::uint64_t& at) noexcept {
    std::array<std::uint8_t, 11> code;
    constexpr std::uint64_t page = 4096;
    if (page - at % page < code.size()) return false;
    std::memcpy(code.data(), reinterpret_cast<const void*>(at), code.size());
    constexpr std::array<std::uint8_t, 4> endbr{0xf3, 0x0f, 0x1e, 0xfa};
    std::size_t from = std::equal(endbr.begin(), endbr.end(), code.begin()) ? endbr.size() : 0;
    if (code[from] == 0xf2) ++from;  // bnd
    if (code[from] != 0xff || code[from + 1] != 0x25) return false;
    std::int32_t distance = 0;
    std::memcpy(&distance, reinterpret_cast<const void*>(at + from + 2), sizeof distance);
    at += from + 6 + static_cast<std::uint64_t>(std::int64_t{distance});
    return true;
  }
};

std::optional<data_use> look(void (*what)(void*), std::size_t most) noexcept {
  quire_bases bases{};
  auto* const begin = reinterpret_cast<std::byte*>(what);
  Dl_info file;
  if (g_decoder == nullptr || ::dladdr(begin, &file) == 0) return {};  // made as the program runs: it may change
  const void* const description = _Unwind_Find_FDE(begin, &bases);
  if (description == nullptr || bases.function != begin) return {};
  const std::size_t length = plain_length(description);
  constexpr std::size_t longest = 1u << 20;
  if (length == 0 || length > longest) return {};
  const std::vector<std::byte> code = sites::unchanged_code({begin, length});
  const auto use = sites::use_of_block(*g_decoder, code, reinterpret_cast<std::uint64_t>(begin),
                                       static_cast<std::uint32_t>(most), calls_of_openmp{});
  if (!use.has_value()) return {};
  return data_use{*use, static_cast<std::uint32_t>(length)};
}

/// What was found, and when. A function that finds its place taken is looked at again.
struct known {
  void (*what)(void*) = nullptr;
  std::uint32_t turn = 0;
  std::optional<data_use> use{};
};
constinit std::array<known, 1024> g_known{};
constinit std::atomic<std::uint32_t> g_turn{0};

}  // namespace

void open_arguments() noexcept {
  std::string why;
  g_decoder = sites::decoder::open(why);
  for (std::size_t i = 0; i < g_calls_of_nothing.size(); ++i)
    g_calls_of_nothing[i] = reinterpret_cast<std::uint64_t>(::dlsym(RTLD_DEFAULT, calls_of_nothing[i]));
}

const data_use* use_of_data(void (*what)(void* data), std::size_t most) noexcept {
  known& k = g_known[reinterpret_cast<std::uintptr_t>(what) / 16 % g_known.size()];
  const std::uint32_t turn = g_turn.load(std::memory_order_acquire);
  if (k.what != what || k.turn != turn) k = {what, turn, look(what, most)};
  return k.use ? &*k.use : nullptr;
}

void forget_arguments() noexcept { g_turn.fetch_add(1, std::memory_order_acq_rel); }

}  // namespace quire::program
