// SPDX-License-Identifier: BSD-3-Clause
// What programs that test containers have in common: content that is told by its position and a seed, calls that must
// succeed, and a directory that all nodes know.
#pragma once

#include <fcntl.h>
#include <quire/container.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "node.hpp"

namespace quire::test {

inline constexpr std::uint64_t page = 4096;
inline std::string g_directory;  ///< the same on all nodes

inline std::string path(const std::string& name) { return g_directory + "/" + name; }

inline std::byte pattern(std::uint64_t at, std::uint64_t seed) {
  return static_cast<std::byte>(mix(at / 8 + seed * 1000003) >> (at % 8 * 8));
}
inline std::vector<std::byte> content(std::uint64_t bytes, std::uint64_t seed, std::uint64_t from = 0) {
  std::vector<std::byte> all(bytes);
  for (std::uint64_t i = 0; i < bytes; ++i) all[i] = pattern(from + i, seed);
  return all;
}

inline void make_file(const std::string& name, const std::vector<std::byte>& all) {
  const int d = ::open(path(name).c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  REQUIRE(d >= 0);
  REQUIRE_EQUAL(::write(d, all.data(), all.size()), all.size());
  ::close(d);
}
inline std::vector<std::byte> file_now(const std::string& name) {
  const int d = ::open(path(name).c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(d >= 0);
  struct stat about {};
  REQUIRE(::fstat(d, &about) == 0);
  std::vector<std::byte> all(static_cast<std::size_t>(about.st_size));
  for (std::size_t at = 0; at < all.size();) {
    const ssize_t done = ::pread(d, all.data() + at, all.size() - at, static_cast<off_t>(at));
    REQUIRE(done > 0);
    at += static_cast<std::size_t>(done);
  }
  ::close(d);
  return all;
}
inline void require_same_at(int line, const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  if (a.size() != b.size()) fail(__FILE__, line, "there are %zu bytes instead of %zu", a.size(), b.size());
  const auto at = std::mismatch(a.begin(), a.end(), b.begin());
  if (at.first == a.end()) return;
  fail(__FILE__, line, "byte %zd is %d instead of %d", at.first - a.begin(), static_cast<int>(*at.first),
       static_cast<int>(*at.second));
}
#define REQUIRE_SAME(a, b) require_same_at(__LINE__, a, b)

inline quire_container_options options(unsigned flags, const char* linker = nullptr, const char* what = nullptr,
                                       std::uint64_t bytes = 0) {
  quire_container_options o{};
  o.size = sizeof o;
  o.linker = linker;
  o.what = what;
  o.flags = flags;
  o.bytes = bytes;
  return o;
}
inline quire_container open(const char* name, const quire_container_options& o) {
  quire_container c{};
  REQUIRE_OK(quire_container_open(name, &o, &c));
  REQUIRE(c.id != 0);
  return c;
}
inline std::vector<std::byte> read(quire_container c, std::uint64_t at, std::size_t bytes) {
  std::vector<std::byte> into(bytes, std::byte{0xee});
  std::size_t done = 0;
  REQUIRE_OK(quire_container_read(c, at, into.data(), bytes, &done));
  into.resize(done);
  return into;
}
inline void write(quire_container c, std::uint64_t at, const std::vector<std::byte>& all) {
  std::size_t done = 0;
  REQUIRE_OK(quire_container_write(c, at, all.data(), all.size(), &done));
  REQUIRE_EQUAL(done, all.size());
}
inline std::uint64_t bytes_of(quire_container c) {
  std::uint64_t bytes = 0;
  REQUIRE_OK(quire_container_bytes(c, &bytes));
  return bytes;
}
inline std::byte* map(quire_container c) {
  void* address = nullptr;
  REQUIRE_OK(quire_container_map(c, &address, nullptr));
  return static_cast<std::byte*>(address);
}
inline bool said(const char* part) {
  if (std::strstr(quire_last_error(), part) != nullptr) return true;
  std::fprintf(stderr, "quire_last_error() is '%s'\n", quire_last_error());
  return false;
}
/// One node does it, the others wait.
inline void on_node(int node, const std::function<void()>& f) {
  barrier();
  if (quire_node() == node) f();
  barrier();
}

/// A new directory among the system's temporary files (TMPDIR), for which all nodes call.
inline void make_directory() {
  struct text {
    char name[256];
  };
  text* const shared = shared_object<text>("directory");
  if (quire_node() == 0) {
    std::string name =
        std::filesystem::absolute(std::filesystem::temp_directory_path() / "quire-containers-XXXXXX").string();
    REQUIRE(name.size() < sizeof shared->name && ::mkdtemp(name.data()) != nullptr);
    std::strcpy(shared->name, name.c_str());
  }
  barrier();
  g_directory = shared->name;
}
/// It goes, when all are done with it.
inline void remove_directory() {
  barrier();
  int first = 0;
  while (quire_alive(first) == 0) ++first;
  if (quire_node() != first) return;
  const std::string command = "rm -rf '" + g_directory + "'";
  REQUIRE(std::system(command.c_str()) == 0);
}

}  // namespace quire::test
