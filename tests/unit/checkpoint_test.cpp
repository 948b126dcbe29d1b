// SPDX-License-Identifier: BSD-3-Clause
// The files of checkpoints: what was written comes back, and every kind of damage is found, with the name of the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "checkpoint/container_copy.hpp"
#include "checkpoint/content.hpp"
#include "checkpoint/crc32c.hpp"
#include "checkpoint/store.hpp"
#include "os/durable_file.hpp"
#include "os/injection.hpp"

namespace quire::checkpoint::checkpoint_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::size_t page = 4096;

std::vector<std::byte> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(count);
  for (auto& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_text(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
void flip(const std::string& path, std::uint64_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at));
  const char c = static_cast<char>(file.get() ^ 4);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(c);
}

class checkpoint_directory : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "quire-checkpoint-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    path_ = root_ + "/state";
  }
  void TearDown() override {
    os::inject(os::call::none, 0, 0);
    fs::remove_all(root_);
  }

  static manifest describe(const identity& what) {
    manifest m;
    m.what = what;
    m.written_s = 1'700'000'000;
    m.base = 0x200000000000;
    m.range_bytes = std::uint64_t{1} << 40;
    m.next_base = m.base + (std::uint64_t{1} << 39);
    m.next_id = 2;
    m.regions = {{0, m.base, std::uint64_t{1} << 39, page, 0, 0, 0, 0, 0},
                 {1, m.next_base, 64 * 8192, 8192, 1, 3, 1, 0, 2, 0, 0, 1}};
    m.heads = 1;
    m.containers = {{3, 1, container_row::content::region, 0, 0, "notes", "", "", 0, 0, 0, 0},
                    {9, 1, container_row::content::linker, 1, 0, "in \n put", "file", "/a b/c", 81925,
                     1'700'000'000'123'456'789, 0, 0}};
    m.names = {{"a name\n with anything \xff", 5}, {"b", ~std::uint64_t{0}}};
    return m;
  }
  /// Two nodes; some units are zero.
  outcome write(unsigned seed, unsigned keep = 2) {
    attempt a;
    if (outcome why = a.begin(path_); !why.ok()) return why;
    manifest m = describe(a.what());
    for (std::size_t node = 0; node < 2; ++node) {
      node_writer w;
      if (outcome why = w.make(unfinished_path(path_, a.what().generation), a.what(), node); !why.ok()) return why;
      auto content = random_bytes(300 * page, seed + static_cast<unsigned>(node));
      std::fill_n(content.begin() + 7 * page, 3 * page, std::byte{0});
      if (outcome why = w.add(0, 1000 * node * page, page, content); !why.ok()) return why;
      if (outcome why = w.add(1, (10 + 10 * node) * 8192, 8192, std::span(content).first(2 * 8192)); !why.ok())
        return why;
      const std::vector<std::uint64_t> heap = {seed, node}, objects = {9, 8, 7};
      m.files.emplace_back();
      if (outcome why = w.finish(heap, objects, m.files.back()); !why.ok()) return why;
    }
    if (outcome why = a.commit(m); !why.ok()) return why;
    return a.prune(keep);
  }
  [[nodiscard]] std::vector<std::uint64_t> generations() const {
    std::vector<std::uint64_t> numbers;
    EXPECT_TRUE(list_generations(path_, numbers).ok());
    return numbers;
  }
  [[nodiscard]] outcome check(std::uint64_t generation) const {
    opened whole;
    if (outcome why = whole.open(generation_path(path_, generation)); !why.ok()) return why;
    return verify(whole);
  }
  std::string root_, path_;
};

TEST(crc32c, gives_the_values_of_the_standard) {
  const std::string digits = "123456789";
  const auto bytes = std::as_bytes(std::span(digits.data(), digits.size()));
  EXPECT_EQ(crc32c(bytes), 0xe3069283);
  EXPECT_EQ(crc32c_portable(bytes), 0xe3069283);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32)), 0x8a9136aau);  // RFC 3720, B.4
  for (std::size_t length = 0; length < 70; ++length) {
    const auto some = random_bytes(length, static_cast<unsigned>(length));
    EXPECT_EQ(crc32c(some), crc32c_portable(some));
    EXPECT_EQ(crc32c(std::span(some).subspan(length / 3), crc32c(std::span(some).first(length / 3))), crc32c(some));
  }
}

