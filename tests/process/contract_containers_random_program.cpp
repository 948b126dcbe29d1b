// SPDX-License-Identifier: BSD-3-Clause
// Random calls for containers, on all nodes, against a model: contract_containers_random_program [SEED [STEPS]]. Where
// containers are files of a mounted directory (QUIRE_MOUNT), half of the calls are those of files.
#include <algorithm>
#include <cerrno>

#include "containers.hpp"

namespace {

using namespace quire::test;

/// The container as a file of the mounted directory, for one call or a few.
class shown_file {
 public:
  explicit shown_file(int flags)
      : descriptor_(::open((std::string(directory()) + "/random").c_str(), flags | O_CLOEXEC)) {
    REQUIRE(descriptor_ >= 0);
  }
  shown_file(const shown_file&) = delete;
  shown_file& operator=(const shown_file&) = delete;
  ~shown_file() { ::close(descriptor_); }
  /// Null: nothing is mounted.
  static const char* directory() { return std::getenv("QUIRE_MOUNT"); }

  void write(std::uint64_t at, const std::vector<std::byte>& all) const {
    REQUIRE_EQUAL(::pwrite(descriptor_, all.data(), all.size(), static_cast<off_t>(at)), all.size());
  }
  void refuse(std::uint64_t at, const std::vector<std::byte>& all) const {
    REQUIRE(::pwrite(descriptor_, all.data(), all.size(), static_cast<off_t>(at)) == -1 && errno == EFBIG);
  }
  void append(const std::vector<std::byte>& all) const {
    REQUIRE_EQUAL(::write(descriptor_, all.data(), all.size()), all.size());
  }
  void truncate(std::uint64_t bytes) const { REQUIRE(::ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0); }
  void sync() const { REQUIRE(::fsync(descriptor_) == 0); }
  [[nodiscard]] std::uint64_t bytes() const {
    struct stat about {};
    REQUIRE(::fstat(descriptor_, &about) == 0);
    return static_cast<std::uint64_t>(about.st_size);
  }
  [[nodiscard]] std::vector<std::byte> read(std::uint64_t at, std::size_t bytes) const {
    std::vector<std::byte> into(bytes, std::byte{0xee});
    const ssize_t done = ::pread(descriptor_, into.data(), bytes, static_cast<off_t>(at));
    REQUIRE(done >= 0);
    into.resize(static_cast<std::size_t>(done));
    return into;
  }

