// SPDX-License-Identifier: BSD-3-Clause
// A container that is compressed on the disk: a directory with a file for each 64 KiB, which is written anew as a whole
// (under another name, then renamed), and one with the number of bytes. A grain without a file is zero.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <quire/container.h>

#include "linkers.h"

namespace {

constexpr std::size_t grain = 64 << 10;

struct folder {
  std::string path;
  [[nodiscard]] std::string chunk(std::uint64_t number) const { return path + "/" + std::to_string(number) + ".zst"; }
  [[nodiscard]] std::string length() const { return path + "/bytes"; }
};

/// Reads a whole file. 0 or errno.
int load(const std::string& path, std::string& into) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  struct stat facts {};
  int error = ::fstat(file, &facts) == 0 ? 0 : errno;
  into.resize(error == 0 ? static_cast<std::size_t>(facts.st_size) : 0);
  for (std::size_t at = 0; error == 0 && at < into.size();) {
    const ssize_t got = ::pread(file, into.data() + at, into.size() - at, static_cast<off_t>(at));
    if (got <= 0)
      error = got < 0 ? errno : EIO;
    else
      at += static_cast<std::size_t>(got);
  }
  ::close(file);
  return error;
}

/// Replaces a file: whoever reads it, also after a crash, finds the old content or the new one. 0 or errno.
int replace(const std::string& path, const void* from, std::size_t bytes) {
  const std::string temporary = path + ".new";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return errno;
  int error = 0;
  for (std::size_t at = 0; error == 0 && at < bytes;) {
    const ssize_t wrote = ::write(file, static_cast<const char*>(from) + at, bytes - at);
    if (wrote <= 0)
      error = wrote < 0 ? errno : EIO;
    else
      at += static_cast<std::size_t>(wrote);
  }
  if (error == 0 && ::fdatasync(file) != 0) error = errno;  // before its name means anything
  if (::close(file) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) ::unlink(temporary.c_str());
  return error;
}

int read_length(const folder& f, std::uint64_t& bytes) {
  std::string text;
  const int error = load(f.length(), text);
  bytes = error == 0 ? std::strtoull(text.c_str(), nullptr, 10) : 0;
  return error;
}

int fill(void* self, std::uint64_t at, void* into, std::size_t bytes) {
  const auto& f = *static_cast<const folder*>(self);
  auto* out = static_cast<char*>(into);
  for (std::size_t done = 0; done < bytes; done += grain) {
    std::string compressed;
    const int error = load(f.chunk((at + done) / grain), compressed);
    if (error == ENOENT) {
      std::memset(out + done, 0, grain);
      continue;
    }
    if (error != 0) return error;
    if (ZSTD_decompress(out + done, grain, compressed.data(), compressed.size()) != grain) return EIO;  // damaged
  }
  return 0;
}

int flush(void* self, std::uint64_t at, const void* from, std::size_t bytes) {
  const auto& f = *static_cast<const folder*>(self);
  std::vector<char> compressed(ZSTD_compressBound(grain));
  for (std::size_t done = 0; done < bytes; done += grain) {
    const std::size_t size =
        ZSTD_compress(compressed.data(), compressed.size(), static_cast<const char*>(from) + done, grain, 3);
    if (ZSTD_isError(size)) return EIO;
    if (const int error = replace(f.chunk((at + done) / grain), compressed.data(), size); error != 0) return error;
  }
  return 0;
}

/// The files are on the disk; their names are once the directory is.
int sync(void* self) {
  const int directory = ::open(static_cast<const folder*>(self)->path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return errno;
  const int error = ::fsync(directory) == 0 ? 0 : errno;
  ::close(directory);
  return error;
}

/// What is beyond the end goes: whole chunks, and the rest of the last one.
int truncate(void* self, std::uint64_t bytes) {
  const auto& f = *static_cast<const folder*>(self);
  std::uint64_t before = 0;
  if (const int error = read_length(f, before); error != 0 && error != ENOENT) return error;
  for (std::uint64_t number = (bytes + grain - 1) / grain; number * grain < before; ++number)
    if (::unlink(f.chunk(number).c_str()) != 0 && errno != ENOENT) return errno;
  if (bytes < before && bytes % grain != 0) {
    std::vector<char> last(grain);
    const std::uint64_t at = bytes / grain * grain;
    if (const int error = fill(self, at, last.data(), grain); error != 0) return error;
    std::fill(last.begin() + static_cast<std::ptrdiff_t>(bytes - at), last.end(), 0);
    if (const int error = flush(self, at, last.data(), grain); error != 0) return error;
  }
  const std::string text = std::to_string(bytes) + "\n";
  return replace(f.length(), text.data(), text.size());
}

int remove(void*, const char* what) {
  std::uint64_t bytes = 0;
  const folder f{what};
  if (const int error = read_length(f, bytes); error != 0) return error;                 // none of ours
  if (const int error = truncate(const_cast<folder*>(&f), 0); error != 0) return error;  // the chunks
  if (::unlink(f.length().c_str()) != 0) return errno;
  return ::rmdir(what) == 0 ? 0 : errno;  // what others have put there stays, and so does the directory
}

int open(void*, const char* what, unsigned flags, std::uint64_t* bytes, void** self) {
  folder f{what};
  int error = read_length(f, *bytes);
  if (error == ENOENT && (flags & QUIRE_CONTAINER_CREATE) != 0 && (flags & QUIRE_CONTAINER_READ_ONLY) == 0) {
    if (::mkdir(what, 0755) != 0 && (errno != EEXIST || !std::filesystem::is_empty(what)))
      return errno;  // no other's directory
    error = truncate(&f, 0);
  }
  if (error == 0 && (flags & QUIRE_CONTAINER_TRUNCATE) != 0) error = truncate(&f, 0), *bytes = 0;
  if (error == 0) *self = new folder(std::move(f));
  return error;
}

void close(void* self) { delete static_cast<folder*>(self); }

}  // namespace

// Constant: it is there whichever file is initialised first.
constinit const quire_linker zstd_linker = {
    .size = sizeof(quire_linker),
    .name = "zstd",
    .can = QUIRE_LINK_WRITE | QUIRE_LINK_TRUNCATE,
    .grain = grain,
    .threads = 0,
    .context = nullptr,
    .open = open,
    .try_fill = nullptr,
    .fill = fill,
    .flush = flush,
    .sync = sync,
    .truncate = truncate,
    .close = close,
    .remove = remove,
    .identify = nullptr,
};