TEST_F(checkpoint_directory, gives_back_what_was_written) {
  ASSERT_TRUE(write(1).ok());
  ASSERT_EQ(generations(), std::vector<std::uint64_t>{1});
  opened whole;
  ASSERT_TRUE(whole.open(generation_path(path_, 1)).ok());
  manifest expected = describe(whole.about().what);
  expected.files = whole.about().files;
  EXPECT_EQ(whole.about(), expected);
  for (unsigned node = 0; node < 2; ++node) {
    const node_reader& file = whole.files()[node];
    const std::vector<std::uint64_t> heap(file.heap().begin(), file.heap().end());
    EXPECT_EQ(heap, (std::vector<std::uint64_t>{1, node}));
    EXPECT_EQ(file.objects().size(), 3u);
    const auto content = random_bytes(300 * page, 1 + node);
    ASSERT_EQ(file.extents().size(), 3u);  // the zero units are a gap
    EXPECT_EQ(file.extents()[1].first, (1000 * node + 10) * page);
    EXPECT_EQ(file.extents()[1].bytes, 290 * page);
    std::vector<std::byte> some(5 * page);
    ASSERT_TRUE(file.read(1, 100 * page, some).ok());
    EXPECT_TRUE(std::equal(some.begin(), some.end(), content.begin() + 110 * page));
    EXPECT_EQ(whole.about().files[node].content_bytes, 297 * page + 2 * 8192);
    EXPECT_LT(whole.about().files[node].bytes, 300 * page + 2 * 8192 + 2 * page);
  }
  EXPECT_TRUE(verify(whole).ok());
}