 private:
  int descriptor_;
};

/// The kernel tells that a file is closed a moment later.
void remove(unsigned flags) {
  quire_status why = quire_container_remove("random", flags);
  for (int i = 0; i < 10'000 && why == QUIRE_BUSY && shown_file::directory() != nullptr; ++i) {
    ::usleep(1000);
    why = quire_container_remove("random", flags);
  }
  REQUIRE_OK(why);
}

/// As fsx does: random calls, each by some node, and all nodes know by the same random numbers what has to be there.
void random(std::uint64_t seed, int steps, const char* linker, std::size_t unit_bytes) {
  constexpr std::uint64_t most = 40 * page;
  const bool file = std::string_view(linker) == "file";
  const std::string what = path("random");
  auto o = options(QUIRE_CONTAINER_CREATE, linker, file ? what.c_str() : nullptr);
  o.capacity = most;
  o.unit_bytes = unit_bytes;
  quire_container c = open("random", o);
  random_numbers draw(seed);
  std::vector<std::byte> model;
  const auto nodes = static_cast<std::uint64_t>(quire_nodes()), node = static_cast<std::uint64_t>(quire_node());
  for (int step = 0; step < steps; ++step) {
    const bool acts = draw.below(nodes) == node, looks = draw.below(nodes) == node;
    const std::uint64_t what_to_do = draw.below(12), at = draw.below(most), number = draw.next();
    const std::uint64_t bytes = 1 + draw.below(draw.below(4) == 0 ? 9 * page : 300);
    const bool by_file = shown_file::directory() != nullptr && draw.below(2) == 0;
    if (what_to_do < 3) {  // writes, perhaps beyond the end
      const bool fits = at + bytes <= most;
      const auto mine = content(bytes, number);
      if (acts && fits) by_file ? shown_file(O_WRONLY).write(at, mine) : write(c, at, mine);
      if (acts && !fits && by_file) shown_file(O_WRONLY).refuse(at, mine);
      if (acts && !fits && !by_file)
        REQUIRE_STATUS(quire_container_write(c, at, mine.data(), bytes, nullptr), QUIRE_BEYOND);
      if (fits) {
        model.resize(std::max<std::size_t>(model.size(), at + bytes));
        std::copy(mine.begin(), mine.end(), model.begin() + static_cast<std::ptrdiff_t>(at));
      }
    } else if (what_to_do < 5) {  // by a mapping
      const std::uint64_t there = at < model.size() ? std::min<std::uint64_t>(bytes, model.size() - at) : 0;
      const auto mine = content(there, number);
      if (acts) std::copy(mine.begin(), mine.end(), map(c) + at);
      std::copy(mine.begin(), mine.end(), model.begin() + static_cast<std::ptrdiff_t>(there == 0 ? 0 : at));
    } else if (what_to_do == 5 && model.size() + bytes <= most) {
      const auto mine = content(bytes, number);
      std::uint64_t where = 0;
      if (acts && by_file) shown_file(O_WRONLY | O_APPEND).append(mine);
      if (acts && !by_file) REQUIRE_OK(quire_container_append(c, mine.data(), bytes, &where));
      if (acts && !by_file) REQUIRE_EQUAL(where, model.size());
      model.insert(model.end(), mine.begin(), mine.end());
    } else if (what_to_do == 6) {
      if (acts && by_file) shown_file(O_WRONLY).truncate(at);
      if (acts && !by_file) REQUIRE_OK(quire_container_truncate(c, at));
      model.resize(at);
    } else if (what_to_do == 7) {
      if (acts && by_file) shown_file(O_RDONLY).sync();
      if (acts && !by_file) REQUIRE_OK(quire_container_sync(c, 0, 0));
      if (acts && file) REQUIRE_SAME(file_now("random"), model);
    } else if (what_to_do == 8 && file) {
      if (acts) REQUIRE_OK(quire_container_drop(c, at, number % 2 == 0 ? 0 : bytes));
    } else if (what_to_do == 9 && acts) {
      REQUIRE_OK(quire_container_close(c));
      c = open("random", options(0));
    } else if (what_to_do == 10 && number % 4 == 0) {  // it goes, and is made anew
      barrier();
      REQUIRE_OK(quire_container_close(c));
      on_node(0, [] { remove(0); });
      if (!file) model.clear();
      c = open("random", o);
    }
    barrier();
    if (looks) REQUIRE_EQUAL(by_file ? shown_file(O_RDONLY).bytes() : bytes_of(c), model.size());
    if (looks && step % 5 == 0)
      REQUIRE_SAME(by_file ? shown_file(O_RDONLY).read(0, 2 * most) : read(c, 0, 2 * most), model);
    const std::uint64_t from = draw.below(most), count = draw.below(2 * page);
    if (looks && from < model.size()) {
      const std::vector<std::byte> part(
          model.begin() + static_cast<std::ptrdiff_t>(from),
          model.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(model.size(), from + count)));
      REQUIRE_SAME(by_file ? shown_file(O_RDONLY).read(from, count) : read(c, from, count), part);
      REQUIRE(std::equal(part.begin(), part.end(), map(c) + from));
    }
    barrier();
  }
  REQUIRE_OK(quire_container_close(c));
  on_node(0, [&] {
    if (file) REQUIRE_SAME(file_now("random"), model);
    remove(QUIRE_CONTAINER_REMOVE_CONTENT);
  });
}

}  // namespace

int main(int argc, char** argv) {
  REQUIRE_OK(quire_start(nullptr));
  make_directory();
  const std::uint64_t seed = argc > 1 ? static_cast<std::uint64_t>(std::atoll(argv[1])) : 1;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 400;
  for (const std::size_t unit : {4096, 16384}) {
    for (const char* const linker : {"memory", "file"}) random(seed + unit, steps, linker, unit);
  }
  remove_directory();
  REQUIRE_OK(quire_end());
  return 0;
}
