// SPDX-License-Identifier: BSD-3-Clause
// Where the content of a container ends, in contract_containers_program: appends, truncations, what is beyond, and
// files that get shorter.
#pragma once

#include <fcntl.h>
#include <quire/container.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "containers.hpp"

namespace quire::test {

/// What all interfaces show of a container with `bytes` of this pattern.
inline void require_content(quire_container c, std::uint64_t bytes, std::uint64_t seed) {
  REQUIRE_EQUAL(bytes_of(c), bytes);
  const auto wanted = content(bytes, seed);
  REQUIRE_SAME(read(c, 0, bytes + 5000), wanted);
  const std::byte* const at = map(c);
  for (std::uint64_t i = 0; i < bytes; i += 97) REQUIRE(at[i] == wanted[i]);
}

/// Records of all nodes, one after the other, each as a whole.
inline void appending(const char* name, const char* linker, const std::string& what) {
  constexpr int records = 60;
  const int nodes = quire_nodes(), node = quire_node();
  quire_container c = open(name, options(QUIRE_CONTAINER_CREATE, linker, what.empty() ? nullptr : what.c_str()));
  on_threads(2, [&](int thread) {
    for (int i = 0; i < records; ++i) {
      std::vector<std::uint32_t> record(4 + mix(static_cast<std::uint64_t>(i)) % 700, static_cast<std::uint32_t>(i));
      record[0] = static_cast<std::uint32_t>(record.size());
      record[1] = static_cast<std::uint32_t>(node * 2 + thread);
      std::uint64_t at = 0;
      REQUIRE_OK(quire_container_append(c, record.data(), record.size() * 4, &at));
      REQUIRE(bytes_of(c) >= at + record.size() * 4);
    }
  });
  REQUIRE_OK(quire_container_sync(c, 0, 0));
  barrier();
  const std::uint64_t bytes = bytes_of(c);
  const auto all = read(c, 0, bytes);
  REQUIRE_EQUAL(all.size(), bytes);
  std::map<std::uint32_t, std::uint32_t> next;
  for (std::size_t at = 0; at < all.size();) {
    std::uint32_t first[3];
    std::memcpy(first, all.data() + at, sizeof first);
    REQUIRE(first[0] >= 4 && at + first[0] * 4 <= all.size());
    REQUIRE_EQUAL(first[2], next[first[1]]++);
    for (std::uint32_t i = 2; i < first[0]; ++i) {
      std::uint32_t word;
      std::memcpy(&word, all.data() + at + i * 4, 4);
      REQUIRE_EQUAL(word, first[2]);
    }
    at += first[0] * 4;
  }
  REQUIRE_EQUAL(next.size(), nodes * 2);
  for (const auto& [who, count] : next) REQUIRE_EQUAL(count, records);
  if (!what.empty() && node == 0) REQUIRE_SAME(file_now(name), all);
  barrier();
  REQUIRE_OK(quire_container_close(c));
  on_node(0, [&] { REQUIRE_OK(quire_container_remove(name, 0)); });
}

inline void appends() {
  appending("appended-memory", nullptr, "");
  appending("appended", "file", path("appended"));
}

/// The end moves, and what comes back is zero.
inline void ends() {
  const std::string what = path("ends");
  for (const char* const linker : {"memory", "file"}) {
    const bool file = std::string_view(linker) == "file";
    quire_container c = open("ends", options(QUIRE_CONTAINER_CREATE, linker, file ? what.c_str() : nullptr));
    on_node(0, [&] { write(c, 0, content(10 * page + 5, 3)); });
    require_content(c, 10 * page + 5, 3);
    on_node(quire_nodes() - 1, [&] { REQUIRE_OK(quire_container_truncate(c, 3 * page + 9)); });
    require_content(c, 3 * page + 9, 3);
    barrier();
    if (file && quire_node() == 0) {
      REQUIRE_EQUAL(file_now("ends").size(), 3 * page + 9);  // the length at once, the rest when it is asked for
      REQUIRE_OK(quire_container_sync(c, 0, 0));
      REQUIRE_SAME(file_now("ends"), content(3 * page + 9, 3));
    }
    on_node(0, [&] { REQUIRE_OK(quire_container_truncate(c, 8 * page + 1)); });
    auto wanted = content(3 * page + 9, 3);
    wanted.resize(8 * page + 1);
    REQUIRE_SAME(read(c, 0, 1 << 20), wanted);
    barrier();
    // A gap; and an end of zeroes that no node has flushed.
    const std::uint64_t far = 30 * page + 17;
    on_node(quire_nodes() - 1, [&] { write(c, far, content(1, 3)); });
    wanted.resize(far);
    wanted.push_back(pattern(0, 3));
    REQUIRE_SAME(read(c, 0, 1 << 20), wanted);
    on_node(0, [&] {
      const std::vector<std::byte> zeroes(2 * page);
      std::uint64_t at = 0;
      REQUIRE_OK(quire_container_append(c, zeroes.data(), zeroes.size(), &at));
      REQUIRE_EQUAL(at, far + 1);
    });
    wanted.resize(wanted.size() + 2 * page);
    REQUIRE_OK(quire_container_sync(c, 0, 0));
    barrier();
    if (file && quire_node() == 0) REQUIRE_SAME(file_now("ends"), wanted);
    REQUIRE_SAME(read(c, 0, 1 << 20), wanted);
    barrier();
    REQUIRE_OK(quire_container_close(c));
    barrier();
    // With TRUNCATE nothing is left.
    if (quire_node() == 0) {
      c = open("ends", options(QUIRE_CONTAINER_TRUNCATE));
      REQUIRE_EQUAL(bytes_of(c), 0);
      REQUIRE_EQUAL(read(c, 0, 10).size(), 0);
      REQUIRE_OK(quire_container_truncate(c, page));
      REQUIRE_SAME(read(c, 0, 2 * page), std::vector<std::byte>(page));
      REQUIRE_OK(quire_container_close(c));
      if (file) REQUIRE_SAME(file_now("ends"), std::vector<std::byte>(page));
      REQUIRE_OK(quire_container_remove("ends", QUIRE_CONTAINER_REMOVE_CONTENT));
      if (file) REQUIRE(::access(what.c_str(), F_OK) != 0);
    }
    barrier();
  }
}

/// What is written by a mapping beyond the end does not make the file longer, whoever flushes it.
inline void beyond_the_end() {
  for (const std::uint64_t bytes : {std::uint64_t{100}, 3 * page, 5 * page + 9}) {
    const quire_container c = open("beyond", options(QUIRE_CONTAINER_CREATE, "file", path("beyond").c_str()));
    on_node(0, [&] { write(c, 0, content(bytes, 4)); });
    on_node(quire_nodes() - 1, [&] {
      map(c)[bytes] = std::byte{1};
      map(c)[bytes + 7 * page] = std::byte{2};
      REQUIRE_OK(quire_container_sync(c, 0, 0));
      REQUIRE_SAME(file_now("beyond"), content(bytes, 4));
    });
    require_content(c, bytes, 4);
    barrier();
    on_node(0, [&] {  // longer again: there is zero
      REQUIRE_OK(quire_container_truncate(c, bytes + 8 * page));
      auto wanted = content(bytes, 4);
      wanted.resize(bytes + 8 * page);
      REQUIRE_SAME(read(c, 0, 1 << 20), wanted);
    });
    REQUIRE_OK(quire_container_close(c));
    on_node(0, [] { REQUIRE_OK(quire_container_remove("beyond", QUIRE_CONTAINER_REMOVE_CONTENT)); });
  }
}

/// Another program makes the file shorter: what is not there any more is an error, and no zeroes; what is there, and
/// what memory has, can be read.
inline void shrinks() {
  on_node(0, [&] { make_file("shrinks", content(9 * page + 7, 8)); });
  const std::string what = path("shrinks");
  auto o = options(QUIRE_CONTAINER_CREATE, "file", what.c_str());
  o.placement = QUIRE_PLACE_NODE;
  const quire_container c = open("shrinks", o);
  on_node(quire_nodes() - 1, [&] {
    write(c, page + 5, content(10, 9, page + 5));
    REQUIRE(::truncate(what.c_str(), 3 * page + 100) == 0);
    REQUIRE_SAME(read(c, page + 5, 10), content(10, 9, page + 5));
    REQUIRE_SAME(read(c, 2 * page, page), content(page, 8, 2 * page));
    std::vector<std::byte> into(page);
    std::size_t done = 1;
    REQUIRE_STATUS(quire_container_read(c, 7 * page, into.data(), page, &done), QUIRE_IO);
    REQUIRE_EQUAL(done, 0);
    make_file("shrinks", content(9 * page + 7, 8));
    REQUIRE_SAME(read(c, 7 * page, 2 * page + 7), content(2 * page + 7, 8, 7 * page));
    REQUIRE_OK(quire_container_sync(c, 0, 0));
    auto wanted = content(9 * page + 7, 8);
    std::copy_n(content(10, 9, page + 5).begin(), 10, wanted.begin() + page + 5);
    REQUIRE_SAME(file_now("shrinks"), wanted);
    // Where it has grown in memory alone, nothing is missing.
    write(c, 20 * page, content(page, 8, 20 * page));
    REQUIRE_SAME(read(c, 15 * page, page), std::vector<std::byte>(page));
  });
  REQUIRE_OK(quire_container_close(c));
  on_node(0, [] { REQUIRE_OK(quire_container_remove("shrinks", 0)); });
}

}  // namespace quire::test