/// As a store: by positions, across the files of its nodes, zeroes where nothing was written.
TEST_F(checkpoint_directory, is_a_store) {
  ASSERT_TRUE(write(1).ok());
  opened whole;
  ASSERT_TRUE(whole.open(generation_path(path_, 1)).ok());
  content from(whole);
  std::vector<std::byte> expected(1'400 * page), found(expected.size(), std::byte{0xee});
  for (unsigned node = 0; node < 2; ++node) {
    auto written = random_bytes(300 * page, 1 + node);
    std::fill_n(written.begin() + 7 * page, 3 * page, std::byte{0});
    std::copy(written.begin(), written.end(), expected.begin() + static_cast<std::ptrdiff_t>(1'000 * node * page));
  }
  ASSERT_EQ(from.fill(0, found), 0);
  EXPECT_EQ(found, expected);
  ASSERT_EQ(from.fill(1'100 * page, std::span(found).first(2 * page)), 0);
  EXPECT_TRUE(std::equal(found.begin(), found.begin() + 2 * page, expected.begin() + 1'100 * page));
  const std::uint64_t region = std::uint64_t{1} << 39;
  ASSERT_EQ(from.fill(region + 20 * 8192, std::span(found).first(8192)), 0);
  EXPECT_TRUE(std::equal(found.begin(), found.begin() + 8192, expected.begin() + 1'000 * page));
  EXPECT_EQ(from.flush(0, found), EROFS);
  EXPECT_STREQ(from.where(), generation_path(path_, 1).c_str());
}

TEST_F(checkpoint_directory, says_as_a_store_what_is_damaged) {
  ASSERT_TRUE(write(1).ok());
  const std::string file = generation_path(path_, 1) + "/node-1";
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(4096 + 50 * page + 17).put('?');
  opened whole;
  ASSERT_TRUE(whole.open(generation_path(path_, 1)).ok());
  content from(whole);
  std::vector<std::byte> found(300 * page);
  EXPECT_EQ(from.fill(0, found), 0);
  EXPECT_EQ(from.fill(1'000 * page, found), EBADMSG);
  EXPECT_EQ(from.why().code, QUIRE_DAMAGED);
  EXPECT_THAT(from.why().text, HasSubstr(file));
}

TEST_F(checkpoint_directory, keeps_the_newest_and_those_before_it) {
  for (unsigned seed = 0; seed < 5; ++seed) ASSERT_TRUE(write(seed).ok());
  EXPECT_EQ(generations(), (std::vector<std::uint64_t>{5, 4}));
  ASSERT_TRUE(write(9, 1).ok());
  EXPECT_EQ(generations(), std::vector<std::uint64_t>{6});
}

TEST_F(checkpoint_directory, is_one_job_s_at_a_time) {
  attempt mine, other;
  ASSERT_TRUE(mine.begin(path_).ok());
  const outcome why = other.begin(path_);
  EXPECT_EQ(why.code, QUIRE_BUSY);
  EXPECT_THAT(why.text, HasSubstr(path_));
}

/// Two nodes keep every other minipage of some pages, and write them piece by piece; any range of them comes back, with
/// all of its checksums looked at.
TEST_F(checkpoint_directory, keeps_units_below_a_page) {
  constexpr std::uint64_t pages = 12, bytes = pages * page, minipage = 672;
  auto all = random_bytes(bytes, 3);
  std::fill_n(all.begin() + 5 * page, 2 * page, std::byte{0});
  const auto end_of = [](std::uint64_t at) {
    const std::uint64_t in_page = at % page, next = in_page + minipage;
    return at - in_page + (next + minipage > page ? page : next);
  };
  attempt a;
  ASSERT_TRUE(a.begin(path_).ok());
  manifest m = describe(a.what());
  m.heap_views = 16;
  m.regions.push_back({2, m.next_base + (1u << 30), bytes, minipage, 1, 0, 0, 0, 0, 0, 0, 0, 1, 6, 0});
  const std::uint64_t grain = m.regions.back().grain(), position = m.regions.back().base - m.base;
  EXPECT_EQ(grain, page);
  for (std::uint64_t node = 0; node < 2; ++node) {
    node_writer w;
    ASSERT_TRUE(w.make(unfinished_path(path_, a.what().generation), a.what(), node).ok());
    for (std::uint64_t at = 0, number = 0; at < bytes; at = end_of(at), ++number) {
      if ((number / 3 + at / page) % 2 != node) continue;
      ASSERT_TRUE(w.add(2, at, grain, std::span(all).subspan(at, end_of(at) - at)).ok());
    }
    m.files.emplace_back();
    ASSERT_TRUE(w.finish({}, {}, m.files.back()).ok());
  }
  ASSERT_TRUE(a.commit(m).ok());
  opened whole;
  ASSERT_TRUE(whole.open(generation_path(path_, 1)).ok());
  EXPECT_EQ(whole.about(), m);
  EXPECT_EQ(m.files[0].content_bytes + m.files[1].content_bytes, bytes - 2 * page);
  EXPECT_TRUE(verify(whole).ok());
  EXPECT_LT(whole.files()[0].extents().size(), 2 * pages + 1);  // neighbours are one
  content from(whole);
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t first = random() % bytes,
                        length = 1 + random() % std::min<std::uint64_t>(bytes - first, i % 2 == 0 ? bytes : 900);
    std::vector<std::byte> found(length, std::byte{0xee});
    ASSERT_EQ(from.fill(position + first, found), 0);
    EXPECT_TRUE(std::equal(found.begin(), found.end(), all.begin() + static_cast<std::ptrdiff_t>(first)))
        << first << ' ' << length;
  }
  const std::string file = generation_path(path_, 1) + "/node-1";
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t at = 4096 + random() % m.files[1].content_bytes;
    flip(file, at);
    EXPECT_EQ(check(1).code, QUIRE_DAMAGED) << at;
    std::vector<std::byte> found(bytes);
    EXPECT_EQ(from.fill(position, found), EBADMSG);
    flip(file, at);
  }
}

// ---- Damage

struct damage {
  const char *name, *file, *says;
  std::function<void(const std::string& path)> inflict;
};
void PrintTo(const damage& d, std::ostream* out) { *out << d.name; }

class damaged_checkpoint : public checkpoint_directory, public testing::WithParamInterface<damage> {};

TEST_P(damaged_checkpoint, is_refused_by_the_name_of_the_file) {
  const damage& d = GetParam();
  ASSERT_TRUE(write(1).ok());
  ASSERT_TRUE(write(2).ok());
  const std::string file = generation_path(path_, 2) + "/" + d.file;
  d.inflict(file);
  const outcome why = check(2);
  EXPECT_EQ(why.code, QUIRE_DAMAGED) << why.text;
  EXPECT_THAT(why.text, HasSubstr(file));
  EXPECT_THAT(why.text, HasSubstr(d.says));
  EXPECT_TRUE(check(1).ok());
}
INSTANTIATE_TEST_SUITE_P(
    kinds, damaged_checkpoint,
    testing::Values(
        damage{"no_manifest", "manifest", "missing", [](const auto& p) { fs::remove(p); }},
        damage{"empty_manifest", "manifest", "no manifest", [](const auto& p) { fs::resize_file(p, 0); }},
        damage{"torn_manifest", "manifest", "", [](const auto& p) { fs::resize_file(p, fs::file_size(p) / 2); }},
        damage{"manifest_without_its_end", "manifest", "too early",
               [](const auto& p) { fs::resize_file(p, fs::file_size(p) - 1); }},
        damage{"bit_in_manifest", "manifest", "checksum", [](const auto& p) { flip(p, 60); }},
        damage{"no_file", "node-1", "missing", [](const auto& p) { fs::remove(p); }},
        damage{"empty_file", "node-1", "0 bytes instead of", [](const auto& p) { fs::resize_file(p, 0); }},
        damage{"torn_file", "node-0", "bytes instead of",
               [](const auto& p) { fs::resize_file(p, fs::file_size(p) - 100); }},
        damage{"longer_file", "node-0", "bytes instead of",
               [](const auto& p) { fs::resize_file(p, fs::file_size(p) + 1); }},
        damage{"bit_in_head", "node-0", "", [](const auto& p) { flip(p, 3); }},
        damage{"bit_in_content", "node-1", "checksum of bytes", [](const auto& p) { flip(p, 4096 + 50 * page + 17); }},
        damage{"last_bit_of_content", "node-1", "checksum of bytes",
               [](const auto& p) { flip(p, 4096 + 297 * page - 1); }},
        damage{"bit_in_index", "node-0", "index", [](const auto& p) { flip(p, fs::file_size(p) - 64 - 30); }},
        damage{"bit_in_end", "node-0", "end", [](const auto& p) { flip(p, fs::file_size(p) - 20); }},
        damage{"zeroes_for_a_page", "node-0", "checksum of bytes",
               [](const auto& p) {
                 std::string all = read_all(p);
                 std::fill_n(all.begin() + 8192, page, '\0');
                 write_text(p, all);
               }},
        damage{"file_of_another_node", "node-0", "another checkpoint",
               [](const auto& p) {
                 fs::copy_file(p.substr(0, p.size() - 1) + "1", p, fs::copy_options::overwrite_existing);
               }},
        damage{"file_of_another_checkpoint", "node-0", "another checkpoint",
               [](const auto& p) {
                 std::string older = p;
                 older.replace(older.find("00000002"), 8, "00000001");
                 fs::copy_file(older, p, fs::copy_options::overwrite_existing);
               }}),
    [](const auto& info) { return info.param.name; });

TEST_F(checkpoint_directory, no_single_bit_of_a_small_file_may_change_unnoticed) {
  ASSERT_TRUE(write(3).ok());
  const std::string file = generation_path(path_, 1) + "/node-0";
  std::mt19937_64 random(1);
  for (int i = 0; i < 400; ++i) {
    std::uint64_t at = random() % fs::file_size(file);
    if (at >= 48 && at < 4096) at = 4096 + at;  // the rest of the head's page means nothing
    flip(file, at);
    EXPECT_EQ(check(1).code, QUIRE_DAMAGED) << at;
    flip(file, at);
  }
  EXPECT_TRUE(check(1).ok());
}

TEST_F(checkpoint_directory, says_which_version_it_cannot_read) {
  ASSERT_TRUE(write(1).ok());
  const std::string file = generation_path(path_, 1) + "/manifest";
  std::string text = read_all(file);
  text.replace(0, 18, "quire-checkpoint 7");
  write_text(file, text);
  EXPECT_EQ(check(1).code, QUIRE_UNSUPPORTED);
  EXPECT_THAT(check(1).text, HasSubstr("version 7"));
}

TEST_F(checkpoint_directory, refuses_containers_that_cannot_be) {
  const auto parsed = [](std::uint64_t number, std::uint64_t region, const char* name, std::uint64_t heads) {
    manifest m = describe({1, 2}), found;
    m.files.emplace_back();
    m.heads = heads;
    m.containers = {{number, region, container_row::content::region, 0, 0, name, "", "", 0, 0, 0, 0}};
    return parse(print(m), "here", found);
  };
  EXPECT_TRUE(parsed(4095, 1, "a", 1).ok());
  for (const outcome& why : {parsed(0, 1, "a", 1), parsed(4096, 1, "a", 1), parsed(1, 7, "a", 1), parsed(1, 1, "", 1),
                             parsed(1, 1, "a", 0)}) {
    EXPECT_EQ(why.code, QUIRE_DAMAGED);
    EXPECT_THAT(why.text, HasSubstr("cannot be"));
  }
}

/// The copy of a container's file: as long as it was, exact, without room for zeroes; and back over what has become of
/// the file.
TEST_F(checkpoint_directory, keeps_files_of_containers) {
  const std::string file = path_ + ".file", changed = path_ + ".changed";
  std::string text(300'001, 'a');
  text.replace(10'000, 5 * page, std::string(5 * page, '\0'));
  write_text(file, text);
  ASSERT_EQ(os::make_directory(path_), 0);
  container_row row{7, 0, container_row::content::copy, 0, 0, "c", "file", file, 0, 0, 0, 0};
  ASSERT_TRUE(copy_container(path_, row).ok());
  EXPECT_EQ(row.bytes, text.size());
  EXPECT_TRUE(check_copy(path_, row).ok());
  EXPECT_FALSE(copy_container(path_, row).ok());  // there is one
  row.what = changed;
  for (const std::string& before : {std::string(), std::string(400'000, 'x'), std::string(10, 'y')}) {
    if (!before.empty()) write_text(changed, before);
    ASSERT_TRUE(put_container_back(path_, row).ok());
    EXPECT_EQ(read_all(changed), text);
  }
  if (row.has_checksum != 0) {
    flip(path_ + "/container-7", 123'456);
    EXPECT_EQ(check_copy(path_, row).code, QUIRE_DAMAGED);
    EXPECT_TRUE(check_copy_size(path_, row).ok());
  }
  ++row.bytes;
  EXPECT_EQ(check_copy_size(path_, row).code, QUIRE_DAMAGED);
  row.number = 8;
  EXPECT_EQ(check_copy_size(path_, row).code, QUIRE_DAMAGED);
}

TEST_F(checkpoint_directory, refuses_regions_that_cannot_be) {
  const auto parsed = [](std::uint64_t unit_bytes, std::uint64_t views, std::uint64_t bytes = 16 * page) {
    manifest m = describe({1, 2}), found;
    m.files.emplace_back();
    m.regions.push_back(
        {2, m.next_base + (1u << 30), bytes, unit_bytes, 0, 0, 0, 0, 0, 0, 0, 0, views != 0 ? 1u : 0u, views, 0});
    const outcome why = parse(print(m), "here", found);
    EXPECT_TRUE(!why.ok() || found == m);
    return why;
  };
  EXPECT_TRUE(parsed(page, 0).ok());
  EXPECT_TRUE(parsed(16, 256).ok());
  EXPECT_TRUE(parsed(672, 6).ok());
  EXPECT_TRUE(parsed(page, 16).ok());  // cut as the heap says
  for (const outcome& why : {parsed(672, 0), parsed(0, 6), parsed(8, 256), parsed(680, 6), parsed(2 * page, 6),
                             parsed(672, 257), parsed(672, 6, page + 672)}) {
    EXPECT_EQ(why.code, QUIRE_DAMAGED);
    EXPECT_THAT(why.text, HasSubstr("region 2 cannot be"));
  }
}

std::uint32_t crc_of(const std::string& text) { return crc32c(std::as_bytes(std::span(text.data(), text.size()))); }
template <class T>
T& number_at(std::string& text, std::size_t at) {
  return *reinterpret_cast<T*>(text.data() + at);
}

/// As version 2 wrote it: extents in units, and regions without fine views.
TEST_F(checkpoint_directory, reads_what_the_version_before_has_written) {
  ASSERT_TRUE(write(1).ok());
  const std::string directory = generation_path(path_, 1);
  std::string text = read_all(directory + "/manifest");
  for (const char* node : {"0", "1"}) {
    const std::string name = directory + "/node-" + node;
    std::string file = read_all(name);
    number_at<std::uint64_t>(file, 8) = 2;
    const std::size_t end = file.size() - 64, tail = number_at<std::uint64_t>(file, end),
                      bytes = number_at<std::uint64_t>(file, end + 8);
    const std::uint64_t extents = number_at<std::uint64_t>(file, tail);
    for (std::uint64_t i = 0; i < extents; ++i) {
      const std::size_t at = tail + (4 + 4 * i) * 8;
      const std::uint64_t unit = number_at<std::uint64_t>(file, at) == 0 ? page : 8192;
      number_at<std::uint64_t>(file, at + 8) /= unit;
      number_at<std::uint64_t>(file, at + 16) /= unit;
    }
    const std::uint32_t before = static_cast<std::uint32_t>(number_at<std::uint64_t>(file, end + 40)),
                        now = crc_of(file.substr(tail, bytes));
    number_at<std::uint64_t>(file, end + 40) = now;
    number_at<std::uint64_t>(file, end + 48) = crc_of(file.substr(end, 48));
    write_text(name, file);
    const auto hex = [](std::uint64_t value) {
      char word[20];
      std::snprintf(word, sizeof word, "%016lx", static_cast<unsigned long>(value));
      return std::string(word);
    };
    text.replace(text.find(hex(before)), 16, hex(now));
    const std::size_t last = text.rfind("end ");
    text.replace(0, 18, "quire-checkpoint 2");
    text.replace(last + 4, 16, hex(crc_of(text.substr(0, last))));
  }
  write_text(directory + "/manifest", text);
  EXPECT_EQ(check(1).text, "");
  opened whole;
  ASSERT_TRUE(whole.open(directory).ok());
  EXPECT_EQ(whole.about().version, 2u);
  content from(whole);
  std::vector<std::byte> found(8192);
  ASSERT_EQ(from.fill((std::uint64_t{1} << 39) + 20 * 8192, found), 0);
  const auto written = random_bytes(300 * page, 2);
  EXPECT_TRUE(std::equal(found.begin(), found.end(), written.begin()));
}

// ---- Calls that fail: whichever it is, what was there before is there, and so is the way to the next one

TEST_F(checkpoint_directory, a_call_that_fails_leaves_what_was_there) {
  ASSERT_TRUE(write(1).ok());
  using os::call;
  int failures = 0;
  for (const call which : {call::file_make, call::file_write, call::file_sync, call::file_rename}) {
    for (int nth = 1; nth < 12; ++nth) {
      const auto before = generations();
      os::inject(which, nth, ENOSPC);
      const outcome why = write(100, 1000);
      os::inject(call::none, 0, 0);
      const auto after = generations();
      if (!why.ok()) {
        ++failures;
        EXPECT_THAT(why.text, HasSubstr(root_));
        EXPECT_THAT(why.text, HasSubstr("No space left"));
      }
      for (const auto number : before) EXPECT_TRUE(check(number).ok()) << static_cast<int>(which) << ' ' << nth;
      for (const auto number : after) EXPECT_TRUE(check(number).ok());
      for (const auto& entry : fs::directory_iterator(path_))
        EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos);
    }
  }
  EXPECT_GT(failures, 10);
  EXPECT_TRUE(write(4).ok());
}

TEST_F(checkpoint_directory, sweeps_up_what_a_job_that_died_has_left) {
  ASSERT_TRUE(write(1).ok());
  for (const char* left : {"/gen-00000002.tmp", "/gen-00000000.old"}) {
    fs::create_directory(path_ + left);
    write_text(path_ + left + "/node-0", "half");
  }
  EXPECT_EQ(generations(), std::vector<std::uint64_t>{1});
  ASSERT_TRUE(write(2).ok());
  EXPECT_EQ(generations().front(), 3u);
  EXPECT_FALSE(fs::exists(path_ + "/gen-00000002.tmp"));
  EXPECT_FALSE(fs::exists(path_ + "/gen-00000000.old"));
}

}  // namespace
}  // namespace quire::checkpoint::checkpoint_test
