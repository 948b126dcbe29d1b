// SPDX-License-Identifier: BSD-3-Clause
// Modules of code in code_program: how it loads them, and what is refused.
#pragma once

#include <fcntl.h>
#include <quire/code.hpp>
#include <quire/quire.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>

#include "code/shapes.hpp"
#include "node.hpp"

namespace quire::test {

namespace code = quire::code;
using namespace code_test;

inline std::string g_folder;

int self() { return quire_node(); }
int nodes() { return quire_nodes(); }
int last() { return quire_nodes() - 1; }

std::string path_of(const std::string& module) { return g_folder + "/" + module + ".so"; }

/// Loads a copy of a module that nobody else has, and which is gone when the call returns.
inline code::module load_hidden(const std::string& name, code::options how = {}) {
  char folder[] = "/tmp/quire_code_XXXXXX";
  REQUIRE(::mkdtemp(folder) != nullptr);
  const std::string copy = std::string(folder) + "/" + name + ".so";
  std::filesystem::copy_file(path_of(name), copy);
  const code::module made = code::load(copy, how);
  std::filesystem::remove_all(folder);
  return made;
}

/// Loaded by one node, found by the others.
inline code::module load_on(int node, const std::string& name, code::options how = {}) {
  if (self() == node) return load_hidden(name, how);
  return code::find(how.name.empty() ? name + ".so" : how.name);
}

template <class T>
T* symbol(code::module in, const char* name) {
  return code::symbol<T>(in, name);
}

template <class T>
T& variable(code::module in, const char* name) {
  return *code::symbol<T>(in, name);
}

/// `f` throws with this status, and says all of `words`.
template <class F>
inline void require_refused(quire_status wanted, std::initializer_list<std::string_view> words, F&& f) {
  try {
    f();
  } catch (const quire::error& e) {
    require_status(__FILE__, __LINE__, e.what(), e.status(), wanted);
    for (const std::string_view word : words) {
      if (std::string_view(e.what()).find(word) == std::string_view::npos)
        fail(__FILE__, __LINE__, "'%s' does not say '%s'", e.what(), std::string(word).c_str());
    }
    return;
  }
  fail(__FILE__, __LINE__, "nothing was refused; wanted status %d", wanted);
}

inline void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What cannot be loaded says why, and leaves nothing: again and again, as there are not so many regions.
inline void refusals(code::module shapes) {
  const auto refused = [](quire_status why, std::initializer_list<std::string_view> words, const std::string& path) {
    require_refused(why, words, [&] { (void)code::load(path); });
  };
  if (self() == last()) {
    refused(QUIRE_NOT_FOUND, {"nowhere.so", "No such file"}, g_folder + "/nowhere.so");
    refused(QUIRE_INVALID, {"regular file"}, g_folder);
    refused(QUIRE_NOT_FOUND, {"missing.so", "'no_such_function'", "node " + std::to_string(self())},
            path_of("missing"));
    refused(QUIRE_UNSUPPORTED, {"thread_local.so", "calls_of_thread", "thread_local"}, path_of("thread_local"));
    refused(QUIRE_UNSUPPORTED, {"load_time.so", "'chosen'", "IFUNC"}, path_of("load_time"));
    refused(QUIRE_UNSUPPORTED, {"object_pointer.so", "'stdout'", "const"}, path_of("object_pointer"));
    refused(QUIRE_INVALID, {"throwing.so", "constructor"}, path_of("throwing"));
    refused(QUIRE_INVALID, {"program"}, "/proc/self/exe");
    require_refused(QUIRE_EXISTS, {"'shapes.so'"}, [] { (void)code::load(path_of("shapes")); });
    char folder[] = "/tmp/quire_code_XXXXXX";
    REQUIRE(::mkdtemp(folder) != nullptr);
    quire_code_options wrong{};
    quire_code none{};
    REQUIRE_STATUS(quire_code_load(path_of("newer").c_str(), &wrong, &none), QUIRE_INVALID);  // its size
    wrong.size = sizeof wrong;
    wrong.consistency = static_cast<quire_consistency>(77);
    REQUIRE_STATUS(quire_code_load(path_of("newer").c_str(), &wrong, &none), QUIRE_INVALID);
    require_refused(QUIRE_UNSUPPORTED, {"newer.so", "QUIRE_TRANSACTIONAL"},
                    [] { (void)code::load(path_of("newer"), {.consistency = quire::consistency::transactional}); });
    REQUIRE_STATUS(quire_code_load(nullptr, nullptr, &none), QUIRE_INVALID);
    const std::string path = std::string(folder) + "/part.so", whole = read_file(path_of("shapes"));
    REQUIRE(whole.size() > 10'000);
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{3}, std::size_t{40}, std::size_t{100}, std::size_t{5000}}) {
      write_file(path, whole.substr(0, bytes));
      refused(QUIRE_INVALID, {"part.so"}, path);
    }
    std::string other = whole;
    other[18] = 0x28;  // a machine of another kind
    write_file(path, other);
    refused(QUIRE_INVALID, {"another kind of machine"}, path);
    std::filesystem::remove_all(folder);
    require_refused(QUIRE_INVALID, {"58 characters"},
                    [] { (void)code::load(path_of("newer"), {.name = std::string(59, 'n')}); });
    require_refused(QUIRE_NOT_FOUND, {"'no_such_symbol'"}, [&] { (void)code::symbol<int>(shapes, "no_such_symbol"); });
    require_refused(QUIRE_INVALID, {"'number' is no function"},
                    [&] { (void)code::function<change_function>(shapes, "number"); });
    require_refused(QUIRE_NOT_FOUND, {"handle"}, [] { (void)code::symbol<int>(code::module({12345}), "number"); });
    quire_region region{};
    std::uint64_t before = 0;
    REQUIRE_STATUS(quire_fetch_add(reinterpret_cast<std::uint64_t*>(
                                       reinterpret_cast<std::uintptr_t>(code::symbol<void>(shapes, "change")) / 8 * 8),
                                   1, &before),
                   QUIRE_INVALID);
    REQUIRE_OK(quire_region_of(code::symbol<void>(shapes, "change"), &region));
    REQUIRE_STATUS(quire_region_destroy(region), QUIRE_INVALID);
    REQUIRE_OK(quire_region_of(&variable<int>(shapes, "number"), &region));
    REQUIRE_STATUS(quire_region_destroy(region), QUIRE_INVALID);
  }
  barrier();
  quire_region of_code{};
  REQUIRE_OK(quire_region_of(code::symbol<void>(shapes, "change"), &of_code));
  REQUIRE_STATUS(quire_region_set_consistency(of_code, QUIRE_RELEASE), QUIRE_INVALID);
  REQUIRE_STATUS(quire_block_begin(of_code, 0), QUIRE_INVALID);
  const std::string checkpoint = "/tmp/quire_code_checkpoint_" + std::to_string(quire::broadcast(::getpid()));
  REQUIRE_STATUS(quire_checkpoint(checkpoint.c_str()), QUIRE_UNSUPPORTED);
  barrier();
  if (self() == 0) std::filesystem::remove_all(checkpoint);
  barrier();
}

}  // namespace quire::test
