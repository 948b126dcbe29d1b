// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/mapped/files.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <quire/container.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "program/posix/errands/errand.hpp"
#include "program/posix/errands/on_all_nodes.hpp"
#include "program/posix/mapped/content.hpp"
#include "program/posix/mapped/table.hpp"
#include "program/posix/threads/elsewhere.hpp"
#include "program/process/interpose.hpp"

namespace quire::program::mapped {
namespace {

/// Private mappings of less are copied when they are made: that costs less than a container.
constexpr std::size_t least_container = std::size_t{1} << 20;
/// Files of so much have units of 64 KiB, as large blocks of memory have.
constexpr std::size_t least_large = std::size_t{32} << 20;

std::mutex g_guard;
table g_table;  // node 0
bool g_open = false;

std::atomic<std::uint32_t> g_shared{0};  ///< containers of shared mappings; node 0

/// What a call gives back, with its errno.
struct outcome {
  long value = 0;
  int error = 0;
  kind how = kind::done;
};
outcome failed(int error) noexcept { return {-1, error}; }

/// call() on node 0, on a stack of its own: Quire's calls of containers want none that is shared.
template <class Call>
outcome on_keeper(const Call& call) noexcept {
  const auto alone = [call] {
    const std::lock_guard held(g_guard);
    return call();
  };
  outcome got;
  if (job().node != 0) {
    got = errand(0).run(alone);
  } else {
    struct {
      const decltype(alone)& what;
      outcome got;
    } both{alone, {}};
    const os::signals_held none;
    run_aside([](void* at) { static_cast<decltype(both)*>(at)->got = static_cast<decltype(both)*>(at)->what(); },
              &both);
    got = both.got;
  }
  if (got.error != 0) errno = got.error;
  return got;
}

int error_of(quire_status why) noexcept {
  switch (why) {
    case QUIRE_OK:
      return 0;
    case QUIRE_IO:
      return EIO;
    case QUIRE_BUSY:
      return EBUSY;
    default:
      return ENOMEM;
  }
}

/// Memory that processes have in common, by shm_open(3) or memfd_create(2): what they write shows at once.
bool is_of_processes(int file, const struct stat64& about) noexcept {
  struct statfs system {};
  if (::fstatfs(file, &system) != 0 || system.f_type != TMPFS_MAGIC) return false;
  if (about.st_nlink == 0) return true;
  char link[64], path[64];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = QUIRE_NEXT(readlink)(link, path, sizeof path);
  return length > 9 && std::memcmp(path, "/dev/shm/", 9) == 0;
}

/// As the kernel would: 0 or errno.
int check(const request& r, const struct stat64& about) noexcept {
  const int mode = QUIRE_NEXT(fcntl)(r.file, F_GETFL) & O_ACCMODE;
  if (mode == O_WRONLY) return EACCES;
  if ((r.flags & MAP_TYPE) != MAP_PRIVATE && (r.protection & PROT_WRITE) != 0 && mode != O_RDWR) return EACCES;
  if (r.offset < 0 || r.offset % static_cast<off64_t>(mapped_page) != 0) return EINVAL;
  if (whole_pages(r.bytes) > static_cast<std::size_t>(INT64_MAX - r.offset)) return EOVERFLOW;
  return S_ISREG(about.st_mode) ? 0 : ENODEV;
}

std::string_view name_of(const mapped_file& f, char (&text)[32]) noexcept {
  std::snprintf(text, sizeof text, "mapped file %lu", static_cast<unsigned long>(f.number));
  return text;
}

/// A descriptor for the content, for as long as it is mapped: for writing, where the program might write by another
/// one.
int descriptor_for(const request& r, bool is_shared) noexcept {
  char name[64];
  std::snprintf(name, sizeof name, "/proc/self/fd/%d", r.file);
  const int writes = is_shared ? QUIRE_NEXT(open)(name, O_RDWR | O_CLOEXEC) : -1;
  return writes >= 0 ? writes : QUIRE_NEXT(fcntl)(r.file, F_DUPFD_CLOEXEC, 3);
}

void forget(std::uint32_t index) noexcept {
  source& s = g_table.sources[index];
  if (s.is_shared && g_table.files[index].opening != 0) --g_shared;
  for (const int file : {s.file, s.instead}) {
    if (file >= 0) QUIRE_NEXT(close)(file);
  }
  std::free(s.written);
  s = {};
  g_table.files[index] = {};
}

/// Makes the container of g_table.sources[index]. 0 or errno.
int make(std::uint32_t index) noexcept {
  static constinit std::uint64_t made = 0;
  mapped_file& f = g_table.files[index];
  const source& s = g_table.sources[index];
  f.number = ++made;
  char name[32], what[16];
  std::snprintf(what, sizeof what, "%u", index);
  quire_container_options options{};
  options.size = sizeof options;
  options.linker = linker_name;
  options.what = what;
  options.flags = QUIRE_CONTAINER_CREATE | QUIRE_CONTAINER_EXCLUSIVE;
  options.bytes = options.capacity = s.bytes;
  options.unit_bytes = s.bytes >= least_large ? std::size_t{64} << 10 : mapped_page;
  options.placement = QUIRE_PLACE_NODE;
  quire_container opening{};
  void* at = nullptr;
  quire_status why = quire_container_open(name_of(f, name).data(), &options, &opening);
  if (why == QUIRE_OK) why = quire_container_map(opening, &at, nullptr);
  if (why == QUIRE_UNSUPPORTED) g_open = false;  // nor will it be later
  if (why != QUIRE_OK) return error_of(why);
  f.opening = opening.id;
  if (s.is_shared) ++g_shared;
  f.all = {reinterpret_cast<std::uint64_t>(at), reinterpret_cast<std::uint64_t>(at) + s.bytes};
  return 0;
}

/// With the container. What was written to a shared file is there; an error of that: errno.
int remove(std::uint32_t index) noexcept {
  mapped_file& f = g_table.files[index];
  g_table.sources[index].is_over = true;
  char name[32];
  int error = error_of(quire_container_close({f.opening}));
  const quire_status why = quire_container_remove(name_of(f, name).data(), 0);
  if (why == QUIRE_OK) forget(index);
  return error != 0 ? error : error_of(why);
}

/// A place with a source that has `bytes` from `offset` on; `none`, and errno.
std::uint32_t prepare(const request& r, bool is_shared, std::uint64_t offset, std::uint64_t bytes) noexcept {
  const std::uint32_t index = g_table.free_file();
  if (index == table::none) {
    if (is_shared) std::fprintf(stderr, "quire: mmap() fails: %u files are mapped already\n", table::most_files);
    return errno = ENOMEM, index;
  }
  source& s = g_table.sources[index];
  s = {.file = descriptor_for(r, is_shared), .offset = offset, .bytes = bytes, .is_shared = is_shared};
  if (s.file < 0) return table::none;
  if (is_shared) return index;
  const std::uint64_t words = bytes / mapped_page / 64 + 1;
  s.written = static_cast<std::uint64_t*>(std::calloc(words, sizeof *s.written));
  if (s.written != nullptr) return index;
  forget(index);
  return errno = ENOMEM, table::none;
}

std::uint32_t make_file(const request& r, bool is_shared, std::uint64_t offset, std::uint64_t bytes) noexcept {
  const std::uint32_t index = prepare(r, is_shared, offset, bytes);
  if (index == table::none) return index;
  if (const int error = make(index); error != 0) {
    forget(index);
    return errno = error, table::none;
  }
  return index;
}

/// What was written to a file by way of its other containers is in it then.
int sync_file(dev_t device, ino_t inode) noexcept {
  for (std::uint32_t i = 0; i < table::most_files; ++i) {
    const mapped_file& f = g_table.files[i];
    if (f.opening == 0 || !g_table.sources[i].is_shared || f.device != device || f.inode != inode) continue;
    if (const int error = error_of(quire_container_sync({f.opening}, 0, 0)); error != 0) return error;
  }
  return 0;
}

/// The container of a shared file, which goes to the end of it or of the mapping. None can grow: for more there is
/// another one.
std::uint32_t find_or_make_shared(const request& r, const struct stat64& about) noexcept {
  const std::uint64_t end = whole_pages(static_cast<std::uint64_t>(r.offset) + r.bytes);
  const std::uint32_t found = g_table.shared_file(about.st_dev, about.st_ino, end);
  if (found != table::none) return found;
  if (const int error = sync_file(about.st_dev, about.st_ino); error != 0) return errno = error, table::none;
  const std::uint64_t window = std::max(end, whole_pages(static_cast<std::uint64_t>(about.st_size)));
  const std::uint32_t made = make_file(r, true, 0, window);
  if (made == table::none) return made;
  g_table.files[made].device = about.st_dev;
  g_table.files[made].inode = about.st_ino;
  return made;
}

outcome map_piece(std::uint32_t file, range at, int protection) noexcept {
  const bool added = g_table.add(at, file, (protection & PROT_WRITE) != 0);
  if (added && open_pages(reinterpret_cast<void*>(at.first), at.end - at.first)) return {static_cast<long>(at.first)};
  if (added) (void)g_table.cut(*g_table.find(at.first), at.first, at.end);
  if (g_table.files[file].pieces == 0) (void)remove(file);
  return failed(ENOMEM);
}

/// `always`: a small private one, too.
outcome map_here(const request& r, bool always = false) noexcept {
  struct stat64 about {};
  if (QUIRE_NEXT(fstat64)(r.file, &about) != 0) return failed(errno);
  const bool is_shared = (r.flags & MAP_TYPE) != MAP_PRIVATE;
  if (S_ISCHR(about.st_mode) && about.st_rdev == makedev(1, 5)) return {0, 0, kind::zeroes};
  if (!S_ISREG(about.st_mode) || (is_shared && (!g_open || is_of_processes(r.file, about)))) return {-1, 0, kind::own};
  if (const int error = check(r, about); error != 0) return failed(error);
  const std::size_t bytes = whole_pages(r.bytes);
  const auto offset = static_cast<std::uint64_t>(r.offset);
  if (!is_shared && ((bytes < least_container && !always) || !g_open)) return {0, 0, kind::copied};
  const std::uint32_t file = is_shared ? find_or_make_shared(r, about) : make_file(r, false, offset, bytes);
  if (file == table::none && !is_shared) return {0, 0, kind::copied};
  if (file == table::none) return g_open ? failed(errno) : outcome{-1, 0, kind::own};
  const mapped_file& f = g_table.files[file];
  const std::uint64_t first = f.all.first + offset - g_table.sources[file].offset;
  if (first + bytes > f.all.end) return failed(ENOMEM);
  return map_piece(file, {first, first + bytes}, r.protection);
}

bool is_mapped(std::uint64_t page) noexcept { return g_table.find(page) != nullptr; }

/// What was written there is in the file, if it is a shared one.
int sync_part(const mapped_file& f, range r) noexcept {
  return error_of(quire_container_sync({f.opening}, r.first - f.all.first, r.end - r.first));
}

/// Pages that are nobody's any more, run by run.
int close_unmapped(range r) noexcept {
  for (std::uint64_t at = r.first, run = 0; at < r.end; at += run) {
    const bool mapped = is_mapped(at);
    for (run = mapped_page; at + run < r.end && is_mapped(at + run) == mapped;) run += mapped_page;
    if (!mapped && !close_pages(reinterpret_cast<void*>(at), run)) return errno;
  }
  return 0;
}

/// What cannot be written to the file stays mapped.
outcome unmap_here(range r) noexcept {
  int error = 0;
  for (std::uint64_t at = r.first; at < r.end && error == 0;) {
    piece* const p = g_table.find(at);
    if (p == nullptr) {  // unmapped already, which is no error
      at += mapped_page;
      continue;
    }
    const std::uint64_t end = std::min(r.end, p->at.end);
    const std::uint32_t file = p->file;
    error = g_table.sources[file].is_shared ? sync_part(g_table.files[file], {at, end}) : 0;
    if (error != 0) break;
    if (!g_table.cut(*p, at, end)) return failed(ENOMEM);
    error = g_table.files[file].pieces == 0 ? remove(file) : close_unmapped({at, end});
    at = end;
  }
  return error == 0 ? outcome{} : failed(error);
}

/// use(piece, its part of the range) for all that is mapped of it, until it gives an errno. ENOMEM if some is not.
template <class Use>
int for_each_piece(range r, const Use& use) noexcept {
  for (std::uint64_t at = r.first; at < r.end;) {
    piece* const p = g_table.find(at);
    if (p == nullptr) return ENOMEM;
    const range here{at, std::min(r.end, p->at.end)};
    if (const int error = use(*p, here); error != 0) return error;
    at = here.end;
  }
  return 0;
}

outcome sync_here(range r, int flags) noexcept {
  const int error = for_each_piece(r, [flags](const piece& p, range here) {
    const source& s = g_table.sources[p.file];
    if (!s.is_shared || (flags & MS_INVALIDATE) == flags) return 0;
    if (const int error = sync_part(g_table.files[p.file], here); error != 0) return error;
    return (flags & MS_SYNC) != 0 && QUIRE_NEXT(fdatasync)(s.file) != 0 ? errno : 0;
  });
  return error == 0 ? outcome{} : failed(error);
}

outcome allow_writing_here(range r) noexcept {
  (void)for_each_piece(r, [](piece& p, range) { return p.may_write = true, 0; });
  return {};
}

outcome restore_here(range r) noexcept {
  const int error = for_each_piece(r, [](const piece& p, range here) {
    const source& s = g_table.sources[p.file];
    if (s.is_shared || !p.may_write) return 0;  // it has the content of the file
    return read_file(s, here.first - g_table.files[p.file].all.first, reinterpret_cast<void*>(here.first),
                     here.end - here.first);
  });
  return error == 0 ? outcome{} : failed(error);
}

/// Another mapping of the file; a private one with what the program has written.
outcome move_piece(const piece p, std::size_t wanted) noexcept {
  const source& s = g_table.sources[p.file];
  const std::uint64_t offset = s.offset + p.at.first - g_table.files[p.file].all.first;
  const int protection = p.may_write ? PROT_READ | PROT_WRITE : PROT_READ;
  const outcome done = map_here(
      {wanted, protection, s.is_shared ? MAP_SHARED : MAP_PRIVATE, s.file, static_cast<off64_t>(offset)}, true);
  if (done.error != 0 || done.how != kind::done) return failed(done.error != 0 ? done.error : ENOMEM);
  if (!s.is_shared && p.may_write)
    std::memcpy(reinterpret_cast<void*>(done.value), reinterpret_cast<const void*>(p.at.first), p.at.end - p.at.first);
  const outcome gone = unmap_here(p.at);
  return gone.error != 0 ? gone : done;
}

outcome resize_here(range r, std::size_t wanted, bool may_move) noexcept {
  const piece* const p = g_table.find(r.first);
  if (p == nullptr || p->at.end < r.end) return failed(EFAULT);
  const std::uint64_t end = r.first + wanted;
  if (end <= r.end) {
    const outcome done = end < r.end ? unmap_here({end, r.end}) : outcome{};
    return done.error != 0 ? done : outcome{static_cast<long>(r.first)};
  }
  if (!may_move) return failed(ENOMEM);
  return move_piece({r, p->file, p->may_write}, wanted);
}

range range_of(const void* at, std::size_t bytes) noexcept {
  const auto first = reinterpret_cast<std::uint64_t>(at);
  return {first, first + whole_pages(bytes)};
}

/// use(container) for all shared containers of an open file; how many there are.
template <class Use>
outcome for_each_shared(int file, const Use& use) noexcept {
  struct stat64 about {};
  if (QUIRE_NEXT(fstat64)(file, &about) != 0) return {};
  long found = 0;
  for (std::uint32_t i = 0; i < table::most_files; ++i) {
    const mapped_file& f = g_table.files[i];
    if (f.opening == 0 || !g_table.sources[i].is_shared || f.device != about.st_dev || f.inode != about.st_ino)
      continue;
    ++found;
    use(quire_container{f.opening});
  }
  return {found};
}
outcome settle_here(int file) noexcept {
  return for_each_shared(file, [](quire_container c) { (void)quire_container_sync(c, 0, 0); });
}
outcome read_anew_here(int file) noexcept {
  return for_each_shared(file, [](quire_container c) { (void)quire_container_drop(c, 0, 0); });
}

/// The program ends: nobody will read what private mappings have.
outcome write_all_here() noexcept {
  for (std::uint32_t i = 0; i < table::most_files; ++i) {
    source& s = g_table.sources[i];
    if (g_table.files[i].opening == 0) continue;
    s.is_over = true;
    if (s.is_shared && quire_container_sync({g_table.files[i].opening}, 0, 0) != QUIRE_OK)
      std::fprintf(stderr, "quire: some of what was written to a mapped file is not in the file: %s\n",
                   quire_last_error());
  }
  return {};
}

}  // namespace

bool is_any_shared() noexcept { return g_shared.load(std::memory_order_relaxed) != 0; }

bool settle(int file) noexcept {
  const int saved = errno;
  const outcome found = on_keeper([file] { return settle_here(file); });
  errno = saved;
  return found.value != 0;
}

void read_anew(int file) noexcept {
  const int saved = errno;
  (void)on_keeper([file] { return read_anew_here(file); });
  errno = saved;
}

void open_mapped_files() noexcept {
  if (job().node == 0 && job().nodes > 1) g_open = register_linker(g_table.sources, table::most_files);
}

void write_mapped_files() noexcept {
  if (!was_any_mapped()) return;  // nothing was ever mapped
  (void)on_keeper([] { return write_all_here(); });
}

part mapped_part(const void* at, std::size_t bytes) noexcept {
  const range r = range_of(at, bytes);
  if (bytes == 0 || (!may_have(at) && !may_have(reinterpret_cast<const void*>(r.end - 1)))) return part::none;
  const outcome found = on_keeper([r] {
    long count = 0;
    for (std::uint64_t page = r.first; page < r.end;) {
      const piece* const p = g_table.find(page);
      const std::uint64_t end = p != nullptr ? std::min(p->at.end, r.end) : page + mapped_page;
      if (p != nullptr) count += static_cast<long>((end - page) / mapped_page);
      page = end;
    }
    return outcome{count};
  });
  return found.value == 0                                                             ? part::none
         : static_cast<std::uint64_t>(found.value) == (r.end - r.first) / mapped_page ? part::all
                                                                                      : part::some;
}

answer map(const request& wanted) noexcept {
  const outcome got = on_keeper([wanted] { return map_here(wanted); });
  if (got.how != kind::done || got.error != 0) return {MAP_FAILED, got.how};
  const range all{static_cast<std::uint64_t>(got.value),
                  static_cast<std::uint64_t>(got.value) + whole_pages(wanted.bytes)};
  if (call_on_all("mmap() of a file", [all] { return note_mapped(all.first, all.end), 0; }) != 0)
    return {MAP_FAILED, kind::done};
  return {reinterpret_cast<void*>(got.value), kind::done};
}

int copy_content(const request& wanted, void* to) noexcept {
  const outcome got = on_keeper([wanted, to] {
    source s{};
    s.file = wanted.file;
    s.offset = static_cast<std::uint64_t>(wanted.offset);
    const int error = read_file(s, 0, to, whole_pages(wanted.bytes));
    return error == 0 || error == EIO ? outcome{} : failed(error);  // what lies behind the end is of zeroes
  });
  return static_cast<int>(got.value);
}

int unmap(void* at, std::size_t bytes) noexcept {
  return static_cast<int>(on_keeper([r = range_of(at, bytes)] { return unmap_here(r); }).value);
}

int sync(void* at, std::size_t bytes, int flags) noexcept {
  return static_cast<int>(on_keeper([r = range_of(at, bytes), flags] { return sync_here(r, flags); }).value);
}

int restore(void* at, std::size_t bytes) noexcept {
  return static_cast<int>(on_keeper([r = range_of(at, bytes)] { return restore_here(r); }).value);
}

void allow_writing(void* at, std::size_t bytes) noexcept {
  (void)on_keeper([r = range_of(at, bytes)] { return allow_writing_here(r); });
}

void* resize(void* at, std::size_t bytes, std::size_t wanted, bool may_move) noexcept {
  const outcome got = on_keeper(
      [r = range_of(at, bytes), all = whole_pages(wanted), may_move] { return resize_here(r, all, may_move); });
  if (got.error != 0) return MAP_FAILED;
  const range now{static_cast<std::uint64_t>(got.value), static_cast<std::uint64_t>(got.value) + whole_pages(wanted)};
  (void)call_on_all("mremap() of a file", [now] { return note_mapped(now.first, now.end), 0; });
  return reinterpret_cast<void*>(got.value);
}

}  // namespace quire::program::mapped
