// SPDX-License-Identifier: BSD-3-Clause
// Containers in checkpoints: container_checkpoint_program STATE DATA [large] [stop] [end] [busy]. Each job goes on from
// the newest checkpoint in STATE, if there is one, and compares all containers with what they have to be after that
// round; changes them, partly without a sync; makes the checkpoint of the next round; and writes something else to all
// of them. Then it waits for its end, which is no good one, unless it is to `stop`; with `end` it ends after the
// comparison. With `large` the change is more than a small disk has room for; with `busy` other threads use containers
// while checkpoints are made.
#include <algorithm>
#include <atomic>
#include <thread>

#include "containers.hpp"

namespace {

using namespace quire::test;

constexpr std::uint64_t table_bytes = 75 * page + 1, notes_bytes = 9 * page + 77, line_bytes = 100,
                        input_bytes = 20 * page + 5, large_bytes = 3u << 20;

/// Two are kept by linkers and written: by the file, and page by page, as the linker is none that checkpoints know.
struct written {
  const char* name;
  const char* linker;
  std::string what;
};
std::vector<written> all_written() {
  return {{"table", "file", path("table")}, {"slow table", "throttle", "latency_us=1;file;" + path("slow")}};
}
const char* file_of(const written& w) { return std::string_view(w.linker) == "file" ? "table" : "slow"; }

void put(std::vector<std::byte>& model, std::uint64_t at, const std::vector<std::byte>& all) {
  model.resize(std::max<std::size_t>(model.size(), at + all.size()));
  std::copy(all.begin(), all.end(), model.begin() + static_cast<std::ptrdiff_t>(at));
}

/// What a round does to a table, as a list of writes.
struct change {
  std::uint64_t at;
  std::vector<std::byte> all;
  bool by_mapping, synced;
};
std::vector<change> changes(std::uint64_t round, std::uint64_t end) {
  std::vector<change> list;
  list.push_back({(3 + round) * page + 11, content(9 * page, 1000 + round), false, true});
  list.push_back({(30 + round) * page, content(4 * page, 2000 + round), true, true});
  list.push_back(
      {(31 + round) * page, std::vector<std::byte>(2 * page), true, false});  // zeroes, where the file has something
  list.push_back({50 * page + round * 8, content(16, 3000 + round), true, false});
  list.push_back({end, content(777 + page, 4000 + round), false, false});  // longer
  return list;
}
std::vector<std::byte> table_after(std::uint64_t round) {
  std::vector<std::byte> model = content(table_bytes, 1);
  for (std::uint64_t r = 1; r <= round; ++r) {
    for (const change& c : changes(r, model.size())) put(model, c.at, c.all);
  }
  return model;
}
std::vector<std::byte> notes_after(std::uint64_t round) {
  std::vector<std::byte> model = content(notes_bytes, 7);
  for (std::uint64_t r = 1; r <= round; ++r) put(model, model.size(), content(line_bytes, 5000 + r));
  return model;
}

void make_all() {
  on_node(0, [] {
    make_file("table", content(table_bytes, 1));
    make_file("slow", content(table_bytes, 1));
    make_file("input", content(input_bytes, 3));
  });
  const quire_container notes = open("notes", options(QUIRE_CONTAINER_CREATE));
  on_node(quire_nodes() - 1, [&] { write(notes, 0, content(notes_bytes, 7)); });
  on_node(0, [] {
    quire_container gone{}, empty{};
    gone = open("gone", options(QUIRE_CONTAINER_CREATE));  // so numbers have gaps
    empty = open("empty", options(QUIRE_CONTAINER_CREATE));
    REQUIRE_OK(quire_container_close(gone));
    REQUIRE_OK(quire_container_close(empty));
    REQUIRE_OK(quire_container_remove("gone", 0));
  });
  for (const written& w : all_written()) (void)open(w.name, options(QUIRE_CONTAINER_CREATE, w.linker, w.what.c_str()));
  (void)open("input", options(QUIRE_CONTAINER_CREATE | QUIRE_CONTAINER_READ_ONLY, "file", path("input").c_str()));
  barrier();
}

std::uint64_t round_now() {
  const quire_container notes = open("notes", options(0));
  const std::uint64_t round = (bytes_of(notes) - notes_bytes) / line_bytes;
  REQUIRE_OK(quire_container_close(notes));
  barrier();
  return round;
}

void compare(std::uint64_t round) {
  const quire_container notes = open("notes", options(0));
  REQUIRE_SAME(read(notes, 0, 1 << 20), notes_after(round));
  REQUIRE_OK(quire_container_close(notes));
  quire_container none{};
  REQUIRE_STATUS(quire_container_open("gone", nullptr, &none), QUIRE_NOT_FOUND);
  const quire_container input = open("input", options(QUIRE_CONTAINER_READ_ONLY));
  REQUIRE_SAME(read(input, 0, 1 << 20), content(input_bytes, 3));
  const auto writes = options(0);
  REQUIRE_STATUS(quire_container_open("input", &writes, &none), QUIRE_INVALID);
  REQUIRE_OK(quire_container_close(input));
  for (const written& w : all_written()) {
    const std::vector<std::byte> model = table_after(round);
    const quire_container c = open(w.name, options(0));
    REQUIRE_EQUAL(bytes_of(c), model.size());
    REQUIRE_SAME(read(c, 0, 8 << 20), model);
    REQUIRE(std::equal(model.begin(), model.end(), map(c)));
    barrier();
    REQUIRE_OK(quire_container_close(c));
    barrier();
    on_node(0, [&] { REQUIRE_SAME(file_now(file_of(w)), model); });
  }
  on_node(0, [] {
    int count = 0;
    REQUIRE_OK(quire_container_list(
        [](void* n, const char*, std::uint64_t, unsigned) { return ++*static_cast<int*>(n), 0; }, &count));
    REQUIRE(count >= 5);  // those of keep_busy() come to it
  });
}

/// Each change by another node, so that what is dirty is on several.
void change_all(std::uint64_t round) {
  const auto nodes = static_cast<std::uint64_t>(quire_nodes());
  const quire_container notes = open("notes", options(0));
  on_node(static_cast<int>(round % nodes), [&] {
    const auto line = content(line_bytes, 5000 + round);
    REQUIRE_OK(quire_container_append(notes, line.data(), line.size(), nullptr));
  });
  for (const written& w : all_written()) {
    const quire_container c = open(w.name, options(0));
    std::uint64_t who = round;
    for (const change& one : changes(round, bytes_of(c))) {
      on_node(static_cast<int>(who++ % nodes), [&] {
        if (one.by_mapping) {
          std::copy(one.all.begin(), one.all.end(), map(c) + one.at);
        } else {
          write(c, one.at, one.all);
        }
        if (one.synced) REQUIRE_OK(quire_container_sync(c, 0, 0));
      });
    }
  }
}

/// After the checkpoint, also in the files. The length, too.
void spoil(std::uint64_t round) {
  const quire_container notes = open("notes", options(0));
  on_node(0, [&] {
    write(notes, 0, content(notes_bytes, 99));
    REQUIRE_OK(quire_container_truncate(notes, 3));
  });
  for (const written& w : all_written()) {
    const quire_container c = open(w.name, options(0));
    on_node(quire_nodes() - 1, [&] {
      write(c, page, content(20 * page, 77));
      if (round % 2 == 0) REQUIRE_OK(quire_container_truncate(c, 5 * page + 3));
      if (round % 2 == 1) write(c, 200 * page, content(page, 78));
      REQUIRE_OK(quire_container_sync(c, 0, 0));
      REQUIRE_OK(quire_container_drop(c, 0, 0));
    });
  }
}

/// Checkpoints while other threads make containers, use, sync and remove them.
void keep_busy(const std::string& state) {
  std::atomic<bool> over{false};
  const quire_container log = open("log", options(QUIRE_CONTAINER_CREATE));
  const auto use = [&](int thread) {
    const std::string name = "of " + std::to_string(quire_node()) + " " + std::to_string(thread), what = path(name);
    for (std::uint64_t i = 0; !over; ++i) {
      constexpr unsigned anew =
          QUIRE_CONTAINER_CREATE | QUIRE_CONTAINER_TRUNCATE;  // one that a checkpoint has is there
      const quire_container mine =
          open(name.c_str(), options(anew, thread == 0 ? "file" : "memory", thread == 0 ? what.c_str() : nullptr));
      const auto some = content(3 * page + i % 100, i);
      write(mine, 0, some);
      REQUIRE_OK(quire_container_append(log, some.data(), 10, nullptr));
      if (thread == 0) REQUIRE_OK(quire_container_sync(mine, 0, 0));
      REQUIRE_SAME(read(mine, 0, 1 << 20), some);
      REQUIRE_OK(quire_container_close(mine));
      REQUIRE_OK(quire_container_remove(name.c_str(), thread == 0 ? unsigned{QUIRE_CONTAINER_REMOVE_CONTENT} : 0u));
    }
  };
  std::thread a(use, 0), b(use, 1);
  for (int i = 0; i < 6; ++i) {
    REQUIRE_OK(quire_checkpoint(state.c_str()));
    sleep_ms(20);
  }
  over = true;
  a.join();
  b.join();
}

}  // namespace

