// SPDX-License-Identifier: BSD-3-Clause
#include "other_run_times.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace quire::tools {
namespace {

struct sanitizer {
  const char* library;   ///< how the name of its shared library begins
  const char* function;  ///< which a program calls, or has, that is linked with the static one
  const char* option;
};
constexpr sanitizer sanitizers[] = {
    {"libasan.so", "__asan_init", "address"},      {"libtsan.so", "__tsan_init", "thread"},
    {"liblsan.so", "__lsan_init", "leak"},         {"libhwasan.so", "__hwasan_init", "hwaddress"},
    {"libmsan.so", "__msan_init", "memory"},       {"libclang_rt.asan", "__asan_init", "address"},
    {"libclang_rt.tsan", "__tsan_init", "thread"},
};

bool has(const elf_file& file, std::string_view function) {
  return std::any_of(file.symbols.begin(), file.symbols.end(), [&](const auto& s) { return s.name == function; });
}

bool defines(const elf_file& file, std::string_view function) {
  return std::any_of(file.symbols.begin(), file.symbols.end(),
                     [&](const auto& s) { return s.defined && s.name == function; });
}

/// Not glibc's: those are called ld-linux-x86-64.so.2, ld-linux-aarch64.so.1, ld-2.31.so.
bool is_of_another_libc(std::string_view interpreter) {
  const std::string_view name = interpreter.substr(interpreter.rfind('/') + 1);
  return !name.starts_with("ld-linux") && !name.starts_with("ld-2.") && !name.starts_with("ld.so");
}

}  // namespace

std::string other_run_time(const elf_file& file) {
  for (const auto& one : sanitizers)
    if (needs(file, one.library) || has(file, one.function))
      return std::string("is compiled with -fsanitize=") + one.option +
             ", whose run-time takes the memory in Quire's place: compile it without";
  if (defines(file, "malloc") && defines(file, "pthread_create"))
    return "has malloc() and pthread_create() of its own, as the run-time of a sanitizer that is linked in has "
           "(-static-libasan), which takes the memory in Quire's place: compile it without";
  if (file.checks_itself)
    return "has the run-time of -fsanitize=undefined linked in, which calls the kernel past libc, and whose variables "
           "would be all nodes': link it with the shared one (gcc: without -static-libubsan; clang: with "
           "-shared-libsan)";
  if (file.is_go)
    return "is a Go program: Go's run-time takes memory and makes threads past libc, out of Quire's sight";
  if (!file.interpreter.empty() && is_of_another_libc(file.interpreter))
    return "is linked with another libc (its loader is " + file.interpreter + "): link it with glibc";
  if (!file.interpreter.empty() && ::access(file.interpreter.c_str(), F_OK) != 0)
    return "needs the loader " + file.interpreter + ", which is not here";
  return {};
}

bool has_own_malloc(const elf_file& file) { return defines(file, "malloc"); }

}  // namespace quire::tools
