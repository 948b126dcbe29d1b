// SPDX-License-Identifier: BSD-3-Clause
#include "detect/python_place.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace quire::detect {
namespace {

/// Offsets in bytes, of CPython's pystate.h, code.h, unicodeobject.h and pycore_frame.h on 64 bits. They are fixed
/// within a version.
struct layout {
  std::string_view version;
  std::size_t current;                      ///< in the thread's state: its frame, or what holds it
  std::size_t within;                       ///< in the latter; `direct`: there is none
  std::size_t code, previous, instruction;  ///< in a frame
  std::size_t bytes;                        ///< in a code object: its instructions
  std::size_t text;                         ///< in a string of ASCII
};
constexpr std::size_t direct = ~std::size_t{0};
constexpr layout layouts[] = {{"3.11.", 56, 8, 32, 48, 56, 184, 48},
                              {"3.12.", 56, 0, 0, 8, 56, 192, 40},
                              {"3.13.", 72, direct, 0, 8, 56, 200, 40}};
constexpr std::size_t object_type = 8, code_file = 112, code_name = 120, string_state = 32;
constexpr std::uint32_t compact_ascii = 0x60;

constexpr int most_frames = 32;  // that are looked at for one of the program
constexpr std::size_t most_lines = 1024, longest_file = 119, longest_function = 59;

using thread_state_call = void* (*)();
using line_call = int (*)(void* code, int at);

const layout* g_layout = nullptr;
thread_state_call g_state = nullptr;
line_call g_line = nullptr;
const void* g_code_type = nullptr;
std::atomic<bool> g_known{false};  ///< the four before it are set

struct kept_line {
  std::atomic<int> state{0};  ///< 0: free, 1: somebody fills it in, 2: it is there
  int number = 0;
  char file[longest_file + 1] = {}, function[longest_function + 1] = {};
};
std::array<kept_line, most_lines> g_lines;

template <class T>
T at(const void* object, std::size_t offset) noexcept {
  T value;
  __builtin_memcpy(&value, static_cast<const char*>(object) + offset, sizeof value);
  return value;
}

/// Of a string that is ASCII, as are most; else nothing.
std::string_view text_of(const void* string) noexcept {
  if (string == nullptr || (at<std::uint32_t>(string, string_state) & compact_ascii) != compact_ascii) return {};
  return static_cast<const char*>(string) + g_layout->text;
}

/// Of the interpreter, of an installed package, or of Quire's.
bool is_foreign(std::string_view file) noexcept {
  return file.empty() || file.starts_with("<frozen") || file.starts_with("<shim") ||
         file.find("-packages/") != file.npos || file.find("/lib/python3.") != file.npos ||
         file.find("/quire/_") != file.npos;
}

void keep(char* to, std::size_t most, std::string_view text) noexcept {
  text.remove_prefix(text.size() - std::min(text.size(), most));
  std::copy(text.begin(), text.end(), to);
}

/// The entry for a line, a new one if it has none; most_lines: there is no room.
std::size_t entry_of(std::string_view file, std::string_view function, int number) noexcept {
  std::size_t hash = static_cast<std::size_t>(number) * 0x9e3779b97f4a7c15u;
  for (const char c : file) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  const std::string_view end_of_file = file.substr(file.size() - std::min(file.size(), longest_file));
  for (std::size_t i = 0; i < most_lines; ++i) {
    const std::size_t place = (hash + i) % most_lines;
    kept_line& one = g_lines[place];
    int state = one.state.load(std::memory_order_acquire);
    if (state == 0 && one.state.compare_exchange_strong(state, 1, std::memory_order_acquire)) {
      one.number = number;
      keep(one.file, longest_file, file);
      keep(one.function, longest_function, function);
      one.state.store(2, std::memory_order_release);
      return place;
    }
    if (state == 2 && one.number == number && end_of_file == one.file) return place;
  }
  return most_lines;
}

}  // namespace

void look_for_python() noexcept {
  if (g_known.load(std::memory_order_acquire)) return;
  using version_call = const char* (*)();
  const auto version = reinterpret_cast<version_call>(::dlsym(RTLD_DEFAULT, "Py_GetVersion"));
  const auto started = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "Py_IsInitialized"));
  if (version == nullptr || started == nullptr || started() == 0) return;
  const std::string_view text = version();
  const auto* const found = std::find_if(std::begin(layouts), std::end(layouts),
                                         [text](const layout& l) { return text.starts_with(l.version); });
  // Of a build for debugging objects begin with more.
  const bool as_usual =
      text.find("free-threading") == text.npos && ::dlsym(RTLD_DEFAULT, "_Py_NegativeRefcount") == nullptr;
  const auto state = reinterpret_cast<thread_state_call>(::dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"));
  const auto line = reinterpret_cast<line_call>(::dlsym(RTLD_DEFAULT, "PyCode_Addr2Line"));
  const void* const type = ::dlsym(RTLD_DEFAULT, "PyCode_Type");
  if (found == std::end(layouts) || !as_usual || state == nullptr || line == nullptr || type == nullptr) return;
  g_layout = found;
  g_state = state;
  g_line = line;
  g_code_type = type;
  g_known.store(true, std::memory_order_release);
}

std::uint64_t python_place() noexcept {
  if (!g_known.load(std::memory_order_acquire)) return 0;
  const void* const state = g_state();
  if (state == nullptr) return 0;
  const void* frame = at<const void*>(state, g_layout->current);
  if (g_layout->within != direct && frame != nullptr) frame = at<const void*>(frame, g_layout->within);
  for (int i = 0; i < most_frames && frame != nullptr; ++i, frame = at<const void*>(frame, g_layout->previous)) {
    void* const code = at<void*>(frame, g_layout->code);
    if (code == nullptr || at<const void*>(code, object_type) != g_code_type) continue;
    const std::string_view file = text_of(at<const void*>(code, code_file));
    if (is_foreign(file)) continue;
    const auto instruction =
        at<const char*>(frame, g_layout->instruction) - (static_cast<const char*>(code) + g_layout->bytes);
    const int number = g_line(code, static_cast<int>(instruction));
    if (number <= 0) continue;
    const std::size_t entry = entry_of(file, text_of(at<const void*>(code, code_name)), number);
    return entry < most_lines ? first_line + entry : 0;
  }
  return 0;
}

std::size_t python_lines() noexcept { return g_known.load(std::memory_order_acquire) ? most_lines : 0; }

python_line python_line_at(std::size_t n) noexcept {
  const kept_line& one = g_lines[n];
  if (one.state.load(std::memory_order_acquire) != 2) return {"", "", 0};
  return {one.file, one.function, one.number};
}

}  // namespace quire::detect
