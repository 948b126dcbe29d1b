// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints that a restart reads: the manifest, and the index of a node's file, both with checksums that are right,
// as somebody may have written them. Two bytes tell the length of the manifest; what follows is the index.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <vector>

#include "checkpoint/crc32c.hpp"
#include "checkpoint/manifest.hpp"
#include "checkpoint/node_file.hpp"
#include "input.hpp"

namespace {

using namespace quire::checkpoint;

// As node_file.cpp has them.
struct head {
  std::uint64_t magic = 0x3174706b63726971, version = 0;
  identity what{};
  std::uint64_t node = 0;
};
struct file_end {
  std::uint64_t tail_offset = 0, tail_bytes = 0;
  identity what{};
  std::uint64_t node = 0, tail_checksum = 0, checksum = 0, magic = 0x31646e656b637271;
};
constexpr std::size_t head_bytes = 4096, content_bytes = 4096;

/// A folder of this process, which is removed at its end.
const std::string& folder() {
  static const struct place {
    std::string path = "/dev/shm/quire-fuzz-" + std::to_string(::getpid());
    place() { MUST(::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST); }
    ~place() {
      ::unlink((path + '/' + node_file_name(0)).c_str());
      ::rmdir(path.c_str());
    }
  } made;
  return made.path;
}

void put(std::vector<std::byte>& to, std::size_t at, const void* from, std::size_t bytes) {
  if (to.size() < at + bytes) to.resize(at + bytes);
  if (bytes != 0) std::memcpy(to.data() + at, from, bytes);
}

void read_file(manifest m, std::span<const std::byte> tail) {
  std::vector<std::byte> file(head_bytes + content_bytes);
  const head h{.version = m.version, .what = m.what};
  put(file, 0, &h, sizeof h);
  file_end end{file.size(), tail.size(), m.what, 0, crc32c(tail)};
  end.checksum = crc32c(std::as_bytes(std::span(&end, 1)).first(offsetof(file_end, checksum)));
  put(file, file.size(), tail.data(), tail.size());
  put(file, file.size(), &end, sizeof end);
  m.files[0].bytes = file.size();
  m.files[0].tail_checksum = static_cast<std::uint32_t>(end.tail_checksum);
  const int to = ::open((folder() + '/' + node_file_name(0)).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  MUST(to >= 0 && ::write(to, file.data(), file.size()) == static_cast<ssize_t>(file.size()));
  ::close(to);
  node_reader reader;
  if (const outcome why = reader.open(folder(), m, 0); !why.ok()) {
    MUST(!why.text.empty());
    return;
  }
  std::vector<std::byte> into;
  for (std::size_t i = 0; i < std::min<std::size_t>(reader.extents().size(), 16); ++i) {
    const extent& e = reader.extents()[i];
    MUST(e.bytes != 0 && e.offset >= head_bytes && e.offset + e.bytes <= head_bytes + content_bytes);
    into.resize(e.bytes);
    const outcome why = reader.read(i, 0, into);
    MUST(why.ok() || !why.text.empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  quire::fuzz::input all(data, bytes);
  const auto text = all.take(all.take<std::uint16_t>());
  std::string lines(quire::fuzz::text_of(text));
  manifest m;
  (void)parse(lines, "raw", m);
  const auto sum = crc32c(std::as_bytes(std::span(lines.data(), lines.size())));
  char end[32];
  std::snprintf(end, sizeof end, "end %x\n", sum);
  lines += end;
  if (const outcome why = parse(lines, "manifest", m); !why.ok()) {
    MUST(!why.text.empty());
    return 0;
  }
  manifest again;
  if (m.version == format_version) MUST(parse(print(m), "again", again).ok() && again == m);
  const auto rest = all.rest();
  if (!m.files.empty()) read_file(m, rest.first(rest.size() / 8 * 8));
  return 0;
}