int main(int argc, char** argv) {
  REQUIRE(argc > 2);
  const std::string state = argv[1];
  g_directory = argv[2];
  bool ends = false, large = false, stops = false, busy = false;
  for (int i = 3; i < argc; ++i) {
    ends = ends || std::string_view(argv[i]) == "end";
    stops = stops || std::string_view(argv[i]) == "stop";
    busy = busy || std::string_view(argv[i]) == "busy";
    large = large || std::string_view(argv[i]) == "large";
  }
  REQUIRE_OK(quire_start(nullptr));
  const quire_status restored = quire_restore(state.c_str());
  if (restored == QUIRE_NOT_FOUND) make_all();
  if (restored != QUIRE_NOT_FOUND && restored != QUIRE_OK) {
    std::printf("refused: %s\n", quire_status_text(restored));
    std::fflush(stdout);
    REQUIRE_OK(quire_end());
    return 3;
  }
  const std::uint64_t round = round_now();
  if (restored == QUIRE_OK) compare(round);
  if (quire_node() == 0) std::printf("round %lu is right\n", static_cast<unsigned long>(round));
  if (busy) keep_busy(state);
  if (!ends) {
    change_all(round + 1);
    if (large) {
      const quire_container c = open("table", options(0));
      on_node(0, [&] { write(c, 300 * page, content(large_bytes, 6)); });
    }
    const quire_status saved = quire_checkpoint(state.c_str());
    if (quire_node() == 0)
      std::printf("checkpoint %lu: %s\n", static_cast<unsigned long>(round + 1), quire_status_text(saved));
    spoil(round + 1);
    barrier();
    if (quire_node() == 0) std::puts("spoilt");
    std::fflush(stdout);
    while (!stops) sleep_ms(1000);
  }
  REQUIRE_OK(quire_end());
  return 0;
}
